import assert from "node:assert/strict";
import { answered, found, testProvider } from "../../../tests/simulation/acquisition_fixture.ts";
import { httpOperation, httpProfile, typedCheck, typedContract } from "../../../tests/simulation/typed_documents.ts";
import type { JsonObject, JsonValue } from "../../canonical/json.ts";
import { sealContract, sealVersion } from "../../evidence/contract/seal.ts";
import { NO_GRANTS, type TypedGrants } from "../../evidence/typed/grants.ts";
import type { TypedVersion } from "../../evidence/typed/runtime_profile.ts";
import type { CheckContract, Provider, ProviderContract } from "../../evidence/types.ts";
import { asJson } from "../../run/primitives.ts";
import type { Services } from "../services/services.ts";
import { next, scanBinding, SCANNED, scannedCondition, scanner } from "./step_fixture.ts";
import {
  type Bench,
  type BenchOptions,
  envelope,
  REMOTE,
  spec,
  stage,
  startRun,
  STORES,
  withTools,
} from "./tools_fixture.ts";

const GRANTS: TypedGrants = {
  ...NO_GRANTS,
  hosts: [{ host: "builds.example", port: 443, credentials: ["file://token"] }],
  credentialsDir: "/credentials",
};

const NAMESPACE = { namespace_id: 2 };
const BUILDS = { ...NAMESPACE, provider_id: "builds" };

function key(version: string): JsonObject {
  return { ...BUILDS, version };
}

/** A version of the provider `builds`; the text makes its bytes differ. */
function version(name: string, change: JsonObject = {}, text = name): JsonObject {
  const contract = typedContract({
    description: text,
    checks: [typedCheck("failed", { result_schema: { type: "boolean" } })],
  });
  return { ...key(name), contract: asJson(contract), profile: asJson(httpProfile()), ...change };
}

/** Opens providers that answer true, and counts what they are asked by version. */
function opener(asked: string[] = []): BenchOptions {
  const openTyped = ({ loaded, provider_version_identity }: TypedVersion): Promise<Provider> =>
    Promise.resolve({
      provider_id: loaded.contract.provider_id,
      kind: "typed",
      loaded,
      allow_raw: false,
      query: () => {
        asked.push(loaded.version ?? "");
        const anchor_value = JSON.stringify({ provider_version_identity });
        const evidence_anchor = { anchor_type: "openapi_request", anchor_value };
        return Promise.resolve(answered(found(true, { evidence_anchor }), Date.now()));
      },
      close: () => Promise.resolve(),
    });
  return { typedGrants: GRANTS, openTyped };
}

async function activate(bench: Bench, name: string, expected: string | null): Promise<JsonObject> {
  return await bench.call("typed_providers_activate", { ...key(name), expected_active: expected });
}

/** A law whose stage the provider `builds` settles. */
const BOUND: Readonly<Record<string, JsonValue>> = {
  conditions: [scannedCondition("built")],
  acquisition_bindings: [{
    ...scanBinding("built"),
    provider_id: "builds",
    check_id: "failed",
    params: { id: "17" },
  }],
  stages: [stage("build", "built")],
  completion_requirement: { Condition: "build" },
};

