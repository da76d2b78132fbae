/**
 * Row 8: canonical JSON against the two packages that write it on npm, on a record and on a large attempt.
 *
 * @module
 */

import assert from "node:assert/strict";
import peerCanonicalize from "../../packages/canonicalize.ts";
import peerJsonCanon from "../../packages/json_canon.ts";
import { canonicalize } from "../../../src/canonical/canonicalize.ts";
import type { JsonValue } from "../../../src/canonical/json.ts";
import { type BenchRow, compare, median } from "../harness.ts";

/** Text written in one round. */
const ROUND_BYTES = 8_000_000;

const DIGEST = "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a";

/** A run record as gate builds it: names in the order of thought, not of the alphabet. */
const RECORD: JsonValue = {
  run_id: "5f0c3b1e9a7d4c2280aa11bb22cc33dd",
  revision: 12,
  prior: DIGEST,
  record: { kind: "stage_opened", stage_id: "build", accepted_at: 1760000000123, entry_intents: ["a", "b"] },
  admission: { kind: "bearer", profile_id: DIGEST, principal: null },
  reproducible: true,
  note: 'opened after "review"',
  ratio: 0.25,
};

/** An attempt with many evidence items, some with escapes and letters beyond ASCII. */
const ATTEMPT: JsonValue = {
  kind: "attempt",
  trace: Array.from({ length: 175 }, (_, index) => ({
    item_id: `item-${index}`,
    condition_id: `coverage_${index % 7}`,
    channel: "caller_submission",
    value_identity: DIGEST,
    qualified: index % 3 !== 0,
    reason: index % 3 === 0 ? "lane" : null,
    observed: {
      observed_at: 1760000000000 + index * 977,
      ratio: index / 7,
      text: index % 5 === 0 ? `tab\there, \u00fcn\u00ef ${index}` : `line of report number ${index}`,
    },
  })),
  outcome: "unknown",
};

/** Measures row 8. */
export async function run(): Promise<BenchRow[]> {
  const documents = [["0.4 kB", RECORD], ["50 kB", ATTEMPT]] as const;
  const peers = [
    { name: "canonicalize 5.1.0", write: peerCanonicalize as (value: unknown) => string, must: 2, goal: 3 },
    { name: "json-canon 1.0.1", write: peerJsonCanon as (value: unknown) => string, must: 1, goal: 1.5 },
  ];
  const rows: BenchRow[] = [];
  for (const [size, document] of documents) {
    const value = JSON.parse(JSON.stringify(document)) as JsonValue;
    const native = median(Array.from({ length: 7 }, () => throughput(() => JSON.stringify(value), value)));
    for (const peer of peers) {
      rows.push(
        await compare({
          row: "8",
          name: `canonical JSON, ${size}`,
          peer_name: peer.name,
          unit: "MB/s",
          must: peer.must,
          goal: peer.goal,
          direction: "higher",
          ceiling: `JSON.stringify, unordered, ${native.toFixed(0)} MB/s`,
          ours: () => throughput(() => canonicalize(value), value),
          peer: () => throughput(() => peer.write(value), value),
        }),
      );
      assert.equal(canonicalize(value), peer.write(value));
    }
  }
  return rows;
}

/** Megabytes of canonical text a second. The text is read once, because a hash would read it too. */
function throughput(write: () => string, value: JsonValue): number {
  const bytes = new TextEncoder().encode(canonicalize(value)).length;
  const repeats = Math.ceil(ROUND_BYTES / bytes);
  let seen = 0;
  const start = performance.now();
  for (let repeat = 0; repeat < repeats; repeat++) {
    const text = write();
    seen += text.charCodeAt(text.length >> 1);
  }
  const milliseconds = performance.now() - start;
  assert.ok(seen > 0);
  return bytes * repeats / milliseconds / 1000;
}
