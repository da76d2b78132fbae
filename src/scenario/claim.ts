/** Reads what a law is claimed to need, as an expression of law files (docs/guide/questions.md). */

import { canonicalize } from "../canonical/canonicalize.ts";
import type { JsonValue } from "../canonical/json.ts";
import { didYouMean, quote } from "../law/suggest.ts";
import type { GroupOf } from "../law/questions/asked_law.ts";
import type { Claim, ClaimAtom } from "../law/questions/prove.ts";
import type { Condition, Requirement, ScenarioLaw } from "../law/types.ts";
import { type LawWords, lawWords } from "../law/words.ts";
import { typedPredicate } from "./law_file/comparison.ts";
import { type Call, type Comparison, type Expression, readExpression, type Span } from "./law_file/expression.ts";

/** A fault with its place in the expression. */
export interface ClaimFault extends Span {
  readonly message: string;
}

/** A claim, or every fault of its expression. */
export type ReadClaim =
  | { readonly ok: true; readonly claim: Claim; readonly groupOf: GroupOf }
  | { readonly ok: false; readonly faults: readonly ClaimFault[] };

const CALLS = new Map([["stage", true], ["key", true], ["provider", true], ["caller", false]]);

/**
 * Reads a claim about a law.
 *
 * @param oneValue Whether a name may be compared in other ways than the law does
 */
export function readClaim(law: ScenarioLaw, text: string, stage: string | undefined, oneValue: boolean): ReadClaim {
  const reader = new ClaimReader(law, oneValue);
  const needs = reader.read(text);
  if (stage !== undefined && !law.stages.some(({ stage_id }) => stage_id === stage)) {
    const hint = didYouMean(stage, law.stages.map(({ stage_id }) => stage_id));
    reader.faults.push({ message: `Stage ${quote(stage)} is not in the law${hint}`, start: 0, end: 0 });
  }
  if (needs === undefined || reader.faults.length > 0) return { ok: false, faults: reader.faults };
  const claim = { needs, atoms: reader.atoms, ...stage === undefined ? {} : { stage } };
  return { ok: true, claim, groupOf: ({ condition_id }) => reader.names.get(condition_id) ?? condition_id };
}

class ClaimReader {
  readonly atoms = new Map<string, ClaimAtom>();
  readonly faults: ClaimFault[] = [];
  /** The name of the evidence of each condition. */
  readonly names: Map<string, string>;
  readonly #law: ScenarioLaw;
  readonly #words: LawWords;
  readonly #oneValue: boolean;

  constructor(law: ScenarioLaw, oneValue: boolean) {
    this.#law = law;
    this.#words = lawWords(law);
    this.#oneValue = oneValue;
    this.names = new Map(this.#words.evidence);
  }

  read(text: string): Requirement | undefined {
    const scope = {
      ofStages: false,
      names: new Set(this.names.values()),
      parameters: new Set(this.#words.parameters.values()),
      calls: CALLS,
    };
    const expression = readExpression(text, scope, (_, message, { start, end }) => {
      this.faults.push({ message: message.replace('; declare it in "evidence" or "parameters"', ""), start, end });
    });
    return expression === undefined ? undefined : this.#requirement(expression);
  }

  #fault(message: string, { start, end }: Span): undefined {
    this.faults.push({ message, start, end });
    return undefined;
  }

  #requirement(node: Expression): Requirement | undefined {
    switch (node.kind) {
      case "Not": {
        if (!isOfEvidence(node.operand)) {
          return this.#fault("Expected a comparison after !: a stage or a party that must not count is no need", node);
        }
        const operand = this.#requirement(node.operand);
        return operand === undefined ? undefined : { Not: operand };
      }
      case "comparison":
        return this.#comparison(node.comparison);
      case "call":
        return this.#call(node.call);
      case "stage":
        return this.#fault("Expected stage(..)", node);
      default: {
        const operands = node.operands.flatMap((one) => this.#requirement(one) ?? []);
        if (node.kind === "RequireGroup") return { RequireGroup: { min: node.min, reqs: operands } };
        return node.kind === "And" ? { And: operands } : { Or: operands };
      }
    }
  }

  #comparison(comparison: Comparison): Requirement | undefined {
    const own = this.#law.conditions.filter(({ condition_id }) => this.names.get(condition_id) === comparison.name);
    const [first] = own;
    if (first === undefined) return undefined;
    const parameters = new Map([...this.#words.parameters].map(([id, name]) => [
      name,
      { id, domain: this.#law.parameters?.find(({ parameter_id }) => parameter_id === id)?.domain },
    ]));
    const faults: string[] = [];
    const predicate = typedPredicate(
      comparison,
      first.observation_domain,
      parameters,
      (_, message) => faults.push(message),
    );
    const key = (one: unknown): string => canonicalize(one as JsonValue);
    const known = own.find((one) => predicate !== undefined && key(one.predicate) === key(predicate));
    if (known !== undefined) return this.#leaf(known.condition_id, { condition: known.condition_id });
    if (predicate === undefined) return this.#fault(faults[0] ?? "Cannot read the comparison", comparison);
    if (!this.#oneValue) {
      const has = own.map(({ condition_id }) => this.#words.condition(condition_id)).join(", ");
      return this.#fault(
        `The law does not compare it so: it has ${has}; gate scenario prove --one-value takes any comparison`,
        comparison,
      );
    }
    const condition: Condition = { ...first, condition_id: `claim ${key(predicate)} of ${comparison.name}`, predicate };
    this.names.set(condition.condition_id, comparison.name);
    return this.#leaf(condition.condition_id, { comparison: condition });
  }

  #leaf(id: string, atom: ClaimAtom): Requirement {
    this.atoms.set(id, atom);
    return { Condition: id };
  }

  #call({ call, argument, start, end }: Call): Requirement | undefined {
    const { conditions, acquisition_bindings, stages } = this.#law;
    const id = `${call}(${argument ?? ""})`;
    if (call === "caller" || argument === null) return this.#leaf(id, { caller: true });
    if (call === "stage") {
      const ids = stages.map(({ stage_id }) => stage_id);
      const found = ids.find((one) => one === argument) ?? ids.find((one) => this.#words.stages.get(one) === argument);
      if (found !== undefined) return this.#leaf(id, { stage: found });
      return this.#fault(`Stage ${quote(argument)} is not in the law${didYouMean(argument, ids)}`, { start, end });
    }
    const policies = conditions.map((one) => one.evidence_use_policy);
    const isKey = call === "key";
    const known = isKey
      ? policies.flatMap(({ authorized_key_ids = [] }) => authorized_key_ids)
      : acquisition_bindings.map(({ provider_id }) => provider_id);
    const isOpen = isKey &&
      policies.some((one) => one.authorization === "signature" && one.authorized_key_ids === undefined);
    if (known.includes(argument) || isOpen) return this.#leaf(id, isKey ? { key: argument } : { provider: argument });
    const kind = isKey ? "Key" : "Provider";
    return this.#fault(`${kind} ${quote(argument)} is not in the law${didYouMean(argument, known)}`, { start, end });
  }
}

/** Whether an expression has comparisons only. */
function isOfEvidence(node: Expression): boolean {
  if (node.kind === "comparison") return true;
  if (node.kind === "Not") return isOfEvidence(node.operand);
  return "operands" in node && node.operands.every(isOfEvidence);
}
