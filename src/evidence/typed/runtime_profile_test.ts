import assert from "node:assert/strict";
import {
  grpcProfile,
  httpOperation,
  httpProfile,
  typedCheck,
  typedContract,
} from "../../../tests/simulation/typed_documents.ts";
import { canonicalize } from "../../canonical/canonicalize.ts";
import { identify } from "../../canonical/identity.ts";
import type { JsonValue } from "../../canonical/json.ts";
import { sealContract, sealVersion } from "../contract/seal.ts";
import { HOST_PRIMITIVES } from "../host_primitives.ts";
import { checkRuntimeProfile, PROFILE_LIMITS } from "./runtime_profile.ts";

type Loose = Record<string, unknown>;

function problemsOf(profile: unknown, contract = typedContract()): string[] {
  const checked = checkRuntimeProfile(profile as JsonValue, contract);
  return checked.ok ? [] : checked.problems.map(({ code, path }) => `${code} ${path}`);
}

function http(changes: Loose): unknown {
  return { ...httpProfile(), ...changes };
}

function operation(changes: Loose): unknown {
  return http({ operations: { failed: { ...httpOperation(), ...changes } } });
}

function grpc(changes: Loose): unknown {
  return { ...grpcProfile(), ...changes };
}

function parameter(changes: Loose): unknown {
  const query = { name: "q", in: "query", param: "q", style: "form", explode: true };
  return operation({ parameters: [...httpOperation().parameters, { ...query, ...changes }] });
}

const OPERATION = "$.operations.failed";
const ADDED = `${OPERATION}.parameters[1]`;

