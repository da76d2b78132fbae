/** The fields of the evidence form: what each condition and each parameter of the laws in the page takes. */

import type { JsonValue } from "../canonical/json.ts";
import { parseJson } from "../canonical/scan.ts";
import type { Condition, ScenarioLaw } from "../law/types.ts";
import type { ObservationDomain } from "../law/value/types.ts";
import { valueOfText } from "../law/value/value_of_text.ts";
import { needsSignature } from "../law/lint.ts";
import { lawWords, shownType } from "../law/words.ts";

/** What was entered: texts by condition and by parameter, and the conditions whose evidence counts as signed. */
export interface Given {
  readonly evidence: ReadonlyMap<string, string>;
  readonly parameters: ReadonlyMap<string, string>;
  readonly signed: ReadonlySet<string>;
  /** The time of the evaluation, RFC 3339. */
  readonly at: string;
}

/** How the evidence of a condition reaches gate. */
export type Route = "caller" | "provider" | "statements" | "none";

/** A field of the form. */
export interface Field {
  readonly id: string;
  /** What it takes, in words. */
  readonly words: string;
  /** Absent for a parameter. */
  readonly route?: Route;
  readonly needsSignature?: boolean;
}

/** How the evidence of a condition reaches gate; the caller where the law allows it. */
export function routeOf(law: Pick<ScenarioLaw, "acquisition_bindings">, condition: Condition): Route {
  const { allowed_channels: channels } = condition.evidence_use_policy;
  if (channels.includes("caller_submission")) return "caller";
  if (law.acquisition_bindings.some(({ condition_id }) => condition_id === condition.condition_id)) return "provider";
  return channels.includes("accepted_submission") ? "statements" : "none";
}

/** The fields of some laws, in their order; a name that occurs in several has the field of the first. */
export function fieldsOf(laws: readonly ScenarioLaw[]): {
  readonly parameters: readonly Field[];
  readonly conditions: readonly Field[];
  readonly needsTime: boolean;
} {
  const parameters = new Map<string, Field>();
  const conditions = new Map<string, Field>();
  for (const law of [...laws].reverse()) {
    for (const { parameter_id: id, domain } of law.parameters ?? []) {
      parameters.set(id, { id, words: shownType(domain) });
    }
    const words = lawWords(law);
    for (const condition of law.conditions) {
      const { condition_id: id } = condition;
      const route = routeOf(law, condition);
      conditions.set(id, {
        id,
        words: `${words.condition(id)}: ${shownType(condition.observation_domain)}`,
        route,
        needsSignature: route === "caller" && needsSignature(condition.evidence_use_policy),
      });
    }
  }
  const inOrder = (names: readonly string[], fields: ReadonlyMap<string, Field>): Field[] =>
    [...new Set(names)].flatMap((name) => fields.get(name) ?? []);
  return {
    parameters: inOrder(laws.flatMap((law) => law.parameters?.map((one) => one.parameter_id) ?? []), parameters),
    conditions: inOrder(laws.flatMap((law) => law.conditions.map((one) => one.condition_id)), conditions),
    needsTime: laws.some((law) => JSON.stringify(law.conditions).includes('"relative_to"')),
  };
}

/** The value of a text in a domain; undefined where it has none. A Json value is written as JSON. */
export function valueOf(text: string, domain: ObservationDomain): JsonValue | undefined {
  if (domain.domain !== "Json") return valueOfText(text, domain)?.value;
  const parsed = parseJson(text);
  return parsed.ok ? parsed.value : undefined;
}

/** Statements of people, `KEY = VALUE` on each line. */
export function statementsOf(text: string): readonly { readonly key: string; readonly text: string }[] {
  return text.split("\n").filter((line) => line.trim() !== "").map((line) => {
    const at = line.indexOf("=");
    return { key: line.slice(0, Math.max(at, 0)).trim(), text: line.slice(at + 1).trim() };
  });
}
