import assert from "node:assert/strict";
import { verifyRunpack } from "../../../src/runpack/verify/verify.ts";
import { randomOf } from "../crash/random.ts";
import type { Editable } from "../kernel/law_specs.ts";
import { forge, type Parts } from "./forge.ts";
import { memorySource, PRIMITIVES, statusesOf } from "../runpack/memory.ts";
import { playGoldenRun } from "../runpack/run.ts";

/** Rewrites of every run of the tests. */
const REWRITES = 1500;

/** What a rewrite puts in the place of something. */
const STRANGE: readonly Editable[] = [
  null,
  true,
  -1,
  0,
  1e300,
  "",
  "\ud83d\ude00",
  "constructor",
  "f".repeat(64),
  [],
  {},
  [[[[]]]],
  { kind: "json" },
  { Condition: "built" },
  { value: 1, value_type: "Integer" },
];

/** Every place below a value: who holds it, and its name there. */
function placesOf(value: Editable): [Editable, string | number][] {
  if (typeof value !== "object" || value === null) return [];
  return Object.keys(value).flatMap((name) => [[value, name] as [Editable, string], ...placesOf(value[name])]);
}

/** Rewrites one place of a run, its identities left to be made anew. */
function rewrite(parts: Parts, random: () => number): string {
  const roots = [...parts.records, ...parts.receipts, parts.law, ...parts.artifacts, ...parts.bodies.values()];
  const root = roots[Math.floor(random() * roots.length)];
  const places = placesOf(root);
  const [holder, name] = places[Math.floor(random() * places.length)] ?? [root, ""];
  const what = Math.floor(random() * (STRANGE.length + 3)) - 3;
  if (what === -3) delete holder[name];
  else if (what === -2) holder[`${name}_`] = holder[name];
  else if (what === -1 && Array.isArray(holder)) holder.push(structuredClone(holder[name as number]));
  else holder[name] = structuredClone(STRANGE[Math.max(0, what)]);
  return `${String(name)} ${what}`;
}

Deno.test("verifyRunpack() returns a report for every pack whose objects match their identities", async () => {
  const run = playGoldenRun();
  const random = randomOf(17);
  let violated = 0;
  for (let round = 0; round < REWRITES; round++) {
    let what = "";
    const pack = (() => {
      try {
        return forge(run, (parts) => what = rewrite(parts, random));
      } catch {
        // What cannot be written as a pack at all.
        return null;
      }
    })();
    if (pack === null) continue;
    const request = { runpack_identity: null, profile: "full_replay_v1", budget: null, trusted_keys: null } as const;
    const report = await verifyRunpack(memorySource(pack), request, PRIMITIVES).catch((error: unknown) => {
      throw new Error(`Rewrite ${round}, ${what}`, { cause: error });
    });
    if (Object.values(statusesOf(report)).some((status) => status.startsWith("violated"))) violated++;
  }
  assert.ok(violated > REWRITES / 2, `${violated} of ${REWRITES}`);
});
