/**
 * The section `policy`: its schema, and the rules over several of its members.
 *
 * @module
 */

import { z } from "zod";
import { DEFAULT_SETTINGS } from "./defaults.ts";
import { strings, text } from "./primitives.ts";
import type { Report, SettingPath } from "./problems.ts";
import { arrayAt, at } from "./toml_tree.ts";

const D = DEFAULT_SETTINGS.policy;
const targetKind = z.enum(["agent", "session", "external", "channel"]);

/** The members of a rule of which at least one must say something. */
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
  effect: z.enum(["permit", "deny", "error"]).describe("What the rule decides."),
  error_message: text().nullable().default(null).describe("Message of the effect error."),
  content_types: strings(z.string()).describe("Content types, of which the packet must have one."),
  packet_ids: strings(z.string()).describe("Packets, of which it must be one."),
  scenario_ids: strings(z.string()).describe("Scenarios, of which it must belong to one."),
  schema_ids: strings(z.string()).describe("Schemas, of which it must have one."),
  stage_ids: strings(z.string()).describe("Stages, of which it must belong to one."),
  require_labels: strings(z.string()).describe("Visibility labels that must all be present."),
  forbid_labels: strings(z.string()).describe("Visibility labels of which none may be present."),
  require_policy_tags: strings(z.string()).describe("Policy tags that must all be present."),
  forbid_policy_tags: strings(z.string()).describe("Policy tags of which none may be present."),
  target_kinds: z.array(targetKind).default([]).describe("Kinds of target, of which it must have one."),
  targets: z.array(target).default([]).describe("Targets, of which it must match one."),
});

const staticPolicy = z.strictObject({
  default: z.enum(["permit", "deny"]).default("deny").describe("The decision when no rule matches."),
  rules: z.array(rule).default([]).describe("Rules in order; the first that matches decides."),
}).describe("Rules of the static engine.");

/** The shape of `policy`. */
export const policySchema = z.strictObject({
  engine: z.enum(["permit_all", "deny_all", "static"]).default(D.engine).describe("Who decides about entry packets."),
  static: staticPolicy.nullable().default(null),
}).describe("Who may be shown an entry packet.");

/** The rules over several members of `policy`. */
export function policyRules(tree: unknown, report: Report): void {
  const engine = at(tree, ["policy", "engine"]) ?? D.engine;
  const given = at(tree, ["policy", "static"]) !== undefined;
  if (engine === "static" && !given) report(["policy", "static"], 'is required when policy.engine is "static"');
  if ((engine === "permit_all" || engine === "deny_all") && given) {
    report(["policy", "static"], `must not be set when policy.engine is "${engine}"`);
  }
  arrayAt(tree, ["policy", "static", "rules"]).forEach((entry, index) => {
    ruleRules(entry, ["policy", "static", "rules", index], report);
  });
}

function ruleRules(entry: unknown, path: SettingPath, report: Report): void {
  const message = at(entry, ["error_message"]);
  const effect = at(entry, ["effect"]);
  if (effect === "error" && message === undefined) {
    report([...path, "error_message"], 'is required when effect is "error"');
  }
  if ((effect === "permit" || effect === "deny") && message !== undefined) {
    report([...path, "error_message"], `must not be set when effect is "${effect}"`);
  }
  const isEmpty = (member: string): boolean => {
    const value = at(entry, [member]);
    return value === undefined || (Array.isArray(value) && value.length === 0);
  };
  if (SELECTORS.every(isEmpty)) report(path, "must have at least one selector, such as packet_ids or targets");
  arrayAt(entry, ["targets"]).forEach((selector, index) => targetRules(selector, [...path, "targets", index], report));
}

function targetRules(selector: unknown, path: SettingPath, report: Report): void {
  const kind = at(selector, ["target_kind"]);
  const has = (member: string): boolean => at(selector, [member]) !== undefined;
  if (kind === "external") {
    if (has("target_id")) report([...path, "target_id"], 'must not be set when target_kind is "external"');
    if (!has("system") && !has("target")) report(path, 'must have system or target when target_kind is "external"');
  } else if (kind === "agent" || kind === "session" || kind === "channel") {
    for (const member of ["system", "target"]) {
      if (has(member)) report([...path, member], `must not be set when target_kind is "${kind}"`);
    }
  }
}