for (const store of STORES) {
  Deno.test(`a version is registered once, activated, returned and deprecated (${store})`, () =>
    withTools(async (bench) => {
      const registered = await bench.call("typed_providers_register", version("1"));
      const { provider_version_identity } = registered;
      assert.deepEqual(registered, {
        provider_id: "builds",
        version: "1",
        provider_version_identity,
        state: "registered",
      });
      assert.deepEqual(await bench.call("typed_providers_register", version("1")), registered);
      const refusals = [
        ["other bytes", version("1", {}, "changed"), "1"],
        ["the same bytes under another name", version("2", {}, "1"), "1"],
      ] as const;
      for (const [what, input, existing] of refusals) {
        const { code, details } = await bench.fail("typed_providers_register", input);
        assert.deepEqual([code, details?.["version"]], ["typed_provider_exists", existing], what);
      }
      await bench.call("typed_providers_register", version("2"));
      assert.deepEqual(await activate(bench, "1", null), { provider_id: "builds", active: "1", previous: null });
      const conflict = await bench.fail("typed_providers_activate", { ...key("2"), expected_active: null });
      assert.deepEqual([conflict.code, conflict.details?.["active"]], ["active_conflict", "1"]);
      assert.deepEqual(await activate(bench, "2", "1"), { provider_id: "builds", active: "2", previous: "1" });
      const { items } = await bench.call("typed_providers_list", NAMESPACE) as { items: JsonObject[] };
      assert.deepEqual(items.map((item) => [item["version"], item["state"], item["checks"]]), [
        ["1", "registered", 1],
        ["2", "active", 1],
      ]);
      const active = await bench.call("typed_providers_get", BUILDS);
      assert.deepEqual([active["version"], active["profile"]], ["2", asJson(httpProfile())]);
      assert.equal(
        (await bench.call("typed_providers_get", key("1")))["provider_version_identity"],
        provider_version_identity,
      );
      const ended = { ...key("1"), expected_state: "registered" };
      assert.deepEqual(await bench.call("typed_providers_deprecate", ended), {
        provider_id: "builds",
        version: "1",
        state: "deprecated",
      });
      assert.equal((await bench.fail("typed_providers_deprecate", ended)).code, "typed_provider_deprecated");
      const state = await bench.fail("typed_providers_deprecate", { ...key("2"), expected_state: "registered" });
      assert.deepEqual([state.code, state.details?.["state"]], ["state_conflict", "active"]);
      assert.equal(
        (await bench.fail("typed_providers_activate", { ...key("1"), expected_active: "2" })).code,
        "typed_provider_deprecated",
      );
      for (const tool of ["typed_providers_activate", "typed_providers_deprecate"]) {
        const expected = tool.endsWith("activate") ? { expected_active: null } : { expected_state: "active" };
        assert.equal((await bench.fail(tool, { ...key("9"), ...expected })).code, "typed_provider_not_found");
      }
    }, { store, ...opener() }));
}

Deno.test("typed_providers_list pages through the versions, and a cursor is of its namespace", () =>
  withTools(async (bench) => {
    for (const name of ["1", "2", "3"]) await bench.call("typed_providers_register", version(name));
    const first = await bench.call("typed_providers_list", { ...NAMESPACE, limit: 2 });
    const cursor = first["next_token"] as string;
    const second = await bench.call("typed_providers_list", { ...NAMESPACE, limit: 2, cursor });
    const names = [first, second].map(({ items }) => (items as JsonObject[]).map((item) => item["version"]));
    assert.deepEqual([names, second["next_token"]], [[["1", "2"], ["3"]], null]);
    assert.equal((await bench.fail("typed_providers_list", { namespace_id: 3, cursor })).code, "invalid_cursor");
    assert.deepEqual(await bench.call("typed_providers_list", { namespace_id: 3 }), { items: [], next_token: null });
  }, opener()));

/** A registration that is refused, its code, and the path of the first problem. */
const REFUSED: readonly (readonly [what: string, change: JsonObject, code: string, path: string | null])[] = [
  ["a built-in name", { provider_id: "env" }, "provider_id_reserved", null],
  ["a contract of another provider", { provider_id: "other" }, "contract_invalid", "$.contract.provider_id"],
  [
    "a contract of another kind",
    {
      contract: asJson(typedContract({ transport: "mcp" })),
    },
    "contract_invalid",
    "$.contract.transport",
  ],
  [
    "a contract with a member more",
    {
      contract: { ...asJson(typedContract()) as JsonObject, more: 1 },
    },
    "contract_invalid",
    "$.contract.more",
  ],
  [
    "a profile with a member more",
    {
      profile: { ...asJson(httpProfile()) as JsonObject, more: 1 },
    },
    "profile_invalid",
    "$.profile.more",
  ],
  [
    "a profile without an operation for the check",
    {
      profile: asJson(httpProfile({ operations: {} })),
    },
    "profile_invalid",
    "$.profile.operations",
  ],
  [
    "a host that the operator does not allow",
    {
      profile: asJson(httpProfile({ base_url: "https://other.example/" })),
    },
    "host_not_allowed",
    "$.profile.base_url",
  ],
  [
    "a port that the operator does not allow",
    {
      profile: asJson(httpProfile({ base_url: "https://builds.example:8443/" })),
    },
    "host_not_allowed",
    "$.profile.base_url",
  ],
  [
    "a credential that is not paired with the host",
    {
      profile: asJson(httpProfile({ credentials: [{ kind: "bearer", locator: "file://other" }] })),
    },
    "credential_locator_refused",
    "$.profile.credentials[0].locator",
  ],
  [
    "an environment variable as credential",
    {
      profile: asJson(httpProfile({ credentials: [{ kind: "bearer", locator: "env://TOKEN" }] })),
    },
    "credential_locator_refused",
    "$.profile.credentials[0].locator",
  ],
  [
    "a credential by value",
    {
      profile: asJson(httpProfile({ credentials: [{ kind: "bearer", locator: "s3cret" }] })),
    },
    "profile_invalid",
    "$.profile.credentials[0].locator",
  ],
];

