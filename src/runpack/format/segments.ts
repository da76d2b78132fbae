/** Builds segments: up to 256 records as JSON lines, with their receipts and the values that the records name. */

import { canonicalize } from "../../canonical/canonicalize.ts";
import type { Identity, Sha256 } from "../../canonical/identity.ts";
import { readJson } from "../../canonical/scan.ts";
import { utf8Length } from "../../canonical/utf8.ts";
import { asJson } from "../../run/primitives.ts";
import type { AcceptedRecord, Material, RunRecord } from "../../run/types.ts";
import { isBounded } from "./canonical_text.ts";
import { ExportError, type PackObject, referenceTo, textObject, tooLarge } from "./objects.ts";
import {
  type ArtifactReference,
  INLINE_VALUE_BYTES,
  type LargeValue,
  OBJECT_BYTES,
  RECORD_VALUES_BYTES,
  type Segment,
  SEGMENT_RECORDS,
  TEXT_BYTES,
} from "./types.ts";

/** A value that a record names, with the condition that it is evidence of; null for a payload. */
export interface NamedValue {
  readonly kind: Material["kind"];
  readonly identity: Identity;
  readonly condition_id: string | null;
}

/** The contracts, schemas, profiles and provider versions that a record names. */
export function namedArtifacts(record: RunRecord): readonly Pick<ArtifactReference, "kind" | "identity">[] {
  const profile = { kind: "operator-profile", identity: record.operator_profile } as const;
  if (record.record_kind !== "run_created") return [profile];
  const { contracts, schemas } = record.body;
  return [
    profile,
    ...contracts.map(({ contract_identity: identity }) => ({ kind: "contract", identity }) as const),
    ...contracts.flatMap(({ provider_version_identity: identity }) =>
      identity === undefined ? [] : [{ kind: "provider-version", identity } as const]
    ),
    ...schemas.map(({ schema_identity: identity }) => ({ kind: "schema", identity }) as const),
  ];
}

/** The retained values that a record names, in the order of docs/format/runpack.md "Records and segments". */
export function namedValues(record: RunRecord): readonly NamedValue[] {
  switch (record.record_kind) {
    case "run_created": {
      const { genesis } = record.body;
      if (genesis.kind !== "declared") return [];
      return [{ kind: "payload", identity: genesis.payload_identity, condition_id: null }];
    }
    case "stage_opened":
      return [];
    case "stage_evaluated":
      return record.body.evidence.flatMap(({ value_identity, retention, condition_id }) =>
        value_identity === undefined || retention !== "RetainCanonicalValue"
          ? []
          : [{ kind: "evidence-value", identity: value_identity, condition_id }]
      );
    case "artifact_submitted": {
      // The payload of evidence that waits has the value of its condition.
      const { payload_identity, evidence } = record.body;
      return [{ kind: "payload", identity: payload_identity, condition_id: evidence?.condition_id ?? null }];
    }
  }
}

/** A segment with its objects, in the order in which they are emitted. */
export interface BuiltSegment {
  readonly segment: Segment;
  readonly objects: readonly PackObject[];
}

/** A growing segment. */
export interface SegmentBuilder {
  /** Adds the next record, as stored and as decoded. */
  readonly add: (stored: AcceptedRecord, record: RunRecord) => void;
  /** Records so far. */
  readonly size: () => number;
  /** Builds the segment, which must have at least one record. */
  readonly finish: () => BuiltSegment;
}

interface Value {
  readonly kind: Material["kind"];
  readonly identity: Identity;
  readonly body: string;
  /** Whether every item so far that names it belongs to a withheld condition. */
  withheld: boolean;
}

/** Lines of canonical JSON. Their total length is checked as they are added. */
interface Lines {
  readonly add: (line: string) => void;
  readonly object: (sha256: Sha256) => PackObject;
}

