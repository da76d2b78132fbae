/** `gate client call`, `gate client apply` and `gate client list`: the tools of a running server, for scripts. */

import { isJsonObject, type JsonObject } from "../../canonical/json.ts";
import { decodeUtf8Strict, parseJson } from "../../canonical/scan.ts";
import { loadConfig } from "../../config/load.ts";
import { CliError } from "../terminal/cli_error.ts";
import { type ServerFlags, type ServerSession, withServer } from "./connect.ts";
import type { ToolSession } from "../session/tool_session.ts";
import { exitCodeOfAnswer } from "./exit_code.ts";
import { callTool, listTools } from "./tools.ts";
import { EXIT } from "../terminal/exit_codes.ts";
import { namedValues } from "../terminal/named_values.ts";
import { prettyJson, writeAnswer, writeError } from "../terminal/output.ts";
import { withoutByteOrderMark } from "../../config/files.ts";
import { reasonOf } from "../../store/file_reason.ts";
import { columns } from "../terminal/text.ts";
import { collectBytes } from "../../canonical/collect_bytes.ts";

/** The flags of `gate client call`. */
export interface ClientCallFlags extends ServerFlags {
  readonly input?: string;
  readonly arg?: readonly string[];
  readonly set?: readonly string[];
}

/** Maximum bytes of the arguments of a call. */
const INPUT_BYTES = 16 * 1024 * 1024;

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
  const given = { ...await readInput(flags.input), ...namedValues("--arg", flags.arg ?? []) };
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

async function readInput(file: string | undefined): Promise<JsonObject> {
  if (file === undefined) return {};
  const bytes = await readAll(file);
  const text = bytes === null ? null : decodeUtf8Strict(withoutByteOrderMark(bytes));
  if (text === null) {
    throw new CliError("usage", `Cannot read "${file}": expected UTF-8 of at most ${INPUT_BYTES} bytes`);
  }
  const parsed = parseJson(text);
  if (!parsed.ok) {
    throw new CliError("usage", `Cannot read "${file}": ${parsed.fault.path}: ${parsed.fault.message}`);
  }
  if (isJsonObject(parsed.value)) return parsed.value;
  throw new CliError("usage", `Cannot read "${file}": expected one JSON object`);
}

/** The bytes of a file; null if there are more than a call may have. */
async function readAll(file: string): Promise<Uint8Array | null> {
  const collected = collectBytes(INPUT_BYTES);
  try {
    for await (const chunk of file === "-" ? Deno.stdin.readable : (await Deno.open(file)).readable) {
      if (!collected.add(chunk)) return null;
    }
  } catch (error) {
    throw new CliError("usage", `Cannot read "${file}": ${reasonOf(error)}`);
  }
  return collected.bytes();
}
