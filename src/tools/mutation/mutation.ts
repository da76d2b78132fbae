/**
 * How one operation changes a run: receipt first, then the pure decision at the exact head, then one append. The answer
 * follows the commit (docs/format/records.md).
 */

import type { Identity } from "../../canonical/identity.ts";
import type { JsonObject } from "../../canonical/json.ts";
import { type Decision, type Request, runKeyOf, type Stamps } from "../../run/command.ts";
import type { CompiledLaw } from "../../run/compile.ts";
import { invocationIdentity } from "../../run/invocation.ts";
import type { OperationFamily, RunKey, RunState, TimeSource } from "../../run/types.ts";
import { noTimeStamp } from "../framework/errors.ts";
import type { Call } from "../framework/types.ts";
import { mutationKey } from "../services/keyed_lock.ts";
import type { Services } from "../services/services.ts";
import { appendDecided, isAccepted } from "./append_decided.ts";
import { admissionKind, attributionOf } from "./attribution.ts";
import { fromReceipt, type Outcome, runArchived, runNotFound } from "./outcome.ts";

/** The arguments that name a run. */
export interface NamedRun extends RunKey {
  readonly scenario_id: string;
}

/** A mutation of a run, up to its decision. */
export interface Mutation {
  readonly tool: string;
  readonly family: OperationFamily;
  /** The arguments as sent. */
  readonly raw: JsonObject;
  /** The same, decoded. */
  readonly input: NamedRun & { readonly operation_id: string };
  /** Decides at a state, after fetching what it needs. `mint` gives the stamps and is called after that. */
  readonly decide: (
    law: CompiledLaw,
    state: RunState,
    request: Request,
    mint: () => Stamps,
  ) => Promise<Decision> | Decision;
}

/**
 * The stamps of a decision. The time authority is read once, when the decision first reads its stamp: a refusal that
 * needs no stamp does not depend on the authority.
 *
 * @throws {DomainError} `authority_unavailable`: when the stamp is read and the authority has none
 */
export function mintStamps(services: Pick<Services, "time">): Stamps {
  let minted: TimeSource | null = null;
  return {
    get time(): TimeSource {
      minted ??= services.time.read();
      if (minted === null) throw noTimeStamp();
      return minted;
    },
  };
}

async function findReceipt(
  { runs }: Services,
  { input: { namespace_id, run_id, operation_id }, family }: Mutation,
  invocation: Identity,
): Promise<Outcome | null> {
  const receipt = await runs.receipts.get(runKeyOf(namespace_id, run_id), { family, identity: operation_id });
  return receipt === null ? null : fromReceipt(receipt, invocation);
}

/**
 * Executes a mutation. The same operation identity with the same invocation returns the original answer, byte for byte,
 * at any later head.
 *
 * @throws {DomainError} `authority_unavailable`: where the time authority has no stamp
 * @throws {StoreError} Where the store fails; then nothing was changed
 */
export async function runMutation(services: Services, mutation: Mutation, call: Call): Promise<Outcome> {
  const { tool, family, raw, input: { namespace_id, run_id, scenario_id, operation_id } } = mutation;
  const run_key = runKeyOf(namespace_id, run_id);
  const invocation = invocationIdentity(services.environment.primitives.sha256, tool, raw);
  using _lock = await services.operationLock.acquire(mutationKey(namespace_id, run_id, family, operation_id));
  const run = await services.projections.load(run_key);
  if (run === null || run.state.scenario_id !== scenario_id) return runNotFound(run_key);
  const archived = family === "submit" ? run.archived : undefined;
  // An evaluation queries providers before it decides. The others decide first, since an append finds an existing
  // operation itself. Before they refuse, they read the receipt too.
  if (family === "evaluate_stage" || archived !== undefined) {
    const original = await findReceipt(services, mutation, invocation);
    if (original !== null) return original;
  }
  if (archived !== undefined) return runArchived(archived);
  const request: Request = {
    operation_id,
    invocation_identity: invocation,
    attribution: attributionOf(services, call, tool, namespace_id, raw),
    admission_kind: admissionKind(call),
  };
  const decision = await mutation.decide(run.law, run.state, request, () => mintStamps(services));
  if (!isAccepted(decision)) return await findReceipt(services, mutation, invocation) ?? decision;
  // The decision accepts only where the caller's expected head is this state's head.
  const appended = await appendDecided(services, {
    law: run.law,
    expectedHead: run.state.head,
    decisions: [decision],
    state: decision.state,
  });
  if ("receipt" in appended) return fromReceipt(appended.receipt, invocation);
  if ("outcome" in appended) return appended;
  return { outcome: "accepted", result: decision.result, resultText: appended.records[0]?.receipt.result };
}
