/**
 * Warnings of the commands about evidence that cannot count under the trust settings.
 *
 * @module
 */

import assert from "node:assert/strict";
import { gate, inFolder } from "../gate_command.ts";
import { LEAST_POLICY } from "../../least_policy.ts";

const EXAMPLE = new URL("../../../docs/examples/mcp_provider/", import.meta.url);
const OWED = '{ require_signature = { keys = ["signer.pub"] } }';

/** A scenario with one condition, which a check of a provider acquires. */
function scenario(provider_id: string, check_id: string, predicate: unknown, policy: object): string {
  const builtin = provider_id !== "tickets";
  const channel = builtin ? "local_acquisition" : "provider_acquisition";
  const domain = builtin ? { domain: "Boolean" } : { domain: "Integer" };
  const params = builtin ? { timestamp: 0 } : { project: "release" };
  return JSON.stringify({
    spec_version: "dag-v3",
    scenario_id: "s",
    namespace_id: 2,
    conditions: [{
      condition_id: "c",
      observation_domain: domain,
      predicate,
      evidence_use_policy: { ...LEAST_POLICY, allowed_channels: [channel], ...policy },
    }],
    acquisition_bindings: [{ binding_id: "b", condition_id: "c", channel, provider_id, check_id, params }],
    stages: [{ stage_id: "a", prerequisite: { kind: "root" }, completion_requirement: { Condition: "c" } }],
    completion_requirement: { Condition: "a" },
  });
}

const NONE_OPEN = { predicate: "Equals", expected: { value: 0, value_type: "Integer" } };
const IS_TRUE = { predicate: "Equals", expected: { value: true, value_type: "Boolean" } };
const TICKETS = ["tickets", "open_count", "--param", "project=release"];
const TIME = ["time", "after", "--param", "timestamp=0"];

/**
 * The settings, the trust of `time`, the lane of `tickets`, a check and its scenario; then the exit code and message of
 * `provider check`, the note of `doctor`, and the warning of `scenario check`. Null means no message.
 */
const ROWS: readonly {
  readonly name: string;
  readonly settings?: string;
  readonly time?: string;
  /** The lane in every reply of the provider `tickets`. */
  readonly lane?: string;
  readonly check: readonly string[];
  readonly law: string;
  readonly exit: readonly [number, RegExp | null];
  readonly doctor: RegExp | null;
  readonly warning: string | null;
}[] = [
  {
    name: "an mcp provider under audit",
    check: TICKETS,
    law: scenario("tickets", "open_count", NONE_OPEN, {}),
    exit: [0, null],
    doctor: null,
    warning: null,
  },
  {
    name: "an unsigned mcp provider under require_signature",
    settings: `[trust]\ndefault_policy = ${OWED}`,
    check: TICKETS,
    law: scenario("tickets", "open_count", NONE_OPEN, {}),
    exit: [4, /this result does not count as evidence: signature_invalid: Provider "tickets" has to sign/],
    doctor: /^note +provider trust +a result may not count: provider "tickets" has to sign its results with one of/m,
    warning: "binding_signature_owed",
  },
  {
    name: "NotExists of a provider that must sign",
    settings: `[trust]\ndefault_policy = ${OWED}`,
    check: TICKETS,
    law: scenario("tickets", "open_count", { predicate: "NotExists" }, {}),
    exit: [4, /signature_invalid/],
    doctor: /has to sign/,
    warning: "binding_never_counts",
  },
  {
    name: "a built-in provider that must sign",
    time: `, trust = ${OWED}`,
    check: TIME,
    law: scenario("time", "after", IS_TRUE, {}),
    exit: [4, /signature_invalid: Provider "time" has to sign/],
    doctor: /^note +provider trust +no result counts: provider "time" .*no built-in provider signs/m,
    warning: "binding_never_counts",
  },
  {
    name: "an anchor that no check of the provider gives",
    settings: '[[anchors.providers]]\nprovider_id = "tickets"\nanchor_type = "ticket"\nrequired_fields = ["id"]',
    check: TICKETS,
    law: scenario("tickets", "open_count", NONE_OPEN, {}),
    exit: [4, /anchor_invalid: Provider "tickets" has to anchor/],
    doctor: /^note +provider trust +no result counts: provider "tickets" has to anchor its results with "ticket"/m,
    warning: "binding_never_counts",
  },
  {
    name: "a provider that declares the lane asserted, under min_lane verified",
    lane: "asserted",
    check: TICKETS,
    law: scenario("tickets", "open_count", NONE_OPEN, {}),
    exit: [4, /this result does not count as evidence: lane: Provider "tickets" declares the lane asserted/],
    doctor: null,
    warning: null,
  },
  {
    name: "a provider that declares the lane asserted, under min_lane asserted",
    lane: "asserted",
    settings: '[trust]\nmin_lane = "asserted"',
    check: TICKETS,
    law: scenario("tickets", "open_count", NONE_OPEN, {}),
    exit: [0, null],
    doctor: null,
    warning: null,
  },
  {
    name: "a condition that requires an anchor without an anchors policy",
    check: TIME,
    law: scenario("time", "after", IS_TRUE, { integrity: "anchored_content" }),
    exit: [0, null],
    doctor: null,
    warning: "binding_never_counts",
  },
  {
    name: "a condition that requires a signature of a built-in provider",
    check: TIME,
    law: scenario("time", "after", IS_TRUE, { authorization: "signature" }),
    exit: [0, null],
    doctor: null,
    warning: "binding_never_counts",
  },
];

