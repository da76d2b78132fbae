/**
 * Two servers that are the same: one gets lists of operations, the other gets each operation as a call of its own.
 *
 * @module
 */

import type { Principal } from "@/access/types.ts";
import type { JsonObject, JsonValue } from "@/canonical/json.ts";
import { DEFAULT_SETTINGS } from "@/config/defaults.ts";
import { auditCall } from "@/server/audit/call_audit.ts";
import type { AuditEvent } from "@/server/audit/types.ts";
import { jsonRpcError } from "@/server/process/edge_error.ts";
import { createLimits, type Limits } from "@/server/process/limits.ts";
import { createDispatcher, type Dispatcher } from "@/server/protocol/dispatcher.ts";
import { type RunStore, StoreError } from "@/store/types.ts";
import { answerText } from "@/tools/framework/errors.ts";
import type { Call } from "@/tools/framework/types.ts";
import { type Bench, id, LOCAL, spec, type STORES, withTools } from "../../../src/tools/tests/tools_fixture.ts";
import { SCANNED } from "../../../src/tools/tests/step_fixture.ts";
import { answered, found, testProvider } from "../acquisition_fixture.ts";

/** An operation of a list. */
export interface Operation {
  readonly tool: string;
  readonly arguments: JsonObject;
}

/** One server. */
export interface World {
  readonly bench: Bench;
  readonly law: string;
  /** Sets the time, and what the provider answers. */
  readonly at: (millis: number, value: JsonValue | "unreachable") => void;
  /** Calls a tool as a caller; returns the text of its result, or of its error. */
  readonly call: (caller: Principal, tool: string, input: JsonObject, isCounted?: boolean) => Promise<string>;
  /** The lines of the audit log since the last reading, without those of lists. */
  readonly takeEvents: () => readonly string[];
}

const SERVER = {
  ...DEFAULT_SETTINGS.server,
  limits: { max_inflight: 64, rate_limit: { max_requests: 24, window_ms: 1000, max_entries: 64 } },
  auth: {
    mode: "bearer_token",
    bearer_tokens: ["a token of tests"],
    mtls_subjects: [],
    allowed_tools: [],
    principals: [{ subject: "stdio", policy_class: null, roles: [] }],
  },
} as const;

function principalOf(subject: string, role: string, namespace_id: number | null): Principal {
  return { ...LOCAL, subject, policyClass: "scratch", roles: [{ name: role, tenant_id: null, namespace_id }] };
}

/** A caller with all roles. */
export const ADMIN: Principal = principalOf("admin", "NamespaceAdmin", null);

/** The callers: with all roles, with roles in one namespace, with that of people who approve, and with none that counts. */
export const CALLERS: readonly Principal[] = [
  ADMIN,
  principalOf("writer", "NamespaceWriter", 2),
  principalOf("approver", "Approver", null),
  principalOf("nobody", "NoSuchRole", null),
];

/** Which tools the operator offers. */
export const OFFERS = [
  { tools: SERVER.tools, allowed: [] },
  { tools: SERVER.tools, allowed: ["scenario_apply", "scenario_start", "scenario_submit", "scenario_open_stage"] },
  { tools: { ...SERVER.tools, denylist: ["scenario_submit"] }, allowed: [] },
] as const;

/** How a store is changed for a test. */
export type Change = (runs: RunStore) => RunStore;

/** Runs a test with a server of its own. */
export async function withWorld(
  store: typeof STORES[number],
  offer: typeof OFFERS[number],
  test: (world: World) => Promise<void>,
  change: Change = (runs) => runs,
): Promise<void> {
  let millis = 1_700_000_000_000;
  let value: JsonValue | "unreachable" = true;
  let runs = 0;
  const provider = testProvider(
    "scanner",
    () =>
      value === "unreachable"
        ? { ok: false, code: "timeout", message: "Cannot reach the scanner", retryable: true }
        : answered(found(value), millis),
  );
  await withTools(async (bench) => {
    const { scenario_law_identity } = await bench.call("scenario_define", { spec: spec(SCANNED) }, ADMIN);
    const events: AuditEvent[] = [];
    const limits = createLimits(SERVER.limits, { now: () => millis });
    await test({
      bench,
      law: String(scenario_law_identity),
      at: (now, answer) => void ([millis, value] = [now, answer]),
      call: caller(dispatcherOf(bench, offer, events, limits), limits),
      takeEvents: () =>
        events.splice(0).filter(({ tool }) => tool !== "scenario_apply").map((event) => JSON.stringify(event)),
    });
  }, {
    store,
    config: { server: SERVER },
    time: {
      read: () => ({ authority_revision: "1", reading_unix_millis: millis, time_authority_id: "gate.system_clock" }),
    },
    runIds: { allocate: () => ({ authority_id: "gate.random", run_id: id(0x1000 + ++runs) }) },
    providers: new Map([["scanner", provider]]),
    change: (services) => ({ ...services, environment: services.environment, runs: change(services.runs) }),
  });
}

function dispatcherOf(bench: Bench, offer: typeof OFFERS[number], events: AuditEvent[], limits: Limits): Dispatcher {
  const record = (event: AuditEvent): Promise<void> => Promise.resolve(void events.push(event));
  const options = {
    audit: { record, fault: () => null, reopen: () => Promise.resolve(), close: () => Promise.resolve() },
    logPrecheckPayloads: false,
  };
  return createDispatcher({
    loadTools: () => Promise.resolve(bench.tools),
    tools: offer.tools,
    auth: { ...SERVER.auth, bearer_tokens: [], principals: [], allowed_tools: [...offer.allowed] },
    log: () => undefined,
    countRequest: ({ principal: { subject } }) => limits.count(subject),
    loadCallAudit: () => Promise.resolve((name, input, call) => auditCall(options, name, input, call)),
  });
}

function caller(dispatcher: Dispatcher, limits: Limits): World["call"] {
  return async (principal, tool, input, isCounted = true) => {
    const call: Call = { principal, signal: new AbortController().signal, correlationId: null };
    const late = isCounted ? limits.count(principal.subject) : null;
    const outcome = late === null ? await dispatcher.call(tool, input, call) : { ok: false, error: late } as const;
    return outcome.ok ? answerText(outcome.answer) : JSON.stringify({ error: jsonRpcError(outcome.error, null) });
  };
}

/** The records of every run as text. */
export async function recordsOf({ bench: { services: { runs } } }: World): Promise<string[]> {
  const texts: string[] = [];
  for (const { run_key, head } of await runs.listRuns(null, 1_000_000)) {
    for (const stored of await runs.listRecords(run_key, 0, head.revision)) {
      texts.push(JSON.stringify([run_key, head, stored]));
    }
  }
  return texts;
}

/** Fails commits of a store as a function of their number decides. */
export function failing(fails: (commit: number) => boolean): Change {
  return (runs) => {
    let commits = 0;
    const appendTogether: RunStore["appendTogether"] = async (appends) => {
      if (fails(++commits)) throw new StoreError("busy", "Another process holds the database");
      return await runs.appendTogether(appends);
    };
    return { ...runs, appendTogether };
  };
}
