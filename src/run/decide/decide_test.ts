import assert from "node:assert/strict";
import {
  bool,
  callerItem,
  createCommand,
  environmentWith,
  evaluateCommand,
  KEY_1,
  KEY_2,
  NOW,
  oneConditionLaw,
  openCommand,
  SHA256,
  stampsAt,
  submitCommand,
} from "../../../tests/simulation/kernel/fixture.ts";
import {
  BAD_BASE64,
  bytes,
  DENY,
  ELSEWHERE,
  FAILURE,
  ROWS,
  scope,
  SMALL,
} from "../../../tests/simulation/kernel/outcome_rows.ts";
import { complete, LAW, NEW, OPEN, play, READY, releaseLaw } from "../../../tests/simulation/kernel/release.ts";
import { canonicalize } from "../../canonical/canonicalize.ts";
import type { Accepted, Command } from "../command.ts";
import { decide } from "./decide.ts";
import { asJson } from "../primitives.ts";
import type { RunState } from "../types.ts";

for (const [name, state, command, profile, result, outcome] of ROWS) {
  Deno.test(`decide() ${name}: ${outcome}`, () => {
    const before = state === null ? null : canonicalize(asJson(state));
    const decision = decide(LAW, state, command(state?.head ?? ELSEWHERE), stampsAt(), environmentWith(profile));
    assert.equal(decision.outcome, outcome, JSON.stringify(decision.result));
    assert.equal(decision.records.length, outcome === "accepted" ? 1 : 0);
    if (outcome !== "accepted") assert.deepEqual(decision.result, result);
    if (state !== null) assert.equal(canonicalize(asJson(state)), before);
  });
}

Deno.test("decide() every refusal that the kernel decides has a row", () => {
  const outcomes = new Set(ROWS.map((row) => row[5]));
  assert.deepEqual([...outcomes].sort(), [
    "accepted",
    "acquisition_failed",
    "content_type_rejected",
    "correlation_rejected",
    "evidence_rejected",
    "genesis_rejected",
    "payload_rejected",
    "policy_denied",
    "stage_already_opened",
    "stage_not_found",
    "stage_not_open",
    "stage_not_ready",
    "stage_open_mismatch",
    "stale",
  ]);
});

/** Each command has every fault from some point of the order on. The first one decides the outcome. */
Deno.test("decide() starts no run where the operator has another key under an id that the law pins", () => {
  const pinned = oneConditionLaw({
    authorization: "signature",
    authorized_key_ids: ["ci-1"],
    authorized_public_keys: { "ci-1": KEY_1.public_key },
  });
  const rows = [
    ["no key", [], "accepted"],
    ["the same key", [KEY_1], "accepted"],
    ["the same key under another id", [{ ...KEY_1, key_id: "x" }], "accepted"],
    ["another key", [{ ...KEY_2, key_id: "ci-1" }], "genesis_rejected key_differs $.scenario_law_identity"],
  ] as const;
  for (const [name, evidence_keys, expected] of rows) {
    const keys = evidence_keys.map(({ key_id, public_key }) => ({ key_id, public_key }));
    const environment = environmentWith(keys.length === 0 ? {} : { evidence_keys: keys });
    const { outcome, result } = decide(pinned, null, createCommand(), stampsAt(), environment);
    const faults = (result as { faults?: readonly { code: string; path: string }[] }).faults ?? [];
    assert.equal([outcome, ...faults.map(({ code, path }) => `${code} ${path}`)].join(" "), expected, name);
  }
});

Deno.test("decide() precedence: stale, stage, stage state, evidence or payload, acquisition, policy", () => {
  const wrongEvidence = { caller_evidence: [callerItem("nowhere", bool(true))], acquisition_failures: [FAILURE] };
  const wrongArtifact = { content_type: "json", payload: BAD_BASE64 };
  const rows: readonly [RunState, Command, string][] = [
    [OPEN, evaluateCommand(2, ELSEWHERE, "nowhere", wrongEvidence), "stale"],
    [OPEN, evaluateCommand(2, OPEN.head, "nowhere", wrongEvidence), "stage_not_found"],
    [OPEN, evaluateCommand(2, OPEN.head, "scan", wrongEvidence), "stage_not_open"],
    [OPEN, evaluateCommand(2, OPEN.head, "build", wrongEvidence), "evidence_rejected"],
    [OPEN, evaluateCommand(2, OPEN.head, "build", { ...wrongEvidence, caller_evidence: [] }), "acquisition_failed"],
    [NEW, openCommand(2, ELSEWHERE, "nowhere"), "stale"],
    [NEW, openCommand(2, NEW.head, "nowhere"), "stage_not_found"],
    [NEW, openCommand(2, NEW.head, "ship"), "stage_not_ready"],
    [READY, openCommand(2, READY.head, "ship"), "policy_denied"],
    [OPEN, submitCommand(2, ELSEWHERE, { ...wrongArtifact, scope: scope("scan", SHA256("a")) }), "stale"],
    [OPEN, submitCommand(2, OPEN.head, { ...wrongArtifact, scope: scope("scan", SHA256("a")) }), "stage_not_open"],
    [
      OPEN,
      submitCommand(2, OPEN.head, { ...wrongArtifact, scope: scope("build", SHA256("a")) }),
      "stage_open_mismatch",
    ],
    [OPEN, submitCommand(2, OPEN.head, wrongArtifact), "content_type_rejected"],
    [OPEN, submitCommand(2, OPEN.head, { ...wrongArtifact, content_type: "image/png" }), "payload_rejected"],
  ];
  for (const [state, command, outcome] of rows) {
    assert.equal(decide(LAW, state, command, stampsAt(), environmentWith(DENY)).outcome, outcome);
  }
});

