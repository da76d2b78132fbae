/**
 * Changes to the full spec that break its shape or its names, each with every refusal that follows.
 *
 * @module
 */

import type { JsonValue } from "../../../src/canonical/json.ts";
import type { RefusalCode } from "../../../src/law/types.ts";
import { LEAST_POLICY } from "../../least_policy.ts";
import { type Editable, flag, LIMITS, stage } from "./law_specs.ts";

/** The fault, the change, and the refusals as `code path`. */
export type RefusalRow = readonly [
  what: string,
  change: (spec: Editable) => unknown,
  ...refusals: readonly `${RefusalCode} $${string}`[],
];

/** A leaf that names a condition of the full spec. */
export const approved = { Condition: "approved" };

/** A prerequisite. */
export const requires = (requirement: JsonValue): JsonValue => ({ kind: "requires", requirement });

/** Members, types, ids, duplicates, value limits. */
export const SHAPE: readonly RefusalRow[] = [
  [
    "a member left out",
    (s) => delete s.stages[0].completion_requirement,
    "member_missing $.stages[0].completion_requirement",
  ],
  ["a member too many", (s) => s.conditions[0].note = 1, "member_unknown $.conditions[0].note"],
  // Files alone have a short form.
  [
    "a condition with its source",
    (s) => s.conditions[0].from = { provider: "env", check: "get" },
    "member_unknown $.conditions[0].from",
  ],
  [
    "a bare expected value",
    (s) => s.conditions[1].predicate.expected = 5,
    "type_invalid $.conditions[1].predicate.expected",
  ],
  ["null is not absent", (s) => s.policies = null, "type_invalid $.policies"],
  ["null is not absent, deep", (s) => s.policies[0].description = null, "type_invalid $.policies[0].description"],
  ["a number for an id", (s) => s.scenario_id = 7, "type_invalid $.scenario_id"],
  ["another version", (s) => s.spec_version = "dag-v2", "spec_version_unsupported $.spec_version"],
  ["a version that is no string", (s) => s.spec_version = 3, "type_invalid $.spec_version"],
  ["namespace 0", (s) => s.namespace_id = 0, "value_invalid $.namespace_id"],
  ["namespace 1.5", (s) => s.namespace_id = 1.5, "type_invalid $.namespace_id"],
  ["an empty id", (s) => s.scenario_id = "", "identifier_invalid $.scenario_id"],
  ["a control character", (s) => s.scenario_id = "a\nb", "identifier_invalid $.scenario_id"],
  ["a lone surrogate", (s) => s.scenario_id = "a\ud800", "identifier_invalid $.scenario_id"],
  ["no stages", (s) => s.stages = [], "too_few $.stages"],
  [
    "__proto__ as a member",
    (s) => Object.defineProperty(s, "__proto__", { value: 1, enumerable: true }),
    "member_unknown $.__proto__",
  ],
  [
    "a prerequisite without its requirement",
    (s) => s.stages[0].prerequisite = { kind: "requires" },
    "member_missing $.stages[0].prerequisite.requirement",
  ],
  [
    "a root that requires",
    (s) => s.stages[1].prerequisite = { kind: "root", requirement: approved },
    "member_unknown $.stages[1].prerequisite.requirement",
  ],
  [
    "another prerequisite",
    (s) => s.stages[1].prerequisite = { kind: "roots", requirement: { Condition: "build" } },
    "value_invalid $.stages[1].prerequisite.kind",
  ],
  [
    "a spec without members",
    (s) => {
      for (const name of Object.keys(s)) delete s[name];
    },
    ...["completion_requirement", "namespace_id", "scenario_id", "spec_version", "stages"].map((name) =>
      `member_missing $.${name}` as const
    ),
  ],
  ["ids given twice", (s) => s.policies[1].policy_id = "two-eyes", "duplicate $.policies[1].policy_id"],
  ["conditions given twice", (s) => s.conditions.push(flag("frozen")), "duplicate $.conditions[8].condition_id"],
  [
    "bindings given twice",
    (s) => s.acquisition_bindings.push(s.acquisition_bindings[1]),
    "duplicate $.acquisition_bindings[2].binding_id",
  ],
  ["stages given twice", (s) => s.stages.push(stage("scan", "approved")), "duplicate $.stages[3].stage_id"],
  ["schemas given twice", (s) => s.schemas.push(s.schemas[0]), "duplicate $.schemas[1]"],
  [
    "packets given twice, in two stages",
    (s) => s.stages[1].entry_packets = [{ ...s.stages[0].entry_packets[1] }],
    "duplicate $.stages[1].entry_packets[0].packet_id",
  ],
  [
    "targets given twice",
    (s) => s.stages[0].entry_packets[0].targets.push({ agent_id: "deployer", kind: "agent" }),
    "duplicate $.stages[0].entry_packets[0].targets[4]",
  ],
  [
    "labels given twice",
    (s) => s.stages[0].entry_packets[0].visibility_labels.push("internal"),
    "duplicate $.stages[0].entry_packets[0].visibility_labels[2]",
  ],
  [
    "channels given twice",
    (s) => s.conditions[6].evidence_use_policy.allowed_channels.push("caller_submission"),
    "duplicate $.conditions[6].evidence_use_policy.allowed_channels[1]",
  ],
  [
    "expected values given twice",
    (s) => s.conditions[0].predicate.expected.push({ value: "eu", value_type: "String" }),
    "duplicate $.conditions[0].predicate.expected[2]",
  ],
  [
    "a value limit above the operator's",
    (s) => s.value_limits.maximum_value_bytes = LIMITS.maximum_value_bytes + 1,
    "value_limit_exceeds_operator $.value_limits.maximum_value_bytes",
  ],
  [
    "a value limit of 0",
    (s) => s.value_limits.maximum_payload_bytes = 0,
    "value_invalid $.value_limits.maximum_payload_bytes",
  ],
  [
    "inherited limits with numbers",
    (s) => s.value_limits = { selection: "InheritOperator", maximum_value_bytes: 5 },
    "member_unknown $.value_limits.maximum_value_bytes",
  ],
];

