/**
 * Items in, judgement out: what counts for one condition, why the rest does not, and what the condition comes to.
 *
 * @module
 */

import type { JsonValue } from "../../../src/canonical/json.ts";
import type { OperatorProfile } from "../../../src/run/profile.ts";
import type { ProcedureName } from "../../../src/run/types.ts";
import { KEY_1, KEY_2, NOW, SHA256, type TestKey, trusting } from "../kernel/fixture.ts";
import type { Editable } from "../kernel/law_specs.ts";
import type { Answer } from "./acquired.ts";

/** What a row is judged under, beside its policy. */
export interface Setting {
  readonly profile?: Partial<OperatorProfile>;
  /** The profile of the records before, where it is another one. */
  readonly started?: Partial<OperatorProfile>;
  /** Members of the condition: its domain and predicate. */
  readonly condition?: Editable;
  readonly procedure?: ProcedureName;
  /** What the time authority reads; {@link NOW} unless it is given, and the instant of the record before. */
  readonly reading?: number;
}

/** A row; an item of the caller is an answer without a provider. */
export interface JudgementRow {
  readonly name: string;
  readonly policy: Readonly<Record<string, JsonValue>>;
  readonly caller: readonly Answer[];
  readonly acquired: Readonly<Record<string, Answer>>;
  readonly setting: Setting;
  /** Of each item in order: `counts`, or why it does not. */
  readonly items: readonly string[];
  /** The condition: a truth value, and why it is unknown. */
  readonly outcome: string;
}

type Given = readonly (Answer | readonly [binding: string, Answer])[];

const isAcquired = (one: Given[number]): one is readonly [string, Answer] => Array.isArray(one);

const row = (
  name: string,
  policy: JudgementRow["policy"],
  given: Given,
  items: readonly string[],
  outcome: string,
  setting: Setting = {},
): JudgementRow => ({
  name,
  policy,
  caller: given.filter((one): one is Answer => !isAcquired(one)),
  acquired: Object.fromEntries(given.filter(isAcquired)),
  setting,
  items,
  outcome,
});

const yes: Answer = { value: 1 };
const no: Answer = { value: 9 };
const OTHER = { text: "something else" };
const OBSERVED_AT = NOW - 100;
const by = (key: TestKey, over: NonNullable<Answer["signs"]>[1] = 1): Answer => ({
  ...yes,
  observed_at: OBSERVED_AT,
  signs: [key, over],
});
const ALL_KEYS: Setting = {
  profile: { trust: { min_lane: "verified", default_policy: trusting(KEY_1, KEY_2), providers: [] } },
};
const OWING: Setting = {
  profile: {
    trust: {
      min_lane: "verified",
      default_policy: "audit",
      providers: [{ provider_id: "scanner", policy: trusting(KEY_1) }],
    },
  },
};
const TWICE: TestKey = { ...KEY_1, key_id: "ci-3" };
const ONE_KEY_TWICE: Setting = {
  profile: { trust: { min_lane: "verified", default_policy: trusting(KEY_1, TWICE), providers: [] } },
};
const ANCHORS: Setting = {
  profile: { anchors: [{ provider_id: "ledger", anchor_type: "commit", required_fields: ["sha"] }] },
};
const ASSERTED: Setting = {
  profile: { trust: { min_lane: "asserted", default_policy: "audit", providers: [] } },
};
const PERMISSIVE: Setting = { profile: { permissive: { enabled: true, exempt_providers: ["env"] } } };
const SIGNED = { authorization: "signature", independence: "not_required" };
const PINNED = {
  ...SIGNED,
  authorized_key_ids: [KEY_1.key_id],
  authorized_public_keys: { [KEY_1.key_id]: KEY_1.public_key },
};
const PINNED_TWO = {
  authorized_key_ids: [KEY_1.key_id, KEY_2.key_id],
  authorized_public_keys: { [KEY_1.key_id]: KEY_1.public_key, [KEY_2.key_id]: KEY_2.public_key },
};
/** A key under the id of another. */
const STRANGER: TestKey = { ...KEY_2, key_id: KEY_1.key_id };
const FRESH = { freshness: { freshness: "MaximumAge", maximum_age_millis: 1000 } };
const QUORUM = { combination: { combination: "Quorum", minimum: 2 }, independence: "distinct_provider" };
const ANY = { combination: { combination: "AnyQualifying" }, independence: "distinct_acquisition" };
const AGREE = { independence: "distinct_acquisition" };
const older = (setting: Setting): Setting => ({ ...setting, procedure: "gate-kernel-1" });
const of = (condition: Editable): Setting => ({ condition });
const ABSENT = of({ predicate: { predicate: "NotExists" } });
const PRESENT = of({ predicate: { predicate: "Exists" } });
const DECIMAL = of({
  observation_domain: { domain: "Decimal" },
  predicate: { predicate: "LessThan", expected: { value: "5", value_type: "Decimal" } },
});
const DIGEST = of({
  observation_domain: { domain: "Digest", algorithm: "sha256" },
  predicate: { predicate: "Exists" },
});
const hash = SHA256("image");

