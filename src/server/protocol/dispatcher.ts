/**
 * The neutral core: which tools there are for a client, and one call from name and arguments to answer, whatever the
 * transport and protocol revision.
 *
 * @module
 */

import { offeredTools, toolFilter } from "../../access/offered_tools.ts";
import type { JsonObject } from "../../canonical/json.ts";
import { nearestNames } from "../../canonical/nearest.ts";
import type { AuthConfig, ToolsConfig } from "../../config/types.ts";
import type { Call, NamespaceList, Tool, ToolAnswer, ToolName } from "../../tools/framework/types.ts";
import type { CallAudit } from "../audit/call_audit.ts";
import type { Consultation, Consulted } from "./read_request.ts";
import type { EdgeError } from "../process/edge_error.ts";
import type { Log } from "../process/log.ts";
import { type Offer, TOOLS_ALONE } from "./offer.ts";
import { watchStoreFaults } from "../process/store_faults.ts";
import { StartFailure } from "../process/start_failure.ts";

/** What became of a call: the tool's own answer, or a failure at the edge. */
export type CallOutcome =
  | { readonly ok: true; readonly answer: ToolAnswer }
  | { readonly ok: false; readonly error: EdgeError };

/** The tools as a client may see and call them, and what is offered besides. */
export interface Dispatcher {
  readonly offer: Offer;
  /** The tools of `tools/list`, in the order of the table. */
  readonly listing: () => Promise<readonly Tool[]>;
  /** Calls a tool; never rejects. */
  readonly call: (name: string, input: JsonObject, call: Call) => Promise<CallOutcome>;
  /** Lets a caller read of what is offered besides tools; never rejects. */
  readonly consult: <Found>(consultation: Consultation<Found>, call: Call) => Promise<Consulted<Found>>;
}

/** What a dispatcher needs. */
export interface DispatcherOptions {
  /** Gives the table of tools; called once, at the first list or call. */
  readonly loadTools: () => Promise<ReadonlyMap<ToolName, Tool>>;
  /** The namespaces that a caller may use and whose number begins with a text; without it none are told. */
  readonly listNamespaces?: (begun: string, call: Call) => Promise<NamespaceList>;
  readonly tools: ToolsConfig;
  readonly auth: AuthConfig | null;
  readonly log: Log;
  /** What is offered besides tools; nothing unless given. */
  readonly offer?: Offer;
  /** Gives what writes calls to the audit log; called once, at the first call. Without it nothing is written. */
  readonly loadCallAudit?: () => Promise<AuditCall>;
}

/** Begins to write a call to the audit log. */
export type AuditCall = (name: string, input: JsonObject, call: Call) => CallAudit;

/** What is told where no namespaces can be. */
export const NO_NAMESPACES: NamespaceList = { ids: [], isWhole: true };

/** Makes the dispatcher for a configuration. */
export function createDispatcher(options: DispatcherOptions): Dispatcher {
  const permits = toolFilter(options.tools);
  const lookForFaults = watchStoreFaults(options.log);
  const isOffered = offeredTools(options);
  let loading: Promise<ReadonlyMap<ToolName, Tool>> | null = null;
  let auditing: Promise<AuditCall> | null = null;
  const load = (): Promise<ReadonlyMap<ToolName, Tool>> => loading ??= options.loadTools();
  const loadAudit = (): Promise<AuditCall> => auditing ??= options.loadCallAudit?.() ?? Promise.resolve(unaudited);

  const callTool = async (name: string, input: JsonObject, call: Call, audit: CallAudit): Promise<CallOutcome> => {
    const tools = await load();
    const tool = permits(name) ? tools.get(name) : undefined;
    if (tool === undefined) {
      const error = unknownTool(name, [...tools.keys()].filter(isOffered));
      audit.stopped(error, "tool_unknown");
      return { ok: false, error };
    }
    const answer = isOffered(name)
      ? await tool.handle(input, { ...call, witness: audit.witness })
      : toolNotAllowed(name, call);
    lookForFaults(answer);
    await audit.answered(answer);
    return { ok: true, answer };
  };

  const audited = async <Outcome>(
    name: string,
    input: JsonObject,
    call: Call,
    where: string,
    work: (audit: CallAudit) => Promise<Outcome>,
  ): Promise<Outcome | { readonly ok: false; readonly error: EdgeError }> => {
    let audit: CallAudit | null = null;
    try {
      audit = (await loadAudit())(name, input, call);
      return await work(audit);
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
    call: (name, input, call) =>
      audited(name, input, call, `tool ${name}`, (audit) => callTool(name, input, call, audit)),
    consult: (consultation, call) =>
      audited(consultation.method, consultation.names, call, consultation.method, async (audit) => {
        const { consult } = await import("./read_request.ts");
        const namespaces = async (begun: string): Promise<NamespaceList> =>
          isOffered("scenarios_list") ? await options.listNamespaces?.(begun, call) ?? NO_NAMESPACES : NO_NAMESPACES;
        return await consult((options.auth?.principals.length ?? 0) > 0, consultation, { call, namespaces }, audit);
      }),
  };
}

const UNAUDITED: CallAudit = {
  witness: { decided: () => undefined, acquired: () => undefined, begin: () => Promise.resolve(true) },
  answered: () => Promise.resolve(),
  stopped: () => undefined,
};

function unaudited(): CallAudit {
  return UNAUDITED;
}

/**
 * Logs what was thrown where nothing should be, and gives the client an error that tells only how to find the entry.
 *
 * @param log Where the exception's own text goes
 * @param where What was being done
 * @param thrown What was thrown
 * @param correlationId The request's, or null to mint one
 */
export function internalError(log: Log, where: string, thrown: unknown, correlationId: string | null): EdgeError {
  // It is logged where it happened, once.
  if (thrown instanceof StartFailure) return thrown.edgeError;
  const id = correlationId ?? `gate-${crypto.randomUUID()}`;
  const detail = thrown instanceof Error ? thrown.stack ?? thrown.message : String(thrown);
  log("error", `Unexpected failure in ${where}`, { correlation_id: id, detail });
  return { kind: "internal", message: "Internal error", correlationId: id };
}

/** @param known The tools that may be called: no other is hinted at */
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

/** Refuses a tool that `tools/list` names: it is no secret that it exists. */
function toolNotAllowed(name: string, { principal }: Call): ToolAnswer {
  const why = principal.authMethod === "local"
    ? "server.auth.allowed_tools does not list it"
    : "it is not among the tools that callers may use";
  const message = `Cannot call ${JSON.stringify(name)}: ${why}`;
  return { ok: false, error: { code: "tool_not_allowed", kind: "unauthorized", message, retryable: false } };
}
