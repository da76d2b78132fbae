/**
 * The timeline: every record in order, each decision with its evidence.
 *
 * @module
 */

import { canonicalize } from "../../canonical/canonicalize.ts";
import type { JsonValue } from "../../canonical/json.ts";
import type { RecordedEvidence, RunCreatedBody, StageEvaluatedBody, StageOpenedBody } from "../../run/types.ts";
import type { PackView, ViewedRecord } from "../material_view.ts";
import { all, type Content, element, type Markup } from "./markup.ts";
import { callerText, evidenceBody, statementDetails, statementVerb } from "./statements.ts";
import { absenceText, counted, cut, instantText } from "./words.ts";

/** Characters of a value that are shown. */
const VALUE_CHARACTERS = 240;
/** Digits of a shortened identity. */
const SHORT_IDENTITY = 12;

/** The latest records, in order. */
export function renderTimeline(view: PackView, most: number): Markup {
  const { records } = view;
  const hidden = Math.max(0, records.length - most);
  const before = hidden === 0
    ? ""
    : element("p", { class: "note" }, `${counted(hidden, "earlier record")} left out: they are verified, not shown.`);
  return all(
    before,
    element("ol", { class: "timeline" }, records.slice(hidden).map((one) => renderRecord(view, one))),
  );
}

function renderRecord(view: PackView, viewed: ViewedRecord): Markup {
  const { record, record_id } = viewed;
  const { revision, acceptance_time, attribution, operation } = record;
  return element(
    "li",
    { class: `record ${record.record_kind}`, id: `r${revision}` },
    element(
      "div",
      { class: "when" },
      element("span", { class: "revision" }, `${revision}`),
      element("time", {}, instantText(acceptance_time.accepted_audit_instant)),
    ),
    element(
      "div",
      { class: "what" },
      summaryOf(view, viewed),
      element(
        "p",
        { class: "by" },
        "by ",
        element("b", {}, attribution.principal),
        `, operation ${operation.identity}, record `,
        element("code", { title: record_id }, shortened(record_id)),
      ),
      record.record_kind === "stage_evaluated" ? renderDecision(view, record.body) : "",
      record.record_kind === "stage_opened" ? renderIntents(record.body) : "",
    ),
  );
}

function summaryOf(view: PackView, viewed: ViewedRecord): Markup {
  const { record } = viewed;
  const headline = (...content: readonly Content[]): Markup => element("h3", {}, ...content);
  switch (record.record_kind) {
    case "run_created":
      return all(headline("Run created"), renderParameters(record.body.genesis));
    case "stage_opened":
      return headline("Opened ", element("b", {}, record.body.stage_id));
    case "stage_evaluated": {
      const { stage_id, attempt_number, outcome, run_status } = record.body;
      const done = record.body.completed ? (run_status === "complete" ? ", run complete" : ", stage complete") : "";
      const verdict = element("span", { class: `verdict ${outcome}` }, outcome);
      return headline("Evaluated ", element("b", {}, stage_id), `, attempt ${attempt_number}: `, verdict, done);
    }
    case "artifact_submitted": {
      const verb = statementVerb(view, viewed);
      if (verb !== null) return renderStatement(viewed, verb);
      const { content_type, scope, content_hash } = record.body;
      const where = scope.kind === "run_wide" ? "" : ` to ${scope.stage_id}`;
      return all(
        headline("Submitted ", element("b", {}, content_type), where),
        element("p", { class: "by" }, "sha256 ", element("code", {}, content_hash.value)),
      );
    }
  }
}

/** A submission of evidence: who states what of which condition. */
function renderStatement(viewed: ViewedRecord, verb: string): Markup {
  const body = evidenceBody(viewed.record);
  if (body === null) return all();
  const { condition_id, signature } = body.evidence;
  const value = viewed.statement?.value ?? null;
  return all(
    element(
      "h3",
      { class: "statement" },
      element("b", {}, signature.key_id),
      ` ${verb} `,
      element("b", {}, condition_id),
      value === null ? "" : all(": ", element("code", {}, cut(canonicalize(value.value), VALUE_CHARACTERS))),
    ),
    ...statementDetails(viewed).map((one) => element("p", { class: "by" }, one)),
  );
}

