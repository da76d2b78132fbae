import assert from "node:assert/strict";
import {
  accepted,
  bool,
  callerItem,
  environmentWith,
  evaluateCommand,
  hex32,
  int,
  KEY_1,
  KEY_2,
  NOW,
  SHA256,
  stampsAt,
  type TestKey,
  trusting,
} from "../../tests/simulation/kernel/fixture.ts";
import {
  evidenceCommand,
  openRecord,
  openRun,
  PEOPLE,
  signedPayload,
  type StatementChanges,
  submit,
  trustingPeople,
  waitingLaw,
} from "../../tests/simulation/waiting_fixture.ts";
import type { JsonObject, JsonValue } from "../canonical/json.ts";
import type { TypedValue } from "../law/value/types.ts";
import type { Decision, Environment, EvaluateCommand } from "./command.ts";
import { decide } from "./decide/decide.ts";
import { hashValue } from "./evidence.ts";
import { fold } from "./fold.ts";
import { waitingConditions } from "./missing/waiting.ts";
import { STATEMENTS_PER_STAGE } from "./record_shapes.ts";
import { COMMENT_BYTES } from "./submitted_statement.ts";
import { AHEAD_MILLISECONDS, isEvidenceContentType, KEYS_PER_CONDITION, waitingFor } from "./submitted_evidence.ts";
import type { RunState, StageEvaluatedBody, WaitingEvidence } from "./types.ts";

const LAW = waitingLaw();
const OPEN = openRun(LAW);

/** The outcome of a decision, with the code of a rejected payload and its path below the payload. */
function verdict({ outcome, result }: Decision): string {
  if (outcome !== "payload_rejected") return outcome;
  return `${result["code"]} ${String(result["path"]).replace("$.payload.value", "$")}`;
}

function statement(changes: StatementChanges = {}, key: TestKey = KEY_1, state: RunState = OPEN): JsonObject {
  return signedPayload(LAW, state, key, changes);
}

Deno.test("decideSubmit() refuses every form of evidence but the closed one, with the path of the fault", () => {
  const good = statement();
  const { observed_at: _observed, ...missing } = good;
  const signature = good["signature"] as JsonObject;
  const rows: readonly (readonly [JsonValue, string])[] = [
    [good, "accepted"],
    [null, "statement_malformed $"],
    [missing, "statement_malformed $.observed_at"],
    [{ ...good, more: 1 }, "statement_malformed $.more"],
    [{ ...good, condition_id: "" }, "statement_malformed $.condition_id"],
    [{ ...good, value: 3 }, "statement_malformed $.value"],
    [{ ...good, value: { value: 3 } }, "statement_malformed $.value.value_type"],
    [{ ...good, value: { value: 3, value_type: "Number" } }, "statement_malformed $.value.value_type"],
    [{ ...good, observed_at: -1 }, "statement_malformed $.observed_at"],
    [{ ...good, seen_head: { revision: 2 } }, "statement_malformed $.seen_head.record_id"],
    [{ ...good, valid_until: "soon" }, "statement_malformed $.valid_until"],
    [{ ...good, comment: "" }, "statement_malformed $.comment"],
    [{ ...good, comment: "a".repeat(COMMENT_BYTES + 1) }, "statement_malformed $.comment"],
    [{ ...good, signature: { ...signature, scheme: "rsa" } }, "statement_malformed $.signature.scheme"],
    [{ ...good, value: null, valid_until: NOW + 1 }, "statement_malformed $.valid_until"],
  ];
  for (const [payload, expected] of rows) assert.equal(verdict(submit(LAW, OPEN, payload)), expected);
});

Deno.test("decideSubmit() accepts a statement with every optional member, and retains all but the comment", () => {
  const comment = "é".repeat(COMMENT_BYTES / 2);
  const decision = accepted(submit(LAW, OPEN, statement({ comment, valid_until: NOW + 5 })));
  const { record, record_id } = decision.records[0];
  assert.ok(record.record_kind === "artifact_submitted");
  const { identity, content_hash } = hashValue(SHA256, int(1));
  assert.deepEqual(record.body.evidence, {
    condition_id: "c",
    value_identity: identity,
    value_type: "Integer",
    content_hash,
    observed_at: NOW,
    seen_head: OPEN.head,
    valid_until: NOW + 5,
    comment_hash: { algorithm: "sha256", value: SHA256(comment) },
    public_key: KEY_1.public_key,
    signature: record.body.evidence?.signature,
  });
  assert.deepEqual(
    decision.state.submitted_evidence?.map(({ record_id, revision, submitted_at, stage_id }) => ({
      record_id,
      revision,
      submitted_at,
      stage_id,
    })),
    [{ record_id, revision: 3, submitted_at: NOW, stage_id: "s" }],
  );
  assert.deepEqual(fold(LAW, OPEN, record, record_id), decision.state);
});

