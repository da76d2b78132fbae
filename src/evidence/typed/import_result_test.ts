/** The helpers that every importer uses: check ids, comparators, texts and pointers from a document. */

import assert from "node:assert/strict";
import type { JsonValue } from "../../canonical/json.ts";
import {
  CANDIDATE_REASONS,
  candidateReason,
  comparatorsOf,
  createCheckIds,
  createWarningCollector,
  IMPORT_LIMITS,
  IMPORT_REFUSALS,
  pointerOf,
  refuseImport,
  shortDescription,
  stepsOf,
} from "./import_result.ts";

Deno.test("a check has the comparators that can hold for its result", () => {
  const rows: readonly (readonly [schema: JsonValue, has: string, hasNot: string])[] = [
    [{ type: "boolean" }, "equals", "contains"],
    [{ type: "integer" }, "greater_than", "lex_less_than"],
    [{ type: "number" }, "less_than_or_equal", "deep_equals"],
    [{ type: "string" }, "lex_greater_than", "greater_than"],
    [{ type: "string", format: "date-time" }, "greater_than", "deep_equals"],
    [{ type: "string", format: "int64" }, "less_than", "deep_equals"],
    [{ type: "array" }, "contains", "in_set"],
    [{ type: "object" }, "deep_not_equals", "contains"],
    [{ type: ["integer", "null"] }, "greater_than", "contains"],
    [{ anyOf: [{ type: "string", format: "date" }, { type: "null" }] }, "less_than", "deep_equals"],
    [{ enum: ["a", "b"] }, "contains", "deep_equals"],
  ];
  for (const [schema, has, hasNot] of rows) {
    const found = comparatorsOf(schema);
    assert.ok(found.includes(has), `${JSON.stringify(schema)} ${has}`);
    assert.ok(!found.includes(hasNot), `${JSON.stringify(schema)} ${hasNot}`);
  }
  assert.equal(comparatorsOf(true).length, 16);
});

Deno.test("check ids are unique, bounded and without control characters", () => {
  const ids = createCheckIds();
  const long = "ä".repeat(200);
  const taken = [ids.take("a"), ids.take("a"), ids.take("a_2"), ids.take("a"), ids.take(""), ids.take("x\ny")];
  assert.deepEqual(taken, ["a", "a_2", "a_2_2", "a_3", "check", "x_y"]);
  assert.equal(ids.take(long), "ä".repeat(124));
  assert.equal(ids.take(long), `${"ä".repeat(124)}_2`);
  const limit = IMPORT_LIMITS.checkIdBytes;
  const exact: readonly (readonly [id: string, taken: boolean])[] = [
    ["b".repeat(limit - 1), true],
    ["b".repeat(limit), true],
    ["b".repeat(limit + 1), false],
    ["a", false],
    ["", false],
    ["a\tb", false],
    ["\ud800", false],
  ];
  for (const [id, expected] of exact) assert.equal(ids.takeExactly(id), expected, id);
});

Deno.test("texts from a document are cut, and keep whole characters", () => {
  const maximum = IMPORT_LIMITS.descriptionCharacters;
  assert.equal(shortDescription("  text ", "other"), "text");
  assert.equal(shortDescription(undefined, "other"), "other");
  assert.equal(shortDescription(5, "other"), "other");
  assert.equal(shortDescription("x".repeat(maximum), "").length, maximum);
  assert.equal(shortDescription("x".repeat(maximum + 1), "").length, maximum);
  assert.ok(shortDescription("😀".repeat(maximum), "").isWellFormed());
  assert.equal(candidateReason("response_missing", "/paths", "x".repeat(10_000)).message.length < 700, true);
  assert.equal(refuseImport("document_invalid", "").message, "The document cannot be read");
});

Deno.test("a warning is kept once, in the order of pointers, and at most so many are", () => {
  const collector = createWarningCollector();
  const { warn } = collector;
  for (const pointer of ["/b", "/a", "/b"]) warn("keyword_ignored", pointer, "x");
  assert.deepEqual(collector.warnings.map(({ pointer }) => pointer), ["/a", "/b"]);
  for (let number = 2; number < IMPORT_LIMITS.warnings - 1; number++) warn("parameter_ignored", `/${number}`, "x");
  assert.equal(collector.warnings.length, IMPORT_LIMITS.warnings - 1);
  warn("parameter_ignored", "/n", "x");
  assert.equal(collector.warnings.length, IMPORT_LIMITS.warnings);
  warn("parameter_ignored", "/o", "x");
  assert.equal(collector.warnings.length, IMPORT_LIMITS.warnings);
});

Deno.test("a pointer and its steps are the same path", () => {
  const rows: readonly (readonly [pointer: string, steps: readonly string[] | null])[] = [
    ["", []],
    ["/", [""]],
    ["/a~1b/m~0n/0", ["a/b", "m~n", "0"]],
    ["a", null],
    ["/~2", null],
    ["/~", null],
  ];
  for (const [pointer, steps] of rows) {
    assert.deepEqual(stepsOf(pointer), steps);
    if (steps !== null) assert.equal(pointerOf(steps), pointer);
  }
});

Deno.test("the pages about typed services name every reason and every refusal", async () => {
  const read = (name: string): Promise<string> =>
    Deno.readTextFile(new URL(`../../../docs/reference/${name}.md`, import.meta.url));
  const [openapi, grpc] = [await read("typed_openapi"), await read("typed_grpc")];
  const missing = [...Object.keys(CANDIDATE_REASONS), ...Object.keys(IMPORT_REFUSALS)]
    .filter((code) => !openapi.includes(`| \`${code}\``) && !grpc.includes(`| \`${code}\``));
  assert.deepEqual(missing, []);
});