/** What the profile has, the profile, its problems. */
const ROWS: readonly (readonly [string, unknown, readonly string[]])[] = [
  ["an HTTP service", httpProfile(), []],
  ["a gRPC service", grpcProfile(), []],
  ["no object", [], ["type_invalid $"]],
  ["an unknown protocol", http({ typed_protocol: "soap" }), ["value_invalid $.typed_protocol"]],
  ["a later version", http({ profile_version: "2" }), ["value_invalid $.profile_version"]],
  ["an unknown member", http({ retries: 3 }), ["member_unknown $.retries"]],
  ["a member less", http({ limits: undefined }), ["member_missing $.limits"]],
  ["timeout, n - 1", http({ limits: { timeout_ms: 0, max_response_bytes: 1 } }), ["value_invalid $.limits.timeout_ms"]],
  ["timeout, n", http({ limits: { timeout_ms: 30_000, max_response_bytes: 1 } }), []],
  ["timeout, n + 1", http({ limits: { timeout_ms: 30_001, max_response_bytes: 1 } }), [
    "value_invalid $.limits.timeout_ms",
  ]],
  ["response, n", http({ limits: { timeout_ms: 1, max_response_bytes: 16_777_216 } }), []],
  ["response, n + 1", http({ limits: { timeout_ms: 1, max_response_bytes: 16_777_217 } }), [
    "value_invalid $.limits.max_response_bytes",
  ]],
  ["a URL with a user", http({ base_url: "https://user@builds.example" }), ["value_invalid $.base_url"]],
  ["a URL with a query", http({ base_url: "https://builds.example/?a=1" }), ["value_invalid $.base_url"]],
  ["a URL with a fragment", http({ base_url: "https://builds.example/#a" }), ["value_invalid $.base_url"]],
  ["a URL with a backslash", http({ base_url: "https://builds.example\\@evil" }), ["value_invalid $.base_url"]],
  ["a URL of another scheme", http({ base_url: "file:///etc/passwd" }), ["value_invalid $.base_url"]],
  ["a URL with a bad port", http({ base_url: "https://builds.example:99999" }), ["profile_mismatch $.base_url"]],
  ["a credential as its value", http({ credentials: [{ kind: "bearer", locator: "s3cret" }] }), [
    "value_invalid $.credentials[0].locator",
  ]],
  ["a locator out of the folder", http({ credentials: [{ kind: "bearer", locator: "file://../key" }] }), [
    "value_invalid $.credentials[0].locator",
  ]],
  ["a locator with a folder", http({ credentials: [{ kind: "bearer", locator: "file://a/key" }] }), [
    "value_invalid $.credentials[0].locator",
  ]],
  ["a hidden file", http({ credentials: [{ kind: "bearer", locator: "file://.key" }] }), [
    "value_invalid $.credentials[0].locator",
  ]],
  [
    "two credentials for one header",
    http({
      credentials: [{ kind: "bearer", locator: "file://a" }, { kind: "basic", locator: "file://b" }],
    }),
    ["duplicate $.credentials[1]"],
  ],
  [
    "an API key in a reserved header",
    http({
      credentials: [{ kind: "api_key", header: "Host", locator: "file://a" }],
    }),
    ["profile_mismatch $.credentials[0]"],
  ],
  [
    "an API key in the header of the operation",
    http({
      credentials: [{ kind: "api_key", header: "Accept", locator: "file://a" }],
    }),
    ["profile_mismatch $.credentials[0]"],
  ],
  ["a client certificate without a key", http({ tls: { ca: null, client: { certificate: "file://a" } } }), [
    "member_missing $.tls.client.key",
  ]],
  ["an authority without TLS", http({ base_url: "http://builds.example", tls: { ca: "file://a", client: null } }), [
    "profile_mismatch $.tls.ca",
  ]],
  [
    "a client certificate without TLS",
    grpc({
      plaintext: true,
      tls: { ca: null, client: { certificate: "file://a", key: "file://b" } },
    }),
    ["profile_mismatch $.tls.client"],
  ],
  ["an operation that no check has", http({ operations: { failed: httpOperation(), other: httpOperation() } }), [
    "profile_mismatch $.operations.other",
  ]],
  ["no operation", http({ operations: {} }), ["value_invalid $.operations"]],
  ["a method in lower case", operation({ method: "get" }), [`value_invalid ${OPERATION}.method`]],
  ["a body with GET", operation({ body: { param: "b", content_type: "application/json" } }), [
    `profile_mismatch ${OPERATION}.body`,
  ]],
  ["a body with POST", operation({ method: "POST", body: { param: "b", content_type: "application/json" } }), []],
  ["a path without a slash", operation({ path_template: "builds/{id}" }), [
    `value_invalid ${OPERATION}.path_template`,
  ]],
  ["a path with a query", operation({ path_template: "/builds/{id}?x=1" }), [
    `value_invalid ${OPERATION}.path_template`,
  ]],
  ["a path that climbs", operation({ path_template: "/../{id}" }), [`profile_mismatch ${OPERATION}.path_template`]],
  ["a path that climbs encoded", operation({ path_template: "/.%2E/{id}" }), [
    `profile_mismatch ${OPERATION}.path_template`,
  ]],
  ["an open brace", operation({ path_template: "/{id}/{x" }), [`profile_mismatch ${OPERATION}.path_template`]],
  ["a placeholder without a parameter", operation({ path_template: "/{id}/{x}" }), [
    `profile_mismatch ${OPERATION}.path_template`,
  ]],
  ["a placeholder twice", operation({ path_template: "/{id}/{id}" }), [`duplicate ${OPERATION}.path_template`]],
  ["a path parameter without a placeholder", operation({ path_template: "/builds" }), [
    `profile_mismatch ${OPERATION}.path_template`,
  ]],
  ["a status twice", operation({ expected_status: [200, 200] }), [`duplicate ${OPERATION}.expected_status[1]`]],
  ["no status", operation({ expected_status: [] }), [`value_invalid ${OPERATION}.expected_status`]],
  ["status, n - 1", operation({ expected_status: [199] }), [`value_invalid ${OPERATION}.expected_status[0]`]],
  ["status, n + 1", operation({ expected_status: [600] }), [`value_invalid ${OPERATION}.expected_status[0]`]],
  ["a pointer without a slash", operation({ result_pointer: "failed" }), [`value_invalid ${OPERATION}.result_pointer`]],
  ["a query parameter", parameter({}), []],
  ["a style of another place", parameter({ style: "matrix" }), [`value_invalid ${ADDED}.style`]],
  ["a cookie", parameter({ in: "cookie" }), [`value_invalid ${ADDED}.in`]],
  ["a header", parameter({ name: "X-Team", in: "header", style: "simple" }), []],
  ["a reserved header", parameter({ name: "Authorization", in: "header", style: "simple" }), [
    `profile_mismatch ${ADDED}.name`,
  ]],
  ["a header with a line break", parameter({ name: "a\nb", in: "header", style: "simple" }), [
    `value_invalid ${ADDED}.name`,
  ]],
  ["a parameter twice", parameter({ name: "id", in: "path", style: "simple" }), [`duplicate ${ADDED}`]],
  ["an endpoint without a port", grpc({ endpoint: "builds.example" }), ["value_invalid $.endpoint"]],
  ["an endpoint, port n + 1", grpc({ endpoint: "builds.example:65536" }), ["profile_mismatch $.endpoint"]],
  ["an IPv6 endpoint", grpc({ endpoint: "[::1]:50051" }), []],
  ["a descriptor set that is no base64", grpc({ descriptor_set_base64: "AAA" }), [
    "value_invalid $.descriptor_set_base64",
  ]],
  [
    "a reserved metadata name",
    grpc({ credentials: [{ kind: "metadata", name: "grpc-timeout", locator: "file://a" }] }),
    [
      "profile_mismatch $.credentials[0]",
    ],
  ],
  ["a base URL with gRPC", grpc({ base_url: "https://builds.example" }), ["member_unknown $.base_url"]],
];

