import assert from "node:assert/strict";
import { schemaText } from "./schema_text.ts";
import { settingsFile } from "./settings_page.ts";
import { schemaFiles, toolFiles } from "./tool_pages.ts";
import { ROOT_URL } from "./tree.ts";

Deno.test("the pages of docs/reference/tools are what the tools publish, and no others", async () => {
  const files = await toolFiles();
  for (const { path, text } of files) {
    const written = await Deno.readTextFile(new URL(path, ROOT_URL)).catch(() => "");
    assert.equal(written, text, `${path} is stale: run deno task docs:tools`);
  }
  const pages = [...Deno.readDirSync(new URL("docs/reference/tools/", ROOT_URL))].map(({ name }) =>
    `docs/reference/tools/${name}`
  );
  assert.deepEqual(pages.sort(), files.map(({ path }) => path).filter((path) => path.endsWith(".md")).sort());
});

Deno.test("the tables of docs/reference/configuration.md are what the schema says, with nothing left unsaid", async () => {
  const { path, text } = await settingsFile();
  assert.equal(await Deno.readTextFile(new URL(path, ROOT_URL)), text, `${path} is stale: run deno task docs:tools`);
  const rows = text.split("## Every setting")[1]?.split("\n").filter((line) => line.startsWith("| `")) ?? [];
  assert.ok(rows.length > 150);
  for (const row of rows) assert.match(row.split("|")[4] ?? "", /^ [A-Za-z].*\. *$/, row);
});

Deno.test("the schemas of contract and runtime profile in docs/reference are the published ones", async () => {
  for (const { path, text } of schemaFiles()) {
    assert.equal(await Deno.readTextFile(new URL(path, ROOT_URL)), text, `${path} is stale: run deno task docs:tools`);
  }
});

Deno.test("schemaText() writes each kind of schema", () => {
  const cases: [schema: Parameters<typeof schemaText>[0], text: string][] = [
    [{ type: "string" }, "string"],
    [{ type: "string", pattern: "^[0-9a-f]{64}$" }, "64 hex digits"],
    [{ type: "string", maxLength: 9 }, "string of at most 9 characters"],
    [{ type: "integer", minimum: 1 }, "integer >= 1"],
    [{ type: "integer", minimum: 1, maximum: 5 }, "integer 1..5"],
    [{ type: ["string", "null"] }, "string | null"],
    [{ const: "a" }, '"a"'],
    [{ enum: ["a", "b"] }, '"a" | "b"'],
    [{ type: "array", items: { enum: ["a", "b"] } }, 'array of ("a" | "b")'],
    [{ type: "object", properties: {}, additionalProperties: false }, "{}"],
    [{ type: "object" }, "object"],
    [{}, "any value"],
    [
      { type: "object", properties: { a: { type: "string" }, b: { type: "boolean" } }, required: ["a"] },
      "{ a: string; b?: boolean }",
    ],
    [
      { type: "object", properties: { a: { type: "string", description: "A." } }, required: ["a"] },
      "{\n  // A.\n  a: string\n}",
    ],
    [{ oneOf: [{ const: 1 }, { const: 2 }] }, "1 | 2"],
    [{ $ref: "#/$defs/requirement" }, "requirement"],
  ];
  for (const [schema, text] of cases) assert.equal(schemaText(schema), text);
});
