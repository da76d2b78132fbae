/**
 * Every outcome of decisions.md 4, reached through the tools, over both stores.
 *
 * @module
 */

import assert from "node:assert/strict";
import { isJsonArray, type JsonObject, type JsonValue, member } from "../canonical/json.ts";
import type { PolicyRuleConfig } from "../config/types.ts";
import {
  type Bench,
  type BenchOptions,
  condition,
  envelope,
  evidence,
  id,
  REMOTE,
  schemaRecord,
  spec,
  stage,
  startRun,
  STORES,
  withTools,
} from "./fixture_test.ts";
import { creationName, mutationName } from "./in_flight.ts";
import type { Call } from "./types.ts";

const UNKNOWN_ID = "f".repeat(64);

/** Where a case stands when it makes its call. */
interface Scene {
  readonly bench: Bench;
  readonly law: string;
  readonly run: { readonly namespace_id: number; readonly scenario_id: string; readonly run_id: string };
  readonly start: JsonObject;
  /** The current head. */
  head: JsonObject;
  /** Makes an accepted mutation at the current head, which moves on; gives its result. */
  readonly accept: (tool: string, operation: number, change: JsonObject) => Promise<JsonObject>;
}

/** A call with the outcome it has, and what its next steps name first. */
interface Case {
  readonly tool: string;
  readonly outcome: string;
  readonly name?: string;
  readonly spec?: Readonly<Record<string, JsonValue>>;
  /** Registered as schema "report" version "1" beforehand. */
  readonly schema?: JsonObject;
  readonly options?: BenchOptions;
  readonly next?: string;
  readonly input: (scene: Scene) => Promise<JsonObject> | JsonObject;
  readonly remote?: true;
  /** A part of the result. */
  readonly result?: JsonObject;
}

async function scene(bench: Bench, spec: Readonly<Record<string, JsonValue>>): Promise<Scene> {
  const started = await startRun(bench, spec);
  const at: Scene = {
    bench,
    ...started,
    accept: async (tool, operation, change) => {
      const answer = await bench.call(tool, {
        ...at.run,
        expected_head: at.head,
        operation_id: id(operation),
        ...change,
      });
      const { outcome, result } = envelope(answer);
      assert.equal(outcome, "accepted", JSON.stringify(answer));
      at.head = result["accepted_head"] as JsonObject;
      return result;
    },
  };
  return at;
}

/** Arguments of a mutation at the current head. */
function at(scene: Scene, operation: number, change: JsonObject): JsonObject {
  return { ...scene.run, expected_head: scene.head, operation_id: id(operation), ...change };
}

const BUILD = { stage_id: "build" };
const JSON_PAYLOAD = { kind: "json", value: 1 };
const SUBMIT = { content_type: "application/json", payload: JSON_PAYLOAD, scope: { kind: "run_wide" } };

async function complete(scene: Scene): Promise<void> {
  await scene.accept("scenario_open_stage", 101, BUILD);
  await scene.accept("scenario_evaluate_stage", 102, { ...BUILD, caller_evidence: [evidence("built", true)] });
}

const ONE_STAGE = { stages: [stage("build", "built")], completion_requirement: { Condition: "build" } };
const NO_TIME: BenchOptions = { time: { read: () => null } };
const NO_RUN_ID: BenchOptions = { runIds: { allocate: () => null } };

const START: readonly Case[] = [
  { tool: "scenario_start", outcome: "accepted", input: ({ start }) => ({ ...start, creation_request_id: id(2) }) },
  {
    tool: "scenario_start",
    outcome: "accepted",
    name: "declared genesis and correlation",
    input: ({ start }) => ({
      ...start,
      creation_request_id: id(2),
      genesis: { kind: "declared", payload: { kind: "bytes", base64: "AAAA" } },
      correlation: { kind: "set", correlation_id: "ticket-7" },
    }),
  },
  {
    tool: "scenario_start",
    outcome: "creation_conflict",
    next: "scenario_resolve_creation",
    input: ({ start }) => ({ ...start, correlation: { kind: "set", correlation_id: "other" } }),
  },
  {
    tool: "scenario_start",
    outcome: "scenario_not_found",
    next: "scenarios_list",
    input: ({ start }) => ({ ...start, creation_request_id: id(2), scenario_id: "none" }),
  },
  {
    tool: "scenario_start",
    outcome: "law_not_found",
    next: "scenarios_list",
    input: ({ start }) => ({ ...start, creation_request_id: id(2), scenario_law_identity: UNKNOWN_ID }),
  },
  {
    tool: "scenario_start",
    outcome: "genesis_rejected",
    next: "scenario_start",
    input: ({ start }) => ({
      ...start,
      creation_request_id: id(2),
      genesis: { kind: "declared", payload: { kind: "bytes", base64: "A" } },
    }),
  },
  {
    tool: "scenario_start",
    outcome: "correlation_rejected",
    next: "scenario_start",
    input: ({ start }) => ({
      ...start,
      creation_request_id: id(2),
      correlation: { kind: "set", correlation_id: "no token" },
    }),
  },
];

