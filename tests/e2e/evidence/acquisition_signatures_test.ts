import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import type { JsonObject, JsonValue } from "@/canonical/json.ts";
import { signApproval } from "@/evidence/trust/approval.ts";
import { makeKeyPair, parseSigningKey, type SigningKey } from "@/evidence/trust/signing_key.ts";
import { booleanCondition } from "@/tools/tests/tools_fixture.ts";
import { contractOf, HOSTILE_COMMAND } from "./acquisition_entries.ts";
import {
  acquiredCondition,
  attemptOf,
  binding,
  evaluate,
  type Gate,
  oneStage,
  openAnother,
  type OpenRun,
  openRun,
  serveGate,
} from "./acquisition_serve.ts";
import { gate as runGate, inFolder } from "../gate_command.ts";

interface TestKey {
  readonly key: SigningKey;
  readonly public_text: string;
}

function testKey(): TestKey {
  const { private_pem, public_text } = makeKeyPair();
  const key = parseSigningKey(new TextEncoder().encode(private_pem));
  assert.ok(key !== null);
  return { key, public_text };
}

const ALICE = testKey();
const MALLORY = testKey();

function signedCondition(change: JsonObject = {}): JsonObject {
  const made = booleanCondition("approved");
  return {
    ...made,
    evidence_use_policy: { ...made["evidence_use_policy"] as JsonObject, authorization: "signature", ...change },
  };
}

const TRUST = '[trust]\ndefault_policy = { require_signature = { keys = ["keys/alice.pub"] } }\n';

async function withKeys(body: (folder: string) => Promise<void>): Promise<void> {
  await inFolder(async (folder) => {
    await Deno.mkdir(`${folder}/keys`);
    await Deno.writeTextFile(`${folder}/keys/alice.pub`, ALICE.public_text);
    await body(folder);
  });
}

/** Parts of an approval that a row changes. */
interface Change {
  readonly key?: SigningKey;
  readonly key_id?: string;
  readonly statement?: Readonly<Record<string, unknown>>;
  /** Changes to the item after signing. */
  readonly item?: JsonObject;
}

function approve(
  open: OpenRun,
  { key = ALICE.key, key_id = "keys/alice.pub", statement = {}, item = {} }: Change,
): JsonObject {
  const signed = signApproval(key, key_id, {
    namespace_id: 2,
    scenario_law_identity: open.law,
    run_id: open.run["run_id"] as string,
    stage_id: "release",
    condition_id: "approved",
    value: { value: true, value_type: "Boolean" },
    observed_at: 1000,
    head: open.head as never,
    retention: "RetainCanonicalValue",
    ...statement,
  });
  return { ...signed.item, ...item };
}

const OTHER = "0".repeat(64);

/** Name, approval, outcome. */
const ROWS: readonly [string, Change, string][] = [
  ["for exactly this", {}, "qualified"],
  ["at any head", { statement: { head: null } }, "qualified"],
  ["of another namespace", { statement: { namespace_id: 3 } }, "authorization"],
  ["of another law", { statement: { scenario_law_identity: OTHER } }, "authorization"],
  ["of another run", { statement: { run_id: OTHER.slice(32) } }, "authorization"],
  ["of another stage", { statement: { stage_id: "other" } }, "authorization"],
  [
    "of another condition",
    { statement: { condition_id: "other" }, item: { condition_id: "approved" } },
    "authorization",
  ],
  ["of another value", { item: { value: { value: false, value_type: "Boolean" } } }, "authorization"],
  ["of another time", { item: { observed_at: 1001 } }, "authorization"],
  ["of another head", { statement: { head: { record_id: OTHER, revision: 2 } } }, "authorization"],
  ["by another key under its name", { key: MALLORY.key }, "authorization"],
  ["by another key under another name", { key: MALLORY.key, key_id: "mallory.pub" }, "authorization"],
  [
    "by no key",
    { item: { signature: { scheme: "ed25519", key_id: "keys/alice.pub", signature: "AAAA" } } },
    "authorization",
  ],
];