/** Entry packets. */
export const PACKETS: readonly RefusalRow[] = [
  [
    "no media type",
    (s) => s.stages[0].entry_packets[1].content_type = "bytes",
    "content_type_invalid $.stages[0].entry_packets[1].content_type",
  ],
  [
    "json that is not called so",
    (s) => s.stages[0].entry_packets[0].content_type = "text/plain",
    "payload_content_type_mismatch $.stages[0].entry_packets[0].content_type",
  ],
  [
    "bytes that are called json",
    (s) => s.stages[0].entry_packets[1].content_type = "application/json",
    "payload_content_type_mismatch $.stages[0].entry_packets[1].content_type",
  ],
  [
    "base64 without padding",
    (s) => s.stages[0].entry_packets[1].payload.base64 = "AAE",
    "value_invalid $.stages[0].entry_packets[1].payload.base64",
  ],
  [
    "an unknown payload",
    (s) => s.stages[0].entry_packets[1].payload = { kind: "byte", base64: "" },
    "value_invalid $.stages[0].entry_packets[1].payload.kind",
  ],
  [
    "a hash in upper case",
    (s) => s.stages[0].entry_packets[2].payload.content_ref.content_hash.value = "CD".repeat(32),
    "value_invalid $.stages[0].entry_packets[2].payload.content_ref.content_hash.value",
  ],
  [
    "an expiry of another clock",
    (s) => s.stages[0].entry_packets[0].expiry = { kind: "iso", value: 1 },
    "value_invalid $.stages[0].entry_packets[0].expiry.kind",
  ],
  [
    "a logical expiry before 0",
    (s) => s.stages[0].entry_packets[1].expiry.value = -1,
    "value_invalid $.stages[0].entry_packets[1].expiry.value",
  ],
  [
    "a target of another kind",
    (s) => s.stages[0].entry_packets[0].targets[0] = { kind: "agent", session_id: "s" },
    "member_missing $.stages[0].entry_packets[0].targets[0].agent_id",
    "member_unknown $.stages[0].entry_packets[0].targets[0].session_id",
  ],
];

