/**
 * A world for the tests of authorisation: the real dispatcher and tools over stores of their own, with or without
 * content. It has one valid call of every tool.
 *
 * @module
 */

import assert from "node:assert/strict";
import { tenantsOf } from "@/access/principal.ts";
import type { NamespaceAnswer, Principal, RoleBinding } from "@/access/types.ts";
import type { JsonObject } from "@/canonical/json.ts";
import { AUTH_DEFAULTS, DEFAULT_SETTINGS } from "@/config/defaults.ts";
import type { GateConfig, NamespaceConfig } from "@/config/types.ts";
import { HOST_PRIMITIVES } from "@/evidence/host_primitives.ts";
import { openPublisher } from "@/runpack/host/open_publisher.ts";
import { auditCall } from "@/server/audit/call_audit.ts";
import type { Audit, AuditEvent } from "@/server/audit/types.ts";
import { createDispatcher, type Dispatcher } from "@/server/protocol/dispatcher.ts";
import { asJson } from "@/run/primitives.ts";
import { id, schemaRecord, spec, withTools } from "@/tools/tests/tools_fixture.ts";
import { httpProfile, typedContract } from "../../simulation/typed_documents.ts";
import type { Call } from "@/tools/framework/types.ts";

/** A role binding. */
export function role(name: string, namespace: number | null = null, tenant: number | null = null): RoleBinding {
  return { name, namespace_id: namespace, tenant_id: tenant };
}

/** A caller. */
export function caller(
  authMethod: Principal["authMethod"],
  roles: readonly RoleBinding[] = [],
  policyClass: string | null = null,
): Principal {
  const subject = authMethod === "local" ? "stdio" : `token:${"0".repeat(64)}`;
  return { subject, authMethod, policyClass, roles, tenants: tenantsOf(authMethod, roles) };
}

/** Who may do everything. */
export const ADMIN: Principal = { ...caller("mtls", [role("TenantAdmin")]), subject: "CN=admin" };

/** What of a world can be chosen. */
export interface WorldOptions {
  /** Whether scenario, run, schema and runpack exist. */
  readonly filled: boolean;
  readonly namespace?: Partial<NamespaceConfig>;
  readonly acl?: Partial<GateConfig["schema_registry"]["acl"]>;
  /** Whether roles are in force; default true. */
  readonly roles?: boolean;
  /** What a namespace authority says, once the world is filled. */
  readonly authority?: NamespaceAnswer;
  /** The namespace; default 2. */
  readonly namespaceId?: number;
  /** Takes the events of the audit log. */
  readonly audit?: Audit;
}

/** A world. */
export interface World {
  readonly dispatcher: Dispatcher;
  /** Calls a tool and gives what a client would see, as JSON text: `edge`, `error` or `result`. */
  readonly ask: (tool: string, input: JsonObject, principal: Principal) => Promise<string>;
  readonly events: AuditEvent[];
  /** One call of each tool that is in order, for things that are there in a world that is filled. */
  readonly calls: ReadonlyMap<string, JsonObject>;
}

const RUN_ID = id(77);

/** Runs a test in a world of its own. */
export async function withWorld(options: WorldOptions, test: (world: World) => Promise<void>): Promise<void> {
  const dataDir = await Deno.makeTempDir();
  const authority: { answer: NamespaceAnswer } = { answer: { verdict: "granted", reason: "stub" } };
  const principals = options.roles === false ? [] : [{ subject: "unused", policy_class: null, roles: [] }];
  const registry = DEFAULT_SETTINGS.schema_registry;
  try {
    await withTools(async ({ tools }) => {
      const events: AuditEvent[] = [];
      const audit: Audit = {
        fault: () => null,
        reopen: () => Promise.resolve(),
        close: () => Promise.resolve(),
        ...options.audit,
        record: (event) => {
          events.push(event);
          return options.audit?.record(event) ?? Promise.resolve();
        },
      };
      const dispatcher = createDispatcher({
        loadTools: () => Promise.resolve(tools),
        tools: DEFAULT_SETTINGS.server.tools,
        auth: null,
        log: (_level, message, fields) => assert.fail(`${message} ${JSON.stringify(fields)}`),
        loadCallAudit: () =>
          Promise.resolve((name, input, call) => auditCall({ audit, logPrecheckPayloads: false }, name, input, call)),
      });
      const ask = asking(dispatcher);
      const calls = await fill(ask, options.namespaceId ?? 2, options.filled);
      authority.answer = options.authority ?? authority.answer;
      events.length = 0;
      await test({ dispatcher, ask, events, calls });
    }, {
      config: {
        server: { ...DEFAULT_SETTINGS.server, auth: { ...AUTH_DEFAULTS, principals } },
        namespace: { ...DEFAULT_SETTINGS.namespace, ...options.namespace },
        schema_registry: { ...registry, acl: { ...registry.acl, ...options.acl } },
      },
      runIds: { allocate: () => ({ authority_id: "test", run_id: RUN_ID }) },
      change: (services) => {
        const { runs } = services;
        const publisher = openPublisher({ sha256: HOST_PRIMITIVES.sha256, runs, dataDir, storage: null, signer: null });
        const namespaces = options.authority === undefined ? null : {
          ask: () => Promise.resolve(authority.answer),
          close: () => {},
        };
        return { ...services, dataDir, namespaces, publisher: () => Promise.resolve(publisher) };
      },
    });
  } finally {
    await Deno.remove(dataDir, { recursive: true });
  }
}

