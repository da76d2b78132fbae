/**
 * How a run is changed: receipt first, then the pure decision at the exact head, then one append, and the answer after its
 * commit (docs/format/records.md).
 *
 * @module
 */

import { canonicalize } from "../../canonical/canonicalize.ts";
import type { Identity } from "../../canonical/identity.ts";
import type { JsonObject } from "../../canonical/json.ts";
import { readJson } from "../../canonical/scan.ts";
import type { Decision, Request, Stamps } from "../../run/command.ts";
import type { CompiledLaw } from "../../run/compile.ts";
import { invocationIdentity } from "../../run/invocation.ts";
import { asJson } from "../../run/primitives.ts";
import type { Head, OperationFamily, RunKey, RunState, TimeSource } from "../../run/types.ts";
import type { Artifact, Receipt, StoredRecord } from "../../store/types.ts";
import { admissionKind, attributionOf } from "./attribution.ts";
import { mutationName } from "../services/keyed_lock.ts";
import type { Services } from "../services/services.ts";
import type { Call } from "../framework/types.ts";

/** What became of a mutation: an outcome of docs/guide/agent_playbook.md with its result. */
export interface Outcome {
  readonly outcome: string;
  readonly result: JsonObject;
  /** JSON text of `result` where it exists already. */
  readonly resultText?: string;
}

/** No stamp could be had: nothing was decided, the same call may succeed later. */
export class AuthorityUnavailable extends Error {
  /** Names the authority. */
  constructor(authority: string) {
    super(`Cannot decide: the ${authority} authority gives no stamp`);
    this.name = "AuthorityUnavailable";
  }
}

/** A mutation of a run, up to its decision. */
export interface Mutation {
  readonly tool: string;
  readonly family: OperationFamily;
  /** Decoded arguments, as sent. */
  readonly input: JsonObject;
  readonly run_key: RunKey;
  readonly scenario_id: string;
  readonly operation_id: string;
  /**
   * Whether the receipt is looked for before anything is decided: for decisions that reach outside. The others decide
   * first, which costs nothing, since an append looks at operation identities itself, and a refusal is only told once
   * there is no receipt.
   */
  readonly receiptBeforeDecision: boolean;
  /**
   * The decision at a state. What it needs of the outside world, it fetches itself; the stamps are minted after that, by `mint`.
   */
  readonly decide: (
    law: CompiledLaw,
    state: RunState,
    request: Request,
    mint: () => Stamps,
  ) => Promise<Decision> | Decision;
}

/** The stored form of a decision's records, each with the receipt it leaves. */
export function storedRecords(
  decision: Extract<Decision, { outcome: "accepted" }>,
  resultText: string,
): StoredRecord[] {
  return decision.records.map(({ record, record_id, text, material }) => ({
    revision: record.revision,
    record_id,
    record: text,
    material,
    receipt: {
      operation: record.operation,
      invocation_identity: record.invocation_identity,
      result: resultText,
    },
  }));
}

/** The operator profiles that a decision of this process may have read, as artifacts, but those that it has stored already. */
export function profileArtifacts(services: Services): Artifact[] {
  return services.profiles.flatMap(({ profile, profile_identity }) =>
    services.storedArtifacts.has(profile_identity)
      ? []
      : [{ kind: "operator-profile", identity: profile_identity, body: canonicalize(asJson(profile)) }]
  );
}

/** Remembers artifacts as stored, once their append is accepted. */
export function rememberArtifacts(services: Services, artifacts: readonly Artifact[]): void {
  for (const { identity } of artifacts) services.storedArtifacts.add(identity);
}

/** Whether a decision has records. */
export function isAccepted(decision: Decision): decision is Extract<Decision, { outcome: "accepted" }> {
  return decision.records.length > 0;
}

/** The original answer of a receipt, or the conflict where another invocation used the operation identity. */
export function fromReceipt(receipt: Receipt, invocation: Identity): Outcome {
  if (receipt.invocation_identity === invocation) {
    return { outcome: "accepted", result: readJson(receipt.result) as JsonObject, resultText: receipt.result };
  }
  return {
    outcome: "operation_conflict",
    result: asJson({
      operation_id: receipt.operation,
      invocation_identity: invocation,
      accepted_invocation_identity: receipt.invocation_identity,
    }) as JsonObject,
  };
}

