/** Lists the tools of a client and calls them, independently of transport and protocol revision. */

import { offeredTools, toolFilter } from "../../access/offered_tools.ts";
import type { JsonObject } from "../../canonical/json.ts";
import { nearestNames } from "../../canonical/nearest.ts";
import type { AuthConfig, ToolsConfig } from "../../config/types.ts";
import type {
  Call,
  CallOrigin,
  NamespaceList,
  ReadPack,
  TaskRule,
  Tool,
  ToolAnswer,
  ToolName,
} from "../../tools/framework/types.ts";
import type { CallAudit } from "../audit/call_audit.ts";
import { admitOperations } from "./admitted_operations.ts";
import type { RunReading } from "./run_resource.ts";
import type { Reader, ReadOutcome, ReadRequest } from "./read_request.ts";
import type { EdgeError } from "../process/edge_error.ts";
import { internalError } from "../process/internal_error.ts";
import type { Log } from "../process/log.ts";
import { type Offer, TOOLS_ALONE } from "./offer.ts";
import { messageTraceparent } from "../process/trace.ts";

/** How long the same failure is not logged again, in milliseconds. */
export const REPEAT_MILLISECONDS = 60_000;

const FAULTS: ReadonlySet<string> = new Set(["store_full", "store_failed", "store_corrupt"]);

/**
 * Makes the function that logs failures in answers.
 *
 * @param now A clock in milliseconds that never goes back
 */
export function watchStoreFaults(log: Log, now = (): number => performance.now()): (answer: ToolAnswer) => void {
  const logged = new Map<string, number>();
  return (answer) => {
    if (answer.ok || !FAULTS.has(answer.error.code)) return;
    const { code, message } = answer.error;
    if (now() - (logged.get(code) ?? -Infinity) < REPEAT_MILLISECONDS) return;
    logged.set(code, now());
    log("error", message, { code });
  };
}

/** The outcome of a call: the tool's own answer, or a failure at the edge. */
export type CallOutcome =
  | { readonly ok: true; readonly answer: ToolAnswer }
  | { readonly ok: false; readonly error: EdgeError };

/** The tools that a client may see and call, and the other offers of the server. */
export interface Dispatcher {
  readonly offer: Offer;
  /** The tools of `tools/list`, in the order of the table. */
  readonly listing: () => Promise<readonly Tool[]>;
  /** How calls of a tool become tasks; null where they never do. */
  readonly taskRule: (name: string) => Promise<TaskRule | null>;
  /** Calls a tool; never rejects. */
  readonly call: (name: string, input: JsonObject, call: Call) => Promise<CallOutcome>;
  /** Reads a document, prompt or completion; never rejects. */
  readonly read: <Found>(request: ReadRequest<Found>, call: Call) => Promise<ReadOutcome<Found>>;
}

/** The options of a dispatcher. */
export interface DispatcherOptions {
  /** Loads the table of tools; called once, at the first list or call. */
  readonly loadTools: () => Promise<ReadonlyMap<ToolName, Tool>>;
  /** The namespaces that a caller may use and whose number begins with a text; without it none are listed. */
  readonly listNamespaces?: (begun: string, call: Call) => Promise<NamespaceList>;
  /** The scenario of a run; without it runs are no resources. */
  readonly scenarioOf?: RunReading["scenarioOf"];
  /** Reads runpacks; without it they are no resources. */
  readonly readPack?: ReadPack;
  readonly tools: ToolsConfig;
  readonly auth: AuthConfig | null;
  readonly log: Log;
  /** The offers besides tools; default: no offers. */
  readonly offer?: Offer;
  /** Counts a request of a caller against its rate, and reports one that is too much. Without it no rate is limited. */
  readonly countRequest?: (call: Call) => EdgeError | null;
  /** Loads the function that audits calls; called once, at the first call. Without it no call is audited. */
  readonly loadCallAudit?: () => Promise<AuditCall>;
}

/** Begins to audit a call. */
export type AuditCall = (name: string, input: JsonObject, call: Call) => CallAudit;

/** An empty list of namespaces. */
export const NO_NAMESPACES: NamespaceList = { ids: [], isWhole: true };

/** The sender of a request: who, whence, and until when. */
export interface RequestSender extends Pick<Call, "principal" | "signal"> {
  readonly origin: CallOrigin;
}

/** The call context of a request. A `traceparent` of the transport counts before that of the message. */
export function callOf({ principal, signal, origin }: RequestSender, params: JsonObject): Call {
  return {
    principal,
    signal,
    correlationId: origin.correlation_id ?? origin.server_correlation_id,
    origin: { ...origin, traceparent: origin.traceparent ?? messageTraceparent(params) },
  };
}

