/**
 * Random small laws with stages, parameters, windows of time, digests, keys, quorums and sources, and random claims about
 * them.
 *
 * @module
 */

import type { JsonValue } from "../../../src/canonical/json.ts";
import type { Requirement } from "../../../src/law/types.ts";
import type { Claim, ClaimAtom } from "../../../src/law/questions/prove.ts";
import type { CompiledLaw } from "../../../src/run/compile.ts";
import { constructLaw, graphIdentity, lawIdentity } from "../../../src/law/law.ts";
import { compileLaw } from "../../../src/run/compile.ts";
import { OPEN_ENVIRONMENT, SHA256 } from "../kernel/fixture.ts";
import { type Editable, policy } from "../kernel/law_specs.ts";

/** Numbers of a seed: the same for the same seed everywhere. */
export class Dice {
  #state: number;
  constructor(seed: number) {
    this.#state = seed >>> 0;
  }
  /** An integer from 0 to `sides - 1` (mulberry32). */
  roll(sides: number): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ this.#state >>> 15, 1 | this.#state);
    mixed = mixed + Math.imul(mixed ^ mixed >>> 7, 61 | mixed) ^ mixed;
    return ((mixed ^ mixed >>> 14) >>> 0) % sides;
  }
  /** One of several. */
  pick<One>(...ones: readonly [One, ...One[]]): One {
    return ones[this.roll(ones.length)] as One;
  }
}

const DIGESTS = ["a".repeat(64), "b".repeat(64)] as const;
const typed = (value: JsonValue, value_type: string): Editable => ({ value, value_type });

/** A comparison on a domain with few values. */
function comparison(dice: Dice, parameter: boolean): Editable {
  const order = dice.pick("Equals", "NotEquals", "LessThan", "LessThanOrEqual", "GreaterThan", "GreaterThanOrEqual");
  switch (dice.roll(8)) {
    case 0:
      return {
        observation_domain: { domain: "Boolean" },
        predicate: { predicate: "Equals", expected: typed(true, "Boolean") },
      };
    case 1:
      return {
        observation_domain: { domain: "Digest", algorithm: "sha256" },
        predicate: { predicate: dice.pick("Equals", "NotEquals"), expected: typed(dice.pick(...DIGESTS), "Digest") },
      };
    case 2:
      return {
        observation_domain: { domain: "Timestamp" },
        predicate: {
          predicate: dice.pick("LessThan", "GreaterThanOrEqual"),
          expected: { relative_to: "evaluation_time", offset_milliseconds: dice.pick(-60_000, 60_000) },
        },
      };
    case 3:
      return { observation_domain: { domain: "Boolean" }, predicate: { predicate: dice.pick("Exists", "NotExists") } };
    case 4:
      return {
        observation_domain: { domain: "Integer", minimum: 0, maximum: 2 },
        predicate: { predicate: "InSet", expected: [typed(0, "Integer"), typed(dice.pick(1, 2), "Integer")] },
      };
    default: {
      const expected = parameter && dice.roll(2) === 0 ? { parameter: "limit" } : typed(dice.roll(3), "Integer");
      return {
        observation_domain: { domain: "Integer", minimum: 0, maximum: 2 },
        predicate: { predicate: order, expected },
      };
    }
  }
}

const AGREE = { combination: "AllQualifyingAgree" };
const COMBINATIONS = [AGREE, AGREE, { combination: "AnyQualifying" }, { combination: "Quorum", minimum: 2 }] as const;

/** Who gives the evidence of a condition: its policy and its bindings. */
function source(
  dice: Dice,
  condition_id: string,
): { readonly evidence_use_policy: Editable; readonly bindings: Editable[] } {
  const combination = dice.pick(...COMBINATIONS);
  const independence = dice.pick("distinct_acquisition", "distinct_acquisition", "distinct_provider", "not_required");
  const freshness = dice.roll(4) === 0
    ? { freshness: "MaximumAge", maximum_age_millis: 60_000 }
    : { freshness: "NotRequired" };
  const base = { combination, independence, freshness, required_assurance: ["content_integrity", "scope"] };
  const signature = {
    authorization: "signature",
    integrity: "signed_content",
    ...dice.roll(4) === 0 ? {} : { authorized_key_ids: dice.pick(["alice"], ["alice", "bob"], ["bob"]) },
  };
  const providers = dice.pick(["env"], ["env", "json"], ["env", "env"], ["json"]);
  const bindings = providers.map((provider_id, at) => ({
    binding_id: `${condition_id}-${at}`,
    condition_id,
    channel: "local_acquisition",
    provider_id,
    check_id: "read",
    params: { of: dice.pick("x", "y") },
  }));
  const all = dice.roll(2) === 0 ? { requires_all_bindings: true } : {};
  switch (dice.roll(5)) {
    case 0:
      return { evidence_use_policy: policy({ ...base, allowed_channels: ["caller_submission"] }), bindings: [] };
    case 1:
      return {
        evidence_use_policy: policy({ ...base, ...signature, allowed_channels: ["accepted_submission"] }),
        bindings: [],
      };
    case 2:
      return {
        evidence_use_policy: policy({ ...base, ...signature, allowed_channels: ["caller_submission"] }),
        bindings: [],
      };
    case 3:
      return { evidence_use_policy: policy({ ...base, ...all, allowed_channels: ["local_acquisition"] }), bindings };
    default:
      return {
        evidence_use_policy: policy({ ...base, ...all, allowed_channels: ["caller_submission", "local_acquisition"] }),
        bindings,
      };
  }
}