const packet = { packet_id: "brief", schema_id: "brief", content_type: "application/json", payload: JSON_PAYLOAD };

function withPackets(entry: JsonObject): Readonly<Record<string, JsonValue>> {
  return { stages: [{ ...stage("build", "built"), entry_packets: [entry] }, stage("deploy", "deployed", "build")] };
}

function policy(engine: "deny_all" | "static", rule?: Partial<PolicyRuleConfig>): BenchOptions {
  const [none, empty] = [null, []] as const;
  const rules: PolicyRuleConfig[] = [{
    effect: "error",
    error_message: none,
    content_types: empty,
    packet_ids: empty,
    scenario_ids: empty,
    schema_ids: empty,
    stage_ids: empty,
    require_labels: empty,
    forbid_labels: empty,
    require_policy_tags: empty,
    forbid_policy_tags: empty,
    target_kinds: empty,
    targets: empty,
    ...rule,
  }];
  return { config: { policy: { engine, static: engine === "static" ? { default: "permit", rules } : null } } };
}

const OPEN: readonly Case[] = [
  { tool: "scenario_open_stage", outcome: "accepted", input: (s) => at(s, 1, BUILD) },
  {
    tool: "scenario_open_stage",
    outcome: "accepted",
    name: "with an entry packet",
    spec: withPackets(packet),
    input: (s) => at(s, 1, BUILD),
  },
  {
    tool: "scenario_open_stage",
    outcome: "stale",
    next: "scenario_history",
    input: async (s) => {
      const old = s.head;
      await s.accept("scenario_submit", 9, SUBMIT);
      return at(s, 1, { ...BUILD, expected_head: old });
    },
  },
  {
    tool: "scenario_open_stage",
    outcome: "operation_conflict",
    next: "scenario_resolve_mutation",
    input: async (s) => {
      await s.accept("scenario_open_stage", 1, BUILD);
      return at(s, 1, BUILD);
    },
  },
  {
    tool: "scenario_open_stage",
    outcome: "run_not_found",
    next: "scenarios_list",
    input: (s) => at(s, 1, { ...BUILD, run_id: id(99) }),
  },
  {
    tool: "scenario_open_stage",
    outcome: "run_not_found",
    name: "run of another scenario",
    input: (s) => at(s, 1, { ...BUILD, scenario_id: "other" }),
  },
  {
    tool: "scenario_open_stage",
    outcome: "stage_not_found",
    next: "scenario_open_stage",
    input: (s) => at(s, 1, { stage_id: "__proto__" }),
  },
  {
    tool: "scenario_open_stage",
    outcome: "stage_not_ready",
    next: "scenario_open_stage",
    result: { reason: "prerequisite", classification: "blocked" },
    input: (s) => at(s, 1, { stage_id: "deploy" }),
  },
  {
    tool: "scenario_open_stage",
    outcome: "stage_not_ready",
    name: "run complete",
    spec: ONE_STAGE,
    next: "scenario_history",
    result: { reason: "run_complete" },
    input: async (s) => {
      await complete(s);
      return at(s, 1, BUILD);
    },
  },
  {
    tool: "scenario_open_stage",
    outcome: "stage_already_opened",
    next: "scenario_evaluate_stage",
    input: async (s) => {
      await s.accept("scenario_open_stage", 9, BUILD);
      return at(s, 1, BUILD);
    },
  },
  {
    tool: "scenario_open_stage",
    outcome: "policy_denied",
    spec: withPackets(packet),
    options: policy("deny_all"),
    next: "scenario_open_stage",
    result: { reason: "denied", packet_id: "brief" },
    input: (s) => at(s, 1, BUILD),
  },
  {
    tool: "scenario_open_stage",
    outcome: "policy_denied",
    name: "rule error",
    spec: withPackets(packet),
    options: policy("static", { error_message: "Ask the release desk", packet_ids: ["brief"] }),
    result: { reason: "rule_error", error_message: "Ask the release desk" },
    input: (s) => at(s, 1, BUILD),
  },
  {
    tool: "scenario_open_stage",
    outcome: "policy_denied",
    name: "packet expired",
    spec: withPackets({ ...packet, expiry: { kind: "unix_millis", value: 1 } }),
    next: "scenario_define",
    result: { reason: "packet_expired" },
    input: (s) => at(s, 1, BUILD),
  },
];

