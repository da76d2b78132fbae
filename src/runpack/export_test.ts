import assert from "node:assert/strict";

import { canonicalize } from "../canonical/canonicalize.ts";
import { identifyBytes, identifyCanonical } from "../canonical/identity.ts";
import { readJson } from "../canonical/scan.ts";
import { asJson } from "../run/primitives.ts";
import { SHA256 } from "../../tests/simulation/kernel/fixture.ts";
import { type PlayedRun, playGoldenRun } from "../../tests/simulation/runpack/run.ts";
import { type ExportedPack, exportRun, type ExportSource } from "./export.ts";
import { decodeManifest } from "./format/manifest.ts";
import { leafHash } from "./format/merkle.ts";
import { rootOf } from "./format/merkle_fixture.ts";
import { decodeSegmentNode } from "./format/nodes.ts";
import { ExportError, type PackObject } from "./format/objects.ts";
import type { AcceptedRecord } from "../run/types.ts";
import { INLINE_VALUE_BYTES, type Segment } from "./format/types.ts";

const GOLDEN = playGoldenRun();
const LONG = playGoldenRun(600);

/** A source over a played run, up to a revision. */
function sourceOf(run: PlayedRun, revision: number, changes: Partial<ExportSource> = {}): ExportSource {
  const record_id = run.records[revision - 1]?.record_id ?? "";
  const { scenario_id, scenario_law_identity, law } = run.law;
  return {
    run_key: run.state.run_key,
    head: { record_id, revision },
    scenario_id,
    scenario_law_identity,
    law,
    records: (after, limit) => Promise.resolve(run.records.slice(after, after + limit)),
    artifact: (identity) => Promise.resolve(run.artifacts.find((artifact) => artifact.identity === identity) ?? null),
    withheld_conditions: [],
    ...changes,
  };
}

async function exported(source: ExportSource): Promise<{ pack: ExportedPack; objects: readonly PackObject[] }> {
  const objects: PackObject[] = [];
  const stream = exportRun(SHA256, source);
  for (;;) {
    const next = await stream.next();
    if (next.done === true) return { pack: next.value, objects };
    objects.push(next.value);
  }
}

const decoder = new TextDecoder();

function textOf(objects: readonly PackObject[], identity: string): string {
  const found = objects.find((object) => object.identity === identity);
  assert.ok(found !== undefined, `object ${identity} was not emitted`);
  return decoder.decode(found.bytes);
}

function segmentsOf({ pack, objects }: Awaited<ReturnType<typeof exported>>): readonly Segment[] {
  const bytes = new TextEncoder().encode(textOf(objects, pack.manifest.segments.object));
  const node = decodeSegmentNode(bytes);
  assert.ok(node.ok && "segments" in node.value);
  return node.value.segments;
}

const linesOf = (text: string): string[] => text.split("\n").slice(0, -1);

Deno.test("exportRun() emits objects under their own identities, and a manifest that decodes to itself", async () => {
  const { pack, objects } = await exported(sourceOf(GOLDEN, GOLDEN.records.length));
  for (const { identity, bytes } of objects) assert.equal(identifyBytes(SHA256, "object", bytes), identity);
  assert.deepEqual(decodeManifest(pack.bytes), { ok: true, manifest: pack.manifest });
  assert.equal(pack.runpack_identity, identifyCanonical(SHA256, "runpack", canonicalize(asJson(pack.manifest))));
  assert.deepEqual(pack.manifest.head, GOLDEN.state.head);
});

Deno.test("exportRun() binds the records, their tree and the state that they fold to", async () => {
  const result = await exported(sourceOf(GOLDEN, GOLDEN.records.length));
  const { manifest } = result.pack;
  const [segment] = segmentsOf(result);
  const records = GOLDEN.records.map(({ record }) => record);
  assert.equal(textOf(result.objects, segment?.records.object ?? ""), records.map((record) => `${record}\n`).join(""));
  assert.equal(manifest.record_tree.root, rootOf(SHA256, records.map((record) => leafHash(SHA256, record))));
  assert.equal(manifest.record_tree.size, records.length);
  assert.equal(manifest.state_identity, identifyCanonical(SHA256, "run-state", canonicalize(asJson(GOLDEN.state))));
  assert.equal(textOf(result.objects, manifest.law.object), GOLDEN.law.law);
});

Deno.test("exportRun() keeps each receipt with its record, and each value once a segment", async () => {
  const result = await exported(sourceOf(GOLDEN, GOLDEN.records.length));
  const [segment] = segmentsOf(result);
  assert.ok(segment !== undefined);
  const receipts = linesOf(textOf(result.objects, segment.receipts.object));
  assert.deepEqual(
    receipts,
    GOLDEN.records.map(({ receipt }) => canonicalize(asJson({ ...receipt, result: readJson(receipt.result) }))),
  );
  const bodies = linesOf(textOf(result.objects, segment.values.object)).map((line) =>
    (readJson(line) as { body: { value?: unknown } }).body.value
  );
  // Genesis, built false and true, the submission, region and report in the order of their items; `log` is large,
  // `ticket` a digest.
  assert.deepEqual(bodies, [
    { branch: "main" },
    false,
    true,
    { note: "done" },
    { coverage: 93 },
    "north",
    undefined,
  ]);
  const [large, second] = segment.large_values;
  assert.equal(second, undefined);
  assert.ok(large !== undefined && large.kind === "evidence-value" && large.bytes > INLINE_VALUE_BYTES);
  assert.equal(identifyCanonical(SHA256, large.kind, textOf(result.objects, large.object)), large.identity);
});