/** A requirement over ids. */
function requirement(dice: Dice, ids: readonly [string, ...string[]], depth: number, negates: boolean): Requirement {
  const kind = depth === 0 ? 0 : dice.roll(negates ? 5 : 4);
  if (kind <= 1) return { Condition: dice.pick(...ids) };
  if (kind === 4) return { Not: requirement(dice, ids, depth - 1, negates) };
  const operands = Array.from({ length: 1 + dice.roll(3) }, () => requirement(dice, ids, depth - 1, negates));
  if (kind === 2) return dice.roll(2) === 0 ? { And: operands } : { Or: operands };
  return { RequireGroup: { min: 1 + dice.roll(operands.length), reqs: operands } };
}

/** The spec of a random law; it may be refused. */
export function randomSpec(dice: Dice): Editable {
  const hasParameter = dice.roll(3) === 0;
  const conditionIds = ["a", "b", "c", "d"].slice(0, 2 + dice.roll(3)) as [string, ...string[]];
  const parts = conditionIds.map((condition_id) => {
    const { evidence_use_policy, bindings } = source(dice, condition_id);
    return { condition: { condition_id, ...comparison(dice, hasParameter), evidence_use_policy }, bindings };
  });
  const stageIds = ["s", "t", "u"].slice(0, 1 + dice.roll(3)) as [string, ...string[]];
  return {
    spec_version: "dag-v3",
    scenario_id: "generated",
    namespace_id: 2,
    ...hasParameter
      ? {
        parameters: [{ parameter_id: "limit", domain: { domain: "Integer", minimum: 0, maximum: 1 + dice.roll(2) } }],
      }
      : {},
    conditions: parts.map(({ condition }) => condition),
    acquisition_bindings: parts.flatMap(({ bindings }) => bindings),
    stages: stageIds.map((stage_id, at) => {
      const before = stageIds.slice(0, at);
      const [first, ...rest] = before;
      return {
        stage_id,
        prerequisite: first === undefined || dice.roll(3) === 0
          ? { kind: "root" }
          : { kind: "requires", requirement: requirement(dice, [first, ...rest], 1, false) },
        completion_requirement: requirement(dice, conditionIds, 3, true),
        entry_packets: [],
      };
    }),
    completion_requirement: requirement(dice, stageIds, 2, false),
  };
}

/** The compiled law of a spec; null if the spec is refused. */
export function tryLaw(spec: Editable): CompiledLaw | null {
  const result = constructLaw(spec as JsonValue, OPEN_ENVIRONMENT);
  if (!result.ok) return null;
  return compileLaw(result.law, lawIdentity(SHA256, result.law), graphIdentity(SHA256, result.law));
}

/** The first random law that is accepted. */
export function randomLaw(dice: Dice): CompiledLaw {
  for (;;) {
    const law = tryLaw(randomSpec(dice));
    if (law !== null) return law;
  }
}

/** A random claim about a law. */
export function randomClaim(dice: Dice, { law }: CompiledLaw): Claim {
  const atoms = new Map<string, ClaimAtom>();
  const add = (atom: ClaimAtom): Requirement => {
    const id = JSON.stringify(atom);
    atoms.set(id, atom);
    return { Condition: id };
  };
  const condition = (): Requirement => {
    const at = dice.roll(law.conditions.length);
    return add({ condition: law.conditions[at]?.condition_id ?? "" });
  };
  const leaf = (): Requirement => {
    switch (dice.roll(7)) {
      case 0:
        return add({ stage: law.stages[dice.roll(law.stages.length)]?.stage_id ?? "" });
      case 1:
        return add({ caller: true });
      case 2:
        return add({ key: dice.pick("alice", "bob") });
      case 3:
        return add({ provider: dice.pick("env", "json") });
      case 4:
        return { Not: condition() };
      default:
        return condition();
    }
  };
  const node = (depth: number): Requirement => {
    const kind = depth === 0 ? 0 : dice.roll(4);
    if (kind <= 1) return leaf();
    const operands = Array.from({ length: 1 + dice.roll(3) }, () => node(depth - 1));
    if (kind === 2) return dice.roll(2) === 0 ? { And: operands } : { Or: operands };
    return { RequireGroup: { min: 1 + dice.roll(operands.length), reqs: operands } };
  };
  const needs = node(2);
  const stage = dice.roll(3) === 0 ? law.stages[dice.roll(law.stages.length)]?.stage_id : undefined;
  return { needs, atoms, ...stage === undefined ? {} : { stage } };
}
