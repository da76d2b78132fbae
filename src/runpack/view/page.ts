/**
 * Renders a pack and its verification. `gate runpack show --html` and the verifier in the browser use the same markup.
 */

import { countOf } from "../../canonical/count.ts";
import { encodeBase64 } from "../../canonical/base64.ts";
import { decodeHex } from "../../canonical/hex.ts";
import type { Identity, Sha256 } from "../../canonical/identity.ts";
import type { PackView, PartView } from "../material_view.ts";
import { markIcon } from "../picture/draw_law.ts";
import { pictureOfRecords, type RunPicture } from "../picture/run_picture.ts";
import type { Admission } from "../verify/admission.ts";
import { derivationOf, resultLine } from "../verify/result_line.ts";
import type { Examination } from "../verify/verify.ts";
import { type Answer, renderAnswer } from "./answer.ts";
import { renderClaims } from "./claims.ts";
import { renderEvidence } from "./decisions.ts";
import { renderGraph } from "./graph.ts";
import { all, type Content, element, type Markup, styleElement } from "./markup.ts";
import { STYLE } from "./style.ts";
import { renderTimeline } from "./timeline.ts";
import { cut, expectationText, foundIn, gapText } from "./words.ts";

/** Records that a page shows by default. */
export const PAGE_RECORDS = 2000;

/** The content of a page. */
export interface PageContent {
  readonly examination: Examination;
  /** The decision on the pack, where something is expected of it. */
  readonly admission?: Admission;
  /** The runpack identity that was expected; null or absent where none was. */
  readonly expected?: Identity | null;
  readonly view: PackView | PartView;
  /** How many of the latest records are shown. */
  readonly records?: number;
}

/** The sections of a page: the answer, then what it follows from. */
export function renderPack(content: PageContent): Markup {
  const { examination, view, records = PAGE_RECORDS } = content;
  const [named, part] = "reason" in view ? [view.named, view.part] : [view, view];
  const run = part === null ? null : runOf(part);
  const shown = part === null || run === null ? null : { view: part, run };
  return all(
    renderAnswer(answerOf(content, shown)),
    "reason" in view ? element("p", { class: "note" }, gapText(view)) : "",
    shown === null ? "" : section("stages", "Stages", asRecorded(examination), renderGraph(shown.view, shown.run)),
    shown === null ? "" : section("evidence", "Evidence", renderEvidence(shown.view, shown.run)),
    part === null ? "" : section("records", "Records", renderTimeline(part, records, true)),
    section("claims", "Claims", renderClaims(examination)),
    named === null ? "" : section("names", "Identities", renderFacts(named)),
  );
}

/** Says above the drawing of a pack that contradicts itself that its states are only claimed. */
function asRecorded({ report }: Examination): Content {
  if (derivationOf(report) !== "violated") return "";
  return element(
    "p",
    { class: "banner bad" },
    markIcon("not_met"),
    "The runpack claims these states; they are not verified.",
  );
}

function answerOf({ examination, admission, expected = null }: PageContent, shown: Answer["shown"]): Answer {
  if (admission !== undefined) {
    const { line, reasons, signers, exit_code } = admission;
    const isAdmitted = exit_code === 0;
    return { examination, line, isAdmitted, reasons, signers, expected: "An admission was asked for.", shown };
  }
  const line = resultLine(examination);
  return { examination, line, isAdmitted: null, reasons: [], signers: [], expected: expectationText(expected), shown };
}

function runOf(view: PackView): RunPicture {
  const { law, records } = view;
  return pictureOfRecords(law.law, records.map(({ record }) => record), (item) => foundIn(view, item));
}

function section(id: string, title: string, ...content: readonly Content[]): Markup {
  return element("section", { id }, element("h2", {}, title), ...content);
}

function renderFacts({ manifest, runpack_identity }: Pick<PackView, "manifest" | "runpack_identity">): Markup {
  const { scenario_id, run_key, head, scenario_law_identity, withheld_conditions } = manifest;
  const fact = (name: string, value: Content): Content => [element("dt", {}, name), element("dd", {}, value)];
  const withheld = withheld_conditions.length === 0
    ? ""
    : fact("Withheld", `the values of ${withheld_conditions.join(", ")}`);
  return element(
    "dl",
    { class: "facts" },
    fact("Runpack", element("code", {}, runpack_identity)),
    fact("Scenario", all(element("b", {}, scenario_id), ` in namespace ${run_key.namespace_id}`)),
    fact("Law", element("code", {}, scenario_law_identity)),
    fact("Run", element("code", {}, run_key.run_id)),
    fact("Head", all(`revision ${head.revision}, `, element("code", {}, head.record_id))),
    withheld,
    fact("Records", countOf(head.revision, "record")),
  );
}

/** The hash of an inline script or style, as a content security policy writes it. */
export function policyHash(sha256: Sha256, content: string): string {
  return `'sha256-${encodeBase64(decodeHex(sha256(content)) ?? new Uint8Array())}'`;
}

/**
 * A document without a script. It loads and runs nothing, and its policy enforces that.
 *
 * @param sha256 Hashes the style sheet for the policy
 */
export function renderDocument(sha256: Sha256, content: PageContent): string {
  const { examination: { report }, view } = content;
  const named = "reason" in view ? view.named : view;
  const name = named?.manifest.scenario_id ?? `unknown name (${cut(report.runpack_identity ?? "no manifest", 12)})`;
  const body = element(
    "main",
    {},
    element("h1", {}, "Runpack of ", element("b", {}, name)),
    renderPack(content),
    element("footer", {}, "Made by gate. This page loads nothing and runs no script."),
  );
  return documentOf(`Runpack: ${name}`, `default-src 'none'; style-src ${policyHash(sha256, STYLE)}`, all(body));
}

/** A document with a title, a content security policy and a body. */
export function documentOf(title: string, policy: string, body: Markup): string {
  const closed = `${policy}; base-uri 'none'; form-action 'none'`;
  const head = element(
    "head",
    {},
    element("meta", { charset: "utf-8" }),
    element("meta", { "http-equiv": "Content-Security-Policy", content: closed }),
    element("meta", { name: "viewport", content: "width=device-width, initial-scale=1" }),
    element("meta", { name: "referrer", content: "no-referrer" }),
    element("meta", { name: "color-scheme", content: "light dark" }),
    element("title", {}, title),
    styleElement(STYLE),
  );
  return `<!doctype html>\n${
    element("html", { lang: "en" }, head, element("body", { class: "gate-graph" }, body)).markup
  }\n`;
}