Deno.test("decideSubmit() binds a statement to every member that its signature signs", () => {
  const signed = statement({ comment: "fine", valid_until: NOW + 9 });
  const changed: readonly JsonObject[] = [
    { value: { value: 2, value_type: "Integer" } },
    { value: null },
    { observed_at: NOW - 1 },
    { valid_until: NOW + 10 },
    { comment: "not fine" },
  ];
  for (const change of changed) {
    const { valid_until: _until, ...open } = signed;
    const payload = change["value"] === null ? { ...open, ...change } : { ...signed, ...change };
    assert.equal(
      verdict(submit(LAW, OPEN, payload)),
      "signature_invalid $.signature.signature",
      JSON.stringify(change),
    );
  }
  const elsewhere: readonly StatementChanges[] = [
    { namespace_id: 3 },
    { scenario_law_identity: SHA256("law") },
    { run_id: hex32(1) },
    { stage_id: "t" },
    { stage_open_record_id: SHA256("another opening") },
    { condition_id: "other" },
  ];
  for (const change of elsewhere) {
    const payload = { ...statement(change), condition_id: "c" };
    assert.equal(
      verdict(submit(LAW, OPEN, payload)),
      "signature_invalid $.signature.signature",
      JSON.stringify(change),
    );
  }
});

const moved = accepted(submit(LAW, OPEN, statement())).state;
const [later, key2] = [{ observed_at: NOW + 1 }, KEY_2];
const stranger = { ...KEY_1, key_id: "stranger" };
const first = { record_id: SHA256("first"), revision: 1 };

const STATEMENTS: readonly (readonly [string, Decision, string])[] = [
  ["another condition", submit(LAW, OPEN, statement({ condition_id: "x" })), "condition_not_found $.condition_id"],
  [
    "a condition of another stage",
    submit(LAW, OPEN, statement({ condition_id: "other" })),
    "condition_of_other_stage $.condition_id",
  ],
  [
    "a condition that takes no submissions",
    (() => {
      const law = waitingLaw({ allowed_channels: ["caller_submission"] });
      const open = openRun(law);
      return submit(law, open, signedPayload(law, open, KEY_1));
    })(),
    "channel_not_allowed $.condition_id",
  ],
  ["another type", submit(LAW, OPEN, statement({ value: bool(true) })), "value_type_mismatch $.value.value_type"],
  ["no value", submit(LAW, OPEN, statement({ value: int(1.5) })), "value_invalid $.value.value"],
  ["an unknown key", submit(LAW, OPEN, statement({}, stranger)), "key_unknown $.signature.key_id"],
  [
    "the key of another",
    submit(LAW, OPEN, statement({}, { ...KEY_1, key_id: "ci-2" })),
    "signature_invalid $.signature.signature",
  ],
  [
    "a key that the law does not authorise",
    (() => {
      const law = waitingLaw({ authorized_key_ids: ["ci-2"] });
      const open = openRun(law);
      return submit(law, open, signedPayload(law, open, KEY_1));
    })(),
    "key_not_authorized $.signature.key_id",
  ],
  ["a head before the opening", submit(LAW, OPEN, statement({ seen_head: first })), "seen_head_unknown $.seen_head"],
  [
    "a head before the opening that exists",
    submit(LAW, OPEN, statement({ seen_head: first }), { seen_record_id: first.record_id }),
    "seen_head_unknown $.seen_head",
  ],
  [
    "a head of another run",
    submit(LAW, OPEN, statement({ seen_head: { record_id: SHA256("other"), revision: 2 } })),
    "seen_head_unknown $.seen_head",
  ],
  [
    "a head to come",
    submit(LAW, OPEN, statement({ seen_head: { ...OPEN.head, revision: 3 } }), {
      seen_record_id: OPEN.head.record_id,
    }),
    "seen_head_unknown $.seen_head",
  ],
  [
    "an earlier head since the opening",
    submit(LAW, moved, statement(later, key2), { seen_record_id: OPEN.head.record_id }),
    "accepted",
  ],
  [
    "an earlier head of another run",
    submit(LAW, moved, statement(later, key2), { seen_record_id: SHA256("x") }),
    "seen_head_unknown $.seen_head",
  ],
  ["n - 1 ms ahead", submit(LAW, OPEN, statement({ observed_at: NOW + AHEAD_MILLISECONDS - 1 })), "accepted"],
  ["n ms ahead", submit(LAW, OPEN, statement({ observed_at: NOW + AHEAD_MILLISECONDS })), "accepted"],
  [
    "n + 1 ms ahead",
    submit(LAW, OPEN, statement({ observed_at: NOW + AHEAD_MILLISECONDS + 1 })),
    "statement_in_future $.observed_at",
  ],
  ["an end that is past", submit(LAW, OPEN, statement({ valid_until: NOW - 1 })), "statement_expired $.valid_until"],
  ["an end that is now", submit(LAW, OPEN, statement({ valid_until: NOW })), "accepted"],
  [
    "a run-wide scope",
    submit(LAW, OPEN, statement(), { scope: { kind: "run_wide" } }),
    "scope_not_stage_open $.scope",
  ],
  [
    "an external payload",
    submit(LAW, OPEN, null, {
      payload: {
        kind: "external",
        content_ref: { uri: "https://x.example/", content_hash: { algorithm: "sha256", value: SHA256("") } },
      },
    }),
    "statement_malformed $",
  ],
  [
    "another spelling of the content type",
    submit(LAW, OPEN, { any: "thing" }, { content_type: "Application/vnd.gate.Evidence+json; charset=utf-8" }),
    "statement_malformed $.any",
  ],
];