/** Unknown names. */
export const REFERENCES: readonly RefusalRow[] = [
  [
    "a policy that no entry has",
    (s) => s.conditions[6].evidence_use_policy = { policy_id: "two-eye" },
    "policy_not_found $.conditions[6].evidence_use_policy.policy_id",
  ],
  [
    "an entry without a policy on evidence",
    (s) => s.conditions[6].evidence_use_policy = { policy_id: "two-eyes" },
    "policy_not_found $.conditions[6].evidence_use_policy.policy_id",
  ],
  [
    "a named policy with a member of its own",
    (s) => s.conditions[6].evidence_use_policy = { policy_id: "two-eyes", scope: "exact_condition" },
    "policy_not_found $.conditions[6].evidence_use_policy.policy_id",
    "member_unknown $.conditions[6].evidence_use_policy.scope",
  ],
  [
    "a named policy by an id that is empty",
    (s) => s.conditions[6].evidence_use_policy = { policy_id: "" },
    "identifier_invalid $.conditions[6].evidence_use_policy.policy_id",
  ],
  [
    "a named policy that is not whole: one refusal, at its place",
    (s) => {
      s.policies[0].evidence_use_policy = { ...LEAST_POLICY, scope: undefined };
      delete s.policies[0].evidence_use_policy.scope;
      s.conditions[6].evidence_use_policy = { policy_id: "two-eyes" };
    },
    "member_missing $.policies[0].evidence_use_policy.scope",
  ],
  [
    "a named policy that contradicts itself, and that no condition names",
    (s) => s.policies[1].evidence_use_policy = { ...LEAST_POLICY, authorized_key_ids: ["k"] },
    "policy_conflict $.policies[1].evidence_use_policy.authorized_key_ids",
  ],
  [
    "a binding on a channel that the named policy does not allow",
    (s) => {
      s.policies[0].evidence_use_policy = { ...LEAST_POLICY };
      s.conditions[1].evidence_use_policy = { policy_id: "two-eyes" };
    },
    "channel_not_allowed $.acquisition_bindings[1].channel",
  ],
  [
    "an unknown condition",
    (s) => s.stages[2].completion_requirement.Or[0].Condition = "manifests",
    "condition_not_found $.stages[2].completion_requirement.Or[0].Condition",
  ],
  [
    "a stage for a condition",
    (s) => s.stages[2].completion_requirement = { Condition: "scan" },
    "condition_not_found $.stages[2].completion_requirement.Condition",
  ],
  [
    "a binding of an unknown condition",
    (s) => s.acquisition_bindings[0].condition_id = "regions",
    "condition_not_found $.acquisition_bindings[0].condition_id",
  ],
  [
    "an unknown stage",
    (s) => s.stages[0].prerequisite.requirement.RequireGroup.reqs[1].Condition = "builds",
    "stage_not_found $.stages[0].prerequisite.requirement.RequireGroup.reqs[1].Condition",
  ],
  [
    "an unknown stage in the scenario",
    (s) => s.completion_requirement = { Condition: "shop" },
    "stage_not_found $.completion_requirement.Condition",
  ],
  [
    "a condition in a prerequisite",
    (s) => s.stages[0].prerequisite = requires(approved),
    "stage_not_found $.stages[0].prerequisite.requirement.Condition",
  ],
  [
    "a condition in the scenario",
    (s) => s.completion_requirement = approved,
    "leaf_names_condition $.completion_requirement.Condition",
  ],
  ["a schema that is not registered", (s) => s.schemas[0].version = "2", "schema_not_found $.schemas[0]"],
  [
    "a domain's schema that is not registered",
    (s) => s.conditions[5].observation_domain.schema.version = "2",
    "schema_not_found $.conditions[5].observation_domain.schema",
  ],
];
