/**
 * Fixtures of the tests of tools: services with either store, a scenario, and calls that validate each answer with the
 * published schema.
 */

import assert from "node:assert/strict";
import { assertPublished } from "../../../tests/answers.ts";
import { LEAST_POLICY } from "../../../tests/least_policy.ts";
import { tenantsOf } from "../../access/principal.ts";
import type { Principal } from "../../access/types.ts";
import { isJsonArray, type JsonObject, type JsonValue, member } from "../../canonical/json.ts";
import { DEFAULT_SETTINGS } from "../../config/defaults.ts";
import type { GateConfig } from "../../config/types.ts";
import { HOST_PRIMITIVES } from "../../evidence/host_primitives.ts";
import { createSchemaSandbox } from "../../evidence/sandbox/schema_sandbox.ts";
import type { TrustedKey } from "../../run/profile.ts";
import { closeStores, openStores } from "../../store/open.ts";
import { ANSWER_BYTES, sentBytes, surelyFits } from "../framework/response_size.ts";
import { createServices, type ServiceParts, type Services } from "../services/services.ts";
import { packetSchemasOf } from "../services/prove_spec.ts";
import { createTools } from "../table.ts";
import type { Call, Tool, ToolError } from "../framework/types.ts";

/** A caller on standard input. */
export const LOCAL: Principal = {
  subject: "stdio",
  authMethod: "local",
  policyClass: null,
  roles: [],
  tenants: tenantsOf("local", []),
};

/** A remote caller without roles. */
export const REMOTE: Principal = { ...LOCAL, subject: "token:00", authMethod: "bearer_token", tenants: [] };

/** The default settings with the schema registry open to local callers. */
export function testConfig(change: Partial<GateConfig> = {}): GateConfig {
  const { schema_registry } = DEFAULT_SETTINGS;
  const acl = { ...schema_registry.acl, allow_local_only: true };
  return {
    ...DEFAULT_SETTINGS,
    schema_registry: { ...schema_registry, acl },
    config_path: null,
    base_dir: "/",
    ...change,
  };
}

/** Tools under test. */
export interface Bench {
  readonly services: Services;
  /** The file of the stores; null in memory. */
  readonly storePath: string | null;
  readonly tools: ReadonlyMap<string, Tool>;
  /** Calls a tool that must succeed. */
  readonly call: (name: string, input: JsonObject, principal?: Principal) => Promise<JsonObject>;
  /** Calls a tool that must fail, with next steps. */
  readonly fail: (name: string, input: JsonObject, principal?: Principal) => Promise<Failure>;
}

/** An error; its next steps stand beside the other details. */
export interface Failure extends ToolError {
  readonly next: readonly JsonObject[];
}

/** The stores of the cases. */
export const STORES = ["memory", "sqlite"] as const;

/** Options of {@link withTools}. */
export interface BenchOptions
  extends Partial<Pick<ServiceParts, "time" | "runIds" | "providers" | "typedGrants" | "openTyped">> {
  readonly evidenceKeys?: readonly TrustedKey[];
  readonly config?: Partial<GateConfig>;
  readonly store?: typeof STORES[number];
  readonly change?: (services: Services) => Services;
}

/** Runs a test with tools of its own. */
export async function withTools(test: (bench: Bench) => Promise<void>, options: BenchOptions = {}): Promise<void> {
  const config = testConfig(options.config);
  const folder = options.store === "sqlite" ? await Deno.makeTempDir() : null;
  const storePath = folder === null ? null : `${folder}/gate.db`;
  const storage = storePath === null ? {} : { type: "sqlite", path: storePath } as const;
  const stores = await openStores({
    run: { ...config.run_state_store, ...storage },
    schemas: { ...config.schema_registry, ...storage },
  }, HOST_PRIMITIVES.sha256);
  const schemaSandbox = createSchemaSandbox({ deadlineMillis: 3000 });
  try {
    const { change, config: _config, store: _store, evidenceKeys = null, ...given } = options;
    const readPeople = (): Promise<typeof evidenceKeys> => Promise.resolve(evidenceKeys);
    const made = await createServices({ config, ...stores, schemaSandbox, readPeople, ...given });
    const services = change === undefined ? made : change(made);
    await test(benchOf(services, storePath));
  } finally {
    schemaSandbox.close();
    await closeStores(stores);
    if (folder !== null) await Deno.remove(folder, { recursive: true });
  }
}

/** Tools with items that may be larger than an answer. */
const OF_ITEMS = ["scenario_history", "schemas_list", "schemas_get"];

function checkBytes(name: string, text: string): void {
  if (surelyFits(text, ANSWER_BYTES) || OF_ITEMS.includes(name)) return;
  assert.ok(sentBytes(text) <= ANSWER_BYTES, `${name} answers ${sentBytes(text)} bytes`);
}

function benchOf(services: Services, storePath: string | null): Bench {
  const tools = createTools(services);
  const handle = async (name: string, input: JsonObject, principal: Principal): Promise<JsonObject | ToolError> => {
    const tool = tools.get(name);
    assert.ok(tool, `tool ${name}`);
    const call: Call = { principal, signal: new AbortController().signal, correlationId: null };
    const answer = await tool.handle(structuredClone(input), call);
    const value = (answer.ok ? answer.result : { error: answer.error }) as JsonObject;
    await assertPublished(name, value);
    checkBytes(name, JSON.stringify(value));
    if (answer.ok && answer.text !== undefined) assert.deepEqual(JSON.parse(answer.text), answer.result);
    return answer.ok ? answer.result : answer.error;
  };
  return {
    services,
    storePath,
    tools,
    call: async (name, input, principal = LOCAL) => {
      const answer = await handle(name, input, principal);
      assert.ok(!("code" in answer && "retryable" in answer), JSON.stringify(answer));
      return answer as JsonObject;
    },
    fail: async (name, input, principal = LOCAL) => {
      const answer = await handle(name, input, principal);
      assert.ok("code" in answer && "retryable" in answer, `${name} succeeded: ${JSON.stringify(answer)}`);
      const { details: given = {}, ...error } = answer as ToolError;
      const { next = null, ...details } = given;
      return { ...error, ...Object.keys(details).length === 0 ? {} : { details }, next: checkSteps(tools, next) };
    },
  };
}

