import assert from "node:assert/strict";
import type { ObservationDomain } from "../../law/value/types.ts";
import { describeDomain } from "./describe_law.ts";

const ROWS: readonly (readonly [domain: ObservationDomain, outcome: string])[] = [
  [{ domain: "String", minimum_bytes: 0, maximum_bytes: 1 }, "a string of 0 to 1 bytes"],
  [{ domain: "String", minimum_bytes: 1, maximum_bytes: 1 }, "a string of 1 byte"],
  [{ domain: "String", minimum_bytes: 40, maximum_bytes: 40 }, "a string of 40 bytes"],
  [{ domain: "String", minimum_bytes: 40, maximum_bytes: 64 }, "a string of 40 to 64 bytes"],
  [{ domain: "Json", maximum_bytes: 1 }, "JSON of at most 1 byte,"],
];

for (const [domain, outcome] of ROWS) {
  Deno.test(`describeDomain() ${outcome}`, () => assert.equal(describeDomain(domain), outcome));
}
