/** `gate runs`: lists runs, newest first. */

import type { JsonObject } from "../../canonical/json.ts";
import { countOf } from "../../config/problems.ts";
import { instantText } from "../../canonical/instant_text.ts";
import type { ToolSession } from "../session/tool_session.ts";
import { CliError } from "../terminal/cli_error.ts";
import { writeAnswer } from "../terminal/output.ts";
import { columns, shown } from "../terminal/text.ts";
import { parametersText } from "./parameters_text.ts";
import { listRuns, namespacesOf, type RunFlags, type RunItem, withRunTools } from "./find_run.ts";

/** The flags of `gate runs`. */
export interface RunsFlags extends RunFlags {
  readonly scenario?: string;
  readonly law?: string;
  readonly status?: string;
  readonly correlation?: string;
  readonly limit?: string;
}

/** Runs that are listed without `--limit`. */
const RUNS_SHOWN = 20;
/** Digits of a run id in a table; more where two runs begin alike. */
const SHORT_DIGITS = 8;

/** Runs `gate runs`. */
export function runRuns(flags: RunsFlags): Promise<number> {
  const limit = limitOf(flags.limit);
  return withRunTools(flags, async (session) => {
    const { runs, more } = await newestRuns(session, flags, limit);
    const note = more ? `Only the newest ${countOf(runs.length, "run")}: --limit lists more\n` : "";
    return writeAnswer("runs", flags, { runs, more }, tableOf(runs), { note });
  });
}

function limitOf(given: string | undefined): number {
  if (given === undefined) return RUNS_SHOWN;
  const limit = /^\d{1,6}$/.test(given) ? Number(given) : 0;
  if (limit >= 1) return limit;
  throw new CliError("usage", `Cannot use --limit "${given}": must be an integer from 1 to 999999`);
}

/** The newest runs of all namespaces of a query. */
async function newestRuns(
  session: ToolSession,
  flags: RunsFlags,
  limit: number,
): Promise<{ readonly runs: readonly RunItem[]; readonly more: boolean }> {
  const filters = filtersOf(flags);
  const found: RunItem[] = [];
  for (const namespace_id of await namespacesOf(session, flags.namespace)) {
    found.push(...await runsOf(session, { ...filters, namespace_id }, limit + 1));
  }
  found.sort((a, b) => b.created_instant - a.created_instant || (a.run_key.run_id < b.run_key.run_id ? 1 : -1));
  return { runs: found.slice(0, limit), more: found.length > limit };
}

function filtersOf({ scenario, law, status, correlation }: RunsFlags): JsonObject {
  return {
    ...scenario === undefined ? {} : { scenario_id: scenario },
    ...law === undefined ? {} : { scenario_law_identity: law },
    ...status === undefined ? {} : { status },
    ...correlation === undefined ? {} : { correlation_id: correlation },
  };
}

async function runsOf(session: ToolSession, query: JsonObject, limit: number): Promise<readonly RunItem[]> {
  const found: RunItem[] = [];
  let cursor: string | null = null;
  do {
    const page: Awaited<ReturnType<typeof listRuns>> = await listRuns(session, {
      ...query,
      limit: Math.min(1000, limit - found.length),
      cursor,
    });
    found.push(...page.items);
    cursor = page.next;
  } while (cursor !== null && found.length < limit);
  return found;
}

function tableOf(runs: readonly RunItem[]): string {
  if (runs.length === 0) return "No runs.\n";
  const digits = digitsOf(runs);
  const named = runs.some(({ parameters }) => (parameters?.length ?? 0) > 0);
  const head = ["RUN", "NAMESPACE", "SCENARIO", "STATUS", "REVISION", "BEGUN", ...named ? ["PARAMETERS"] : []];
  return columns([
    head,
    ...runs.map((run) => [
      run.run_key.run_id.slice(0, digits),
      `${run.run_key.namespace_id}`,
      shown(run.scenario_id),
      run.archived === undefined ? run.status : "archived",
      `${run.accepted_head.revision}`,
      instantText(run.created_instant),
      ...named ? [parametersText(run)] : [],
    ]),
  ]);
}

/** How many digits tell the listed runs apart. */
function digitsOf(runs: readonly RunItem[]): number {
  for (let digits = SHORT_DIGITS; digits < 32; digits += 4) {
    if (new Set(runs.map(({ run_key }) => run_key.run_id.slice(0, digits))).size === runs.length) return digits;
  }
  return 32;
}
