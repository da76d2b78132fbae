import assert from "node:assert/strict";
import { randomOf } from "../crash/random.ts";
import { KEY_1 } from "../kernel/fixture.ts";
import { forge } from "./forge.ts";
import { FORGED, HONEST, ONLY_BY_VALUE, packOfRow, secondContract } from "./absent_values.ts";
import { statusesOf, verifyWhole } from "../runpack/memory.ts";
import { play, twoConditionLaw } from "./played.ts";
import { playRandomRun, rejudge } from "../runpack/random_run.ts";
import { playGoldenRun } from "../runpack/run.ts";
import { unlistedReasons } from "../runpack/violations.ts";

const trusted_keys = [Uint8Array.fromBase64(KEY_1.public_key)];

function codesOf(statuses: Readonly<Record<string, string>>): Record<string, string | undefined> {
  const violated = Object.entries(statuses).filter(([, status]) => status.startsWith("violated "));
  return Object.fromEntries(violated.map(([claim, status]) => [claim, status.slice("violated ".length).split(":")[0]]));
}

for (const row of FORGED) {
  const expected = Object.values(row.violates).join(", ");
  for (const withheld of ["branch", ...ONLY_BY_VALUE.has(row.name) ? [] : ["c"]]) {
    Deno.test(`verifyRunpack() ${row.name}, the value of "${withheld}" withheld: ${expected}`, async () => {
      const report = await verifyWhole(packOfRow(row, withheld));
      assert.deepEqual(unlistedReasons(report), []);
      assert.deepEqual(codesOf(statusesOf(report)), row.violates);
    });
  }
}

for (const row of HONEST) {
  Deno.test(`verifyRunpack() ${row.name}, its value withheld: ${row.authenticity}`, async () => {
    for (const withheld of [null, "branch", "c"]) {
      const statuses = statusesOf(await verifyWhole(packOfRow(row, withheld), { trusted_keys }));
      assert.deepEqual(codesOf(statuses), {}, `${withheld}`);
      if (withheld !== "c") continue;
      assert.equal(statuses["source_authenticity"], row.authenticity);
      assert.equal(statuses["evidence_use_policy_satisfaction"], "unavailable value_withheld");
    }
  });
}

Deno.test("verifyRunpack() a signature over another number than its source gave, value withheld: signature_invalid", async () => {
  const row = FORGED.find(({ name }) => name === "with a signature over another number than its provider gave");
  assert.ok(row !== undefined);
  const statuses = statusesOf(await verifyWhole(packOfRow(row, "c"), { trusted_keys }));
  assert.match(statuses["source_authenticity"] ?? "", /^violated signature_invalid: revision 3, item 1$/);
});

Deno.test("verifyRunpack() a verdict that was taken out of an item that failed for it: schema_verdict_mismatch", async () => {
  const row = {
    name: "",
    policy: { required_assurance: ["schema_compatibility"] },
    condition: {
      observation_domain: { domain: "Json", maximum_bytes: 1000, schema: { schema_id: "release", version: "1" } },
      predicate: { predicate: "Exists" },
    },
    caller: [{ value: 9, verdict: "invalid" }],
    violates: {},
  } as const;
  assert.deepEqual(codesOf(statusesOf(await verifyWhole(packOfRow(row, null)))), {});
  const pack = packOfRow({ ...row, change: (item) => delete item.schema_verdict }, null);
  assert.deepEqual(codesOf(statusesOf(await verifyWhole(pack))), {
    evidence_structural_admission: "schema_verdict_mismatch",
  });
});

Deno.test("verifyRunpack() a verdict on a value that no schema is asked of: schema_verdict_mismatch", async () => {
  const pack = forge(playGoldenRun(), (parts) => parts.records[2].body.evidence[0].schema_verdict = "valid");
  assert.equal(
    statusesOf(await verifyWhole(pack))["evidence_structural_admission"],
    "violated schema_verdict_mismatch: revision 3, item 0",
  );
});

Deno.test("verifyRunpack() other contracts of a provider in the list: the law is built under the one that is bound", async () => {
  const given = { caller: [], acquired: { "scan-1": { value: 1 } }, branch: "main" };
  const pack = forge(play(twoConditionLaw(), {}, [given]), secondContract);
  const report = await verifyWhole(pack);
  assert.deepEqual(codesOf(statusesOf(report)), { run_allocation_integrity: "artifact_unexpected" });
  assert.deepEqual(report.assumptions, ["json_schema_verdict_as_recorded"], "the bindings were checked");
});

Deno.test("verifyRunpack() an absent value of one condition hides no verdict and no trace line of another", async () => {
  const random = randomOf(31);
  let violated = 0;
  for (let round = 0; round < 300; round++) {
    const run = playRandomRun(random);
    const seed = Math.floor(random() * 1e6);
    const statuses = async (withheld: readonly string[]): Promise<readonly (string | undefined)[]> => {
      const pack = forge(run, (parts) => {
        rejudge(parts, randomOf(seed));
        parts.withheld.push(...withheld);
      });
      const all = statusesOf(await verifyWhole(pack));
      return ["evidence_use_policy_satisfaction", "pure_semantic_replay"].map((claim) => all[claim]);
    };
    const [verdicts, replay] = await statuses([]);
    const [hidden, traced] = await statuses(["branch"]);
    const isVerdict = verdicts?.startsWith("violated") === true;
    if (isVerdict || hidden?.startsWith("violated") === true) assert.equal(hidden, verdicts, `round ${round}`);
    // A verdict that was written anew is another decision too, which is for the claim above to find.
    else if (replay?.startsWith("violated") === true) assert.equal(traced, replay, `round ${round}`);
    if (isVerdict || replay?.startsWith("violated") === true) violated++;
  }
  assert.ok(violated > 100, `${violated} of 300`);
});