Deno.test("a signed approval counts for exactly what was approved", (test) =>
  withKeys(async (folder) => {
    await using gate = await serveGate(folder, TRUST);
    const first = await openRun(gate, oneStage([signedCondition()], []));
    let number = 2;
    for (const [name, change, expected] of ROWS) {
      await test.step(`${name}: ${expected}`, async () => {
        const open = await openAnother(gate, first.law, number++);
        const { result } = await evaluate(gate, open, { caller_evidence: [approve(open, change)] });
        assert.deepEqual(attemptOf(result).items, { "caller:0": expected });
        assert.equal(attemptOf(result).outcome, expected === "qualified" ? "true" : "unknown");
      });
    }
  }));

Deno.test("an approval at one head does not hold at the next", () =>
  withKeys(async (folder) => {
    await using gate = await serveGate(folder, TRUST);
    const open = await openRun(gate, oneStage([signedCondition()], []));
    const caller_evidence = [approve(open, {})];
    await evaluate(gate, open);
    const { result } = await evaluate(gate, open, { caller_evidence });
    assert.deepEqual(attemptOf(result).items, { "caller:0": "authorization" });
  }));

Deno.test("gate evidence sign signs evidence that gate serve accepts", () =>
  withKeys(async (folder) => {
    const made = await runGate(folder, "key", "create", "keys/bob.key");
    assert.equal(made.code, 0, made.stderr);
    assert.equal((Deno.statSync(`${folder}/keys/bob.key`).mode ?? 0) & 0o777, 0o600);
    await using gate = await serveGate(folder, TRUST.replace("alice.pub", "bob.key.pub"));
    const open = await openRun(gate, oneStage([signedCondition()], []));
    const { record_id, revision } = open.head;
    const flags = ["--namespace", "2", "--law", open.law, "--run", String(open.run["run_id"]), "--stage", "release"];
    const approved = await runGate(
      folder,
      ...["evidence", "sign", "--key", "keys/bob.key", ...flags, "--condition", "approved", "--value", "true"],
      ...["--head", `${record_id}:${revision}`],
    );
    assert.equal(approved.code, 0, approved.stderr);
    const { result } = await evaluate(gate, open, { caller_evidence: [JSON.parse(approved.stdout) as JsonObject] });
    assert.equal(attemptOf(result).outcome, "true");
    const again = await runGate(folder, "key", "create", "keys/bob.key");
    assert.equal(again.code, 2);
    assert.match(again.stderr, /it exists already/);
  }));

/** Invalid flags of gate evidence sign, and a part of the message. */
const MISTAKES: readonly (readonly [flags: readonly string[], message: RegExp])[] = [
  [["--key", "none"], /it does not exist/],
  [["--key", "."], /it is not a key file/],
  [["--key", "text"], /expected an Ed25519 private key: 32 raw bytes/],
  [["--key", "k.pub"], /"k\.pub": a file of that name holds a public key, and the private one signs/],
  [["--key", "copy"], /"copy": it holds the public key of "copy\.pub"/],
  [["--namespace", "0"], /--namespace "0": expected a whole number/],
  [["--law", "ABC"], /--law "ABC": expected 64/],
  [["--run", "1"], /--run "1": expected 32/],
  [["--head", "x"], /expected RECORD_ID:REVISION/],
  [["--any-head"], /exclude each other/],
  [["--value", "yes"], /Cannot read --value as JSON/],
  [["--value", "0.5"], /--type is missing/],
  [["--value", "1", "--type", "Boolean"], /Cannot read --value as Boolean/],
  [["--type", "Bool"], /expected one of/],
  [["--observed-at", "now"], /--observed-at "now"/],
];

Deno.test("gate evidence sign reports invalid flags", () =>
  withKeys(async (folder) => {
    await runGate(folder, "key", "create", "k");
    await Deno.writeTextFile(`${folder}/text`, "no key");
    for (const name of ["copy", "copy.pub"]) await Deno.copyFile(`${folder}/k.pub`, `${folder}/${name}`);
    const run = ["--law", OTHER, "--run", OTHER.slice(32), "--head", `${OTHER}:1`];
    const right = ["--key", "k", "--namespace", "2", "--stage", "s", "--condition", "c", "--value", "true", ...run];
    await Promise.all(MISTAKES.map(async ([flags, message]) => {
      const others = right.filter((_, index) => !flags.includes(right[index - index % 2] ?? ""));
      const { code, stderr, stdout } = await runGate(folder, "evidence", "sign", ...others, ...flags);
      assert.equal(code, 2, flags.join(" "));
      assert.match(stderr, message);
      assert.equal(stdout, "");
    }));
  }));

