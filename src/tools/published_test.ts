import assert from "node:assert/strict";
import { Ajv2020 } from "../../tests/packages/ajv.ts";
import { isJsonObject, type JsonObject, type JsonValue, member } from "../canonical/json.ts";
import { TOOL_NAMES } from "../config/tool_names.ts";
import { withTools } from "./tests/tools_fixture.ts";
import { PUBLISHED } from "./framework/published.ts";
import { loadTools } from "./table.ts";
import type { Tool } from "./framework/types.ts";

/** The reviewed list; `deno task docs:tools` regenerates it, with `--rewrite`. */
const FILE = new URL("published.json", import.meta.url);
const REWRITE = Deno.args.includes("--rewrite");

/**
 * Bytes that a whole `tools/list` may take, for any number of tools. `tests/e2e/protocol/tools_list_test.ts` counts its
 * tokens.
 */
const LIST_BYTES_MAXIMUM = 40_000;

function published(tool: Tool): JsonObject {
  const { name, title, description, group, audit, inputSchema, outputSchema } = tool;
  const annotations = { title, ...tool.hints };
  return { name, title, description, annotations, inputSchema, outputSchema, group, audit };
}

async function withTable(test: (tools: Tool[]) => void | Promise<void>): Promise<void> {
  await withTools(async ({ tools }) => await test([...tools.values()]));
}

Deno.test("the file of published tools equals what their modules publish", () =>
  withTools(async ({ services }) => {
    const text = `${JSON.stringify((await loadTools(services)).map(published), null, 2)}\n`;
    if (REWRITE) await Deno.writeTextFile(FILE, text);
    assert.equal(text, await Deno.readTextFile(FILE), "published.json is stale: run deno task docs:tools");
  }));

Deno.test("createTools() lists the file before any module is loaded", () =>
  withTable((tools) => assert.deepEqual(tools.map(published), PUBLISHED)));

Deno.test("createTools() keeps the list within its bytes", () =>
  withTable((tools) => {
    const listed = tools.map((tool) => {
      const { group: _group, audit: _audit, ...shown } = published(tool);
      return shown;
    });
    const bytes = new TextEncoder().encode(JSON.stringify({ tools: listed })).length;
    assert.ok(bytes <= LIST_BYTES_MAXIMUM, `${bytes} bytes, at most ${LIST_BYTES_MAXIMUM}`);
  }));

Deno.test("createTools() gives each tool a known name, a title, a description and all four hints", () =>
  withTable((tools) => {
    for (const tool of tools) {
      assert.ok((TOOL_NAMES as readonly string[]).includes(tool.name), tool.name);
      assert.ok(tool.title.length > 3 && tool.description.length > 60, tool.name);
      const hints = ["destructiveHint", "idempotentHint", "openWorldHint", "readOnlyHint"];
      assert.deepEqual(Object.keys(tool.hints).sort(), hints, tool.name);
    }
  }));

Deno.test("createTools() describes for each tool with evidence what has to be sent again", () =>
  withTable((tools) => {
    for (const name of ["scenario_next", "scenario_evaluate_stage"]) {
      const description = tools.find((tool) => tool.name === name)?.description ?? "";
      assert.match(
        description,
        /missing.* beside the evidence of this call.*[Ss]end that.* again.*earlier calls does not count/,
      );
    }
  }));

Deno.test("createTools() describes for each mutation how to get a lost answer", () =>
  withTable((tools) => {
    const moving = tools.filter(({ inputSchema }) => member(inputSchema["properties"] as JsonObject, "expected_head"));
    assert.equal(moving.length, 5);
    for (const { name, description } of moving) assert.match(description, /Retry a lost answer unchanged/, name);
  }));

Deno.test("createTools() returns the tools in the same order each time", async () => {
  const orders: string[][] = [];
  for (let round = 0; round < 2; round++) {
    await withTable((tools) => {
      orders.push(tools.map(({ name }) => name));
    });
  }
  assert.deepEqual(orders[0], orders[1]);
});

