/**
 * `gate replay RUNPACK --law NEXT.json`: the decisions that a changed law would have made differently.
 *
 * @module
 */

import type { JsonValue } from "../canonical/json.ts";
import { decodeUtf8Strict, parseJson } from "../canonical/scan.ts";
import { countOf } from "../config/problems.ts";
import type { CompiledLaw } from "../run/compile.ts";
import {
  compileNextLaw,
  type Counterfactual,
  type CounterfactualDecision,
  type LeafDifference,
  replayUnder,
} from "../runpack/replay.ts";
import { CliError } from "./cli_error.ts";
import { EXIT } from "./exit_codes.ts";
import { writeOut, writeResult } from "./output.ts";
import { readBounded } from "./runpack_keys.ts";
import type { RepositoryFlags } from "./runpack_open.ts";
import { exitCodeOf, verdictsOf, verifyPack } from "./runpack_verify.ts";
import { READER_PRIMITIVES, withView } from "./runpack_view.ts";

/** The flags of `gate replay`. */
export interface ReplayOptions extends RepositoryFlags {
  readonly law?: string;
  readonly recordedVerdicts?: boolean;
  readonly json?: boolean;
}

/** Bytes of a specification. */
const LAW_BYTES = 16 * 1024 * 1024;

/** Runs `gate replay`; 0 whatever the changed law would have decided, 6 where the runpack itself does not verify. */
export async function runReplay(named: string, flags: ReplayOptions): Promise<number> {
  const law = await readLaw(flags.law ?? "");
  return await withView(named, flags, async (view, pack) => {
    const report = await verifyPack(pack, { ...verdictsOf(flags), profile: "full_replay_v1" });
    if (exitCodeOf(report) === EXIT.verificationFailed) {
      const message = `Cannot replay "${named}": the runpack does not verify`;
      throw new CliError("integrity_failure", message, "gate runpack verify says why", EXIT.verificationFailed);
    }
    const counterfactual = replayUnder(view, law, READER_PRIMITIVES);
    const laws = { law_before: view.law.scenario_law_identity, law_after: law.scenario_law_identity };
    if (flags.json === true) writeResult("replay", { ...laws, ...counterfactual });
    else writeOut(describe(counterfactual, laws));
    return EXIT.ok;
  });
}

async function readLaw(path: string): Promise<CompiledLaw> {
  const bytes = await readBounded(path, LAW_BYTES).catch((error: unknown) => {
    throw new CliError("usage", `Cannot read law "${path}": ${error instanceof Error ? error.message : String(error)}`);
  });
  const text = bytes.length > LAW_BYTES ? null : decodeUtf8Strict(bytes);
  const parsed = text === null ? null : parseJson(text);
  if (parsed === null) {
    throw new CliError("usage", `Cannot read law "${path}": expected UTF-8 of at most ${LAW_BYTES} bytes`);
  }
  if (!parsed.ok) {
    throw new CliError("usage", `Cannot read law "${path}": ${parsed.fault.path}: ${parsed.fault.message}`);
  }
  const compiled = compileNextLaw(READER_PRIMITIVES, specOf(parsed.value));
  if (compiled.ok) return compiled.law;
  const [first] = compiled.refusals;
  const more = compiled.refusals.length > 1 ? ` (and ${compiled.refusals.length - 1} more)` : "";
  throw new CliError(
    "usage",
    `Cannot use law "${path}": ${first?.path ?? "$"}: ${first?.message ?? "it is none"}${more}`,
  );
}

/** A specification, or the arguments of scenario_define that hold one. */
function specOf(value: JsonValue): JsonValue {
  const isCall = typeof value === "object" && value !== null && !Array.isArray(value) && Object.hasOwn(value, "spec");
  return isCall ? (value as { readonly spec: JsonValue }).spec : value;
}

function describe(
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
      `  ${countOf(values_missing, "changed condition")} Unknown for want of a value that the runpack does not hold`,
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

function describeDecision(
  { revision, kind, stage_id, attempt_number, standing, before, after, leaves }: CounterfactualDecision,
): string[] {
  const what = kind === "open" ? `open ${stage_id}` : `${stage_id}, attempt ${attempt_number}`;
  return [
    `  revision ${revision}  ${what}: ${before} -> ${after ?? "no decision"}${STANDINGS[standing]}`,
    ...leaves.map(({ condition_id, before, after }) =>
      `      ${condition_id}: ${leafText(before)} -> ${leafText(after)}`
    ),
  ];
}

function leafText(leaf: LeafDifference["before"]): string {
  if (leaf === null) return "not asked";
  return leaf.reason === undefined ? leaf.value : `${leaf.value} (${leaf.reason})`;
}
