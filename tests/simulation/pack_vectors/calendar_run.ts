/**
 * A run that the provider `calendar` holds until its window opens, and what a forger does to it.
 *
 * @module
 */

import { createCalendarEngine } from "../../../src/evidence/builtin/calendar_provider.ts";
import type { EvidenceResult } from "../../../src/evidence/types.ts";
import { measureValue, presentAnswer } from "../../../src/evidence/acquisition/present.ts";
import { builtinContract } from "../../../src/evidence/contract/builtin.ts";
import { constructLaw, graphIdentity, lawIdentity } from "../../../src/law/law.ts";
import { LAW_LIMITS } from "../../../src/law/limits.ts";
import { compileLaw } from "../../../src/run/compile.ts";
import { permissiveEnvironment } from "../../../src/runpack/verify/claims/scenario_law_construction.ts";
import { readLawText } from "../../../src/scenario/law_file.ts";
import { createCommand, environmentWith, evaluateCommand, NOW, openCommand, SHA256 } from "../kernel/fixture.ts";
import { forge, type Parts } from "../forged_packs/forge.ts";
import { type PlayedRun, playRun, type RunMove } from "../runpack/run.ts";
import type { Made } from "./rows.ts";

// The reading of the first attempt is 10:53 in Berlin, on a Thursday.
const LAW_TEXT = `law: change
evidence:
  in_window: window Thu 11:00-12:00 Europe/Berlin
stages:
  ship: in_window
`;
/** Milliseconds between the opening of the stage and each attempt. */
const ATTEMPTS = [0, 600_000];
/** The version of the time zone data, which differs from machine to machine. */
const TIME_ZONE_DATA = "2025b";

const READ = readLawText(LAW_TEXT);
if (!READ.ok) throw new TypeError("Cannot read the law");
const BUILT = constructLaw(READ.file.spec, { limits: LAW_LIMITS, ...permissiveEnvironment(READ.file.spec) });
if (!BUILT.ok) throw new TypeError("Cannot construct the law");
const LAW = compileLaw(BUILT.law, lawIdentity(SHA256, BUILT.law), graphIdentity(SHA256, BUILT.law));
const LOADED = builtinContract("calendar");

/** What the provider answers at an instant, by the data of {@link TIME_ZONE_DATA}. */
async function answerAt(value: number): Promise<EvidenceResult> {
  const [binding] = LAW.law.acquisition_bindings;
  const trigger_time = { kind: "unix_millis", value } as const;
  const query = { provider_id: "calendar", check_id: "open", params: binding?.params ?? null };
  const answer = await createCalendarEngine().answer(query, { namespace_id: 2, trigger_time }, AbortSignal.any([]));
  if (!answer.ok || answer.result.evidence_anchor === null) throw new TypeError("The calendar has no answer");
  const { anchor_type, anchor_value } = answer.result.evidence_anchor;
  const anchor = anchor_value.replace(/"time_zone_data":"[^"]*"/, `"time_zone_data":"${TIME_ZONE_DATA}"`);
  return { ...answer.result, evidence_anchor: { anchor_type, anchor_value: anchor } };
}

const ANSWERS = await Promise.all(ATTEMPTS.map((later) => answerAt(NOW + later)));

function attempt(index: number): RunMove {
  return (law, { head }, operation) => {
    const [binding] = law.law.acquisition_bindings;
    const condition = law.conditionIndex.get("in_window");
    const result = ANSWERS[index];
    if (binding === undefined || condition === undefined || result === undefined) {
      throw new TypeError("No such attempt");
    }
    const at = NOW + (ATTEMPTS[index] ?? 0);
    const trigger_time = { kind: "unix_millis", value: at } as const;
    const presenting = { selected: { binding }, resolved: false, trigger_time, condition, loaded: LOADED };
    const answer = { ok: true, result, acquired_at: at, grant: {} } as const;
    const measured = result.value === null ? null : measureValue(result.value);
    const acquired = [presentAnswer(presenting, answer, measured, null)];
    return evaluateCommand(operation, head, "ship", { acquired });
  };
}

/** Plays the run: its first attempt is before the window, its second within. */
function playCalendarRun(): PlayedRun {
  const { contract_identity, text } = LOADED;
  return playRun({
    law: LAW,
    environment: environmentWith(),
    start: createCommand({ contracts: [{ provider_id: "calendar", contract_identity }], schemas: [] }),
    moves: [(_law, { head }, operation) => openCommand(operation, head, "ship"), attempt(0), attempt(1)],
    clock: (move) => ATTEMPTS[move - 1] ?? 0,
    artifacts: [{ kind: "contract", identity: contract_identity, body: text }],
  });
}

/** A pack of the run, the claims that it violates, and the change. */
type CalendarRow = readonly [name: string, violates: Readonly<Record<string, string>>, change: (parts: Parts) => void];

const ROWS: readonly CalendarRow[] = [
  ["a run that a window holds, and lets through once it is open", {}, () => {}],
  ["an attempt before the window that holds", {
    operation_receipt_consistency: "result_mismatch: revision 3",
    evaluation_attempt_consistency: "outcome_mismatch: revision 3",
    pure_semantic_replay: "decision_mismatch: revision 3",
  }, (parts) => {
    parts.records[2].body.trace[0].value = "true";
  }],
  ["an answer that the window is open before it is", {
    operation_receipt_consistency: "result_mismatch: revision 3",
    evidence_retention_reconstruction: "content_hash_mismatch: revision 3, item 0",
    pure_semantic_replay: "decision_mismatch: revision 3",
    acquisition_admission_witness_reconstruction: "provider_result_mismatch: revision 3, item 0",
  }, (parts) => {
    const [early, open] = [2, 3].map((index) => parts.records[index].body.evidence[0]);
    early.value_identity = open.value_identity;
  }],
  ["a window that another law has", {
    scenario_law_construction: "law_identity_mismatch: revision 1",
  }, (parts) => {
    parts.law.acquisition_bindings[0].params.schedule = "Mon-Sun 00:00-24:00";
  }],
  ["the contract of the calendar left out", {
    run_allocation_integrity: `artifact_missing: contract ${LOADED.contract_identity}`,
    acquisition_admission_witness_reconstruction: "contract_missing: revision 3, item 0",
  }, (parts) => {
    parts.artifacts.splice(parts.artifacts.findIndex(({ kind }) => kind === "contract"), 1);
  }],
];

/** The rows of calendar.json. Its packs stand alone: they are like no base pack. */
export const CALENDAR_ROWS: readonly {
  readonly name: string;
  readonly violates: Readonly<Record<string, string>>;
  readonly make: () => Made;
}[] = ROWS.map(([name, violates, change]) => ({
  name,
  violates,
  make: () => ({ pack: forge(playCalendarRun(), change) }),
}));
