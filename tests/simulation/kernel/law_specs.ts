/**
 * Specs and environments for tests and vectors of the law.
 *
 * @module
 */

import type { JsonValue } from "../../../src/canonical/json.ts";
import type { CheckFacts, LawEnvironment, LawLimits } from "../../../src/law/types.ts";
import { LEAST_POLICY } from "../../least_policy.ts";

/** A spec as a tree that a test may change in place. */
// deno-lint-ignore no-explicit-any
export type Editable = any;

/** The operator's default limits, with both opt-in predicate families enabled. */
export const LIMITS: LawLimits = {
  maximum_value_bytes: 1_048_576,
  maximum_payload_bytes: 2_097_152,
  enable_lexicographic: true,
  enable_deep_equals: true,
  proof_budget: 2 ** 20,
};

const CHECKS: readonly CheckFacts[] = [
  {
    provider_id: "env",
    check_id: "get",
    channel: "local_acquisition",
    allowed_comparators: ["equals", "not_equals", "in_set", "exists", "not_exists"],
    result_types: ["string", "null"],
    params_schema: { type: "object", properties: { key: { type: "string" } }, required: ["key"] },
    checkParams: (params) =>
      typeof params === "object" && params !== null && "key" in params ? null : 'Member "key" is required',
  },
  {
    provider_id: "scanner",
    check_id: "findings",
    channel: "provider_acquisition",
    allowed_comparators: ["equals", "less_than", "less_than_or_equal"],
    result_types: ["integer"],
    params_schema: true,
    checkParams: () => null,
  },
  {
    provider_id: "ci",
    check_id: "status",
    channel: "provider_acquisition",
    allowed_comparators: ["equals", "in_set", "less_than"],
    result_types: ["any"],
    params_schema: {
      type: "object",
      properties: {
        url: { type: "string" },
        retries: { type: "integer" },
        deep: { type: "boolean" },
        tags: { type: "array", items: { type: "string" } },
        anything: true,
      },
      required: ["url"],
      additionalProperties: false,
    },
    checkParams: (params) =>
      typeof params === "object" && params !== null && "url" in params ? null : 'Member "url" is required',
  },
];

/** An environment with the providers `env`, `scanner` and `ci` and the schema `release` version `1`. */
export function environment(limits: Partial<LawLimits> = {}): LawEnvironment {
  return {
    limits: { ...LIMITS, ...limits },
    hasSchema: (schemaId, version) => schemaId === "release" && version === "1",
    findCheck: (providerId, checkId) => {
      const checks = CHECKS.filter((check) => check.provider_id === providerId);
      if (checks.length === 0) return "provider";
      return checks.find((check) => check.check_id === checkId) ?? "check";
    },
  };
}

/** A policy with the weakest requirements. */
export function policy(changes: Readonly<Record<string, JsonValue>> = {}): Editable {
  return { ...structuredClone(LEAST_POLICY), ...changes };
}

/** A Boolean condition that expects true. */
export function flag(id: string): Editable {
  return {
    condition_id: id,
    observation_domain: { domain: "Boolean" },
    predicate: { predicate: "Equals", expected: { value: true, value_type: "Boolean" } },
    evidence_use_policy: policy(),
  };
}

/** A stage that requires nothing and completes on one condition. */
export function stage(id: string, condition: string, prerequisite: JsonValue = { kind: "root" }): Editable {
  return { stage_id: id, prerequisite, completion_requirement: { Condition: condition } };
}

/** The minimal spec: one stage, one condition. */
export function leastSpec(): Editable {
  return {
    spec_version: "dag-v3",
    scenario_id: "least",
    namespace_id: 1,
    conditions: [flag("approved")],
    stages: [stage("review", "approved")],
    completion_requirement: { Condition: "review" },
  };
}

