import assert from "node:assert/strict";
import fc from "../../tests/packages/fast_check.ts";
import { instantText } from "./instant_text.ts";

Deno.test("instantText() is RFC 3339 with a year of four digits, from 0000 to 9999", () => {
  const millis = fc.integer({ min: -62_167_219_200_000, max: 253_402_300_799_999 });
  fc.assert(
    fc.property(millis, (at) => assert.match(instantText(at), /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/)),
  );
});

const INSTANTS: readonly (readonly [millis: number, text: string])[] = [
  [0, "1970-01-01T00:00:00.000Z"],
  [-1, "1969-12-31T23:59:59.999Z"],
  [951_782_400_000, "2000-02-29T00:00:00.000Z"],
  [253_402_300_799_999, "9999-12-31T23:59:59.999Z"],
  [253_402_300_800_000, "253402300800000 ms"],
  [-62_167_219_200_001, "-62167219200001 ms"],
];

for (const [millis, text] of INSTANTS) {
  Deno.test(`instantText() ${millis}: ${text}`, () => assert.equal(instantText(millis), text));
}
