/**
 * `gate hook`: answers a host of agents that asks before the agent stops, or before it uses a tool. Claude Code, Gemini
 * CLI and others take exit code 0 without output for yes, and 2 with the reason on standard error for no. They go on
 * after every other code, so a hook that cannot answer ends with 2 as well.
 */

import { dirname, join, resolve } from "node:path";
import { type JsonObject, member } from "../../canonical/json.ts";
import { readBelow } from "../../config/files.ts";
import { untilAborted } from "../../config/until_aborted.ts";
import { replaceFile, writeAll } from "../../runpack/host/files.ts";
import { readLawFile } from "../pipeline/inputs.ts";
import { describeDriven, type Driven, driveRun, type RunCommandFlags } from "../pipeline/run.ts";
import { CliError } from "../terminal/cli_error.ts";
import { EXIT } from "../terminal/exit_codes.ts";
import { readInputObject } from "../terminal/input.ts";
import { reportFailure } from "../terminal/output.ts";
import { type AskedLaw, findHooks, lawsAsked } from "./hooks_file.ts";

/** Answers in a row without a changed attempt, after which the answer says who can end this. */
const SAME_MAXIMUM = 8;

/** Milliseconds for an answer. Hosts end a slow hook, most after 60 s unless their settings say more, and then go on. */
const DEADLINE_MILLIS = 50_000;

/** The flags of `gate hook stop` and `gate hook tool`. */
export interface HookFlags extends RunCommandFlags {
  readonly hooks?: string;
  readonly input?: string;
}

/** What a host says. Its other members are its own. */
interface HostInput {
  readonly session: string;
  readonly cwd: string;
  /** The tool that is about to be used; null before a stop. */
  readonly tool: string | null;
  /** Whether the agent goes on because of an earlier answer. */
  readonly isAgain: boolean;
}

/** Runs `gate hook stop`: 0 where the run of the law is complete, else 2. */
export function runHookStop(flags: HookFlags): Promise<number> {
  return answered(flags, (input) => hostInput(input, false));
}

/** Runs `gate hook tool`: 0 where no law is asked about the tool, or where all of their runs are complete, else 2. */
export function runHookTool(flags: HookFlags): Promise<number> {
  return answered(flags, (input) => hostInput(input, true));
}

async function answered(flags: HookFlags, read: (input: JsonObject) => HostInput): Promise<number> {
  const late = AbortSignal.timeout(DEADLINE_MILLIS);
  try {
    await untilAborted(answer(flags, read), late);
    return EXIT.ok;
  } catch (error) {
    const message = `Cannot answer within ${DEADLINE_MILLIS / 1000} s: the server, a provider or a file is too slow`;
    reportFailure(late.aborted ? new CliError("unreachable", message) : error, flags.json === true);
    return EXIT.usage;
  }
}

async function answer(flags: HookFlags, read: (input: JsonObject) => HostInput): Promise<void> {
  const host = read(await readInputObject(flags.input ?? "-"));
  const file = await findHooks(flags.hooks, host.cwd);
  const laws = await lawsAsked(file, host.tool);
  const named = absoluteFiles(flags);
  // The file is the reader's place: laws, the configuration and the store lie beside it.
  Deno.chdir(dirname(file));
  for (const law of laws) await requireComplete(law, host, named);
}

/** Files of flags are named from the folder of the process, whatever the file of hooks is. */
function absoluteFiles(flags: HookFlags): HookFlags {
  const names = ["config", "dataDir", "tokenFile", "clientCert", "clientKey", "evidenceKeys"] as const;
  const given = names.flatMap((name) => flags[name] === undefined ? [] : [[name, resolve(flags[name])]]);
  return { ...flags, ...Object.fromEntries(given) };
}

/** @throws {CliError} `refused`: what the run is missing */
async function requireComplete(asked: AskedLaw, host: HostInput, flags: HookFlags): Promise<void> {
  const source = await readLawFile(asked.law, {});
  const run = { ...flags, parameter: asked.parameters, runKey: asked.run_key ?? host.session };
  const driven = await driveRun(run, source, 0);
  if (driven.standing.status === "complete") return;
  const same = await countSame(driven, host);
  const lines = describeDriven(driven, false).trimEnd().split("\n").filter((line) => line.trim() !== "");
  if (same > SAME_MAXIMUM) {
    lines.push(
      `This is answer ${same} in a row, and nothing has changed. A person has to look: at what is missing, or at the law "${asked.law}".`,
    );
  }
  const what = host.tool === null ? "stop" : `use tool ${JSON.stringify(host.tool)}`;
  throw new CliError("refused", `Cannot ${what} yet: the law is not satisfied`, null, EXIT.usage, lines);
}

/**
 * How often in a row a run was found as it is now. The count is in the working folder, where the agent may change it:
 * it decides nothing but the words of an answer.
 */
async function countSame({ standing: { run_key, head } }: Driven, { cwd, isAgain }: HostInput): Promise<number> {
  const folder = join(cwd, ".gate", "hooks");
  // A link would let the agent replace what the user of the host can write, and a pipe would never end the reading.
  for (const part of [dirname(folder), folder]) {
    await Deno.mkdir(part).catch(() => {});
    if ((await Deno.lstat(part).catch(() => null))?.isDirectory !== true) return 1;
  }
  const kept = await readBelow(folder, run_key.run_id, 64).catch(() => ({ bytes: new Uint8Array() }));
  if (!("bytes" in kept)) return 1;
  const [, count] = new RegExp(`^${head.revision} (\\d{1,6})$`).exec(new TextDecoder().decode(kept.bytes)) ?? [];
  const same = isAgain && count !== undefined ? Number(count) + 1 : 1;
  const text = new TextEncoder().encode(`${head.revision} ${same}`);
  await replaceFile(join(folder, run_key.run_id), (file) => writeAll(file, text)).catch(() => {});
  return same;
}

function hostInput(input: JsonObject, namesTool: boolean): HostInput {
  return {
    session: textOf(input, "session_id", 1024),
    cwd: textOf(input, "cwd", 4096),
    tool: namesTool ? textOf(input, "tool_name", 1024) : null,
    isAgain: member(input, "stop_hook_active") === true,
  };
}

function textOf(input: JsonObject, name: string, maximum: number): string {
  const value = member(input, name);
  if (typeof value === "string" && value !== "" && value.length <= maximum) return value;
  throw wrongInput(`${name} with 1 to ${maximum} characters`);
}

function wrongInput(expected: string): CliError {
  return new CliError("usage", `Cannot read what the host says: expected ${expected}`);
}
