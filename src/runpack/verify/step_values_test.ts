import assert from "node:assert/strict";
import type { RunRecord } from "../../run/types.ts";
import type { SegmentValues } from "./material_values.ts";
import { areBounded, stepValues } from "./step_values.ts";
import { RECORD_VALUES_BYTES } from "../format/types.ts";

const item = (value_identity: string, changes: object = {}): object => ({
  condition_id: "built",
  retention: "RetainCanonicalValue",
  value_identity,
  ...changes,
});

function evaluation(...evidence: readonly object[]): RunRecord {
  return { record_kind: "stage_evaluated", body: { evidence } } as unknown as RunRecord;
}

/** Values that are as large as their names say, and how often each was read. */
function heldValues(reads: string[] = []): SegmentValues {
  return {
    body: (_kind, identity) => {
      reads.push(identity);
      return Promise.resolve(identity === "none" ? null : '{"value":true,"value_type":"Boolean"}');
    },
    size: (_kind, identity) => Number(identity),
    confirm: () => {},
    finish: () => Promise.resolve(null),
  };
}

// Items of a record, and whether their values may be held at the same time.
const BOUNDS: readonly [string, readonly object[], boolean][] = [
  ["nothing", [], true],
  ["one byte less than may be", [item(`${RECORD_VALUES_BYTES - 1}`)], true],
  ["as much as may be", [item(`${RECORD_VALUES_BYTES - 5}`), item("5")], true],
  ["one byte more", [item(`${RECORD_VALUES_BYTES - 5}`), item("6")], false],
  ["one value often", Array.from({ length: 100 }, () => item(`${RECORD_VALUES_BYTES}`)), true],
  ["much that is withheld", [item(`${RECORD_VALUES_BYTES + 1}`, { condition_id: "log" })], true],
  ["much that was not kept", [item(`${RECORD_VALUES_BYTES + 1}`, { retention: "RetainDigestOnly" })], true],
];

for (const [what, items, bounded] of BOUNDS) {
  Deno.test(`areBounded() of ${what}: ${bounded}`, () => {
    assert.equal(areBounded(evaluation(...items), heldValues(), new Set(["log"])), bounded);
  });
}

Deno.test("stepValues() reads a value once, however many items name it", async () => {
  const reads: string[] = [];
  const record = evaluation(
    item("1"),
    item("1"),
    item("none"),
    item("none"),
    item("2", { condition_id: "log" }),
    item("1"),
  );
  const { evidence } = await stepValues(record, heldValues(reads), new Set(["log"]));
  const value = { value: true, value_type: "Boolean" };
  assert.deepEqual(evidence, [value, value, "value_not_retained", "value_not_retained", "value_withheld", value]);
  assert.ok(evidence[0] === evidence[5]);
  assert.deepEqual(reads, ["1", "none"]);
});