/** Makes the dispatcher of a configuration. */
export function createDispatcher(options: DispatcherOptions): Dispatcher {
  const permits = toolFilter(options.tools);
  const logStoreFault = watchStoreFaults(options.log);
  const isOffered = offeredTools(options);
  let loading: Promise<ReadonlyMap<ToolName, Tool>> | null = null;
  let auditing: Promise<AuditCall> | null = null;
  const load = (): Promise<ReadonlyMap<ToolName, Tool>> => loading ??= options.loadTools();
  const loadAudit = (): Promise<AuditCall> => auditing ??= options.loadCallAudit?.() ?? Promise.resolve(unaudited);

  const admitterOf = (call: Call): NonNullable<Call["admitOperation"]> =>
    admitOperations(call, {
      count: () => options.countRequest?.(call) ?? null,
      audit: async (name, input) => (await loadAudit())(name, input, call),
      unknown: async (name) => permits(name) ? null : unknownTool(name, [...(await load()).keys()].filter(isOffered)),
      refused: (name) => isOffered(name) ? null : toolNotAllowed(name, call),
      logFault: logStoreFault,
    });

  const callTool = async (audit: CallAudit, name: string, input: JsonObject, call: Call): Promise<CallOutcome> => {
    const tools = await load();
    const tool = permits(name) ? tools.get(name) : undefined;
    if (tool === undefined) {
      const error = unknownTool(name, [...tools.keys()].filter(isOffered));
      audit.stopped(error, "tool_unknown");
      return { ok: false, error };
    }
    const answer = isOffered(name)
      ? await tool.handle(input, { ...call, auditor: audit.auditor, admitOperation: admitterOf(call) })
      : toolNotAllowed(name, call);
    logStoreFault(answer);
    await audit.answered(answer);
    return { ok: true, answer };
  };
  const audited = async <Outcome>(
    name: string,
    input: JsonObject,
    call: Call,
    where: string,
    work: (audit: CallAudit, name: string, input: JsonObject, call: Call) => Promise<Outcome>,
  ): Promise<Outcome | { readonly ok: false; readonly error: EdgeError }> => {
    let audit: CallAudit | null = null;
    try {
      audit = (await loadAudit())(name, input, call);
      return await work(audit, name, input, call);
    } catch (error) {
      const failure = internalError(options.log, where, error, call.correlationId);
      audit?.stopped(failure, "internal");
      return { ok: false, error: failure };
    }
  };

  return {
    offer: options.offer ?? TOOLS_ALONE,
    listing: async () => {
      const tools = [...(await load()).values()];
      return options.tools.mode === "passthrough" ? tools : tools.filter((tool) => permits(tool.name));
    },
    taskRule: async (name) => isOffered(name) ? await (await load()).get(name)?.task?.() ?? null : null,
    call: (name, input, call) => audited(name, input, call, `tool ${name}`, callTool),
    read: (request, call) =>
      audited(request.method, request.names, call, request.method, async (audit) => {
        const { authorizedRead } = await import("./read_request.ts");
        const reader = readerOf(options, isOffered, call, audit);
        return await authorizedRead(options.auth, request, reader, audit, logStoreFault);
      }),
  };
}

/** What a caller may read beside the documents. */
function readerOf(
  { listNamespaces, scenarioOf = () => Promise.resolve(null), readPack }: DispatcherOptions,
  isOffered: (tool: string) => boolean,
  call: Call,
  { auditor }: CallAudit,
): Reader {
  return {
    call,
    namespaces: async (begun) =>
      isOffered("scenarios_list") ? await listNamespaces?.(begun, call) ?? NO_NAMESPACES : NO_NAMESPACES,
    scenarioOf,
    pack: async (identity, part) => await readPack?.(identity, part, isOffered, { ...call, auditor }) ?? null,
  };
}

const UNAUDITED: CallAudit = {
  auditor: { decided: () => undefined, acquired: () => undefined, begin: () => Promise.resolve(true) },
  answered: () => Promise.resolve(),
  stopped: () => undefined,
};

function unaudited(): CallAudit {
  return UNAUDITED;
}

/** @param known The tools that may be called: the hint names only these */
function unknownTool(name: string, known: readonly string[]): EdgeError {
  const shown = name.length > 128 ? `${name.slice(0, 128)}...` : name;
  const near = nearestNames(name, known).map((one) => JSON.stringify(one));
  const hint = near.length === 0 ? "" : `; did you mean ${near.join(" or ")}?`;
  return {
    kind: "invalid_params",
    message: `Unknown tool ${JSON.stringify(shown)}: tools/list names the tools${hint}`,
    path: "$.params.name",
  };
}

/** Rejects a tool that `tools/list` names; its existence is not secret. */
function toolNotAllowed(name: string, { principal }: Call): ToolAnswer {
  const why = principal.authMethod === "local"
    ? "server.auth.allowed_tools does not list it"
    : "it is not among the tools that callers may use";
  const message = `Cannot call ${JSON.stringify(name)}: ${why}`;
  return { ok: false, error: { code: "tool_not_allowed", kind: "unauthorized", message, retryable: false } };
}
