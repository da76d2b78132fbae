/** `gate.hooks.yaml`: which law a host of agents asks before an agent stops, or uses a tool. */

import { dirname, join, resolve } from "node:path";
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, member } from "../../canonical/json.ts";
import { listOf, object, type Read } from "../../canonical/shape.ts";
import { characters, optional, patterned, table } from "../../canonical/table_shape.ts";
import { decodeInput } from "../../tools/framework/decode.ts";
import { readSource } from "../scenario/source.ts";
import { CliError } from "../terminal/cli_error.ts";
import { shown } from "../terminal/text.ts";

const NAME = "gate.hooks.yaml";

/** Most entries for tools. */
const TOOLS_MAXIMUM = 64;

const ASKED = {
  law: characters(1, 4096),
  parameters: optional(object),
  run_key: optional(characters(1, 1024)),
};

const match = patterned(characters(1, 256), /^[^*]+\*?$|^\*$/, "the name of a tool, with at most one * at its end");

const STOP_MISSING = '$.stop: Member is required: expected an object with "law"';
const TOOL_MISSING = '$.tool: Member is required: expected a list of objects with "match" and "law"';

const STOP = table(ASKED);

type AskedEntry = Read<typeof STOP>;

const HOOKS = table({
  stop: optional(STOP),
  tool: optional(listOf(table({ match, ...ASKED }), TOOLS_MAXIMUM, 1)),
});

/** A law that is asked. */
export interface AskedLaw {
  readonly law: string;
  /** Values of parameters, as `--parameter` takes them. */
  readonly parameters: readonly string[];
  /** Null for the session of the host. */
  readonly run_key: string | null;
}

/**
 * The file of hooks: the given one, else the first above a folder.
 *
 * @throws {CliError} `usage`
 */
export async function findHooks(given: string | undefined, cwd: string): Promise<string> {
  if (given !== undefined) return resolve(given);
  for (let folder = resolve(cwd);; folder = dirname(folder)) {
    const file = join(folder, NAME);
    // What cannot be read is there: a file further above must not stand in for it.
    const isMissing = await Deno.lstat(file).then(() => false, (error) => error instanceof Deno.errors.NotFound);
    if (!isMissing) return file;
    if (folder === dirname(folder)) break;
  }
  throw new CliError("usage", `Cannot find ${NAME} in "${shown(cwd)}" or above it`);
}

/** The laws that a file of hooks names. */
export interface HookLaws {
  /** Before the agent stops; null where the file names none. */
  readonly stop: AskedLaw | null;
  /** Before a tool is used, null where the file names none. Several entries may name one tool. */
  readonly tool: readonly (AskedLaw & { readonly match: string })[] | null;
}

/**
 * Reads a file of hooks.
 *
 * @throws {CliError} `usage`
 */
export async function readHooks(file: string): Promise<HookLaws> {
  const read = await readSource(file);
  if (!read.ok) throw unusable(file, [read.fault.message]);
  const { value } = read.source;
  const decoded = decodeInput(HOOKS, isJsonObject(value) ? value : { [NAME]: value });
  if (!decoded.ok) throw unusable(file, faultsIn(decoded.error.details));
  const { stop, tool } = decoded.input;
  return {
    stop: stop === undefined ? null : asked(file, stop),
    tool: tool?.map((entry) => ({ ...asked(file, entry), match: entry.match })) ?? null,
  };
}

/**
 * The laws that are asked before the agent stops, or before a tool is used.
 *
 * @throws {CliError} `usage` for a file that is no file of hooks, and where it has no member for what is asked
 */
export async function lawsAsked(file: string, tool: string | null): Promise<readonly AskedLaw[]> {
  const hooks = await readHooks(file);
  const laws = tool === null ? hooks.stop && [hooks.stop] : hooks.tool?.filter(({ match }) => isMatch(match, tool));
  if (laws) return laws;
  throw unusable(file, [tool === null ? STOP_MISSING : TOOL_MISSING]);
}

function isMatch(pattern: string, tool: string): boolean {
  return pattern.endsWith("*") ? tool.startsWith(pattern.slice(0, -1)) : pattern === tool;
}

function asked(file: string, { law, parameters = {}, run_key }: AskedEntry): AskedLaw {
  const faults: string[] = [];
  const pairs = Object.entries(parameters).map(([name, value]) => {
    if (value === null || typeof value === "object") faults.push(`parameter "${shown(name)}": Expected one value`);
    return `${name}=${value}`;
  });
  if (faults.length > 0) throw unusable(file, faults);
  return { law, parameters: pairs, run_key: run_key ?? null };
}

function faultsIn(details: JsonObject | undefined): readonly string[] {
  const issues: JsonValue = member(details ?? {}, "issues") ?? null;
  return (isJsonArray(issues) ? issues : []).filter(isJsonObject).map((issue) =>
    shown(`${member(issue, "path")}: ${member(issue, "message")}`)
  );
}

function unusable(file: string, faults: readonly string[]): CliError {
  return new CliError("usage", `Cannot use "${shown(file)}"`, null, undefined, faults);
}
