import assert from "node:assert/strict";
import type { OperatorProfile } from "../../../src/run/profile.ts";
import type { VerificationReport } from "../../../src/runpack/verify/types.ts";
import { randomOf } from "../crash/random.ts";
import { KEY_1, KEY_2, NOW, oneConditionLaw, trusting } from "../kernel/fixture.ts";
import { forge } from "./forge.ts";
import { packOf, statusesOf, verifyWhole } from "../runpack/memory.ts";
import { play, type Said } from "./played.ts";
import { playRandomRun } from "../runpack/random_run.ts";

const violations = (report: VerificationReport): string[] =>
  Object.entries(statusesOf(report)).filter(([, status]) => status.startsWith("violated")).map((entry) =>
    entry.join(": ")
  );

Deno.test("verifyRunpack() finds no violation in runs that the kernel accepted, with any policy, profile and evidence", async () => {
  const random = randomOf(23);
  let satisfied = 0;
  for (let round = 0; round < 400; round++) {
    const run = playRandomRun(random);
    const trusted_keys = [Uint8Array.fromBase64(KEY_1.public_key)];
    const whole = await verifyWhole(await packOf(run), { trusted_keys });
    // A signature that does not verify contradicts claim 23; with an absent value the claim may be unavailable.
    const refuted = violations(whole).filter((found) => !found.startsWith("source_authenticity"));
    assert.deepEqual(refuted, [], `round ${round}`);
    for (const withheld of ["c", "branch"]) {
      const pack = await packOf(run, run.records.length, { withheld_conditions: [withheld] });
      const found = violations(await verifyWhole(pack, { trusted_keys }));
      assert.deepEqual(found.filter((one) => !violations(whole).includes(one)), [], `round ${round}, ${withheld}`);
    }
    if (statusesOf(whole)["pure_semantic_replay"] === "satisfied") satisfied++;
  }
  assert.ok(satisfied > 200, `${satisfied} of 400 runs were decided again as a whole`);
});

const SIGNED = { authorization: "signature", independence: "not_required" };
const TRUSTED: Partial<OperatorProfile> = {
  trust: {
    min_lane: "verified",
    default_policy: "audit",
    providers: [{ provider_id: "scanner", policy: trusting(KEY_1, KEY_2) }],
  },
};
const KEYS = [KEY_1, KEY_2].map(({ public_key }) => Uint8Array.fromBase64(public_key));

/** The signer of the counted evidence, the keys supplied, and the status of the claim. */
const SOURCES: readonly [string, readonly Said[], readonly Uint8Array[] | null, string][] = [
  ["signed by a supplied key", [{ value: 1, key: KEY_1, observed_at: NOW - 5 }], KEYS, "satisfied"],
  ["no keys supplied", [{ value: 1, key: KEY_1, observed_at: NOW - 5 }], null, "unavailable no_trusted_keys"],
  [
    "signed by another key",
    [{ value: 1, key: KEY_2, observed_at: NOW - 5 }],
    KEYS.slice(0, 1),
    "unavailable unsigned_evidence",
  ],
  ["nothing counted", [{ value: 1 }], KEYS, "unavailable no_evidence"],
];

for (const [what, caller, keys, expected] of SOURCES) {
  Deno.test(`source_authenticity ${what}: ${expected}`, async () => {
    const run = play(oneConditionLaw(SIGNED), TRUSTED, [{ caller, acquired: {} }]);
    const report = await verifyWhole(await packOf(run), { trusted_keys: keys });
    assert.equal(statusesOf(report)["source_authenticity"], expected);
    assert.deepEqual(violations(report), []);
  });
}

Deno.test("source_authenticity signature that does not verify: signature_invalid, as does its qualification", async () => {
  const law = oneConditionLaw(SIGNED);
  const run = play(law, TRUSTED, [{ caller: [{ value: 1, key: KEY_1, observed_at: NOW - 5 }], acquired: {} }]);
  const pack = forge(run, (parts) => {
    parts.records[2].body.evidence[0].signature.signature = KEY_1.sign("something else");
  });
  const statuses = statusesOf(await verifyWhole(pack, { trusted_keys: KEYS }));
  assert.match(statuses["source_authenticity"] ?? "", /^violated signature_invalid: revision 3, item 0$/);
  assert.match(statuses["evidence_use_policy_satisfaction"] ?? "", /^violated/);
});

/**
 * Forged judgements on what a provider owes: a signed item is recorded as unsigned, so that it does not count.
 */
Deno.test("verifyRunpack() an error that a signature refutes: qualification_mismatch", async () => {
  const law = oneConditionLaw();
  const given = { caller: [], acquired: { "scan-1": { value: 1, key: KEY_1, observed_at: NOW - 5 } } };
  const run = play(law, TRUSTED, [given]);
  const pack = forge(run, (parts) => {
    const { body } = parts.records[2];
    const [item] = body.evidence;
    for (const name of ["value_identity", "value_type", "content_hash"]) delete item[name];
    const error = { code: "signature_invalid", message: "Provider has to sign" };
    Object.assign(item, { error, qualified: false });
    Object.assign(body, {
      outcome: "unknown",
      completed: false,
      trace: [{ ...body.trace[0], value: "unknown", reason: "error" }],
    });
    delete body.scenario_trace;
  });
  const statuses = statusesOf(await verifyWhole(pack));
  assert.match(statuses["evidence_use_policy_satisfaction"] ?? "", /^violated qualification_mismatch/);
  assert.equal(statuses["pure_semantic_replay"], "satisfied", "the kernel takes an error as it finds it");
});