/** Who may speak, and how much of it is believed. */
const SOURCE_ROWS: readonly JudgementRow[] = [
  row("no item", {}, [], [], "unknown no_evidence"),
  row("an item of the caller", {}, [yes], ["counts"], "true"),
  row("an item of the caller that fails", {}, [no], ["counts"], "false"),
  row(
    "an item of a channel that is not allowed",
    { allowed_channels: ["local_acquisition"] },
    [yes],
    ["channel"],
    "unknown unqualified",
  ),
  row("a caller without a signature", SIGNED, [yes], ["authorization"], "unknown unqualified", ALL_KEYS),
  ...([0, 1, 2, 3] as const).map((form) =>
    row(`a caller with form ${form} of the statement signed`, SIGNED, [by(KEY_1, form)], ["counts"], "true", ALL_KEYS)
  ),
  row("a caller whose key the law pins", PINNED, [by(KEY_1)], ["counts"], "true"),
  row("a caller with another key under a pinned id", PINNED, [by(STRANGER)], ["authorization"], "unknown unqualified", {
    profile: { evidence_keys: [{ key_id: STRANGER.key_id, public_key: STRANGER.public_key }] },
    started: {},
  }),
  row(
    "a caller with a trusted key that the law does not pin",
    PINNED,
    [by(KEY_2)],
    ["authorization"],
    "unknown unqualified",
    ALL_KEYS,
  ),
  row(
    "a quorum of two pinned keys",
    { ...QUORUM, ...PINNED, ...PINNED_TWO, independence: "distinct_acquisition" },
    [by(KEY_1), by(KEY_2)],
    ["counts", "counts"],
    "true",
  ),
  row(
    "a caller with a bare hash signed",
    SIGNED,
    [by(KEY_1, "bare")],
    ["authorization"],
    "unknown unqualified",
    ALL_KEYS,
  ),
  row(
    "a caller with something else signed",
    SIGNED,
    [by(KEY_1, OTHER)],
    ["authorization"],
    "unknown unqualified",
    ALL_KEYS,
  ),
  row("a caller with a key that nobody knows", SIGNED, [by(KEY_1)], ["authorization"], "unknown unqualified"),
  row(
    "a caller with a key that is authorized",
    { ...SIGNED, authorized_key_ids: ["ci-2"] },
    [by(KEY_2)],
    ["counts"],
    "true",
    ALL_KEYS,
  ),
  row(
    "a caller with a key that is not",
    { ...SIGNED, authorized_key_ids: ["ci-2"] },
    [by(KEY_1)],
    ["authorization"],
    "unknown unqualified",
    ALL_KEYS,
  ),
  row("a provider that asserts", {}, [["env-1", { ...yes, lane: "asserted" }]], ["lane"], "unknown unqualified"),
  row(
    "a provider that asserts, which is enough",
    {},
    [["env-1", { ...yes, lane: "asserted" }]],
    ["counts"],
    "true",
    ASSERTED,
  ),
  row(
    "a provider that asserts, while permissive",
    {},
    [["scan-1", { ...yes, lane: "asserted" }]],
    ["counts"],
    "true",
    PERMISSIVE,
  ),
  row(
    "an exempt provider that asserts, while permissive",
    {},
    [["env-1", { ...yes, lane: "asserted" }]],
    ["lane"],
    "unknown unqualified",
    PERMISSIVE,
  ),
  row("the time at a caller's instant", {}, [["time-1", { ...yes, given: true }]], ["lane"], "unknown unqualified"),
  row("another provider at a caller's instant", {}, [["env-1", { ...yes, given: true }]], ["counts"], "true"),
];