/**
 * The stamps of a decision. An authority is asked when the decision first reads its stamp, and once: what is refused
 * without one is told whether or not a stamp can be had.
 *
 * @throws {AuthorityUnavailable} From the reading, where no stamp can be had.
 */
export function mintStamps(services: Pick<Services, "time">): Stamps {
  let minted: TimeSource | null = null;
  return {
    get time(): TimeSource {
      minted ??= services.time.read();
      if (minted === null) throw new AuthorityUnavailable("time");
      return minted;
    },
  };
}

/** The outcome for a run that is not there. */
export function runNotFound({ namespace_id, run_id }: RunKey): Outcome {
  return { outcome: "run_not_found", result: { namespace_id, run_id } };
}

/** The outcome for a head that is not the current one, which is its result. */
export function stale({ record_id, revision }: Head): Outcome {
  return { outcome: "stale", result: { record_id, revision } };
}

async function append(
  services: Services,
  mutation: Mutation,
  law: CompiledLaw,
  expectedHead: Head,
  decision: Extract<Decision, { outcome: "accepted" }>,
  invocation: Identity,
): Promise<Outcome> {
  const resultText = JSON.stringify(decision.result);
  const artifacts = profileArtifacts(services);
  const appended = await services.runs.append({
    run_key: mutation.run_key,
    scenario_id: law.law.scenario_id,
    scenario_law_identity: law.scenario_law_identity,
    expected_head: expectedHead,
    records: storedRecords(decision, resultText),
    artifacts,
  });
  switch (appended.outcome) {
    case "accepted":
      rememberArtifacts(services, artifacts);
      services.projections.advance(law, decision.state);
      return { outcome: "accepted", result: decision.result, resultText };
    case "operation_exists":
      return fromReceipt(appended.receipt, invocation);
    case "stale":
    case "run_exists":
      return stale(appended.head);
    case "run_not_found":
      return runNotFound(mutation.run_key);
  }
}

async function findReceipt(services: Services, mutation: Mutation, invocation: Identity): Promise<Outcome | null> {
  const { run_key, operation_id, family } = mutation;
  const receipt = await services.runs.getReceipt(run_key, { family, identity: operation_id });
  return receipt === null ? null : fromReceipt(receipt, invocation);
}

async function execute(services: Services, mutation: Mutation, call: Call, invocation: Identity): Promise<Outcome> {
  const { run_key } = mutation;
  const run = await services.projections.load(run_key);
  if (run === null || run.state.scenario_id !== mutation.scenario_id) return runNotFound(run_key);
  if (mutation.receiptBeforeDecision) {
    const original = await findReceipt(services, mutation, invocation);
    if (original !== null) return original;
  }
  const request: Request = {
    operation_id: mutation.operation_id,
    invocation_identity: invocation,
    attribution: attributionOf(services, call, mutation.tool, run_key.namespace_id),
    admission_kind: admissionKind(call),
  };
  const decision = await mutation.decide(run.law, run.state, request, () => mintStamps(services));
  if (!isAccepted(decision)) return await findReceipt(services, mutation, invocation) ?? decision;
  return await append(services, mutation, run.law, run.state.head, decision, invocation);
}

/**
 * Executes a mutation. The same operation identity with the same invocation gives the original answer, byte for byte,
 * whatever the head is now.
 *
 * @throws {AuthorityUnavailable} Where no stamp could be had.
 * @throws {StoreError} Where the store refuses; nothing was changed then.
 */
export function runMutation(services: Services, mutation: Mutation, call: Call): Promise<Outcome> {
  const { namespace_id, run_id } = mutation.run_key;
  const invocation = invocationIdentity(services.surroundings.primitives.sha256, mutation.tool, mutation.input);
  const name = mutationName(namespace_id, run_id, mutation.family, mutation.operation_id);
  return services.inFlight.run(name, () => execute(services, mutation, call, invocation));
}
