/**
 * The section `policy`: its schema, and the rules over several of its members.
 *
 * @module
 */

import * as z from "../schema_builder.ts";
import { DEFAULT_SETTINGS } from "../defaults.ts";
import type { DeepReadonly } from "../deep_readonly.ts";
import { strings, text } from "../primitives.ts";
import { any, forbids, is, isFilled, isSet, requires, type Rule } from "../rules.ts";
import { at } from "../toml_tree.ts";

const D = DEFAULT_SETTINGS.policy;
const targetKind = z.enum(["agent", "session", "external", "channel"]);

/** The selectors of a rule, of which at least one must not be empty. */
const SELECTORS = [
  "content_types",
  "packet_ids",
  "scenario_ids",
  "schema_ids",
  "stage_ids",
  "require_labels",
  "forbid_labels",
  "require_policy_tags",
  "forbid_policy_tags",
  "target_kinds",
  "targets",
] as const;

const target = z.strictObject({
  target_kind: targetKind.describe("Kind of target."),
  target_id: text().nullable().default(null).describe("Id of an agent, session or channel; null for any."),
  system: text().nullable().default(null).describe("System of an external target; null for any."),
  target: text().nullable().default(null).describe("Id of an external target in its system; null for any."),
});

const rule = z.strictObject({
  effect: z.enum(["permit", "deny", "error"]).describe("Decision of the rule."),
  error_message: text().nullable().default(null).describe("Message of the effect error."),
  content_types: strings(z.string()).describe("Content types of which the packet must have one."),
  packet_ids: strings(z.string()).describe("Ids of which the packet must have one."),
  scenario_ids: strings(z.string()).describe("Scenarios of which the packet must belong to one."),
  schema_ids: strings(z.string()).describe("Schemas of which the packet must have one."),
  stage_ids: strings(z.string()).describe("Stages of which the packet must belong to one."),
  require_labels: strings(z.string()).describe("Visibility labels that must all be present."),
  forbid_labels: strings(z.string()).describe("Visibility labels that must all be absent."),
  require_policy_tags: strings(z.string()).describe("Policy tags that must all be present."),
  forbid_policy_tags: strings(z.string()).describe("Policy tags that must all be absent."),
  target_kinds: z.array(targetKind).default([]).describe("Kinds of which the target must have one."),
  targets: z.array(target).default([]).describe("Selectors of which the target must match one."),
});

/** `policy.static.rules[]`. */
export type PolicyRuleConfig = DeepReadonly<z.output<typeof rule>>;

const staticPolicy = z.strictObject({
  default: z.enum(["permit", "deny"]).default("deny").describe("Decision when no rule matches."),
  rules: z.array(rule).default([]).describe("Rules in order; the first that matches decides."),
}).describe("Rules of the static engine.");

/** The shape of `policy`. */
export const policySchema = z.strictObject({
  engine: z.enum(["permit_all", "deny_all", "static"]).default(D.engine).describe(
    "Engine that decides on the disclosure of entry packets.",
  ),
  static: staticPolicy.nullable().default(null),
}).describe("Disclosure of entry packets.");

/** `policy`. */
export type PolicyConfig = DeepReadonly<z.output<typeof policySchema>>;

const LOCAL_KINDS = ["agent", "session", "channel"];

const targetRules: readonly Rule[] = [
  forbids(["target_id"], is(["target_kind"], ["external"]), 'must not be set when target_kind is "external"'),
  {
    when: is(["target_kind"], ["external"]),
    then: any(isSet(["system"]), isSet(["target"])),
    at: [],
    message: 'must have system or target when target_kind is "external"',
  },
  ...["system", "target"].map((member) =>
    forbids(
      [member],
      is(["target_kind"], LOCAL_KINDS),
      (selector) => `must not be set when target_kind is "${at(selector, ["target_kind"])}"`,
    )
  ),
];

const ruleRules: readonly Rule[] = [
  requires(["error_message"], is(["effect"], ["error"]), 'is required when effect is "error"'),
  forbids(
    ["error_message"],
    is(["effect"], ["permit", "deny"]),
    (entry) => `must not be set when effect is "${at(entry, ["effect"])}"`,
  ),
  {
    then: any(...SELECTORS.map((member) => isFilled([member]))),
    at: [],
    message: "must have at least one selector, such as packet_ids or targets",
  },
  { each: ["targets"], rules: targetRules },
];

/** The rules over several members of `policy`. */
export const policyRules: readonly Rule[] = [
  requires(["static"], is(["engine"], ["static"], D.engine), 'is required when policy.engine is "static"'),
  forbids(
    ["static"],
    is(["engine"], ["permit_all", "deny_all"], D.engine),
    (policy) => `must not be set when policy.engine is "${at(policy, ["engine"]) ?? D.engine}"`,
  ),
  { each: ["static", "rules"], rules: ruleRules },
];
