import assert from "node:assert/strict";
import { Ajv2020 } from "../../../tests/packages/ajv.ts";
import fc from "../../../tests/packages/fast_check.ts";
import {
  grpcProfile,
  httpOperation,
  httpProfile,
  typedCheck,
  typedContract,
} from "../../../tests/simulation/typed_documents.ts";
import type { JsonObject, JsonValue } from "../../canonical/json.ts";
import { checkContract, contractSchema } from "../contract/check.ts";
import type { ContractProblem, ContractProblemCode } from "../contract/problems.ts";
import type { SchemaSandbox } from "../sandbox/schema_sandbox.ts";
import type { GrpcOperation } from "./runtime_profile.ts";

import { checkRuntimeProfile, profileSchema } from "./runtime_profile.ts";

const ajv = new Ajv2020({ strict: true, strictRequired: false, allowUnionTypes: true });
const validContract = ajv.compile(contractSchema());
const validProfile = ajv.compile(profileSchema());

/** Problems that a schema cannot express: relations between members, repeated ids, and sizes of a whole document. */
const BEYOND_SCHEMA: ReadonlySet<ContractProblemCode> = new Set([
  "contract_too_large",
  "duplicate",
  "profile_mismatch",
  "provider_mismatch",
  "schema_invalid",
]);

/** Compiles everything: that schemas are refused is not a matter of shape. */
const COMPILED: SchemaSandbox = {
  check: (schema) =>
    Promise.resolve(
      typeof schema === "boolean" || typeof schema === "object" && schema !== null && !Array.isArray(schema)
        ? { ok: true }
        : { ok: false, message: "no schema" },
    ),
  validate: () => Promise.resolve("valid"),
  close: () => {},
};

const CONTRACT = typedContract({
  checks: [
    typedCheck("failed", { examples: [{ description: "None", params: { id: "1" }, result: 0 }] }),
    typedCheck("passed", { params_schema: true }),
  ],
  notes: ["A note."],
});

const parameter = { param: "id", explode: false } as const;
const OPERATIONS = {
  failed: httpOperation({
    parameters: [
      ...httpOperation().parameters,
      { ...parameter, name: "q", in: "query", style: "pipeDelimited" },
      { ...parameter, name: "X-Team", in: "header", style: "simple" },
    ],
  }),
  passed: httpOperation({
    method: "POST",
    body: { param: "body", content_type: "application/json" },
    result_pointer: null,
  }),
};
const CREDENTIALS = [
  { kind: "bearer", locator: "file://token" },
  { kind: "api_key", header: "X-Key", locator: "env://KEY" },
] as const;
const CLIENT = { certificate: "file://client.pem", key: "file://client.key" };

const GRPC_OPERATION: GrpcOperation = {
  service: "builds.v1.Builds",
  method: "GetBuild",
  result_path: ["failed"],
  source: { operation: "builds.v1.Builds/GetBuild", pointer: "" },
};

const PROFILES = [
  httpProfile({ operations: OPERATIONS, credentials: CREDENTIALS, tls: { ca: "file://ca.pem", client: CLIENT } }),
  grpcProfile({
    authority: "builds.example:443",
    credentials: [{ kind: "basic", locator: "file://user" }, {
      kind: "metadata",
      name: "x-key",
      locator: "file://key",
    }],
    operations: {
      failed: GRPC_OPERATION,
      passed: { ...GRPC_OPERATION, result_path: null },
    },
  }),
];

function assertSame(valid: boolean, problems: readonly ContractProblem[], what: string): boolean {
  const shape = problems.filter(({ code }) => !BEYOND_SCHEMA.has(code));
  if (problems.length === 0) assert.ok(valid, `${what}: the schema refuses what the check accepts`);
  else if (shape.length > 0) assert.ok(!valid, `${what}: the schema accepts ${JSON.stringify(shape)}`);
  return shape.length > 0;
}

async function compareContract(value: JsonValue, what: string): Promise<boolean> {
  const owner = { provider_id: "builds", transport: "typed" } as const;
  const checked = await checkContract(value, owner, COMPILED);
  return assertSame(validContract(value), checked.ok ? [] : checked.problems, what);
}

function compareProfile(value: JsonValue, what: string): boolean {
  const checked = checkRuntimeProfile(value, CONTRACT);
  return assertSame(validProfile(value), checked.ok ? [] : checked.problems, what);
}

