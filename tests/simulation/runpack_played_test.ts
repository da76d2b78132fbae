import assert from "node:assert/strict";
import { canonicalize } from "../../src/canonical/canonicalize.ts";
import { identify } from "../../src/canonical/identity.ts";
import type { JsonObject, JsonValue } from "../../src/canonical/json.ts";
import { measureValue, presentAnswer } from "../../src/evidence/acquisition/present.ts";
import type { EvidenceResult, LoadedContract, ProviderContract } from "../../src/evidence/types.ts";
import { lawAsJson } from "../../src/law/normal_form.ts";
import type { Accepted, Command } from "../../src/run/command.ts";
import type { CompiledLaw } from "../../src/run/compile.ts";
import { decide } from "../../src/run/decide.ts";
import type { CallerEvidence, PresentedEvidence } from "../../src/run/evidence.ts";
import type { OperatorProfile } from "../../src/run/profile.ts";
import { asJson } from "../../src/run/primitives.ts";
import { statementTexts } from "../../src/run/statement.ts";
import type { EvidenceSignature, RunState } from "../../src/run/types.ts";
import type { VerificationReport } from "../../src/runpack/verify/types.ts";
import { randomOf } from "./crash/random.ts";
import {
  accepted,
  createCommand,
  evaluateCommand,
  int,
  KEY_1,
  KEY_2,
  NOW,
  oneConditionLaw,
  openCommand,
  SHA256,
  stampsAt,
  surroundingsWith,
  type TestKey,
  trusting,
} from "./kernel_fixture.ts";
import { forge } from "./runpack_forge.ts";
import { packOf, statusesOf, verifyWhole } from "./runpack_memory.ts";
import type { PlayedRun } from "./runpack_run.ts";

const PROVIDERS = ["env", "time", "scanner", "ledger"];

function loadedContract(provider_id: string): LoadedContract {
  const contract: ProviderContract = {
    provider_id,
    name: provider_id,
    description: "",
    transport: provider_id === "env" || provider_id === "time" ? "builtin" : "mcp",
    config_schema: {},
    checks: [{
      check_id: "read",
      description: "",
      determinism: "external",
      params_required: false,
      params_schema: true,
      result_schema: {},
      allowed_comparators: ["equals", "less_than"],
      anchor_types: [],
      content_types: ["application/json"],
      examples: [],
    }],
    notes: [],
  };
  const text = canonicalize(asJson(contract));
  const contract_identity = identify(SHA256, "contract", asJson(contract));
  return {
    contract,
    contract_identity,
    contract_hash: { algorithm: "sha256", value: SHA256(text) },
    source: "file",
    text,
  };
}

const CONTRACTS = new Map(PROVIDERS.map((provider) => [provider, loadedContract(provider)]));

/** What one item of a call says. */
interface Said {
  readonly value: JsonValue | { readonly error: string } | null;
  readonly lane?: "verified" | "asserted";
  readonly hash?: "right" | "wrong";
  readonly key?: TestKey;
  /** Signs the bare hash of the value, not the statement. */
  readonly bare?: boolean;
  readonly observed_at?: number;
  readonly anchor?: boolean;
  readonly acquired_at?: number;
  readonly given?: boolean;
}

const ANCHOR = { anchor_type: "commit", anchor_value: '{"sha":"abc"}' };

interface Scene {
  readonly law: CompiledLaw;
  readonly state: RunState;
}

function signatureOf({ law, state }: Scene, item: PresentedEvidence, { key, bare }: Said): EvidenceSignature | null {
  if (key === undefined) return null;
  const scope = { run_id: state.run_key.run_id, stage_id: "s", expected_head: state.head };
  const [statement] = statementTexts(law, scope, item);
  const text = bare === true || statement === undefined ? canonicalize(asJson(item.content_hash ?? {})) : statement;
  return { scheme: "ed25519", key_id: key.key_id, signature: key.sign(text) };
}

