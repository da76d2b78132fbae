/** The artifacts of a pack for a replay: operator profiles, contracts, provider versions and schemas by identity. */

import { identify, identifyBytes, type Identity } from "../../canonical/identity.ts";
import type { JsonValue } from "../../canonical/json.ts";
import type { Environment } from "../../run/command.ts";
import { trustedKeys } from "../../run/profile.ts";
import type { RunRecord } from "../../run/types.ts";
import { readCanonical } from "../format/canonical_text.ts";
import { type ContractFacts, contractOfVersion, readContract } from "../format/contract_facts.ts";
import { readProfile } from "../format/profile_shape.ts";
import type { ArtifactReference } from "../format/types.ts";
import { violation } from "./findings.ts";
import type { VerificationPrimitives, Violation } from "./types.ts";

/** The artifacts of a pack. */
export interface PackArtifacts {
  /** Adds an artifact; returns its violation, or null. */
  readonly add: (reference: ArtifactReference, bytes: Uint8Array) => Violation | null;
  readonly listed: () => readonly ArtifactReference[];
  /** The environment in which the kernel decides a record: the procedure and the operator profile of the record. */
  readonly environment: (
    record: Pick<RunRecord, "operator_profile" | "procedure">,
  ) => Environment | "missing" | "invalid";
  /** By identity; null where an artifact is not a valid contract. */
  readonly contracts: ReadonlyMap<Identity, ContractFacts | null>;
  /** By identity of a provider version: the identity of its contract; null where an artifact is not a valid version. */
  readonly versions: ReadonlyMap<Identity, Identity | null>;
  readonly schema: (identity: Identity) => JsonValue | undefined;
  /** Bytes of a valid artifact; 0 where the pack has no such artifact. */
  readonly size: (kind: ArtifactReference["kind"], identity: Identity) => number;
}

/** Creates an empty collection. */
export function createArtifacts(primitives: VerificationPrimitives): PackArtifacts {
  const listed: ArtifactReference[] = [];
  const profiles = new Map<Identity, Omit<Environment, "procedure"> | "invalid">();
  const contracts = new Map<Identity, ContractFacts | null>();
  const versions = new Map<Identity, Identity | null>();
  const schemas = new Map<Identity, JsonValue>();
  const sizes = new Map<string, number>();
  const keep = ({ kind, identity }: ArtifactReference, value: JsonValue): void => {
    if (kind === "schema") schemas.set(identity, value);
    else if (kind === "contract") contracts.set(identity, readContract(value));
    else if (kind === "provider-version") {
      const contract = contractOfVersion(value);
      versions.set(identity, contract === null ? null : identify(primitives.sha256, "contract", contract));
    } else {
      const profile = readProfile(value);
      const { sha256, verifyEd25519 } = primitives;
      profiles.set(
        identity,
        profile === null
          ? "invalid"
          : { primitives: { sha256, verifyEd25519 }, profile, profile_identity: identity, keys: trustedKeys(profile) },
      );
    }
  };
  return {
    add(reference, bytes): Violation | null {
      const { kind, identity } = reference;
      const place = `artifacts/${listed.push(reference) - 1}`;
      const value = identifyBytes(primitives.sha256, kind, bytes) === identity ? readCanonical(bytes) : undefined;
      if (value === undefined) return violation("artifact_invalid", place);
      keep(reference, value);
      sizes.set(`${kind} ${identity}`, reference.bytes);
      const isInvalid = kind === "contract" && contracts.get(identity) === null ||
        kind === "provider-version" && versions.get(identity) === null;
      return isInvalid ? violation("artifact_invalid", place) : null;
    },
    listed: () => listed,
    environment({ operator_profile, procedure }): Environment | "missing" | "invalid" {
      const found = profiles.get(operator_profile) ?? "missing";
      return typeof found === "string" ? found : { procedure, ...found };
    },
    contracts,
    versions,
    schema: (identity) => schemas.get(identity),
    size: (kind, identity) => sizes.get(`${kind} ${identity}`) ?? 0,
  };
}
