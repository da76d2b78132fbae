/**
 * Runs of one stage that are played by the kernel, with evidence of every kind: what callers say, and what providers answer.
 *
 * @module
 */

import assert from "node:assert/strict";
import { canonicalize } from "../../src/canonical/canonicalize.ts";
import { contentHash, identify } from "../../src/canonical/identity.ts";
import type { JsonObject, JsonValue } from "../../src/canonical/json.ts";
import { measureValue, presentAnswer } from "../../src/evidence/acquisition/present.ts";
import type { EvidenceResult, LoadedContract, ProviderContract } from "../../src/evidence/types.ts";
import { lawAsJson } from "../../src/law/normal_form.ts";
import { fitProviderResult } from "../../src/law/value/typed_value.ts";
import type { Accepted, Command } from "../../src/run/command.ts";
import type { CompiledLaw } from "../../src/run/compile.ts";
import { decide } from "../../src/run/decide.ts";
import type { CallerEvidence, PresentedEvidence } from "../../src/run/evidence.ts";
import type { OperatorProfile } from "../../src/run/profile.ts";
import { asJson } from "../../src/run/primitives.ts";
import { statementTexts } from "../../src/run/statement.ts";
import {
  type ContentHash,
  type EvidenceSignature,
  PROCEDURE,
  type ProcedureName,
  type RunState,
} from "../../src/run/types.ts";
import {
  accepted,
  callerItem,
  createCommand,
  evaluateCommand,
  lawOf,
  NOW,
  oneConditionLaw,
  openCommand,
  SHA256,
  stampsAt,
  surroundingsWith,
  type TestKey,
} from "./kernel_fixture.ts";
import { type Editable, policy as leastPolicy } from "./law_specs.ts";
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
      allowed_comparators: ["equals", "exists", "less_than", "not_exists"],
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

/** Contracts by provider. */
const CONTRACTS = new Map(PROVIDERS.map((provider) => [provider, loadedContract(provider)]));

/** What one item of a call says. */
export interface Said {
  readonly value: JsonValue | { readonly error: string } | null;
  readonly lane?: "verified" | "asserted";
  readonly hash?: "right" | "wrong";
  readonly key?: TestKey;
  /** Signs the bare hash of the value as the source gives it, or of another value, not the statement. */
  readonly bare?: boolean | number;
  readonly observed_at?: number;
  readonly anchor?: boolean;
  readonly acquired_at?: number;
  readonly given?: boolean;
  /** The verdict of the schema of the condition's domain. */
  readonly verdict?: "valid" | "invalid";
}

const ANCHOR = { anchor_type: "commit", anchor_value: '{"sha":"abc"}' };

interface Scene {
  readonly law: CompiledLaw;
  readonly state: RunState;
}

function signatureOf(
  { law, state }: Scene,
  item: PresentedEvidence,
  { key, bare }: Said,
  given: ContentHash | undefined = item.content_hash,
): EvidenceSignature | null {
  if (key === undefined) return null;
  const scope = { run_id: state.run_key.run_id, stage_id: "s", expected_head: state.head };
  const [statement] = statementTexts(law, scope, item);
  const hash = typeof bare === "number" ? contentHash(SHA256, canonicalize(bare)) : given ?? {};
  const isBare = bare !== undefined && bare !== false || statement === undefined;
  const text = isBare ? canonicalize(asJson(hash)) : statement;
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
  return present(signatureOf(scene, present(null), said, measured?.content_hash));
}

function callerSays(scene: Scene, said: Said, retention: CallerEvidence["retention"]["retention"]): CallerEvidence {
  const domain = scene.law.conditionIndex.get("c")?.condition.observation_domain ?? assert.fail("no condition");
  // A caller says something of the domain, or is rejected.
  const fitting = [said.value as JsonValue, 4, "4".repeat(64)].flatMap((one) => fitProviderResult(one, domain) ?? []);
  const value = fitting[0] ?? assert.fail("no value of the domain");
  const observed = said.observed_at === undefined ? {} : { observed_at: said.observed_at };
  const anchor = said.anchor === true ? { anchor: ANCHOR } : {};
  const item = { condition_id: "c", retention: { retention }, value, ...observed, ...anchor };
  const value_identity = identify(SHA256, "evidence-value", asJson(value));
  const content_hash = { algorithm: "sha256", value: SHA256(canonicalize(value.value)) };
  const presented = { ...item, value_identity, content_hash };
  const signature = signatureOf(scene, presented as unknown as PresentedEvidence, said);
  return signature === null ? item : { ...item, signature };
}

/** What an evaluation is given: items of the caller, and what bindings acquired. */
export interface Given {
  readonly caller: readonly Said[];
  readonly acquired: Readonly<Record<string, Said>>;
  /** What the caller says of the condition `branch`, where the law has it. */
  readonly branch?: string;
}

/** A law of {@link oneConditionLaw} whose first stage asks for the condition `branch` too: a String, `main`. */
export function twoConditionLaw(...[policy, changes]: Parameters<typeof oneConditionLaw>): CompiledLaw {
  const spec = structuredClone(lawAsJson(oneConditionLaw(policy, changes).law)) as Editable;
  spec.conditions.push({
    condition_id: "branch",
    observation_domain: { domain: "String", minimum_bytes: 0, maximum_bytes: 64 },
    predicate: { predicate: "Equals", expected: { value: "main", value_type: "String" } },
    evidence_use_policy: leastPolicy(),
  });
  spec.stages[0].completion_requirement = { And: [{ Condition: "c" }, { Condition: "branch" }] };
  return lawOf(spec);
}

/** A run that is created, opens its first stage, and evaluates it so often. */
export function play(
  law: CompiledLaw,
  profile: Partial<OperatorProfile>,
  evaluations: readonly Given[],
  procedure: ProcedureName = PROCEDURE,
): PlayedRun {
  const surroundings = { ...surroundingsWith(profile), procedure };
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
  for (const { caller, acquired, branch } of evaluations) {
    const scene = { law, state: head() };
    if (scene.state.stages.find(({ stage_id }) => stage_id === "s")?.classification !== "open_incomplete") break;
    take(evaluateCommand(records.length + 1, scene.state.head, "s", {
      caller_evidence: [
        ...caller.map((said) => callerSays(scene, said, retention)),
        ...branch === undefined ? [] : [callerItem("branch", { value: branch, value_type: "String" })],
      ],
      schema_verdicts: new Map(caller.flatMap(({ verdict }, index) => verdict === undefined ? [] : [[index, verdict]])),
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
