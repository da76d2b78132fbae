import assert from "node:assert/strict";
import { CLAIM_NAMES, CLAIMS } from "../../../src/runpack/verify/claims.ts";
import { acquired, FORGERIES } from "./forgeries.ts";
import { forge } from "./forge.ts";
import { identityOf, packOf, statusesOf, verifyWhole } from "../runpack/memory.ts";
import { playGoldenRun } from "../runpack/run.ts";
import { unlistedReasons } from "../runpack/violations.ts";

const RUN = playGoldenRun();

Deno.test("forge() without a change builds the very pack that is exported", async () => {
  assert.equal(identityOf(forge(RUN)), identityOf(await packOf(RUN)));
});

for (const { name, forge: change, violates } of FORGERIES) {
  Deno.test(`verifyRunpack() ${name}: ${Object.values(violates).join(", ")}`, async () => {
    const report = await verifyWhole(forge(RUN, change));
    assert.deepEqual(unlistedReasons(report), []);
    const statuses = statusesOf(report);
    const violated = Object.entries(statuses).filter(([, status]) => status.startsWith("violated "));
    const codes = violated.map(([claim, status]) => [claim, status.slice("violated ".length).split(":")[0]]);
    assert.deepEqual(Object.fromEntries(codes), violates);
    for (const claim of ["structural_format_validity", "runpack_subject_identity", "artifact_tree_integrity"]) {
      assert.equal(statuses[claim], "satisfied", "the material of a forgery is intact: only a replay detects it");
    }
  });
}

/** Stamps of an acquisition in the golden run, long before the run and long after it. */
for (const value of [0, 4_102_444_800_000]) {
  Deno.test(`verifyRunpack() takes the trigger time ${value} on the producer's word, and the claim says so`, async () => {
    const report = await verifyWhole(forge(RUN, (parts) => acquired(parts).acquisition.trigger_time.value = value));
    const violated = Object.entries(statusesOf(report)).filter(([, status]) => status.startsWith("violated "));
    assert.deepEqual(violated, []);
    const claim = CLAIMS.find(({ name }) => name === "acquisition_admission_witness_reconstruction");
    assert.match(claim?.meaning ?? "", /on the producer's word$/);
  });
}

Deno.test("the forgeries violate every claim that a replay settles but source authenticity, which needs keys", () => {
  const violated = new Set(FORGERIES.flatMap(({ violates }) => Object.keys(violates)));
  const settled = CLAIM_NAMES.slice(
    CLAIM_NAMES.indexOf("scenario_law_construction"),
    CLAIM_NAMES.indexOf("source_authenticity"),
  );
  assert.deepEqual(settled.filter((claim) => !violated.has(claim)), []);
});