/** What providers owe. */
const OWED_ROWS: readonly JudgementRow[] = [
  row("an owed signature that is missing", {}, [["scan-1", yes]], ["error signature_invalid"], "unknown error", OWING),
  row("an owed signature over the statement", {}, [["scan-1", by(KEY_1)]], ["counts"], "true", OWING),
  row(
    "an owed signature over the bare hash",
    {},
    [["scan-1", { ...yes, signs: [KEY_1, "bare"] }]],
    ["counts"],
    "true",
    OWING,
  ),
  row(
    "an owed signature by another key",
    {},
    [["scan-1", by(KEY_2)]],
    ["error signature_invalid"],
    "unknown error",
    OWING,
  ),
  row(
    "an owed signature over the bare hash of a number",
    {},
    [["scan-1", { value: 1.5, signs: [KEY_1, "bare"] }]],
    ["counts"],
    "true",
    { ...OWING, ...DECIMAL },
  ),
  row(
    "an owed signature over the bare hash of a decimal's text",
    {},
    [["scan-1", { value: "1.50", signs: [KEY_1, "bare"] }]],
    ["counts"],
    "true",
    { ...OWING, ...DECIMAL },
  ),
  row(
    "an owed signature over the bare hash of a hash object",
    {},
    [["scan-1", { value: { algorithm: "sha256", value: hash }, signs: [KEY_1, "bare"] }]],
    ["counts"],
    "true",
    { ...OWING, ...DIGEST },
  ),
  row(
    "an owed signature by the default, which holds for external providers",
    {},
    [["scan-1", yes], ["env-1", yes]],
    ["counts", "error signature_invalid"],
    "unknown error",
    ALL_KEYS,
  ),
  row(
    "an owed signature of what found nothing",
    {},
    [["scan-1", { value: null }]],
    ["error signature_invalid"],
    "unknown error",
    { ...OWING, ...ABSENT },
  ),
  row(
    "an owed signature of an error",
    {},
    [["scan-1", { value: null, error: "timeout" }]],
    ["error timeout"],
    "unknown error",
    OWING,
  ),
  row(
    "a bare hash is bound to nothing",
    { ...SIGNED, allowed_channels: ["provider_acquisition"] },
    [["scan-1", { ...yes, signs: [KEY_1, "bare"] }]],
    ["authorization"],
    "unknown unqualified",
    OWING,
  ),
  row("an owed anchor that is missing", {}, [["ledger-1", yes]], ["error anchor_invalid"], "unknown error", ANCHORS),
  row("an owed anchor", {}, [["ledger-1", { ...yes, anchor: '{"sha":"abc"}' }]], ["counts"], "true", ANCHORS),
  row("an owed anchor with a number", {}, [["ledger-1", { ...yes, anchor: '{"sha":1}' }]], ["counts"], "true", ANCHORS),
  row(
    "an owed anchor without its field",
    {},
    [["ledger-1", { ...yes, anchor: '{"ref":"main"}' }]],
    ["error anchor_invalid"],
    "unknown error",
    ANCHORS,
  ),
  row(
    "an owed anchor whose field is null",
    {},
    [["ledger-1", { ...yes, anchor: '{"sha":null}' }]],
    ["error anchor_invalid"],
    "unknown error",
    ANCHORS,
  ),
  row(
    "an owed anchor with a member twice",
    {},
    [["ledger-1", { ...yes, anchor: '{"sha":1,"sha":1}' }]],
    ["error anchor_invalid"],
    "unknown error",
    ANCHORS,
  ),
  row(
    "an owed anchor that is no object",
    {},
    [["ledger-1", { ...yes, anchor: '["sha"]' }]],
    ["error anchor_invalid"],
    "unknown error",
    ANCHORS,
  ),
];

