/**
 * Creates runs. The receipt, by namespace and creation request, comes first; the identity authority allocates the run
 * id.
 */

import { canonicalize } from "../../canonical/canonicalize.ts";
import type { Identity } from "../../canonical/identity.ts";
import type { JsonObject } from "../../canonical/json.ts";
import type { CreateCommand } from "../../run/command.ts";
import type { CompiledLaw } from "../../run/compile.ts";
import { decide } from "../../run/decide/decide.ts";
import { asJson } from "../../run/primitives.ts";
import { refusal } from "../../run/refusal.ts";
import { invocationIdentity } from "../../run/invocation.ts";
import type { Artifact, Receipt } from "../../store/types.ts";
import { admissionKind, attributionOf } from "./attribution.ts";
import { contractsOf } from "./bound_run.ts";
import { bindGenesis } from "./run_parameters.ts";
import { registeredSchemas } from "./schema_verdicts.ts";
import { creationKey } from "../services/keyed_lock.ts";
import { schemasNamed } from "../services/prove_spec.ts";
import { appendDecided, isAccepted } from "./append_decided.ts";
import { fromReceipt, type Outcome } from "./outcome.ts";
import type { Services } from "../services/services.ts";
import type { Call } from "../framework/types.ts";
import type { LoadedContract } from "../../evidence/types.ts";
import { recheckBindings } from "../../law/law.ts";
import { lawAsJson } from "../../law/normal_form.ts";
import { DomainError, faultsSentence } from "../framework/errors.ts";
import { knownChecks } from "../services/known_checks.ts";

/** The contracts that each law was checked against last, as their identities by provider. */
const checked = new WeakMap<CompiledLaw, string>();

/**
 * Checks every binding of a law whose provider has a contract.
 *
 * @param loaded The contracts, by provider; the run acquires nothing from a provider without one
 * @throws {DomainError} `law_contract_mismatch`
 * @throws {SchemaSandboxError} Where a schema of params gave no verdict
 */
async function recheckLaw(
  services: Pick<Services, "schemaSandbox">,
  law: CompiledLaw,
  loaded: ReadonlyMap<string, LoadedContract>,
): Promise<void> {
  if (loaded.size === 0) return;
  const identities = [...loaded].map(([id, { contract_identity }]): [string, Identity] => [id, contract_identity]);
  const contracts = JSON.stringify(identities);
  if (checked.get(law) === contracts) return;
  const findCheck = await knownChecks(services, lawAsJson(law.law) as JsonObject, (provider_id) => {
    const contract = loaded.get(provider_id);
    return Promise.resolve(contract === undefined ? null : { provider_id, loaded: contract });
  });
  const refusals = recheckBindings(law.law, findCheck).filter(({ code }) => code !== "provider_not_found");
  if (refusals.length > 0) throw mismatch(law, refusals);
  checked.set(law, contracts);
}

function mismatch({ law }: CompiledLaw, refusals: ReturnType<typeof recheckBindings>): DomainError {
  const message = faultsSentence("Cannot start run: the law does not fit a contract of now", refusals);
  const { namespace_id, scenario_id } = law;
  return new DomainError("law_contract_mismatch", message, { namespace_id, scenario_id, refusals: asJson(refusals) });
}

/** Attempts to allocate a run id that does not exist yet. With 128 bits the first attempt is expected to succeed. */
const ALLOCATION_ATTEMPTS = 4;

/** A decoded creation. */
export interface Creation {
  readonly tool: string;
  readonly input: JsonObject;
  readonly namespace_id: number;
  readonly scenario_id: string;
  readonly scenario_law_identity: Identity;
  readonly creation_request_id: string;
  readonly correlation: CreateCommand["correlation"];
  readonly genesis: CreateCommand["genesis"];
}

function fromCreationReceipt(receipt: Receipt, invocation: Identity): Outcome {
  const original = fromReceipt(receipt, invocation);
  if (original.outcome === "accepted") return original;
  return {
    outcome: "creation_conflict",
    result: {
      creation_request_id: receipt.operation.identity,
      invocation_identity: invocation,
      accepted_invocation_identity: receipt.invocation_identity,
    },
  };
}

