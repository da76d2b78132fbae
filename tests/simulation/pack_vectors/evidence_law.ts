/**
 * The law of the evidence vectors: a condition for each way in which evidence is acquired, owed, combined and judged.
 *
 * @module
 */

import type { JsonValue } from "../../../src/canonical/json.ts";
import type { CompiledLaw } from "../../../src/run/compile.ts";
import type { OperatorProfile } from "../../../src/run/profile.ts";
import { KEY_1, KEY_2, lawOf, NOW, SHA256, trusting } from "../kernel/fixture.ts";
import { type Editable, policy } from "../kernel/law_specs.ts";

/** What a signed artifact is named by. */
export const IMAGE = SHA256("image");

const ACQUIRED = { allowed_channels: ["local_acquisition", "provider_acquisition"] };
const FRESH = { freshness: { freshness: "MaximumAge", maximum_age_millis: 1000 } };

const integer = (value: number): JsonValue => ({ value, value_type: "Integer" });

function condition(
  condition_id: string,
  observation_domain: JsonValue,
  predicate: JsonValue,
  changes: Readonly<Record<string, JsonValue>> = {},
): Editable {
  return { condition_id, observation_domain, predicate, evidence_use_policy: policy({ ...ACQUIRED, ...changes }) };
}

const BELOW_FIVE = { predicate: "LessThan", expected: integer(5) };
const COUNT = { domain: "Integer", minimum: 0 };

/** What providers owe: signatures as a statement and as a bare hash, and anchors. */
function owedConditions(): Editable[] {
  return [
    condition("amount", { domain: "Decimal" }, {
      predicate: "LessThan",
      expected: { value: "100", value_type: "Decimal" },
    }),
    condition("image", { domain: "Digest", algorithm: "sha256" }, {
      predicate: "Equals",
      expected: { value: IMAGE, value_type: "Digest" },
    }),
    condition("findings", COUNT, BELOW_FIVE, {
      ...FRESH,
      authorization: "signature",
      authorized_key_ids: ["ci-1"],
      integrity: "signed_content",
      required_assurance: ["source_signature", "content_integrity"],
    }),
    condition("commit", { domain: "String", minimum_bytes: 1, maximum_bytes: 64 }, { predicate: "Exists" }, {
      integrity: "anchored_content",
      required_assurance: ["source_anchor"],
    }),
  ];
}

/** What is observed, combined, too old, of another lane, or kept by digest only. */
function watchedConditions(): Editable[] {
  const both = { allowed_channels: ["caller_submission", "local_acquisition", "provider_acquisition"] };
  return [
    condition("incident", { domain: "String", minimum_bytes: 0, maximum_bytes: 64 }, { predicate: "NotExists" }),
    condition("load", COUNT, BELOW_FIVE),
    condition("queue", COUNT, BELOW_FIVE),
    condition("replicas", COUNT, { predicate: "Equals", expected: integer(3) }, {
      ...both,
      combination: { combination: "Quorum", minimum: 2 },
      independence: "distinct_provider",
    }),
    condition("errors", COUNT, { predicate: "InSet", expected: [integer(0), integer(1)] }, {
      ...both,
      independence: "distinct_acquisition",
    }),
    condition("latency", COUNT, BELOW_FIVE, { ...FRESH, combination: { combination: "AnyQualifying" } }),
    condition("open", { domain: "Boolean" }, { predicate: "Equals", expected: { value: true, value_type: "Boolean" } }),
    condition("ticket", { domain: "String", minimum_bytes: 1, maximum_bytes: 64 }, { predicate: "Exists" }, {
      retention: "retain_digest_only",
      replay: "digest_only",
    }),
    condition("report", { domain: "Json", maximum_bytes: 4096, schema: { schema_id: "release", version: "1" } }, {
      predicate: "Exists",
    }, both),
  ];
}

