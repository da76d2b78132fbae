import { canonicalize } from "../../canonical/canonicalize.ts";
import { contentHash, identifyCanonical } from "../../canonical/identity.ts";
import type { JsonValue } from "../../canonical/json.ts";
import { HOST_PRIMITIVES } from "../host_primitives.ts";
import type { RuntimeProfile, TypedVersion } from "../typed/runtime_profile.ts";
import type { LoadedContract, ProviderContract } from "../types.ts";

/** The contract with its identity (kind `contract`), the plain hash of its canonical text, and that text. */
export function sealContract(contract: ProviderContract, source: LoadedContract["source"]): LoadedContract {
  const { sha256 } = HOST_PRIMITIVES;
  const text = canonicalize(contract as JsonValue);
  return {
    contract,
    contract_identity: identifyCanonical(sha256, "contract", text),
    contract_hash: contentHash(sha256, text),
    source,
    text,
  };
}

/** Adds identities and canonical text to a checked contract and its profile. */
export function sealVersion(loaded: LoadedContract, profile: RuntimeProfile): TypedVersion {
  const { sha256 } = HOST_PRIMITIVES;
  const text = canonicalize(profile as JsonValue);
  const version = `{"contract":${loaded.text},"profile":${text}}`;
  const identity = identifyCanonical(sha256, "provider-version", version);
  return {
    loaded: { ...loaded, provider_version: { identity, text: version } },
    profile,
    profile_identity: identifyCanonical(sha256, "runtime-profile", text),
    provider_version_identity: identity,
  };
}
