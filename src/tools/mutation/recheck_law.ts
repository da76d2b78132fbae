/**
 * Checks a law against the contracts that a new run is bound to. A contract may have changed since the law was defined, and a
 * runpack proves the law under the bound ones.
 *
 * @module
 */

import type { Identity } from "../../canonical/identity.ts";
import type { JsonObject } from "../../canonical/json.ts";
import type { LoadedContract } from "../../evidence/types.ts";
import { recheckBindings } from "../../law/law.ts";
import { lawAsJson } from "../../law/normal_form.ts";
import type { CompiledLaw } from "../../run/compile.ts";
import { asJson } from "../../run/primitives.ts";
import { DomainError, faultsSentence } from "../framework/errors.ts";
import { knownChecks } from "../services/known_checks.ts";
import type { Services } from "../services/services.ts";

/** The contracts that each law was checked against last, as their identities by provider. */
const checked = new WeakMap<CompiledLaw, string>();

/**
 * Checks every binding of a law whose provider has a contract.
 *
 * @param loaded The contracts, by provider; the run acquires nothing from a provider without one
 * @throws {DomainError} `law_contract_mismatch`
 * @throws {SchemaSandboxError} Where a schema of params gave no verdict
 */
export async function recheckLaw(
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