for (const [what, change, code, path] of REFUSED) {
  Deno.test(`typed_providers_register refuses ${what}: ${code}`, () =>
    withTools(async (bench) => {
      const error = await bench.fail("typed_providers_register", version("1", change));
      const problems = (error.details?.["problems"] ?? [null]) as readonly ({ readonly path: string } | null)[];
      assert.deepEqual([error.code, problems[0]?.path ?? null], [code, path]);
      assert.ok(!JSON.stringify(error).includes("s3cret"), "an error repeats no credential");
      assert.deepEqual(await bench.call("typed_providers_list", NAMESPACE), { items: [], next_token: null });
    }, opener()));
}

Deno.test("typed_providers_register accepts a credential that the operator pairs with the host", () =>
  withTools(async (bench) => {
    const profile = asJson(httpProfile({ credentials: [{ kind: "bearer", locator: "file://token" }] }));
    assert.equal((await bench.call("typed_providers_register", version("1", { profile })))["state"], "registered");
  }, opener()));

Deno.test("the registry's access rules hold for typed providers", () =>
  withTools(async (bench) => {
    const calls: readonly (readonly [tool: string, input: JsonObject])[] = [
      ["typed_providers_register", version("1")],
      ["typed_providers_activate", { ...key("1"), expected_active: null }],
      ["typed_providers_deprecate", { ...key("1"), expected_state: "active" }],
      ["typed_providers_list", NAMESPACE],
      ["typed_providers_get", key("1")],
    ];
    for (const [tool, input] of calls) assert.equal((await bench.fail(tool, input, REMOTE)).code, "registry_refused");
  }, opener()));

Deno.test("a law and a run need an active version of their typed provider", () =>
  withTools(async (bench) => {
    const message = async (): Promise<string> => (await bench.fail("scenario_define", { spec: spec(BOUND) })).message;
    assert.match(await message(), /Provider "builds" is not configured/);
    await bench.call("typed_providers_register", version("1"));
    assert.match(await message(), /Typed provider "builds" has no active version/);
    assert.equal((await bench.fail("evidence_query", QUERY)).code, "typed_provider_inactive");
    await activate(bench, "1", null);
    const { start } = await startRun(bench, BOUND);
    await bench.call("typed_providers_deprecate", { ...key("1"), expected_state: "active" });
    const again = await bench.call("scenario_start", start);
    assert.equal(envelope(again).outcome, "accepted", "a repeated creation has its receipt");
    const other = { ...start, creation_request_id: "f".repeat(32) };
    const error = await bench.fail("scenario_start", other);
    assert.deepEqual([error.code, error.next[0]?.["tool"]], ["typed_provider_inactive", "typed_providers_list"]);
  }, opener()));

/** What version 2 of the contract changes in the check of a law that version 1 allows, and what a start then refuses. */
const CHANGED_CHECKS: readonly (readonly [what: string, change: Partial<CheckContract>, refusal: string | null])[] = [
  ["another description", { description: "The same check." }, null],
  ["the name of the check", { check_id: "passed" }, "check_not_found $.acquisition_bindings[0].check_id"],
  [
    "its comparators",
    { allowed_comparators: ["not_equals"] },
    "comparator_not_allowed $.acquisition_bindings[0].check_id",
  ],
  ["its result", { result_schema: { type: "array" } }, "result_outside_domain $.acquisition_bindings[0].check_id"],
  [
    "its params",
    { params_schema: { type: "object", properties: { id: { type: "integer" } }, required: ["id"] } },
    "params_invalid $.acquisition_bindings[0].params",
  ],
];

/** A contract `builds` whose check has a boolean result, with changes of the check. */
function changedContract(change: Partial<CheckContract>): ProviderContract {
  return typedContract({ checks: [typedCheck("failed", { result_schema: { type: "boolean" }, ...change })] });
}