Deno.test("decideSubmit() refuses a statement of another place, key, value or time", () => {
  for (const [name, decision, expected] of STATEMENTS) {
    assert.equal(verdict(decision), expected, name);
  }
});

Deno.test("decideSubmit() takes the key that the law pins, whether or not the operator has it", () => {
  const law = waitingLaw({
    authorized_key_ids: [KEY_1.key_id],
    authorized_public_keys: {
      [KEY_1.key_id]: KEY_1.public_key,
    },
  });
  const other = { ...KEY_2, key_id: KEY_1.key_id };
  const rows: readonly (readonly [string, Environment, TestKey, string])[] = [
    ["unknown to the operator", trustingPeople(), KEY_1, "accepted"],
    ["another key under its id", trustingPeople(), other, "signature_invalid $.signature.signature"],
    ["another key, which the operator has", trustingPeople(other), other, "signature_invalid $.signature.signature"],
    ["a trusted key that is not pinned", trustingPeople(KEY_2), KEY_2, "key_not_authorized $.signature.key_id"],
  ];
  for (const [name, environment, key, expected] of rows) {
    const open = openRun(law, trustingPeople());
    const command = evidenceCommand(3, open, signedPayload(law, open, key));
    const decision = decide(law, open, command, stampsAt(), environment);
    assert.equal(verdict(decision), expected, name);
    if (decision.outcome !== "accepted") continue;
    const [stage] = law.stages;
    assert.ok(stage !== undefined);
    const [waiting] = waitingConditions(law, stage, open, new Map(), environment, NOW);
    assert.deepEqual(waiting?.keys, [{ key_id: KEY_1.key_id, public_key: KEY_1.public_key }]);
  }
});

Deno.test("decideSubmit() refuses a replayed approval: each statement of a key is newer than the last", () => {
  const approval = statement();
  const withdrawal = (state: RunState): JsonObject => statement({ value: null, observed_at: NOW + 10 }, KEY_1, state);
  let state = accepted(submit(LAW, OPEN, approval)).state;
  const seen = { seen_record_id: OPEN.head.record_id };
  assert.equal(verdict(submit(LAW, state, approval, seen)), "statement_not_newer $.observed_at");
  state = accepted(submit(LAW, state, withdrawal(state))).state;
  assert.deepEqual(waitingFor(state, "s"), []);
  assert.equal(state.submitted_evidence?.length, 1, "the withdrawal is kept");
  for (const [observed_at, expected] of [[NOW, "statement_not_newer"], [NOW + 10, "statement_not_newer"]] as const) {
    const again = observed_at === NOW ? approval : statement({ observed_at }, KEY_1, state);
    assert.equal(verdict(submit(LAW, state, again, seen)), `${expected} $.observed_at`);
  }
  const newer = accepted(submit(LAW, state, statement({ observed_at: NOW + 11 }, KEY_1, state))).state;
  assert.equal(waitingFor(newer, "s").length, 1);
  const other = submit(LAW, state, statement({}, KEY_2), seen);
  assert.equal(verdict(other), "accepted", "another key has statements of its own");
});

