/** The bytes of documents: formats, and limits at the value below, at, and above each. */

import assert from "node:assert/strict";
import type { JsonValue } from "../../../canonical/json.ts";
import { IMPORT_LIMITS } from "../import_result.ts";
import { complexityFault, JSON_MARKS_MAXIMUM, JSON_MEMORY_MAXIMUM, readSource } from "./read_source.ts";

function outcomeOf(bytes: Uint8Array): string {
  const read = readSource(bytes);
  return "code" in read ? read.code : "read";
}

Deno.test("a document is JSON where it begins with a brace, else YAML", () => {
  const rows: readonly (readonly [text: string, outcome: string])[] = [
    [`{"openapi":"3.1.0"}`, "read"],
    [`\ufeff{"openapi":"3.1.0"}`, "read"],
    [` \n{"openapi":"3.1.0"}`, "read"],
    ["openapi: 3.1.0\n", "read"],
    ["{openapi: 3.1.0}", "document_invalid"],
    [`{"a":1,"a":2}`, "document_invalid"],
    [`{"a":"\\ud800"}`, "document_invalid"],
    ["a: &x 1\nb: *y\n", "document_invalid"],
    ["a: 1\na: 2\n", "document_invalid"],
  ];
  for (const [text, outcome] of rows) assert.equal(outcomeOf(new TextEncoder().encode(text)), outcome, text);
  assert.equal(outcomeOf(new Uint8Array([0x7b, 0xff])), "document_invalid");
  assert.equal(outcomeOf(new Uint8Array([0xff])), "document_invalid");
});

Deno.test("YAML has at most its bytes", () => {
  const limit = IMPORT_LIMITS.yamlBytes;
  for (const [bytes, outcome] of [[limit - 1, "read"], [limit, "read"], [limit + 1, "document_too_large"]] as const) {
    const text = new Uint8Array(bytes).fill(0x20);
    text.set(new TextEncoder().encode("a: 1"));
    assert.equal(outcomeOf(text), outcome, `${bytes}`);
  }
});

Deno.test("JSON has at most its commas, colons and brackets", () => {
  const limit = JSON_MARKS_MAXIMUM;
  for (const [marks, outcome] of [[limit - 1, "read"], [limit, "read"], [limit + 1, "document_too_complex"]] as const) {
    const text = `{"a":[0${",0".repeat(marks - 3)}]}`;
    assert.equal(outcomeOf(new TextEncoder().encode(text)), outcome, `${marks}`);
  }
});

Deno.test("the memory that JSON would take is bounded by its bytes, the width of its characters, and its marks", () => {
  const marks = 2_100_000;
  const limit = (JSON_MEMORY_MAXIMUM - 100 * marks) / 3;
  const rows: readonly (readonly [bytes: number, wide: boolean, isFault: boolean])[] = [
    [limit - 1, false, false],
    [limit, false, false],
    [limit + 1, false, true],
    [limit, true, true],
  ];
  for (const [length, wide, isFault] of rows) {
    const bytes = new Uint8Array(length).fill(0x2c, 0, marks);
    if (wide) bytes.set(new TextEncoder().encode("€"), marks);
    assert.equal(complexityFault(bytes) !== null, isFault, `${length} ${wide}`);
  }
});

Deno.test("JSON is nested at most 128 deep", () => {
  for (const [depth, outcome] of [[127, "read"], [128, "read"], [129, "document_invalid"]] as const) {
    const text = `${'{"a":'.repeat(depth - 1)}{}${"}".repeat(depth - 1)}`;
    assert.equal(outcomeOf(new TextEncoder().encode(text)), outcome, `${depth}`);
  }
});

Deno.test("numbers that no double keeps are rounded, with a warning each", () => {
  const rows: readonly (readonly [text: string, document: JsonValue | null, warnings: number])[] = [
    [`{"a":9223372036854775807}`, { a: 9223372036854775807 }, 1],
    [`{"a":[18014398509481983,-18014398509481983,0.1000000000000000000001],"b":1}`, {
      a: [18014398509481984, -18014398509481984, 0.1],
      b: 1,
    }, 3],
    ["a: 9223372036854775807\n", { a: 9223372036854775807 }, 1],
    [`{"a":1e400}`, null, 0],
    ["a: .inf\n", null, 0],
    [`{"a":${"9".repeat(1100)}}`, null, 0],
  ];
  for (const [text, document, warnings] of rows) {
    const read = readSource(new TextEncoder().encode(text));
    assert.deepEqual("code" in read ? null : read.document, document, text);
    assert.deepEqual(
      read.warnings.map(({ code }) => code),
      Array.from({ length: warnings }, () => "number_rounded"),
      text,
    );
  }
});
