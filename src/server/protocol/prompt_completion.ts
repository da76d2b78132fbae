/** Completes the arguments of prompts from fixed lists and from the names that the caller may list. */

import { isJsonArray, isJsonObject, type JsonObject, member } from "../../canonical/json.ts";
import type { NamespaceList } from "../../tools/framework/types.ts";
import type { Reader } from "./read_request.ts";
import type { CallOutcome } from "./dispatcher.ts";
import { SCENARIO_KINDS, VERIFICATION_PROFILES } from "./prompts.ts";

/** Calls tools and lists namespaces for the caller of a completion. */
export interface Ask extends Pick<Reader, "namespaces"> {
  readonly tool: (name: string, input: JsonObject) => Promise<CallOutcome>;
}

/** The most values of one answer in MCP. */
export const VALUES_MAXIMUM = 100;

/** The most pages of scenarios that are read, and the entries of each. */
const PAGES_MAXIMUM = 5;
const PAGE_ITEMS = 1000;

/** The result of `completion/complete`. */
export interface Completion {
  readonly values: string[];
  /** The number of all values; absent if not all were read. */
  readonly total?: number;
  readonly hasMore: boolean;
}

const FIXED: ReadonlyMap<string, readonly string[]> = new Map([
  ["author_scenario.kind", SCENARIO_KINDS],
  ["audit_runpack.profile", VERIFICATION_PROFILES],
]);

/** The arguments that are completed from what the caller may list, by prompt. */
const ARGUMENTS: ReadonlyMap<string, readonly string[]> = new Map([
  ["author_scenario", ["namespace_id"]],
  ["drive_run", ["namespace_id", "scenario_id"]],
]);

/** The begun argument, and the arguments given before it. */
export interface CompletionQuestion {
  readonly prompt: string;
  readonly argument: string;
  readonly begun: string;
  readonly given: ReadonlyMap<string, string>;
}

/** The known values of an argument of a prompt. */
export async function completeArgument(question: CompletionQuestion, ask: Ask): Promise<Completion> {
  const { prompt, argument, begun, given } = question;
  const fixed = FIXED.get(`${prompt}.${argument}`);
  if (fixed !== undefined) return asCompletion(fixed.filter((value) => value.startsWith(begun)), true);
  if (!(ARGUMENTS.get(prompt)?.includes(argument) ?? false)) return asCompletion([], true);
  if (argument === "namespace_id") {
    const { ids, isWhole } = await ask.namespaces(begun);
    return asCompletion(ids.map(String), isWhole);
  }
  const namespace = given.get("namespace_id") ?? "";
  if (namespace === "") return await completeScenario(await ask.namespaces(""), begun, ask);
  const namespaceId = Number(namespace);
  const ids = Number.isSafeInteger(namespaceId) && namespaceId >= 1 ? [namespaceId] : [];
  return await completeScenario({ ids, isWhole: true }, begun, ask);
}

/** A completion with at most {@link VALUES_MAXIMUM} values. */
export function asCompletion(values: readonly string[], isWhole: boolean): Completion {
  return {
    values: values.slice(0, VALUES_MAXIMUM),
    ...isWhole ? { total: values.length } : {},
    hasMore: !isWhole || values.length > VALUES_MAXIMUM,
  };
}

/** The ids of the scenarios of some namespaces that the caller may list. */
async function completeScenario({ ids, isWhole }: NamespaceList, begun: string, ask: Ask): Promise<Completion> {
  const found = new Set<string>();
  let pages = 0;
  for (const namespace_id of ids) {
    for (let cursor: string | null = null;;) {
      if (pages++ === PAGES_MAXIMUM) return asCompletion([...found], false);
      const input: JsonObject = { namespace_id, limit: PAGE_ITEMS };
      const page = await scenarioPage(cursor === null ? input : { ...input, cursor }, ask);
      for (const id of page.scenarios) if (id.startsWith(begun)) found.add(id);
      cursor = page.next;
      if (cursor === null) break;
    }
  }
  return asCompletion([...found], isWhole);
}

async function scenarioPage(
  input: JsonObject,
  ask: Ask,
): Promise<{ readonly scenarios: readonly string[]; readonly next: string | null }> {
  const outcome = await ask.tool("scenarios_list", input);
  if (!outcome.ok || !outcome.answer.ok) return { scenarios: [], next: null };
  const { result } = outcome.answer;
  const items = member(result, "items");
  const ids = (isJsonArray(items) ? items : []).map((item) => isJsonObject(item) ? member(item, "scenario_id") : null);
  const next = member(result, "next_token");
  return { scenarios: ids.filter((id) => typeof id === "string"), next: typeof next === "string" ? next : null };
}
