/**
 * Changes to the full spec that break a rule, each with every refusal that follows.
 *
 * @module
 */

import { encodeBase64 } from "../../../src/canonical/base64.ts";
import type { JsonObject, JsonValue } from "../../../src/canonical/json.ts";
import { approved, type RefusalRow, requires } from "./law_refusal_rows.ts";
import type { Editable } from "./law_specs.ts";

const PUBLIC_KEYS = [1, 2, 3].map((byte) => encodeBase64(new Uint8Array(32).fill(byte)));

/** Pins the keys of the condition that authorizes `ci-1` and `ci-2`. */
function pin(spec: Editable, keys: Readonly<Record<string, JsonValue | undefined>>): void {
  spec.conditions[2].evidence_use_policy.authorized_public_keys = keys;
}

/** Requirement expressions. */
export const REQUIREMENTS: readonly RefusalRow[] = [
  ["an empty And", (s) => s.completion_requirement = { And: [] }, "requirement_empty $.completion_requirement.And"],
  [
    "an empty Or",
    (s) => s.stages[0].completion_requirement = { Or: [] },
    "requirement_empty $.stages[0].completion_requirement.Or",
  ],
  [
    "an empty group",
    (s) => s.stages[0].completion_requirement = { RequireGroup: { min: 0, reqs: [] } },
    "requirement_empty $.stages[0].completion_requirement.RequireGroup.reqs",
  ],
  [
    "a minimum of 0",
    (s) => s.stages[1].completion_requirement.RequireGroup.min = 0,
    "group_minimum_invalid $.stages[1].completion_requirement.RequireGroup.min",
  ],
  [
    "a minimum of n + 1",
    (s) => s.stages[1].completion_requirement.RequireGroup.min = 4,
    "group_minimum_invalid $.stages[1].completion_requirement.RequireGroup.min",
  ],
  [
    "a minimum that is no integer",
    (s) => s.stages[1].completion_requirement.RequireGroup.min = 1.5,
    "type_invalid $.stages[1].completion_requirement.RequireGroup.min",
  ],
  [
    "two nodes in one",
    (s) => s.completion_requirement = { Condition: "ship", Not: { Condition: "scan" } },
    "value_invalid $.completion_requirement",
  ],
  ["no node", (s) => s.completion_requirement = {}, "member_missing $.completion_requirement"],
  ["an unknown node", (s) => s.completion_requirement = { Xor: [] }, "member_unknown $.completion_requirement.Xor"],
  [
    "an operand given twice",
    (s) => s.completion_requirement.Or.push({ And: [{ Condition: "build" }, { Condition: "scan" }] }),
    "operand_duplicate $.completion_requirement.Or[2]",
  ],
  [
    "Not in the scenario",
    (s) => s.completion_requirement = { Or: [{ Condition: "ship" }, { Not: { Condition: "scan" } }] },
    "not_in_monotone_requirement $.completion_requirement.Or[1].Not",
  ],
  [
    "Not in a prerequisite",
    (s) => s.stages[0].prerequisite = requires({ Not: { Condition: "scan" } }),
    "not_in_monotone_requirement $.stages[0].prerequisite.requirement.Not",
  ],
  [
    "a contradiction",
    (s) => s.stages[0].completion_requirement = { And: [approved, { Not: approved }] },
    "requirement_contradiction $.stages[0].completion_requirement",
  ],
  [
    "a tautology",
    (s) => s.stages[0].completion_requirement = { Or: [approved, { Not: approved }] },
    "requirement_tautology $.stages[0].completion_requirement",
  ],
];

/** Stage graphs. */
export const GRAPHS: readonly RefusalRow[] = [
  [
    "a stage that requires itself",
    (s) => s.stages[0].prerequisite = requires({ Condition: "ship" }),
    "graph_cyclic $.stages[0].prerequisite",
    "stage_unreachable $.stages[0].prerequisite",
  ],
  [
    "a cycle that can be passed by",
    (s) => s.stages[1].prerequisite = requires({ Or: [{ Condition: "ship" }, { Condition: "build" }] }),
    "graph_cyclic $.stages[1].prerequisite",
  ],
  [
    "nothing but a cycle",
    (s) => {
      s.stages[1].prerequisite = requires({ Condition: "build" });
      s.stages[2].prerequisite = requires({ Condition: "scan" });
    },
    "completion_unattainable $.completion_requirement",
    "stage_unreachable $.stages[0].prerequisite",
    "stage_unreachable $.stages[1].prerequisite",
    "graph_cyclic $.stages[2].prerequisite",
    "stage_unreachable $.stages[2].prerequisite",
  ],
];

/** Conditions and evidence-use policies. */
const RELATIVE: JsonObject = { relative_to: "evaluation_time", offset_milliseconds: -86_400_000 };