/** A state with statements of other keys, as many of the condition `c` and of others. */
function crowded(ofCondition: number, ofOthers: number): RunState {
  const one = accepted(submit(LAW, OPEN, statement({}, KEY_2))).state.submitted_evidence?.[0] as WaitingEvidence;
  const filler = (index: number, condition_id: string): WaitingEvidence => ({
    ...one,
    condition_id,
    public_key: `key ${index}`,
  });
  return {
    ...OPEN,
    submitted_evidence: [
      ...Array.from({ length: ofCondition }, (_, index) => filler(index, "c")),
      ...Array.from({ length: ofOthers }, (_, index) => filler(index, "another")),
    ],
  };
}

Deno.test("decideSubmit() bounds the keys of a condition and the statements of a stage", () => {
  const rows: readonly (readonly [number, number, string])[] = [
    [KEYS_PER_CONDITION - 1, 0, "accepted"],
    [KEYS_PER_CONDITION, 0, "too_many_keys $.signature.key_id"],
    [KEYS_PER_CONDITION + 1, 0, "too_many_keys $.signature.key_id"],
    [1, STATEMENTS_PER_STAGE - 2, "accepted"],
    [1, STATEMENTS_PER_STAGE - 1, "too_many_statements $"],
    [1, STATEMENTS_PER_STAGE, "too_many_statements $"],
  ];
  for (const [ofCondition, ofOthers, expected] of rows) {
    assert.equal(verdict(submit(LAW, crowded(ofCondition, ofOthers), statement())), expected, `${ofCondition}`);
  }
  // A key that has a statement can always replace or withdraw it.
  const full = crowded(KEYS_PER_CONDITION - 1, STATEMENTS_PER_STAGE - KEYS_PER_CONDITION);
  const held = accepted(submit(LAW, full, statement())).state;
  assert.equal(held.submitted_evidence?.length, STATEMENTS_PER_STAGE);
  const withdrawal = statement({ value: null, observed_at: NOW + 1 }, KEY_1, held);
  assert.equal(verdict(submit(LAW, held, withdrawal)), "accepted");
});

Deno.test("decideSubmit() takes evidence for a stage only while it is open, and gate-kernel-1 takes it as an artifact", () => {
  const evaluated = evaluate(accepted(submit(LAW, OPEN, statement())).state, [[KEY_1, int(1)]]);
  const complete = evaluated.state;
  assert.equal(complete.submitted_evidence, undefined);
  const late = submit(LAW, complete, statement({ observed_at: NOW + 1 }), { seen_record_id: OPEN.head.record_id });
  assert.deepEqual([late.outcome, late.result["classification"]], ["stage_not_open", "complete"]);
  const old: Environment = { ...PEOPLE, procedure: "gate-kernel-1" };
  const artifact = accepted(submit(LAW, OPEN, { any: "thing" }, {}, NOW, old));
  assert.equal(artifact.state.submitted_evidence, undefined);
});

/** Evaluates `s`; the values of the statements are those of the test. */
function evaluate(
  state: RunState,
  values: readonly (readonly [TestKey, TypedValue])[],
  changes: Partial<EvaluateCommand> = {},
  reading: number = NOW + 100,
  law = LAW,
  environment: Environment = PEOPLE,
): { readonly state: RunState; readonly body: StageEvaluatedBody; readonly shown: string } {
  const submitted_values = new Map(values.map(([, value]) => [hashValue(SHA256, value).identity, value]));
  const command = evaluateCommand(900 + state.head.revision, state.head, "s", { submitted_values, ...changes });
  const decision = accepted(decide(law, state, command, stampsAt(reading), environment));
  const [{ record }] = decision.records;
  assert.ok(record.record_kind === "stage_evaluated");
  const { outcome, trace, evidence } = record.body;
  const items = evidence.map(({ channel, reason, error }) =>
    `${channel.split("_")[0]} ${error?.code ?? reason ?? "-"}`
  );
  const because = trace[0]?.reason === undefined ? "" : ` ${trace[0].reason}`;
  return { state: decision.state, body: record.body, shown: `${outcome}${because}: ${items.join(", ")}` };
}

