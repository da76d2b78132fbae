import assert from "node:assert/strict";
import fc from "../../../tests/packages/fast_check.ts";
import { lawOfSeed } from "./random_law_fixture.ts";
import { readLawText, writeLaw } from "../law_file.ts";
import { checkRoundTrip, lawOfSpec } from "./round_trip_fixture.ts";

// Two laws a run: a proof run checks 10,000. The laws of the vectors: tests/simulation/law_round_trip_test.ts.
Deno.test("writeLaw() writes every generated law so that it compiles to the same law", () => {
  fc.assert(fc.property(fc.integer(), (seed) => {
    for (const one of [seed, ~seed]) checkRoundTrip(lawOfSeed(one));
  }));
});

Deno.test("writeLaw() keeps a check of the clock that no line can have, and that never answers", () => {
  for (
    const check of ["time.after: { timestamp: 2026-12-01 }", "calendar.open: { schedule: Tue, time_zone: Nowhere }"]
  ) {
    const read = readLawText(`law: x\nevidence:\n  a: { type: boolean, from: { ${check} } }\nstages: { s: a }\n`);
    const law = read.ok ? lawOfSpec(read.file.spec) : null;
    assert.ok(law !== null, check);
    assert.match(writeLaw(law), /from: |time\.after|calendar\.open/);
    checkRoundTrip(law);
  }
});
