/** `gate client call`, `gate client apply` and `gate client list`: the tools of a running server, for scripts. */

import type { JsonObject } from "../../canonical/json.ts";
import { loadConfig } from "../../config/load.ts";
import { type ServerFlags, type ServerSession, withServer } from "./connect.ts";
import type { ToolSession } from "../session/tool_session.ts";
import { exitCodeOfAnswer } from "./exit_code.ts";
import { callTool, listTools } from "./tools.ts";
import { EXIT } from "../terminal/exit_codes.ts";
import { readInputObject } from "../terminal/input.ts";
import { namedValues } from "../terminal/named_values.ts";
import { prettyJson, writeAnswer, writeError } from "../terminal/output.ts";
import { columns } from "../terminal/text.ts";

/** The flags of `gate client call`. */
export interface ClientCallFlags extends ServerFlags {
  readonly input?: string;
  readonly arg?: readonly string[];
  readonly set?: readonly string[];
}

/** Runs `gate client apply`: the tool `scenario_apply` with the operations of a file. */
export function runClientApply(file: string, rest: readonly string[], flags: ServerFlags): Promise<number> {
  return runClientCall("scenario_apply", rest, { ...flags, input: file }, "client apply");
}

/**
 * Runs `gate client call`; the exit code reflects the tool's answer.
 *
 * @param command The name of the command in its output
 */
export async function runClientCall(
  tool: string,
  rest: readonly string[],
  flags: ClientCallFlags,
  command = "client call",
): Promise<number> {
  const given = {
    ...flags.input === undefined ? {} : await readInputObject(flags.input),
    ...namedValues("--arg", flags.arg ?? []),
  };
  return await withServer(flags, rest, async (session) => {
    const input = flags.set === undefined ? given : await withSet(session, tool, given, flags.set);
    const answer = await callTool(session, tool, input);
    const code = exitCodeOfAnswer(answer);
    writeAnswer(command, flags, answer, prettyJson(answer), { exitCode: code });
    if (code === EXIT.ok && await isDiscarded(session, tool, flags)) writeError(`gate warn: ${DISCARDED}\n`);
    return code;
  });
}

async function withSet(
  session: ServerSession,
  tool: string,
  given: JsonObject,
  pairs: readonly string[],
): Promise<JsonObject> {
  const { withSetValues } = await import("./set_arguments.ts");
  const call: ToolSession["call"] = (name, input) => callTool(session, name, input);
  return await withSetValues({ call, namespaces: () => Promise.resolve(null) }, tool, given, pairs);
}

const DISCARDED =
  "the result of this call is lost: its server was started for it with a store in memory (gate init configures a store on disk)";

/** Whether a call wrote to a store in memory of a server that was started for the call. */
async function isDiscarded(session: ServerSession, tool: string, flags: ServerFlags): Promise<boolean> {
  if (flags.url !== undefined || flags.stdio !== undefined) return false;
  const { run_state_store: runs, schema_registry: schemas } = await loadConfig({ config: flags.config });
  if ((tool === "schemas_register" ? schemas : runs).type !== "memory") return false;
  const found = (await listTools(session)).find(({ name }) => name === tool);
  return found?.annotations?.readOnlyHint === false;
}

/** Runs `gate client list`. */
export function runClientList(rest: readonly string[], flags: ServerFlags): Promise<number> {
  return withServer(flags, rest, async (session) => {
    const tools = await listTools(session);
    const instructions = session.client.getInstructions() ?? null;
    return writeAnswer(
      "client list",
      flags,
      { instructions, tools },
      columns(tools.map(({ name, title }) => [name, title ?? ""])),
    );
  });
}
