/**
 * The run in which people decide over days: honest at each limit, and forged one step beyond it.
 *
 * @module
 */

import { AHEAD_MILLISECONDS } from "../../../src/run/submitted_evidence.ts";
import { COMMENT_BYTES } from "../../../src/run/submitted_statement.ts";
import { int, NOW } from "../kernel/fixture.ts";
import { forge, type Parts } from "../forged_packs/forge.ts";
import {
  ALICE,
  ALICE_2,
  BOB,
  LAST_REVIEW as LAST,
  peopleLaw,
  type PeoplePlay,
  playPeople,
  PROFILES,
  REVIEW,
  REVIEW_BYTES,
} from "../forged_packs/people.ts";
import type { StatementChanges } from "../waiting_fixture.ts";
import { WHOLE } from "./cases.ts";
import type { Made } from "./rows.ts";
import { type Edit, type EditedRun, type Edits, editsOf, repeatInReceipts } from "./statement_edits.ts";

/** A pack of the run, and the claims that it violates. */
export interface PeopleRow {
  readonly name: string;
  readonly violates: Readonly<Record<string, string>>;
  readonly make: () => Made;
}

const SUBMISSION = "submission_consistency";
const ADMISSION = "evidence_structural_admission";
const RULE = "evidence_use_policy_satisfaction";
const DECISION = "pure_semantic_replay";

const READING = NOW + 10 * (LAST - 1);
const EVALUATED = LAST + 1;

/** What Bob reviews last. */
const STATEMENT: StatementChanges = { condition_id: "review", value: REVIEW, observed_at: READING };

function editedRun(play: PeoplePlay): EditedRun {
  return { law: peopleLaw(), run: playPeople(play), last: LAST, key: BOB, statement: STATEMENT };
}

const request = { ...WHOLE, trusted_keys: [ALICE, ALICE_2, BOB].map(({ public_key }) => public_key) };

const honest = (name: string, play: PeoplePlay): PeopleRow => ({
  name,
  violates: {},
  make: () => ({ pack: forge(playPeople(play)), request }),
});

/** A run that no kernel plays: what a forger makes of an honest one. */
const forged = (
  name: string,
  violates: Readonly<Record<string, string>>,
  edit: (edits: Edits) => Edit,
  play: PeoplePlay = {},
): PeopleRow => ({
  name,
  violates,
  make: () => {
    const edited = editedRun(play);
    const pack = forge(edited.run, (parts) => {
      edit(editsOf(edited))(parts);
      repeatInReceipts(parts);
    });
    return { pack, request };
  },
});

const stated = (changes: StatementChanges, key = BOB) => ({ signed }: Edits): Edit => signed(changes, key);
const recorded = (edit: Edit) => (): Edit => edit;
const UNDECIDED = { [DECISION]: `decision_mismatch: revision ${EVALUATED}` };
const rejected = (code: string): Readonly<Record<string, string>> => ({
  [SUBMISSION]: `${code}: revision ${LAST}`,
  [DECISION]: `decision_mismatch: revision ${LAST}`,
});
const decided = (code: string): Readonly<Record<string, string>> => ({
  [ADMISSION]: `${code}: revision ${EVALUATED}`,
  ...UNDECIDED,
});
const misjudged = (item: number): Readonly<Record<string, string>> => ({
  [RULE]: `qualification_mismatch: revision ${EVALUATED}, item ${item}`,
});
/** An item of a key that the profile does not have. */
const untrusted = (item: number): Readonly<Record<string, string>> => ({
  [RULE]: `lane_mismatch: revision ${EVALUATED}, item ${item}`,
});
const unlike = (code: string): Readonly<Record<string, string>> => ({
  [ADMISSION]: `${code}: revision ${EVALUATED}, item 3`,
});

/** Counts an item of the last evaluation that does not qualify. */
const counts = (item: number) => ({ items }: Edits): Edit => (parts) => {
  const found = items(parts)[item];
  found.qualified = true;
  delete found.reason;
};

/** A JSON text of so many canonical bytes. */
const json = (bytes: number): StatementChanges => ({ value: { value: "x".repeat(bytes - 2), value_type: "Json" } });
/** A comment of so many bytes in UTF-8, and of about half as many characters. */
const comment = (bytes: number): StatementChanges => ({ comment: "é".repeat(bytes >> 1) + "x".repeat(bytes % 2) });
/** A limit of the last statement: honest up to it, and forged one step beyond it. */
function limit(
  what: string,
  changes: (step: number) => StatementChanges,
  most: number,
  violates: Readonly<Record<string, string>>,
): readonly PeopleRow[] {
  return [
    honest(`${what}, one below the limit`, { last: changes(most - 1) }),
    honest(`${what}, at the limit`, { last: changes(most) }),
    forged(`${what}, one above the limit`, violates, stated(changes(most + 1))),
  ];
}

