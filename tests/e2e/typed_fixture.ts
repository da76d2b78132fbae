/**
 * Typed providers of the loopback interface, for tests.
 *
 * @module
 */

import { sealContract } from "../../src/evidence/contract/seal.ts";
import { NO_GRANTS, serviceAddress, type TypedGrants } from "../../src/evidence/typed/grants.ts";
import {
  createTypedProvider,
  type TypedProvider,
  type TypedProviderOptions,
} from "../../src/evidence/typed/provider.ts";
import { checkRuntimeProfile, type RuntimeProfile, sealVersion } from "../../src/evidence/typed/runtime_profile.ts";
import type { ProviderContract } from "../../src/evidence/types.ts";
import type { JsonValue } from "../../src/canonical/json.ts";
import { typedContract } from "../simulation/typed_documents.ts";

/** A typed provider under test. */
export interface TypedPlan {
  readonly profile: RuntimeProfile;
  readonly contract?: ProviderContract;
  /** In addition to the profile's own host, its credentials, private networks and cleartext. */
  readonly grants?: Partial<TypedGrants>;
  readonly options?: TypedProviderOptions;
}

/** Grants that cover a profile. */
export function grantsFor(profile: RuntimeProfile): TypedGrants {
  const address = serviceAddress(profile);
  const credentials = profile.credentials.map(({ locator }) => locator);
  const client = profile.tls.client === null ? [] : [profile.tls.client.certificate, profile.tls.client.key];
  return {
    ...NO_GRANTS,
    hosts: address === null
      ? []
      : [{ host: address.host, port: address.port, credentials: [...credentials, ...client] }],
    allowPrivateNetworks: true,
    cleartext: "everywhere",
  };
}

/** Creates a typed provider from a valid profile and closes it after use. */
export async function withTyped<Result>(
  { profile, contract = typedContract(), grants = {}, options }: TypedPlan,
  use: (provider: TypedProvider) => Promise<Result>,
): Promise<Result> {
  const checked = checkRuntimeProfile(profile as unknown as JsonValue, contract);
  if (!checked.ok) throw new Error(JSON.stringify(checked.problems));
  const version = sealVersion(sealContract(contract, "file"), profile);
  const provider = createTypedProvider(version, { ...grantsFor(profile), ...grants }, options);
  try {
    return await use(provider);
  } finally {
    await provider.close();
  }
}