for (const [what, change, refusal] of CHANGED_CHECKS) {
  Deno.test(`a start after version 2 changed ${what}: ${refusal ?? "accepted"}`, () =>
    withTools(async (bench) => {
      const contract = changedContract(change);
      const [check_id = ""] = contract.checks.map((check) => check.check_id);
      const profile = asJson(httpProfile({ operations: { [check_id]: httpOperation() } }));
      await bench.call("typed_providers_register", version("1"));
      await bench.call("typed_providers_register", version("2", { contract: asJson(contract), profile }));
      await activate(bench, "1", null);
      const { start } = await startRun(bench, BOUND);
      await activate(bench, "2", "1");
      const second = { ...start, creation_request_id: "f".repeat(32) };
      if (refusal === null) {
        assert.equal(envelope(await bench.call("scenario_start", second)).outcome, "accepted");
        return;
      }
      // The second refusal does not depend on the first.
      for (let time = 0; time < 2; time++) {
        const { code, details } = await bench.fail("scenario_start", second);
        const refusals = details?.["refusals"] as readonly JsonObject[];
        assert.deepEqual([code, refusals.map((one) => `${one["code"]} ${one["path"]}`)], [
          "law_contract_mismatch",
          [refusal],
        ]);
      }
      const { items } = await bench.call("runs_list", NAMESPACE) as { items: readonly JsonObject[] };
      assert.equal(items.length, 1, "no run was created");
      assert.equal(envelope(await bench.call("scenario_start", start)).outcome, "accepted", "the receipt stays");
      await activate(bench, "1", "2");
      assert.equal(envelope(await bench.call("scenario_start", second)).outcome, "accepted", "the old contract fits");
    }, opener()));
}

Deno.test("a start is refused where the contract of a configured provider changed", () => {
  const providers = new Map<string, Provider>();
  const configure = (change: Partial<CheckContract>): void => {
    const { loaded } = sealVersion(sealContract(changedContract(change), "file"), httpProfile());
    const provider = testProvider("builds", () => answered(found(true), Date.now()));
    providers.set("builds", { ...provider, kind: "typed", loaded });
  };
  configure({});
  return withTools(async (bench) => {
    const { start } = await startRun(bench, BOUND);
    const second = { ...start, creation_request_id: "f".repeat(32) };
    configure({ allowed_comparators: ["exists"] });
    assert.equal((await bench.fail("scenario_start", second)).code, "law_contract_mismatch");
    providers.delete("builds");
    assert.equal(envelope(await bench.call("scenario_start", second)).outcome, "accepted", "no contract is bound");
  }, { ...opener(), providers });
});

const QUERY = {
  query: { provider_id: "builds", check_id: "failed", params: { id: "17" } },
  context: { ...NAMESPACE, trigger_time: { kind: "unix_millis", value: 1 } },
};

for (const store of STORES) {
  Deno.test(`a run keeps the version that it began with until that is deprecated (${store})`, () => {
    const asked: string[] = [];
    return withTools(async (bench) => {
      for (const name of ["1", "2"]) await bench.call("typed_providers_register", version(name));
      await activate(bench, "1", null);
      const first = await startRun(bench, BOUND);
      await activate(bench, "2", "1");
      const second = await bench.call("scenario_start", { ...first.start, creation_request_id: "f".repeat(32) });
      const { head, run_key } = envelope(second).result as { head: JsonObject; run_key: { run_id: string } };
      const later = { run: { ...first.run, run_id: run_key.run_id }, head };
      const identityOf = async (run_id: string): Promise<readonly [JsonValue, JsonValue]> => {
        const [record] = await bench.services.runs.listRecords({ namespace_id: 2, run_id }, 0, 1);
        const [bound] = JSON.parse(record?.record ?? "").body.contracts;
        const stored = await bench.services.runs.artifacts.get(bound.provider_version_identity);
        return [bound.provider_version_identity, stored?.kind ?? null];
      };
      const identities = ["1", "2"].map(async (name) =>
        (await bench.call("typed_providers_get", key(name)))["provider_version_identity"]
      );
      assert.deepEqual(await identityOf(first.run.run_id), [await identities[0], "provider-version"]);
      assert.deepEqual(await identityOf(later.run.run_id), [await identities[1], "provider-version"]);
      await bench.call("typed_providers_deprecate", { ...key("2"), expected_state: "active" });
      const scene = { ...first, bench, accept: () => assert.fail() };
      const completed = envelope(await bench.call("scenario_next", next(scene)));
      assert.equal(completed.outcome, "accepted", JSON.stringify(completed));
      assert.deepEqual(asked, ["1"]);
      const refused = envelope(await bench.call("scenario_next", next({ ...scene, ...later })));
      assert.equal(refused.outcome, "acquisition_failed");
      const failures = refused.result["failures"] as readonly JsonObject[];
      assert.deepEqual(failures.map(({ code }) => code), ["provider_version_deprecated"]);
      assert.deepEqual(asked, ["1"]);
    }, { store, ...opener(asked) });
  });
}

