import assert from "node:assert/strict";
import { anyInteger, anything, integer, listOf, oneOf, orNull, text, variant } from "../../canonical/shape.ts";
import { characters, optional, patterned, table } from "../../canonical/table_shape.ts";
import type { JsonObject, JsonValue } from "../../canonical/json.ts";
import { decodeInput, ISSUES_MAXIMUM, publishSchema } from "./decode.ts";

const schema = table({
  namespace_id: integer(1),
  expected_head: table({
    record_id: patterned(text, /^[0-9a-f]{64}$/, "64 lower-case hex digits"),
    revision: anyInteger,
  }),
  kind: oneOf("a", "b"),
  payload: optional(
    variant("kind", {
      json: table({ kind: oneOf("json"), value: anything }),
      text: table({ kind: oneOf("text"), text: characters(0, 3) }),
    }),
  ),
  items: optional(listOf(table({ id: text }), 2)),
  cursor: optional(orNull(text)),
  most: optional(orNull(table({ records: anyInteger, bytes: optional(anyInteger) }))),
});

const HEAD = { record_id: "0".repeat(64), revision: 1 };
const GOOD: JsonObject = { namespace_id: 2, expected_head: HEAD, kind: "a" };

/** A change of valid arguments, then the issues as `path: message`. */
const FAULTS: readonly (readonly [change: JsonObject, issues: readonly string[]])[] = [
  [{ namespace_id: 0 }, ["$.namespace_id: Expected at least 1, got 0"]],
  [{ namespace_id: 1.5 }, ["$.namespace_id: Expected an integer, got 1.5"]],
  [{ namespace_id: "2" }, ["$.namespace_id: Expected an integer, got a string of 1 character"]],
  [{ expected_head: { record_id: HEAD.record_id } }, [
    "$.expected_head.revision: Member is required: expected an integer",
  ]],
  [{ expected_head: { revision: 1 } }, [
    "$.expected_head.record_id: Member is required: expected 64 lower-case hex digits",
  ]],
  [{ expected_head: HEAD.record_id }, [
    '$.expected_head: Expected an object with "record_id", "revision", got a string of 64 characters',
  ]],
  [{ expected_head: { ...HEAD, record_id: "SECRET" } }, [
    "$.expected_head.record_id: Expected 64 lower-case hex digits, got a string of 6 characters",
  ]],
  [{ expected_head: { ...HEAD, recordid: 1 } }, [
    '$.expected_head.recordid: Member "recordid" is unknown; did you mean "record_id"?',
  ]],
  [{ zzzzzzzz: 1 }, [
    '$.zzzzzzzz: Member "zzzzzzzz" is unknown; expected only "namespace_id", "expected_head", "kind", "payload", "items", "cursor", "most"',
  ]],
  [{ kind: "c" }, ['$.kind: Expected one of "a", "b", got a string of 1 character']],
  [{ kind: null }, ['$.kind: Expected one of "a", "b", got null']],
  [{ payload: [] }, ['$.payload: Expected an object whose kind is "json" or "text", got an array of 0 items']],
  [{ payload: { kind: "xml" } }, ['$.payload.kind: Expected one of "json", "text", got a string of 3 characters']],
  [{ payload: { kind: "json" } }, ["$.payload.value: Member is required: expected any JSON value"]],
  [{ payload: { kind: "text", text: "four" } }, [
    "$.payload.text: Expected at most 3 characters, got a string of 4 characters",
  ]],
  [{ payload: { kind: "text", text: "a", more: 1 } }, [
    '$.payload.more: Member "more" is unknown; expected only "kind", "text"',
  ]],
  [{ items: [{ id: "a" }, { id: "b" }, { id: "c" }] }, ["$.items: Expected at most 2 items, got an array of 3 items"]],
  [{ items: [{ id: [] }, null] }, [
    "$.items[0].id: Expected a string, got an array of 0 items",
    '$.items[1]: Expected an object with "id", got null',
  ]],
  [{ items: "three" }, ["$.items: Expected an array, got a string of 5 characters"]],
  [{ most: { records: 1, foo: 2 } }, ['$.most.foo: Member "foo" is unknown; expected only "records", "bytes"']],
  [{ most: { records: 1, byte: 2 } }, ['$.most.byte: Member "byte" is unknown; did you mean "bytes"?']],
  [{ cursor: 1 }, ["$.cursor: Expected a string, got 1"]],
  [{ namespace_id: 0, kind: "c" }, [
    "$.namespace_id: Expected at least 1, got 0",
    '$.kind: Expected one of "a", "b", got a string of 1 character',
  ]],
];