const LIMITS: readonly PeopleRow[] = [
  ...limit("bytes of a JSON value", json, REVIEW_BYTES, { ...rejected("payload_invalid"), ...unlike("value_invalid") }),
  ...limit("bytes of a comment", comment, COMMENT_BYTES, rejected("payload_invalid")),
  ...limit(
    "milliseconds ahead of the reading",
    (ahead) => ({ observed_at: READING + ahead }),
    AHEAD_MILLISECONDS,
    rejected("statement_time_invalid"),
  ),
  ...limit(
    "milliseconds from the end of the statement to the reading",
    (past) => ({ valid_until: READING - past }),
    0,
    { ...rejected("statement_time_invalid"), ...misjudged(3) },
  ),
  ...limit(
    "milliseconds from the end of the statement to its own time",
    (past) => ({ observed_at: READING + 100, valid_until: READING + 100 - past }),
    0,
    rejected("statement_time_invalid"),
  ),
  honest("an evaluation one millisecond before the end of an approval", { late: -1 }),
  honest("an evaluation at the end of an approval", {}),
  honest("an evaluation one millisecond after the end of an approval", { late: 1 }),
  forged("an approval that counts after its end", { ...misjudged(2), ...UNDECIDED }, counts(2), { late: 1 }),
];

const KEYS: readonly PeopleRow[] = [
  forged("a retired key that counts", { ...misjudged(0), ...UNDECIDED }, counts(0)),
  forged(
    "a new key of the same person that does not count",
    { ...misjudged(1), ...UNDECIDED },
    ({ items }) => (parts) => {
      Object.assign(items(parts)[1], { qualified: false, reason: "authorization" });
    },
  ),
  forged("a statement of a retired key left out", decided("submission_missing"), ({ items }) => (parts) => {
    items(parts).shift();
  }),
  forged("a statement of a new key left out", decided("submission_missing"), ({ items }) => (parts) => {
    items(parts).splice(1, 1);
  }),
  forged("an approval by a retired key", { ...rejected("payload_invalid"), ...untrusted(3) }, stated({}, ALICE)),
  forged(
    "an approval by a retired key under the id of the new one",
    rejected("signature_invalid"),
    ({ signed }) => signed({}, { ...ALICE, key_id: ALICE_2.key_id, public_key: ALICE_2.public_key }),
  ),
  forged(
    "the profile of before the key was retired",
    { ...untrusted(0), ...UNDECIDED },
    recorded(({ records, receipts }) => {
      const profile = PROFILES[1]?.profile_identity ?? "";
      records[LAST].operator_profile = profile;
      for (const admission of [records[LAST].admission, receipts[LAST].result.admission]) {
        admission.profile_id = profile;
      }
    }),
  ),
];

/** Gives the last submission the scope of the other stage. */
const scopeOf = (members: readonly string[]) => (): Edit => ({ records }: Parts): void => {
  const { stage_id, stage_open_record_id } = records[13].body.scope;
  const other: Readonly<Record<string, string>> = { stage_id, stage_open_record_id };
  for (const name of members) records[LAST - 1].body.scope[name] = other[name];
};

const STAGES: readonly PeopleRow[] = [
  forged(
    "a statement of the other stage that counts",
    { ...decided("submission_unexpected"), ...untrusted(3) },
    ({ items, itemOf }) => (parts) => {
      items(parts).splice(3, 0, itemOf(parts, 14));
    },
  ),
  forged("a statement signed for the other stage", rejected("signature_invalid"), stated({ stage_id: "t" })),
  forged(
    "a submission to the opening of the other stage",
    rejected("scope_mismatch"),
    scopeOf(["stage_open_record_id"]),
  ),
  forged(
    "a submission to the other stage",
    { ...decided("submission_unexpected"), ...rejected("payload_invalid") },
    scopeOf(["stage_id", "stage_open_record_id"]),
  ),
];

const ANSWERS: readonly PeopleRow[] = [
  forged(
    "a refusal in place of an approval",
    UNDECIDED,
    stated({ value: { value: { risks: 1 }, value_type: "Json" } }),
  ),
  forged(
    "another JSON value under the same signature",
    rejected("signature_invalid"),
    ({ unsigned }) => unsigned(({ value }) => value.value.ok = false),
  ),
  forged(
    "a value of another type",
    { ...rejected("payload_invalid"), ...unlike("value_type_mismatch") },
    stated({ value: int(1) }),
  ),
  forged("a withdrawal in place of an approval", UNDECIDED, stated({ value: null })),
  forged(
    "another version in the parameters",
    {
      [SUBMISSION]: "signature_invalid: revision 4",
      [DECISION]: "decision_mismatch: revision 4",
    },
    recorded((parts) => {
      for (const genesis of [parts.records[0].body.genesis, parts.receipts[0].result.genesis]) {
        genesis.parameters[0].value.value = "v2";
      }
    }),
  ),
  forged(
    "a head before the opening of the stage",
    rejected("seen_head_mismatch"),
    ({ signed }) => signed({ seen_head: { record_id: playPeople().records[0]?.record_id ?? "", revision: 1 } }),
  ),
];

/** All rows on the base pack `people`. */
export const PEOPLE_ROWS: readonly PeopleRow[] = [
  honest("a run in which people decide over days", {}),
  ...KEYS,
  ...STAGES,
  ...ANSWERS,
  ...LIMITS,
];
