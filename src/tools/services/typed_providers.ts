/**
 * The typed providers of the schema registry's store, as providers that tools query. A provider's code is loaded, and
 * its worker started, with its first query.
 */

import type { Identity } from "../../canonical/identity.ts";
import { isJsonObject, type JsonValue, member } from "../../canonical/json.ts";
import { readJson } from "../../canonical/scan.ts";
import { sealContract, sealVersion } from "../../evidence/contract/seal.ts";
import type { RuntimeProfile, TypedVersion } from "../../evidence/typed/runtime_profile.ts";
import type { Provider, ProviderContract } from "../../evidence/types.ts";
import type { StoredTypedProvider, TypedProviderReads } from "../../store/typed_provider_types.ts";
import { StoreError } from "../../store/types.ts";

/** Providers that stay open without a query. */
export const OPEN_MAXIMUM = 64;

/** A provider in a listing. */
export type ListedProvider = Pick<Provider, "provider_id" | "loaded">;

/** Opens the provider of a version; it starts nothing yet. */
export type OpenTypedProvider = (version: TypedVersion) => Promise<Provider>;

/** The typed providers of the store. */
export interface TypedProviders {
  /** The active version; `inactive` where the provider has versions and none of them is active. */
  readonly findActive: (namespaceId: number, providerId: string) => Promise<Provider | "inactive" | null>;
  /** The ids of the providers of a namespace that have an active version, in order. Reads no contract. */
  readonly listActiveIds: (namespaceId: number) => Promise<readonly string[]>;
  /** The active versions of a namespace in provider id order, as far as they are wanted. Opens and closes no provider. */
  readonly listActive: (
    namespaceId: number,
    isWanted: (providerId: string) => boolean,
  ) => Promise<readonly ListedProvider[]>;
  /** The version that a run is bound to, whether it is active or not. */
  readonly findBound: (
    namespaceId: number,
    providerId: string,
    identity: Identity,
  ) => Promise<Provider | "deprecated" | null>;
  /** Ends the providers. */
  readonly close: () => Promise<void>;
}

/** A provider, and the queries that run on it. */
interface Opened {
  readonly provider: Provider;
  queries: number;
  /** Whether it was closed. A query that begins afterwards opens the provider again, for itself alone. */
  isClosed: boolean;
}

/** The typed providers of a store. */
export function createTypedProviders(store: TypedProviderReads, open: OpenTypedProvider): TypedProviders {
  const opened = new Map<string, Opened>();
  const providerOf = (stored: StoredTypedProvider): Provider => {
    // Namespaces share no provider: their workers and caches stay apart.
    const key = `${stored.namespace_id} ${stored.provider_version_identity}`;
    const entry = opened.get(key) ?? openLazily(stored, open);
    opened.delete(key);
    opened.set(key, entry);
    closeIdle(opened, key);
    return entry.provider;
  };
  return {
    findActive: async (namespaceId, provider_id) => {
      const stored = await store.getActive(namespaceId, provider_id);
      if (stored !== null) return providerOf(stored);
      const [first] = await store.list(namespaceId, { provider_id, version: "" }, 1);
      return first?.provider_id === provider_id ? "inactive" : null;
    },
    listActiveIds: async (namespaceId) => (await store.listActive(namespaceId)).map(({ provider_id }) => provider_id),
    listActive: async (namespaceId, isWanted) => {
      const found: ListedProvider[] = [];
      for (const { provider_id, provider_version_identity } of await store.listActive(namespaceId)) {
        if (!isWanted(provider_id)) continue;
        const known = opened.get(`${namespaceId} ${provider_version_identity}`)?.provider;
        const stored = known === undefined ? await store.getActive(namespaceId, provider_id) : null;
        if (known !== undefined) found.push(known);
        else if (stored !== null) found.push({ provider_id, loaded: readVersion(stored).loaded });
      }
      return found;
    },
    findBound: async (namespaceId, providerId, identity) => {
      const stored = await store.getByIdentity(namespaceId, providerId, identity);
      if (stored === null) return null;
      return stored.state === "deprecated" ? "deprecated" : providerOf(stored);
    },
    close: async () => {
      const entries = [...opened.values()];
      opened.clear();
      await Promise.all(entries.map(({ provider }) => provider.close()));
    },
  };
}

/** Closes the least recently used providers that no query runs on, down to {@link OPEN_MAXIMUM}. */
function closeIdle(opened: Map<string, Opened>, except: string): void {
  for (const [key, entry] of opened) {
    if (opened.size <= OPEN_MAXIMUM) return;
    if (entry.queries > 0 || key === except) continue;
    opened.delete(key);
    void entry.provider.close();
  }
}

function openLazily(stored: StoredTypedProvider, open: OpenTypedProvider): Opened {
  const version = readVersion(stored);
  let opening: Promise<Provider> | null = null;
  const entry: Opened = {
    queries: 0,
    isClosed: false,
    provider: {
      provider_id: stored.provider_id,
      kind: "typed",
      loaded: version.loaded,
      allow_raw: false,
      query: async (...query) => {
        entry.queries++;
        try {
          const provider = await (opening ??= open(version)).catch(() => null);
          if (provider !== null) return await provider.query(...query);
          opening = null;
          const message = `Cannot open typed provider "${stored.provider_id}"`;
          return { ok: false, code: "provider_unreachable", message, retryable: false };
        } finally {
          entry.queries--;
          if (entry.isClosed && entry.queries === 0) await entry.provider.close();
        }
      },
      close: async () => {
        entry.isClosed = true;
        const last = opening;
        opening = null;
        await (await last?.catch(() => null))?.close();
      },
    },
  };
  return entry;
}

/**
 * Contract and profile of a version. They were checked when it was registered or configured, and a stored one's
 * identity when it was read.
 *
 * @throws {StoreError} `corrupt`
 */
export function readVersion(
  { body: text, provider_id, version }: Pick<StoredTypedProvider, "body" | "provider_id"> & {
    readonly version: string | null;
  },
): TypedVersion {
  const body: JsonValue = readJson(text);
  const contract = isJsonObject(body) ? member(body, "contract") : undefined;
  const profile = isJsonObject(body) ? member(body, "profile") : undefined;
  if (contract === undefined || profile === undefined) {
    throw new StoreError(
      "corrupt",
      `Cannot read typed provider "${provider_id}" version "${version}": it has no contract`,
    );
  }
  const sealed = sealContract(contract as ProviderContract, version === null ? "file" : "registry");
  return sealVersion({ ...sealed, ...version === null ? {} : { version } }, profile as RuntimeProfile);
}
