import assert from "node:assert/strict";

import { readJson } from "../../canonical/scan.ts";
import { summaryStatement, type VerificationSummary } from "./verification_summary.ts";

const SUMMARY: VerificationSummary = {
  subjects: [{ name: "app", digest: "5e".repeat(32) }],
  verifier_id: "urn:gate:verifier",
  verifier_procedure: "gate-verifier-2",
  verified_at: 1_760_000_000_000,
  resource_uri: "pkg:oci/app",
  law: "11".repeat(32),
  parameters: [["commit", "8d1f"], ["a note", "x&y=z"]],
  law_digest: "22".repeat(32),
  runpack: "33".repeat(32),
  runpack_digest: "44".repeat(32),
  manifest_digest: "55".repeat(32),
  is_admitted: true,
  stage: null,
  waived: [],
  decision: { exit_code: 0 },
};

Deno.test("summaryStatement() writes the whole statement", () => {
  assert.deepEqual(readJson(summaryStatement(SUMMARY)), {
    _type: "https://in-toto.io/Statement/v1",
    subject: [{ name: "app", digest: { sha256: "5e".repeat(32) } }],
    predicateType: "https://slsa.dev/verification_summary/v1",
    predicate: {
      verifier: { id: "urn:gate:verifier", version: { gate: "gate-verifier-2" } },
      timeVerified: "2025-10-09T08:53:20.000Z",
      resourceUri: "pkg:oci/app",
      policy: {
        uri: `urn:gate:scenario-law:${"11".repeat(32)}?commit=8d1f&a%20note=x%26y%3Dz`,
        digest: { sha256: "22".repeat(32) },
      },
      inputAttestations: [
        { uri: `urn:gate:runpack:${"33".repeat(32)}`, digest: { sha256: "44".repeat(32) } },
        { uri: `urn:gate:runpack:${"33".repeat(32)}#manifest.json`, digest: { sha256: "55".repeat(32) } },
      ],
      verificationResult: "PASSED",
      verifiedLevels: ["GATE_RUN_COMPLETE"],
      slsaVersion: "1.0",
      "urn:gate:admission:v1": { exit_code: 0, stage: null, waived: [] },
    },
  });
});

// What is decided, and the level that stands for it.
const LEVELS: readonly (readonly [string, Partial<VerificationSummary>, string])[] = [
  ["a run", {}, "GATE_RUN_COMPLETE"],
  ["a run with waivers", { waived: ["origin"] }, "GATE_RUN_COMPLETE_WITH_WAIVERS"],
  ["a stage", { stage: "build" }, "GATE_STAGE_COMPLETE:build"],
  ["a stage with waivers", { stage: "build", waived: ["origin"] }, "GATE_STAGE_COMPLETE_WITH_WAIVERS:build"],
  ["a run that is not admitted", { is_admitted: false }, "FAILED"],
  ["a stage that is not admitted", { is_admitted: false, stage: "build", waived: ["origin"] }, "FAILED"],
];

for (const [what, changes, level] of LEVELS) {
  Deno.test(`summaryStatement() gives ${what} the level ${level}`, () => {
    const { predicate } = readJson(summaryStatement({ ...SUMMARY, ...changes })) as {
      predicate: { verifiedLevels: string[]; verificationResult: string };
    };
    assert.deepEqual(predicate.verifiedLevels, [level]);
    assert.equal(predicate.verificationResult, level === "FAILED" ? "FAILED" : "PASSED");
  });
}

Deno.test("summaryStatement() leaves out the digest of a law that is not known", () => {
  const { predicate } = readJson(summaryStatement({ ...SUMMARY, parameters: [], law_digest: null })) as {
    predicate: { policy: object };
  };
  assert.deepEqual(predicate.policy, { uri: `urn:gate:scenario-law:${"11".repeat(32)}` });
});