/** The values that the start of the run gave. */
function renderParameters(genesis: RunCreatedBody["genesis"]): Content {
  if (genesis.kind !== "parameters") return "";
  const shown = genesis.parameters.map(({ parameter_id, value }) =>
    element(
      "li",
      {},
      element("b", {}, parameter_id),
      " ",
      element("code", {}, cut(canonicalize(value.value), VALUE_CHARACTERS)),
    )
  );
  return element("ul", { class: "parameters" }, shown);
}

function renderIntents({ intents, disclosures }: StageOpenedBody): Content {
  if (intents.length === 0) return "";
  const rows = intents.map(({ packet_id, target, content_type, content_hash }, index) => {
    const rule = disclosures[index]?.matched_rule ?? null;
    return row(
      packet_id,
      target === null ? "no target" : canonicalize(target as unknown as JsonValue),
      content_type,
      rule === null ? "default" : `rule ${rule}`,
      element("code", { title: content_hash.value }, shortened(content_hash.value)),
    );
  });
  return table(["Packet", "Proposed to", "Content", "Permitted by", "sha256"], rows);
}

/** Each condition of a decision with its judgement and its items. */
function renderDecision(view: PackView, body: StageEvaluatedBody): Markup {
  const seen = new Set<string>();
  const conditions = body.trace.filter(({ condition_id }) => {
    const isNew = !seen.has(condition_id);
    seen.add(condition_id);
    return isNew;
  });
  const rows = conditions.flatMap(({ condition_id, value, reason }) => {
    const items = body.evidence.filter((item) => item.condition_id === condition_id);
    const verdict = all(
      element("span", { class: `verdict ${value}` }, value),
      reason === undefined ? "" : ` ${reason}`,
    );
    const lines: readonly (RecordedEvidence | null)[] = items.length === 0 ? [null] : items;
    return lines.map((item, index) =>
      row(
        index === 0 ? element("b", {}, condition_id) : "",
        index === 0 ? verdict : "",
        ...item === null ? [element("span", { class: "quiet" }, "no evidence"), "", ""] : itemCells(view, item),
      )
    );
  });
  const left = body.narrowed_bindings.length === 0
    ? ""
    : element("p", { class: "note" }, `Not asked: ${body.narrowed_bindings.join(", ")}`);
  return all(table(["Condition", "Is", "Evidence", "Says", "Counts"], rows), left);
}

function itemCells(view: PackView, item: RecordedEvidence): readonly Content[] {
  const source = item.provider_id === undefined
    ? callerText(view, item)
    : `${item.provider_id} / ${item.binding_id ?? ""}`;
  const signed = item.signature === undefined ? "" : `, signed by ${item.signature.key_id}`;
  const anchored = item.anchor === undefined ? "" : `, anchored as ${item.anchor.anchor_type}`;
  const counts = item.qualified ? "yes" : `no: ${item.reason ?? item.error?.code ?? "error"}`;
  return [
    `${source}${signed}${anchored}`,
    evidenceText(view, item),
    element("span", { class: item.qualified ? "yes" : "no" }, `${counts} (${item.lane})`),
  ];
}

function evidenceText(view: PackView, item: RecordedEvidence): Markup {
  if (item.error !== undefined) return element("span", {}, `error ${item.error.code}: ${cut(item.error.message, 160)}`);
  if (item.found_nothing === true) return element("span", {}, "nothing found");
  const value = view.valueOf(item);
  const identity = item.value_identity ?? "";
  if (value === null) {
    return element("span", { class: "quiet", title: identity }, `${absenceText(view, item)} (${shortened(identity)})`);
  }
  return element("code", { title: identity }, cut(canonicalize(value.value as JsonValue), VALUE_CHARACTERS));
}

function shortened(identity: string): string {
  return `${identity.slice(0, SHORT_IDENTITY)}…`;
}

/** A row of a table. */
export function row(...cells: readonly Content[]): Markup {
  return element("tr", {}, cells.map((cell) => element("td", {}, cell)));
}

/** A table with a heading over each column. */
export function table(headings: readonly string[], rows: readonly Markup[]): Markup {
  const head = element("tr", {}, headings.map((heading) => element("th", { scope: "col" }, heading)));
  return element(
    "div",
    { class: "scroll" },
    element("table", {}, element("thead", {}, head), element("tbody", {}, rows)),
  );
}
