/**
 * Typed providers in memory.
 *
 * @module
 */

import { compareCodePoints } from "../../canonical/order.ts";
import { assertTypedProvider } from "../shape.ts";
import {
  type ActivateTypedResult,
  type DeprecateTypedResult,
  type RegisterTypedResult,
  type StoredTypedProvider,
  TYPED_VERSIONS_MAXIMUM,
  type TypedProviderItem,
  type TypedProviderKey,
  type TypedProviderState,
  type TypedProviderStore,
  type TypedProviderVersion,
} from "../typed_provider_types.ts";

/** @param answer Runs an operation unless the registry is closed */
export function createMemoryTypedProviders(
  answer: <Result>(work: () => Result) => Promise<Result>,
): TypedProviderStore {
  // By namespace, then by provider and version, separated by a NUL, which no name contains.
  const namespaces = new Map<number, Map<string, StoredTypedProvider>>();
  const versionsOf = (namespaceId: number): StoredTypedProvider[] => [...namespaces.get(namespaceId)?.values() ?? []];
  const find = (key: TypedProviderKey): StoredTypedProvider | null =>
    namespaces.get(key.namespace_id)?.get(nameOf(key)) ?? null;
  const findActive = (namespaceId: number, providerId: string): StoredTypedProvider | null =>
    versionsOf(namespaceId).find((one) => one.provider_id === providerId && one.state === "active") ?? null;
  const setState = (version: StoredTypedProvider, state: TypedProviderState): void => {
    namespaces.get(version.namespace_id)?.set(nameOf(version), { ...version, state });
  };
  const register = (version: TypedProviderVersion): RegisterTypedResult => {
    assertTypedProvider(version);
    const entries = namespaces.get(version.namespace_id) ?? new Map<string, StoredTypedProvider>();
    const existing = find(version) ??
      versionsOf(version.namespace_id).find((one) =>
        one.provider_id === version.provider_id && one.provider_version_identity === version.provider_version_identity
      );
    if (existing !== undefined) return repeated(version, existing);
    if (entries.size >= TYPED_VERSIONS_MAXIMUM) return { outcome: "limit" };
    namespaces.set(version.namespace_id, entries.set(nameOf(version), { ...version, state: "registered" }));
    return { outcome: "registered" };
  };
  const activate = (key: TypedProviderKey, expected: string | null): ActivateTypedResult => {
    const version = find(key);
    if (version === null) return { outcome: "not_found" };
    if (version.state === "deprecated") return { outcome: "deprecated" };
    const active = findActive(key.namespace_id, key.provider_id);
    if ((active?.version ?? null) !== expected) return { outcome: "conflict", active: active?.version ?? null };
    if (active !== null) setState(active, "registered");
    setState(version, "active");
    return { outcome: "activated", previous: expected };
  };
  const deprecate = (key: TypedProviderKey, expected: TypedProviderState): DeprecateTypedResult => {
    const version = find(key);
    if (version === null) return { outcome: "not_found" };
    if (version.state !== expected || expected === "deprecated") return { outcome: "conflict", state: version.state };
    setState(version, "deprecated");
    return { outcome: "deprecated" };
  };
  return {
    register: (version) => answer(() => register(version)),
    get: (key) => answer(() => find(key)),
    getActive: (namespaceId, providerId) => answer(() => findActive(namespaceId, providerId)),
    getByIdentity: (namespaceId, providerId, identity) =>
      answer(() =>
        versionsOf(namespaceId).find((one) =>
          one.provider_id === providerId && one.provider_version_identity === identity
        ) ?? null
      ),
    list: (namespaceId, after, limit) =>
      answer(() =>
        versionsOf(namespaceId).filter((one) => after === null || compareKeys(one, after) > 0)
          .sort(compareKeys).slice(0, limit).map(toItem)
      ),
    listActive: (namespaceId) =>
      answer(() => versionsOf(namespaceId).filter(({ state }) => state === "active").sort(compareKeys).map(toItem)),
    listNamespaces: (limit) =>
      answer(() =>
        [...namespaces.keys()].filter((id) => versionsOf(id).some(({ state }) => state === "active"))
          .sort((a, b) => a - b).slice(0, limit)
      ),
    activate: (key, expected) => answer(() => activate(key, expected)),
    deprecate: (key, expected) => answer(() => deprecate(key, expected)),
  };
}

/** The result of a registration where a version has the names or the bytes already. */
function repeated(version: TypedProviderVersion, existing: TypedProviderItem): RegisterTypedResult {
  const isSame = existing.version === version.version &&
    existing.provider_version_identity === version.provider_version_identity;
  return isSame ? { outcome: "same", state: existing.state } : { outcome: "exists", version: existing.version };
}

function toItem({ body: _, ...item }: StoredTypedProvider): TypedProviderItem {
  return item;
}

function nameOf({ provider_id, version }: Pick<TypedProviderKey, "provider_id" | "version">): string {
  return `${provider_id}\0${version}`;
}

function compareKeys(
  a: Pick<TypedProviderKey, "provider_id" | "version">,
  b: Pick<TypedProviderKey, "provider_id" | "version">,
): number {
  return compareCodePoints(a.provider_id, b.provider_id) || compareCodePoints(a.version, b.version);
}
