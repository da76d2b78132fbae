/** Finds runs in an open run store by their id, or by the first digits of it. */

import { isOperationIdentity } from "../../canonical/identity.ts";
import type { RunKey } from "../../run/types.ts";
import type { RunStore } from "../../store/types.ts";
import { CliError } from "../terminal/cli_error.ts";

/** Runs of a page of a search. */
const PAGE = 1000;
/** Matches that the message about an ambiguous prefix shows. */
const SHOWN_MATCHES = 5;

/**
 * Checks the digits of a run.
 *
 * @param name How the message names them, such as `run` or `--run`
 * @throws {CliError} `usage` for anything but 4 to 32 lower-case hex digits
 */
export function requireRunDigits(name: string, digits: string): void {
  if (/^[0-9a-f]{4,32}$/.test(digits)) return;
  throw new CliError("usage", `Cannot use ${name} "${digits}": must be 4 to 32 lower-case hex digits`);
}

/**
 * The one run of a namespace, or of all for null, whose id begins with some digits. A whole id with its namespace is
 * not looked up.
 *
 * @throws {CliError} `usage` where several runs begin with them, `run_not_found`
 */
export async function findStoredRun(
  runs: Pick<RunStore, "listRuns">,
  digits: string,
  namespaceId: number | null,
): Promise<RunKey> {
  if (namespaceId !== null && isOperationIdentity(digits)) return { namespace_id: namespaceId, run_id: digits };
  const found: RunKey[] = [];
  // No id is shorter than the digits, so those that begin with them follow them.
  let after: RunKey | null = namespaceId === null ? null : { namespace_id: namespaceId, run_id: digits };
  for (let more = true; more;) {
    const page = await runs.listRuns(after, PAGE);
    for (const { run_key } of page) {
      const isThere = namespaceId === null || run_key.namespace_id === namespaceId;
      if (isThere && run_key.run_id.startsWith(digits)) found.push(run_key);
    }
    after = page.at(-1)?.run_key ?? null;
    const isPast = namespaceId !== null && after !== null &&
      (after.namespace_id !== namespaceId || !after.run_id.startsWith(digits));
    // Ids are random, so the first match of a whole one is the only one.
    more = page.length === PAGE && !isPast && !(isOperationIdentity(digits) && found.length > 0);
  }
  const [run, ...others] = found;
  if (run === undefined) {
    const where = namespaceId === null ? "the store" : `namespace ${namespaceId}`;
    throw new CliError("run_not_found", `Cannot find run "${digits}" in ${where}`);
  }
  if (others.length === 0) return run;
  throw ambiguousRun(digits, found);
}

/** The error for digits with which several runs begin. */
export function ambiguousRun(digits: string, found: readonly RunKey[]): CliError {
  const matches = found.slice(0, SHOWN_MATCHES).map(({ run_id }) => run_id);
  const rest = found.length > SHOWN_MATCHES ? " and more" : "";
  return new CliError(
    "usage",
    `Cannot use run "${digits}": it begins ${matches.join(", ")}${rest}`,
    "name more digits",
  );
}
