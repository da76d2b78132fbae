import { countOf } from "../../config/problems.ts";
import { comparePacks, type PackComparison } from "../../runpack/material_compare.ts";
import { EXIT } from "../terminal/exit_codes.ts";
import { writeAnswer } from "../terminal/output.ts";
import type { RepositoryFlags } from "./open.ts";
import { withView } from "./view.ts";

/** Runs `gate runpack diff A B`. Returns 6 if the records of one run fork, else 0. */
export function runRunpackDiff(a: string, b: string, flags: RepositoryFlags): Promise<number> {
  return withView(a, flags, (first) =>
    withView(b, flags, (second) => {
      const comparison = comparePacks(first, second);
      const exitCode = comparison.relation === "forked" ? EXIT.verificationFailed : EXIT.ok;
      return Promise.resolve(
        writeAnswer("runpack diff", flags, comparison, describeComparison(comparison), { exitCode }),
      );
    }));
}

const RELATIONS: Readonly<Record<PackComparison["relation"], string>> = {
  same: "Both are the same runpack",
  same_records: "Both have the same records",
  first_continues: "The first continues the second",
  second_continues: "The second continues the first",
  forked: "Both are of the same run, but their records fork: at most one of them is genuine",
  other_run: "They are of different runs",
};

function describeComparison(comparison: PackComparison): string {
  const { relation, shared_records, only_first, only_second } = comparison;
  const lines = [RELATIONS[relation], `  ${countOf(shared_records, "record")} in common`];
  if (only_first.length > 0) lines.push(`  ${countOf(only_first.length, "record")} only in the first`);
  if (only_second.length > 0) lines.push(`  ${countOf(only_second.length, "record")} only in the second`);
  for (const line of comparison.differences) {
    lines.push(`  ${line.what}: ${line.first || "none"} in the first, ${line.second || "none"} in the second`);
  }
  for (const { revision, summary } of relation === "first_continues" ? only_first : only_second) {
    lines.push(`  + ${revision} ${summary}`);
  }
  return `${lines.join("\n")}\n`;
}
