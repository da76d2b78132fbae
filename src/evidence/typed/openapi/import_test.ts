/**
 * The import of OpenAPI documents: what becomes a check, what becomes a candidate with its reasons, and what a
 * selection selects.
 */

import assert from "node:assert/strict";
import type { JsonObject, JsonValue } from "../../../canonical/json.ts";
import { parseJson } from "../../../canonical/scan.ts";
import { CHECKS_MAXIMUM } from "../../contract/check.ts";
import { IMPORT_LIMITS, type ImportSelection } from "../import_result.ts";
import type { OpenApiHttpProfile } from "../runtime_profile.ts";
import { documentOf, FLAG, operationOf, problemsOf, responsesOf, withSchemas } from "./document_fixture.ts";
import { importOpenApi } from "./import.ts";

const OPTIONS = { provider_id: "builds" };

function parameter(name: string, place: string, members: JsonObject = {}): JsonObject {
  return { name, in: place, schema: { type: "string" }, ...members };
}

const BUILD_STATUS = documentOf({
  "/builds/{id}/status": {
    parameters: [parameter("id", "path", { required: true, schema: { type: "integer" } })],
    get: operationOf({
      operationId: "getStatus",
      summary: "The status of a build",
      parameters: [
        parameter("branch", "query", {
          description: "A branch",
          schema: { type: "array", items: { type: "string" } },
        }),
        parameter("X-Team", "header"),
        parameter("Accept", "header"),
      ],
    }, { $ref: "#/components/schemas/Status" }),
  },
}, {
  components: {
    schemas: {
      Status: {
        type: "object",
        required: ["state", "secret"],
        properties: {
          state: { type: "string", enum: ["green", "red"], example: "green" },
          secret: { type: "string", writeOnly: true },
          finished: { type: "string", format: "date-time", nullable: true },
          parent: { $ref: "#/components/schemas/Status" },
        },
      },
    },
  },
});

Deno.test("an operation becomes a check with its params, its result and its comparators", () =>
  withSchemas(async (schemas) => {
    const result = importOpenApi(BUILD_STATUS, OPTIONS);
    assert.ok(result.ok);
    assert.deepEqual(await problemsOf(result, schemas), []);
    const [check] = result.contract.checks;
    const status = {
      type: "object",
      required: ["state"],
      properties: {
        state: { type: "string", enum: ["green", "red"] },
        secret: { type: "string" },
        finished: { type: ["string", "null"], format: "date-time" },
        parent: { $ref: "#/$defs/Status" },
      },
    };
    assert.deepEqual(check, {
      check_id: "getStatus",
      description: "The status of a build",
      determinism: "external",
      params_required: true,
      params_schema: {
        type: "object",
        additionalProperties: false,
        properties: {
          id: { type: "integer" },
          branch: {
            allOf: [{ type: "array", items: { type: "string" } }],
            type: "array",
            items: { type: ["string", "number", "boolean"] },
            description: "A branch",
          },
          "X-Team": { type: "string" },
        },
        required: ["id"],
      },
      result_schema: { ...status, $defs: { Status: status } },
      allowed_comparators: ["equals", "not_equals", "deep_equals", "deep_not_equals", "exists", "not_exists"],
      anchor_types: ["openapi_request"],
      content_types: ["application/json"],
      examples: [],
    });
  }));

Deno.test("an operation of the profile says how to ask, and where in the document it stands", () => {
  const result = importOpenApi(BUILD_STATUS, OPTIONS);
  assert.ok(result.ok);
  assert.deepEqual((result.profile as OpenApiHttpProfile).operations, {
    getStatus: {
      method: "GET",
      path_template: "/builds/{id}/status",
      parameters: [
        { name: "id", in: "path", param: "id", style: "simple", explode: false },
        { name: "branch", in: "query", param: "branch", style: "form", explode: true },
        { name: "X-Team", in: "header", param: "X-Team", style: "simple", explode: false },
      ],
      body: null,
      accept: "application/json",
      expected_status: [200],
      result_pointer: null,
      source: { operation: "getStatus", pointer: "/paths/~1builds~1{id}~1status/get" },
    },
  });
  assert.deepEqual(result.warnings.map(({ code, pointer }) => `${code} ${pointer}`), [
    "parameter_ignored /paths/~1builds~1{id}~1status/get/parameters/2",
  ]);
});

