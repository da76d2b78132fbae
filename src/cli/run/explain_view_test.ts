import assert from "node:assert/strict";
import type { StageStanding } from "../../run/missing/stage.ts";
import type { UnmetCause } from "../../run/missing/causes.ts";
import type { EvidenceUsePolicy } from "../../law/types.ts";
import { describeStage, type EvidenceLaw } from "./explain_view.ts";

const READY: StageStanding = {
  stage_id: "build",
  classification: "ready_unopened",
  sets: [[{ condition_id: "tests", needed: true, sentence: "present(tests)" }]],
  complete: true,
  evidence: [{
    condition_id: "tests",
    channels: ["caller_submission"],
    domain: { domain: "Boolean" },
    predicate: { predicate: "Exists" },
    retention: "RetainCanonicalValue",
    policy: {},
  }],
};

const POLICY: EvidenceUsePolicy = {
  allowed_channels: ["caller_submission"],
  authorization: "signature",
  authorized_key_ids: ["keys/dba.key.pub", "keys/lead.key.pub"],
  combination: { combination: "Quorum", minimum: 2 },
  freshness: { freshness: "MaximumAge", maximum_age_millis: 600_000 },
  independence: "distinct_provider",
  integrity: "signed_content",
  replay: "full_semantic",
  required_assurance: ["content_integrity"],
  retention: "retain_canonical_value",
  scope: "exact_condition",
};

const LAW: EvidenceLaw = {
  conditions: [{
    condition_id: "tests",
    observation_domain: { domain: "Boolean" },
    predicate: { predicate: "Exists" },
    evidence_use_policy: POLICY,
  }],
  acquisition_bindings: [],
  stages: [],
};

Deno.test("describeStage() describes every requirement on evidence", () => {
  const text = describeStage(READY, undefined, LAW, false);
  const evidence = [
    "    present(tests)",
    "        evidence: boolean, sent by the caller",
    "        signed by one of the keys keys/dba.key.pub, keys/lead.key.pub",
    "        at most 10m old; evidence from the caller needs a signed time",
    "        at least 2 different people for items that hold, and fewer for items that do not",
    "        from different providers, or signed by different keys",
  ];
  assert.ok(text.endsWith(`  Evidence that counts\n${evidence.join("\n")}\n`), text);
});

Deno.test("describeStage() says who can be a quorum, and whether the law says whose the keys are", () => {
  const people = "at least 2 different people for items that hold";
  const perhapsOne = "at least 2 signatures, perhaps of one person, for items that hold";
  const pins = { authorized_public_keys: { a: "A", b: "B" }, authorized_key_ids: ["a", "b"] };
  const rows: readonly (readonly [Partial<EvidenceUsePolicy>, string])[] = [
    [{ independence: "distinct_acquisition" }, people],
    [{ independence: "not_required" }, perhapsOne],
    [{ independence: "not_required", allowed_channels: ["accepted_submission"] }, people],
    [{ authorization: "embedding_authority" }, "at least 2 items that hold, and fewer that do not"],
    [pins, "signed by one of the keys a, b, which the law pins"],
  ];
  for (const [changes, expected] of rows) {
    const [condition] = LAW.conditions;
    assert.ok(condition !== undefined);
    const conditions = [{ ...condition, evidence_use_policy: { ...POLICY, ...changes } }];
    const text = describeStage(READY, undefined, { ...LAW, conditions }, false);
    assert.ok(text.includes(`        ${expected}`), text);
  }
});

Deno.test("describeStage() reports when a limit was reached", () => {
  const whole = describeStage(READY, undefined, LAW, false);
  assert.doesNotMatch(whole, /more|another|too much/);
  const rows: readonly [Partial<StageStanding>, string][] = [
    [{ complete: false }, "    present(tests)\n    or another combination that is not shown\n"],
    [{ complete: false, sets: [], evidence: [] }, "  To be complete it needs\n    too much to show here\n"],
    [{ evidence_left_out: 1 }, "    and for 1 more condition\n"],
    [{ evidence_left_out: 68 }, "    and for 68 more conditions\n"],
  ];
  for (const [change, expected] of rows) {
    const text = describeStage({ ...READY, ...change }, undefined, LAW, false);
    assert.ok(text.includes(expected), text);
  }
});

Deno.test("describeStage() gives the cause of each unmet condition of the last attempt", () => {
  const causes: readonly [UnmetCause, string][] = [
    [
      { condition_id: "tests", value: "false" },
      "present(tests): found a value that is hidden from callers of the server (evidence.allow_raw_values) ✗",
    ],
    [{ condition_id: "tests", value: "unknown", reason: "no_evidence" }, "present(tests): nothing known yet ?"],
    [
      { condition_id: "tests", value: "unknown", reason: "unqualified", cause: ["signature_invalid", "not_fresh"] },
      "present(tests): what was given does not count (signature invalid, not fresh) ?",
    ],
    [
      { condition_id: "tests", value: "unknown", reason: "disagreement", counts: { holds: 1, fails: 0, needed: 2 } },
      "present(tests): 1 of 2 ?",
    ],
    [
      { condition_id: "tests", value: "unknown", reason: "no_evidence", counts: { holds: 1, fails: 0, needed: 2 } },
      "present(tests): 1 of 2 ?",
    ],
    [
      { condition_id: "tests", value: "unknown", reason: "no_evidence", counts: { holds: 0, fails: 0, needed: 2 } },
      "present(tests): 0 of 2 ?",
    ],
  ];
  for (const [cause, line] of causes) {
    const attempt = {
      stage_id: "build",
      attempt_number: 3,
      record_id: "0",
      outcome: "unknown",
      causes: [cause],
      holds: [],
      fails: [],
    } as const;
    const text = describeStage(READY, attempt, LAW, false);
    assert.ok(text.includes(`  Its last attempt, number 3, was unknown\n    ${line}\n  To be complete`), text);
  }
});

Deno.test("describeStage() says of each needed condition whether it held in the last attempt", () => {
  const sets = [[
    { condition_id: "tests", needed: true, sentence: "present(tests)" },
    { condition_id: "review", needed: true, sentence: "review" },
    { condition_id: "frozen", needed: false, sentence: "!frozen" },
  ]];
  const attempt = { stage_id: "build", attempt_number: 3, record_id: "0", outcome: "unknown", causes: [] } as const;
  const text = describeStage({ ...READY, sets }, { ...attempt, holds: ["tests"], fails: ["frozen"] }, LAW, false);
  assert.ok(text.includes("    present(tests) (held in attempt 3) and review and !frozen (held in attempt 3)\n"), text);
});

Deno.test("describeStage() puts needed conditions into words where a server answers with ids alone", () => {
  for (const [needed, expected] of [[true, "present(tests)"], [false, "!present(tests)"]] as const) {
    const sets = [[{ condition_id: "tests", needed }]] as unknown as StageStanding["sets"];
    const text = describeStage({ ...READY, sets }, undefined, LAW, false);
    assert.ok(text.includes(`  To be complete it needs\n    ${expected}\n`), text);
  }
});