Deno.test("exportRun() withholds the values of conditions, but none that another condition shows", async () => {
  const whole = await exported(sourceOf(GOLDEN, GOLDEN.records.length));
  const asked = sourceOf(GOLDEN, GOLDEN.records.length, { withheld_conditions: ["report", "approved", "log", "log"] });
  const part = await exported(asked);
  assert.deepEqual(part.pack.manifest.withheld_conditions, ["approved", "log", "report"]);
  const [before] = segmentsOf(whole);
  const [after] = segmentsOf(part);
  assert.ok(before !== undefined && after !== undefined);
  assert.deepEqual([after.records, after.receipts, after.large_values], [before.records, before.receipts, []]);
  const kept = linesOf(textOf(whole.objects, before.values.object)).filter((line) => !line.includes("coverage"));
  assert.deepEqual(linesOf(textOf(part.objects, after.values.object)), kept);
  assert.ok(
    kept.some((line) => line.includes('"value":true')),
    "what `built` shows stays, though `approved` has it too",
  );
  const unknown = sourceOf(GOLDEN, 1, { withheld_conditions: ["aproved"] });
  await assert.rejects(
    exported(unknown),
    (error) => error instanceof ExportError && error.code === "condition_not_found",
  );
});

Deno.test("exportRun() of a longer run shares every full segment, and of a prefix is what it was", async () => {
  const short = await exported(sourceOf(LONG, 520));
  const long = await exported(sourceOf(LONG, 611));
  const [first, second, third] = segmentsOf(long);
  assert.deepEqual(segmentsOf(short).slice(0, 2), [first, second]);
  assert.deepEqual([first?.last_revision, second?.last_revision, third?.first_revision, third?.last_revision], [
    256,
    512,
    513,
    611,
  ]);
  const golden = await exported(sourceOf(GOLDEN, GOLDEN.records.length));
  const prefix = await exported(sourceOf(LONG, GOLDEN.records.length));
  assert.deepEqual(prefix, golden);
});

Deno.test("exportRun() yields the same objects for pages of any size", async () => {
  const whole = await exported(sourceOf(LONG, 611));
  for (const size of [1, 7, 255]) {
    const source = sourceOf(LONG, 611, {
      records: (after, limit) => Promise.resolve(LONG.records.slice(after, after + Math.min(limit, size))),
    });
    assert.deepEqual(await exported(source), whole);
  }
});

const forge = (change: (record: AcceptedRecord) => AcceptedRecord): Partial<ExportSource> => ({
  records: (after, limit) =>
    Promise.resolve(
      GOLDEN.records.slice(after, after + limit).map((record) => record.revision === 4 ? change(record) : record),
    ),
});

const otherRecord = (record: string): Pick<AcceptedRecord, "record" | "record_id"> => ({
  record,
  record_id: identifyCanonical(SHA256, "run-record", record),
});

// What the store gives in place of what was accepted: every row is an integrity failure.
const DAMAGE: readonly [string, Partial<ExportSource>][] = [
  ["another byte in a record", forge((record) => ({ ...record, record: record.record.replace("stdio", "studio") }))],
  [
    "another record under its own identity",
    forge((record) => ({ ...record, ...otherRecord(record.record.replace("stdio", "studio")) })),
  ],
  ["another revision", forge((record) => ({ ...record, revision: 5 }))],
  [
    "a receipt of another operation",
    forge((record) => ({
      ...record,
      receipt: { ...record.receipt, operation: { family: "submit", identity: "0".repeat(32) } },
    })),
  ],
  [
    "another value",
    forge((record) => ({
      ...record,
      material: record.material.map((item) => ({ ...item, body: item.body.replace("true", "false") })),
    })),
  ],
  ["no value", forge((record) => ({ ...record, material: [] }))],
  [
    "a material of another kind",
    forge((record) => ({
      ...record,
      material: [...record.material, { kind: "contract", identity: SHA256(""), body: "{}" }],
    })),
  ],
  ["no more records", {
    records: (after, limit) => Promise.resolve(GOLDEN.records.slice(after, Math.min(4, after + limit))),
  }],
  ["a page that is too long", { records: () => Promise.resolve(LONG.records) }],
  ["another law", { law: GOLDEN.law.law.replace("runbook-v1", "runbook-v2") }],
  ["another head", { head: { record_id: SHA256("head"), revision: 5 } }],
  ["another scenario", { scenario_id: "other" }],
  ["another run", { run_key: { namespace_id: 3, run_id: GOLDEN.state.run_key.run_id } }],
  ["no artifact", { artifact: () => Promise.resolve(null) }],
  ["another artifact", { artifact: () => Promise.resolve({ kind: "contract", body: "{}" }) }],
];

for (const [what, changes] of DAMAGE) {
  Deno.test(`exportRun() given ${what}: integrity_failure`, async () => {
    const source = sourceOf(GOLDEN, GOLDEN.records.length, changes);
    await assert.rejects(
      exported(source),
      (error) => error instanceof ExportError && error.code === "integrity_failure",
    );
  });
}