/** Age, integrity and assurance. */
const TEST_ROWS: readonly JudgementRow[] = [
  row("an age of exactly the maximum", FRESH, [["env-1", { ...yes, acquired_at: NOW - 1000 }]], ["counts"], "true"),
  row(
    "an age of one more",
    FRESH,
    [["env-1", { ...yes, acquired_at: NOW - 1001 }]],
    ["not_fresh"],
    "unknown unqualified",
  ),
  row(
    "an answer after the acceptance",
    FRESH,
    [["env-1", { ...yes, acquired_at: NOW + 1 }]],
    ["not_fresh"],
    "unknown unqualified",
  ),
  row("a caller whose age nobody knows", FRESH, [yes], ["not_fresh"], "unknown unqualified"),
  row(
    "a caller who states an age without a signature",
    FRESH,
    [{ ...yes, observed_at: NOW }],
    ["not_fresh"],
    "unknown unqualified",
  ),
  row("a caller who signs an age", FRESH, [by(KEY_1)], ["counts"], "true", ALL_KEYS),
  row(
    "an old observation that is fetched just now",
    FRESH,
    [["scan-1", { ...by(KEY_1), observed_at: NOW - 5000 }]],
    ["not_fresh"],
    "unknown unqualified",
    ALL_KEYS,
  ),
  row(
    "an old observation that is not signed, fetched just now",
    FRESH,
    [["env-1", { ...yes, observed_at: NOW - 5000 }]],
    ["counts"],
    "true",
  ),
  row(
    "a hash that does not recompute",
    {},
    [["env-1", { ...yes, hash: "0".repeat(64) }]],
    ["integrity"],
    "unknown unqualified",
  ),
  row("a hash that recomputes", {}, [["env-1", { ...yes, hash: SHA256("1") }]], ["counts"], "true"),
  row(
    "content that has to be signed, and is not",
    { integrity: "signed_content" },
    [yes],
    ["integrity"],
    "unknown unqualified",
    ALL_KEYS,
  ),
  row(
    "content that has to be signed, and is",
    { integrity: "signed_content" },
    [by(KEY_1)],
    ["counts"],
    "true",
    ALL_KEYS,
  ),
  row(
    "content that has to be anchored, and is not",
    { integrity: "anchored_content" },
    [yes],
    ["integrity"],
    "unknown unqualified",
    ANCHORS,
  ),
  row(
    "a caller's anchor, which any requirement admits",
    { integrity: "anchored_content" },
    [{ ...yes, anchor: '{"sha":"abc"}' }],
    ["counts"],
    "true",
    ANCHORS,
  ),
  row(
    "an anchor of a provider without a requirement",
    { integrity: "anchored_content" },
    [["env-1", { ...yes, anchor: '{"sha":"abc"}' }]],
    ["integrity"],
    "unknown unqualified",
    ANCHORS,
  ),
  row(
    "an assurance of a signature",
    { required_assurance: ["source_signature"] },
    [yes],
    ["assurance"],
    "unknown unqualified",
  ),
  row(
    "an assurance of an anchor",
    { required_assurance: ["source_anchor"] },
    [yes],
    ["assurance"],
    "unknown unqualified",
  ),
  row(
    "an observed error is tested up to its lane",
    { ...FRESH, integrity: "signed_content" },
    [["env-1", { value: null, error: "timeout" }]],
    ["error timeout"],
    "unknown error",
  ),
  row("an observed error of a lower lane", {}, [["env-1", { value: null, error: "timeout", lane: "asserted" }]], [
    "lane error timeout",
  ], "unknown unqualified"),
  row(
    "a value that does not fit its domain",
    {},
    [["env-1", { value: "text" }]],
    ["error domain_mismatch"],
    "unknown error",
  ),
];

