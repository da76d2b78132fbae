/**
 * Completes the arguments of prompts: from what is fixed, and from what the caller itself may list.
 *
 * @module
 */

import { isJsonArray, isJsonObject, type JsonObject, member } from "../../canonical/json.ts";
import type { NamespaceList } from "../../tools/framework/types.ts";
import type { Reader } from "./read_request.ts";
import type { CallOutcome } from "./dispatcher.ts";
import { SCENARIO_KINDS, VERIFICATION_PROFILES } from "./prompts.ts";

/** Asks in the name of whoever wants to know. */
export interface Ask extends Pick<Reader, "namespaces"> {
  readonly tool: (name: string, input: JsonObject) => Promise<CallOutcome>;
}

/** Values that MCP lets one answer hold. */
export const VALUES_MAXIMUM = 100;

/** Pages of scenarios that are looked through, and how many stand on each. */
const PAGES_MAXIMUM = 5;
const PAGE_ITEMS = 1000;

/** What `completion/complete` gives. */
export interface Completion {
  readonly values: string[];
  /** How many there are; left out where there may be more than were looked at. */
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

/** What is begun, and what is given already. */
export interface CompletionQuestion {
  readonly prompt: string;
  readonly argument: string;
  readonly begun: string;
  readonly given: ReadonlyMap<string, string>;
}

/** The values that an argument of a prompt may have, as far as they are known. */
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

/** Values cut to what one answer may hold. */
export function asCompletion(values: readonly string[], isWhole: boolean): Completion {
  return {
    values: values.slice(0, VALUES_MAXIMUM),
    ...isWhole ? { total: values.length } : {},
    hasMore: !isWhole || values.length > VALUES_MAXIMUM,
  };
}

/** The ids of the scenarios of some namespaces that the caller may list; none where it may not. */
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