/** A run of a law with statements, submitted in order. */
function runWith(
  law: typeof LAW,
  statements: readonly (readonly [TestKey, StatementChanges])[],
  environment: Environment = PEOPLE,
): RunState {
  let state = openRun(law, environment);
  for (const [key, changes] of statements) {
    state = accepted(submit(law, state, signedPayload(law, state, key, changes), {}, NOW, environment)).state;
  }
  return state;
}

const [HOLDS, FAILS] = [int(1), int(9)];

Deno.test("decideEvaluate() takes the newest statement of each key, and judges it as other evidence", () => {
  const two = { combination: { combination: "Quorum", minimum: 2 } };
  const agree = { combination: { combination: "AllQualifyingAgree" } };
  const aged = { freshness: { freshness: "MaximumAge", maximum_age_millis: 1000 } };
  type Row = readonly [
    name: string,
    policy: Readonly<Record<string, JsonValue>>,
    statements: readonly (readonly [TestKey, StatementChanges])[],
    reading: number,
    shown: string,
  ];
  const rows: readonly Row[] = [
    ["none", {}, [], NOW, "unknown no_evidence: "],
    ["an approval", {}, [[KEY_1, {}]], NOW, "true: accepted -"],
    ["a refusal is recorded", {}, [[KEY_1, { value: FAILS }]], NOW, "false: accepted -"],
    ["a withdrawal", {}, [[KEY_1, {}], [KEY_1, { value: null, observed_at: NOW + 1 }]], NOW, "unknown no_evidence: "],
    [
      "a changed mind",
      {},
      [[KEY_1, { value: FAILS }], [KEY_1, { value: HOLDS, observed_at: NOW + 1 }]],
      NOW + 1,
      "true: accepted -",
    ],
    ["one of two", two, [[KEY_1, {}]], NOW, "unknown no_evidence: accepted -"],
    ["two of two", two, [[KEY_1, {}], [KEY_2, {}]], NOW, "true: accepted -, accepted -"],
    [
      "one for, one against",
      agree,
      [[KEY_1, {}], [KEY_2, { value: FAILS }]],
      NOW,
      "unknown disagreement: accepted -, accepted -",
    ],
    ["an end that is now", {}, [[KEY_1, { valid_until: NOW + 5 }]], NOW + 5, "true: accepted -"],
    [
      "an end that is past",
      {},
      [[KEY_1, { valid_until: NOW + 5 }]],
      NOW + 6,
      "unknown unqualified: accepted not_fresh",
    ],
    ["as old as allowed", aged, [[KEY_1, {}]], NOW + 1000, "true: accepted -"],
    ["too old", aged, [[KEY_1, {}]], NOW + 1001, "unknown unqualified: accepted not_fresh"],
    [
      "an observation older than its submission",
      aged,
      [[KEY_1, { observed_at: NOW - 500 }]],
      NOW + 501,
      "unknown unqualified: accepted not_fresh",
    ],
    [
      "an observation in the future",
      aged,
      [[KEY_1, { observed_at: NOW + 50 }]],
      NOW,
      "unknown unqualified: accepted not_fresh",
    ],
    [
      "a clock that jumped back",
      {},
      [[KEY_1, { valid_until: NOW + 5 }]],
      NOW - 60_001,
      "unknown error: accepted clock_behind_run",
    ],
  ];
  for (const [name, policy, statements, reading, shown] of rows) {
    const law = waitingLaw(policy);
    const values = [[KEY_1, HOLDS], [KEY_1, FAILS]] as const;
    assert.equal(evaluate(runWith(law, statements), values, {}, reading, law).shown, shown, name);
  }
});

