/**
 * The contracts and schemas that a run was bound to at its creation. Later changes of providers and registry have no
 * effect.
 */

import { compareCodePoints } from "../../canonical/order.ts";
import { readJson } from "../../canonical/scan.ts";
import type { AcquisitionRequest, FindSchema } from "../../evidence/acquisition/acquire.ts";
import type { CompiledLaw } from "../../run/compile.ts";
import { readRecord } from "../../run/record.ts";
import type { BoundContract, RunCreatedBody, RunKey } from "../../run/types.ts";
import { BoundedMap } from "../../store/bounded_map.ts";
import type { LoadedContract, Provider } from "../../evidence/types.ts";
import { findProvider, inactiveProvider } from "../services/provider_discovery.ts";
import { type Artifact, type RunStore, StoreError } from "../../store/types.ts";
import type { Services } from "../services/services.ts";

/** Runs whose first record is cached. */
const KEPT_RUNS = 1024;

const kept = new WeakMap<RunStore, BoundedMap<string, RunCreatedBody>>();

/**
 * The body of the first record of a run. It never changes, so it is cached.
 *
 * @throws {StoreError} `corrupt` where the run has no such record
 */
export async function runCreated({ runs }: Pick<Services, "runs">, runKey: RunKey): Promise<RunCreatedBody> {
  const bodies = kept.get(runs) ?? new BoundedMap<string, RunCreatedBody>(KEPT_RUNS);
  kept.set(runs, bodies);
  const name = `${runKey.namespace_id}/${runKey.run_id}`;
  const known = bodies.get(name);
  if (known !== undefined) return known;
  const [first] = await runs.listRecords(runKey, 0, 1);
  const record = first === undefined ? null : readRecord(first.record);
  if (record?.record_kind !== "run_created") {
    throw new StoreError("corrupt", `Cannot read run "${runKey.run_id}": its first record is not that of its creation`);
  }
  bodies.set(name, record.body);
  return record.body;
}

/** The contracts that a run was bound to, by provider, and the versions of typed ones as far as they still exist. */
export async function runContracts(
  services: Pick<Services, "runs" | "providers" | "typed">,
  runKey: RunKey,
): Promise<Pick<AcquisitionRequest, "boundContracts" | "boundVersions">> {
  const { contracts } = await runCreated(services, runKey);
  const boundVersions = new Map<string, Provider | "deprecated" | null>();
  for (const { provider_id, provider_version_identity: identity } of contracts) {
    if (identity === undefined) continue;
    const configured = services.providers.get(provider_id);
    const isConfigured = configured?.loaded.provider_version?.identity === identity;
    const version = isConfigured
      ? configured
      : await services.typed.findBound(runKey.namespace_id, provider_id, identity);
    boundVersions.set(provider_id, version);
  }
  const identities = contracts.map(({ provider_id, contract_identity }) => [provider_id, contract_identity] as const);
  return { boundContracts: new Map(identities), boundVersions };
}

/** The schemas that the run was bound to at its creation, at any later state of the registry. */
export function boundSchemas(services: Pick<Services, "runs">, runKey: RunKey): FindSchema {
  return async ({ schema_id, version }) => {
    const { schemas } = await runCreated(services, runKey);
    const bound = schemas.find((entry) => entry.schema_id === schema_id && entry.version === version);
    const artifact = bound === undefined ? null : await services.runs.artifacts.get(bound.schema_identity);
    if (artifact === null) {
      const message =
        `Cannot read schema "${schema_id}" version "${version}": the law names it, but the store lacks it`;
      throw new StoreError("corrupt", message);
    }
    return { identity: artifact.identity, document: readJson(artifact.body) };
  };
}

/**
 * The contracts that a new run of a law is bound to, in provider id order, with their artifacts; a typed provider is
 * bound to its active version. A provider that is no longer configured has no contract here, so this run never acquires
 * evidence from it.
 *
 * @throws {DomainError} `typed_provider_inactive`
 */
export async function contractsOf(
  services: Pick<Services, "providers" | "typed">,
  { law }: CompiledLaw,
): Promise<{
  readonly contracts: readonly BoundContract[];
  readonly artifacts: readonly Artifact[];
  /** The same contracts by provider. */
  readonly loaded: ReadonlyMap<string, LoadedContract>;
}> {
  const loaded = new Map<string, LoadedContract>();
  const named = [...new Set(law.acquisition_bindings.map(({ provider_id }) => provider_id))].sort(compareCodePoints);
  const contracts: BoundContract[] = [];
  const artifacts: Artifact[] = [];
  for (const provider_id of named) {
    const provider = await findProvider(services, law.namespace_id, provider_id);
    if (provider === "inactive") throw inactiveProvider("start run", law.namespace_id, provider_id);
    if (provider === null) continue;
    loaded.set(provider_id, provider.loaded);
    const { contract_identity, text: body, provider_version: version } = provider.loaded;
    artifacts.push({ kind: "contract", identity: contract_identity, body });
    if (version === undefined) contracts.push({ provider_id, contract_identity });
    else {
      contracts.push({ provider_id, contract_identity, provider_version_identity: version.identity });
      artifacts.push({ kind: "provider-version", identity: version.identity, body: version.text });
    }
  }
  return { contracts, artifacts, loaded };
}
