/**
 * Who signed the items that counted in a run, and which sources gave the others, collected while its records are
 * replayed (docs/format/runpack.md "Admission").
 */

import { decodeBase64, encodeBase64 } from "../../canonical/base64.ts";
import { decodeHex } from "../../canonical/hex.ts";
import type { Sha256 } from "../../canonical/identity.ts";
import type { TypedValue } from "../../law/value/types.ts";
import { keysOf } from "../../run/compile.ts";
import type { ProcedureName, RunCreatedBody } from "../../run/types.ts";
import { qualificationOf, requalify } from "./requalify.ts";
import { isValue, type Step } from "./step.ts";

/** A signature of an item that counted. */
export interface CountedSignature {
  readonly key_id: string;
  /** Base64 of the key that signed. */
  readonly public_key: string;
  /** `SHA256:` and the base64 of the SHA-256 over the 32 bytes of the key, without padding. */
  readonly fingerprint: string;
  readonly condition_id: string;
  /** Null where the pack does not hold the value. */
  readonly value: TypedValue | null;
  /** Unix milliseconds that the signer stated. */
  readonly observed_at: number | null;
  /** Whether the condition names who may sign. */
  readonly is_named: boolean;
}

/** A provider of which evidence counted. */
export interface CountedProvider {
  readonly provider_id: string;
  /** The version of a typed provider that the run is bound to; null for any other provider. */
  readonly version_identity: string | null;
}

/** Who a run rests on. */
export interface RunSources {
  /** In the order of the records. */
  readonly signatures: readonly CountedSignature[];
  /** Items that counted without a bound signature. */
  readonly unsigned: number;
  /** Providers in the order of their first item that counted. */
  readonly providers: readonly CountedProvider[];
  /** The procedures of the evaluations, in the order of the records. */
  readonly procedures: readonly ProcedureName[];
}

/** Collects the sources of a run. */
export interface SourceCollector {
  readonly add: (step: Step) => void;
  readonly found: () => RunSources;
}

/** The fingerprint of a key, as `ssh-keygen -l` writes one. */
function fingerprintOf(sha256: Sha256, publicKey: string): string {
  const digest = decodeHex(sha256(decodeBase64(publicKey) ?? new Uint8Array()));
  return `SHA256:${encodeBase64(digest ?? new Uint8Array()).replace(/=+$/, "")}`;
}

/** Creates an empty collector. */
export function collectSources(): SourceCollector {
  const signatures: CountedSignature[] = [];
  const providers = new Map<string, string | null>();
  const procedures = new Set<ProcedureName>();
  let contracts: RunCreatedBody["contracts"] = [];
  let unsigned = 0;
  const add = (step: Step): void => {
    const { record, law, environment: { keys, primitives: { sha256 } }, values } = step;
    if (record.record_kind === "run_created") ({ contracts } = record.body);
    const qualification = qualificationOf(step);
    if (record.record_kind !== "stage_evaluated" || qualification === null) return;
    procedures.add(record.procedure);
    const qualified = requalify(step, qualification)?.evidence ?? [];
    record.body.evidence.forEach(({ qualified: counted, condition_id, provider_id, observed_at, signature }, index) => {
      if (!counted) return;
      if (provider_id !== undefined) {
        const bound = contracts.find((one) => one.provider_id === provider_id);
        providers.set(provider_id, bound?.provider_version_identity ?? null);
      }
      const condition = law.conditionIndex.get(condition_id);
      const key = keysOf(condition, keys).get(signature?.key_id ?? "");
      if (key === undefined || (qualified[index]?.signer ?? null) === null) {
        unsigned++;
        return;
      }
      const value = values.evidence[index] ?? null;
      signatures.push({
        key_id: key.key_id,
        public_key: key.public_key,
        fingerprint: fingerprintOf(sha256, key.public_key),
        condition_id,
        value: isValue(value) ? value : null,
        observed_at: observed_at ?? null,
        is_named: condition?.condition.evidence_use_policy.authorized_key_ids !== undefined,
      });
    });
  };
  const found = (): RunSources => ({
    signatures,
    unsigned,
    providers: [...providers].map(([provider_id, version_identity]) => ({ provider_id, version_identity })),
    procedures: [...procedures],
  });
  return { add, found };
}