async function opened(s: Scene, change: JsonObject): Promise<JsonObject> {
  await s.accept("scenario_open_stage", 9, BUILD);
  return at(s, 1, { ...BUILD, ...change });
}

const JSON_CONDITION = {
  conditions: [
    condition("built", { domain: "Json", maximum_bytes: 1000, schema: { schema_id: "report", version: "1" } }, {
      predicate: "Exists",
    }),
    condition("deployed", { domain: "Boolean" }, { predicate: "Exists" }),
  ],
};

const EVALUATE: readonly Case[] = [
  {
    tool: "scenario_evaluate_stage",
    outcome: "accepted",
    input: (s) => opened(s, { caller_evidence: [evidence("built", true)] }),
  },
  {
    tool: "scenario_evaluate_stage",
    outcome: "accepted",
    name: "no bindings to run",
    input: (s) => opened(s, { local_acquisition: [] }),
  },
  {
    tool: "scenario_evaluate_stage",
    outcome: "stale",
    next: "scenario_history",
    input: async (s) => {
      const old = s.head;
      return { ...await opened(s, {}), expected_head: old };
    },
  },
  {
    tool: "scenario_evaluate_stage",
    outcome: "operation_conflict",
    next: "scenario_resolve_mutation",
    input: async (s) => {
      await s.accept("scenario_open_stage", 9, BUILD);
      await s.accept("scenario_evaluate_stage", 1, BUILD);
      return at(s, 1, BUILD);
    },
  },
  {
    tool: "scenario_evaluate_stage",
    outcome: "run_not_found",
    next: "scenarios_list",
    input: (s) => at(s, 1, { ...BUILD, run_id: id(99) }),
  },
  {
    tool: "scenario_evaluate_stage",
    outcome: "stage_not_found",
    next: "scenario_evaluate_stage",
    input: (s) => at(s, 1, { stage_id: "none" }),
  },
  {
    tool: "scenario_evaluate_stage",
    outcome: "stage_not_open",
    next: "scenario_open_stage",
    result: { classification: "ready_unopened" },
    input: (s) => at(s, 1, BUILD),
  },
  {
    tool: "scenario_evaluate_stage",
    outcome: "stage_not_open",
    name: "run complete",
    spec: ONE_STAGE,
    next: "scenario_history",
    result: { reason: "run_complete" },
    input: async (s) => {
      await complete(s);
      return at(s, 1, BUILD);
    },
  },
  ...([
    ["unknown condition", evidence("none", true)],
    ["condition of another stage", evidence("deployed", true)],
    ["another value type", evidence("built", "true", "String")],
    ["value of no such type", evidence("built", "true")],
    ["retention that differs", { ...evidence("built", true), retention: { retention: "RetainDigestOnly" } }],
  ] as const).map(([name, item]): Case => ({
    tool: "scenario_evaluate_stage",
    outcome: "evidence_rejected",
    name,
    next: "scenario_evaluate_stage",
    input: (s) => opened(s, { caller_evidence: [item] }),
  })),
  {
    tool: "scenario_evaluate_stage",
    outcome: "evidence_rejected",
    name: "unknown binding",
    input: (s) => opened(s, { local_acquisition: [{ binding_id: "none" }] }),
  },
  {
    tool: "scenario_evaluate_stage",
    outcome: "acquisition_failed",
    name: "schema past its deadline",
    spec: JSON_CONDITION,
    schema: { pattern: "^(a+)+$" },
    next: "scenario_evaluate_stage",
    input: (s) => opened(s, { caller_evidence: [evidence("built", `${"a".repeat(64)}!`, "Json")] }),
  },
];