Deno.test("discovery shows active typed providers of the namespace that is named, and no others", () =>
  withTools(async (bench) => {
    await bench.call("typed_providers_register", version("1"));
    const ids = async (input: JsonObject): Promise<readonly JsonValue[]> => {
      const { providers } = await bench.call("providers_list", input) as { providers: readonly JsonObject[] };
      return providers.map((one) => `${one["provider_id"]} ${one["transport"]}`);
    };
    assert.deepEqual(await ids(NAMESPACE), []);
    assert.equal((await bench.fail("provider_contract_get", BUILDS)).code, "typed_provider_inactive");
    await activate(bench, "1", null);
    assert.deepEqual([await ids(NAMESPACE), await ids({ namespace_id: 3 }), await ids({})], [["builds typed"], [], []]);
    const { source, version: name, contract } = await bench.call("provider_contract_get", BUILDS);
    assert.deepEqual([source, name, (contract as JsonObject)["transport"]], ["registry", "1", "typed"]);
    assert.equal((await bench.fail("provider_contract_get", { provider_id: "builds" })).code, "provider_not_found");
    const check = await bench.call("provider_check_schema_get", { ...BUILDS, check_id: "failed" });
    assert.deepEqual(check["result_schema"], { type: "boolean" });
    const { result } = await bench.call("evidence_query", QUERY) as { result: JsonObject };
    assert.equal(result["error"], null);
    const other = { ...QUERY, context: { ...QUERY.context, namespace_id: 3 } };
    assert.equal((await bench.fail("evidence_query", other)).code, "provider_not_found");
  }, opener()));

Deno.test("a provider that discovery hides is hidden as a typed one too", () => {
  const config = { provider_discovery: { allowlist: [], denylist: ["builds"], max_response_bytes: 1_048_576 } };
  return withTools(async (bench) => {
    await bench.call("typed_providers_register", version("1"));
    await activate(bench, "1", null);
    assert.deepEqual(await bench.call("providers_list", NAMESPACE), { providers: [] });
    await bench.call("typed_providers_register", version("2"));
    assert.deepEqual(await bench.call("typed_providers_list", { ...NAMESPACE, limit: 1 }), {
      items: [],
      next_token: null,
    });
    assert.equal((await bench.fail("typed_providers_get", key("1"))).code, "typed_provider_not_found");
    assert.equal((await bench.fail("provider_contract_get", BUILDS)).code, "provider_not_found");
  }, { ...opener(), config });
});

/** An object that writes down the names of the methods that are called. */
function watched<Watched extends object>(object: Watched, calls: string[]): Watched {
  return new Proxy(object, {
    get: (of, name) => {
      const method = Reflect.get(of, name);
      if (typeof method !== "function") return method;
      return (...given: unknown[]) => {
        calls.push(String(name));
        return method.apply(of, given);
      };
    },
  });
}

Deno.test("a hidden typed provider is looked up like a missing one, so both answers take as long", () => {
  const config = { provider_discovery: { allowlist: [], denylist: ["builds"], max_response_bytes: 1_048_576 } };
  const lookups: string[] = [];
  const change = (services: Services): Services => ({
    ...services,
    typed: watched(services.typed, lookups),
    schemas: { ...services.schemas, typedProviders: watched(services.schemas.typedProviders, lookups) },
  });
  return withTools(async (bench) => {
    await bench.call("typed_providers_register", version("1"));
    await activate(bench, "1", null);
    const askedFor = async (tool: string, input: JsonObject): Promise<readonly string[]> => {
      lookups.length = 0;
      await bench.fail(tool, input);
      return [...lookups];
    };
    for (
      const [tool, input, expected] of [
        ["provider_contract_get", BUILDS, ["findActive", "listActiveIds"]],
        ["typed_providers_get", key("1"), ["get"]],
        ["typed_providers_get", BUILDS, ["getActive"]],
      ] as const
    ) {
      assert.deepEqual(await askedFor(tool, input), expected, tool);
      assert.deepEqual(await askedFor(tool, { ...input, provider_id: "missing" }), expected, tool);
    }
  }, { ...opener(), config, change });
});