const AT = "/paths/~1a/get/responses/200/content/application~1json/schema";

function get(parameters: readonly JsonObject[]): JsonObject {
  return { get: operationOf({ parameters }) };
}

function returning(schema: JsonValue): JsonObject {
  return { get: operationOf({}, schema) };
}

function many(count: number): readonly JsonObject[] {
  return Array.from({ length: count }, (_, index) => parameter(`p${index}`, "query"));
}

/** Path, path item, components, and the reasons of the one candidate with their pointers. */
const REASON_ROWS: readonly (readonly [path: string, pathItem: JsonObject, components: JsonObject, reasons: string])[] =
  [
    ["/a", { post: operationOf() }, {}, "method_not_selected /paths/~1a/post"],
    ["/a", { delete: operationOf() }, {}, "method_not_selected /paths/~1a/delete"],
    ["/a", { trace: operationOf() }, {}, "method_unsupported /paths/~1a/trace"],
    ["/a", { head: operationOf() }, {}, "response_without_body /paths/~1a/head"],
    ["/a?b=c", { get: operationOf() }, {}, "path_invalid /paths/~1a?b=c/get"],
    ["/a/../b", { get: operationOf() }, {}, "path_invalid /paths/~1a~1..~1b/get"],
    ["/a/{", { get: operationOf() }, {}, "path_invalid /paths/~1a~1{/get"],
    ["/{x}", { get: operationOf() }, {}, "parameter_missing /paths/~1{x}/get"],
    ["/a", { get: operationOf({ parameters: 5 }) }, {}, "parameter_invalid /paths/~1a/get/parameters"],
    [
      "/a",
      { get: operationOf({ parameters: [{ in: "query" }] }) },
      {},
      "parameter_invalid /paths/~1a/get/parameters/0",
    ],
    ["/a", get([parameter("s", "cookie")]), {}, "parameter_location /paths/~1a/get/parameters/0"],
    ["/a", get([parameter("f", "query", { style: "deepObject" })]), {}, "parameter_style /paths/~1a/get/parameters/0"],
    ["/a", get([parameter("f", "query", { style: "matrix" })]), {}, "parameter_style /paths/~1a/get/parameters/0"],
    ["/a", get([{ name: "f", in: "query", content: {} }]), {}, "parameter_content /paths/~1a/get/parameters/0"],
    ["/a", get([parameter("Cookie", "header")]), {}, "parameter_reserved /paths/~1a/get/parameters/0"],
    ["/a", get([parameter("a b", "header")]), {}, "parameter_invalid /paths/~1a/get/parameters/0"],
    [
      "/a",
      get([parameter("f", "query", { schema: { type: "array", items: { type: "object" } } })]),
      {},
      "parameter_schema /paths/~1a/get/parameters/0",
    ],
    [
      "/a",
      get([parameter("f", "query", { schema: { type: "null" } })]),
      {},
      "parameter_schema /paths/~1a/get/parameters/0",
    ],
    ["/a", get(many(65)), {}, "parameter_count /paths/~1a/get"],
    ["/a", { get: {} }, {}, "response_missing /paths/~1a/get/responses"],
    ["/a", { get: { responses: { default: {} } } }, {}, "response_missing /paths/~1a/get/responses"],
    ["/a", { get: { responses: { 204: {} } } }, {}, "response_without_body /paths/~1a/get/responses/204"],
    [
      "/a",
      { get: { responses: responsesOf(FLAG, "text/html") } },
      {},
      "response_not_json /paths/~1a/get/responses/200",
    ],
    [
      "/a",
      { get: { responses: { 200: { content: { "application/json": {} } } } } },
      {},
      "response_untyped /paths/~1a/get/responses/200",
    ],
    ["/a", returning({}), {}, `response_untyped ${AT}`],
    ["/a", returning({ type: "object", additionalProperties: true }), {}, `response_untyped ${AT}`],
    ["/a", returning({ oneOf: [{ type: "object" }, { type: "string" }] }), {}, `response_untyped ${AT}`],
    ["/a", returning({ allOf: [{ type: "string" }, { type: "integer" }] }), {}, `schema_invalid ${AT}`],
    ["/a", returning(5), {}, `schema_invalid ${AT}`],
    ["/a", returning({ $ref: "https://evil.example/a.json" }), {}, `reference_external ${AT}/$ref`],
    ["/a", returning({ $ref: "file:///etc/passwd" }), {}, `reference_external ${AT}/$ref`],
    ["/a", returning({ $ref: "other.yaml#/A" }), {}, `reference_external ${AT}/$ref`],
    ["/a", returning({ $ref: "#/components/schemas/None" }), {}, `reference_unresolved ${AT}/$ref`],
    ["/a", returning({ $ref: "#/components/schemas/toString" }), {}, `reference_unresolved ${AT}/$ref`],
    ["/a", returning({ $ref: "#" }), {}, `reference_unresolved ${AT}/$ref`],
    ["/a", returning({ $ref: 5 }), {}, `reference_unresolved ${AT}/$ref`],
    [
      "/a",
      returning({ $ref: "#/components/schemas/A" }),
      { A: { $ref: "#/components/schemas/A" } },
      "reference_cycle /components/schemas/A",
    ],
    [
      "/a",
      returning({ type: "object", properties: { a: { $ref: "#/components/schemas/A" } } }),
      { A: { allOf: [{ $ref: "#/components/schemas/B" }] }, B: { anyOf: [{ $ref: "#/components/schemas/A" }] } },
      "reference_cycle /components/schemas/A",
    ],
    ["/a", { $ref: "#/paths/~1a" }, {}, "reference_cycle /paths/~1a"],
    ["/a", { $ref: "https://evil.example/paths" }, {}, "reference_external /paths/~1a/$ref"],
    ["/a", returning({ $id: "x", type: "string" }), {}, `schema_keyword ${AT}/$id`],
    ["/a", returning({ $dynamicRef: "#x" }), {}, `schema_keyword ${AT}/$dynamicRef`],
    ["/a", { servers: [{ url: "https://other.example" }], get: operationOf() }, {}, "server_differs /paths/~1a"],
    ["/a", { get: operationOf({ servers: [{ url: "/other" }] }) }, {}, "server_differs /paths/~1a/get"],
  ];

