import assert from "node:assert/strict";
import { readJson } from "../../../src/canonical/scan.ts";
import type { Editable } from "../kernel/law_specs.ts";
import { forge, type Parts } from "./forge.ts";
import { packOf, statusesOf, verifyWhole } from "../runpack/memory.ts";
import { LAST_SUBMISSION, playWaiting } from "./waiting.ts";

const RUN = playWaiting();

/** The evidence of the last submission. */
function submission({ records }: Parts): Editable {
  return records[LAST_SUBMISSION - 1].body.evidence;
}

/** The violated claims, each with its reason. */
async function violationsOf(edit: (parts: Parts) => void): Promise<readonly string[]> {
  const statuses = statusesOf(await verifyWhole(forge(RUN, edit)));
  return Object.entries(statuses).filter(([, status]) => status.startsWith("violated "))
    .map(([claim, status]) => `${claim} ${status.replace("violated ", "")}`);
}

Deno.test("a run whose people approve, refuse and withdraw verifies, and shows each step", async () => {
  const outcomes = RUN.records.flatMap(({ record }) => {
    const { record_kind, body } = readJson(record) as Editable;
    return record_kind === "stage_evaluated" ? [`${body.outcome} of ${body.evidence.length}`] : [];
  });
  assert.deepEqual(outcomes, ["unknown of 0", "unknown of 2", "true of 2"]);
  for (const pack of [await packOf(RUN), forge(RUN)]) {
    const statuses = statusesOf(await verifyWhole(pack));
    assert.equal(statuses["pure_semantic_replay"], "satisfied");
    assert.deepEqual(Object.entries(statuses).filter(([, status]) => status.startsWith("violated")), []);
  }
});

Deno.test("a withheld condition hides the payloads of its statements, and their signatures still verify", async () => {
  const withhold = (parts: Parts): void => {
    parts.withheld.push("c");
    for (const key of [...parts.bodies.keys()]) parts.bodies.delete(key);
  };
  const statuses = statusesOf(await verifyWhole(forge(RUN, withhold)));
  assert.deepEqual(Object.entries(statuses).filter(([, status]) => status.startsWith("violated")), []);
  assert.equal(statuses["submission_consistency"], "unavailable value_withheld");
  assert.equal(statuses["stage_open_consistency"], "satisfied");
  const forged = await violationsOf((parts) => {
    withhold(parts);
    submission(parts).observed_at++;
  });
  assert.ok(forged.includes(`submission_consistency signature_invalid: revision ${LAST_SUBMISSION}`), forged.join());
  const exported = statusesOf(await verifyWhole(await packOf(RUN, RUN.records.length, { withheld_conditions: ["c"] })));
  assert.deepEqual(exported, statuses);
});
