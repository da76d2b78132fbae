/** The typed providers in the store of a configuration, for commands. */

import type { GateConfig } from "../../config/types.ts";
import { sha256 } from "../../evidence/host_primitives.ts";
import type { Provider } from "../../evidence/types.ts";
import type { TypedGrants } from "../../evidence/typed/grants.ts";
import { openTypedProviders } from "../../store/open.ts";
import { StoreError } from "../../store/types.ts";
import type { TypedProviderReads } from "../../store/typed_provider_types.ts";
import { createTypedProviders, type TypedProviders } from "../../tools/services/typed_providers.ts";
import { CliError } from "../terminal/cli_error.ts";
import { EXIT } from "../terminal/exit_codes.ts";

/** Typed providers with the reads of their store. */
export interface StoredProviders {
  readonly typed: TypedProviders;
  readonly reads: TypedProviderReads;
}

/**
 * Runs a body with the typed providers of the store; null where the store has none.
 *
 * @param grants What the operator grants to them
 * @throws {CliError} `store_unavailable`
 */
export async function withStoredProviders<Result>(
  { run_state_store: run, schema_registry: schemas }: GateConfig,
  grants: TypedGrants,
  body: (stored: StoredProviders | null) => Promise<Result>,
): Promise<Result> {
  const opened = await openTypedProviders({ run, schemas }, sha256).catch((error: unknown) => {
    if (!(error instanceof StoreError)) throw error;
    if (error.code === "misconfigured") throw new CliError("usage", error.message);
    throw new CliError("store_unavailable", error.message, null, EXIT.unreachable);
  });
  if (opened === null) return await body(null);
  const typed = createTypedProviders(
    opened.reads,
    async (version) => (await import("../../evidence/typed/provider.ts")).createTypedProvider(version, grants),
  );
  try {
    return await body({ typed, reads: opened.reads });
  } finally {
    await typed.close();
    await opened.close();
  }
}

/** The active versions of a namespace, which can be queried. */
export async function activeProviders(typed: TypedProviders, namespaceId: number): Promise<readonly Provider[]> {
  const found: Provider[] = [];
  for (const providerId of await typed.listActiveIds(namespaceId)) {
    const provider = await typed.findActive(namespaceId, providerId);
    if (provider !== null && provider !== "inactive") found.push(provider);
  }
  return found;
}
