/**
 * The neutral core: which tools there are for a client, and one call from name and arguments to answer, whatever the
 * transport and protocol revision.
 *
 * @module
 */

import type { JsonObject } from "../canonical/json.ts";
import type { AuthConfig, ToolsConfig } from "../config/server_types.ts";
import type { Call, Tool, ToolAnswer, ToolName } from "../tools/types.ts";
import type { EdgeError } from "./edge_error.ts";
import type { Log } from "./log.ts";

/** What became of a call: the tool's own answer, or a failure at the edge. */
export type CallOutcome =
  | { readonly ok: true; readonly answer: ToolAnswer }
  | { readonly ok: false; readonly error: EdgeError };

/** The tools as a client may see and call them. */
export interface Dispatcher {
  /** The tools of `tools/list`, in the order of the table. */
  readonly listing: () => Promise<readonly Tool[]>;
  /** Calls a tool; never rejects. */
  readonly call: (name: string, input: JsonObject, call: Call) => Promise<CallOutcome>;
}

/** What a dispatcher needs. */
export interface DispatcherOptions {
  /** Gives the table of tools; called once, at the first list or call. */
  readonly loadTools: () => Promise<ReadonlyMap<ToolName, Tool>>;
  readonly tools: ToolsConfig;
  readonly auth: AuthConfig | null;
  readonly log: Log;
}

/** Makes the dispatcher for a configuration. */
export function createDispatcher(options: DispatcherOptions): Dispatcher {
  const permits = toolFilter(options.tools);
  const allowed = new Set<string>(options.auth?.allowed_tools ?? []);
  let loading: Promise<ReadonlyMap<ToolName, Tool>> | null = null;
  const load = (): Promise<ReadonlyMap<ToolName, Tool>> => loading ??= options.loadTools();

  const findTool = async (name: string, call: Call): Promise<Tool | EdgeError> => {
    const tool = permits(name) ? (await load()).get(name) : undefined;
    if (tool === undefined) return unknownTool(name);
    if (allowed.size > 0 && !allowed.has(name)) return toolNotAllowed(name, call);
    return tool;
  };

  return {
    listing: async () => {
      const tools = [...(await load()).values()];
      return options.tools.mode === "passthrough" ? tools : tools.filter((tool) => permits(tool.name));
    },
    call: async (name, input, call) => {
      try {
        const found = await findTool(name, call);
        if ("kind" in found) return { ok: false, error: found };
        return { ok: true, answer: await found.handle(input, call) };
      } catch (error) {
        return { ok: false, error: internalError(options.log, `tool ${name}`, error, call.correlationId) };
      }
    },
  };
}

/** Whether `server.tools` lets a tool be called: the denylist wins, an empty allowlist stands for all. */
export function toolFilter(config: ToolsConfig): (name: string) => boolean {
  const allowlist = new Set<string>(config.allowlist);
  const denylist = new Set<string>(config.denylist);
  return (name) => !denylist.has(name) && (allowlist.size === 0 || allowlist.has(name));
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
  const id = correlationId ?? `gate-${crypto.randomUUID()}`;
  const detail = thrown instanceof Error ? thrown.stack ?? thrown.message : String(thrown);
  log("error", `Unexpected failure in ${where}`, { correlation_id: id, detail });
  return { kind: "internal", message: "Internal error", correlationId: id };
}

function unknownTool(name: string): EdgeError {
  const shown = name.length > 128 ? `${name.slice(0, 128)}...` : name;
  return { kind: "invalid_params", message: `Unknown tool ${JSON.stringify(shown)}`, path: "$.params.name" };
}

function toolNotAllowed(name: string, call: Call): EdgeError {
  const message = call.principal.authMethod === "local"
    ? `Cannot call ${JSON.stringify(name)}: server.auth.allowed_tools does not list it`
    : "Unauthorized";
  return { kind: "unauthorized", message };
}
