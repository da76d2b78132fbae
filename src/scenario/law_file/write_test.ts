import fc from "../../../tests/packages/fast_check.ts";
import { lawOfSeed } from "./random_law_fixture.ts";
import { checkRoundTrip } from "./round_trip_fixture.ts";

// Two laws a run: a proof run checks 10,000. The laws of the vectors: tests/simulation/law_round_trip_test.ts.
Deno.test("writeLaw() writes every generated law so that it compiles to the same law", () => {
  fc.assert(fc.property(fc.integer(), (seed) => {
    for (const one of [seed, ~seed]) checkRoundTrip(lawOfSeed(one));
  }));
});
