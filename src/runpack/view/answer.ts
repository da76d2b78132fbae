/** The answer above a page: whether the run is complete, where it is closed and why, and whether that was verified. */

import { countOf } from "../../canonical/count.ts";
import { layersOf } from "../../law/stage_layers.ts";
import { type LawWords, lawWords } from "../../law/words.ts";
import { neededText } from "../../run/missing/sentence.ts";
import type { PackView } from "../material_view.ts";
import { type Mark, MARKS } from "../picture/marks.ts";
import { markIcon } from "../picture/draw_law.ts";
import type { RunPicture, StagePicture } from "../picture/run_picture.ts";
import { markedWords } from "../picture/stage_list.ts";
import { type AdmissionReason, type AdmittedSigner, describeSigner } from "../verify/admission.ts";
import { type Derivation, derivationOf, gapsOf } from "../verify/result_line.ts";
import type { VerificationReport } from "../verify/types.ts";
import type { Examination } from "../verify/verify.ts";
import { claimsWith } from "./claims.ts";
import { type Content, element, type Markup } from "./markup.ts";
import { undecidableText } from "./words.ts";

/** Stages that the answer names, and conditions of each of them. */
const NAMED_STAGES = 8;
const NAMED_CONDITIONS = 8;
/** Signatures that the answer names. */
const NAMED_SIGNERS = 64;

/** What a page answers. */
export interface Answer {
  readonly examination: Examination;
  /** What the run came to, or the decision on it, in one line. */
  readonly line: string;
  /** The decision where something is expected of the pack; null where nothing is. */
  readonly isAdmitted: boolean | null;
  readonly reasons: readonly AdmissionReason[];
  /** Who signed, where the decision says it. */
  readonly signers: readonly AdmittedSigner[];
  readonly expected: string;
  /** The pack with its picture; null where it cannot be shown. */
  readonly shown: { readonly view: PackView; readonly run: RunPicture } | null;
}

/** The answer in words, then the line of the verification, then what no verification can show. */
export function renderAnswer(answer: Answer): Markup {
  const { examination: { report }, line, reasons, signers, expected, shown } = answer;
  const derivation = derivationOf(report);
  const { mark, title } = headOf(answer, derivation);
  const isTrusted = derivation !== "violated";
  return element(
    "section",
    { id: "answer", class: `answer ${MARKS[mark].tone}`, "aria-label": "Answer" },
    element("h2", {}, markIcon(mark), title),
    shown === null || shown.run.isComplete || !isTrusted ? "" : renderClosed(shown.view, shown.run),
    renderVerified(report, derivation),
    element("p", { id: "line", class: "line" }, line),
    reasons.length === 0 ? "" : element(
      "ul",
      {},
      reasons.map(({ code, message }) => element("li", {}, element("code", {}, code), ` ${message}`)),
    ),
    renderSigners(signers),
    element("p", { class: "quiet" }, undecidableText()),
    element("p", { class: "quiet" }, expected),
  );
}

function renderSigners(signers: readonly AdmittedSigner[]): Content {
  const left = signers.length - NAMED_SIGNERS;
  if (signers.length === 0) return "";
  return element(
    "ul",
    { id: "signers" },
    signers.slice(0, NAMED_SIGNERS).map((one) => element("li", {}, describeSigner(one))),
    left > 0 ? element("li", {}, `and ${countOf(left, "more signature")}`) : "",
  );
}

/** The mark and the words of the whole page. */
function headOf({ examination, isAdmitted, shown }: Answer, derivation: Derivation): {
  readonly mark: Mark;
  readonly title: string;
} {
  if (derivation === "violated") return { mark: "not_met", title: "Not verified: do not believe this page" };
  const decision = isAdmitted === null ? "" : isAdmitted ? "Admitted. " : "Not admitted. ";
  const status = examination.run?.status ?? null;
  if (derivation === "not_replayed") {
    return { mark: "unavailable", title: "Not verified: the records were not replayed" };
  }
  if (status === null) return { mark: "unavailable", title: `${decision}Not verified: the records were not all read` };
  const came = status === "complete" ? "Complete" : "Not complete";
  if (derivation !== "derived") return { mark: "unavailable", title: `${decision}${came} as recorded, not verified` };
  if (isAdmitted === false) return { mark: "not_met", title: `${decision}${came}, verified` };
  if (status === "complete") return { mark: "complete", title: `${decision}Complete, verified` };
  const isHeld = [...shown?.run.stages.values() ?? []].some(({ mark }) => mark === "held");
  return { mark: isHeld ? "held" : "open", title: `${decision}Not complete, verified` };
}

const CLOSED: ReadonlySet<Mark> = new Set<Mark>(["held", "waiting", "open", "ready"]);

/** The stages at which the run stands, each with the conditions that are not met. */
function renderClosed({ law: { law } }: PackView, run: RunPicture): Markup {
  const words = lawWords(law);
  const standing = layersOf(law.stages).flat().flatMap(({ stage_id }) => {
    const state = run.stages.get(stage_id);
    return state !== undefined && CLOSED.has(state.mark) ? [{ stage_id, state }] : [];
  });
  const left = standing.length - NAMED_STAGES;
  return element(
    "ul",
    { class: "closed" },
    standing.slice(0, NAMED_STAGES).map(({ stage_id, state }) =>
      element(
        "li",
        {},
        "Closed at ",
        element("b", {}, stage_id),
        ": ",
        markedWords(state.mark, state.detail),
        whyOf(state, words),
      )
    ),
    left > 0 ? element("li", {}, `and at ${countOf(left, "more stage")}`) : "",
  );
}

function whyOf({ mark, conditions }: StagePicture, words: LawWords): Content {
  const unmet = mark === "ready" ? [] : [...conditions.values()].filter((one) => one.mark !== "met");
  if (unmet.length === 0) return "";
  const left = unmet.length - NAMED_CONDITIONS;
  return element(
    "ul",
    {},
    unmet.slice(0, NAMED_CONDITIONS).map((one) =>
      element("li", {}, element("code", {}, neededText(one, words)), " ", markedWords(one.mark, one.detail))
    ),
    left > 0 ? element("li", {}, `and ${countOf(left, "more condition")}`) : "",
  );
}

/** Whether the decisions were derived again, and by which rules. */
function renderVerified(report: VerificationReport, derivation: Derivation): Markup {
  const [satisfied, violated, open] = (["satisfied", "violated", "unavailable"] as const).map((one) =>
    claimsWith(report, one)
  );
  const counts = `${satisfied} satisfied, ${violated} violated, ${open} not settled.`;
  const rules = `Rules: profile ${report.profile} by ${report.verifier_procedure}.`;
  if (derivation === "violated") {
    const warning = `${countOf(violated ?? 0, "claim")} violated: do not believe what this page shows.`;
    return element(
      "p",
      { role: "alert" },
      markIcon("not_met"),
      element("b", {}, warning),
      ` ${counts} ${rules}`,
    );
  }
  const [words, mark]: [string, Mark] = derivation === "derived"
    ? ["Every decision was derived again. Nothing contradicts this runpack.", "met"]
    : (satisfied ?? 0) > 0
    ? ["Not every decision was derived again. Nothing contradicts this runpack.", "unavailable"]
    : ["Nothing was settled.", "unavailable"];
  const gaps = derivation === "unavailable" ? ` Because of: ${gapsOf(report).join(", ")}.` : "";
  return element("p", { role: "status" }, markIcon(mark), element("b", {}, words), `${gaps} ${counts} ${rules}`);
}
