/** `gate replay RUNPACK --law FILE`: lists the decisions that a changed law would have made differently. */

import { countOf } from "../../config/problems.ts";
import {
  type Counterfactual,
  type CounterfactualDecision,
  type LeafDifference,
  replayUnder,
} from "../../runpack/replay.ts";
import { CliError } from "../terminal/cli_error.ts";
import { EXIT } from "../terminal/exit_codes.ts";
import { writeAnswer } from "../terminal/output.ts";
import { readLawFile } from "./law_file.ts";
import type { RepositoryFlags } from "./open.ts";
import { exitCodeOf, fullReplay, verifyPack } from "./verify.ts";
import { READER_PRIMITIVES, withView } from "./view.ts";

/** The flags of `gate replay`. */
export interface ReplayOptions extends RepositoryFlags {
  readonly law?: string;
  readonly recordedVerdicts?: boolean;
}

/** Runs `gate replay`. Returns 0 for any decisions, and 6 if the runpack itself does not verify. */
export async function runReplay(named: string, flags: ReplayOptions): Promise<number> {
  const law = await readLawFile(flags.law ?? "");
  return await withView(named, flags, async (view, pack) => {
    const { report } = await verifyPack(pack, fullReplay(flags));
    if (exitCodeOf(report) === EXIT.verificationFailed) {
      const message = `Cannot replay "${named}": the runpack does not verify`;
      throw new CliError("integrity_failure", message, "gate runpack verify shows why", EXIT.verificationFailed);
    }
    const counterfactual = replayUnder(view, law, READER_PRIMITIVES);
    const laws = { law_before: view.law.scenario_law_identity, law_after: law.scenario_law_identity };
    return writeAnswer("replay", flags, { ...laws, ...counterfactual }, describeReplay(counterfactual, laws));
  });
}

function describeReplay(
  counterfactual: Counterfactual,
  laws: { readonly law_before: string; readonly law_after: string },
): string {
  const { decisions, status_before, status_after, incomplete_stages, values_missing } = counterfactual;
  const changed = decisions.filter(({ differs }) => differs);
  const lines = [
    `Law in force ${laws.law_before}`,
    `Changed law  ${laws.law_after}`,
    changed.length === 0
      ? `None of ${countOf(decisions.length, "decision")} differs`
      : `${changed.length} of ${countOf(decisions.length, "decision")} differ`,
    ...changed.flatMap(describeDecision),
    status_before === status_after
      ? `The run is ${status_after} under both laws`
      : `The run is ${status_before}, and would be ${status_after}`,
  ];
  if (status_after !== "complete" && incomplete_stages.length > 0) {
    lines.push(`  not complete: ${incomplete_stages.join(", ")}`);
  }
  if (values_missing > 0) {
    lines.push(
      `  ${countOf(values_missing, "changed condition")} Unknown because the runpack does not contain the value`,
    );
  }
  return `${lines.join("\n")}\n`;
}

const STANDINGS: Readonly<Record<CounterfactualDecision["standing"], string>> = {
  possible: "",
  stage_removed: " (the changed law has no such stage)",
  blocked: " (the stage would not have been open)",
  already_complete: " (it would have been complete before)",
};

/** Why there is no decision: an attempt needs an open stage, and an opening needs a ready stage. */
function reasonOf({ kind, standing }: CounterfactualDecision): string {
  return kind === "open" && standing === "blocked" ? " (the stage would not have been ready)" : STANDINGS[standing];
}

function describeDecision(decision: CounterfactualDecision): string[] {
  const { revision, kind, stage_id, attempt_number, before, after, leaves } = decision;
  const what = kind === "open" ? `open ${stage_id}` : `${stage_id}, attempt ${attempt_number}`;
  return [
    `  revision ${revision}  ${what}: ${before} -> ${after ?? "no decision"}${reasonOf(decision)}`,
    ...leaves.map(({ condition_id, before, after }) =>
      `      ${condition_id}: ${leafText(before)} -> ${leafText(after)}`
    ),
  ];
}

function leafText(leaf: LeafDifference["before"]): string {
  if (leaf === null) return "not evaluated";
  return leaf.reason === undefined ? leaf.value : `${leaf.value} (${leaf.reason})`;
}
