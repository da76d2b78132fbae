/**
 * The run whose evidence waited, and what a forger does to its submissions and its evaluations.
 *
 * @module
 */

import { hashValue } from "../../../src/run/evidence.ts";
import { commentHash } from "../../../src/run/submitted_statement.ts";
import { int, KEY_1, KEY_2, NOW, SHA256 } from "../kernel/fixture.ts";
import { forge, type Parts } from "../forged_packs/forge.ts";
import { LAST_SUBMISSION as LAST, playSwappedValue, playWaiting, WAITING_LAW } from "../forged_packs/waiting.ts";
import { WHOLE } from "./cases.ts";
import type { Base, CodeName, Made } from "./rows.ts";
import { editsOf, repeatInReceipts } from "./statement_edits.ts";

/** A pack of the run, and the claims that it violates. */
export interface WaitingRow {
  readonly name: string;
  readonly code?: CodeName;
  readonly violates: Readonly<Record<string, string>>;
  readonly make: (base: Base) => Made;
}

const SUBMISSION = "submission_consistency";
const ADMISSION = "evidence_structural_admission";
const RULE = "evidence_use_policy_satisfaction";
const DECISION = "pure_semantic_replay";
const RETENTION = "evidence_retention_reconstruction";
const SOURCE = "source_authenticity";

const at = (code: string, revision = LAST): string => `${code}: revision ${revision}`;
const EVALUATED = LAST + 1;

/** An item under a key that did not sign it. */
const foreign = (item: number): Readonly<Record<string, string>> => ({
  [RULE]: `${at("lane_mismatch", EVALUATED)}, item ${item}`,
  [SOURCE]: `${at("signature_invalid", EVALUATED)}, item ${item}`,
});
const misjudged = (item: number): Readonly<Record<string, string>> => ({
  [RULE]: `${at("qualification_mismatch", EVALUATED)}, item ${item}`,
});

/** A row; without a code its claims are all that it shows. */
const row = (
  name: string,
  violates: Readonly<Record<string, string>>,
  change: (parts: Parts) => void,
  code?: CodeName,
): WaitingRow => ({
  name,
  ...code === undefined ? {} : { code },
  violates,
  make: ({ run }) => ({
    pack: forge(run, (parts) => {
      change(parts);
      repeatInReceipts(parts);
    }),
    request: { ...WHOLE, trusted_keys: [KEY_1.public_key, KEY_2.public_key] },
  }),
});

const { items, signed, unsigned, recorded, itemOf } = editsOf({
  law: WAITING_LAW,
  run: playWaiting(),
  last: LAST,
  key: KEY_2,
  statement: { value: int(1) },
});

const MISMATCH = { [ADMISSION]: at("submission_mismatch", EVALUATED), [DECISION]: at("decision_mismatch", EVALUATED) };
const UNEXPECTED = {
  [ADMISSION]: at("submission_unexpected", EVALUATED),
  [DECISION]: at("decision_mismatch", EVALUATED),
};
const MISSING = { [ADMISSION]: at("submission_missing", EVALUATED), [DECISION]: at("decision_mismatch", EVALUATED) };
/** What a rejected submission violates. */
const rejected = (code: string): Readonly<Record<string, string>> => ({
  [SUBMISSION]: at(code),
  [DECISION]: at("decision_mismatch"),
});

/** Evaluations that do not have exactly the evidence that waited. */
const EVALUATIONS: readonly WaitingRow[] = [
  row("a statement left out of an evaluation", MISSING, (parts) => items(parts).shift(), [
    ADMISSION,
    "submission_missing",
  ]),
  row(
    "a replaced statement beside the newest one",
    { ...UNEXPECTED, ...foreign(2) },
    (parts) => items(parts).push(itemOf(parts, 7)),
    [ADMISSION, "submission_unexpected"],
  ),
  row("a replaced statement in place of the newest one", { ...UNEXPECTED, ...foreign(1) }, (parts) => {
    items(parts)[1] = itemOf(parts, 7);
  }),
  row("a withdrawn statement that counts", { ...UNEXPECTED, ...foreign(0) }, (parts) => {
    items(parts).unshift(itemOf(parts, 3));
  }),
  row("a withdrawal that counts", { ...UNEXPECTED, ...foreign(0) }, (parts) => {
    items(parts).unshift(itemOf(parts, 4));
  }),
  row(
    "one statement twice",
    { ...UNEXPECTED, ...misjudged(2) },
    (parts) => items(parts).push({ ...items(parts)[1] }),
  ),
  row("statements in another order", MISMATCH, (parts) => items(parts).reverse(), [ADMISSION, "submission_mismatch"]),
  row("another time of an item", MISMATCH, (parts) => items(parts)[0].observed_at--),
  row(
    "another signer of an item",
    { ...MISMATCH, ...foreign(0) },
    (parts) => items(parts)[0].signature.key_id = "ci-2",
  ),
  row("an anchor of an item that waited", MISMATCH, (parts) => {
    items(parts)[0].anchor = { anchor_type: "commit", anchor_value: "{}" };
  }),
  row("an item without its record", {
    [ADMISSION]: at("item_invalid", EVALUATED),
    [DECISION]: at("decision_mismatch", EVALUATED),
    ...foreign(0),
  }, (parts) => delete items(parts)[0].submission_record_id),
  row("an item of a caller that names a record", MISSING, (parts) => {
    items(parts)[0].channel = "caller_submission";
    items(parts)[0].item_id = "caller:0";
  }),
  row("an item of the call in place of a statement", { ...MISSING, ...foreign(0) }, (parts) => {
    const { submission_record_id: _record, ...item } = items(parts)[0];
    items(parts)[0] = { ...item, channel: "caller_submission", item_id: "caller:0" };
  }),
  row("another value of an item", MISMATCH, (parts) => {
    const { identity, content_hash } = hashValue(SHA256, int(9));
    Object.assign(items(parts)[0], { value_identity: identity, content_hash });
  }),
  row("a refusal that does not count", {
    // The last statement names the record that was changed as seen.
    [SUBMISSION]: at("seen_head_mismatch"),
    [RULE]: "qualification_mismatch: revision 8, item 1",
    [DECISION]: at("decision_mismatch", 8),
  }, (parts) => {
    Object.assign(parts.records[7].body.evidence[1], { qualified: false, reason: "not_fresh" });
  }),
];