Deno.test("decideEvaluate() presents statements after the caller's items, in revision order, with their records", () => {
  const law = waitingLaw({ combination: { combination: "AnyQualifying" } });
  const state = runWith(law, [[KEY_2, {}], [KEY_1, {}]]);
  const records = state.submitted_evidence?.map(({ record_id }) => record_id);
  const { body } = evaluate(state, [[KEY_1, HOLDS]], { caller_evidence: [callerItem("c", HOLDS)] }, NOW, law);
  assert.deepEqual(body.evidence.map(({ item_id, submission_record_id }) => [item_id, submission_record_id]), [
    ["caller:0", undefined],
    ...records?.map((id) => [`submission:${id}`, id]) ?? [],
  ]);
});

Deno.test("decideEvaluate() judges keys by the profile of the evaluation", () => {
  const state = runWith(LAW, [[KEY_1, {}]]);
  const swapped = { key_id: KEY_1.key_id, public_key: KEY_2.public_key };
  const rows: readonly (readonly [string, Environment, string])[] = [
    ["the same key", PEOPLE, "true: accepted -"],
    ["the key is removed", trustingPeople(KEY_2), "unknown unqualified: accepted authorization"],
    ["another key has its id", trustingPeople(swapped), "unknown unqualified: accepted authorization"],
    [
      "the key of a provider's policy",
      environmentWith({ trust: { min_lane: "verified", default_policy: trusting(KEY_1), providers: [] } }),
      "true: accepted -",
    ],
  ];
  for (const [name, environment, shown] of rows) {
    assert.equal(evaluate(state, [[KEY_1, HOLDS]], {}, NOW, LAW, environment).shown, shown, name);
  }
});

Deno.test("decideEvaluate() counts a key once: its item in the call that differs is a contradiction", () => {
  for (const independence of ["distinct_acquisition", "distinct_provider", "not_required"]) {
    const law = waitingLaw({ independence, combination: { combination: "AnyQualifying" } });
    const state = runWith(law, [[KEY_1, { value: FAILS }]]);
    const statement = (value: TypedValue): string =>
      KEY_1.sign(JSON.stringify({
        condition_id: "c",
        namespace_id: 2,
        observed_at: NOW,
        run_id: state.run_key.run_id,
        scenario_law_identity: law.scenario_law_identity,
        stage_id: "s",
        statement: "gate.evidence/v1",
        value_identity: hashValue(SHA256, value).identity,
      }));
    const item = (value: TypedValue): EvaluateCommand["caller_evidence"] => [
      callerItem("c", value, {
        observed_at: NOW,
        signature: { scheme: "ed25519", key_id: KEY_1.key_id, signature: statement(value) },
      }),
    ];
    const differs = evaluate(state, [[KEY_1, FAILS]], { caller_evidence: item(HOLDS) }, NOW, law);
    assert.equal(differs.shown, "unknown disagreement: caller -, accepted -", independence);
    const equal = evaluate(state, [[KEY_1, FAILS]], { caller_evidence: item(FAILS) }, NOW, law);
    const second = independence === "not_required" ? "-" : "not_independent";
    assert.equal(equal.shown, `false: caller -, accepted ${second}`, independence);
  }
});

Deno.test("decideEvaluate() refuses to decide without the value of a statement", () => {
  const state = runWith(LAW, [[KEY_1, {}]]);
  const command = evaluateCommand(9, state.head, "s");
  assert.throws(() => decide(LAW, state, command, stampsAt(), PEOPLE), /the value of ".*" is missing/);
});

Deno.test("a law without the channel keeps the bytes of its states", () => {
  const law = waitingLaw({ allowed_channels: ["caller_submission"] });
  const state = openRun(law);
  assert.ok(state.stages.every((stage) => !("stage_open_revision" in stage)));
  assert.ok(!("submitted_evidence" in state));
  assert.equal(OPEN.stages.find(({ stage_id }) => stage_id === "s")?.stage_open_revision, 2);
  assert.equal(openRecord(OPEN), OPEN.head.record_id);
});

Deno.test("isEvidenceContentType() reads a media type by its type alone", () => {
  const rows: readonly (readonly [string, boolean])[] = [
    ["application/vnd.gate.evidence+json", true],
    ["APPLICATION/vnd.gate.evidence+JSON", true],
    ["application/vnd.gate.evidence+json ;a=b", true],
    ["application/vnd.gate.evidence", false],
    ["application/vnd.gate.evidence+json2", false],
    ["application/json", false],
  ];
  for (const [type, expected] of rows) assert.equal(isEvidenceContentType(type), expected, type);
});
