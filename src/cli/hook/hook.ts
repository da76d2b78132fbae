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
import type { ScenarioLaw } from "../../law/types.ts";
import { readLawFile } from "../pipeline/inputs.ts";
import { creationRequest, describeDriven, type Driven, driveRun, type RunCommandFlags } from "../pipeline/run.ts";
import type { Source } from "../scenario/source.ts";
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
    try {
      reportFailure(late.aborted ? new CliError("unreachable", message) : error, flags.json === true);
    } catch {
      // Standard error cannot be written. The code blocks all the same.
    }
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
  const run = { ...flags, parameter: asked.parameters };
  const driven = asked.run_key === null
    ? await driveSession(run, source, asked, host)
    : await driveRun({ ...run, runKey: asked.run_key }, source, 0);
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
 * Drives the run of a session. The work may have changed since a run was complete, so the session then begins another
 * run, with evidence of now. What people have signed holds for the session.
 */
async function driveSession(
  flags: HookFlags,
  source: Source,
  { law, parameters }: AskedLaw,
  { session, cwd }: HostInput,
): Promise<Driven> {
  const name = creationRequest(session, law, { parameters });
  // An earlier run than the last costs time, and a later one is a new one.
  const kept = Number(/^[1-9]\d{0,5}$/.exec(await readKept(cwd, name))?.[0] ?? 1);
  for (let ordinal = kept;; ordinal++) {
    const runKey = ordinal === 1 ? session : `${session} ${ordinal}`;
    const driven = await driveRun({ ...flags, runKey }, source, 0);
    const isOfBefore = driven.standing.status === "complete" && driven.looks.every(({ recorded }) => recorded === 0);
    if (isOfBefore && !asksPeople(driven.law)) continue;
    if (ordinal > kept) await keep(cwd, name, `${ordinal}`);
    return driven;
  }
}

function asksPeople({ conditions }: ScenarioLaw): boolean {
  return conditions.some((one) => one.evidence_use_policy.allowed_channels.includes("accepted_submission"));
}

/** How often in a row a run was found as it is now. */
async function countSame({ standing: { run_key, head } }: Driven, { cwd, isAgain }: HostInput): Promise<number> {
  const [, count] = new RegExp(`^${head.revision} (\\d{1,6})$`).exec(await readKept(cwd, run_key.run_id)) ?? [];
  const same = isAgain && count !== undefined ? Number(count) + 1 : 1;
  await keep(cwd, run_key.run_id, `${head.revision} ${same}`);
  return same;
}

/**
 * Where numbers are kept: in the working folder, where the agent may change them. They decide nothing but the words of an
 * answer, and how long it takes. Null where links or files stand in the way.
 */
async function keptFolder(cwd: string, isMade: boolean): Promise<string | null> {
  const folder = join(cwd, ".gate", "hooks");
  // A link would let the agent replace what the user of the host can write, and a pipe would never end the reading.
  for (const part of [dirname(folder), folder]) {
    if (isMade) await Deno.mkdir(part).catch(() => {});
    if ((await Deno.lstat(part).catch(() => null))?.isDirectory !== true) return null;
  }
  return folder;
}

async function readKept(cwd: string, name: string): Promise<string> {
  const folder = await keptFolder(cwd, false);
  const kept = folder === null ? null : await readBelow(folder, name, 64).catch(() => null);
  return kept !== null && "bytes" in kept ? new TextDecoder().decode(kept.bytes) : "";
}

async function keep(cwd: string, name: string, text: string): Promise<void> {
  const folder = await keptFolder(cwd, true);
  if (folder === null) return;
  const bytes = new TextEncoder().encode(text);
  await replaceFile(join(folder, name), (file) => writeAll(file, bytes)).catch(() => {});
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