const DOCUMENT: JsonObject = {
  openapi: "3.1.0",
  info: { title: "Builds", version: "1" },
  servers: [{ url: "https://builds.example/api" }],
  paths: {
    "/builds/{id}": {
      get: {
        operationId: "failed",
        parameters: [{ name: "id", in: "path", required: true, schema: { type: "string" } }],
        responses: {
          200: { description: "A build", content: { "application/json": { schema: { type: "boolean" } } } },
        },
      },
      delete: { operationId: "remove", responses: { 204: { description: "Gone" } } },
    },
  },
};

const PROTO = `syntax = "proto3"; package builds.v1;
message Ask { string id = 1; } message Answer { bool failed = 1; }
service Builds { rpc Failed (Ask) returns (Answer); }`;

Deno.test("typed_providers_import gives what typed_providers_register accepts, and stores nothing", () =>
  withTools(async (bench) => {
    const imported = await bench.call("typed_providers_import", {
      ...key("1"),
      source: { kind: "openapi", document: DOCUMENT },
    });
    const { contract, profile, provider_version_identity, candidates, refusal, next } = imported;
    assert.equal(refusal, null);
    assert.deepEqual(
      (candidates as readonly JsonObject[]).map(({ operation, usable, check_id }) => [operation, usable, check_id]),
      [["failed", true, "failed"], ["remove", false, null]],
    );
    assert.equal((next as readonly JsonObject[])[0]?.["tool"], "typed_providers_register");
    assert.deepEqual(await bench.call("typed_providers_list", NAMESPACE), { items: [], next_token: null });
    const registered = await bench.call("typed_providers_register", { ...key("1"), contract, profile } as JsonObject);
    assert.equal(registered["provider_version_identity"], provider_version_identity);
    await activate(bench, "1", null);
    await startRun(bench, BOUND);
  }, opener()));

/** A source, and the refusal or the error that it gives. */
const IMPORTS: readonly (readonly [what: string, change: JsonObject, outcome: string])[] = [
  ["protobuf texts", {
    source: { kind: "grpc", proto: [{ path: "b.proto", text: PROTO }] },
    server_url: "b.example:443",
  }, "1 check"],
  [
    "protobuf texts without an address",
    { source: { kind: "grpc", proto: [{ path: "b.proto", text: PROTO }] } },
    "refusal server_url_required",
  ],
  ["a selection by name", {
    source: { kind: "openapi", document: DOCUMENT },
    selection: [{ operation: "failed", check_id: "broken" }],
  }, "1 check"],
  ["a selection of an operation that does not exist", {
    source: { kind: "openapi", document: DOCUMENT },
    selection: [{ operation: "other" }],
  }, "refusal selection_invalid"],
  ["no OpenAPI", { source: { kind: "openapi", document: {} } }, "error import_failed"],
  ["no base64", { source: { kind: "grpc", descriptor_set_base64: "*" } }, "error import_failed"],
  ["two sources at once", {
    source: { kind: "grpc", descriptor_set_base64: "AAAA", proto: [{ path: "b.proto", text: PROTO }] },
  }, "error invalid_input"],
  [
    "a reserved name",
    { provider_id: "env", source: { kind: "openapi", document: DOCUMENT } },
    "error provider_id_reserved",
  ],
];

for (const [what, change, outcome] of IMPORTS) {
  Deno.test(`typed_providers_import of ${what}: ${outcome}`, () =>
    withTools(async (bench) => {
      const given = { ...key("1"), ...change };
      if (outcome.startsWith("error")) {
        assert.equal(`error ${(await bench.fail("typed_providers_import", given)).code}`, outcome);
        return;
      }
      const { contract, refusal } = await bench.call("typed_providers_import", given) as {
        contract: { checks: readonly unknown[] } | null;
        refusal: { code: string } | null;
      };
      assert.equal(refusal === null ? `${contract?.checks.length} check` : `refusal ${refusal.code}`, outcome);
      assert.equal(contract === null, refusal !== null);
    }, opener()));
}

