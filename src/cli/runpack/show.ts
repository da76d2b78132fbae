/** `gate runpack show`: shows the stages, the timeline, each decision with its evidence, and the claims. */

import { canonicalize } from "../../canonical/canonicalize.ts";
import { countOf } from "../../config/problems.ts";
import { expressionText, lawWords } from "../../law/words.ts";
import type { PackView, PartView, ViewedRecord } from "../../runpack/material_view.ts";
import { parametersText } from "../run/parameters_text.ts";
import { neededText } from "../../run/missing/sentence.ts";
import type { RecordedEvidence, RunCreatedBody, StageEvaluatedBody } from "../../run/types.ts";
import { type Mark, MARKS, type Tone as PictureTone } from "../../runpack/picture/marks.ts";
import { type ConditionPicture, pictureOfRecords } from "../../runpack/picture/run_picture.ts";
import { evidenceBody, sourceText, statementDetails, statementVerb } from "../../runpack/view/statements.ts";
import { instantText } from "../../canonical/instant_text.ts";
import { cut, foundIn, gapText } from "../../runpack/view/words.ts";
import { EXIT } from "../terminal/exit_codes.ts";
import { writeAnswer } from "../terminal/output.ts";
import { showVerification } from "./claims.ts";
import type { RepositoryFlags } from "./open.ts";
import { refuseRuntimeTelemetry } from "../terminal/runtime_telemetry.ts";
import { exitCodeOf, fullReplay, verifyPack } from "./verify.ts";
import { withPartialView } from "./view.ts";
import { paint, shown, type Tone, wantsColour } from "../terminal/text.ts";

/** The flags of `gate runpack show`. */
export interface RunpackShowOptions extends RepositoryFlags {
  readonly all?: boolean;
  /** The file for the HTML page. */
  readonly html?: string;
  readonly recordedVerdicts?: boolean;
}

/** Records that are shown without `--all`. */
const SHOWN_RECORDS = 200;
/** Characters of a value that are shown. */
const VALUE_CHARACTERS = 60;

/** Runs `gate runpack show`. Returns 6 if a claim is violated, else 0. */
export async function runRunpackShow(named: string, flags: RunpackShowOptions): Promise<number> {
  refuseRuntimeTelemetry();
  return await withPartialView(named, flags, async (view, pack) => {
    const examination = await verifyPack(pack, fullReplay(flags));
    const { report, verdict_identity } = examination;
    const isSound = exitCodeOf(report) !== EXIT.verificationFailed;
    if (flags.html !== undefined) {
      const { writePage } = await import("./show_html.ts");
      await writePage(flags.html, view, examination, flags.all === true);
    }
    const shownPack = showPack(view, flags.all === true, wantsColour());
    const text = `${shownPack}\n\nClaims\n${showVerification(examination, null)}`;
    const exitCode = isSound ? EXIT.ok : EXIT.verificationFailed;
    return writeAnswer("runpack show", flags, { ...viewAsJson(view), report, verdict_identity }, text, { exitCode });
  });
}

/** The view as JSON; members that cannot be read are null or empty. */
function viewAsJson(view: PackView | PartView): object {
  const named = "reason" in view ? view.named : view;
  const part = "reason" in view ? view.part : view;
  return {
    runpack_identity: named?.runpack_identity ?? null,
    manifest: named?.manifest ?? null,
    law: part?.law.law ?? null,
    records: part?.records.map(({ record, record_id }) => ({ record_id, record })) ?? [],
  };
}

/** Formats the readable part of a pack, without its claims. */
function showPack(view: PackView | PartView, all: boolean, colour: boolean): string {
  const named = "reason" in view ? view.named : view;
  const part = "reason" in view ? view.part : view;
  return [
    ...named === null ? [] : [showHead(named)],
    ..."reason" in view ? [shown(gapText(view))] : [],
    ...part === null ? [] : [showStages(part, colour), showTimeline(part, all, colour)],
  ].join("\n\n");
}

function showHead({ manifest, runpack_identity }: Pick<PackView, "manifest" | "runpack_identity">): string {
  const { scenario_id, run_key, head, withheld_conditions } = manifest;
  return [
    `Runpack  ${runpack_identity}`,
    `Scenario ${shown(scenario_id)} in namespace ${run_key.namespace_id}, law ${manifest.scenario_law_identity}`,
    `Run      ${run_key.run_id} at revision ${head.revision} (${head.record_id})`,
    ...withheld_conditions.length === 0 ? [] : [`Withheld ${withheld_conditions.map(shown).join(", ")}`],
  ].join("\n");
}

/** The colours of a terminal for the tones of states. */
const TONES: Readonly<Partial<Record<PictureTone, Tone>>> = {
  good: "good",
  bad: "bad",
  refusal: "bad",
  absent: "warning",
  doubt: "warning",
};