/** Checks the next steps of a refusal: at least one, and each a valid call of an existing tool. */
export function checkSteps(tools: Bench["tools"], next: JsonValue): readonly JsonObject[] {
  assert.ok(isJsonArray(next) && next.length > 0, "a refusal has next steps");
  for (const step of next as readonly JsonObject[]) {
    assert.deepEqual(Object.keys(step), ["tool", "arguments_hint", "why"]);
    const tool = tools.get(step["tool"] as string);
    assert.ok(tool, `next tool ${step["tool"]} exists`);
    const known = tool.inputSchema["properties"] as JsonObject;
    for (const name of Object.keys(step["arguments_hint"] as JsonObject)) {
      assert.notEqual(member(known, name), undefined, `${tool.name} takes ${name}`);
    }
    assert.match(String(step["why"]), /^[A-Za-z].{10,300}[^.]$/);
  }
  return next as readonly JsonObject[];
}

/** 32 hex digits that name a number. */
export function id(number: number): string {
  return number.toString(16).padStart(32, "0");
}

/** A condition on a boolean that callers submit. */
export function booleanCondition(condition_id: string): JsonObject {
  return condition(condition_id, { domain: "Boolean" }, {
    predicate: "Equals",
    expected: { value: true, value_type: "Boolean" },
  });
}

/** A condition with a domain and predicate of its own. */
export function condition(condition_id: string, observation_domain: JsonObject, predicate: JsonObject): JsonObject {
  return {
    condition_id,
    observation_domain,
    predicate,
    evidence_use_policy: structuredClone(LEAST_POLICY),
  };
}

/** A stage with a condition, and with or without a prerequisite. */
export function stage(stage_id: string, condition_id: string, after?: string): JsonObject {
  return {
    stage_id,
    completion_requirement: { Condition: condition_id },
    entry_packets: [],
    prerequisite: after === undefined ? { kind: "root" } : { kind: "requires", requirement: { Condition: after } },
  };
}

/** Two stages in a row: `build`, then `deploy`. */
export function spec(change: Readonly<Record<string, JsonValue>> = {}): JsonObject {
  return {
    spec_version: "dag-v3",
    scenario_id: "release",
    namespace_id: 2,
    acquisition_bindings: [],
    completion_requirement: { Condition: "deploy" },
    conditions: [booleanCondition("built"), booleanCondition("deployed")],
    policies: [],
    schemas: [],
    stages: [stage("build", "built"), stage("deploy", "deployed", "build")],
    value_limits: { selection: "InheritOperator" },
    ...change,
  };
}

/** Evidence on a condition. */
export function evidence(condition_id: string, value: JsonValue, value_type = "Boolean"): JsonObject {
  return { condition_id, retention: { retention: "RetainCanonicalValue" }, value: { value, value_type } };
}

/** A schema record: schema "report" version "1". */
export function schemaRecord(change: Readonly<Record<string, JsonValue>> = {}): JsonObject {
  return {
    schema_id: "report",
    version: "1",
    namespace_id: 2,
    description: "A test report",
    schema: { type: "object", required: ["passed"] },
    created_at: { kind: "unix_millis", value: 1 },
    ...change,
  };
}

/** A run that was started. */
export interface StartedRun {
  readonly law: string;
  /** Arguments that name the run. */
  readonly run: { readonly namespace_id: number; readonly scenario_id: string; readonly run_id: string };
  readonly head: JsonObject;
  /** Arguments of the start. */
  readonly start: JsonObject;
}

/** Defines a scenario and starts a run of it. */
export async function startRun(bench: Bench, change: Readonly<Record<string, JsonValue>> = {}): Promise<StartedRun> {
  const scenario = spec(change);
  for (const schema_id of packetSchemasOf(scenario)) {
    await bench.call("schemas_register", { record: schemaRecord({ schema_id }) });
  }
  const defined = await bench.call("scenario_define", { spec: scenario });
  const law = defined["scenario_law_identity"] as string;
  const start = {
    namespace_id: 2,
    scenario_id: "release",
    scenario_law_identity: law,
    creation_request_id: id(1),
    correlation: { kind: "unset" },
    genesis: { kind: "empty" },
  };
  const { outcome } = await bench.call("scenario_start", start) as { outcome: JsonObject };
  assert.equal(outcome["outcome"], "accepted");
  const result = outcome["result"] as { head: JsonObject; run_key: { run_id: string } };
  const run = { namespace_id: 2, scenario_id: "release", run_id: result.run_key.run_id };
  return { law, run, head: result.head, start };
}

/** Outcome name and result of an envelope. */
export function envelope(
  answer: JsonObject,
): { readonly outcome: string; readonly result: JsonObject; readonly next: JsonValue } {
  const { outcome, result, next } = answer["outcome"] as { outcome: string; result: JsonObject; next?: JsonValue };
  return { outcome, result, next: next ?? result["next"] ?? null };
}