function issuesOf(input: JsonObject): string[] {
  const decoded = decodeInput(schema, input);
  assert.equal(decoded.ok, false);
  if (decoded.ok) return [];
  assert.equal(decoded.error.code, "invalid_input");
  assert.equal(decoded.error.kind, "invalid_request");
  const issues = decoded.error.details?.["issues"] as unknown as { path: string; message: string }[];
  return issues.map(({ path, message }) => `${path}: ${message}`);
}

for (const [change, issues] of FAULTS) {
  Deno.test(`decodeInput() reports ${issues.join(" and ")}`, () =>
    assert.deepEqual(issuesOf({ ...GOOD, ...change }), issues));
}

Deno.test("decodeInput() names a member __proto__ as unknown", () => {
  const text = `{"namespace_id":2,"expected_head":${JSON.stringify(HEAD)},"kind":"a","__proto__":{"kind":"b"}}`;
  assert.match(issuesOf(JSON.parse(text) as JsonObject)[0] ?? "", /^\$\.__proto__: Member "__proto__" is unknown/);
});

Deno.test("decodeInput() ignores inherited members", () => {
  const input = Object.create({ kind: "a" }) as Record<string, JsonValue>;
  input["namespace_id"] = 2;
  input["expected_head"] = HEAD;
  const own = JSON.parse(JSON.stringify(input)) as JsonObject;
  assert.deepEqual(issuesOf(own), ['$.kind: Member is required: expected one of "a", "b"']);
});

Deno.test("decodeInput() passes free JSON by reference, with its member __proto__", () => {
  const value = JSON.parse('{"__proto__":{"a":1},"constructor":2}') as JsonValue;
  const decoded = decodeInput(schema, { ...GOOD, payload: { kind: "json", value } });
  assert.ok(decoded.ok && decoded.input.payload?.kind === "json");
  assert.equal(decoded.input.payload.value, value);
  assert.equal(JSON.stringify(decoded.input.payload.value), '{"__proto__":{"a":1},"constructor":2}');
});

for (const [count, shown] of [[ISSUES_MAXIMUM, ISSUES_MAXIMUM], [ISSUES_MAXIMUM + 1, ISSUES_MAXIMUM]] as const) {
  Deno.test(`decodeInput() shows ${shown} of ${count} issues`, () => {
    const more = Object.fromEntries(Array.from({ length: count }, (_, index) => [`unknown${index}`, 1]));
    assert.equal(issuesOf({ ...GOOD, ...more }).length, shown);
  });
}

Deno.test("decodeInput() counts faults beyond those that it shows, and does not look at their values again", () => {
  let reads = 0;
  const items = Object.defineProperty(Array.from({ length: 1000 }, () => 0), 999, { get: () => reads++ });
  const decoded = decodeInput(table({ items: listOf(text) }), { items, other: 1 });
  assert.ok(!decoded.ok);
  assert.match(decoded.error.message, / \(and 1000 more\)$/);
  assert.equal(reads, 1);
});

Deno.test("decodeInput() omits a very long name from the path", () => {
  const issues = issuesOf({ ...GOOD, ["x".repeat(100_000)]: 1 });
  assert.match(issues[0] ?? "", /^\$: Member "x{64}\.\.\." is unknown/);
});

Deno.test("publishSchema() returns a closed schema without redundant keywords", () => {
  const published = publishSchema(schema) as unknown as { properties: JsonObject; additionalProperties: boolean };
  assert.equal(published.additionalProperties, false);
  assert.deepEqual(published.properties["namespace_id"], { type: "integer" });
  assert.equal("$schema" in published, false);
});

Deno.test("decodeInput() names the alternatives of a required member", () => {
  const union = variant("kind", { here: table({ kind: oneOf("here") }), there: table({ kind: oneOf("there") }) });
  const decoded = decodeInput(table({ origin: union }), {});
  assert.ok(!decoded.ok);
  assert.match(
    decoded.error.message,
    /\$\.origin: Member is required: expected an object whose kind is "here" or "there"$/,
  );
});