for (const [path, pathItem, schemas, expected] of REASON_ROWS) {
  Deno.test(`a candidate with ${expected}: ${JSON.stringify(pathItem).slice(0, 120)}`, () => {
    const document = documentOf({ [path]: pathItem, "/usable": { get: operationOf() } }, { components: { schemas } });
    const result = importOpenApi(document, OPTIONS);
    assert.ok(result.ok);
    const candidate = result.candidates.find(({ usable }) => !usable);
    assert.deepEqual(candidate?.reasons.map(({ code, pointer }) => `${code} ${pointer}`), [expected]);
    assert.equal(candidate.check_id, null);
    assert.deepEqual(result.contract.checks.map(({ check_id }) => check_id), ["GET /usable"]);
  });
}

Deno.test("a document that cannot be imported is a refusal with its code", () => {
  const usable = { "/a": { get: operationOf() } };
  const rows: readonly (readonly [document: JsonValue, options: JsonObject, code: string])[] = [
    [null, {}, "document_unsupported"],
    [{ swagger: "2.0", paths: usable }, {}, "document_unsupported"],
    [{ ...documentOf(usable), openapi: "3.2.0" }, {}, "document_unsupported"],
    [{ ...documentOf(usable), openapi: 3 }, {}, "document_unsupported"],
    [documentOf({}), {}, "no_usable_operation"],
    [documentOf({ "/a": { post: operationOf() } }), {}, "no_usable_operation"],
    [documentOf(usable, { servers: [] }), {}, "server_url_required"],
    [documentOf(usable, { servers: [{ url: "/v1" }] }), {}, "server_url_required"],
    [documentOf(usable, { servers: [{ url: "ftp://a.example" }] }), {}, "server_url_invalid"],
    [documentOf(usable), { server_url: "https://user:secret@a.example" }, "server_url_invalid"],
    [documentOf(usable), { server_url: "https://a.example/?q" }, "server_url_invalid"],
    [documentOf(usable), { server_url: "a.example" }, "server_url_invalid"],
  ];
  for (const [document, options, code] of rows) {
    const result = importOpenApi(document, { ...OPTIONS, ...options });
    assert.equal(result.ok ? "ok" : result.code, code, JSON.stringify(document));
  }
});