export const CONDITIONS: readonly RefusalRow[] = [
  [
    "a minimum above the maximum",
    (s) => s.conditions[1].observation_domain.minimum = 1001,
    "domain_bounds_invalid $.conditions[1].observation_domain.minimum",
  ],
  [
    "a domain above the value limit",
    (s) => s.conditions[0].observation_domain.maximum_bytes = 65537,
    "domain_bounds_invalid $.conditions[0].observation_domain.maximum_bytes",
  ],
  [
    "an invalid decimal bound",
    (s) => s.conditions[2].observation_domain.minimum = "1e3",
    "value_invalid $.conditions[2].observation_domain.minimum",
  ],
  [
    "an unknown domain",
    (s) => s.conditions[0].observation_domain = { domain: "string" },
    "value_invalid $.conditions[0].observation_domain.domain",
  ],
  [
    "a relative time of another origin",
    (s) => s.conditions[3].predicate.expected = { relative_to: "now", offset_milliseconds: 0 },
    "value_invalid $.conditions[3].predicate.expected.relative_to",
  ],
  [
    "a relative time without an offset",
    (s) => s.conditions[3].predicate.expected = { relative_to: "evaluation_time" },
    "member_missing $.conditions[3].predicate.expected.offset_milliseconds",
  ],
  [
    "a relative time with a value",
    (s) => s.conditions[3].predicate.expected = { ...RELATIVE, value: "2026-01-01T00:00:00Z", value_type: "Timestamp" },
    "member_unknown $.conditions[3].predicate.expected.value",
    "member_unknown $.conditions[3].predicate.expected.value_type",
  ],
  [
    "an offset of half a millisecond",
    (s) => s.conditions[3].predicate.expected = { ...RELATIVE, offset_milliseconds: 0.5 },
    "type_invalid $.conditions[3].predicate.expected.offset_milliseconds",
  ],
  [
    "an offset beyond the safe integers",
    (s) => s.conditions[3].predicate.expected = { ...RELATIVE, offset_milliseconds: 2 ** 53 },
    "value_invalid $.conditions[3].predicate.expected.offset_milliseconds",
  ],
  [
    "equality with a relative time",
    (s) => s.conditions[3].predicate = { predicate: "Equals", expected: RELATIVE },
    "expected_invalid $.conditions[3].predicate.expected",
  ],
  [
    "a relative time on another domain",
    (s) => s.conditions[2].predicate.expected = RELATIVE,
    "expected_invalid $.conditions[2].predicate.expected",
  ],
  [
    "a relative time in a set",
    (s) => s.conditions[3].predicate = { predicate: "InSet", expected: [RELATIVE] },
    "expected_invalid $.conditions[3].predicate.expected[0]",
  ],
  [
    "a predicate of other domains",
    (s) => s.conditions[6].predicate.predicate = "LessThan",
    "predicate_not_allowed $.conditions[6].predicate.predicate",
  ],
  [
    "an expected value of another type",
    (s) => s.conditions[6].predicate.expected = { value: "a", value_type: "String" },
    "expected_invalid $.conditions[6].predicate.expected.value_type",
  ],
  [
    "an expected value of another type",
    (s) => s.conditions[4].predicate.expected.value = "ab",
    "expected_invalid $.conditions[4].predicate.expected.value",
  ],
  [
    "an expected value out of bounds",
    (s) => s.conditions[1].predicate.expected.value = 1001,
    "expected_outside_domain $.conditions[1].predicate.expected.value",
  ],
  ["an empty InSet", (s) => s.conditions[0].predicate.expected = [], "too_few $.conditions[0].predicate.expected"],
  [
    "Exists with an expected value",
    (s) => s.conditions[3].predicate.predicate = "Exists",
    "member_unknown $.conditions[3].predicate.expected",
  ],
  [
    "a digest kept for full replay",
    (s) => s.conditions[4].evidence_use_policy.replay = "full_semantic",
    "policy_conflict $.conditions[4].evidence_use_policy.replay",
  ],
  [
    "a value kept for digest replay",
    (s) => s.conditions[6].evidence_use_policy.replay = "digest_only",
    "policy_conflict $.conditions[6].evidence_use_policy.replay",
  ],
  [
    "keys without signatures",
    (s) => s.conditions[2].evidence_use_policy.authorization = "embedding_authority",
    "policy_conflict $.conditions[2].evidence_use_policy.authorized_key_ids",
  ],
  [
    "evidence that waits without signatures",
    (s) => s.conditions[0].evidence_use_policy.allowed_channels.push("accepted_submission"),
    "policy_conflict $.conditions[0].evidence_use_policy.authorization",
  ],
  [
    "evidence that waits as a digest",
    (s) => {
      s.conditions[4].evidence_use_policy.allowed_channels.push("accepted_submission");
      s.conditions[4].evidence_use_policy.authorization = "signature";
    },
    "policy_conflict $.conditions[4].evidence_use_policy.retention",
  ],
  [
    "no channel",
    (s) => s.conditions[6].evidence_use_policy.allowed_channels = [],
    "too_few $.conditions[6].evidence_use_policy.allowed_channels",
  ],
  [
    "no keys",
    (s) => s.conditions[2].evidence_use_policy.authorized_key_ids = [],
    "too_few $.conditions[2].evidence_use_policy.authorized_key_ids",
  ],
  [
    "pinned keys without ids",
    (s) => s.conditions[1].evidence_use_policy.authorized_public_keys = { a: PUBLIC_KEYS[0] },
    "policy_conflict $.conditions[1].evidence_use_policy.authorized_public_keys",
  ],
  [
    "a pinned key of an id that is not authorized",
    (s) => pin(s, { "ci-1": PUBLIC_KEYS[0], "ci-3": PUBLIC_KEYS[1] }),
    "policy_conflict $.conditions[2].evidence_use_policy.authorized_public_keys",
  ],
  [
    "an authorized id without its pinned key",
    (s) => pin(s, { "ci-1": PUBLIC_KEYS[0] }),
    "policy_conflict $.conditions[2].evidence_use_policy.authorized_public_keys",
  ],
  [
    "one pinned key under two ids",
    (s) => pin(s, { "ci-1": PUBLIC_KEYS[0], "ci-2": PUBLIC_KEYS[0] }),
    'duplicate $.conditions[2].evidence_use_policy.authorized_public_keys["ci-2"]',
  ],
  [
    "two pinned keys of one id",
    (s) => {
      pin(s, { "ci-1": PUBLIC_KEYS[0], "ci-2": PUBLIC_KEYS[1] });
      const { authorization, authorized_key_ids } = s.conditions[2].evidence_use_policy;
      Object.assign(s.conditions[1].evidence_use_policy, {
        authorization,
        authorized_key_ids,
        authorized_public_keys: { "ci-1": PUBLIC_KEYS[2], "ci-2": PUBLIC_KEYS[1] },
      });
    },
    'policy_conflict $.conditions[2].evidence_use_policy.authorized_public_keys["ci-1"]',
  ],
  ...[["31 bytes", 31], ["33 bytes", 33]].map(([what, length]): RefusalRow => [
    `a pinned key of ${what}`,
    (s) => pin(s, { "ci-1": PUBLIC_KEYS[0], "ci-2": encodeBase64(new Uint8Array(Number(length))) }),
    'value_invalid $.conditions[2].evidence_use_policy.authorized_public_keys["ci-2"]',
  ]),
  [
    "a pinned key that is not text",
    (s) => pin(s, { "ci-1": PUBLIC_KEYS[0], "ci-2": 7 }),
    'type_invalid $.conditions[2].evidence_use_policy.authorized_public_keys["ci-2"]',
  ],
  [
    "a quorum without a minimum",
    (s) => delete s.conditions[1].evidence_use_policy.combination.minimum,
    "member_missing $.conditions[1].evidence_use_policy.combination.minimum",
  ],
  [
    "an age of 0",
    (s) => s.conditions[1].evidence_use_policy.freshness.maximum_age_millis = 0,
    "value_invalid $.conditions[1].evidence_use_policy.freshness.maximum_age_millis",
  ],
];

