/**
 * Plays runs of one stage with the kernel, with evidence of every kind: items of callers and answers of providers.
 *
 * @module
 */

import assert from "node:assert/strict";
import { canonicalize } from "../../../src/canonical/canonicalize.ts";
import { contentHash, identify } from "../../../src/canonical/identity.ts";
import type { JsonObject, JsonValue } from "../../../src/canonical/json.ts";
import { lawAsJson } from "../../../src/law/normal_form.ts";
import { fitProviderResult } from "../../../src/law/value/typed_value.ts";
import type { Accepted, Command } from "../../../src/run/command.ts";
import type { CompiledLaw } from "../../../src/run/compile.ts";
import { decide } from "../../../src/run/decide/decide.ts";
import type { CallerEvidence, PresentedEvidence } from "../../../src/run/evidence.ts";
import type { OperatorProfile } from "../../../src/run/profile.ts";
import { asJson } from "../../../src/run/primitives.ts";
import { PROCEDURE, type ProcedureName, type RunState } from "../../../src/run/types.ts";
import {
  accepted,
  callerItem,
  createCommand,
  environmentWith,
  evaluateCommand,
  lawOf,
  NOW,
  oneConditionLaw,
  openCommand,
  SHA256,
  stampsAt,
  type TestKey,
} from "../kernel/fixture.ts";
import { type Editable, policy as leastPolicy } from "../kernel/law_specs.ts";
import { acquire, type Answer, CONTRACTS, PROVIDERS, type Scene, signatureOf } from "../pack_vectors/acquired.ts";
import { type PlayedRun, stored } from "../runpack/run.ts";

/** The evidence of one item of a call. */
export interface Said {
  readonly value: JsonValue | { readonly error: string } | null;
  readonly lane?: "verified" | "asserted";
  readonly hash?: "right" | "wrong";
  readonly key?: TestKey;
  /** Signs the bare hash of the value as the source sent it, or of another value, in place of the statement. */
  readonly bare?: boolean | number;
  readonly observed_at?: number;
  readonly anchor?: boolean;
  readonly acquired_at?: number;
  readonly given?: boolean;
  /** The verdict of the schema of the condition's domain. */
  readonly verdict?: "valid" | "invalid";
}

const ANCHOR = { anchor_type: "commit", anchor_value: '{"sha":"abc"}' };

/** The answer of a provider with this evidence. */
function answerOf(
  { value, hash, key, bare, anchor, lane, observed_at, acquired_at = NOW, given = false }: Said,
): Answer {
  const isError = typeof value === "object" && value !== null && "error" in value;
  const over = bare === true
    ? "bare"
    : typeof bare === "number"
    ? { text: canonicalize(asJson(contentHash(SHA256, canonicalize(bare)))) }
    : 0;
  return {
    value: isError ? null : value as JsonValue,
    ...isError ? { error: String((value as JsonObject)["error"]) } : {},
    ...hash === undefined || isError || value === null
      ? {}
      : { hash: hash === "right" ? SHA256(canonicalize(value as JsonValue)) : "0".repeat(64) },
    ...key === undefined ? {} : { signs: [key, over] },
    ...anchor === true ? { anchor: ANCHOR.anchor_value } : {},
    ...lane === undefined ? {} : { lane },
    ...observed_at === undefined ? {} : { observed_at },
    acquired_at,
    given,
  };
}

function callerSays(scene: Scene, said: Said, retention: CallerEvidence["retention"]["retention"]): CallerEvidence {
  const domain = scene.law.conditionIndex.get("c")?.condition.observation_domain ?? assert.fail("no condition");
  // A caller's item outside the domain would be rejected.
  const fitting = [said.value as JsonValue, 4, "4".repeat(64)].flatMap((one) => fitProviderResult(one, domain) ?? []);
  const value = fitting[0] ?? assert.fail("no value of the domain");
  const observed = said.observed_at === undefined ? {} : { observed_at: said.observed_at };
  const anchor = said.anchor === true ? { anchor: ANCHOR } : {};
  const item = { condition_id: "c", retention: { retention }, value, ...observed, ...anchor };
  const value_identity = identify(SHA256, "evidence-value", asJson(value));
  const content_hash = { algorithm: "sha256", value: SHA256(canonicalize(value.value)) };
  const presented = { ...item, value_identity, content_hash };
  const signature = signatureOf(scene, presented as unknown as PresentedEvidence, answerOf(said));
  return signature === null ? item : { ...item, signature };
}

/** The evidence of an evaluation: items of the caller, and acquired items. */
export interface Given {
  readonly caller: readonly Said[];
  readonly acquired: Readonly<Record<string, Said>>;
  /** The caller's value for the condition `branch`, if the law has it. */
  readonly branch?: string;
}

/** A law of {@link oneConditionLaw} whose first stage requires the condition `branch` too: a String, `main`. */
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

/** A run that opens its first stage and evaluates it a number of times. */
export function play(
  law: CompiledLaw,
  profile: Partial<OperatorProfile>,
  evaluations: readonly Given[],
  procedure: ProcedureName = PROCEDURE,
): PlayedRun {
  const environment = { ...environmentWith(profile), procedure };
  const records: PlayedRun["records"][number][] = [];
  let last: Accepted | null = null;
  const take = (command: Command): void => {
    last = accepted(decide(law, last?.state ?? null, command, stampsAt(NOW + records.length), environment));
    records.push(stored(last));
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
    const scene = { law, state: head(), stage_id: "s" };
    if (scene.state.stages.find(({ stage_id }) => stage_id === "s")?.classification !== "open_incomplete") break;
    take(evaluateCommand(records.length + 1, scene.state.head, "s", {
      caller_evidence: [
        ...caller.map((said) => callerSays(scene, said, retention)),
        ...branch === undefined ? [] : [callerItem("branch", { value: branch, value_type: "String" })],
      ],
      schema_verdicts: new Map(caller.flatMap(({ verdict }, index) => verdict === undefined ? [] : [[index, verdict]])),
      acquired: Object.entries(acquired).map(([binding, said]) => acquire(scene, binding, answerOf(said))),
    }));
  }
  const { scenario_law_identity, graph_identity } = law;
  const { scenario_id, namespace_id } = law.law;
  const artifacts = [
    {
      kind: "operator-profile",
      identity: environment.profile_identity,
      body: canonicalize(asJson(environment.profile)),
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