const BINDINGS: readonly (readonly [binding: string, condition: string, provider: string])[] = [
  ["amount-scan", "amount", "scanner"],
  ["commit-ledger", "commit", "ledger"],
  ["errors-env-1", "errors", "env"],
  ["errors-env-2", "errors", "env"],
  ["findings-scan", "findings", "scanner"],
  ["image-scan", "image", "scanner"],
  ["incident-env", "incident", "env"],
  ["latency-env", "latency", "env"],
  ["latency-http", "latency", "http"],
  ["load-env", "load", "env"],
  ["open-time", "open", "time"],
  ["queue-env", "queue", "env"],
  ["replicas-env", "replicas", "env"],
  ["replicas-http", "replicas", "http"],
  ["report-env", "report", "env"],
  ["ticket-env", "ticket", "env"],
];

const PACKETS: readonly Editable[] = [
  {
    packet_id: "key",
    schema_id: "key-v1",
    content_type: "application/octet-stream",
    expiry: { kind: "logical", value: 64 },
    payload: { kind: "bytes", base64: "AAEC" },
  },
  {
    packet_id: "runbook",
    schema_id: "runbook-v1",
    content_type: "application/json",
    visibility_labels: ["internal"],
    policy_tags: ["signed"],
    targets: [
      { kind: "agent", agent_id: "deployer" },
      { kind: "external", system: "jira", target: "OPS-1" },
    ],
    expiry: { kind: "unix_millis", value: NOW + 60_000 },
    payload: { kind: "json", value: { steps: 2 } },
  },
];

const conditions = (...ids: readonly string[]): Editable[] => ids.map((Condition) => ({ Condition }));

/** The law. */
export function evidenceLaw(): CompiledLaw {
  return lawOf({
    spec_version: "dag-v3",
    scenario_id: "evidence",
    namespace_id: 2,
    schemas: [{ schema_id: "release", version: "1" }],
    conditions: [
      ...owedConditions(),
      ...watchedConditions(),
      condition("approved", { domain: "Boolean" }, {
        predicate: "Equals",
        expected: { value: true, value_type: "Boolean" },
      }, { allowed_channels: ["caller_submission"], authorization: "signature", authorized_key_ids: ["ci-2"] }),
    ],
    acquisition_bindings: BINDINGS.map(([binding_id, condition_id, provider_id]) => ({
      binding_id,
      condition_id,
      channel: ["ledger", "scanner"].includes(provider_id) ? "provider_acquisition" : "local_acquisition",
      provider_id,
      check_id: "read",
      ...binding_id === "amount-scan" ? {} : { params: { of: binding_id } },
    })),
    stages: [
      {
        stage_id: "owed",
        prerequisite: { kind: "root" },
        completion_requirement: { And: conditions("amount", "image", "findings", "commit") },
      },
      {
        stage_id: "watched",
        prerequisite: { kind: "root" },
        completion_requirement: {
          And: [
            ...conditions("incident", "replicas", "errors", "report"),
            { RequireGroup: { min: 2, reqs: conditions("load", "latency", "ticket", "open") } },
            { Or: [{ Not: { Condition: "load" } }, { Condition: "latency" }, { Condition: "queue" }] },
          ],
        },
      },
      {
        stage_id: "ship",
        prerequisite: { kind: "requires", requirement: { And: conditions("owed", "watched") } },
        completion_requirement: { Condition: "approved" },
        entry_packets: PACKETS,
      },
    ],
    completion_requirement: { Condition: "ship" },
  });
}

/** The operator's settings: who has to sign and to anchor, and who may be shown what. */
export const PROFILE: Partial<OperatorProfile> = {
  trust: {
    min_lane: "verified",
    default_policy: "audit",
    providers: [{ provider_id: "scanner", policy: trusting(KEY_1, KEY_2) }],
  },
  anchors: [{ provider_id: "ledger", anchor_type: "commit", required_fields: ["sha"] }],
  policy: {
    engine: "static",
    default: "deny",
    rules: [
      { effect: "deny", forbid_labels: ["public"], target_kinds: ["session"] },
      { effect: "permit", require_labels: ["internal"], target_kinds: ["agent", "external"] },
      { effect: "permit", packet_ids: ["key"] },
    ],
  },
};
