/**
 * The evidence run with values that are absent, honest and forged: what is withheld, what is changed, and what a
 * verifier has to find all the same.
 *
 * @module
 */

import { identify } from "../../../src/canonical/identity.ts";
import { KEY_1, KEY_2, NOW, SHA256 } from "../kernel/fixture.ts";
import type { Editable } from "../kernel/law_specs.ts";
import { forge, type Parts } from "../forged_packs/forge.ts";
import { WHOLE } from "./cases.ts";
import { IMAGE } from "./evidence_law.ts";
import { EVIDENCE_AT as AT } from "./evidence_run.ts";
import type { Base, Made } from "./rows.ts";

/** A run with absent values: the claims that are violated, and those that the absent values leave open. */
export interface AbsentRow {
  readonly name: string;
  readonly violates: Readonly<Record<string, string>>;
  readonly make: (base: Base) => Made;
}

const KEYS = { ...WHOLE, trusted_keys: [KEY_1.public_key, KEY_2.public_key] };

const row = (
  name: string,
  withheld: readonly string[],
  violates: Readonly<Record<string, string>>,
  change: (parts: Parts) => void = () => {},
): AbsentRow => ({
  name,
  violates,
  make: ({ run }) => ({
    pack: forge(run, (parts) => {
      parts.withheld.push(...withheld);
      for (const record of parts.records) leaveOut(parts, record, withheld);
      change(parts);
    }),
    request: KEYS,
  }),
});

/** Leaves out the values of items of conditions that are withheld. */
function leaveOut(parts: Parts, { body }: Editable, withheld: readonly string[]): void {
  const named = (isWithheld: boolean): string[] =>
    parts.records.flatMap((record) =>
      (record.body.evidence ?? [])
        .filter(({ condition_id }: Editable) => withheld.includes(condition_id) === isWithheld)
        .map(({ value_identity }: Editable) => value_identity)
    );
  const kept = new Set(named(false));
  for (const { value_identity, condition_id } of body.evidence ?? []) {
    if (withheld.includes(condition_id) && !kept.has(value_identity)) {
      parts.bodies.delete(`evidence-value ${value_identity}`);
    }
  }
}

/** What is forged of an item, in the record, in its trace and in the answer that was given. */
interface Forgery {
  readonly at: number;
  readonly item: string;
  readonly change: (item: Editable) => void;
  /** How the condition stands then. */
  readonly line?: { readonly value: string; readonly reason?: string };
}

function forgeItem(parts: Parts, { at, item, change, line }: Forgery): void {
  const { body } = parts.records[at];
  const { attempt } = parts.receipts[at].result;
  for (const { evidence, trace } of [body, attempt]) {
    const found = evidence.find(({ item_id }: Editable) => item_id === item);
    change(found);
    for (const one of line === undefined ? [] : trace) {
      if (one.condition_id !== found.condition_id) continue;
      delete one.reason;
      Object.assign(one, line);
    }
  }
  // An answer names of an item less than the record does.
  const names = [
    "item_id",
    "condition_id",
    "channel",
    "provider_id",
    "binding_id",
    "value_identity",
    "qualified",
    "reason",
    "error",
  ];
  for (const one of attempt.evidence) {
    for (const name of Object.keys(one)) if (!names.includes(name)) delete one[name];
  }
}

/** Counts an item that failed a test. */
const counted = (at: number, item: string): (parts: Parts) => void => (parts) =>
  forgeItem(parts, {
    at,
    item,
    change: (found) => {
      found.qualified = true;
      delete found.reason;
    },
    line: { value: "true" },
  });

/** Counts an item whose provider owed a signature or an anchor, with the value that it lost. */
const paidFor = (at: number, item: string, value: Editable, plain: string): (parts: Parts) => void => (parts) =>
  forgeItem(parts, {
    at,
    item,
    change: (found) => {
      delete found.error;
      delete found.reason;
      Object.assign(found, {
        qualified: true,
        value_identity: identify(SHA256, "evidence-value", value),
        value_type: value.value_type,
        content_hash: { algorithm: "sha256", value: SHA256(plain) },
      });
      parts.bodies.set(`evidence-value ${found.value_identity}`, value);
    },
    line: { value: "true" },
  });

const POLICY = "evidence_use_policy_satisfaction";
const REPLAY = "pure_semantic_replay";
const mismatch = (at: number, index: number): Record<string, string> => ({
  [POLICY]: `qualification_mismatch: revision ${at + 1}, item ${index}`,
});
/** The same, where the trace does not follow from the items any more. */
const undecided = (at: number, index: number): Record<string, string> => ({
  ...mismatch(at, index),
  [REPLAY]: `decision_mismatch: revision ${at + 1}`,
});

/** Nothing is forged: no claim is violated, whichever condition is withheld. */
export const HONEST_ROWS: readonly AbsentRow[] = [
  row("nothing withheld, one value kept by digest only", [], {}),
  ...["amount", "approved", "commit", "errors", "findings", "image", "incident", "replicas", "report"].map((
    condition,
  ) => row(`condition ${condition} withheld`, [condition], {})),
  row("all that is owed withheld", ["amount", "commit", "findings", "image"], {}),
];