function asking(dispatcher: Dispatcher): World["ask"] {
  return async (tool, input, principal) => {
    const call: Call = {
      principal,
      signal: new AbortController().signal,
      correlationId: "gate-test",
      origin: {
        transport: "http",
        peer_address: "192.0.2.1",
        correlation_id: "client-1",
        server_correlation_id: "gate-test",
        traceparent: null,
      },
    };
    const outcome = await dispatcher.call(tool, structuredClone(input), call);
    if (!outcome.ok) return JSON.stringify({ edge: outcome.error });
    const { answer } = outcome;
    return JSON.stringify(answer.ok ? { result: answer.result } : { error: answer.error });
  };
}

/** Defines, registers, starts and exports, where it should; and one call of each tool about just that. */
async function fill(ask: World["ask"], namespaceId: number, filled: boolean): Promise<Map<string, JsonObject>> {
  const law = spec({ namespace_id: namespaceId });
  const record = schemaRecord({ namespace_id: namespaceId });
  let identity = "a".repeat(64);
  let runpack = "b".repeat(64);
  let head: JsonObject = { record_id: "c".repeat(64), revision: 1 };
  if (filled) {
    identity = String((await did(ask, "scenario_define", { spec: law }))["scenario_law_identity"]);
    await did(ask, "schemas_register", { record });
    const { outcome } = await did(ask, "scenario_start", startOf(namespaceId, identity)) as { outcome: JsonObject };
    head = (outcome["result"] as JsonObject)["head"] as JsonObject;
    const exported = await did(ask, "runpack_export", { namespace_id: namespaceId, run_id: RUN_ID });
    runpack = String((exported["publication"] as JsonObject)["runpack_identity"]);
  }
  return callsOf(namespaceId, { law, record, identity, runpack, head });
}

async function did(ask: World["ask"], tool: string, input: JsonObject): Promise<JsonObject> {
  const answer = JSON.parse(await ask(tool, input, ADMIN)) as { readonly result?: JsonObject };
  assert.ok(answer.result, `${tool}: ${JSON.stringify(answer)}`);
  return answer.result;
}

function startOf(namespaceId: number, identity: string): JsonObject {
  return {
    namespace_id: namespaceId,
    scenario_id: "release",
    scenario_law_identity: identity,
    creation_request_id: id(1),
    correlation: { kind: "unset" },
    genesis: { kind: "empty" },
  };
}

interface Things {
  readonly law: JsonObject;
  readonly record: JsonObject;
  readonly identity: string;
  readonly runpack: string;
  readonly head: JsonObject;
}

function callsOf(namespace_id: number, { law, record, identity, runpack, head }: Things): Map<string, JsonObject> {
  const run = { namespace_id, scenario_id: "release", run_id: RUN_ID };
  const mutation = { ...run, expected_head: head, operation_id: id(5) };
  const typed = { namespace_id, provider_id: "builds", version: "1" };
  const context = { namespace_id, trigger_time: { kind: "unix_millis", value: 1 } };
  return new Map<string, JsonObject>(Object.entries({
    scenario_define: { spec: law },
    scenarios_list: { namespace_id },
    scenarios_get: { namespace_id, scenario_law_identity: identity },
    scenario_questions: { namespace_id, scenario_law_identity: identity, question: { ask: "who" } },
    runs_list: { namespace_id, scenario_id: "release", status: "active" },
    scenario_start: startOf(namespace_id, identity),
    scenario_status: run,
    scenario_history: run,
    scenario_open_stage: { ...mutation, stage_id: "build" },
    scenario_evaluate_stage: { ...mutation, stage_id: "build" },
    scenario_precheck_stage: {
      namespace_id,
      scenario_id: "release",
      scenario_law_identity: identity,
      stage_id: "build",
    },
    precheck: {
      namespace_id,
      scenario_id: "release",
      data_shape: { schema_id: "report", version: "1" },
      payload: { passed: true },
    },
    scenario_submit: {
      ...mutation,
      content_type: "application/json",
      payload: { kind: "json", value: 1 },
      scope: { kind: "run_wide" },
    },
    scenario_next: { ...run, expected_head: head, request_id: id(6) },
    scenario_trigger: { ...run, expected_head: head, trigger: { trigger_id: id(7), kind: "tick", source_id: "cron" } },
    scenario_apply: { operations: [{ tool: "scenario_open_stage", arguments: { ...mutation, stage_id: "none" } }] },
    scenario_resolve_creation: { namespace_id, creation_request_id: id(1), invocation_identity: "d".repeat(64) },
    scenario_resolve_mutation: {
      namespace_id,
      run_id: RUN_ID,
      operation_id: { family: "open_stage", identity: id(5) },
      invocation_identity: "d".repeat(64),
    },
    runpack_export: { namespace_id, run_id: RUN_ID },
    runpack_verify: { runpack_identity: runpack },
    schemas_register: { record },
    schemas_list: { namespace_id },
    schemas_get: { namespace_id, schema_id: "report", version: "1" },
    typed_providers_import: { ...typed, source: { kind: "openapi", document: {} } },
    typed_providers_register: {
      ...typed,
      contract: asJson(typedContract()) as JsonObject,
      profile: asJson(httpProfile()) as JsonObject,
    },
    typed_providers_activate: { ...typed, expected_active: null },
    typed_providers_deprecate: { ...typed, expected_state: "active" },
    typed_providers_list: { namespace_id },
    typed_providers_get: typed,
    gate_docs_search: { query: "gates" },
    providers_list: {},
    provider_contract_get: { provider_id: "time" },
    provider_check_schema_get: { provider_id: "time", check_id: "now" },
    evidence_query: { query: { provider_id: "time", check_id: "now" }, context },
  }));
}
