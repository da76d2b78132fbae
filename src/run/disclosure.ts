/** The static disclosure rules (`policy.static`). They decide whether a packet may go to a target. */

import type { EntryPacket, Target } from "../law/types.ts";
import type { DisclosurePolicy, DisclosureRule, TargetSelector } from "./profile.ts";

/** The verdict of the policy on one packet and target. `matched_rule` is null if the default of the engine decided. */
export type DisclosureVerdict =
  | { readonly verdict: "permit"; readonly matched_rule: number | null }
  | { readonly verdict: "denied"; readonly matched_rule: number | null }
  | { readonly verdict: "rule_error"; readonly matched_rule: number; readonly error_message: string };

/** The packet and target that the policy judges, with their scenario and stage. */
export interface DisclosureRequest {
  readonly scenario_id: string;
  readonly stage_id: string;
  readonly packet: EntryPacket;
  readonly target: Target | null;
}

function selectorMatches(selector: TargetSelector, target: Target): boolean {
  if (selector.target_kind !== target.kind) return false;
  if (selector.target_kind === "external") {
    return target.kind === "external" && (selector.system === undefined || selector.system === target.system) &&
      (selector.target === undefined || selector.target === target.target);
  }
  if (selector.target_id === undefined) return true;
  switch (target.kind) {
    case "agent":
      return selector.target_id === target.agent_id;
    case "session":
      return selector.target_id === target.session_id;
    case "channel":
      return selector.target_id === target.channel;
    case "external":
      return false;
  }
}

function allows(allowed: readonly string[] | undefined, value: string): boolean {
  return allowed === undefined || allowed.length === 0 || allowed.includes(value);
}

function targetMatches(rule: DisclosureRule, target: Target | null): boolean {
  const kinds = rule.target_kinds ?? [];
  const selectors = rule.targets ?? [];
  if (kinds.length > 0 && (target === null || !kinds.includes(target.kind))) return false;
  if (selectors.length === 0) return true;
  return target !== null && selectors.some((selector) => selectorMatches(selector, target));
}

/**
 * Whether a rule matches: every selector that it gives does, and no label or tag of a `forbid_*` selector is present.
 */
export function ruleMatches(rule: DisclosureRule, request: DisclosureRequest): boolean {
  const { packet } = request;
  return allows(rule.content_types, packet.content_type) && allows(rule.packet_ids, packet.packet_id) &&
    allows(rule.scenario_ids, request.scenario_id) && allows(rule.schema_ids, packet.schema_id) &&
    allows(rule.stage_ids, request.stage_id) && targetMatches(rule, request.target) &&
    (rule.require_labels ?? []).every((label) => packet.visibility_labels.includes(label)) &&
    !(rule.forbid_labels ?? []).some((label) => packet.visibility_labels.includes(label)) &&
    (rule.require_policy_tags ?? []).every((tag) => packet.policy_tags.includes(tag)) &&
    !(rule.forbid_policy_tags ?? []).some((tag) => packet.policy_tags.includes(tag));
}

/**
 * Judges a disclosure. The first matching rule decides, else the default.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { judgeDisclosure } from "@/run/disclosure.ts";
 *
 * const packet = {
 *   packet_id: "notes",
 *   schema_id: "notes-v1",
 *   content_type: "application/json",
 *   visibility_labels: ["internal"],
 *   policy_tags: [],
 *   targets: [],
 *   expiry: null,
 *   payload: { kind: "json", value: {} },
 * } as const;
 * const rules = [{ effect: "permit", require_labels: ["public"] }] as const;
 * const request = { scenario_id: "s", stage_id: "review", packet, target: null };
 * assert.deepEqual(judgeDisclosure({ engine: "static", default: "deny", rules }, request), {
 *   verdict: "denied",
 *   matched_rule: null,
 * });
 * ```
 */
export function judgeDisclosure(policy: DisclosurePolicy, request: DisclosureRequest): DisclosureVerdict {
  if (policy.engine !== "static") {
    return { verdict: policy.engine === "permit_all" ? "permit" : "denied", matched_rule: null };
  }
  const index = policy.rules.findIndex((rule) => ruleMatches(rule, request));
  const rule = policy.rules[index];
  if (rule === undefined) {
    return { verdict: policy.default === "permit" ? "permit" : "denied", matched_rule: null };
  }
  switch (rule.effect) {
    case "permit":
      return { verdict: "permit", matched_rule: index };
    case "deny":
      return { verdict: "denied", matched_rule: index };
    case "error":
      return { verdict: "rule_error", matched_rule: index, error_message: rule.error_message ?? "" };
  }
}
