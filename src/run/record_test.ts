import assert from "node:assert/strict";
import {
  accepted,
  acquiredItem,
  bool,
  callerItem,
  createCommand,
  environmentWith,
  evaluateCommand,
  NOW,
  SHA256,
  stampsAt,
} from "../../tests/simulation/kernel/fixture.ts";
import { complete, evaluate, LAW, open, OVER, play, submit } from "../../tests/simulation/kernel/release.ts";
import { canonicalize } from "../canonical/canonicalize.ts";
import type { JsonObject } from "../canonical/json.ts";
import type { Accepted, Decision } from "./command.ts";
import { decide } from "./decide/decide.ts";
import { stateIdentity } from "./fold.ts";
import { asJson } from "./primitives.ts";

function membersOf(decision: Decision): string[] {
  return Object.keys(decision.result).sort();
}

const COMMON = ["accepted_head", "acceptance_time", "admission", "invocation_identity", "operation_id"];

Deno.test("decide() results of accepted commands have exactly their members", () => {
  const [created, ...others] = play(
    LAW,
    open("build"),
    evaluate("build", "built", true),
    submit(),
  );
  assert.deepEqual(membersOf(created as Accepted), [
    "acceptance_time",
    "admission",
    "correlation",
    "creation_request_id",
    "genesis",
    "head",
    "invocation_identity",
    "run_key",
    "scenario_law_identity",
  ]);
  const own = [
    ["entry_intents", "ready_frontier", "stage_id", "stage_open_record_id"],
    ["attempt", "ready_frontier", "run_status", "stage_id"],
    ["submission"],
  ];
  others.forEach((decision, index) => {
    assert.deepEqual(membersOf(decision), [...COMMON, ...own[index] ?? []].sort());
    const { record, record_id } = decision.records[0];
    assert.deepEqual(decision.result["accepted_head"], { record_id, revision: index + 2 });
    assert.deepEqual(decision.result["operation_id"], record.operation);
  });
});

Deno.test("decide() opening proposes one intent for each packet and target, with its payload", () => {
  const [decision] = play(LAW, ...complete("build", "built"), ...complete("scan", "scanned"), open("ship")).slice(-1);
  const { record } = (decision as Accepted).records[0];
  assert.ok(record.record_kind === "stage_opened");
  const { intents, disclosures, prerequisite_trace } = record.body;
  assert.deepEqual(intents.map(({ target }) => target), [
    { kind: "agent", agent_id: "deployer" },
    { kind: "channel", channel: "#ops" },
  ]);
  assert.deepEqual(disclosures.map(({ verdict, matched_rule }) => [verdict, matched_rule]), [
    ["permit", null],
    ["permit", null],
  ]);
  assert.deepEqual(prerequisite_trace.map(({ value }) => value), ["true", "true"]);
  const [first] = intents;
  const subject = {
    operation: record.operation,
    packet_id: "runbook",
    run_key: record.run_key,
    stage_id: "ship",
    target: { kind: "agent", agent_id: "deployer" },
  };
  assert.equal(first?.intent_id, SHA256(`gate:intent:v1\0${canonicalize(asJson(subject))}`));
  assert.equal(first?.content_hash.value, SHA256('{"steps":2}'));
  const shown = (decision as Accepted).result["entry_intents"] as JsonObject[];
  assert.deepEqual(shown.map((intent) => intent["payload"]), Array(2).fill({ kind: "json", value: { steps: 2 } }));
  assert.equal((decision as Accepted).state.committed_intent_count, 2);
});

Deno.test("decide() evaluation retains every item, the acquisition of each binding, and values by identity", () => {
  const { state } = play(LAW, open("build")).at(-1) as Accepted;
  const command = evaluateCommand(2, state.head, "build", {
    caller_evidence: [callerItem("built", bool(true)), callerItem("built", bool(true))],
    acquired: [acquiredItem(LAW, "env-b", bool(true), { hash_recomputes: false })],
  });
  const decision = accepted(decide(LAW, state, command, stampsAt(), environmentWith()));
  const [{ record, material }] = decision.records;
  assert.ok(record.record_kind === "stage_evaluated");
  const { evidence, narrowed_bindings, outcome, completed, scenario_trace } = record.body;
  assert.deepEqual(evidence.map(({ item_id, reason }) => `${item_id} ${reason ?? "-"}`), [
    "caller:0 -",
    "caller:1 not_independent",
    "binding:env-b integrity",
  ]);
  assert.equal(evidence[2]?.hash_recomputes, false);
  assert.deepEqual(narrowed_bindings, ["env-a"]);
  assert.deepEqual([outcome, completed], ["true", true]);
  assert.deepEqual(scenario_trace, [{ path: "$", stage_id: "ship", value: "false" }]);
  assert.deepEqual(material.map(({ kind, body }) => [kind, body]), [
    ["evidence-value", '{"value":true,"value_type":"Boolean"}'],
  ]);
  assert.equal(material[0]?.identity, evidence[0]?.value_identity);
  assert.doesNotMatch(canonicalize(asJson(evidence)), /"value":true/);
});

Deno.test("decide() time never runs backwards within a run, and the record keeps the reading", () => {
  const environment = environmentWith();
  const created = accepted(decide(LAW, null, createCommand(), stampsAt(NOW), environment));
  const back = accepted(decide(LAW, created.state, open("build")(created.state), stampsAt(NOW - 5), environment));
  const { record } = back.records[0];
  assert.equal(record.acceptance_time.accepted_audit_instant, NOW);
  assert.equal(record.body.time_source.reading_unix_millis, NOW - 5);
  const source = SHA256(`gate:time-source:v1\0${canonicalize(asJson(record.body.time_source))}`);
  assert.equal(record.acceptance_time.source_material_identity, source);
  const on = accepted(decide(LAW, back.state, open("scan")(back.state), stampsAt(NOW + 5), environment));
  assert.equal(on.state.accepted_audit_instant, NOW + 5);
});

Deno.test("decide() binds contracts and schemas in one order, for any order of the input", () => {
  const contracts = ["b", "a"].map((provider_id) => ({ provider_id, contract_identity: SHA256(provider_id) }));
  const schemas = [["s", "2"], ["s", "10"], ["r", "3"]].map(([schema_id = "", version = ""]) => ({
    schema_id,
    version,
    schema_identity: SHA256(version),
  }));
  const [one, other] = [[contracts, schemas], [contracts.toReversed(), schemas.toReversed()]].map(([c, s]) =>
    accepted(decide(
      LAW,
      null,
      createCommand({ contracts: c as typeof contracts, schemas: s as typeof schemas }),
      stampsAt(),
      environmentWith(),
    ))
  );
  assert.equal(one?.records[0].text, other?.records[0].text);
  const { record } = (one as Accepted).records[0];
  assert.ok(record.record_kind === "run_created");
  assert.deepEqual(record.body.schemas.map(({ schema_id, version }) => schema_id + version), ["r3", "s10", "s2"]);
});

Deno.test("decide() completing the scenario completes the run, and its frontier is empty", () => {
  assert.equal(OVER.status, "complete");
  assert.deepEqual(OVER.stages.map(({ classification }) => classification), [
    "complete",
    "complete",
    "complete",
    "open_incomplete",
  ]);
  const over = play(
    LAW,
    ...complete("build", "built"),
    ...complete("scan", "scanned"),
    ...complete("ship", "approved"),
  ).at(-1) as Accepted;
  assert.equal(over.result["run_status"], "complete");
  assert.deepEqual(over.result["ready_frontier"], []);
  assert.equal(stateIdentity(SHA256, over.state).length, 64);
});
