/**
 * Claim 6: every record belongs to the run that the first record allocates, and the pack holds exactly the artifacts
 * that the records name.
 */

import type { Identity } from "../../../canonical/identity.ts";
import type { JsonValue } from "../../../canonical/json.ts";
import type { CompiledLaw } from "../../../run/compile.ts";
import type { RunCreatedBody, RunKey, RunRecord } from "../../../run/types.ts";
import type { ContractFacts } from "../../format/contract_facts.ts";
import { accepted } from "../../../canonical/shape.ts";
import { recordShape } from "../../../run/record_shapes.ts";
import { compareArtifacts } from "../../format/nodes.ts";
import type { ArtifactReference } from "../../format/types.ts";
import type { PackArtifacts } from "../artifacts.ts";
import { atRevision, violation } from "../findings.ts";
import type { ChainStep } from "../step.ts";
import type { Violation } from "../types.ts";
import { namedArtifacts } from "../../format/segments.ts";

/** Whether the kind of a record fits its position, and the record belongs to the run. */
export function checkAllocation({ record, previous }: ChainStep, runKey: RunKey): Violation | null {
  const place = atRevision(record.revision);
  const { namespace_id, run_id } = record.run_key;
  if (namespace_id !== runKey.namespace_id || run_id !== runKey.run_id) return violation("run_key_mismatch", place);
  const isCreation = record.record_kind === "run_created";
  if (previous === null) {
    if (!isCreation) return violation("run_created_missing", place);
    return record.body.run_allocation.authority_id === "" ? violation("run_authority_missing", place) : null;
  }
  return isCreation ? violation("run_created_unexpected", place) : null;
}

/** Checks that the first record binds each provider to one contract, and to one of its own. */
export function checkBoundContracts(
  { contracts }: RunCreatedBody,
  held: ReadonlyMap<Identity, ContractFacts | null>,
): Violation | null {
  const providers = new Set(contracts.map(({ provider_id }) => provider_id));
  if (providers.size !== contracts.length) return violation("contract_repeated", atRevision(1));
  const other = contracts.some(({ provider_id, contract_identity }) => {
    const contract = held.get(contract_identity) ?? null;
    return contract !== null && contract.provider_id !== provider_id;
  });
  return other ? violation("contract_mismatch", atRevision(1)) : null;
}

/** Checks that the first record binds each typed provider, and no other, to a version that has its contract. */
export function checkBoundVersions(
  { contracts }: RunCreatedBody,
  { contracts: held, versions }: Pick<PackArtifacts, "contracts" | "versions">,
): Violation | null {
  const other = contracts.some(({ contract_identity, provider_version_identity: named }) => {
    const contract = held.get(contract_identity) ?? null;
    if (contract !== null && (contract.transport === "typed") !== (named !== undefined)) return true;
    const versioned = versions.get(named ?? "") ?? null;
    return versioned !== null && versioned !== contract_identity;
  });
  return other ? violation("provider_version_mismatch", atRevision(1)) : null;
}

/**
 * The contracts that a first record binds, by provider: the first one for each provider, if the pack holds it and it
 * belongs to that provider.
 *
 * @param first The value of the line of the first record; undefined where it is invalid
 */
export function boundContracts(
  first: JsonValue | undefined,
  held: ReadonlyMap<Identity, ContractFacts | null>,
): ReadonlyMap<string, ContractFacts> {
  const record = accepted(recordShape, first);
  if (record?.record_kind !== "run_created") return new Map();
  // A map keeps the last of two entries with one key.
  const named = new Map(
    record.body.contracts.toReversed().map(({ provider_id, contract_identity }) => [provider_id, contract_identity]),
  );
  const bound = new Map<string, ContractFacts>();
  for (const [provider, identity] of named) {
    const contract = held.get(identity) ?? null;
    if (contract?.provider_id === provider) bound.set(provider, contract);
  }
  return bound;
}

/** Whether the run binds each schema of the law once, and no other. */
export function checkBoundSchemas({ law }: CompiledLaw, { schemas }: RunCreatedBody): Violation | null {
  const bound = schemas.map(({ schema_id, version }) => JSON.stringify([schema_id, version]));
  if (new Set(bound).size !== bound.length) return violation("schema_repeated", atRevision(1));
  const named = new Set(law.schemas.map(({ schema_id, version }) => JSON.stringify([schema_id, version])));
  for (const { observation_domain: domain } of law.conditions) {
    if (domain.domain === "Json" && domain.schema !== undefined) {
      named.add(JSON.stringify([domain.schema.schema_id, domain.schema.version]));
    }
  }
  if (bound.some((schema) => !named.has(schema))) return violation("schema_unexpected", atRevision(1));
  return bound.length === named.size ? null : violation("schema_missing", atRevision(1));
}

/** The artifacts that records name. */
export interface NamedArtifacts {
  readonly add: (record: RunRecord) => void;
  /** Compares with the artifacts that the pack lists. */
  readonly check: (listed: readonly ArtifactReference[]) => Violation | null;
}

/** Collects the artifacts that records name. */
export function nameArtifacts(): NamedArtifacts {
  const named = new Map<string, Pick<ArtifactReference, "kind" | "identity">>();
  const keyOf = ({ kind, identity }: Pick<ArtifactReference, "kind" | "identity">): string => `${kind} ${identity}`;
  return {
    add(record): void {
      for (const one of namedArtifacts(record)) named.set(keyOf(one), one);
    },
    check(listed): Violation | null {
      const there = new Set(listed.map(keyOf));
      const missing = [...named.values()].filter((one) => !there.has(keyOf(one))).sort(compareArtifacts)[0];
      if (missing !== undefined) return violation("artifact_missing", keyOf(missing));
      const unexpected = listed.findIndex((one) => !named.has(keyOf(one)));
      return unexpected < 0 ? null : violation("artifact_unexpected", `artifacts/${unexpected}`);
    },
  };
}
