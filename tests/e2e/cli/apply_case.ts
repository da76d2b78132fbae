/**
 * `gate client apply` through separate processes, over any store.
 *
 * @module
 */

import assert from "node:assert/strict";
import type { JsonObject } from "@/canonical/json.ts";
import { id, spec } from "@/tools/tests/tools_fixture.ts";
import type { Ended } from "../gate_command.ts";

/** Applies lists with a `gate` whose configuration has an empty store; `folder` is where it runs. */
export async function applyLists(folder: string, gate: (...args: readonly string[]) => Promise<Ended>): Promise<void> {
  await Deno.writeTextFile(`${folder}/define.json`, JSON.stringify({ spec: spec() }));
  const defined = JSON.parse((await gate("client", "call", "scenario_define", "--input", "define.json")).stdout);
  const run = { namespace_id: 2, scenario_id: "release", run_id: { operation: 0 } };
  const start = {
    namespace_id: 2,
    scenario_id: "release",
    scenario_law_identity: defined.scenario_law_identity,
    creation_request_id: id(1),
    correlation: { kind: "unset" },
    genesis: { kind: "empty" },
  };
  const at = (operation: number, own: number, stage_id = "build"): object => ({
    ...run,
    expected_head: { operation },
    operation_id: id(own),
    stage_id,
  });
  const whole = [
    { tool: "scenario_start", arguments: start },
    { tool: "scenario_open_stage", arguments: at(0, 2) },
    { tool: "scenario_evaluate_stage", arguments: at(1, 3) },
    { tool: "scenario_start", arguments: { ...start, creation_request_id: id(4) } },
  ];
  const apply = async (operations: readonly unknown[], code: number): Promise<readonly JsonObject[]> => {
    await Deno.writeTextFile(`${folder}/list.json`, JSON.stringify({ operations }));
    const ended = await gate("client", "apply", "list.json", "--json");
    assert.equal(ended.code, code, ended.stderr);
    return JSON.parse(ended.stdout).result.results;
  };
  const first = await apply(whole, 4);
  assert.deepEqual(first.map(({ outcome }) => (outcome as JsonObject)["outcome"]), Array(4).fill("accepted"));
  assert.deepEqual(await apply(whole, 4), first, "a list that is sent again answers the same");
  const refused = [whole[0], { tool: "scenario_open_stage", arguments: at(0, 5, "deploy") }, ...whole.slice(1, 2)];
  const [, stale, left] = await apply(refused, 5);
  assert.equal((stale?.["outcome"] as JsonObject)["outcome"], "stale");
  assert.deepEqual(left, { not_attempted: { reason: "earlier_refusal", operation: 1 } });
  const { runs } = JSON.parse((await gate("runs", "--json")).stdout).result;
  const revisions = runs.map(({ accepted_head }: { accepted_head: { revision: number } }) => accepted_head.revision)
    .sort();
  assert.deepEqual(revisions, [1, 3], "nothing is there twice");
  assert.equal((await gate("client", "apply", "none.json")).code, 2);
}