/** A spec with every member, domain and node kind, and no array in order. */
export function fullSpec(): Editable {
  return {
    spec_version: "dag-v3",
    scenario_id: "release",
    namespace_id: 2,
    value_limits: { selection: "Explicit", maximum_value_bytes: 65536, maximum_payload_bytes: 4096 },
    policies: [{ policy_id: "two-eyes", description: "Nobody approves alone" }, { policy_id: "no-friday" }],
    schemas: [{ schema_id: "release", version: "1" }],
    conditions: fullConditions(),
    acquisition_bindings: [
      {
        binding_id: "region-from-env",
        condition_id: "region",
        channel: "local_acquisition",
        provider_id: "env",
        check_id: "get",
        params: { key: "REGION" },
      },
      {
        binding_id: "findings-from-scanner",
        condition_id: "findings",
        channel: "provider_acquisition",
        provider_id: "scanner",
        check_id: "findings",
      },
    ],
    stages: fullStages(),
    completion_requirement: { Or: [{ Condition: "ship" }, { And: [{ Condition: "scan" }, { Condition: "build" }] }] },
  };
}

function fullConditions(): Editable[] {
  const local = policy({ allowed_channels: ["local_acquisition", "caller_submission"] });
  return [
    {
      condition_id: "region",
      observation_domain: { domain: "String", minimum_bytes: 1, maximum_bytes: 64 },
      predicate: {
        predicate: "InSet",
        expected: [{ value: "eu", value_type: "String" }, { value: "ap", value_type: "String" }],
      },
      evidence_use_policy: local,
    },
    {
      condition_id: "findings",
      observation_domain: { domain: "Integer", minimum: 0, maximum: 1000 },
      predicate: { predicate: "LessThan", expected: { value: 5, value_type: "Integer" } },
      evidence_use_policy: policy({
        allowed_channels: ["provider_acquisition"],
        combination: { combination: "Quorum", minimum: 2 },
        freshness: { freshness: "MaximumAge", maximum_age_millis: 60000 },
        independence: "distinct_provider",
      }),
    },
    {
      condition_id: "coverage",
      observation_domain: { domain: "Decimal", minimum: "0", maximum: "100" },
      predicate: { predicate: "GreaterThanOrEqual", expected: { value: "80.5", value_type: "Decimal" } },
      evidence_use_policy: policy({
        authorization: "signature",
        authorized_key_ids: ["ci-2", "ci-1"],
        combination: { combination: "AnyQualifying" },
        independence: "not_required",
        integrity: "signed_content",
        required_assurance: ["source_signature", "content_integrity"],
      }),
    },
    {
      condition_id: "built-at",
      observation_domain: { domain: "Timestamp" },
      predicate: { predicate: "GreaterThan", expected: { value: "2026-01-01T00:00:00Z", value_type: "Timestamp" } },
      evidence_use_policy: policy({ integrity: "anchored_content", required_assurance: ["source_anchor"] }),
    },
    {
      condition_id: "image",
      observation_domain: { domain: "Digest", algorithm: "sha256" },
      predicate: { predicate: "Equals", expected: { value: "ab".repeat(32), value_type: "Digest" } },
      evidence_use_policy: policy({ replay: "digest_only", retention: "retain_digest_only" }),
    },
    {
      condition_id: "manifest",
      observation_domain: { domain: "Json", maximum_bytes: 4096, schema: { schema_id: "release", version: "1" } },
      predicate: { predicate: "DeepEquals", expected: { value: { b: 1, a: [2] }, value_type: "Json" } },
      evidence_use_policy: policy({ required_assurance: [] }),
    },
    flag("approved"),
    flag("frozen"),
  ];
}

function fullStages(): Editable[] {
  const reqs = [{ Condition: "scan" }, { Condition: "build" }];
  return [
    {
      ...stage("ship", "approved", { kind: "requires", requirement: { RequireGroup: { min: 2, reqs } } }),
      completion_requirement: { And: [{ Not: { Condition: "frozen" } }, { Condition: "approved" }] },
      entry_packets: fullPackets(),
    },
    {
      ...stage("scan", "findings"),
      completion_requirement: {
        RequireGroup: {
          min: 2,
          reqs: [{ Condition: "findings" }, { Condition: "coverage" }, {
            Or: [{ Condition: "region" }, { Condition: "image" }],
          }],
        },
      },
    },
    {
      ...stage("build", "manifest"),
      completion_requirement: { Or: [{ Condition: "manifest" }, { Condition: "built-at" }] },
    },
  ];
}