/** An item that failed a test counts, while another item of its attempt has no value. */
const COUNTED_ROWS: readonly AbsentRow[] = [
  row(
    "an item without authorization counts",
    ["amount"],
    undecided(AT.unbound, 2),
    counted(AT.unbound, "binding:findings-scan"),
  ),
  row("an item that is too old counts", ["amount"], undecided(AT.stale, 1), counted(AT.stale, "binding:findings-scan")),
  row(
    "an item whose hash does not recompute counts",
    ["amount"],
    undecided(AT.unbound, 1),
    counted(AT.unbound, "binding:commit-ledger"),
  ),
  row("an item of a lower lane counts", [], undecided(AT.troubled, 10), counted(AT.troubled, "binding:open-time")),
  row(
    "an item of a channel that is not allowed counts",
    [],
    undecided(AT.troubled, 3),
    counted(AT.troubled, "caller:3"),
  ),
  row(
    "an item without the signature that its provider owes counts",
    ["image"],
    undecided(AT.unpaid, 0),
    paidFor(AT.unpaid, "binding:amount-scan", { value: "12.5", value_type: "Decimal" }, '"12.5"'),
  ),
  row(
    "an item without the anchor that its provider owes counts",
    ["image"],
    undecided(AT.unpaid, 1),
    paidFor(AT.unpaid, "binding:commit-ledger", { value: "abc", value_type: "String" }, '"abc"'),
  ),
  row(
    "an absent item without the signature that its provider owes counts",
    ["amount"],
    undecided(AT.unpaid, 0),
    (parts) => {
      paidFor(AT.unpaid, "binding:amount-scan", { value: "12.5", value_type: "Decimal" }, '"12.5"')(parts);
      for (const key of parts.bodies.keys()) if (key.endsWith(amountIdentity())) parts.bodies.delete(key);
    },
  ),
  row(
    "an item of a lower lane is said to be of a higher",
    [],
    {
      [POLICY]: `lane_mismatch: revision ${AT.troubled + 1}, item 10`,
    },
    (parts) =>
      forgeItem(parts, { at: AT.troubled, item: "binding:open-time", change: (item) => item.lane = "verified" }),
  ),
  row(
    "an item whose schema says invalid counts",
    [],
    undecided(AT.troubled, 14),
    counted(AT.troubled, "binding:report-env"),
  ),
];

const amountIdentity = (): string => identify(SHA256, "evidence-value", { value: "12.5", value_type: "Decimal" });

/** Other forgeries that an absent value must not hide. */
const HIDDEN_ROWS: readonly AbsentRow[] = [
  row("a verdict that was taken out", [], {
    evidence_structural_admission: `schema_verdict_mismatch: revision ${AT.troubled + 1}, item 14`,
  }, (parts) => {
    delete parts.records[AT.troubled].body.evidence[14].schema_verdict;
  }),
  row("an item that counted fails as too old", ["amount"], mismatch(AT.paid, 2), (parts) =>
    forgeItem(parts, {
      at: AT.paid,
      item: "binding:findings-scan",
      change: (item) => Object.assign(item, { qualified: false, reason: "not_fresh" }),
    })),
  row("a signature is called missing that is there", ["image"], undecided(AT.paid, 0), (parts) =>
    forgeItem(parts, {
      at: AT.paid,
      item: "binding:amount-scan",
      change: (item) => {
        for (const name of ["value_identity", "value_type", "content_hash"]) delete item[name];
        const message = 'Provider "scanner" has to sign its results, and this one has no valid signature';
        Object.assign(item, { qualified: false, error: { code: "signature_invalid", message } });
      },
    })),
  row("a signature over something else, its value absent", ["findings"], {
    ...undecided(AT.paid, 2),
    source_authenticity: `signature_invalid: revision ${AT.paid + 1}, item 2`,
    acquisition_admission_witness_reconstruction: `provider_result_mismatch: revision ${AT.paid + 1}, item 2`,
  }, (parts) => {
    parts.records[AT.paid].body.evidence[2].signature.signature = KEY_1.sign("something else");
  }),
];

/** Other forgeries of this run. */
const OTHER_ROWS: readonly AbsentRow[] = [
  row("a signature over something else", [], {
    ...mismatch(AT.paid, 3),
    [REPLAY]: `decision_mismatch: revision ${AT.paid + 1}`,
    source_authenticity: `signature_invalid: revision ${AT.paid + 1}, item 3`,
  }, (parts) => {
    const item = parts.records[AT.paid].body.evidence[3];
    const signature = KEY_1.sign(`not the bare hash of ${IMAGE}`);
    item.signature.signature = item.acquisition.provider_result.signature.signature = signature;
  }),
  row("a packet that was disclosed after its expiry", [], {
    intent_consistency: `disclosure_mismatch: revision ${AT.ship + 1}`,
    [REPLAY]: `decision_mismatch: revision ${AT.ship + 1}`,
  }, (parts) => {
    for (const at of [AT.ship, AT.approvedByOther, AT.approved]) acceptAt(parts, at, NOW + 60_000 + at);
  }),
];

/** Accepts a record at another time. */
function acceptAt(parts: Parts, at: number, millis: number): void {
  const { acceptance_time, body } = parts.records[at];
  body.time_source.reading_unix_millis = acceptance_time.accepted_audit_instant = millis;
  acceptance_time.source_material_identity = identify(SHA256, "time-source", body.time_source);
  parts.receipts[at].result.acceptance_time = acceptance_time;
}

/** The rows. */
export const ABSENT_ROWS: readonly AbsentRow[] = [...HONEST_ROWS, ...COUNTED_ROWS, ...HIDDEN_ROWS, ...OTHER_ROWS];