const SUBMISSIONS: readonly Case[] = [
  { tool: "scenario_submit", outcome: "accepted", input: (s) => at(s, 1, SUBMIT) },
  {
    tool: "scenario_submit",
    outcome: "accepted",
    name: "on a complete run",
    spec: ONE_STAGE,
    input: async (s) => {
      await complete(s);
      return at(s, 1, SUBMIT);
    },
  },
  {
    tool: "scenario_submit",
    outcome: "accepted",
    name: "external content",
    input: (s) =>
      at(s, 1, {
        ...SUBMIT,
        payload: {
          kind: "external",
          content_ref: { uri: "s3://b/k", content_hash: { algorithm: "sha256", value: UNKNOWN_ID } },
        },
      }),
  },
  {
    tool: "scenario_submit",
    outcome: "stale",
    next: "scenario_history",
    input: async (s) => {
      const old = s.head;
      await s.accept("scenario_submit", 9, SUBMIT);
      return at(s, 1, { ...SUBMIT, expected_head: old });
    },
  },
  {
    tool: "scenario_submit",
    outcome: "operation_conflict",
    next: "scenario_resolve_mutation",
    input: async (s) => {
      await s.accept("scenario_submit", 1, SUBMIT);
      return at(s, 1, { ...SUBMIT, payload: { kind: "json", value: 2 } });
    },
  },
  {
    tool: "scenario_submit",
    outcome: "run_not_found",
    next: "scenarios_list",
    input: (s) => at(s, 1, { ...SUBMIT, run_id: id(99) }),
  },
  {
    tool: "scenario_submit",
    outcome: "stage_not_open",
    next: "scenario_open_stage",
    input: (s) => at(s, 1, { ...SUBMIT, scope: { kind: "stage_open", ...BUILD, stage_open_record_id: UNKNOWN_ID } }),
  },
  {
    tool: "scenario_submit",
    outcome: "stage_open_mismatch",
    next: "scenario_submit",
    input: async (s) => {
      await s.accept("scenario_open_stage", 9, BUILD);
      return at(s, 1, { ...SUBMIT, scope: { kind: "stage_open", ...BUILD, stage_open_record_id: UNKNOWN_ID } });
    },
  },
  ...([
    ["no media type", { content_type: "json" }],
    ["text for a json payload", { content_type: "text/plain" }],
    ["JSON for a bytes payload", { payload: { kind: "bytes", base64: "AAAA" } }],
  ] as const).map(([name, change]): Case => ({
    tool: "scenario_submit",
    outcome: "content_type_rejected",
    name,
    next: "scenario_submit",
    input: (s) => at(s, 1, { ...SUBMIT, ...change }),
  })),
  {
    tool: "scenario_submit",
    outcome: "payload_rejected",
    next: "scenario_submit",
    spec: { value_limits: { selection: "Explicit", maximum_value_bytes: 10, maximum_payload_bytes: 10 } },
    input: (s) => at(s, 1, { ...SUBMIT, payload: { kind: "json", value: "123456789" } }),
  },
];

function resolveCreation(change: JsonObject): JsonObject {
  return { namespace_id: 2, creation_request_id: id(1), invocation_identity: UNKNOWN_ID, ...change };
}

function resolveMutation(s: Scene, change: JsonObject): JsonObject {
  const { run_id } = s.run;
  const operation_id = { family: "submit", identity: id(1) };
  return { namespace_id: 2, run_id, operation_id, invocation_identity: UNKNOWN_ID, ...change };
}