Deno.test("typed_providers_import pages its candidates, and repeats nothing else", () =>
  withTools(async (bench) => {
    const names = Array.from({ length: 6_000 }, (_, index) => `/${"x".repeat(80)}${1000 + index}`);
    const paths = Object.fromEntries(names.map((path) => [path, { delete: {} }]));
    const given = { ...key("1"), source: { kind: "openapi", document: { ...DOCUMENT, paths } } };
    const seen: string[] = [];
    let cursor: JsonValue = null;
    let pages = 0;
    do {
      const page: JsonObject = await bench.call("typed_providers_import", { ...given, cursor });
      const candidates = page["candidates"] as readonly JsonObject[];
      seen.push(...candidates.map(({ operation }) => String(operation)));
      assert.equal(page["candidates_omitted"], names.length - seen.length);
      assert.equal(page["refusal"] === null, pages > 0);
      cursor = page["next_token"] ?? null;
      pages++;
      if (cursor === null) continue;
      const other = { ...given, version: "2", cursor };
      assert.equal((await bench.fail("typed_providers_import", other)).code, "invalid_cursor");
    } while (cursor !== null);
    assert.deepEqual(seen, names.map((path) => `DELETE ${path}`));
    assert.ok(pages > 1);
  }, opener()));

Deno.test("a typed provider of the configuration is one version that no tool changes, and runs are bound to it", () => {
  const contract = typedContract({ checks: [typedCheck("failed", { result_schema: { type: "boolean" } })] });
  const { loaded } = sealVersion(sealContract(contract, "file"), httpProfile());
  const provider: Provider = { ...testProvider("builds", () => answered(found(true))), kind: "typed", loaded };
  return withTools(async (bench) => {
    const calls: readonly (readonly [tool: string, input: JsonObject])[] = [
      ["typed_providers_register", version("1")],
      ["typed_providers_activate", { ...key("1"), expected_active: null }],
      ["typed_providers_deprecate", { ...key("1"), expected_state: "active" }],
      ["typed_providers_get", key("1")],
      ["typed_providers_import", { ...key("1"), source: { kind: "openapi", document: DOCUMENT } }],
    ];
    for (const [tool, input] of calls) {
      assert.equal((await bench.fail(tool, input)).code, "typed_provider_configured", tool);
    }
    const { contract: shown, profile, ...item } = await bench.call("typed_providers_get", BUILDS);
    assert.deepEqual([shown, profile], [asJson(contract), asJson(httpProfile())]);
    assert.deepEqual(item, {
      provider_id: "builds",
      version: null,
      state: "active",
      typed_protocol: "openapi_http",
      provider_version_identity: loaded.provider_version?.identity,
      checks: 1,
      registered_at: null,
    });
    const { items } = await bench.call("typed_providers_list", NAMESPACE);
    assert.deepEqual(items, [item]);
    const { run } = await startRun(bench, BOUND);
    const [record] = await bench.services.runs.listRecords({ namespace_id: 2, run_id: run.run_id }, 0, 1);
    const [bound] = JSON.parse(record?.record ?? "").body.contracts;
    assert.equal(bound.provider_version_identity, loaded.provider_version?.identity);
    const artifact = await bench.services.runs.artifacts.get(bound.provider_version_identity);
    assert.equal(artifact?.body, loaded.provider_version?.text);
  }, { ...opener(), providers: new Map([["builds", provider]]) });
});

/** A page size, and the pages of registered versions beside one version of the configuration. */
const CONFIGURED_PAGES: readonly [number, string][] = [
  [50, "a 1, b -, b 1, c 1, c 2"],
  [1, "a 1 / b - / b 1 / c 1 / c 2"],
  [2, "a 1, b - / b 1, c 1 / c 2"],
];

for (const [limit, expected] of CONFIGURED_PAGES) {
  Deno.test(`typed_providers_list, ${limit} a page, has the configuration in its order: ${expected}`, () => {
    const contractOf = (provider_id: string, description: string): ProviderContract =>
      typedContract({
        provider_id,
        description,
        checks: [typedCheck("failed", { result_schema: { type: "boolean" } })],
      });
    const providers = new Map<string, Provider>();
    return withTools(async (bench) => {
      for (const [provider_id = "", name = ""] of ["c 2", "a 1", "b 1", "c 1"].map((one) => one.split(" "))) {
        const given = { ...NAMESPACE, provider_id, version: name };
        const contract = asJson(contractOf(provider_id, name));
        await bench.call("typed_providers_register", { ...given, contract, profile: asJson(httpProfile()) });
      }
      const { loaded } = sealVersion(sealContract(contractOf("b", "-"), "file"), httpProfile());
      providers.set("b", { ...testProvider("b", () => answered(found(true))), kind: "typed", loaded });
      providers.set("scanner", testProvider("scanner", () => answered(found(true))));
      const pages: string[] = [];
      let cursor: JsonValue = null;
      do {
        const page: JsonObject = await bench.call("typed_providers_list", { ...NAMESPACE, limit, cursor });
        const items = page["items"] as readonly JsonObject[];
        pages.push(items.map((item) => `${item["provider_id"]} ${item["version"] ?? "-"}`).join(", "));
        cursor = page["next_token"] ?? null;
      } while (cursor !== null);
      assert.equal(pages.join(" / "), expected);
    }, { ...opener(), providers });
  });
}

