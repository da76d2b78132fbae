/**
 * Items as an acquisition presents them, from what a provider answers.
 *
 * @module
 */

import { canonicalize } from "../../../src/canonical/canonicalize.ts";
import { identify } from "../../../src/canonical/identity.ts";
import type { JsonValue } from "../../../src/canonical/json.ts";
import { measureValue, presentAnswer } from "../../../src/evidence/acquisition/present.ts";
import type { EvidenceResult, LoadedContract } from "../../../src/evidence/types.ts";
import { COMPARATORS } from "../../../src/law/value/predicates.ts";
import type { CompiledLaw } from "../../../src/run/compile.ts";
import type { PresentedEvidence } from "../../../src/run/evidence.ts";
import { asJson } from "../../../src/run/primitives.ts";
import { statementTexts } from "../../../src/run/statement.ts";
import type { EvidenceSignature, RunState } from "../../../src/run/types.ts";
import { NOW, SHA256, type TestKey } from "../kernel/fixture.ts";

/** The providers of the vectors, in order. */
export const PROVIDERS = ["env", "http", "ledger", "scanner", "time"];

/** When providers answer unless they say otherwise. */
const ACQUIRED_AT = NOW - 10;

/** A contract of a provider with the one check of the law. */
function contractOf(provider_id: string): JsonValue {
  return {
    provider_id,
    name: provider_id,
    description: "",
    transport: ["ledger", "scanner"].includes(provider_id) ? "mcp" : "builtin",
    config_schema: {},
    checks: [{
      check_id: "read",
      description: "",
      determinism: "external",
      params_required: false,
      params_schema: true,
      result_schema: {},
      allowed_comparators: COMPARATORS,
      anchor_types: ["commit"],
      content_types: ["application/json"],
      examples: [],
    }],
    notes: [],
  };
}

function loadedContract(provider_id: string): LoadedContract {
  const contract = contractOf(provider_id);
  const text = canonicalize(contract);
  return {
    contract: contract as unknown as LoadedContract["contract"],
    contract_identity: identify(SHA256, "contract", contract),
    contract_hash: { algorithm: "sha256", value: SHA256(text) },
    source: "file",
    text,
  };
}

/** The contracts by provider. */
export const CONTRACTS = new Map(PROVIDERS.map((provider) => [provider, loadedContract(provider)]));

/** What a provider answers. */
export interface Answer {
  /** Null: it found nothing. */
  readonly value: JsonValue;
  readonly error?: string;
  /** What its signature covers: the statement in one of its four forms, the bare hash of what the source gave, or another text. */
  readonly signs?: readonly [TestKey, 0 | 1 | 2 | 3 | "bare" | { readonly text: string }];
  readonly anchor?: string;
  readonly acquired_at?: number;
  readonly observed_at?: number;
  readonly hash?: string;
  readonly lane?: "verified" | "asserted";
  /** Whether the caller named the trigger time. */
  readonly given?: boolean;
  readonly schema_verdict?: "valid" | "invalid";
}

/** Where an item is acquired. */
export interface Scene {
  readonly law: CompiledLaw;
  readonly state: RunState;
  readonly stage_id: string;
}

/** The signature that an answer asks for; null where it asks for none. */
export function signatureOf(
  { law, state, stage_id }: Scene,
  item: PresentedEvidence,
  { signs }: Answer,
): EvidenceSignature | null {
  if (signs === undefined) return null;
  const [key, over] = signs;
  const scope = { run_id: state.run_key.run_id, stage_id, expected_head: state.head };
  const said = item.acquisition?.provider_result as { value?: { content_hash?: JsonValue } } | undefined;
  const bare = canonicalize(said?.value?.content_hash ?? asJson(item.content_hash ?? {}));
  const text = over === "bare"
    ? bare
    : typeof over === "object"
    ? over.text
    : statementTexts(law, scope, item)[over] ?? bare;
  return { scheme: "ed25519", key_id: key.key_id, signature: key.sign(text) };
}

/** An item as an acquisition presents it. */
export function acquire(scene: Scene, binding_id: string, answer: Answer): PresentedEvidence {
  const binding = scene.law.bindingIndex.get(binding_id);
  const condition = scene.law.conditionIndex.get(binding?.condition_id ?? "");
  const loaded = CONTRACTS.get(binding?.provider_id ?? "");
  if (binding === undefined || condition === undefined || loaded === undefined) throw new TypeError(binding_id);
  const { value, acquired_at = ACQUIRED_AT, observed_at, hash, lane = "verified", schema_verdict } = answer;
  const error = answer.error === undefined ? null : { code: answer.error, message: "Cannot read" };
  const found = value === null || error !== null ? null : { kind: "json", value } as const;
  const measured = found === null ? null : measureValue(found);
  const present = (signature: EvidenceSignature | null): PresentedEvidence => {
    const result: EvidenceResult = {
      value: found,
      lane,
      error,
      evidence_hash: hash === undefined ? null : { algorithm: "sha256", value: hash },
      evidence_ref: null,
      evidence_anchor: answer.anchor === undefined ? null : { anchor_type: "commit", anchor_value: answer.anchor },
      signature,
      content_type: found === null ? null : "application/json",
      ...observed_at === undefined ? {} : { observed_at },
    };
    const trigger_time = { kind: "unix_millis", value: NOW } as const;
    const selected = { binding, ...answer.given === true ? { trigger_time } : {} };
    const answered = { ok: true, result, acquired_at, grant: {} } as const;
    const resolved = scene.law.resolvedBindings.has(binding_id);
    const item = presentAnswer({ selected, trigger_time, condition, loaded, resolved }, answered, measured, error);
    return schema_verdict === undefined ? item : { ...item, schema_verdict };
  };
  return present(signatureOf(scene, present(null), answer));
}
