import assert from "node:assert/strict";
import { leftOutPack } from "./left_out.ts";
import { statusesOf, verifyWhole } from "../runpack/memory.ts";

for (const withheld of [[], ["c"]]) {
  const held = withheld.length === 0 ? "with every value" : "with its value withheld";
  Deno.test(`verifyRunpack() an attempt that left out a required binding, ${held}: binding_required`, async () => {
    const statuses = statusesOf(await verifyWhole(leftOutPack(withheld)));
    const violated = Object.entries(statuses).filter(([, status]) => status.startsWith("violated "));
    const decision = ["pure_semantic_replay", "violated decision_mismatch: revision 3"];
    assert.deepEqual(violated, [
      ["evaluation_attempt_consistency", "violated binding_required: revision 3"],
      ...withheld.length === 0 ? [decision] : [],
    ]);
  });
}