Deno.test("the address comes from the first server, its variables, or the option", () => {
  const servers = [{ url: "https://{host}.example/v1/", variables: { host: { default: "eu" } } }];
  const document = documentOf({ "/a": { get: operationOf() } }, { servers });
  const rows: readonly (readonly [options: JsonObject, url: string, warnings: readonly string[]])[] = [
    [{}, "https://eu.example/v1", ["server_variable"]],
    [{ server_url: "http://localhost:8080/" }, "http://localhost:8080", ["server_variable", "server_cleartext"]],
  ];
  for (const [options, url, warnings] of rows) {
    const result = importOpenApi(document, { ...OPTIONS, ...options });
    assert.ok(result.ok);
    assert.equal((result.profile as OpenApiHttpProfile).base_url, url);
    assert.deepEqual(result.warnings.map(({ code }) => code), warnings);
  }
});

Deno.test("up to 256 usable operations become checks, more need a selection, and every one stays a candidate", () =>
  withSchemas(async (schemas) => {
    const rows: readonly (readonly [count: number, outcome: string])[] = [
      [CHECKS_MAXIMUM - 1, "255 checks"],
      [CHECKS_MAXIMUM, "256 checks"],
      [CHECKS_MAXIMUM + 1, "selection_required"],
    ];
    for (const [count, outcome] of rows) {
      const paths = Object.fromEntries(
        Array.from({ length: count }, (_, index) => [`/p${index}`, { get: operationOf() }]),
      );
      const result = importOpenApi(documentOf(paths), OPTIONS);
      assert.equal(result.ok ? `${result.contract.checks.length} checks` : result.code, outcome);
      assert.equal(result.candidates.filter(({ usable }) => usable).length, count);
      assert.deepEqual(await problemsOf(result, schemas), []);
    }
  }));

Deno.test("operations are read up to their limit, and refused above it", () => {
  const rows: readonly (readonly [count: number, code: string])[] = [
    [IMPORT_LIMITS.operations, "selection_required"],
    [IMPORT_LIMITS.operations + 1, "document_too_complex"],
  ];
  for (const [count, code] of rows) {
    const paths = Object.fromEntries(
      Array.from({ length: count }, (_, index) => [`/p${index}`, { get: operationOf() }]),
    );
    const result = importOpenApi(documentOf(paths), OPTIONS);
    assert.equal(result.ok ? "ok" : result.code, code);
  }
});

const SELECTED = documentOf({
  "/builds/{id}": {
    parameters: [parameter("id", "path", { required: true })],
    get: operationOf({ operationId: "getBuild", parameters: [parameter("filter", "query", { style: "deepObject" })] }, {
      type: "object",
      properties: {
        ok: { type: "boolean" },
        steps: { type: "array", items: { oneOf: [{ $ref: "#/components/schemas/Step" }, { type: "null" }] } },
        labels: { type: "object", additionalProperties: { type: "string" } },
        extra: {},
      },
    }),
    post: operationOf({
      operationId: "startBuild",
      requestBody: {
        required: true,
        content: {
          "application/json": {
            schema: { type: "object", properties: { id: { type: "string", readOnly: true } }, required: ["id"] },
          },
        },
      },
    }),
  },
  "/one": { get: operationOf({ operationId: "twice" }) },
  "/two": { get: operationOf({ operationId: "twice" }) },
}, {
  components: {
    schemas: {
      Step: {
        allOf: [{ $ref: "#/components/schemas/Named" }, {
          type: "object",
          properties: { failed: { type: "integer" } },
        }],
      },
      Named: { type: "object", properties: { name: { type: "string" } } },
    },
  },
});

