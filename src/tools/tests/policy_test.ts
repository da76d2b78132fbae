import assert from "node:assert/strict";
import { join } from "node:path";
import type { JsonObject, JsonValue } from "../../canonical/json.ts";
import { loadConfig } from "../../config/load.ts";
import type { GateConfig } from "../../config/types.ts";
import { envelope, id, stage, STORES, withTools } from "./tools_fixture.ts";
import { scene } from "./outcome_case_fixture.ts";

/** The policy of a configuration file that has only that section. */
async function policyOf(section: string): Promise<GateConfig["policy"]> {
  const folder = await Deno.makeTempDir();
  try {
    const path = join(folder, "gate.toml");
    await Deno.writeTextFile(path, section);
    return (await loadConfig({ config: path })).policy;
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

const AGENT = { kind: "agent", agent_id: "builder" };
const SESSION = { kind: "session", session_id: "s-1" };
const CHANNEL = { kind: "channel", channel: "releases" };
const EXTERNAL = { kind: "external", system: "jira", target: "REL-1" };

function packet(packet_id: string, change: JsonObject = {}): JsonObject {
  return {
    packet_id,
    schema_id: "brief-v1",
    content_type: "application/json",
    visibility_labels: ["internal"],
    policy_tags: ["release"],
    targets: [AGENT],
    payload: { kind: "json", value: packet_id },
    ...change,
  };
}

/** The result of opening a stage with packets: the rule that decided for each intent, or the refusal. */
async function opening(section: string, packets: readonly JsonObject[], store: typeof STORES[number]): Promise<string> {
  let said = "";
  await withTools(async (bench) => {
    const s = await scene(bench, {
      stages: [{ ...stage("build", "built"), entry_packets: [...packets] }, stage("deploy", "deployed", "build")],
    });
    const input = { ...s.run, stage_id: "build", expected_head: s.head, operation_id: id(1) };
    const { outcome, result } = envelope(await bench.call("scenario_open_stage", input));
    const { records } = await bench.call("scenario_history", s.run) as { records: { record: JsonObject }[] };
    if (outcome !== "accepted") {
      assert.equal(records.length, 1, "a refusal records nothing");
      const { reason, packet_id, target, error_message } = result;
      said = [outcome, reason, packet_id, kindOf(target), error_message].filter((word) => word !== undefined).join(" ");
      return;
    }
    const { disclosures } = records[1]?.record["body"] as {
      disclosures: { packet_id: string; target: JsonValue; matched_rule: number | null }[];
    };
    said = disclosures.map(({ packet_id, target, matched_rule }) =>
      `${packet_id}>${kindOf(target)}:${matched_rule ?? "default"}`
    ).join(" ");
    assert.equal((result["entry_intents"] as JsonValue[]).length, disclosures.length);
  }, { store, config: { policy: await policyOf(section) } });
  return said;
}

function kindOf(target: JsonValue | undefined): string | undefined {
  return target === undefined ? undefined : String((target as JsonObject | null)?.["kind"] ?? "none");
}

/** A static policy whose one rule permits; everything else is denied. */
function permitting(selectors: string): string {
  return `[policy]\nengine = "static"\n[policy.static]\n[[policy.static.rules]]\neffect = "permit"\n${selectors}\n`;
}

const PERMITTED = "brief>agent:0";
const DENIED = "policy_denied denied brief agent";

/** Selectors of one rule, the change to the packet, and whether the rule matches it. */
const MEMBERS: readonly [selectors: string, change: JsonObject, matches: boolean][] = [
  ['content_types = ["text/plain", "application/json"]', {}, true],
  ['content_types = ["text/plain"]', {}, false],
  ['content_types = ["Application/json"]', {}, false],
  ['packet_ids = ["brief"]', {}, true],
  ['packet_ids = ["brie"]', {}, false],
  ['scenario_ids = ["release"]', {}, true],
  ['scenario_ids = ["releases"]', {}, false],
  ['schema_ids = ["brief-v1"]', {}, true],
  ['schema_ids = ["brief-v2"]', {}, false],
  ['stage_ids = ["deploy", "build"]', {}, true],
  ['stage_ids = ["deploy"]', {}, false],
  ['require_labels = ["internal"]', {}, true],
  ['require_labels = ["internal", "public"]', {}, false],
  ['require_labels = ["internal", "public"]', { visibility_labels: ["internal", "public"] }, true],
  ['forbid_labels = ["secret"]', {}, true],
  ['forbid_labels = ["secret"]', { visibility_labels: ["internal", "secret"] }, false],
  ['require_policy_tags = ["release"]', {}, true],
  ['require_policy_tags = ["release", "eu"]', {}, false],
  ['forbid_policy_tags = ["eu"]', {}, true],
  ['forbid_policy_tags = ["eu"]', { policy_tags: ["eu"] }, false],
  ['target_kinds = ["agent"]', {}, true],
  ['target_kinds = ["session", "channel"]', {}, false],
  ['targets = [{ target_kind = "agent" }]', {}, true],
  ['targets = [{ target_kind = "agent", target_id = "builder" }]', {}, true],
  ['targets = [{ target_kind = "agent", target_id = "tester" }]', {}, false],
  ['targets = [{ target_kind = "session", target_id = "builder" }]', {}, false],
  ['targets = [{ target_kind = "session" }, { target_kind = "agent", target_id = "builder" }]', {}, true],
  ['packet_ids = ["brief"]\ntarget_kinds = ["agent"]\nrequire_labels = ["internal"]', {}, true],
  ['packet_ids = ["brief"]\ntarget_kinds = ["agent"]\nrequire_labels = ["public"]', {}, false],
];

for (const [selectors, change, matches] of MEMBERS) {
  Deno.test(`policy rule ${selectors.replaceAll("\n", ", ")} ${JSON.stringify(change)}: ${matches}`, async () => {
    const said = await opening(permitting(selectors), [packet("brief", change)], "memory");
    assert.equal(said, matches ? PERMITTED : DENIED);
  });
}

Deno.test("policy rules match targets by id, by system and by target, and a missing target by none of them", async () => {
  const to = (target: JsonObject | null): JsonObject => packet("brief", { targets: target === null ? [] : [target] });
  const rows: readonly [string, JsonObject | null, boolean][] = [
    ['target_kind = "session", target_id = "s-1"', SESSION, true],
    ['target_kind = "session", target_id = "s-2"', SESSION, false],
    ['target_kind = "channel", target_id = "releases"', CHANNEL, true],
    ['target_kind = "channel"', CHANNEL, true],
    ['target_kind = "channel", target_id = "other"', CHANNEL, false],
    ['target_kind = "external", system = "jira"', EXTERNAL, true],
    ['target_kind = "external", system = "jira", target = "REL-1"', EXTERNAL, true],
    ['target_kind = "external", target = "REL-1"', EXTERNAL, true],
    ['target_kind = "external", system = "jira", target = "REL-2"', EXTERNAL, false],
    ['target_kind = "external", system = "mail"', EXTERNAL, false],
    ['target_kind = "external", system = "jira"', AGENT, false],
    ['target_kind = "agent"', null, false],
  ];
  for (const [selector, target, matches] of rows) {
    const said = await opening(permitting(`targets = [{ ${selector} }]`), [to(target)], "memory");
    const kind = kindOf(target) ?? "none";
    assert.equal(said, matches ? `brief>${kind}:0` : `policy_denied denied brief ${kind}`, selector);
  }
  const said = await opening(
    permitting('target_kinds = ["agent", "session", "external", "channel"]'),
    [to(null)],
    "memory",
  );
  assert.equal(said, "policy_denied denied brief none");
});

const PUBLIC = packet("notes", { visibility_labels: ["public"] });

/** Rules in order; the first that matches decides. */
function rules(standard: "permit" | "deny", ...entries: string[]): string {
  const lines = entries.map((entry) => `[[policy.static.rules]]\n${entry}\n`);
  return `[policy]\nengine = "static"\n[policy.static]\ndefault = "${standard}"\n${lines.join("")}`;
}

const ENGINES: readonly [string, string, JsonObject[], string][] = [
  ["permit_all permits", '[policy]\nengine = "permit_all"', [packet("brief")], "brief>agent:default"],
  ["permit_all is the default", "", [packet("brief")], "brief>agent:default"],
  ["deny_all denies", '[policy]\nengine = "deny_all"', [packet("brief")], DENIED],
  ["deny_all has nothing to deny without packets", '[policy]\nengine = "deny_all"', [], ""],
  ["the static default is deny", '[policy]\nengine = "static"\n[policy.static]', [packet("brief")], DENIED],
  ["a static default of permit", rules("permit"), [packet("brief")], "brief>agent:default"],
  [
    "the first rule that matches decides",
    rules("deny", 'effect = "permit"\npacket_ids = ["brief"]', 'effect = "deny"\nstage_ids = ["build"]'),
    [packet("brief")],
    PERMITTED,
  ],
  [
    "a later rule is not asked",
    rules("permit", 'effect = "deny"\nstage_ids = ["build"]', 'effect = "permit"\npacket_ids = ["brief"]'),
    [packet("brief")],
    DENIED,
  ],
  [
    "a rule whose forbidden label is present does not match, and so does not deny",
    rules("permit", 'effect = "deny"\nforbid_labels = ["public"]'),
    [PUBLIC],
    "notes>agent:default",
  ],
  [
    "a rule error has its message",
    rules("permit", 'effect = "error"\nerror_message = "Ask the release desk"\npacket_ids = ["brief"]'),
    [packet("brief")],
    "policy_denied rule_error brief agent Ask the release desk",
  ],
  [
    "each packet and target is asked by itself",
    rules("deny", 'effect = "permit"\ntarget_kinds = ["session"]', 'effect = "permit"\nrequire_labels = ["public"]'),
    [packet("a", { targets: [SESSION] }), { ...PUBLIC, packet_id: "b", targets: [AGENT, CHANNEL, SESSION] }],
    "a>session:0 b>agent:1 b>channel:1 b>session:0",
  ],
  [
    "one denied target refuses the whole opening",
    rules("permit", 'effect = "deny"\ntargets = [{ target_kind = "channel", target_id = "releases" }]'),
    [packet("a"), packet("b", { targets: [AGENT, CHANNEL] })],
    "policy_denied denied b channel",
  ],
  [
    "an expired packet refuses before the policy is asked",
    rules("permit", 'effect = "error"\nerror_message = "no"\npacket_ids = ["brief"]'),
    [packet("brief", { expiry: { kind: "unix_millis", value: 1 } })],
    "policy_denied packet_expired brief agent",
  ],
];

for (const store of STORES) {
  for (const [name, section, packets, expected] of ENGINES) {
    Deno.test(`policy: ${name} (${store})`, async () => {
      assert.equal(await opening(section, packets, store), expected);
    });
  }
}