/** Submissions whose record is not what the payload gives. */
const RECORDED: readonly WaitingRow[] = [
  row(
    "another public key in the record",
    {
      ...rejected("evidence_mismatch"),
      [ADMISSION]: UNEXPECTED[ADMISSION] ?? "",
      ...foreign(0),
    },
    recorded((found) => found.public_key = KEY_1.public_key),
    [SUBMISSION, "evidence_mismatch"],
  ),
  row(
    "a withdrawal in the record alone",
    rejected("evidence_mismatch"),
    recorded((found) => found.value_identity = null),
  ),
  row("another time in the record", rejected("evidence_mismatch"), recorded((found) => found.observed_at++)),
  row("a later end in the record", rejected("evidence_mismatch"), recorded((found) => found.valid_until++)),
  row("no end in the record", rejected("evidence_mismatch"), recorded((found) => delete found.valid_until)),
  row("another head in the record", rejected("evidence_mismatch"), recorded((found) => found.seen_head.revision--)),
  row(
    "the hash of a comment that was not made",
    rejected("evidence_mismatch"),
    recorded((found) => found.comment_hash = commentHash(SHA256, "Now it is fine")),
  ),
  row(
    "a verdict of no schema",
    { [ADMISSION]: `${at("schema_verdict_mismatch", EVALUATED)}, item 1` },
    recorded((found) => found.schema_verdict = "valid"),
  ),
  row("no evidence in the record", {
    ...rejected("evidence_mismatch"),
    [ADMISSION]: UNEXPECTED[ADMISSION] ?? "",
    ...foreign(1),
  }, (parts) => {
    delete parts.records[LAST - 1].body.evidence;
  }),
  row("evidence of the older procedure", {
    [SUBMISSION]: at("evidence_mismatch", 3),
    [DECISION]: at("decision_mismatch", 3),
  }, (parts) => {
    for (const record of parts.records.slice(0, LAST)) record.procedure = "gate-kernel-1";
  }),
  row("evidence of another content type", rejected("evidence_mismatch"), (parts) => {
    parts.records[LAST - 1].body.content_type = "application/json";
  }),
];

