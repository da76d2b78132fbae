/**
 * The rules of a list, for operations that are calls of their own: the peer that `scenario_apply` is compared with.
 *
 * @module
 */

import type { Principal } from "@/access/types.ts";
import type { JsonObject, JsonValue } from "@/canonical/json.ts";
import type { KnownRun } from "./generated_lists.ts";
import type { Operation, World } from "./world.ts";

interface Made {
  readonly text: string;
  /** The arguments as called; null where the operation was not attempted. */
  readonly input: JsonObject | null;
  readonly result: JsonObject | null;
}

function referred(value: JsonValue | undefined): number | null {
  return (value as { operation?: number } | undefined)?.operation ?? null;
}

/** Makes each operation as a call of its own; returns the texts of the results. */
export async function callSingly(
  world: World,
  caller: Principal,
  operations: readonly Operation[],
  runs: KnownRun[],
): Promise<string[]> {
  const made: Made[] = [];
  const ended = new Map<string, number>();
  const blame: (number | null)[] = [];
  for (const [index, { tool, arguments: given }] of operations.entries()) {
    const input: Record<string, JsonValue> = structuredClone(given) as Record<string, JsonValue>;
    const scope = input["scope"] as Record<string, JsonValue> | undefined;
    const [run, head, opened] = [input["run_id"], input["expected_head"], scope?.["stage_open_record_id"]].map(
      referred,
    );
    const cause = [run, head, opened].map((at) => at === null ? null : blame[at as number] ?? null)
      .find((at) => at !== null);
    const resultAt = (at: number | null | undefined): JsonObject => made[at ?? -1]?.result ?? {};
    if (run !== null && (made[run as number]?.result ?? null) !== null) {
      const key = resultAt(run)["run_key"] as JsonObject | undefined;
      input["run_id"] = key?.["run_id"] ?? made[run as number]?.input?.["run_id"] ?? null;
    }
    if (head !== null) input["expected_head"] = resultAt(head)["head"] ?? resultAt(head)["accepted_head"] ?? null;
    if (opened !== null && scope !== undefined) {
      scope["stage_open_record_id"] = resultAt(opened)["stage_open_record_id"] ?? null;
    }
    const name = typeof input["run_id"] === "string" ? `${input["namespace_id"]} ${input["run_id"]}` : null;
    const end = cause ?? (name === null ? undefined : ended.get(name));
    if (end !== undefined) {
      made.push({
        text: JSON.stringify({ not_attempted: { reason: "earlier_refusal", operation: end } }),
        input,
        result: null,
      });
      blame.push(end);
      if (name !== null && !ended.has(name)) ended.set(name, end);
      continue;
    }
    const text = await world.call(caller, tool, input);
    const { outcome } = JSON.parse(text) as { outcome?: { outcome: string; result: JsonObject } };
    const isAccepted = outcome?.outcome === "accepted";
    made.push({ text, input, result: isAccepted ? outcome.result : null });
    blame.push(isAccepted ? null : index);
    if (!isAccepted && name !== null && !ended.has(name)) ended.set(name, index);
    if (isAccepted) learn(runs, input, outcome.result);
  }
  return made.map(({ text }) => text);
}

/** Adds what an accepted call came to. */
function learn(runs: KnownRun[], input: JsonObject, result: JsonObject): void {
  const key = result["run_key"] as { run_id: string } | undefined;
  const run_id = key?.run_id ?? String(input["run_id"]);
  let run = runs.find((one) => one.run_id === run_id);
  if (run === undefined) runs.push(run = { run_id, heads: [], opened: [] });
  run.heads.push((result["head"] ?? result["accepted_head"]) as JsonObject);
  const opened = result["stage_open_record_id"];
  if (typeof opened === "string") run.opened.push(opened);
}