Deno.test("a hidden typed provider of the configuration is answered as one that does not exist", () => {
  const { loaded } = sealVersion(sealContract(typedContract(), "file"), httpProfile());
  const provider: Provider = { ...testProvider("builds", () => answered(found(true))), kind: "typed", loaded };
  return withTools(async (bench) => {
    assert.deepEqual((await bench.call("typed_providers_list", NAMESPACE))["items"], []);
    for (const name of ["builds", "nothing"]) {
      for (const change of [{}, { version: "1" }]) {
        const error = await bench.fail("typed_providers_get", { ...NAMESPACE, provider_id: name, ...change });
        assert.equal(error.code, "typed_provider_not_found", name);
      }
    }
  }, {
    ...opener(),
    providers: new Map([["builds", provider]]),
    config: { provider_discovery: { allowlist: [], denylist: ["builds"], max_response_bytes: 1_048_576 } },
  });
});

Deno.test("a run that is bound to a configured version does not use another profile of the same contract", () => {
  const contract = typedContract({ checks: [typedCheck("failed", { result_schema: { type: "boolean" } })] });
  const providers = new Map<string, Provider>();
  const configure = (base_url: string): void => {
    const { loaded } = sealVersion(sealContract(contract, "file"), httpProfile({ base_url }));
    providers.set("builds", {
      ...testProvider("builds", () => answered(found(true), Date.now())),
      kind: "typed",
      loaded,
    });
  };
  configure("https://builds.example/");
  return withTools(async (bench) => {
    const scene = { ...await startRun(bench, BOUND), bench, accept: () => assert.fail() };
    configure("https://other.example/");
    const { outcome, result } = envelope(await bench.call("scenario_next", next(scene)));
    assert.deepEqual([outcome, (result["failures"] as JsonObject[])[0]?.["code"]], [
      "acquisition_failed",
      "contract_changed",
    ]);
    configure("https://builds.example/");
    assert.equal(envelope(await bench.call("scenario_next", next(scene))).outcome, "accepted");
  }, { ...opener(), providers });
});

Deno.test("a run without typed providers has no member for their versions", () =>
  withTools(async (bench) => {
    const { run } = await startRun(bench, SCANNED);
    const [record] = await bench.services.runs.listRecords({ namespace_id: 2, run_id: run.run_id }, 0, 1);
    const { contracts } = JSON.parse(record?.record ?? "").body;
    assert.deepEqual(contracts.map(Object.keys), [["contract_identity", "provider_id"]]);
  }, scanner(true)));

/** So many parts of an import, and whether they are decoded. */
const COUNTS: readonly (readonly [what: "operations" | "files", count: number, isDecoded: boolean])[] = [
  ["operations", 255, true],
  ["operations", 256, true],
  ["operations", 257, false],
  ["files", 1023, true],
  ["files", 1024, true],
  ["files", 1025, false],
];

for (const [what, count, isDecoded] of COUNTS) {
  Deno.test(`typed_providers_import with ${count} ${what} is ${isDecoded ? "" : "not "}decoded`, () =>
    withTools(async (bench) => {
      const numbers = Array.from({ length: count }, (_, index) => index);
      const given = what === "operations"
        ? { source: { kind: "openapi", document: {} }, selection: numbers.map((at) => ({ operation: `op${at}` })) }
        : { source: { kind: "grpc", proto: numbers.map((at) => ({ path: `${at}.proto`, text: "?" })) } };
      const { code } = await bench.fail("typed_providers_import", { ...key("1"), ...given });
      assert.equal(code, isDecoded ? "import_failed" : "invalid_input");
    }, opener()));
}