/** An item as an acquisition would present it. */
function acquire(scene: Scene, binding_id: string, said: Said): PresentedEvidence {
  const { law } = scene;
  const binding = law.bindingIndex.get(binding_id);
  const condition = law.conditionIndex.get("c");
  const loaded = CONTRACTS.get(binding?.provider_id ?? "");
  assert.ok(binding !== undefined && condition !== undefined && loaded !== undefined);
  const { value } = said;
  const error = typeof value === "object" && value !== null && "error" in value
    ? { code: String((value as JsonObject)["error"]), message: "Cannot read" }
    : null;
  const found = value === null || error !== null ? null : { kind: "json", value: value as JsonValue } as const;
  const measured = found === null ? null : measureValue(found);
  const hash = measured === null || said.hash === undefined
    ? null
    : { algorithm: "sha256", value: said.hash === "right" ? measured.content_hash.value : "0".repeat(64) } as const;
  const present = (signature: EvidenceSignature | null): PresentedEvidence => {
    const result: EvidenceResult = {
      value: found,
      lane: said.lane ?? "verified",
      error,
      evidence_hash: hash,
      evidence_ref: null,
      evidence_anchor: said.anchor === true ? ANCHOR : null,
      signature,
      content_type: found === null ? null : "application/json",
      ...said.observed_at === undefined ? {} : { observed_at: said.observed_at },
    };
    const trigger_time = { kind: "unix_millis", value: NOW } as const;
    const selected = { binding, ...said.given === true ? { trigger_time } : {} };
    const answer = { ok: true, result, acquired_at: said.acquired_at ?? NOW, grant: {} } as const;
    return presentAnswer({ selected, trigger_time, condition, loaded }, answer, measured, error);
  };
  return present(signatureOf(scene, present(null), said));
}

function callerSays(scene: Scene, said: Said, retention: CallerEvidence["retention"]["retention"]): CallerEvidence {
  const value = int(typeof said.value === "number" ? said.value : 4);
  const observed = said.observed_at === undefined ? {} : { observed_at: said.observed_at };
  const anchor = said.anchor === true ? { anchor: ANCHOR } : {};
  const item = { condition_id: "c", retention: { retention }, value, ...observed, ...anchor };
  const value_identity = identify(SHA256, "evidence-value", asJson(value));
  const presented = {
    ...item,
    value_identity,
    content_hash: { algorithm: "sha256", value: SHA256(String(value.value)) },
  };
  const signature = signatureOf(scene, presented as unknown as PresentedEvidence, said);
  return signature === null ? item : { ...item, signature };
}

/** What an evaluation is given: items of the caller, and what bindings acquired. */
interface Given {
  readonly caller: readonly Said[];
  readonly acquired: Readonly<Record<string, Said>>;
}

/** A run that is created, opens its first stage, and evaluates it so often. */
function play(law: CompiledLaw, profile: Partial<OperatorProfile>, evaluations: readonly Given[]): PlayedRun {
  const surroundings = surroundingsWith(profile);
  const records: PlayedRun["records"][number][] = [];
  let last: Accepted | null = null;
  const take = (command: Command): void => {
    last = accepted(decide(law, last?.state ?? null, command, stampsAt(NOW + records.length), surroundings));
    const [{ record, record_id, text, material }] = last.records;
    const { revision, operation, invocation_identity } = record;
    const receipt = { operation, invocation_identity, result: canonicalize(last.result) };
    records.push({ revision, record_id, record: text, material, receipt });
  };
  const head = (): RunState => (last as Accepted | null)?.state ?? assert.fail("no run");
  const contracts = PROVIDERS.map((provider_id) => ({
    provider_id,
    contract_identity: CONTRACTS.get(provider_id)?.contract_identity ?? "",
  }));
  const schemas = [{ schema_id: "release", version: "1", schema_identity: identify(SHA256, "schema", {}) }];
  take(createCommand({ contracts, schemas }));
  take(openCommand(2, head().head, "s"));
  const retention = law.conditionIndex.get("c")?.retention ?? "RetainCanonicalValue";
  for (const { caller, acquired } of evaluations) {
    const scene = { law, state: head() };
    if (scene.state.stages.find(({ stage_id }) => stage_id === "s")?.classification !== "open_incomplete") break;
    take(evaluateCommand(records.length + 1, scene.state.head, "s", {
      caller_evidence: caller.map((said) => callerSays(scene, said, retention)),
      acquired: Object.entries(acquired).map(([binding, said]) => acquire(scene, binding, said)),
    }));
  }
  const { scenario_law_identity, graph_identity } = law;
  const { scenario_id, namespace_id } = law.law;
  const artifacts = [
    {
      kind: "operator-profile",
      identity: surroundings.profile_identity,
      body: canonicalize(asJson(surroundings.profile)),
    },
    { kind: "schema", identity: identify(SHA256, "schema", {}), body: "{}" },
    ...[...CONTRACTS.values()].map(({ contract_identity, text }) => ({
      kind: "contract",
      identity: contract_identity,
      body: text,
    })),
  ] as PlayedRun["artifacts"];
  const text = canonicalize(lawAsJson(law.law));
  return {
    law: { namespace_id, scenario_id, scenario_law_identity, graph_identity, law: text },
    records,
    artifacts,
    state: head(),
  };
}