for (const [what, profile, problems] of ROWS) {
  Deno.test(`checkRuntimeProfile() of ${what} finds ${problems.join(", ") || "nothing"}`, () => {
    const json = JSON.parse(JSON.stringify(profile));
    assert.deepEqual(problemsOf(json), problems);
  });
}

Deno.test("checkRuntimeProfile() wants one operation for each check of the contract", () => {
  const contract = typedContract({ checks: [typedCheck("failed"), typedCheck("constructor")] });
  assert.deepEqual(problemsOf(httpProfile(), contract), ["profile_mismatch $.operations"]);
});

Deno.test("checkRuntimeProfile() accepts a header that carries a credential nowhere else", () => {
  const credentials = [{ kind: "api_key", header: "X-Key", locator: "file://key" }];
  const named = { name: "x-key", in: "header", param: "q", style: "simple", explode: false };
  const profile = { ...(operation({ parameters: [...httpOperation().parameters, named] }) as Loose), credentials };
  assert.deepEqual(problemsOf(profile), [`profile_mismatch ${ADDED}.name`]);
});

Deno.test("checkRuntimeProfile() bounds the canonical text of a profile", () => {
  const empty = canonicalize(grpcProfile({ descriptor_set_base64: "" }) as unknown as JsonValue).length;
  const rest = PROFILE_LIMITS.bytes - empty;
  const sized = (bytes: number): unknown => {
    const four = bytes - bytes % 4;
    return grpc({ descriptor_set_base64: "A".repeat(four), endpoint: `${"a".repeat(14 + bytes % 4)}:443` });
  };
  assert.deepEqual(problemsOf(sized(rest - 1)), []);
  assert.deepEqual(problemsOf(sized(rest)), []);
  assert.deepEqual(problemsOf(sized(rest + 1)), ["contract_too_large $"]);
});

Deno.test("the identity of a provider version covers contract and profile", () => {
  const { sha256 } = HOST_PRIMITIVES;
  const loaded = sealContract(typedContract(), "file");
  const version = sealVersion(loaded, httpProfile());
  const contract = loaded.contract as unknown as JsonValue;
  const profile = httpProfile() as unknown as JsonValue;
  assert.equal(version.profile_identity, identify(sha256, "runtime-profile", profile));
  assert.equal(version.provider_version_identity, identify(sha256, "provider-version", { contract, profile }));
});