const RESOLVE: readonly Case[] = [
  {
    tool: "scenario_resolve_creation",
    outcome: "accepted",
    input: async (s) => {
      const { result } = envelope(await s.bench.call("scenario_start", s.start));
      return resolveCreation({ invocation_identity: result["invocation_identity"] ?? "" });
    },
  },
  {
    tool: "scenario_resolve_creation",
    outcome: "known_unaccepted",
    next: "scenario_start",
    result: { reason: "no_accepted_receipt" },
    input: () => resolveCreation({ creation_request_id: id(5) }),
  },
  {
    tool: "scenario_resolve_creation",
    outcome: "invocation_mismatch",
    next: "scenario_resolve_creation",
    input: () => resolveCreation({}),
  },
  {
    tool: "scenario_resolve_creation",
    outcome: "unauthorized",
    next: "scenario_resolve_creation",
    input: () => resolveCreation({ namespace_id: 1 }),
  },
  {
    tool: "scenario_resolve_creation",
    outcome: "unauthorized",
    name: "remote caller",
    remote: true,
    result: { message: "Cannot do this: the caller is not authorized" },
    input: () => resolveCreation({ namespace_id: 1 }),
  },
  {
    tool: "scenario_resolve_creation",
    outcome: "indeterminate",
    next: "scenario_resolve_creation",
    input: (s) => {
      s.bench.services.inFlight.run(creationName(2, id(5)), () => new Promise(() => {}));
      return resolveCreation({ creation_request_id: id(5) });
    },
  },
  {
    tool: "scenario_resolve_mutation",
    outcome: "accepted",
    input: async (s) => {
      const result = await s.accept("scenario_submit", 1, SUBMIT);
      await s.accept("scenario_submit", 2, SUBMIT);
      return resolveMutation(s, { invocation_identity: result["invocation_identity"] ?? "" });
    },
  },
  {
    tool: "scenario_resolve_mutation",
    outcome: "known_unaccepted",
    next: "scenario_submit",
    result: { reason: "no_accepted_receipt" },
    input: (s) => resolveMutation(s, {}),
  },
  {
    tool: "scenario_resolve_mutation",
    outcome: "known_unaccepted",
    name: "no such run",
    input: (s) => resolveMutation(s, { run_id: id(99) }),
  },
  {
    tool: "scenario_resolve_mutation",
    outcome: "invocation_mismatch",
    next: "scenario_resolve_mutation",
    input: async (s) => {
      await s.accept("scenario_submit", 1, SUBMIT);
      return resolveMutation(s, {});
    },
  },
  {
    tool: "scenario_resolve_mutation",
    outcome: "unauthorized",
    next: "scenario_resolve_mutation",
    input: (s) => resolveMutation(s, { namespace_id: 1 }),
  },
  {
    tool: "scenario_resolve_mutation",
    outcome: "indeterminate",
    next: "scenario_resolve_mutation",
    input: (s) => {
      s.bench.services.inFlight.run(mutationName(2, s.run.run_id, "submit", id(1)), () => new Promise(() => {}));
      return resolveMutation(s, {});
    },
  },
];

const CASES = [...START, ...OPEN, ...EVALUATE, ...SUBMISSIONS, ...RESOLVE];

/** Decisions.md 4, the table of outcomes, but for the authority: it needs a start before and is tested by itself. */
const OUTCOMES: Readonly<Record<string, string>> = {
  scenario_start: "accepted creation_conflict scenario_not_found law_not_found genesis_rejected correlation_rejected",
  scenario_open_stage: "accepted stale operation_conflict run_not_found stage_not_found stage_not_ready " +
    "stage_already_opened policy_denied",
  scenario_evaluate_stage: "accepted stale operation_conflict run_not_found stage_not_found stage_not_open " +
    "evidence_rejected acquisition_failed",
  scenario_submit: "accepted stale operation_conflict run_not_found stage_not_open stage_open_mismatch " +
    "content_type_rejected payload_rejected",
  scenario_resolve_creation: "accepted known_unaccepted invocation_mismatch unauthorized indeterminate",
  scenario_resolve_mutation: "accepted known_unaccepted invocation_mismatch unauthorized indeterminate",
};

Deno.test("the cases reach every outcome, in the order of the table", () => {
  for (const [tool, outcomes] of Object.entries(OUTCOMES)) {
    const reached = CASES.filter((entry) => entry.tool === tool).map(({ outcome }) => outcome);
    assert.equal([...new Set(reached)].join(" "), outcomes, tool);
  }
});

for (const store of STORES) {
  for (const entry of CASES) {
    const name = entry.name === undefined ? "" : ` (${entry.name})`;
    Deno.test(`${entry.tool} ${entry.outcome}${name}, ${store}`, () =>
      withTools(async (bench) => {
        if (entry.schema !== undefined) {
          await bench.call("schemas_register", { record: schemaRecord({ schema: entry.schema }) });
        }
        const s = await scene(bench, entry.spec ?? {});
        const input = await entry.input(s);
        const before = await bench.call("scenario_status", s.run);
        const answer = await bench.call(entry.tool, input, ...(entry.remote === true ? [REMOTE] : []));
        const { outcome, result, next } = envelope(answer);
        assert.equal(outcome, entry.outcome, JSON.stringify(answer));
        for (const [member, value] of Object.entries(entry.result ?? {})) assert.deepEqual(result[member], value);
        if (outcome === "accepted") return;
        assert.deepEqual(await bench.call("scenario_status", s.run), before, "a refusal changes nothing");
        checkNext(entry, bench, next);
        if (outcome === "stale") assert.deepEqual(result, before["accepted_head"], "the current head and nothing else");
      }, { ...entry.options, store }));
  }
}