Deno.test("a selection makes checks of operations by name, with ids and pointers of its own", () =>
  withSchemas(async (schemas) => {
    const selection: readonly ImportSelection[] = [
      { operation: "getBuild" },
      { operation: "getBuild", check_id: "ok", result_pointer: "/ok" },
      { operation: "GET /builds/{id}", check_id: "failed", result_pointer: "/steps/0/failed" },
      { operation: "getBuild", check_id: "name", result_pointer: "/steps/1/name" },
      { operation: "getBuild", check_id: "label", result_pointer: "/labels/any" },
      { operation: "startBuild" },
      { operation: "GET /one" },
    ];
    const result = importOpenApi(SELECTED, { ...OPTIONS, selection });
    assert.ok(result.ok, result.ok ? "" : result.message);
    assert.deepEqual(await problemsOf(result, schemas), []);
    const results = result.contract.checks.map(({ check_id, result_schema }) => [check_id, result_schema]);
    assert.deepEqual(Object.fromEntries(results), {
      "GET /one": FLAG,
      failed: { type: "integer" },
      getBuild: result.contract.checks.find(({ check_id }) => check_id === "getBuild")?.result_schema,
      label: { type: "string" },
      name: { type: "string" },
      ok: FLAG,
      startBuild: FLAG,
    });
    const { operations } = result.profile as OpenApiHttpProfile;
    assert.deepEqual(operations["failed"]?.result_pointer, "/steps/0/failed");
    // Selected by name, an operation does without an optional parameter that no check can set.
    assert.deepEqual(operations["getBuild"]?.parameters.map(({ name }) => name), ["id"]);
    assert.ok(result.warnings.some(({ code }) => code === "parameter_left_out"));
    assert.deepEqual(operations["startBuild"]?.method, "POST");
    assert.deepEqual(operations["startBuild"]?.body, { param: "body", content_type: "application/json" });
    const start = result.contract.checks.find(({ check_id }) => check_id === "startBuild");
    assert.deepEqual(start?.params_schema, {
      type: "object",
      additionalProperties: false,
      properties: {
        id: { type: "string", minLength: 1 },
        body: { type: "object", properties: { id: { type: "string" } } },
      },
      required: ["id", "body"],
    });
  }));

Deno.test("a selection that does not fit is refused where it does not", () => {
  const rows: readonly (readonly [selection: readonly ImportSelection[], pointer: string])[] = [
    [[], "/selection"],
    [Array.from({ length: 257 }, () => ({ operation: "getBuild" })), "/selection"],
    [[{ operation: "none" }], "/selection/0/operation"],
    [[{ operation: "twice" }], "/selection/0/operation"],
    [[{ operation: "getBuild", check_id: "a" }, { operation: "GET /one", check_id: "a" }], "/selection/1/check_id"],
    [[{ operation: "getBuild", check_id: "" }], "/selection/0/check_id"],
    [[{ operation: "getBuild", check_id: "x".repeat(257) }], "/selection/0/check_id"],
    [[{ operation: "getBuild", result_pointer: "/none" }], "/selection/0/result_pointer"],
    [[{ operation: "getBuild", result_pointer: "ok" }], "/selection/0/result_pointer"],
    [[{ operation: "getBuild", result_pointer: "/ok/deeper" }], "/selection/0/result_pointer"],
    [[{ operation: "getBuild", result_pointer: "/extra" }], "/selection/0/result_pointer"],
  ];
  for (const [selection, pointer] of rows) {
    const result = importOpenApi(SELECTED, { ...OPTIONS, selection });
    assert.ok(!result.ok, JSON.stringify(selection).slice(0, 200));
    assert.equal(result.code, "selection_invalid");
    assert.equal(result.pointer, pointer);
    assert.equal(result.candidates.length, 4);
  }
});

Deno.test("the result is that of status 200, of the lowest other success, or of a range without the others", () => {
  const json = { content: { "application/json": { schema: FLAG } } };
  const rows: readonly (readonly [responses: JsonObject, accept: string, statuses: readonly number[] | number])[] = [
    [{ 201: json, 200: json, 404: json }, "application/json", [200]],
    [{ 202: json, 201: json }, "application/json", [201]],
    [{ 200: {}, 201: json }, "application/json", [201]],
    [{ "2XX": json }, "application/json", 98],
    [{ "2XX": json, 202: {} }, "application/json", 97],
    [
      { 200: { content: { "application/vnd.build+json; version=2": { schema: FLAG } } } },
      "application/vnd.build+json",
      [200],
    ],
    [{ 200: { content: { "application/hal+json": {}, "application/json": { schema: FLAG } } } }, "application/json", [
      200,
    ]],
    [{ 200: { content: { "*/*": { schema: FLAG } } } }, "application/json", [200]],
  ];
  for (const [responses, accept, statuses] of rows) {
    const result = importOpenApi(documentOf({ "/a": { get: { responses } } }), OPTIONS);
    assert.ok(result.ok, JSON.stringify(responses));
    const operation = Object.values((result.profile as OpenApiHttpProfile).operations)[0];
    assert.equal(operation?.accept, accept);
    const expected = operation?.expected_status ?? [];
    assert.deepEqual(typeof statuses === "number" ? expected.length : expected, statuses);
  }
});