/** Lists the stages with their states, prerequisites and requirements, and the conditions of stages that were opened. */
function showStages(view: PackView, colour: boolean): string {
  const { law, records } = view;
  const picture = pictureOfRecords(law.law, records.map(({ record }) => record), (item) => foundIn(view, item));
  const words = lawWords(law.law);
  const marked = (mark: Mark, text: string): string => {
    const { character, word, tone } = MARKS[mark];
    const painted = TONES[tone];
    const state = `${character} ${text}`;
    return `${painted === undefined ? state : paint(state, painted, colour)} ${word}`;
  };
  const lines = law.law.stages.flatMap(({ stage_id, prerequisite, completion_requirement }) => {
    const after = prerequisite.kind === "root" ? "" : `, after ${expressionText(prerequisite.requirement, shown)}`;
    const { mark = "blocked", conditions = new Map<string, ConditionPicture>() } = picture.stages.get(stage_id) ?? {};
    const isOpened = mark !== "blocked" && mark !== "ready";
    return [
      `  ${marked(mark, shown(stage_id))}${after}, needs ${shown(words.requirement(completion_requirement))}`,
      ...(isOpened ? [...conditions.values()] : []).map((one) =>
        `      ${marked(one.mark, shown(neededText(one, words)))}${one.detail === "" ? "" : `, ${shown(one.detail)}`}`
      ),
    ];
  });
  const whole = `  complete when ${expressionText(law.law.completion_requirement, shown)}`;
  return ["Stages", ...lines, whole].join("\n");
}

function showTimeline(view: PackView, all: boolean, colour: boolean): string {
  const { records } = view;
  const hidden = all ? 0 : Math.max(0, records.length - SHOWN_RECORDS);
  const lines = records.slice(hidden).flatMap((viewed) => showRecord(view, viewed, colour));
  const before = hidden === 0 ? [] : [`  ${countOf(hidden, "earlier record")} not shown: --all shows them`];
  return ["Timeline", ...before, ...lines].join("\n");
}

/** The values that the start of the run gave, one on each line. */
function parameterLines(genesis: RunCreatedBody["genesis"]): string[] {
  if (genesis.kind !== "parameters") return [];
  return genesis.parameters.map((one) => `         ${parametersText({ parameters: [one] })}`);
}

function showRecord(view: PackView, viewed: ViewedRecord, colour: boolean): string[] {
  const { record } = viewed;
  const at = instantText(record.acceptance_time.accepted_audit_instant);
  const head = (what: string): string => `  ${`${record.revision}`.padStart(5)}  ${at}  ${what}`;
  const by = `by ${shown(record.attribution.principal)}`;
  switch (record.record_kind) {
    case "run_created":
      return [head(`run created ${by}`), ...parameterLines(record.body.genesis)];
    case "stage_opened": {
      const { stage_id, intents } = record.body;
      const proposed = intents.length === 0 ? "" : `, ${countOf(intents.length, "intent")} proposed`;
      return [head(`opened ${shown(stage_id)} ${by}${proposed}`)];
    }
    case "stage_evaluated": {
      const { stage_id, attempt_number, run_status, completed } = record.body;
      const done = completed ? (run_status === "complete" ? ", run complete" : ", stage complete") : "";
      const verdict = paintOutcome(record.body.outcome, colour);
      return [
        head(`evaluated ${shown(stage_id)}, attempt ${attempt_number}: ${verdict}${done} ${by}`),
        ...showTrace(view, record.body, colour),
      ];
    }
    case "artifact_submitted": {
      const statement = showStatement(view, viewed);
      if (statement !== null) return [head(`${statement} ${by}`), ...detailLines(viewed)];
      const { content_type, content_hash, scope } = record.body;
      const where = scope.kind === "run_wide" ? "" : ` to ${shown(scope.stage_id)}`;
      return [head(`submitted ${shown(content_type)} sha256 ${content_hash.value.slice(0, 12)}…${where} ${by}`)];
    }
  }
}

/** A submission of evidence in words; null for any other record. */
function showStatement(view: PackView, viewed: ViewedRecord): string | null {
  const verb = statementVerb(view, viewed);
  const body = evidenceBody(viewed.record);
  if (verb === null || body === null) return null;
  const value = viewed.statement?.value ?? null;
  const said = value === null ? "" : `: ${cut(shown(canonicalize(value.value)), VALUE_CHARACTERS)}`;
  return `${shown(body.evidence.signature.key_id)} ${verb} ${
    shown(lawWords(view.law.law).condition(body.evidence.condition_id))
  }${said},`;
}

function detailLines(viewed: ViewedRecord): string[] {
  return statementDetails(viewed).map((one) => `${" ".repeat(11)}${shown(one)}`);
}

/** Lists each condition of a decision with its evidence. */
function showTrace(view: PackView, body: StageEvaluatedBody, colour: boolean): string[] {
  const seen = new Set<string>();
  const words = lawWords(view.law.law);
  return body.trace.flatMap(({ condition_id, value, reason }) => {
    if (seen.has(condition_id)) return [];
    seen.add(condition_id);
    const why = reason === undefined ? "" : ` (${reason.replaceAll("_", " ")})`;
    const items = body.evidence.filter((item) => item.condition_id === condition_id);
    return [
      `${" ".repeat(11)}${paintOutcome(value, colour)} ${shown(words.condition(condition_id))}${why}`,
      ...items.map((item) => `${" ".repeat(15)}${itemText(view, item)}`),
    ];
  });
}

function itemText(view: PackView, item: RecordedEvidence): string {
  const counts = item.qualified ? "" : ` — did not count: ${item.reason ?? item.error?.code ?? "error"}`;
  return shown(`${item.item_id} from ${sourceText(view, item)}: ${foundIn(view, item)}${counts}`);
}

function paintOutcome(outcome: "true" | "false" | "unknown", colour: boolean): string {
  return paint(outcome, outcome === "true" ? "good" : outcome === "false" ? "bad" : "warning", colour);
}
