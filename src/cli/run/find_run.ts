/** Finds runs by their id, or by the first digits of it, through `runs_list`. */

import { isJsonArray, type JsonObject, type JsonValue } from "../../canonical/json.ts";
import { loadConfig } from "../../config/load.ts";
import type { WaitingCondition } from "../../run/missing/waiting.ts";
import type { Correlation, Head, RunKey, RunStatus } from "../../run/types.ts";
import {
  mustCall,
  namesServer,
  type ServerAddressFlags,
  type ToolSession,
  withLocalSession,
  withServerSession,
} from "../session/tool_session.ts";
import { requireFile, storeFile, withPipelineStore } from "../store/files.ts";
import type { Archived } from "../../store/types.ts";
import { CliError } from "../terminal/cli_error.ts";
import { dataDirOf } from "../terminal/data_dir.ts";
import { parseNamespace } from "../terminal/namespace_flag.ts";
import { ambiguousRun, requireRunDigits } from "./stored_run.ts";
import type { ConfigFlags } from "../terminal/output.ts";

/** The flags that all commands on runs have. */
export interface RunFlags extends ServerAddressFlags, ConfigFlags {
  readonly namespace?: string;
  /** The folder of the keys of people, for tools of this process. */
  readonly evidenceKeys?: string;
}

/** A run as `runs_list` lists it. */
export interface RunItem {
  readonly run_key: RunKey;
  readonly scenario_id: string;
  readonly scenario_law_identity: string;
  readonly parameters?: readonly { readonly parameter_id: string; readonly value: { readonly value: JsonValue } }[];
  readonly correlation: Correlation;
  readonly status: RunStatus;
  readonly accepted_head: Head;
  readonly created_instant: number;
  /** Absent for a run whose records are in the store. */
  readonly archived?: Archived;
  /** What waits in the run, where the listing includes it. */
  readonly waiting?: readonly WaitingCondition[];
  /** Why the run cannot be read. */
  readonly unreadable?: string;
}

/** Runs of a page of a search. */
const PAGE = 1000;

/** Runs a body with the tools of `--server`, else with those on the run store of the configuration. */
export async function withRunTools<Result>(
  flags: RunFlags,
  body: (session: ToolSession) => Promise<Result>,
): Promise<Result> {
  if (namesServer(flags)) return await withServerSession(flags, body);
  const config = await withPipelineStore(await loadConfig(flags));
  if (config.run_state_store.type !== "postgres") await requireFile(storeFile(config, "run_state_store"));
  return await withLocalSession(config, body, {
    dataDir: dataDirOf(config, flags.dataDir),
    evidenceKeys: flags.evidenceKeys ?? null,
  });
}

/** The namespaces of `--namespace`, else all that the caller may read. */
export async function namespacesOf(session: ToolSession, given: string | undefined): Promise<readonly number[]> {
  if (given !== undefined) return [parseNamespace(given)];
  const found = await session.namespaces();
  if (found !== null) return found;
  throw new CliError("usage", "Cannot list the namespaces of the server", "name one with --namespace");
}

/** A page of runs, newest first. */
export async function listRuns(
  session: ToolSession,
  query: JsonObject,
): Promise<{ readonly items: readonly RunItem[]; readonly next: string | null }> {
  const answer = await mustCall(session, "runs_list", query);
  const items = answer["items"];
  const next = answer["next_token"];
  return {
    items: (isJsonArray(items ?? null) ? items : []) as unknown as readonly RunItem[],
    next: typeof next === "string" ? next : null,
  };
}

/** All runs of namespaces whose id begins with a prefix; for a whole id the search ends with the first. */
async function matchingRuns(
  session: ToolSession,
  namespaces: readonly number[],
  prefix: string,
): Promise<readonly RunItem[]> {
  const found: RunItem[] = [];
  for (const namespace_id of namespaces) {
    let cursor: string | null = null;
    do {
      const page: Awaited<ReturnType<typeof listRuns>> = await listRuns(session, { namespace_id, limit: PAGE, cursor });
      found.push(...page.items.filter(({ run_key }) => run_key.run_id.startsWith(prefix)));
      if (prefix.length === 32 && found.length > 0) return found;
      cursor = page.next;
    } while (cursor !== null);
  }
  return found;
}

/**
 * The one run whose id begins with some digits.
 *
 * @throws {CliError} `usage` for other characters and for a prefix of several runs, `run_not_found`
 */
export async function findRun(session: ToolSession, flags: RunFlags, prefix: string): Promise<RunItem> {
  requireRunDigits("run", prefix);
  const [run, ...others] = await matchingRuns(session, await namespacesOf(session, flags.namespace), prefix);
  if (run === undefined) {
    const where = flags.namespace === undefined ? "" : ` in namespace ${flags.namespace}`;
    throw new CliError("run_not_found", `Cannot find run "${prefix}"${where}`, "gate runs lists the runs");
  }
  if (others.length === 0) return run;
  throw ambiguousRun(prefix, [run, ...others].map(({ run_key }) => run_key));
}
