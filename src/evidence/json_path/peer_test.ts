// Compares results with json-p3 over random queries and documents. No query has `$` in a filter: in a nested filter the
// package reads it as the tested value.

import assert from "node:assert/strict";
import fc, { type Arbitrary } from "../../../tests/packages/fast_check.ts";
import { FunctionExpressionType, JSONPathEnvironment } from "json-p3";
import { canonicalize } from "../../canonical/canonicalize.ts";
import type { JsonValue } from "../../canonical/json.ts";
import { selectJson } from "./json_path.ts";

const environment = new JSONPathEnvironment();
// The package also runs patterns over values that are not strings.
for (const name of ["match", "search"]) {
  environment.functionRegister.set(name, {
    argTypes: [FunctionExpressionType.ValueType, FunctionExpressionType.ValueType],
    returnType: FunctionExpressionType.LogicalType,
    call: (text: unknown, pattern: unknown): boolean =>
      typeof text === "string" && typeof pattern === "string" &&
      new RegExp(name === "match" ? `^(?:${pattern})$` : pattern, "u").test(text),
  });
}

/** The result of the package, or the code of the error. */
function peerFinds(document: JsonValue, jsonpath: string): string {
  let query: ReturnType<JSONPathEnvironment["compile"]>;
  try {
    query = environment.compile(jsonpath);
  } catch {
    return "invalid_jsonpath";
  }
  const values = query.query(document as never).values() as JsonValue[];
  const [first] = values;
  if (first === undefined) return "jsonpath_not_found";
  return canonicalize(query.singularQuery() ? first : values);
}

type Drawn = Readonly<Record<"selector" | "segments" | "singular" | "value" | "test", string>> & {
  readonly document: JsonValue;
};

const name = fc.constantFrom("a", "b", "c");
const index = fc.integer({ min: -4, max: 4 }).map(String);
const bound = fc.oneof(index, fc.constant(""));
const drawn = fc.letrec<Drawn>((tie) => ({
  document: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(null, true, false, 0, 1, 2, "a", "b", "ab", ""),
    fc.array(tie("document"), { maxLength: 4 }),
    fc.dictionary(name, tie("document"), { maxKeys: 3 }),
  ) as Arbitrary<JsonValue>,
  selector: fc.oneof(
    { maxDepth: 3 },
    name.map((one) => `'${one}'`),
    index,
    fc.constant("*"),
    fc.tuple(bound, bound, bound).map((bounds) => bounds.join(":")),
    tie("test").map((test) => `?${test}`),
  ),
  segments: fc.array(
    fc.tuple(fc.constantFrom("", "", ".."), fc.array(tie("selector"), { minLength: 1, maxLength: 3 }))
      .map(([dots, selectors]) => `${dots}[${selectors.join(",")}]`),
    { maxLength: 3 },
  ).map((segments) => segments.join("")),
  singular: fc.array(fc.oneof(name.map((one) => `.${one}`), index.map((one) => `[${one}]`)), { maxLength: 2 }).map(
    (segments) => `@${segments.join("")}`,
  ),
  value: fc.oneof(
    { maxDepth: 2 },
    fc.constantFrom("null", "true", "false", "0", "1", "2", "'a'", "'b'", "'ab'"),
    tie("singular"),
    tie("value").map((value) => `length(${value})`),
    tie("segments").map((segments) => `count(@${segments})`),
    tie("segments").map((segments) => `value(@${segments})`),
  ),
  test: fc.oneof(
    { maxDepth: 3 },
    tie("segments").map((segments) => `@${segments}`),
    fc.tuple(tie("value"), fc.constantFrom("==", "!=", "<", ">", "<=", ">="), tie("value")).map((parts) =>
      parts.join("")
    ),
    fc.tuple(tie("test"), fc.constantFrom("&&", "||"), tie("test")).map((parts) => parts.join("")),
    fc.tuple(fc.constantFrom("(", "!("), tie("test")).map((parts) => `${parts.join("")})`),
    fc.tuple(fc.constantFrom("match", "search"), tie("value"), fc.constantFrom("'a'", "'a|b'", "'.*b'", "@.a")).map(
      ([called, text, pattern]) => `${called}(${text},${pattern})`,
    ),
  ),
}));

Deno.test("selectJson() finds what json-p3 finds, over random queries", () => {
  fc.assert(
    fc.property(drawn.document, drawn.segments, (document, segments) => {
      const selection = selectJson(document, `$${segments}`);
      const shown = "error" in selection ? selection.error.code : selection.found;
      assert.equal(shown, peerFinds(document, `$${segments}`), JSON.stringify([`$${segments}`, document]));
    }),
    { numRuns: 3_000 },
  );
});