function lines(what: string): Lines {
  const parts: string[] = [];
  let units = 0;
  return {
    add(line): void {
      if (!isBounded(line)) throw tooLarge(`a line of ${what}`, TEXT_BYTES);
      units += line.length + 1;
      if (units > OBJECT_BYTES) throw tooLarge(what, OBJECT_BYTES);
      parts.push(line, "\n");
    },
    object: (sha256) => textObject(sha256, parts.join(""), what),
  };
}

function receiptLine({ operation, invocation_identity, result }: AcceptedRecord["receipt"]): string {
  return canonicalize({ operation: asJson(operation), invocation_identity, result: readJson(result) });
}

/**
 * Creates an empty segment.
 *
 * @param withheld Conditions whose values are omitted
 */
export function segmentBuilder(sha256: Sha256, withheld: ReadonlySet<string>): SegmentBuilder {
  const records = lines("the records of a segment");
  const receipts = lines("the receipts of a segment");
  const values = new Map<string, Value>();
  const revisions: number[] = [];
  return {
    add(stored, record): void {
      if (revisions.length === SEGMENT_RECORDS) throw new RangeError("Cannot add record: the segment is full");
      revisions.push(stored.revision);
      records.add(stored.record);
      receipts.add(receiptLine(stored.receipt));
      noteValues(values, withheld, stored, record);
    },
    size: () => revisions.length,
    finish(): BuiltSegment {
      const first_revision = revisions[0];
      const last_revision = revisions.at(-1);
      if (first_revision === undefined || last_revision === undefined) {
        throw new RangeError("Cannot finish segment: it has no records");
      }
      const kept = [...values.values()].filter((value) => !value.withheld);
      const objects = [records.object(sha256), receipts.object(sha256), valuesObject(sha256, kept)] as const;
      const large = kept.filter(isLarge).map((value) => ({ value, object: largeObject(sha256, value) }));
      const segment = {
        first_revision,
        last_revision,
        records: referenceTo(objects[0]),
        receipts: referenceTo(objects[1]),
        values: referenceTo(objects[2]),
        large_values: large.map(({ value: { kind, identity }, object }): LargeValue => {
          return { kind, identity, ...referenceTo(object) };
        }),
      };
      return { segment, objects: [...objects, ...large.map(({ object }) => object)] };
    },
  };
}

function noteValues(
  values: Map<string, Value>,
  withheld: ReadonlySet<string>,
  stored: AcceptedRecord,
  record: RunRecord,
): void {
  const bytes = stored.material.reduce((sum, { body }) => sum + utf8Length(body), 0);
  if (bytes > RECORD_VALUES_BYTES) throw tooLarge(`the values of revision ${stored.revision}`, RECORD_VALUES_BYTES);
  for (const { kind, identity, condition_id } of namedValues(record)) {
    const name = `${kind} ${identity}`;
    const hidden = condition_id !== null && withheld.has(condition_id);
    const noted = values.get(name);
    if (noted !== undefined) {
      if (!hidden) noted.withheld = false;
      continue;
    }
    const material = stored.material.find((item) => item.kind === kind && item.identity === identity);
    if (material === undefined) {
      const message = `Cannot export revision ${stored.revision}: its ${kind} "${identity}" is missing`;
      throw new ExportError("integrity_failure", message);
    }
    values.set(name, { kind, identity, body: material.body, withheld: hidden });
  }
}

function isLarge({ body }: Value): boolean {
  return body.length > INLINE_VALUE_BYTES || utf8Length(body) > INLINE_VALUE_BYTES;
}

function valuesObject(sha256: Sha256, kept: readonly Value[]): PackObject {
  const inline = lines("the values of a segment");
  for (const value of kept) {
    // The members are in canonical order, and the body is canonical text already.
    if (!isLarge(value)) inline.add(`{"body":${value.body},"identity":"${value.identity}","kind":"${value.kind}"}`);
  }
  return inline.object(sha256);
}

function largeObject(sha256: Sha256, { kind, body }: Value): PackObject {
  return textObject(sha256, body, kind === "payload" ? "a payload" : "an evidence value", TEXT_BYTES);
}