/** The schemas of a law's conditions, bound by identity and stored for replay. */
async function schemasOf(
  services: Services,
  { law }: CompiledLaw,
): Promise<{ schemas: CreateCommand["schemas"]; artifacts: Artifact[] }> {
  const find = registeredSchemas(services, law.namespace_id);
  const artifacts: Artifact[] = [];
  const schemas: CreateCommand["schemas"][number][] = [];
  for (const named of schemasNamed(asJson(law) as JsonObject).values()) {
    const { identity, document } = await find(named);
    schemas.push({ ...named, schema_identity: identity });
    artifacts.push({ kind: "schema", identity, body: canonicalize(document) });
  }
  return { schemas, artifacts };
}

async function findLaw(services: Services, creation: Creation): Promise<CompiledLaw | Outcome> {
  const { namespace_id, scenario_id, scenario_law_identity } = creation;
  const law = await services.projections.law(namespace_id, scenario_law_identity);
  if (law?.law.scenario_id === scenario_id) return law;
  if (!await services.runs.laws.hasScenario(namespace_id, scenario_id)) {
    return { outcome: "scenario_not_found", result: { namespace_id, scenario_id } };
  }
  return { outcome: "law_not_found", result: { namespace_id, scenario_id, scenario_law_identity } };
}

/**
 * Executes a creation; a repetition of an accepted one returns the exact original result.
 *
 * @throws {StoreError} Where the store fails; then nothing was changed
 * @throws {DomainError} `authority_unavailable`: where the keys of people cannot be read
 */
export async function createRun(services: Services, creation: Creation, call: Call): Promise<Outcome> {
  const { namespace_id, creation_request_id } = creation;
  const invocation = invocationIdentity(services.environment.primitives.sha256, creation.tool, creation.input);
  using _lock = await services.operationLock.acquire(creationKey(namespace_id, creation_request_id));
  const receipt = await services.runs.receipts.ofCreation(namespace_id, creation_request_id);
  if (receipt !== null) return fromCreationReceipt(receipt, invocation);
  const law = await findLaw(services, creation);
  if ("outcome" in law) return law;
  const { contracts, artifacts: contractArtifacts, loaded } = await contractsOf(services, law);
  await recheckLaw(services, law, loaded);
  await services.refreshPeople();
  const bound = await bindGenesis(services, law, creation.genesis, (provider) => loaded.get(provider));
  if (!bound.ok) return refusal("genesis_rejected", { faults: bound.faults });
  const { schemas, artifacts: schemaArtifacts } = await schemasOf(services, law);
  const artifacts = [...schemaArtifacts, ...contractArtifacts];
  for (let attempt = 0; attempt < ALLOCATION_ATTEMPTS; attempt++) {
    const allocation = services.runIds.allocate();
    const time = services.time.read();
    if (allocation === null || time === null) {
      const authority = allocation === null ? "run_id" : "time";
      return { outcome: "authority_unavailable", result: { authority, retryable: true } };
    }
    const decision = decide(
      law,
      null,
      {
        kind: "create",
        operation_id: creation_request_id,
        invocation_identity: invocation,
        attribution: attributionOf(services, call, creation.tool, namespace_id, creation.input),
        admission_kind: admissionKind(call),
        correlation: creation.correlation,
        genesis: creation.genesis,
        allocation,
        contracts,
        schemas,
      },
      { time },
      services.environment,
    );
    if (!isAccepted(decision)) return decision;
    const { state, result } = decision;
    const appended = await appendDecided(services, {
      law: bound.law,
      expectedHead: null,
      decisions: [decision],
      state,
      artifacts,
    });
    if ("receipt" in appended) return fromCreationReceipt(appended.receipt, invocation);
    if ("records" in appended) {
      return { outcome: "accepted", result, resultText: appended.records[0]?.receipt.result };
    }
  }
  return { outcome: "authority_unavailable", result: { authority: "run_id", retryable: true } };
}