function fullPackets(): Editable[] {
  return [
    {
      packet_id: "runbook",
      schema_id: "release",
      content_type: "application/vnd.runbook+json; charset=utf-8",
      visibility_labels: ["internal", "engineering"],
      policy_tags: ["pii-free", "signed"],
      targets: [
        { kind: "session", session_id: "s-1" },
        { kind: "agent", agent_id: "deployer" },
        { kind: "external", system: "jira", target: "OPS-1" },
        { kind: "channel", channel: "#ops" },
      ],
      expiry: { kind: "unix_millis", value: 1893456000000 },
      payload: { kind: "json", value: { steps: ["a", "b"] } },
    },
    {
      packet_id: "key",
      schema_id: "release",
      content_type: "application/octet-stream",
      expiry: { kind: "logical", value: 7 },
      payload: { kind: "bytes", base64: "AAEC" },
    },
    {
      packet_id: "image",
      schema_id: "release",
      content_type: "application/vnd.oci.image.manifest.v1+json",
      payload: {
        kind: "external",
        content_ref: {
          uri: "https://registry.example/v2/app",
          content_hash: { algorithm: "sha256", value: "cd".repeat(32) },
          encryption: "age",
        },
      },
    },
  ];
}

/** A law for many releases: each run gives version, commit, digest, limit, factor, deadline and strictness. */
export function releaseSpec(): Editable {
  const condition = (id: string, domain: JsonValue, predicate: JsonValue): Editable => ({
    condition_id: id,
    observation_domain: domain,
    predicate,
    evidence_use_policy: policy({ allowed_channels: ["caller_submission", "provider_acquisition"] }),
  });
  const text = { domain: "String", minimum_bytes: 0, maximum_bytes: 128 };
  return {
    spec_version: "dag-v3",
    scenario_id: "release",
    namespace_id: 2,
    parameters: [
      { parameter_id: "version", domain: { ...text, minimum_bytes: 1, maximum_bytes: 32 }, description: "As tagged" },
      { parameter_id: "commit", domain: { ...text, maximum_bytes: 64 } },
      { parameter_id: "image", domain: { domain: "Digest", algorithm: "sha256" } },
      { parameter_id: "limit", domain: { domain: "Integer", minimum: 0, maximum: 10 } },
      { parameter_id: "factor", domain: { domain: "Decimal", minimum: "0.5", maximum: "2" } },
      { parameter_id: "since", domain: { domain: "Timestamp" } },
      { parameter_id: "strict", domain: { domain: "Boolean" } },
    ],
    conditions: [
      condition("tag", text, {
        predicate: "InSet",
        expected: [
          { parameter: "version" },
          { value: "nightly", value_type: "String" },
          { parameter: "commit" },
        ],
      }),
      condition("image", { domain: "Digest", algorithm: "sha256" }, {
        predicate: "Equals",
        expected: { parameter: "image" },
      }),
      condition("findings", { domain: "Integer", minimum: 0 }, {
        predicate: "LessThan",
        expected: { parameter: "limit" },
      }),
      condition("speed", { domain: "Decimal", minimum: "0" }, {
        predicate: "GreaterThanOrEqual",
        expected: { parameter: "factor" },
      }),
      condition("built", { domain: "Timestamp" }, { predicate: "GreaterThan", expected: { parameter: "since" } }),
      condition("strict", { domain: "Boolean" }, { predicate: "Equals", expected: { parameter: "strict" } }),
    ],
    acquisition_bindings: [{
      binding_id: "ci_tag",
      condition_id: "tag",
      channel: "provider_acquisition",
      provider_id: "ci",
      check_id: "status",
      params: {
        url: { $template: "https://ci.example/commits/{commit}/status?v={version}" },
        retries: { $parameter: "limit" },
        deep: { $parameter: "strict" },
        tags: [{ $parameter: "version" }, "fixed"],
        anything: { nested: { $parameter: "factor" } },
      },
    }],
    stages: [{
      stage_id: "release",
      prerequisite: { kind: "root" },
      completion_requirement: {
        And: ["tag", "image", "findings", "speed", "built", "strict"].map((id) => ({ Condition: id })),
      },
      entry_packets: [],
    }],
    completion_requirement: { Condition: "release" },
  };
}