async function writeFiles(folder: string, settings: string, time: string, law: string): Promise<void> {
  for (const name of ["contract.json", "provider.ts", "tickets.json"]) {
    await Deno.copyFile(new URL(name, EXAMPLE), `${folder}/${name}`);
  }
  const words = [Deno.execPath(), "run", "--no-prompt", "--quiet", "--allow-read=tickets.json", "provider.ts"];
  const command = `command = ${JSON.stringify(words)}, timeouts = { request_timeout_ms = 20000 }`;
  const providers = [
    `providers = [`,
    `  { name = "tickets", type = "mcp", ${command}, capabilities_path = "contract.json" },`,
    `  { name = "time", type = "builtin"${time} },`,
    `]`,
  ];
  await Deno.writeTextFile(`${folder}/gate.toml`, `${providers.join("\n")}\n${settings}\n`);
  await Deno.writeFile(`${folder}/signer.pub`, new Uint8Array(32).fill(9));
  await Deno.writeTextFile(`${folder}/s.json`, law);
}

/** Adds a lane to each reply of the provider in the folder. */
async function declareLane(folder: string, lane: string): Promise<void> {
  const path = `${folder}/provider.ts`;
  const text = await Deno.readTextFile(path);
  const changed = text.replace("    evidence_ref: { uri },", `    evidence_ref: { uri },\n    lane: "${lane}",`);
  assert.notEqual(changed, text);
  await Deno.writeTextFile(path, changed);
}

for (const { name, settings = "", time = "", lane, check, law, exit, doctor, warning } of ROWS) {
  Deno.test(`provider check, doctor and scenario check on ${name}`, () =>
    inFolder(async (folder) => {
      await writeFiles(folder, settings, time, law);
      if (lane !== undefined) await declareLane(folder, lane);
      const config = ["--config", "gate.toml"];
      const checked = await gate(folder, "provider", "check", ...check, ...config);
      assert.equal(checked.code, exit[0], checked.stderr);
      if (exit[1] === null) assert.doesNotMatch(checked.stderr, /does not count as evidence/);
      else assert.match(checked.stderr, exit[1]);
      const { stdout: findings } = await gate(folder, "doctor", ...config);
      if (doctor === null) assert.doesNotMatch(findings, /provider trust/);
      else assert.match(findings, doctor);
      const proved = await gate(folder, "scenario", "check", "s.json", ...config, "--json");
      const { diagnostics } = JSON.parse(proved.stdout).result as { diagnostics: { code: string }[] };
      const codes = diagnostics.map(({ code }) => code).filter((code) =>
        /^binding_(never_counts|signature)/.test(code)
      );
      assert.deepEqual([proved.code, codes], [0, warning === null ? [] : [warning]], proved.stdout);
    }));
}

