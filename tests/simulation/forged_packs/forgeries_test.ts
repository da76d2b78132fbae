import assert from "node:assert/strict";
import { CLAIM_NAMES } from "../../../src/runpack/verify/claims.ts";
import { FORGERIES } from "./forgeries.ts";
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

Deno.test("the forgeries violate every claim that a replay settles but source authenticity, which needs keys", () => {
  const violated = new Set(FORGERIES.flatMap(({ violates }) => Object.keys(violates)));
  const settled = CLAIM_NAMES.slice(
    CLAIM_NAMES.indexOf("scenario_law_construction"),
    CLAIM_NAMES.indexOf("source_authenticity"),
  );
  assert.deepEqual(settled.filter((claim) => !violated.has(claim)), []);
});