/** What several items come to. */
const COMBINATION_ROWS: readonly JudgementRow[] = [
  row("two that agree", AGREE, [["env-1", yes], ["scan-1", yes]], ["counts", "counts"], "true"),
  row(
    "two that are both true, and differ",
    AGREE,
    [["env-1", yes], ["scan-1", { value: 2 }]],
    ["counts", "counts"],
    "unknown disagreement",
  ),
  row("one that failed beside one that counts", AGREE, [["env-1", yes], ["scan-1", { ...yes, lane: "asserted" }]], [
    "counts",
    "lane",
  ], "true"),
  row("an error beside one that counts", AGREE, [["env-1", yes], ["scan-1", { value: null, error: "timeout" }]], [
    "counts",
    "error timeout",
  ], "unknown error"),
  row("two items of one caller that say the same", {}, [yes, yes], ["counts", "not_independent"], "true"),
  row("two items of one caller that differ", {}, [yes, no], ["counts", "counts"], "unknown disagreement"),
  row("two items of one caller, independence not required", { independence: "not_required" }, [yes, yes], [
    "counts",
    "counts",
  ], "true"),
  row(
    "two bindings of one provider, by acquisition",
    AGREE,
    [["env-1", yes], ["env-2", yes]],
    ["counts", "counts"],
    "true",
  ),
  row(
    "two bindings of one provider, by provider",
    { independence: "distinct_provider" },
    [["env-1", yes], ["env-2", yes]],
    ["counts", "not_independent"],
    "true",
  ),
  row("any of false and true", ANY, [["env-1", no], ["scan-1", yes]], ["counts", "counts"], "true"),
  row("any of false and an error", ANY, [["env-1", no], ["scan-1", { value: null, error: "timeout" }]], [
    "counts",
    "error timeout",
  ], "unknown error"),
  row("any of two false ones", ANY, [["env-1", no], ["scan-1", { value: 8 }]], ["counts", "counts"], "false"),
  row("a quorum of two", QUORUM, [["env-1", yes], ["scan-1", yes]], ["counts", "counts"], "true"),
  row("a quorum of two against", QUORUM, [["env-1", no], ["scan-1", no]], ["counts", "counts"], "false"),
  row("one of two", QUORUM, [["env-1", yes]], ["counts"], "unknown no_evidence"),
  row("one of two, the other of them not counted", QUORUM, [["env-1", yes], ["scan-1", { ...yes, lane: "asserted" }]], [
    "counts",
    "lane",
  ], "unknown unqualified"),
  row(
    "one for and one against",
    QUORUM,
    [["env-1", yes], ["scan-1", no]],
    ["counts", "counts"],
    "unknown disagreement",
  ),
  row("two for and two against", QUORUM, [["env-1", yes], ["ledger-1", no], ["scan-1", yes], ["time-1", no]], [
    "counts",
    "counts",
    "counts",
    "counts",
  ], "unknown disagreement"),
  row(
    "two for and an error",
    QUORUM,
    [["env-1", yes], ["ledger-1", { value: null, error: "timeout" }], ["scan-1", yes]],
    ["counts", "error timeout", "counts"],
    "true",
  ),
  row("one for and an error", QUORUM, [["env-1", yes], ["ledger-1", { value: null, error: "timeout" }]], [
    "counts",
    "error timeout",
  ], "unknown error"),
  row(
    "a quorum of one provider alone",
    QUORUM,
    [["env-1", yes], ["env-2", yes]],
    ["counts", "not_independent"],
    "unknown unqualified",
  ),
  row("a quorum of two keys", QUORUM, [by(KEY_1), by(KEY_2)], ["counts", "counts"], "true", ALL_KEYS),
  row(
    "a quorum of one key",
    QUORUM,
    [by(KEY_1), by(KEY_1, 3)],
    ["counts", "not_independent"],
    "unknown unqualified",
    ALL_KEYS,
  ),
  row(
    "a quorum of one key under two names",
    QUORUM,
    [by(KEY_1), by(TWICE)],
    ["counts", "not_independent"],
    "unknown unqualified",
    ONE_KEY_TWICE,
  ),
  row(
    "gate-kernel-1: a quorum of one key under two names",
    QUORUM,
    [by(KEY_1), by(TWICE)],
    ["counts", "counts"],
    "true",
    older(ONE_KEY_TWICE),
  ),
];

