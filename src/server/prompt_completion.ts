/**
 * Completes the arguments of prompts: from what is fixed, and from what the caller itself may list.
 *
 * @module
 */

import { isJsonArray, isJsonObject, type JsonObject, member } from "../canonical/json.ts";
import type { CallOutcome } from "./dispatcher.ts";
import { SCENARIO_KINDS, VERIFICATION_PROFILES } from "./prompts.ts";

/** Calls a tool in the name of whoever asks. */
export type AskTool = (name: string, input: JsonObject) => Promise<CallOutcome>;

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

/** What is begun, and what is given already. */
export interface CompletionQuestion {
  readonly prompt: string;
  readonly argument: string;
  readonly begun: string;
  readonly given: ReadonlyMap<string, string>;
}

/** The values that an argument of a prompt may have, as far as they are known. */
export async function completeArgument(question: CompletionQuestion, ask: AskTool): Promise<Completion> {
  const { prompt, argument, begun, given } = question;
  const fixed = FIXED.get(`${prompt}.${argument}`);
  if (fixed !== undefined) return asCompletion(fixed.filter((value) => value.startsWith(begun)), true);
  if (prompt === "drive_run" && argument === "scenario_id") {
    const namespaceId = Number(given.get("namespace_id"));
    if (Number.isSafeInteger(namespaceId) && namespaceId >= 1) return await completeScenario(namespaceId, begun, ask);
  }
  return asCompletion([], true);
}

/** Values cut to what one answer may hold. */
export function asCompletion(values: readonly string[], isWhole: boolean): Completion {
  return {
    values: values.slice(0, VALUES_MAXIMUM),
    ...isWhole ? { total: values.length } : {},
    hasMore: !isWhole || values.length > VALUES_MAXIMUM,
  };
}

/** The ids of the scenarios that the caller may list; none where it may not. */
async function completeScenario(namespaceId: number, begun: string, ask: AskTool): Promise<Completion> {
  const found = new Set<string>();
  let cursor: string | null = null;
  for (let page = 0; page < PAGES_MAXIMUM; page++) {
    const input: JsonObject = { namespace_id: namespaceId, limit: PAGE_ITEMS };
    const outcome = await ask("scenarios_list", cursor === null ? input : { ...input, cursor });
    if (!outcome.ok || !outcome.answer.ok) return asCompletion([], true);
    const { result } = outcome.answer;
    const items = member(result, "items");
    for (const item of isJsonArray(items) ? items : []) {
      const id = isJsonObject(item) ? member(item, "scenario_id") : undefined;
      if (typeof id === "string" && id.startsWith(begun)) found.add(id);
    }
    const next = member(result, "next_token");
    if (typeof next !== "string") return asCompletion([...found], true);
    cursor = next;
  }
  return asCompletion([...found], false);
}
