/**
 * Copies everything that a store holds to another one. A row is verified before it is written, and read back and
 * compared afterwards. What the target has already is only compared, so a copy that was interrupted goes on where it
 * stopped.
 */

import { isDeepStrictEqual } from "node:util";

import { BoundedMap } from "../bounded_map.ts";
import { attempt, checkStructure, NO_COUNTS, startChecking } from "../check/check.ts";
import { checkArtifacts, checkLaws, checkOrphans, checkSchemas, checkTypedProviders } from "../check/check_rows.ts";
import type { CheckOptions, StoreCounts, StoreProblem } from "../check/check_types.ts";
import { copyRuns } from "./copy_runs.ts";
import { type CopyCounts, type Copying, reporting } from "./copying.ts";
import { copyArtifact, copyLaw } from "./copy_shared.ts";
import type { Stores } from "../open.ts";
import type { RegisteredSchema } from "../rows/schemas.ts";
import type { StoreRows } from "../rows/store_rows.ts";
import type { StoredTypedProvider, TypedProviderState } from "../typed_provider_types.ts";

/** Laws and artifacts that runs do not ask the target for. */
const COPIED_KEPT = 4096;

/** The report of a copy. */
export interface CopyReport {
  /** Whether the target has every row of the source, byte for byte. */
  readonly sound: boolean;
  /** The rows that were read. */
  readonly read: StoreCounts;
  readonly written: CopyCounts;
  readonly problems: readonly StoreProblem[];
}

/**
 * Copies a store while other processes may use both. Runs get the records that the source had when the run was read.
 * Nothing is ever written over: a run, a schema or a typed provider of the target that differs is reported. Rows of the
 * source with problems are reported and not copied.
 *
 * @param target Open stores
 * @throws {StoreError} Where a store cannot be read or written: `busy`, `unavailable`, `disk_full`, `io`. The copy can be repeated
 */
export async function copyStore(
  rows: StoreRows,
  target: Stores,
  options: Omit<CheckOptions, "fold">,
): Promise<CopyReport> {
  const problems: StoreProblem[] = [];
  const checking = startChecking(rows, options, problems);
  const { material: _, ...written } = NO_COUNTS;
  const copying: Copying = { checking, target, written, copied: new BoundedMap(COPIED_KEPT) };
  await attempt(checking, "structure", checkStructure);
  await attempt(checking, "laws", () => checkLaws(checking, (law) => copyLaw(copying, law)));
  await attempt(checking, "artifacts", () => checkArtifacts(checking, (artifact) => copyArtifact(copying, artifact)));
  await attempt(checking, "schemas", () => checkSchemas(checking, (schema) => copySchema(copying, schema)));
  await attempt(
    checking,
    "typed providers",
    () => checkTypedProviders(checking, (version) => copyTypedProvider(copying, version)),
  );
  await attempt(checking, "runs", () => copyRuns(copying));
  await attempt(checking, "rows", checkOrphans);
  return { sound: problems.length === 0, read: checking.counts, written, problems };
}

function copySchema(copying: Copying, { schema, tenants }: RegisteredSchema): Promise<void> {
  const { target: { schemas }, written } = copying;
  const { namespace_id, schema_id, version } = schema;
  return reporting(copying, "schema", { namespace_id }, async () => {
    if (await schemas.register(schema, tenants) === "registered") written.schemas += 1;
    const name = `Schema "${schema_id}" version "${version}"`;
    const isEqual = isDeepStrictEqual(await schemas.get(namespace_id, schema_id, version), schema);
    if (!isEqual) return `${name} differs at the target`;
    const counted = await schemas.getTenants(namespace_id, schema_id, version);
    if (isDeepStrictEqual(counted, tenants)) return null;
    return `${name} counts for ${listOf(tenants)} at the source and ${listOf(counted)} at the target`;
  });
}

function listOf(tenants: readonly number[] | null): string {
  return tenants === null ? "every tenant" : `tenants [${tenants.join(", ")}]`;
}

/** Copies a version, and takes its state further where the target allows it: registered, active, deprecated. */
function copyTypedProvider(copying: Copying, version: StoredTypedProvider): Promise<void> {
  const { target: { schemas: { typedProviders } }, written } = copying;
  const { namespace_id, provider_id } = version;
  return reporting(copying, "typed_provider", { namespace_id }, async () => {
    const name = `Typed provider "${provider_id}" version "${version.version}"`;
    const registered = await typedProviders.register(version);
    if (registered.outcome === "limit") return `${name}: the namespace has no room for it at the target`;
    if (registered.outcome === "exists") {
      return `${name}: the target has its name or its bytes as version "${registered.version}"`;
    }
    if (registered.outcome === "registered") written.typed_providers += 1;
    await advance(copying, version, registered.outcome === "same" ? registered.state : "registered");
    const stored = await typedProviders.get(version);
    const isSame = stored !== null && isDeepStrictEqual({ ...stored, state: version.state }, version);
    if (!isSame) return `${name} differs at the target`;
    return stored.state === version.state
      ? null
      : `${name} is ${version.state} at the source and ${stored.state} at the target`;
  });
}

async function advance({ target }: Copying, version: StoredTypedProvider, state: TypedProviderState): Promise<void> {
  const { typedProviders } = target.schemas;
  if (version.state === "active" && state === "registered") await typedProviders.activate(version, null);
  if (version.state === "deprecated" && state !== "deprecated") await typedProviders.deprecate(version, state);
}