Deno.test("the schemas of contract and profile accept what the checks accept", async () => {
  assert.ok(validContract(CONTRACT), JSON.stringify(validContract.errors));
  assert.equal(await compareContract(CONTRACT as unknown as JsonValue, "contract"), false);
  for (const profile of PROFILES) {
    assert.ok(validProfile(profile), JSON.stringify(validProfile.errors));
    const checked = checkRuntimeProfile(profile as unknown as JsonValue, CONTRACT);
    assert.deepEqual(checked.ok ? [] : checked.problems, []);
  }
});

type Editable = Record<string | number, unknown>;

/** Every value below a value, as its container with a name or index. */
function placesOf(value: unknown, places: [Editable, string | number][] = []): [Editable, string | number][] {
  if (typeof value !== "object" || value === null) return places;
  for (const key of Array.isArray(value) ? value.keys() : Object.keys(value)) {
    places.push([value as Editable, key]);
    placesOf((value as Editable)[key], places);
  }
  return places;
}

const REPLACEMENTS: readonly JsonValue[] = [
  ...[null, true, -1, 0, 1, 1.5, 199, 200, 599, 600, 30_000, 30_001, 16_777_216, 16_777_217, 2 ** 53],
  ...["", "x", "X-Y", "a b", "a\n", "x".repeat(256), "x".repeat(257), "é", "1", "2", "GET", "get", "/", "/a~2", "/a~0"],
  ...["form", "simple", "path", "query", "header", "cookie", "bearer", "api_key", "metadata", "grpc", "openapi_http"],
  ...[
    "file://a",
    "file://a/b",
    "file://..",
    "env://A",
    "env://1",
    "https://a",
    "https://a/b?c",
    "http://a@b",
    "ftp://a",
  ],
  ...["a:1", "a:0", "[::1]:80", "a", "AAAA", "AAA", "equals", "typed", "mcp", "external", "application/json"],
  ...[[], ["x"], ["x", "x"], [1], [null], {}, { a: 1 }, [{}], [[]]],
];

/** One change of a document. */
const CHANGE = fc.record({
  document: fc.nat(),
  at: fc.nat(),
  kind: fc.constantFrom("replace", "remove", "add", "repeat", "fill"),
  replacement: fc.constantFrom(...REPLACEMENTS),
  name: fc.constantFrom("note", "__proto__", "constructor", "kind", "locator", "header", "param", "in"),
  count: fc.constantFrom(8, 9, 32, 33, 64, 65, 256, 257),
});

/** Applies a change; returns what was done. */
function change(
  document: unknown,
  { at, kind, replacement, name, count }: typeof CHANGE extends fc.Arbitrary<infer T> ? T : never,
): string {
  const places = placesOf(document);
  const [container, key] = places[at % places.length] as [Editable, string | number];
  if (kind === "replace") container[key] = replacement;
  else if (kind === "repeat" && Array.isArray(container)) container.push(structuredClone(container[0]));
  else if (kind === "fill" && Array.isArray(container)) {
    while (container.length < count) container.push(structuredClone(container[0]));
  } else if (kind === "remove" && Array.isArray(container)) container.splice(key as number, 1);
  else if (kind === "remove") delete container[key];
  else if (!Array.isArray(container)) {
    Object.defineProperty(container, name, {
      value: replacement,
      enumerable: true,
      configurable: true,
      writable: true,
    });
  }
  return `${kind} ${String(key)} ${name} ${JSON.stringify(replacement)}`;
}

Deno.test("schema and check agree on mutated runtime profiles", () => {
  let refused = 0;
  fc.assert(
    fc.property(CHANGE, (one) => {
      const profile: unknown = structuredClone(PROFILES[one.document % PROFILES.length]);
      const what = change(profile, one);
      if (compareProfile(profile as JsonValue, what)) refused++;
    }),
    { numRuns: 5000 },
  );
  assert.ok(refused > 100, "hardly any change is about shape");
});

Deno.test("schema and check agree on mutated contracts", async () => {
  let refused = 0;
  await fc.assert(
    fc.asyncProperty(CHANGE, async (one) => {
      const contract = structuredClone(CONTRACT) as unknown as JsonObject;
      const what = change(contract, one);
      if (await compareContract(contract, what)) refused++;
    }),
    { numRuns: 3000 },
  );
  assert.ok(refused > 100, "hardly any change is about shape");
});