/** Acquisition bindings. */
export const BINDINGS: readonly RefusalRow[] = [
  [
    "an unknown provider",
    (s) => s.acquisition_bindings[0].provider_id = "environment",
    "provider_not_found $.acquisition_bindings[0].provider_id",
  ],
  [
    "an unknown check",
    (s) => s.acquisition_bindings[0].check_id = "set",
    "check_not_found $.acquisition_bindings[0].check_id",
  ],
  [
    "params that do not fit",
    (s) => delete s.acquisition_bindings[0].params,
    "params_invalid $.acquisition_bindings[0].params",
  ],
  [
    "a comparator that the check refuses",
    (s) => s.conditions[0].predicate = { predicate: "Contains", expected: { value: "e", value_type: "String" } },
    "comparator_not_allowed $.acquisition_bindings[0].check_id",
  ],
  [
    "a result of another type",
    (s) =>
      s.acquisition_bindings.push({
        ...s.acquisition_bindings[0],
        binding_id: "b",
        condition_id: "approved",
        channel: "local_acquisition",
      }),
    "channel_not_allowed $.acquisition_bindings[2].channel",
    "result_outside_domain $.acquisition_bindings[2].check_id",
  ],
  [
    "a channel that the condition refuses",
    (s) => s.conditions[1].evidence_use_policy.allowed_channels = ["caller_submission"],
    "channel_not_allowed $.acquisition_bindings[1].channel",
  ],
  ["a channel that the provider lacks", (s) => {
    s.conditions[1].evidence_use_policy.allowed_channels = ["local_acquisition"];
    s.acquisition_bindings[1].channel = "local_acquisition";
  }, "channel_not_allowed $.acquisition_bindings[1].channel"],
  [
    "the caller's channel",
    (s) => s.acquisition_bindings[1].channel = "caller_submission",
    "value_invalid $.acquisition_bindings[1].channel",
  ],
];