/** Nothing found, and clocks. */
const OTHER_ROWS: readonly JudgementRow[] = [
  row("nothing found, where absence is asked for", {}, [["env-1", { value: null }]], ["counts"], "true", ABSENT),
  row("nothing found, where presence is asked for", {}, [["env-1", { value: null }]], ["counts"], "false", PRESENT),
  row("nothing found, where a value is compared", {}, [["env-1", { value: null }]], ["counts"], "unknown no_evidence"),
  row(
    "nothing found twice",
    AGREE,
    [["env-1", { value: null }], ["scan-1", { value: null }]],
    ["counts", "counts"],
    "true",
    ABSENT,
  ),
  row(
    "nothing found beside a value",
    AGREE,
    [["env-1", { value: null }], ["scan-1", yes]],
    ["counts", "counts"],
    "unknown disagreement",
    ABSENT,
  ),
  row("a value, where absence is asked for", {}, [["env-1", yes]], ["counts"], "false", ABSENT),
  row(
    "an error, where absence is asked for",
    {},
    [["env-1", { value: null, error: "timeout" }]],
    ["error timeout"],
    "unknown error",
    ABSENT,
  ),
  row(
    "decimals that are equal as numbers",
    AGREE,
    [["env-1", { value: "1.50" }], ["scan-1", { value: 1.5 }]],
    ["counts", "counts"],
    "true",
    DECIMAL,
  ),
  row(
    "a clock that is a minute behind",
    FRESH,
    [["env-1", { ...yes, acquired_at: NOW - 60_000 }]],
    ["counts"],
    "true",
    { reading: NOW - 60_000 },
  ),
  row(
    "a clock that is more than a minute behind",
    FRESH,
    [["env-1", { ...yes, acquired_at: NOW - 60_001 }]],
    ["error clock_behind_run"],
    "unknown error",
    { reading: NOW - 60_001 },
  ),
  row("a clock that is behind, where no age is asked for", {}, [["env-1", yes]], ["counts"], "true", {
    reading: NOW - 90_000,
  }),
  row(
    "a clock that is behind, and the time provider",
    {},
    [["time-1", yes]],
    ["error clock_behind_run"],
    "unknown error",
    { reading: NOW - 90_000 },
  ),
  row(
    "gate-kernel-1: a clock that is behind",
    FRESH,
    [["env-1", { ...yes, acquired_at: NOW - 90_000 }]],
    ["not_fresh"],
    "unknown unqualified",
    older({ reading: NOW - 90_000 }),
  ),
];

const DAY = 86_400_000;
/** An instant at most a day before the evaluation. */
const YOUNG = of({
  observation_domain: { domain: "Timestamp" },
  predicate: {
    predicate: "GreaterThanOrEqual",
    expected: { relative_to: "evaluation_time", offset_milliseconds: -DAY },
  },
});
const stamp = (instant: number): Answer => ({ value: new Date(instant).toISOString() });

/** Expected values relative to the evaluation time. */
const RELATIVE_ROWS: readonly JudgementRow[] = [
  row("an instant a day before the evaluation", {}, [["env-1", stamp(NOW - DAY)]], ["counts"], "true", YOUNG),
  row("an instant a millisecond older", {}, [["env-1", stamp(NOW - DAY - 1)]], ["counts"], "false", YOUNG),
  row("an instant after the evaluation", {}, [["env-1", stamp(NOW + DAY)]], ["counts"], "true", YOUNG),
  row(
    "a day against a relative instant",
    {},
    [["env-1", { value: new Date(NOW).toISOString().slice(0, 10) }]],
    ["counts"],
    "unknown type_mismatch",
    YOUNG,
  ),
  row(
    "nothing found against a relative instant",
    {},
    [["env-1", { value: null }]],
    ["counts"],
    "unknown no_evidence",
    YOUNG,
  ),
  row(
    "a relative instant and a clock that is a minute behind, by whose reading it is a day",
    {},
    [["env-1", stamp(NOW - 60_000 - DAY)]],
    ["counts"],
    "true",
    { ...YOUNG, reading: NOW - 60_000 },
  ),
  row(
    "a relative instant and a clock that is more than a minute behind",
    AGREE,
    [["env-1", stamp(NOW)], ["scan-1", stamp(NOW)]],
    ["error clock_behind_run", "error clock_behind_run"],
    "unknown error",
    { ...YOUNG, reading: NOW - 60_001 },
  ),
  row(
    "gate-kernel-1: a relative instant",
    {},
    [["env-1", stamp(NOW)]],
    ["counts"],
    "unknown type_mismatch",
    older(YOUNG),
  ),
];

/** The rows. */
export const JUDGEMENT_ROWS: readonly JudgementRow[] = [
  ...SOURCE_ROWS,
  ...OWED_ROWS,
  ...TEST_ROWS,
  ...COMBINATION_ROWS,
  ...OTHER_ROWS,
  ...RELATIVE_ROWS,
];
