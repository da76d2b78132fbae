import assert from "node:assert/strict";
import type { JsonValue } from "../../canonical/json.ts";
import { readResult, writeResult } from "./import_protocol.ts";
import type { ImportResult } from "./import_result.ts";
import { importOpenApi } from "./openapi/import.ts";

const NAMES = ["A", "__proto__", "constructor", "a b", "\\", "\n", '"'];

/** A document whose operations return schemas that refer to each other. */
function documentOf(paths: number): JsonValue {
  const ref = (name: string): JsonValue => ({ $ref: `#/components/schemas/${encodeURIComponent(name)}` });
  const schemas = NAMES.map((
    name,
  ) => [name, { type: "object", properties: { x: ref("A"), y: { type: "boolean", description: '\\"\n' } } }]);
  const schema = { type: "object", properties: Object.fromEntries(NAMES.map((name) => [name, ref(name)])) };
  const responses = { 200: { content: { "application/json": { schema } } } };
  const operations = Array.from({ length: paths }, (_, index) => [`/p${index}`, { get: { responses } }]);
  return {
    openapi: "3.1.0",
    servers: [{ url: "https://a.example" }],
    components: { schemas: Object.fromEntries(schemas) },
    paths: Object.fromEntries(operations),
  };
}

Deno.test("writeResult() and readResult() keep a result, with the order and the names of its members", () => {
  const result = importOpenApi(documentOf(3), { provider_id: "a" });
  assert.ok(result.ok);
  const again = readResult(writeResult(result));
  assert.deepEqual(again, result);
  assert.equal(JSON.stringify(again), JSON.stringify(result));
  const [check] = again.ok ? again.contract.checks : [];
  const schema = check?.result_schema as { readonly $defs: object };
  assert.ok(Object.hasOwn(schema.$defs, "__proto__"));
});

Deno.test("writeResult() writes a definition once for all checks that have it", () => {
  const [few, many] = [1, 100].map((paths) => importOpenApi(documentOf(paths), { provider_id: "a" })) as [
    ImportResult,
    ImportResult,
  ];
  const countOf = (result: ImportResult): number => writeResult(result).split('"boolean"').length;
  assert.equal(countOf(many), countOf(few));
});

Deno.test("readResult() keeps a refusal", () => {
  const refused = importOpenApi({}, { provider_id: "a" });
  assert.equal(refused.ok, false);
  assert.deepEqual(readResult(writeResult(refused)), refused);
});
