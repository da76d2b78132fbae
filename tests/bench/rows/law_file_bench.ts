/**
 * Row 17: reading a law of 500 lines against reading its YAML alone.
 *
 * @module
 */

import assert from "node:assert/strict";
import { readLawText } from "../../../src/scenario/law_file.ts";
import { readYamlSource } from "../../../src/scenario/source_yaml.ts";
import { type BenchRow, compare } from "../harness.ts";

const LINES = 500;

/** A law of 500 lines: each kind of evidence and of comparison in turn. */
function longLaw(): string {
  const names = Array.from({ length: (LINES - 8) / 2 }, (_, at) => `name_${at}`);
  const kinds = [
    ["count from rest https://ci.example/commits/{commit}/tests $.failed", "== 0"],
    ["percent", ">= 80"],
    ["rest https://staging.example/deployments/{commit} $.since", '<= now - duration("30m")'],
    ["2 of dbas within 1h", ""],
  ] as const;
  const kindOf = (at: number): (typeof kinds)[number] => kinds[at % kinds.length] ?? kinds[0];
  const evidence = names.map((name, at) => `  ${name}: ${kindOf(at)[0]}\n`).join("");
  const stages = names.map((name, at) => `  s_${name}: ${name} ${kindOf(at)[1]}`.trimEnd() + "\n").join("");
  return `law: long\nnamespace: 2\nparameters:\n  commit: text(7..40)\npeople:\n  dbas: [alice, bob, carol]\n` +
    `evidence:\n${evidence}stages:\n${stages}`;
}

/** Milliseconds that a reading takes. */
function timed(read: () => void): number {
  const start = performance.now();
  read();
  return performance.now() - start;
}

/** Measures the row in pairs within one process. */
export async function run(quick: boolean): Promise<BenchRow[]> {
  const text = longLaw();
  const bytes = new TextEncoder().encode(text);
  assert.equal(text.trimEnd().split("\n").length, LINES);
  return [
    await compare({
      row: "17",
      name: `a law file of ${LINES} lines`,
      peer_name: "its YAML alone",
      unit: "ms",
      must: 2,
      goal: 1.5,
      direction: "lower",
      ours: () => timed(() => assert.ok(readLawText(text).ok)),
      peer: () => timed(() => assert.ok(readYamlSource(bytes).ok)),
      rounds: { counted: quick ? 15 : 101, warmUp: 20 },
    }),
  ];
}
