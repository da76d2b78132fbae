import { countOf } from "../../canonical/count.ts";
import { canonicalize } from "../../canonical/canonicalize.ts";
import type { JsonValue } from "../../canonical/json.ts";
import { lawWords } from "../../law/words.ts";
import type { RunCreatedBody, StageOpenedBody } from "../../run/types.ts";
import type { PackView, ViewedRecord } from "../material_view.ts";
import { all, type Content, element, type Markup } from "./markup.ts";
import { decisionId, lastDecisions, renderDecision, verdictOf } from "./decisions.ts";
import { evidenceBody, statementDetails, statementVerb } from "./statements.ts";
import { row, shortened, table } from "./tables.ts";
import { instantText } from "../../canonical/instant_text.ts";
import { cut } from "./words.ts";

/** Characters of a value that are shown. */
const VALUE_CHARACTERS = 240;

/**
 * The latest records, in order.
 *
 * @param hasEvidence Whether the page shows the evidence of last decisions elsewhere ({@link renderEvidence}), for a link
 */
export function renderTimeline(view: PackView, most: number, hasEvidence = false): Markup {
  const { records } = view;
  const hidden = Math.max(0, records.length - most);
  const last = new Set(hasEvidence ? lastDecisions(view).map(({ revision }) => revision) : []);
  const before = hidden === 0 ? "" : element("p", { class: "note" }, `${countOf(hidden, "earlier record")} not shown.`);
  return all(
    before,
    element(
      "ol",
      { class: "timeline" },
      records.slice(hidden).map((one) => renderRecord(view, one, last.has(one.record.revision))),
    ),
  );
}

function renderRecord(view: PackView, viewed: ViewedRecord, isLast: boolean): Markup {
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
      record.record_kind !== "stage_evaluated"
        ? ""
        : isLast
        ? element("p", { class: "by" }, element("a", { href: `#${decisionId(record)}` }, "Its evidence"))
        : renderDecision(view, record.body, null),
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
      return headline(
        "Evaluated ",
        element("b", {}, stage_id),
        `, attempt ${attempt_number}: `,
        verdictOf(outcome),
        done,
      );
    }
    case "artifact_submitted": {
      const verb = statementVerb(view, viewed);
      if (verb !== null) return renderStatement(view, viewed, verb);
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
function renderStatement({ law }: PackView, viewed: ViewedRecord, verb: string): Markup {
  const body = evidenceBody(viewed.record);
  if (body === null) return all();
  const { condition_id, signature } = body.evidence;
  const sentence = lawWords(law.law).condition(condition_id);
  const value = viewed.statement?.value ?? null;
  return all(
    element(
      "h3",
      { class: "statement" },
      element("b", {}, signature.key_id),
      ` ${verb} `,
      element("b", {}, sentence),
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
      target === null ? "no target" : canonicalize(target as JsonValue),
      content_type,
      rule === null ? "default" : `rule ${rule}`,
      element("code", { title: content_hash.value }, shortened(content_hash.value)),
    );
  });
  return table("Disclosures", ["Packet", "Proposed to", "Content", "Permitted by", "sha256"], rows);
}
