/** Counts, problems and progress of the commands that read whole stores, in words. */

import { countOf } from "../../config/problems.ts";
import type { StoreCounts, StoreProblem } from "../../store/check/check_types.ts";
import { writeError } from "../terminal/output.ts";

/** Runs long work; on a terminal, one line on standard error shows how far it is. */
export async function withProgress<Result>(
  quiet: boolean,
  work: (onProgress: (counts: Readonly<StoreCounts>) => void) => Promise<Result>,
): Promise<Result> {
  if (quiet || !Deno.stderr.isTerminal()) return await work(() => {});
  try {
    return await work(({ runs, records }) => {
      writeError(`\r${countOf(runs, "run")}, ${countOf(records, "record")} `);
    });
  } finally {
    writeError("\r\x1b[K");
  }
}

/** The contents of a store in words. */
export function describeCounts(counts: Readonly<Omit<StoreCounts, "material" | "artifacts">>): string {
  const { laws, runs, archived_runs, records, schemas, snapshots, typed_providers } = counts;
  return [
    countOf(laws, "law"),
    `${countOf(runs, "run")}${archived_runs === 0 ? "" : `, ${archived_runs} of them archived`}`,
    countOf(records, "record"),
    countOf(schemas, "schema"),
    ...typed_providers === 0 ? [] : [countOf(typed_providers, "typed provider")],
    countOf(snapshots, "snapshot"),
  ].join(", ");
}

/** Where a problem is. */
export function locationOf({ what, namespace_id, run_id, revision }: StoreProblem): string {
  const parts = [
    namespace_id === null ? "" : ` in namespace ${namespace_id}`,
    run_id === null ? "" : ` of run ${run_id}`,
    revision === null ? "" : ` at revision ${revision}`,
  ];
  return what + parts.join("");
}