Deno.test("parameters keep style and explode, and take names of their own where they collide", () => {
  const list = { schema: { type: "array", items: { type: "string" } } };
  const flat = { schema: { type: "object", properties: { a: { type: "integer" } } } };
  const parameters = [
    parameter("a", "path", { style: "label", ...list }),
    parameter("b", "path", { style: "matrix", explode: true, ...flat }),
    parameter("a", "query"),
    parameter("c", "query", { style: "pipeDelimited", explode: false, ...list }),
    parameter("d", "query", { style: "spaceDelimited", explode: true, ...list }),
    parameter("e", "query", { ...flat, allowReserved: true }),
    parameter("F", "header", { explode: true, ...flat }),
    parameter("unused", "path"),
  ];
  const result = importOpenApi(documentOf({ "/{a}/{b}": { get: operationOf({ parameters }) } }), OPTIONS);
  assert.ok(result.ok);
  const operation = Object.values((result.profile as OpenApiHttpProfile).operations)[0];
  assert.deepEqual(operation?.parameters.map((one) => [one.param, one.in, one.style, one.explode]), [
    ["a", "path", "label", false],
    ["b", "path", "matrix", true],
    ["query_a", "query", "form", true],
    ["c", "query", "pipeDelimited", false],
    ["d", "query", "form", true],
    ["e", "query", "form", true],
    ["F", "header", "simple", true],
  ]);
  assert.deepEqual(result.warnings.map(({ code }) => code), ["parameter_encoded", "parameter_ignored"]);
});

Deno.test("the credentials that operations ask for are named, each once", () => {
  const securitySchemes = {
    token: { type: "http", scheme: "Bearer" },
    login: { type: "http", scheme: "basic" },
    key: { type: "apiKey", in: "header", name: "X-Key" },
    query: { type: "apiKey", in: "query", name: "key" },
  };
  const secured = (...names: readonly string[]): JsonObject => ({
    get: operationOf({ security: [Object.fromEntries(names.map((name) => [name, []]))] }),
  });
  const paths = {
    "/a": secured("token"),
    "/b": secured("token", "login"),
    "/c": secured("key"),
    "/d": secured("query", "missing"),
    "/e": { get: operationOf({ security: [{ key: [] }, {}] }) },
  };
  const result = importOpenApi(documentOf(paths, { components: { securitySchemes } }), OPTIONS);
  assert.ok(result.ok);
  assert.deepEqual((result.profile as OpenApiHttpProfile).credentials, []);
  assert.deepEqual(result.warnings.map(({ code, pointer }) => `${code} ${pointer.split("/").at(-1)}`), [
    "credential_required key",
    "credential_required login",
    "credential_unsupported missing",
    "credential_unsupported query",
    "credential_required token",
  ]);
});

Deno.test("names that every object inherits are ordinary names of schemas, properties, paths and operations", () =>
  withSchemas(async (schemas) => {
    const names = ["__proto__", "constructor", "toString"];
    const schema = names.map((name) => `"${name}":{"$ref":"#/components/schemas/${name}"}`).join();
    const result = `{"type":"object","required":${JSON.stringify(names)},"properties":{${schema}}}`;
    const components = names.map((name, index) => `"${name}":{"type":"string","minLength":${index}}`).join();
    const paths = names.map((name) => {
      const responses = `{"200":{"content":{"application/json":{"schema":${result}}}}}`;
      return `"/${name}":{"get":{"operationId":"${name}","responses":${responses}}}`;
    });
    const document = parseJson(
      `{"openapi":"3.1.0","servers":[{"url":"https://a.example"}],"components":{"schemas":{${components}}},"paths":{${paths}}}`,
    );
    assert.ok(document.ok);
    const imported = importOpenApi(document.value, OPTIONS);
    assert.ok(imported.ok);
    assert.deepEqual(await problemsOf(imported, schemas), []);
    const { operations } = imported.profile as OpenApiHttpProfile;
    assert.deepEqual(Object.keys(operations).sort(), names);
    for (const check of imported.contract.checks) {
      const { properties, $defs } = check.result_schema as { properties: JsonObject; $defs: JsonObject };
      assert.deepEqual(Object.keys(properties).sort(), names);
      assert.deepEqual(Object.keys($defs).sort(), names);
    }
  }));
