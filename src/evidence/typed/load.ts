/** Loads the version of a typed provider that the configuration names by its two files. */

import { sealVersion } from "../contract/seal.ts";
import type { GateConfig, TypedProviderConfig } from "../../config/types.ts";
import { loadContract, readContractJson } from "../contract/load.ts";
import { ContractError, type ContractProblem } from "../contract/problems.ts";
import type { SchemaSandbox } from "../sandbox/schema_sandbox.ts";
import { checkProfile } from "./check_profile.ts";
import { certifiedName, checkGrants, locatorsOf, serviceAddress, type TypedGrants } from "./grants.ts";
import { PROFILE_LIMITS, type RuntimeProfile, type TypedVersion } from "./runtime_profile.ts";

/** What loading depends on beside the configuration. */
interface LoadOptions {
  readonly schemas: SchemaSandbox;
  /** As in the options of the providers. */
  readonly credentialsDir?: string | null;
}

/**
 * Loads contract and runtime profile of an entry, and checks that the configuration allows what the profile names.
 *
 * @throws {ContractError} Where a file cannot be read or is invalid; it holds every problem of that file
 */
export async function loadTypedVersion(
  entry: TypedProviderConfig,
  config: GateConfig,
  { schemas, credentialsDir }: LoadOptions,
): Promise<TypedVersion> {
  const { name, capabilities_path: contractPath, runtime_profile_path: profilePath, typed_protocol: protocol } = entry;
  if (contractPath === null || profilePath === null || protocol === null) {
    throw new TypeError(`Cannot load provider "${name}": it has no contract, profile or protocol`);
  }
  const loaded = await loadContract(contractPath, { provider_id: name, transport: "typed" }, schemas);
  const value = await readContractJson(profilePath, PROFILE_LIMITS.bytes, "runtime_profile_path");
  const checked = await checkProfile(value, loaded.contract);
  if (!checked.ok) throw new ContractError(profilePath, checked.problems, "runtime_profile_path");
  const { profile } = checked;
  // Without the flag of the server, any folder may hold the credentials.
  const grants = entryGrants(entry, profile, config, credentialsDir === undefined ? config.base_dir : credentialsDir);
  const problems = [...protocolProblems(profile, protocol), ...checkGrants(profile, grants)];
  if (problems.length > 0) throw new ContractError(profilePath, problems, "runtime_profile_path");
  return sealVersion(loaded, profile);
}

/** What an entry grants to its own profile: the operator wrote both, so the profile's host may receive its credentials. */
export function entryGrants(
  entry: TypedProviderConfig,
  profile: RuntimeProfile,
  config: GateConfig,
  credentialsDir: string | null,
): TypedGrants {
  const address = serviceAddress(profile);
  const credentials = locatorsOf(profile).secrets.map(([, locator]) => locator);
  return {
    hosts: address === null
      ? []
      : [...new Set([address.host, certifiedName(profile) ?? ""])].map((host) => ({ ...address, host, credentials })),
    allowPrivateNetworks: entry.config.allow_private_networks,
    privateSetting: "config.allow_private_networks",
    cleartext: entry.allow_insecure_http ? "everywhere" : "nowhere",
    allowEnvironment: config.dev.allow_dev_env_credentials,
    credentialsDir,
  };
}

function protocolProblems(profile: RuntimeProfile, expected: string): readonly ContractProblem[] {
  if (profile.typed_protocol === expected) return [];
  const message = `Expected the typed_protocol of the configuration, "${expected}", got "${profile.typed_protocol}"`;
  return [{ code: "profile_mismatch", path: "$.typed_protocol", message }];
}