const violations = (report: VerificationReport): string[] =>
  Object.entries(statusesOf(report)).filter(([, status]) => status.startsWith("violated")).map((entry) =>
    entry.join(": ")
  );

/** Members of policies and profiles that random runs choose from. */
const POLICIES: readonly Readonly<Record<string, JsonValue>>[] = [
  {},
  { authorization: "signature" },
  { combination: { combination: "AnyQualifying" } },
  { combination: { combination: "Quorum", minimum: 2 }, independence: "distinct_provider" },
  { freshness: { freshness: "MaximumAge", maximum_age_millis: 100 } },
  { integrity: "anchored_content" },
  { integrity: "signed_content", independence: "not_required" },
  { required_assurance: ["content_integrity", "source_anchor"] },
  { required_assurance: ["source_signature"] },
  { allowed_channels: ["local_acquisition", "provider_acquisition"] },
  { retention: "retain_digest_only", replay: "digest_only" },
];
const PROFILES: readonly Partial<OperatorProfile>[] = [
  {},
  { trust: { min_lane: "asserted", default_policy: trusting(KEY_1), providers: [] } },
  {
    trust: {
      min_lane: "verified",
      default_policy: "audit",
      providers: [{ provider_id: "scanner", policy: trusting(KEY_1) }],
    },
  },
  { anchors: [{ provider_id: "scanner", anchor_type: "commit", required_fields: ["sha"] }] },
  { permissive: { enabled: true, exempt_providers: ["ledger"] } },
];
const VALUES: readonly Said["value"][] = [1, 4, 5, 9, null, "text", { error: "jsonpath_not_found" }];

Deno.test("verifyRunpack() violates nothing of what the kernel accepted, whatever policy, profile and evidence", async () => {
  const random = randomOf(23);
  const one = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;
  const said = (): Said => ({
    value: one(VALUES),
    ...random() < 0.3 ? { lane: "asserted" as const } : {},
    ...random() < 0.4 ? { hash: one(["right", "wrong"] as const) } : {},
    ...random() < 0.5 ? { key: one([KEY_1, KEY_2]) } : {},
    ...random() < 0.2 ? { bare: true } : {},
    ...random() < 0.6 ? { observed_at: NOW - Math.floor(random() * 300) } : {},
    ...random() < 0.4 ? { anchor: true } : {},
    ...random() < 0.3 ? { acquired_at: NOW - 200 } : {},
    ...random() < 0.3 ? { given: true } : {},
  });
  let satisfied = 0;
  for (let round = 0; round < 400; round++) {
    const law = oneConditionLaw(one(POLICIES));
    const bindings = [...law.bindingIndex.keys()].filter(() => random() < 0.4);
    const allowsCaller = random() < 0.7;
    const evaluations = Array.from({ length: 3 }, (): Given => ({
      caller: allowsCaller ? Array.from({ length: Math.floor(random() * 3) }, said) : [],
      acquired: Object.fromEntries(bindings.map((binding) => [binding, said()])),
    }));
    const pack = await packOf(play(law, one(PROFILES), evaluations));
    const report = await verifyWhole(pack, { trusted_keys: [Uint8Array.fromBase64(KEY_1.public_key)] });
    assert.deepEqual(violations(report), [], `round ${round}`);
    if (statusesOf(report)["pure_semantic_replay"] === "satisfied") satisfied++;
  }
  assert.ok(satisfied > 200, `${satisfied} of 400 runs were decided again as a whole`);
});

