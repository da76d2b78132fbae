/** The evidence statement, which a signature over evidence signs (docs/format/evidence_statement.md). */

import { decodeBase64 } from "../canonical/base64.ts";
import { canonicalize } from "../canonical/canonicalize.ts";
import type { Identity } from "../canonical/identity.ts";
import type { JsonValue } from "../canonical/json.ts";
import type { CompiledLaw } from "./compile.ts";
import type { PresentedEvidence } from "./evidence.ts";
import type { Primitives } from "./primitives.ts";
import { asJson } from "./primitives.ts";
import type { TrustedKey } from "./profile.ts";
import type { Head } from "./types.ts";

/** The member `statement` of every statement. */
export const STATEMENT = "gate.evidence/v1";

/** The attempt that a statement is compared with. */
export interface AttemptScope {
  readonly run_id: string;
  readonly stage_id: string;
  readonly expected_head: Head;
}

/** The part of a law that a statement names. */
export interface StatementLaw {
  readonly law: { readonly namespace_id: number };
  readonly scenario_law_identity: Identity;
  readonly bindingIndex: CompiledLaw["bindingIndex"];
}

function statementBase(law: StatementLaw, scope: AttemptScope, item: PresentedEvidence): Record<string, JsonValue> {
  const statement: Record<string, JsonValue> = {
    statement: STATEMENT,
    namespace_id: law.law.namespace_id,
    scenario_law_identity: law.scenario_law_identity,
    run_id: scope.run_id,
    stage_id: scope.stage_id,
    condition_id: item.condition_id,
    observed_at: item.observed_at ?? null,
    value_identity: item.value_identity ?? null,
  };
  if (item.acquisition !== undefined) {
    statement["provider_id"] = item.acquisition.provider_id;
    statement["check_id"] = item.acquisition.check_id;
    const params = law.bindingIndex.get(item.acquisition.binding_id)?.params;
    if (params !== undefined) statement["params"] = params;
  }
  return statement;
}

/**
 * The canonical texts that a signature of an item may sign: with and without the optional members `head` and
 * `content_hash`. Those at even indexes have the head. Empty without `observed_at` or a value, which every statement
 * has.
 */
export function statementTexts(law: StatementLaw, scope: AttemptScope, item: PresentedEvidence): string[] {
  if (item.observed_at === undefined || item.value_identity === undefined) return [];
  const base = statementBase(law, scope, item);
  const head = asJson(scope.expected_head);
  const texts = [canonicalize({ ...base, head }), canonicalize(base)];
  if (item.content_hash !== undefined) {
    const content_hash = asJson(item.content_hash);
    texts.push(canonicalize({ ...base, head, content_hash }), canonicalize({ ...base, content_hash }));
  }
  return texts;
}

/** Whether an item has a signature of a trusted key over a statement of exactly this attempt. */
export function hasBoundSignature(
  primitives: Primitives,
  keys: ReadonlyMap<string, TrustedKey>,
  law: StatementLaw,
  scope: AttemptScope,
  item: PresentedEvidence,
): boolean {
  return hasSigned(primitives, keys, item, statementTexts(law, scope, item));
}

/**
 * Whether an item has a signature of a trusted key over a statement that names the head. The head follows from all
 * records before it, the parameters of the run included.
 */
export function hasHeadSignature(
  primitives: Primitives,
  keys: ReadonlyMap<string, TrustedKey>,
  law: StatementLaw,
  scope: AttemptScope,
  item: PresentedEvidence,
): boolean {
  return hasSigned(primitives, keys, item, statementTexts(law, scope, item).filter((_, index) => index % 2 === 0));
}

function hasSigned(
  primitives: Primitives,
  keys: ReadonlyMap<string, TrustedKey>,
  { signature: given }: PresentedEvidence,
  texts: readonly string[],
): boolean {
  if (given === undefined) return false;
  const key = keys.get(given.key_id);
  const publicKey = key === undefined ? null : decodeBase64(key.public_key);
  const signature = decodeBase64(given.signature);
  if (publicKey?.length !== 32 || signature?.length !== 64) return false;
  return texts.some((text) => primitives.verifyEd25519(publicKey, text, signature));
}