/** Submissions that no kernel accepts. */
const SUBMISSIONS: readonly WaitingRow[] = [
  row("another statement of the same key", {}, signed({ valid_until: NOW + 60_000 })),
  row("another spelling of the content type", {}, (parts) => {
    parts.records[LAST - 1].body.content_type = "Application/VND.gate.evidence+json ;v=1";
  }),
  row("another comment", rejected("signature_invalid"), unsigned((payload) => payload.comment = "Ship it"), [
    SUBMISSION,
    "signature_invalid",
  ]),
  row("another value", rejected("signature_invalid"), unsigned((payload) => payload.value.value = 2)),
  row("another time", rejected("signature_invalid"), unsigned((payload) => payload.observed_at++)),
  row("a later end", rejected("signature_invalid"), unsigned((payload) => payload.valid_until++)),
  row("no end", rejected("signature_invalid"), unsigned((payload) => delete payload.valid_until)),
  row("another seen head", rejected("signature_invalid"), unsigned((payload) => payload.seen_head.revision--)),
  row(
    "a signature of another key",
    rejected("signature_invalid"),
    signed({}, { ...KEY_1, key_id: KEY_2.key_id, public_key: KEY_2.public_key }),
  ),
  row("a statement over another opening", rejected("signature_invalid"), (parts) => {
    const { evidence: { seen_head } } = parts.records[LAST - 1].body;
    const stage_open_record_id = SHA256("another opening");
    signed({ seen_head, stage_open_record_id })(parts);
  }),
  row("a statement of another run", rejected("signature_invalid"), signed({ run_id: "0".repeat(32) })),
  row("a statement under another law", rejected("signature_invalid"), signed({ scenario_law_identity: SHA256("law") })),
  row(
    "a key that is not trusted",
    {
      ...rejected("payload_invalid"),
      [RULE]: `${at("lane_mismatch", EVALUATED)}, item 1`,
    },
    signed({}, { ...KEY_2, key_id: "x" }),
    [
      SUBMISSION,
      "payload_invalid",
      2,
    ],
  ),
  row(
    "another condition",
    { ...rejected("payload_invalid"), [ADMISSION]: MISSING[ADMISSION] ?? "", ...misjudged(1) },
    signed({ condition_id: "d" }),
  ),
  row(
    "a value outside the domain",
    { ...rejected("payload_invalid"), [ADMISSION]: `${at("value_invalid", EVALUATED)}, item 1` },
    signed({ value: { value: 1.5, value_type: "Integer" } }),
  ),
  row("a value of another type", {
    ...rejected("payload_invalid"),
    [ADMISSION]: `${at("value_type_mismatch", EVALUATED)}, item 1`,
  }, signed({ value: { value: "1", value_type: "Decimal" } })),
  row("a withdrawal with an end", rejected("payload_invalid"), signed({ value: null, valid_until: NOW + 60_000 })),
  row("a payload with a member more", rejected("payload_invalid"), unsigned((payload) => payload.extra = 1)),
  row("an empty comment", rejected("payload_invalid"), signed({ comment: "" })),
  row("a scope that is the run", rejected("payload_invalid"), (parts) => {
    parts.records[LAST - 1].body.scope = { kind: "run_wide" };
  }),
  row(
    "a head before the opening",
    rejected("seen_head_mismatch"),
    signed({ seen_head: { record_id: playWaiting().records[0]?.record_id ?? "", revision: 1 } }),
    [SUBMISSION, "seen_head_mismatch"],
  ),
  row(
    "a head of another run",
    rejected("seen_head_mismatch"),
    signed({ seen_head: { record_id: SHA256("another run"), revision: 8 } }),
  ),
  row(
    "a head that is not there yet",
    rejected("seen_head_mismatch"),
    signed({ seen_head: { record_id: SHA256("later"), revision: LAST + 5 } }),
  ),
  row(
    "a statement that is not newer",
    rejected("statement_time_invalid"),
    signed({ observed_at: NOW + 7 }),
    [SUBMISSION, "statement_time_invalid"],
  ),
  row("a statement of the future", rejected("statement_time_invalid"), signed({ observed_at: NOW + 90_000 })),
  row(
    "a statement that has ended",
    { ...rejected("statement_time_invalid"), ...misjudged(1) },
    signed({ valid_until: NOW + LAST }),
  ),
];

/** The condition of the run, withheld with the payloads of its statements. */
const withhold = (change: (parts: Parts) => void) => (parts: Parts): void => {
  parts.withheld.push("c");
  for (const key of [...parts.bodies.keys()]) parts.bodies.delete(key);
  change(parts);
};

const WITHHELD: readonly WaitingRow[] = [
  row("withheld payloads", {}, withhold(() => {})),
  row(
    "withheld, another time",
    { [SUBMISSION]: at("signature_invalid") },
    withhold(recorded((one) => one.observed_at++)),
  ),
  row(
    "withheld, another hash of a comment",
    { [SUBMISSION]: at("signature_invalid") },
    withhold(recorded((one) => one.comment_hash = commentHash(SHA256, "Ship it"))),
  ),
  row(
    "withheld, another head",
    { [SUBMISSION]: at("signature_invalid") },
    withhold(recorded((one) => one.seen_head.revision--)),
  ),
  row(
    "withheld, a statement left out",
    { [ADMISSION]: MISSING[ADMISSION] ?? "" },
    withhold((parts) => items(parts).shift()),
  ),
  row(
    "withheld, another content type",
    { [SUBMISSION]: at("evidence_mismatch") },
    withhold((parts) => {
      parts.records[LAST - 1].body.content_type = "application/json";
    }),
  ),
  row(
    "withheld, no JSON type",
    { [SUBMISSION]: at("content_type_invalid") },
    withhold((parts) => {
      parts.records[LAST - 1].body.content_type = "text/plain";
    }),
  ),
];

/** All rows on the base pack `waiting`. */
export const WAITING_ROWS: readonly WaitingRow[] = [
  row("a run whose people approve, refuse and withdraw", {}, () => {}),
  {
    name: "a value that approves under the identity of a refusal",
    violates: { [RETENTION]: "value_mismatch: revision 8, item 1" },
    make: () => ({ pack: forge(playSwappedValue()) }),
  },
  ...EVALUATIONS,
  ...RECORDED,
  ...SUBMISSIONS,
  ...WITHHELD,
];
