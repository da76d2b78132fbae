import assert from "node:assert/strict";

import { identifyCanonical } from "../../canonical/identity.ts";
import type { AcceptedRecord, RunRecord } from "../../run/types.ts";
import { SHA256 } from "../../../tests/simulation/kernel/fixture.ts";
import { playGoldenRun } from "../../../tests/simulation/runpack/run.ts";
import { readJson } from "../../canonical/scan.ts";
import { ExportError, isObject, referenceTo, textObject } from "./objects.ts";
import { namedValues, segmentBuilder } from "./segments.ts";
import { INLINE_VALUE_BYTES, RECORD_VALUES_BYTES, SEGMENT_RECORDS } from "./types.ts";

const RECORDS = playGoldenRun(300).records;
const recordOf = ({ record }: AcceptedRecord): RunRecord => readJson(record) as unknown as RunRecord;

/** The golden run's submission with a payload of so many canonical bytes, its characters of one, two or three bytes. */
function submission(bytes: number, character: string): AcceptedRecord {
  const stored = RECORDS.find((record) => recordOf(record).record_kind === "artifact_submitted");
  assert.ok(stored !== undefined);
  const frame = '{"kind":"json","value":""}'.length;
  const width = new TextEncoder().encode(character).length;
  const count = Math.floor((bytes - frame) / width);
  const filling = character.repeat(count) + "x".repeat(bytes - frame - count * width);
  const body = `{"kind":"json","value":"${filling}"}`;
  const identity = identifyCanonical(SHA256, "payload", body);
  const [named] = namedValues(recordOf(stored));
  const record = stored.record.replace(named?.identity ?? "", identity);
  return { ...stored, record, material: [{ kind: "payload", identity, body }] };
}

for (const character of ["x", "é", "€"]) {
  for (const [bytes, isLarge] of [[-1, false], [0, false], [1, true]] as const) {
    const size = INLINE_VALUE_BYTES + bytes;
    Deno.test(`segmentBuilder() keeps a value of ${size} bytes of "${character}" ${isLarge ? "by itself" : "inline"}`, () => {
      const stored = submission(size, character);
      const builder = segmentBuilder(SHA256, new Set());
      builder.add(stored, recordOf(stored));
      const { segment, objects } = builder.finish();
      assert.equal(segment.large_values.length, isLarge ? 1 : 0);
      assert.equal(segment.values.bytes === 0, isLarge);
      assert.equal(objects.length, isLarge ? 4 : 3);
      if (isLarge) assert.equal(segment.large_values[0]?.bytes, size);
    });
  }
}

for (const [more, fits] of [[-1, true], [0, true], [1, false]] as const) {
  Deno.test(`segmentBuilder() accepts a record that names ${RECORD_VALUES_BYTES + more} bytes of values: ${fits}`, () => {
    const [, stored] = RECORDS;
    assert.ok(stored !== undefined);
    const body = "x".repeat(RECORD_VALUES_BYTES + more);
    const builder = segmentBuilder(SHA256, new Set());
    const add = (): void =>
      builder.add(
        { ...stored, material: [{ kind: "payload", identity: "", body }] },
        recordOf(stored),
      );
    if (fits) add();
    else assert.throws(add, (error) => error instanceof ExportError && error.code === "limit_exceeded");
  });
}

Deno.test("segmentBuilder() accepts 256 records, and not one more", () => {
  const builder = segmentBuilder(SHA256, new Set());
  const add = (stored: AcceptedRecord): void => builder.add(stored, recordOf(stored));
  assert.throws(() => builder.finish(), RangeError);
  RECORDS.slice(0, SEGMENT_RECORDS).forEach(add);
  assert.equal(builder.size(), 256);
  RECORDS.slice(SEGMENT_RECORDS, SEGMENT_RECORDS + 1).forEach((stored) => assert.throws(() => add(stored), RangeError));
  const { segment } = builder.finish();
  assert.deepEqual([segment.first_revision, segment.last_revision], [1, 256]);
});

// A text, and whether four bytes hold it.
const SIZES: readonly [string, boolean][] = [
  ["abc", true],
  ["abcd", true],
  ["abcde", false],
  ["éé", true],
  ["ééa", false],
  ["€", true],
  ["€€", false],
  ["", true],
];

for (const [text, fits] of SIZES) {
  Deno.test(`textObject() of "${text}" within 4 bytes: ${fits ? "an object" : "limit_exceeded"}`, () => {
    if (!fits) {
      assert.throws(
        () => textObject(SHA256, text, "a text", 4),
        (error) => error instanceof ExportError && error.code === "limit_exceeded",
      );
      return;
    }
    const object = textObject(SHA256, text, "a text", 4);
    const reference = referenceTo(object);
    assert.ok(isObject(SHA256, object.bytes, reference));
    assert.ok(!isObject(SHA256, object.bytes, { ...reference, bytes: reference.bytes + 1 }));
    assert.ok(!isObject(SHA256, object.bytes, { ...reference, object: SHA256("other") }));
  });
}