function bareHash(value: JsonValue, key: SigningKey, key_id = "keys/alice.pub"): JsonObject {
  const digest = createHash("sha256").update(JSON.stringify(value)).digest("hex");
  return { scheme: "ed25519", key_id, signature: key.sign(`{"algorithm":"sha256","value":"${digest}"}`) };
}

const WRONG_HASH = { algorithm: "sha256", value: OTHER };
const SEVEN = { value: { kind: "json", value: 7 } };

/** Name, reply of the provider, policy of the condition, trust in the provider, outcome of the item. */
const PROVIDER_ROWS: readonly [string, JsonObject, JsonObject, "default" | "audit", string][] = [
  ["unsigned", SEVEN, {}, "default", "signature_invalid"],
  ["unsigned, under audit", SEVEN, {}, "audit", "qualified"],
  ["the bare hash signed", { ...SEVEN, signature: bareHash(7, ALICE.key) }, {}, "default", "qualified"],
  [
    "the bare hash of another value",
    { ...SEVEN, signature: bareHash(8, ALICE.key) },
    {},
    "default",
    "signature_invalid",
  ],
  [
    "the bare hash by another key",
    { ...SEVEN, signature: bareHash(7, MALLORY.key) },
    {},
    "default",
    "signature_invalid",
  ],
  [
    "the bare hash is no bound signature",
    { ...SEVEN, signature: bareHash(7, ALICE.key) },
    { integrity: "signed_content" },
    "default",
    "integrity",
  ],
  [
    "nor is it for an authorization",
    { ...SEVEN, signature: bareHash(7, ALICE.key) },
    { authorization: "signature" },
    "default",
    "authorization",
  ],
  ["nothing found is nothing signed", { value: null }, {}, "default", "signature_invalid"],
  ["an error stays an error", { error: { code: "down", message: "m" } }, {}, "default", "down"],
  ["a hash that does not recompute", { ...SEVEN, evidence_hash: WRONG_HASH }, {}, "audit", "integrity"],
];

Deno.test("a provider has to sign its results if its trust policy requires it", (test) =>
  withKeys(async (folder) => {
    await Deno.writeTextFile(`${folder}/contract.json`, contractOf("hostile").text);
    await Deno.writeTextFile(`${folder}/audited.json`, contractOf("audited").text);
    const entry = (name: string, contract: string, more: string): string =>
      `[[providers]]\nname = "${name}"\ntype = "mcp"\ncommand = ${JSON.stringify(HOSTILE_COMMAND)}\n` +
      `capabilities_path = "${contract}"\n${more}\n`;
    const toml = TRUST + entry("hostile", "contract.json", "") + entry("audited", "audited.json", 'trust = "audit"');
    await using gate = await serveGate(folder, toml);
    for (const [index, [name, reply, policy, trust, expected]] of PROVIDER_ROWS.entries()) {
      await test.step(`${name}: ${expected}`, () => checkReply(gate, index, reply, policy, trust, expected));
    }
  }));

async function checkReply(
  gate: Gate,
  index: number,
  reply: JsonObject,
  policy: JsonObject,
  trust: "default" | "audit",
  expected: string,
): Promise<void> {
  const raw = JSON.stringify({ structuredContent: reply });
  const provider = trust === "audit" ? "audited" : "hostile";
  const condition = acquiredCondition("c", { domain: "Integer" }, {
    predicate: "Equals",
    expected: { value: 7, value_type: "Integer" },
  }, policy);
  const open = await openRun(gate, oneStage([condition], [binding("b", "c", provider, "any", { raw })]), index + 1);
  const { result } = await evaluate(gate, open);
  assert.deepEqual(attemptOf(result).items, { b: expected });
  assert.equal(attemptOf(result).outcome, expected === "qualified" ? "true" : "unknown");
}
