/**
 * Loads the version of a typed provider that the configuration names by its two files.
 *
 * @module
 */

import type { TypedProviderConfig } from "../../config/types.ts";
import { loadContract, readContractJson } from "../contract/load.ts";
import { ContractError, type ContractProblem } from "../contract/problems.ts";
import type { SchemaSandbox } from "../sandbox/schema_sandbox.ts";
import {
  checkRuntimeProfile,
  PROFILE_LIMITS,
  type RuntimeProfile,
  sealVersion,
  type TypedVersion,
} from "./runtime_profile.ts";

/**
 * Loads contract and runtime profile of an entry.
 *
 * @throws {ContractError} Where a file cannot be read or is invalid; it holds every problem of that file
 */
export async function loadTypedVersion(entry: TypedProviderConfig, schemas: SchemaSandbox): Promise<TypedVersion> {
  const { name, capabilities_path: contractPath, runtime_profile_path: profilePath, typed_protocol: protocol } = entry;
  if (contractPath === null || profilePath === null || protocol === null) {
    throw new TypeError(`Cannot load provider "${name}": it has no contract, profile or protocol`);
  }
  const loaded = await loadContract(contractPath, { provider_id: name, transport: "typed" }, schemas);
  const value = await readContractJson(profilePath, PROFILE_LIMITS.bytes, "runtime_profile_path");
  const checked = checkRuntimeProfile(value, loaded.contract);
  const problems = checked.ok ? protocolProblems(checked.profile, protocol) : checked.problems;
  if (!checked.ok || problems.length > 0) throw new ContractError(profilePath, problems, "runtime_profile_path");
  return sealVersion(loaded, checked.profile);
}

function protocolProblems(profile: RuntimeProfile, expected: string): readonly ContractProblem[] {
  if (profile.typed_protocol === expected) return [];
  const message = `Expected the typed_protocol of the configuration, "${expected}", got "${profile.typed_protocol}"`;
  return [{ code: "profile_mismatch", path: "$.typed_protocol", message }];
}