/** Whether a tool writes, and whether it queries external systems. */
const HINTS: Readonly<Record<string, string>> = {
  scenario_define: "writes",
  scenarios_list: "reads",
  scenarios_get: "reads",
  scenario_questions: "reads",
  runs_list: "reads",
  scenario_start: "writes",
  scenario_status: "reads",
  scenario_history: "reads",
  scenario_open_stage: "writes",
  scenario_evaluate_stage: "writes, open world",
  scenario_precheck_stage: "reads",
  precheck: "reads",
  scenario_submit: "writes",
  scenario_next: "writes, open world",
  scenario_trigger: "writes, open world",
  scenario_apply: "writes, open world",
  scenario_resolve_creation: "reads",
  scenario_resolve_mutation: "reads",
  schemas_register: "writes",
  schemas_list: "reads",
  schemas_get: "reads",
  typed_providers_import: "reads",
  typed_providers_register: "writes",
  typed_providers_activate: "writes",
  typed_providers_deprecate: "writes",
  typed_providers_list: "reads",
  typed_providers_get: "reads",
  providers_list: "reads",
  runpack_export: "writes",
  runpack_verify: "reads",
  provider_contract_get: "reads",
  provider_check_schema_get: "reads",
  evidence_query: "reads, open world",
  gate_docs_search: "reads",
};

Deno.test("createTools() gives each tool its hints", () =>
  withTable((tools) => {
    const hints = tools.map(({ name, hints }) => {
      assert.equal(hints.destructiveHint, false);
      assert.equal(hints.idempotentHint, true);
      return [name, `${hints.readOnlyHint ? "reads" : "writes"}${hints.openWorldHint ? ", open world" : ""}`];
    });
    assert.deepEqual(Object.fromEntries(hints), HINTS);
  }));

/** Object schemas with members that accept unknown members too. */
function openObjects(schema: JsonValue, path: string): string[] {
  if (typeof schema !== "object" || schema === null) return [];
  if (Array.isArray(schema)) return schema.flatMap((entry, index) => openObjects(entry, `${path}[${index}]`));
  const object = schema as JsonObject;
  const open = member(object, "properties") !== undefined && member(object, "additionalProperties") !== false;
  return [
    ...(open ? [path] : []),
    ...Object.entries(object).flatMap(([name, entry]) => openObjects(entry, `${path}.${name}`)),
  ];
}

Deno.test("createTools() closes every input", () =>
  withTable((tools) => {
    for (const tool of tools) {
      assert.deepEqual(openObjects(tool.inputSchema, "$"), [], tool.name);
      assert.equal(tool.inputSchema["type"], "object");
      assert.equal(tool.outputSchema["type"], "object");
      assert.equal((tool.outputSchema["oneOf"] as JsonValue[]).length, 2);
    }
  }));

/** Object schemas that neither name their members nor have words for them, on themselves or on their array. */
function untoldObjects(schema: JsonValue, path: string, isTold = false): string[] {
  if (!isJsonObject(schema)) return [];
  const { description, properties, items } = schema;
  const told = isTold || description !== undefined;
  const inside = isJsonObject(properties) ? properties : {};
  return [
    ...([schema["type"]].flat().includes("object") && properties === undefined && !told ? [path] : []),
    ...Object.entries(inside).flatMap(([name, entry]) => untoldObjects(entry, `${path}.${name}`)),
    ...untoldObjects(items ?? null, `${path}[]`, told),
  ];
}

Deno.test("createTools() lists the shape of every nested argument", () =>
  withTable((tools) => {
    for (const tool of tools) assert.deepEqual(untoldObjects(tool.inputSchema, "$"), [], tool.name);
    const heads = tools.flatMap(({ inputSchema }) =>
      member(inputSchema["properties"] as JsonObject, "expected_head") ?? []
    );
    assert.equal(heads.length, 5);
    for (const head of heads) assert.deepEqual((head as JsonObject)["required"], ["record_id", "revision"]);
  }));

/** Array schemas without items: some clients reject a tool that has one. */
function arraysWithoutItems(schema: JsonValue, path: string): string[] {
  if (typeof schema !== "object" || schema === null) return [];
  const object = schema as JsonObject;
  const inside = Object.entries(object).flatMap(([name, entry]) => arraysWithoutItems(entry, `${path}.${name}`));
  return object["type"] === "array" && object["items"] === undefined ? [path, ...inside] : inside;
}

Deno.test("createTools() gives every array argument a schema of its items", () =>
  withTable((tools) => {
    for (const tool of tools) assert.deepEqual(arraysWithoutItems(tool.inputSchema, "$"), [], tool.name);
  }));

Deno.test("createTools() publishes schemas that a strict client compiles", () =>
  withTable((tools) => {
    for (const tool of tools) {
      for (const schema of [tool.inputSchema, tool.outputSchema]) {
        new Ajv2020({ strict: false, validateSchema: true, logger: false }).compile(schema);
      }
    }
  }));
