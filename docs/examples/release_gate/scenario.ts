/**
 * The law of the demo: a release goes when its checks pass, it is built from a branch, the endpoint reports its version and
 * the release window is open. gate fetches all of that itself.
 *
 * @module
 */

import type { Json } from "./gate_session.ts";

/** What the law is about. */
export interface Release {
  /** The version that is to be released. */
  readonly version: string;
  /** The endpoint that reports the version of the program. */
  readonly endpoint: string;
  /** When the release window opens, RFC 3339. */
  readonly windowOpens: string;
}

/** Evidence counts that gate acquired itself, undamaged and in the domain. */
const ACQUIRED = {
  allowed_channels: ["local_acquisition"],
  authorization: "embedding_authority",
  combination: { combination: "AllQualifyingAgree" },
  freshness: { freshness: "MaximumAge", maximum_age_millis: 60_000 },
  independence: "distinct_acquisition",
  integrity: "canonical_content_only",
  replay: "full_semantic",
  required_assurance: ["content_integrity", "scope", "schema_compatibility"],
  retention: "retain_canonical_value",
  scope: "exact_condition",
} as const;

function condition(condition_id: string, observation_domain: Json, predicate: Json): Json {
  return { condition_id, observation_domain, predicate, evidence_use_policy: ACQUIRED };
}

function equals(value: string | number | boolean, value_type: string): Json {
  return { predicate: "Equals", expected: { value, value_type } };
}

function exitCode(condition_id: string): Json {
  return condition(condition_id, { domain: "Integer", minimum: 0, maximum: 255 }, equals(0, "Integer"));
}

function binding(condition_id: string, provider_id: string, check_id: string, params: Json): Json {
  return {
    binding_id: `${provider_id}.${condition_id}`,
    condition_id,
    channel: "local_acquisition",
    provider_id,
    check_id,
    params,
  };
}

function result(condition_id: string, jsonpath: string): Json {
  return binding(condition_id, "json", "path", { file: "results.json", jsonpath });
}

function all(...conditions: readonly string[]): Json {
  return { And: conditions.map((Condition) => ({ Condition })) };
}

/** The scenario of a release. */
export function releaseScenario({ version, endpoint, windowOpens }: Release): Json {
  const count = { domain: "Integer", minimum: 0 };
  const text = { domain: "String", minimum_bytes: 1, maximum_bytes: 256 };
  return {
    spec_version: "dag-v3",
    namespace_id: 2,
    scenario_id: "release-gate",
    conditions: [
      exitCode("format_exit_code"),
      exitCode("lint_exit_code"),
      exitCode("types_exit_code"),
      condition("tests_passed", count, { predicate: "GreaterThan", expected: { value: 0, value_type: "Integer" } }),
      condition("tests_failed", count, equals(0, "Integer")),
      condition("branch", text, { predicate: "Exists" }),
      condition("endpoint_status", count, equals(200, "Integer")),
      condition("endpoint_version", text, equals(version, "String")),
      condition("window_open", { domain: "Boolean" }, equals(true, "Boolean")),
    ],
    acquisition_bindings: [
      result("format_exit_code", "$.format.exit_code"),
      result("lint_exit_code", "$.lint.exit_code"),
      result("types_exit_code", "$.types.exit_code"),
      result("tests_passed", "$.tests.passed"),
      result("tests_failed", "$.tests.failed"),
      binding("branch", "env", "get", { key: "RELEASE_BRANCH" }),
      binding("endpoint_status", "http", "status", { url: endpoint }),
      binding("endpoint_version", "rest", "json_path", { url: endpoint, jsonpath: "$.version" }),
      binding("window_open", "time", "after", { timestamp: windowOpens }),
    ],
    stages: [
      {
        stage_id: "static-checks",
        prerequisite: { kind: "root" },
        completion_requirement: all("format_exit_code", "lint_exit_code", "types_exit_code"),
      },
      {
        stage_id: "tests",
        prerequisite: { kind: "root" },
        completion_requirement: all("tests_passed", "tests_failed"),
      },
      {
        stage_id: "release",
        prerequisite: { kind: "requires", requirement: all("static-checks", "tests") },
        completion_requirement: all("branch", "endpoint_status", "endpoint_version", "window_open"),
      },
    ],
    completion_requirement: { Condition: "release" },
  };
}
