import assert from "node:assert/strict";
import type { EntryPacket, Target } from "../law/types.ts";
import { type DisclosureRequest, judgeDisclosure, ruleMatches } from "./disclosure.ts";
import type { DisclosureRule } from "./profile.ts";

const PACKET: EntryPacket = {
  packet_id: "notes",
  schema_id: "notes-v1",
  content_type: "application/json",
  visibility_labels: ["internal", "team"],
  policy_tags: ["reviewed"],
  targets: [],
  expiry: null,
  payload: { kind: "json", value: {} },
};

const AGENT: Target = { kind: "agent", agent_id: "deployer" };
const SESSION: Target = { kind: "session", session_id: "s-1" };
const CHANNEL: Target = { kind: "channel", channel: "#ops" };
const EXTERNAL: Target = { kind: "external", system: "jira", target: "OPS-1" };

function request(target: Target | null = null): DisclosureRequest {
  return { scenario_id: "release", stage_id: "ship", packet: PACKET, target };
}

type Selectors = Omit<DisclosureRule, "effect">;

const ROWS: readonly [Selectors, Target | null, boolean][] = [
  [{}, null, true],
  [{ content_types: [], packet_ids: [], targets: [], target_kinds: [] }, AGENT, true],
  [{ content_types: ["application/json"] }, null, true],
  [{ content_types: ["text/plain"] }, null, false],
  [{ content_types: ["text/plain", "application/json"] }, null, true],
  [{ packet_ids: ["notes"] }, null, true],
  [{ packet_ids: ["other"] }, null, false],
  [{ scenario_ids: ["release"] }, null, true],
  [{ scenario_ids: ["other"] }, null, false],
  [{ schema_ids: ["notes-v1"] }, null, true],
  [{ schema_ids: ["notes-v2"] }, null, false],
  [{ stage_ids: ["ship"] }, null, true],
  [{ stage_ids: ["build"] }, null, false],
  [{ packet_ids: ["notes"], stage_ids: ["build"] }, null, false],
  [{ require_labels: ["internal"] }, null, true],
  [{ require_labels: ["internal", "team"] }, null, true],
  [{ require_labels: ["internal", "public"] }, null, false],
  [{ forbid_labels: ["public"] }, null, true],
  [{ forbid_labels: ["public", "team"] }, null, false],
  [{ require_policy_tags: ["reviewed"] }, null, true],
  [{ require_policy_tags: ["signed"] }, null, false],
  [{ forbid_policy_tags: ["signed"] }, null, true],
  [{ forbid_policy_tags: ["reviewed"] }, null, false],
  [{ target_kinds: ["agent"] }, AGENT, true],
  [{ target_kinds: ["agent"] }, SESSION, false],
  [{ target_kinds: ["agent", "session"] }, SESSION, true],
  [{ target_kinds: ["agent"] }, null, false],
  [{ targets: [{ target_kind: "agent" }] }, AGENT, true],
  [{ targets: [{ target_kind: "agent", target_id: "deployer" }] }, AGENT, true],
  [{ targets: [{ target_kind: "agent", target_id: "other" }] }, AGENT, false],
  [{ targets: [{ target_kind: "session", target_id: "s-1" }] }, SESSION, true],
  [{ targets: [{ target_kind: "session", target_id: "s-2" }] }, SESSION, false],
  [{ targets: [{ target_kind: "channel", target_id: "#ops" }] }, CHANNEL, true],
  [{ targets: [{ target_kind: "channel", target_id: "deployer" }] }, AGENT, false],
  [{ targets: [{ target_kind: "external" }] }, EXTERNAL, true],
  [{ targets: [{ target_kind: "external", system: "jira" }] }, EXTERNAL, true],
  [{ targets: [{ target_kind: "external", system: "jira", target: "OPS-1" }] }, EXTERNAL, true],
  [{ targets: [{ target_kind: "external", system: "jira", target: "OPS-2" }] }, EXTERNAL, false],
  [{ targets: [{ target_kind: "external", system: "mail" }] }, EXTERNAL, false],
  [{ targets: [{ target_kind: "agent" }, { target_kind: "channel" }] }, CHANNEL, true],
  [{ targets: [{ target_kind: "agent" }] }, null, false],
  [{ target_kinds: ["agent"], targets: [{ target_kind: "channel" }] }, CHANNEL, false],
];

for (const [selectors, target, matches] of ROWS) {
  const name = `${JSON.stringify(selectors)} of ${JSON.stringify(target)}`;
  Deno.test(`ruleMatches() ${name}: ${matches ? "matches" : "does not match"}`, () => {
    assert.equal(ruleMatches({ effect: "permit", ...selectors }, request(target)), matches);
  });
}

Deno.test("judgeDisclosure() the first rule that matches decides, else the default", () => {
  const deny: DisclosureRule = { effect: "deny", packet_ids: ["notes"] };
  const permit: DisclosureRule = { effect: "permit", packet_ids: ["notes"] };
  const other: DisclosureRule = { effect: "permit", packet_ids: ["other"] };
  const error: DisclosureRule = { effect: "error", error_message: "Ask the owner" };
  const rows: readonly [readonly DisclosureRule[], "permit" | "deny", object][] = [
    [[], "permit", { verdict: "permit", matched_rule: null }],
    [[], "deny", { verdict: "denied", matched_rule: null }],
    [[other], "deny", { verdict: "denied", matched_rule: null }],
    [[other, permit], "deny", { verdict: "permit", matched_rule: 1 }],
    [[deny, permit], "permit", { verdict: "denied", matched_rule: 0 }],
    [[permit, deny], "deny", { verdict: "permit", matched_rule: 0 }],
    [[error, permit], "permit", { verdict: "rule_error", matched_rule: 0, error_message: "Ask the owner" }],
  ];
  for (const [rules, fallback, verdict] of rows) {
    assert.deepEqual(judgeDisclosure({ engine: "static", default: fallback, rules }, request()), verdict);
  }
  assert.equal(judgeDisclosure({ engine: "permit_all" }, request()).verdict, "permit");
  assert.equal(judgeDisclosure({ engine: "deny_all" }, request()).verdict, "denied");
});