const SIGNED = { authorization: "signature", independence: "not_required" };
const TRUSTED: Partial<OperatorProfile> = {
  trust: {
    min_lane: "verified",
    default_policy: "audit",
    providers: [{ provider_id: "scanner", policy: trusting(KEY_1, KEY_2) }],
  },
};
const KEYS = [KEY_1, KEY_2].map(({ public_key }) => Uint8Array.fromBase64(public_key));

/** Who signed what counted, which keys were supplied, and what becomes of the claim. */
const SOURCES: readonly [string, readonly Said[], readonly Uint8Array[] | null, string][] = [
  ["signed by a supplied key", [{ value: 1, key: KEY_1, observed_at: NOW - 5 }], KEYS, "satisfied"],
  ["no keys supplied", [{ value: 1, key: KEY_1, observed_at: NOW - 5 }], null, "unavailable no_trusted_keys"],
  [
    "signed by another key",
    [{ value: 1, key: KEY_2, observed_at: NOW - 5 }],
    KEYS.slice(0, 1),
    "unavailable unsigned_evidence",
  ],
  ["nothing counted", [{ value: 1 }], KEYS, "unavailable no_evidence"],
];

for (const [what, caller, keys, expected] of SOURCES) {
  Deno.test(`source_authenticity ${what}: ${expected}`, async () => {
    const run = play(oneConditionLaw(SIGNED), TRUSTED, [{ caller, acquired: {} }]);
    const report = await verifyWhole(await packOf(run), { trusted_keys: keys });
    assert.equal(statusesOf(report)["source_authenticity"], expected);
    assert.deepEqual(violations(report), []);
  });
}

Deno.test("source_authenticity signature that does not verify: signature_invalid, as does its qualification", async () => {
  const law = oneConditionLaw(SIGNED);
  const run = play(law, TRUSTED, [{ caller: [{ value: 1, key: KEY_1, observed_at: NOW - 5 }], acquired: {} }]);
  const pack = forge(run, (parts) => {
    parts.records[2].body.evidence[0].signature.signature = KEY_1.sign("something else");
  });
  const statuses = statusesOf(await verifyWhole(pack, { trusted_keys: KEYS }));
  assert.match(statuses["source_authenticity"] ?? "", /^violated signature_invalid: revision 3, item 0$/);
  assert.match(statuses["evidence_use_policy_satisfaction"] ?? "", /^violated/);
});

/**
 * Forged judgements of gate itself on what a provider owes: an item that was signed, called unsigned, so that it passes
 * nothing.
 */
Deno.test("verifyRunpack() an error that a signature refutes: qualification_mismatch", async () => {
  const law = oneConditionLaw();
  const given = { caller: [], acquired: { "scan-1": { value: 1, key: KEY_1, observed_at: NOW - 5 } } };
  const run = play(law, TRUSTED, [given]);
  const pack = forge(run, (parts) => {
    const { body } = parts.records[2];
    const [item] = body.evidence;
    for (const name of ["value_identity", "value_type", "content_hash"]) delete item[name];
    const error = { code: "signature_invalid", message: "Provider has to sign" };
    Object.assign(item, { error, qualified: false });
    Object.assign(body, {
      outcome: "unknown",
      completed: false,
      trace: [{ ...body.trace[0], value: "unknown", reason: "error" }],
    });
    delete body.scenario_trace;
  });
  const statuses = statusesOf(await verifyWhole(pack));
  assert.match(statuses["evidence_use_policy_satisfaction"] ?? "", /^violated qualification_mismatch/);
  assert.equal(statuses["pure_semantic_replay"], "satisfied", "the kernel takes an error as it finds it");
});
