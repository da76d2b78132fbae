import assert from "node:assert/strict";
import { readJson } from "../../../src/canonical/scan.ts";
import type { ProcedureName } from "../../../src/run/types.ts";
import type { Editable } from "../kernel/law_specs.ts";
import { forge } from "./forge.ts";
import { packOf, statusesOf, verifyWhole } from "../runpack/memory.ts";
import { playOneKey } from "./one_key.ts";

const ROWS: readonly [ProcedureName, string][] = [
  ["gate-kernel-1", "true counts counts"],
  ["gate-kernel-2", "unknown counts not_independent"],
];

for (const [procedure, outcome] of ROWS) {
  Deno.test(`one key under two ids signs both items of a quorum of two, by ${procedure}: ${outcome}`, async () => {
    const run = playOneKey(procedure);
    const { body } = readJson(run.records.at(-1)?.record ?? "") as Editable;
    const reasons = body.evidence.map(({ reason }: Editable) => reason ?? "counts");
    assert.equal([body.outcome, ...reasons].join(" "), outcome);
    assert.equal(statusesOf(await verifyWhole(await packOf(run)))["pure_semantic_replay"], "satisfied");
  });
}

Deno.test("a quorum of one key by gate-kernel-1, presented as gate-kernel-2: qualification_mismatch", async () => {
  const pack = forge(playOneKey("gate-kernel-1"), ({ records }) => {
    records.at(-1).procedure = "gate-kernel-2";
  });
  const statuses = statusesOf(await verifyWhole(pack));
  assert.match(statuses["evidence_use_policy_satisfaction"] ?? "", /^violated qualification_mismatch/);
  assert.match(statuses["pure_semantic_replay"] ?? "", /^violated decision_mismatch/);
});