Deno.test("doctor and a start warn of schemas that must be signed while no key is configured", () =>
  inFolder(async (folder) => {
    const acl = "[schema_registry.acl]\nrequire_signing = true\n";
    const rows: readonly [string, boolean][] = [[acl, true], [`${acl}[trust]\ndefault_policy = ${OWED}\n`, false]];
    await Deno.writeFile(`${folder}/signer.pub`, new Uint8Array(32).fill(9));
    for (const [text, isReported] of rows) {
      await Deno.writeTextFile(`${folder}/gate.toml`, text);
      const notice = /schema_registry\.acl\.require_signing: no key is configured/;
      const { stdout } = await gate(folder, "doctor", "--config", "gate.toml");
      assert.equal(notice.test(stdout), isReported, stdout);
      const { stderr } = await gate(folder, "serve", "--config", "gate.toml");
      assert.equal(notice.test(stderr), isReported, stderr);
    }
  }));

const SIGNED = { authorization: "signature", required_assurance: ["content_integrity", "source_signature"] };

/** The keys that a configuration trusts, the policy of a condition, and the warning of `scenario check`. */
const KEY_ROWS: readonly (readonly [trusted: readonly string[], policy: object, warning: RegExp | null])[] = [
  [["a.pub"], {}, null],
  [[], {}, null],
  [["a.pub"], { ...SIGNED, authorized_key_ids: ["a.pub"] }, null],
  [["a.pub", "b.pub"], { ...SIGNED, authorized_key_ids: ["a.pub", "b.pub"] }, null],
  [["a.pub"], SIGNED, null],
  [[], SIGNED, /^condition_never_counts \$\.conditions\[0\]\.evidence_use_policy .* trusts no key$/],
  [[], { integrity: "signed_content" }, /^condition_never_counts .* trusts no key$/],
  [[], { required_assurance: ["source_signature"] }, /^condition_never_counts .* trusts no key$/],
  [
    ["a.pub"],
    { ...SIGNED, authorized_key_ids: ["b.pub", "c.pub"] },
    /^condition_never_counts \S+\.authorized_key_ids Condition "c" .* "b\.pub", "c\.pub", .* trusts none of them$/,
  ],
  [
    ["a.pub"],
    { ...SIGNED, authorized_key_ids: ["a.pub", "c.pub"] },
    /^authorized_key_untrusted \S+\.authorized_key_ids Condition "c" .* does not trust "c\.pub"$/,
  ],
];

for (const [trusted, policy, warning] of KEY_ROWS) {
  Deno.test(`scenario check with keys ${trusted.join(", ") || "none"} of ${JSON.stringify(policy)}: ${warning}`, () =>
    inFolder(async (folder) => {
      const keys = `[trust]\ndefault_policy = { require_signature = { keys = ${JSON.stringify(trusted)} } }\n`;
      await Deno.writeTextFile(`${folder}/gate.toml`, trusted.length === 0 ? "" : keys);
      const law = JSON.parse(scenario("tickets", "open_count", NONE_OPEN, policy));
      law.acquisition_bindings = [];
      law.conditions[0].evidence_use_policy.allowed_channels = ["caller_submission"];
      await Deno.writeTextFile(`${folder}/s.json`, JSON.stringify(law));
      const { code, stdout } = await gate(folder, "scenario", "check", "s.json", "--config", "gate.toml", "--json");
      const { diagnostics } = JSON.parse(stdout).result as {
        diagnostics: { severity: string; code: string; path: string; message: string }[];
      };
      const others = diagnostics.filter(({ code }) => code !== "caller_alone" && code !== "one_person_alone");
      const found = others.map((one) => `${one.code} ${one.path} ${one.message}`);
      assert.equal(code, 0, stdout);
      assert.equal(found.length, warning === null ? 0 : 1, stdout);
      if (warning !== null) assert.match(found[0] ?? "", warning);
    }));
}
