/**
 * Contracts and runtime profiles of typed providers, for tests.
 *
 * @module
 */

import type { CheckContract, ProviderContract } from "../../src/evidence/types.ts";
import type { GrpcProfile, HttpOperation, OpenApiHttpProfile } from "../../src/evidence/typed/runtime_profile.ts";

/** A check `id` with params `{id}` and an integer result, with changes. */
export function typedCheck(id: string, changes: Partial<CheckContract> = {}): CheckContract {
  return {
    check_id: id,
    description: "Failed tests of a build.",
    determinism: "external",
    params_required: true,
    params_schema: {
      type: "object",
      additionalProperties: false,
      properties: { id: { type: "string" } },
      required: ["id"],
    },
    result_schema: { type: "integer" },
    allowed_comparators: ["equals", "not_equals", "less_than", "exists", "not_exists"],
    anchor_types: ["openapi_request"],
    content_types: ["application/json"],
    examples: [],
    ...changes,
  };
}

/** A contract `builds` with a check `failed`, with changes. */
export function typedContract(changes: Partial<ProviderContract> = {}): ProviderContract {
  return {
    provider_id: "builds",
    name: "Builds",
    description: "Builds of a service.",
    transport: "typed",
    config_schema: {},
    checks: [typedCheck("failed")],
    notes: [],
    ...changes,
  };
}

/** The operation `GET /builds/{id}` with its result at `/failed`, with changes. */
export function httpOperation(changes: Partial<HttpOperation> = {}): HttpOperation {
  return {
    method: "GET",
    path_template: "/builds/{id}",
    parameters: [{ name: "id", in: "path", param: "id", style: "simple", explode: false }],
    body: null,
    accept: "application/json",
    expected_status: [200],
    result_pointer: "/failed",
    source: { operation: "getBuild", pointer: "/paths/~1builds~1{id}/get" },
    ...changes,
  };
}

/** A profile of an HTTP service for {@link typedContract}, with changes. */
export function httpProfile(changes: Partial<OpenApiHttpProfile> = {}): OpenApiHttpProfile {
  return {
    profile_version: "1",
    typed_protocol: "openapi_http",
    base_url: "https://builds.example/api",
    tls: { ca: null, client: null },
    credentials: [],
    limits: { timeout_ms: 5000, max_response_bytes: 65_536 },
    operations: { failed: httpOperation() },
    ...changes,
  };
}

/** A profile of a gRPC service for {@link typedContract}, with changes. */
export function grpcProfile(changes: Partial<GrpcProfile> = {}): GrpcProfile {
  return {
    profile_version: "1",
    typed_protocol: "grpc",
    endpoint: "builds.example:443",
    plaintext: false,
    authority: null,
    tls: { ca: null, client: null },
    credentials: [],
    limits: { timeout_ms: 5000, max_response_bytes: 65_536 },
    descriptor_set_base64: "AAAA",
    operations: {
      failed: {
        service: "builds.v1.Builds",
        method: "GetBuild",
        result_path: ["failed"],
        source: { operation: "builds.v1.Builds/GetBuild", pointer: "" },
      },
    },
    ...changes,
  };
}
