import assert from "node:assert/strict";
import { generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { canonicalize } from "../../canonical/canonicalize.ts";
import { identify } from "../../canonical/identity.ts";
import type { JsonObject, JsonValue } from "../../canonical/json.ts";
import { DEFAULT_SETTINGS } from "../../config/defaults.ts";
import type { GateConfig, RegistryAclConfig, SchemaRegistryConfig } from "../../config/types.ts";
import { HOST_PRIMITIVES } from "../../evidence/host_primitives.ts";
import {
  type BenchOptions,
  condition,
  envelope,
  evidence,
  id,
  LOCAL,
  REMOTE,
  schemaRecord,
  spec,
  stage,
  startRun,
  STORES,
  withTools,
} from "./tools_fixture.ts";

function registry(change: Partial<SchemaRegistryConfig>, acl: Partial<RegistryAclConfig> = {}): BenchOptions {
  const { schema_registry } = DEFAULT_SETTINGS;
  const config: Partial<GateConfig> = {
    schema_registry: {
      ...schema_registry,
      ...change,
      acl: { ...schema_registry.acl, allow_local_only: true, ...acl },
    },
  };
  return { config };
}

const KEY = { namespace_id: 2, schema_id: "report", version: "1" };

for (const store of STORES) {
  Deno.test(`schemas are registered once, and listed and returned unchanged (${store})`, () =>
    withTools(async (bench) => {
      const schema = JSON.parse('{"required":["__proto__"],"const":{"__proto__":{"b":1,"a":2}}}') as JsonValue;
      const record = schemaRecord({ schema, signing: { key_id: "unknown", signature: "x" } });
      assert.deepEqual(await bench.call("schemas_register", { record }), { record });
      assert.deepEqual(await bench.call("schemas_get", KEY), { record });
      assert.deepEqual(await bench.call("schemas_list", { namespace_id: 2 }), { items: [record], next_token: null });
      assert.deepEqual(await bench.call("schemas_list", { namespace_id: 3 }), { items: [], next_token: null });
      const error = await bench.fail("schemas_register", { record: schemaRecord() });
      assert.deepEqual([error.code, error.kind], ["schema_exists", "conflict"]);
      const stored = await bench.services.schemas.get(2, "report", "1");
      assert.equal(stored?.schema_identity, identify(HOST_PRIMITIVES.sha256, "schema", schema));
      assert.equal(stored?.record, canonicalize(record));
    }, { store }));
}

/** A change of a valid record, the code of the error, and a part of its message. */
const REFUSED:
  readonly (readonly [name: string, change: Readonly<Record<string, JsonValue>>, code: string, says: RegExp])[] = [
    ["not a schema", { schema: { type: "strnig" } }, "invalid_schema", /type: must be equal to one of/],
    [
      "a network reference",
      { schema: { $ref: "https://example.com/a" } },
      "invalid_schema",
      /cannot resolve reference/,
    ],
    ["no object", { schema: true }, "invalid_input", /\$\.record\.schema: Expected an object, got true/],
    ["an empty id", { schema_id: "" }, "invalid_input", /\$\.record\.schema_id: Expected 1 to 256 bytes/],
    ["a control character", { version: "1\u0000" }, "invalid_input", /\$\.record\.version/],
    ["257 bytes", { schema_id: `${"é".repeat(128)}a` }, "invalid_input", /\$\.record\.schema_id/],
    ["a bare time", { created_at: 5 }, "invalid_input", /\$\.record\.created_at: Expected an object/],
    [
      "a logical time",
      { created_at: { kind: "logical", value: 5 } },
      "invalid_input",
      /\$\.record\.created_at\.kind: Expected "unix_millis"/,
    ],
    ["an unknown member", { schemas: {} }, "invalid_input", /did you mean "schema"/],
    ["namespace 0", { namespace_id: 0 }, "invalid_input", /\$\.record\.namespace_id: Expected at least 1, got 0/],
    ["namespace 1", { namespace_id: 1 }, "namespace_refused", /namespace\.allow_default/],
  ];

for (const [name, change, code, says] of REFUSED) {
  Deno.test(`schemas_register refuses ${name}: ${code}`, () =>
    withTools(async (bench) => {
      const error = await bench.fail("schemas_register", { record: schemaRecord(change) });
      assert.equal(error.code, code);
      assert.match(error.message, says);
      assert.deepEqual(await bench.call("schemas_list", { namespace_id: 2 }), { items: [], next_token: null });
    }));
}

Deno.test("schemas_register accepts an id of 256 bytes", () =>
  withTools(async (bench) => {
    await bench.call("schemas_register", { record: schemaRecord({ schema_id: "é".repeat(128) }) });
  }));

/** Bytes of a canonical schema `{"const":"xx..."}`, limit 100. */
for (const [bytes, taken] of [[99, true], [100, true], [101, false]] as const) {
  Deno.test(`schemas_register ${taken ? "accepts" : "rejects"} ${bytes} of 100 bytes`, () =>
    withTools(async (bench) => {
      const schema = { const: "x".repeat(bytes - 12) };
      assert.equal(canonicalize(schema).length, bytes);
      if (taken) await bench.call("schemas_register", { record: schemaRecord({ schema }) });
      else {
        const error = await bench.fail("schemas_register", { record: schemaRecord({ schema }) });
        assert.equal(error.code, "schema_too_large");
        assert.deepEqual(error.details, { bytes, maximum_bytes: 100 });
      }
    }, registry({ max_schema_bytes: 100 })));
}

Deno.test("schemas_register stops at max_entries, for each namespace and each tenant by itself", () =>
  withTools(async (bench) => {
    for (const version of ["1", "2"]) await bench.call("schemas_register", { record: schemaRecord({ version }) });
    const error = await bench.fail("schemas_register", { record: schemaRecord({ version: "3" }) });
    assert.deepEqual([error.code, error.kind], ["schema_entries_exhausted", "limit"]);
    await bench.call("schemas_register", { record: schemaRecord({ namespace_id: 3 }) });
    const other = { ...LOCAL, tenants: [2] };
    await bench.call("schemas_register", { record: schemaRecord({ version: "3" }) }, other);
    await bench.call("schemas_register", { record: schemaRecord({ version: "4" }) }, other);
    assert.equal(
      (await bench.fail("schemas_register", { record: schemaRecord({ version: "5" }) }, other)).code,
      error.code,
    );
  }, registry({ max_entries: 2 })));

Deno.test("the registry answers callers by its access list", () =>
  withTools(async (bench) => {
    for (
      const [tool, input] of [
        ["schemas_register", { record: schemaRecord() }],
        ["schemas_list", { namespace_id: 2 }],
        ["schemas_get", KEY],
      ] as const
    ) {
      const local = await bench.fail(tool, input);
      assert.deepEqual([local.code, local.kind], ["registry_refused", "unauthorized"]);
      assert.match(local.message, /schema_registry\.acl\.allow_local_only/);
      const remote = await bench.fail(tool, input, REMOTE);
      assert.equal(remote.message, "Cannot do this: the caller is not authorized");
    }
  }, registry({}, { allow_local_only: false })));

Deno.test("schemas_get does not reveal to a refused caller whether a schema exists", () =>
  withTools(async (bench) => {
    await bench.call("schemas_register", { record: schemaRecord() });
    const there = await bench.fail("schemas_get", KEY, REMOTE);
    const absent = await bench.fail("schemas_get", { ...KEY, version: "2" }, REMOTE);
    assert.deepEqual(there, absent);
    const local = await bench.fail("schemas_get", { ...KEY, version: "2" });
    assert.deepEqual([local.code, local.kind], ["schema_not_found", "not_found"]);
  }));

Deno.test("schemas_list goes page by page and ends with null", () =>
  withTools(async (bench) => {
    for (const version of ["10", "2", "1"]) await bench.call("schemas_register", { record: schemaRecord({ version }) });
    const pages: string[][] = [];
    let cursor: string | null = null;
    do {
      const page = await bench.call("schemas_list", { namespace_id: 2, cursor, limit: 2 }) as {
        items: { version: string }[];
        next_token: string | null;
      };
      pages.push(page.items.map(({ version }) => version));
      cursor = page.next_token;
    } while (cursor !== null);
    assert.deepEqual(pages, [["1", "10"], ["2"]]);
    const { next_token } = await bench.call("schemas_list", { namespace_id: 2, limit: 1 });
    const foreign = await bench.fail("scenarios_list", { namespace_id: 2, cursor: next_token ?? "" });
    assert.equal(foreign.code, "invalid_cursor");
    for (const limit of [0, 1001]) {
      assert.equal((await bench.fail("schemas_list", { namespace_id: 2, limit })).code, "invalid_input");
    }
    await bench.call("schemas_list", { namespace_id: 2, limit: 1000 });
  }));

Deno.test("schemas_list keeps a page of large schemas small", () =>
  withTools(async (bench) => {
    for (const version of ["1", "2", "3"]) {
      await bench.call("schemas_register", {
        record: schemaRecord({ version, schema: { const: "x".repeat(300_000) } }),
      });
    }
    const page = await bench.call("schemas_list", { namespace_id: 2 }) as { items: JsonValue[]; next_token: string };
    assert.equal(page.items.length, 1);
    const next = await bench.call("schemas_list", { namespace_id: 2, cursor: page.next_token }) as {
      items: JsonObject[];
    };
    assert.equal(next.items[0]?.["version"], "2");
  }));

function signed(record: JsonObject, key: KeyObject): JsonObject {
  const statement = canonicalize({ statement: "gate.schema/v1", record });
  const signature = sign(null, new TextEncoder().encode(statement), key).toString("base64");
  return { ...record, signing: { key_id: "keys/a.pub", signature } };
}

Deno.test("schemas_register verifies a signature under a trusted key", async () => {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const public_key = publicKey.export({ format: "der", type: "spki" }).subarray(-32).toString("base64");
  const keys = new Map([["keys/a.pub", { key_id: "keys/a.pub", public_key }]]);
  await withTools(async (bench) => {
    const unsigned = await bench.fail("schemas_register", { record: schemaRecord() });
    assert.equal(unsigned.code, "signing_required");
    const altered = { ...signed(schemaRecord(), privateKey), description: "Another" };
    const error = await bench.fail("schemas_register", { record: altered });
    assert.equal(error.code, "signature_invalid");
    const record = signed(schemaRecord(), privateKey);
    assert.deepEqual(await bench.call("schemas_register", { record }), { record });
  }, {
    ...registry({}, { require_signing: true }),
    change: (services) => ({ ...services, environment: { ...services.environment, keys } }),
  });
});

const JSON_SPEC = {
  conditions: [
    condition("built", { domain: "Json", maximum_bytes: 1000, schema: { schema_id: "report", version: "1" } }, {
      predicate: "Exists",
    }),
    condition("deployed", { domain: "Boolean" }, { predicate: "Exists" }),
  ],
};

Deno.test("scenario_define reads the schemas of a spec only for callers that may get them", () =>
  withTools(async (bench) => {
    const named = { schema_id: "report", version: "1" };
    for (const naming of [spec(JSON_SPEC), spec({ schemas: [named] })]) {
      assert.equal((await bench.fail("scenario_define", { spec: naming }, REMOTE)).code, "registry_refused");
    }
    await bench.call("scenario_define", { spec: spec({ scenario_id: "plain" }) }, REMOTE);
  }));

Deno.test("callers that may not get a schema may use a law that names it", () =>
  withTools(async (bench) => {
    await bench.call("schemas_register", { record: schemaRecord() });
    const { scenario_law_identity } = await bench.call("scenario_define", { spec: spec(JSON_SPEC) });
    assert.ok(scenario_law_identity !== undefined);
    const asked = { namespace_id: 2, scenario_id: "release", scenario_law_identity, stage_id: "build" };
    const caller_evidence = [evidence("built", { passed: true }, "Json")];
    const { outcome } = await bench.call("scenario_precheck_stage", { ...asked, caller_evidence }, REMOTE);
    assert.equal(outcome, "true");
  }));

for (const store of STORES) {
  for (const [value, outcome] of [[{ passed: true }, "true"], [{ failed: 1 }, "unknown"]] as const) {
    Deno.test(`a value ${JSON.stringify(value)} under a registered schema: ${outcome} (${store})`, () =>
      withTools(async (bench) => {
        const unregistered = await bench.fail("scenario_define", { spec: spec(JSON_SPEC) });
        assert.match(JSON.stringify(unregistered.details), /schema_not_found/);
        await bench.call("schemas_register", { record: schemaRecord() });
        const { run, head, law } = await startRun(bench, JSON_SPEC);
        const caller_evidence = [evidence("built", value, "Json")];
        const precheck = await bench.call("scenario_precheck_stage", {
          namespace_id: 2,
          scenario_id: "release",
          scenario_law_identity: law,
          stage_id: "build",
          caller_evidence,
        });
        assert.equal(precheck["outcome"], outcome);
        const build = { ...run, stage_id: "build" };
        const opened = envelope(
          await bench.call("scenario_open_stage", { ...build, expected_head: head, operation_id: id(1) }),
        );
        const evaluated = envelope(
          await bench.call("scenario_evaluate_stage", {
            ...build,
            expected_head: opened.result["accepted_head"] ?? null,
            operation_id: id(2),
            caller_evidence,
          }),
        );
        assert.equal((evaluated.result["attempt"] as JsonObject)["outcome"], outcome);
      }, { store }));
  }
}

Deno.test("scenario_define requires packets to name a schema of the spec, and names the tool that lists schemas", () =>
  withTools(async (bench) => {
    await bench.call("schemas_register", { record: schemaRecord() });
    const packet = { packet_id: "p", content_type: "application/json", payload: { kind: "json", value: 1 } };
    const define = (schema_id: string, schemas: readonly JsonObject[]): JsonObject => {
      const build = { ...stage("build", "built"), entry_packets: [{ ...packet, schema_id }] };
      return { spec: spec({ scenario_id: schema_id, schemas, stages: [build, stage("deploy", "deployed", "build")] }) };
    };
    const report = [{ schema_id: "report", version: "1" }];
    const refused = await bench.fail("scenario_define", define("reports", report));
    assert.match(JSON.stringify(refused.details), /packet_schema_not_found/);
    assert.deepEqual((refused.next as readonly JsonObject[]).map(({ tool }) => tool), [
      "schemas_list",
      "scenario_define",
    ]);
    await bench.call("scenario_define", define("report", report));
    const unknown = await bench.fail("scenario_define", define("reports", []));
    assert.deepEqual(unknown.details?.["refusals"], [{
      code: "packet_schema_not_found",
      path: "$.stages[0].entry_packets[0].schema_id",
      message: 'No version of schema "reports" is registered',
    }]);
    await bench.call("scenario_define", {
      spec: { ...define("report", [])["spec"] as JsonObject, scenario_id: "free" },
    });
  }));