/** Every refusal says what comes next, by tools that exist. */
function checkNext(entry: Case, bench: Bench, next: JsonValue): void {
  assert.ok(isJsonArray(next) && next.length > 0, "a refusal has next steps");
  for (const step of next as readonly JsonObject[]) {
    assert.deepEqual(Object.keys(step), ["tool", "arguments_hint", "why"]);
    const tool = bench.tools.get(step["tool"] as string);
    assert.ok(tool, `next tool ${step["tool"]} exists`);
    const known = tool.inputSchema["properties"] as JsonObject;
    for (const name of Object.keys(step["arguments_hint"] as JsonObject)) {
      assert.notEqual(member(known, name), undefined, `${tool.name} takes ${name}`);
    }
  }
  if (entry.next !== undefined) assert.equal((next[0] as JsonObject)["tool"], entry.next);
}

for (const [name, options, authority] of [["time", NO_TIME, "time"], ["run identity", NO_RUN_ID, "run_id"]] as const) {
  Deno.test(`scenario_start authority_unavailable (${name})`, () =>
    withTools(async (bench) => {
      const { start } = await withLaw(bench);
      const { outcome, result, next } = envelope(await bench.call("scenario_start", start));
      assert.equal(outcome, "authority_unavailable");
      assert.deepEqual([result["authority"], result["retryable"]], [authority, true]);
      assert.equal(((next as readonly JsonObject[])[0] as JsonObject)["tool"], "scenario_start");
    }, options));
}

async function withLaw(bench: Bench): Promise<{ readonly start: JsonObject }> {
  const defined = await bench.call("scenario_define", { spec: spec() });
  return {
    start: {
      namespace_id: 2,
      scenario_id: "release",
      scenario_law_identity: defined["scenario_law_identity"] ?? "",
      creation_request_id: id(1),
      correlation: { kind: "unset" },
      genesis: { kind: "empty" },
    },
  };
}

Deno.test("a mutation without a stamp is a retryable error and changes nothing", () => {
  let stamps = true;
  const read = () => stamps ? { time_authority_id: "t", authority_revision: "1", reading_unix_millis: 1 } : null;
  return withTools(async (bench) => {
    const s = await scene(bench, {});
    stamps = false;
    const error = await bench.fail("scenario_open_stage", at(s, 1, BUILD));
    assert.deepEqual([error.code, error.retryable], ["authority_unavailable", true]);
    stamps = true;
    await s.accept("scenario_open_stage", 1, BUILD);
  }, { time: { read } });
});

Deno.test("following the first step of stale leads on", () =>
  withTools(async (bench) => {
    const s = await scene(bench, {});
    const old = s.head;
    await s.accept("scenario_submit", 9, SUBMIT);
    const { result, next } = envelope(
      await bench.call("scenario_open_stage", at(s, 1, { ...BUILD, expected_head: old })),
    );
    const [look, again] = next as readonly { readonly tool: string; readonly arguments_hint: JsonObject }[];
    assert.ok(look !== undefined && again !== undefined);
    const history = await bench.call(look.tool, look.arguments_hint) as { records: JsonValue[] };
    assert.equal(history.records.length, 1);
    assert.equal(envelope(await bench.call(again.tool, again.arguments_hint)).outcome, "accepted");
    assert.deepEqual(again.arguments_hint["expected_head"], result);
  }));

Deno.test("a call of a caller who is gone is carried out all the same", () =>
  withTools(async (bench) => {
    const s = await scene(bench, {});
    const gone = new AbortController();
    const call: Call = { principal: { ...REMOTE, authMethod: "local" }, signal: gone.signal, correlationId: null };
    const answer = bench.tools.get("scenario_submit")?.handle(at(s, 1, SUBMIT), call);
    gone.abort();
    assert.equal((await answer)?.ok, true);
  }));