Deno.test("decide() a head is stale if its record or revision differs", () => {
  for (const head of [{ ...NEW.head, revision: 2 }, { ...NEW.head, record_id: ELSEWHERE.record_id }]) {
    assert.equal(decide(LAW, NEW, openCommand(2, head, "build"), stampsAt(), environmentWith()).outcome, "stale");
  }
});

Deno.test("decide() throws on a creation with a state, and on another command without one", () => {
  assert.throws(() => decide(LAW, NEW, createCommand(), stampsAt(), environmentWith()), TypeError);
  assert.throws(() => decide(LAW, null, openCommand(2, NEW.head, "build"), stampsAt(), environmentWith()), TypeError);
});

Deno.test("decide() correlation id: 0, 1, 127, 128, 129 characters, and characters outside of tokens", () => {
  const rows: readonly [string, string][] = [
    ["", "correlation_rejected"],
    ["a", "accepted"],
    ["a".repeat(127), "accepted"],
    ["a".repeat(128), "accepted"],
    ["a".repeat(129), "correlation_rejected"],
    ["!#$%&'*+.^_`|~-09AZaz", "accepted"],
    ["a b", "correlation_rejected"],
    ["a\n", "correlation_rejected"],
    ["ä", "correlation_rejected"],
    ['"a"', "correlation_rejected"],
  ];
  for (const [correlation_id, outcome] of rows) {
    const command = createCommand({ correlation: { kind: "set", correlation_id } });
    assert.equal(decide(LAW, null, command, stampsAt(), environmentWith()).outcome, outcome, correlation_id);
  }
});

Deno.test("decide() payload bytes: n - 1, n, n + 1, by canonical value, decoded bytes, and none for a reference", () => {
  const external = (uri: string) => ({
    kind: "external" as const,
    content_ref: { uri, content_hash: { algorithm: "sha256" as const, value: SHA256("a") } },
  });
  const rows: readonly [string, Parameters<typeof submitCommand>[2], string][] = [
    ["bytes n - 1", { content_type: "image/png", payload: bytes(2) }, "accepted"],
    ["bytes n", { content_type: "image/png", payload: bytes(3) }, "accepted"],
    ["bytes n + 1", { content_type: "image/png", payload: bytes(4) }, "payload_rejected"],
    ["json n - 1", { payload: { kind: "json", value: 10 } }, "accepted"],
    ["json n", { payload: { kind: "json", value: 100 } }, "accepted"],
    ["json n + 1", { payload: { kind: "json", value: 1000 } }, "payload_rejected"],
    ["json n + 1 in UTF-8", { payload: { kind: "json", value: "ä" } }, "payload_rejected"],
    ["a reference", { content_type: "image/png", payload: external("https://example.org/long") }, "accepted"],
  ];
  for (const [name, changes, outcome] of rows) {
    const decision = decide(LAW, NEW, submitCommand(2, NEW.head, changes), stampsAt(), environmentWith(SMALL));
    assert.equal(decision.outcome, outcome, name);
  }
});

Deno.test("decide() packet expiry: before, at and after, on the clock and by revision", () => {
  const revision = READY.head.revision + 1;
  const rows: readonly [unknown, string][] = [
    [null, "accepted"],
    [{ kind: "unix_millis", value: NOW + 1 }, "accepted"],
    [{ kind: "unix_millis", value: NOW }, "policy_denied"],
    [{ kind: "unix_millis", value: NOW - 1 }, "policy_denied"],
    [{ kind: "logical", value: revision + 1 }, "accepted"],
    [{ kind: "logical", value: revision }, "policy_denied"],
    [{ kind: "logical", value: revision - 1 }, "policy_denied"],
  ];
  for (const [expiry, outcome] of rows) {
    const law = releaseLaw(expiry);
    const { state } = play(law, ...complete("build", "built"), ...complete("scan", "scanned")).at(-1) as Accepted;
    const decision = decide(law, state, openCommand(2, state.head, "ship"), stampsAt(), environmentWith());
    assert.equal(decision.outcome, outcome, JSON.stringify(expiry));
    if (outcome === "policy_denied") assert.equal(decision.result["reason"], "packet_expired");
  }
});
