import { words } from "../../canonical/words.ts";
import { listOf, oneOf, orNull, type Read, text } from "../../canonical/shape.ts";
import { described, table, withDefault } from "../../canonical/table_shape.ts";
import { DEFAULT_SETTINGS } from "../defaults.ts";
import { filled, strings } from "../primitives.ts";
import { any, forbids, is, isFilled, isSet, requires, type Rule } from "../rules.ts";
import { at } from "../toml_tree.ts";

const D = DEFAULT_SETTINGS.policy;
const targetKind = oneOf("agent", "session", "external", "channel");

/** The selectors of a rule, of which at least one must not be empty. */
const SELECTORS = words(
  "content_types packet_ids scenario_ids schema_ids stage_ids require_labels forbid_labels",
  "require_policy_tags forbid_policy_tags target_kinds targets",
);

const target = table({
  target_kind: described(targetKind, "Kind of target."),
  target_id: withDefault(orNull(filled()), null, "Id of an agent, session or channel; null for any."),
  system: withDefault(orNull(filled()), null, "System of an external target; null for any."),
  target: withDefault(orNull(filled()), null, "Id of an external target in its system; null for any."),
});

const rule = table({
  effect: described(oneOf("permit", "deny", "error"), "Decision of the rule."),
  error_message: withDefault(orNull(filled()), null, "Message of the effect error."),
  content_types: strings(text, "Content types of which the packet must have one."),
  packet_ids: strings(text, "Ids of which the packet must have one."),
  scenario_ids: strings(text, "Scenarios of which the packet must belong to one."),
  schema_ids: strings(text, "Schemas of which the packet must have one."),
  stage_ids: strings(text, "Stages of which the packet must belong to one."),
  require_labels: strings(text, "Visibility labels that must all be present."),
  forbid_labels: strings(text, "Visibility labels that must all be absent."),
  require_policy_tags: strings(text, "Policy tags that must all be present."),
  forbid_policy_tags: strings(text, "Policy tags that must all be absent."),
  target_kinds: withDefault(listOf(targetKind), [], "Kinds of which the target must have one."),
  targets: withDefault(listOf(target), [], "Selectors of which the target must match one."),
});

/** `policy.static.rules[]`. */
export type PolicyRuleConfig = Read<typeof rule>;

const staticPolicy = table({
  default: withDefault(oneOf("permit", "deny"), "deny", "Decision when no rule matches."),
  rules: withDefault(listOf(rule), [], "Rules in order; the first that matches decides."),
}, "Rules of the static engine.");

/** The shape of `policy`. */
export const policySchema = table({
  engine: withDefault(
    oneOf("permit_all", "deny_all", "static"),
    D.engine,
    "Engine that decides on the disclosure of entry packets.",
  ),
  static: withDefault(orNull(staticPolicy), null),
}, "Disclosure of entry packets.");

/** `policy`. */
export type PolicyConfig = Read<typeof policySchema>;

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
