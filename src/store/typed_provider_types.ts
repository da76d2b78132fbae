/** The interface of the store of typed providers: immutable versions, of which at most one a provider is active. */

import type { Identity } from "../canonical/identity.ts";

/** Versions of typed providers in one namespace: a bound on the rows that a caller can add. */
export const TYPED_VERSIONS_MAXIMUM = 1000;

/** The state of a version: `registered` and `active` alternate, `deprecated` is final. */
export type TypedProviderState = "registered" | "active" | "deprecated";

/** The names of a version. */
export interface TypedProviderKey {
  readonly namespace_id: number;
  readonly provider_id: string;
  readonly version: string;
}

/** One version of a typed provider, as registered. It never changes. */
export interface TypedProviderVersion extends TypedProviderKey {
  /** Identity of kind `provider-version` over {@link TypedProviderVersion.body}. */
  readonly provider_version_identity: Identity;
  readonly typed_protocol: string;
  /** Checks of the contract. */
  readonly checks: number;
  /** Unix milliseconds. */
  readonly registered_at: number;
  /** Canonical text of `{contract, profile}`. */
  readonly body: string;
}

/** A stored version and its state. */
export interface StoredTypedProvider extends TypedProviderVersion {
  readonly state: TypedProviderState;
}

/** A version in a listing. */
export type TypedProviderItem = Omit<StoredTypedProvider, "body">;

/** The outcome of a registration. `same` has equal bytes under the same names. */
export type RegisterTypedResult =
  | { readonly outcome: "registered" }
  | { readonly outcome: "same"; readonly state: TypedProviderState }
  /** The version that has the names, or the bytes, already. */
  | { readonly outcome: "exists"; readonly version: string }
  | { readonly outcome: "limit" };

/** The outcome of an activation. */
export type ActivateTypedResult =
  | { readonly outcome: "activated"; readonly previous: string | null }
  | { readonly outcome: "not_found" }
  | { readonly outcome: "deprecated" }
  /** The present active version differs from the expected one. */
  | { readonly outcome: "conflict"; readonly active: string | null };

/** The outcome of a deprecation. */
export type DeprecateTypedResult =
  | { readonly outcome: "deprecated" }
  | { readonly outcome: "not_found" }
  /** The present state differs from the expected one. */
  | { readonly outcome: "conflict"; readonly state: TypedProviderState };

/** Versions of typed providers. All methods reject with `StoreError`. */
export interface TypedProviderStore {
  /** Registers a version; within a provider, names and bytes are unique. `limit` at {@link TYPED_VERSIONS_MAXIMUM}. */
  register(version: TypedProviderVersion): Promise<RegisterTypedResult>;
  get(key: TypedProviderKey): Promise<StoredTypedProvider | null>;
  /** The active version of a provider. */
  getActive(namespaceId: number, providerId: string): Promise<StoredTypedProvider | null>;
  /** The version of a provider that has an identity. */
  getByIdentity(namespaceId: number, providerId: string, identity: Identity): Promise<StoredTypedProvider | null>;
  /** Versions in (provider_id, version) code point order after the given key. */
  list(
    namespaceId: number,
    after: Pick<TypedProviderKey, "provider_id" | "version"> | null,
    limit: number,
  ): Promise<TypedProviderItem[]>;
  /** The active versions of a namespace in provider id order. */
  listActive(namespaceId: number): Promise<TypedProviderItem[]>;
  /** Namespaces with an active version, in ascending order. */
  listNamespaces(limit: number): Promise<number[]>;
  /** Activates a version where the active one is the expected one; that one becomes `registered`. */
  activate(key: TypedProviderKey, expectedActive: string | null): Promise<ActivateTypedResult>;
  /** Deprecates a version that has the expected state. */
  deprecate(key: TypedProviderKey, expectedState: TypedProviderState): Promise<DeprecateTypedResult>;
}

/** The reads of {@link TypedProviderStore}. */
export type TypedProviderReads = Omit<TypedProviderStore, "register" | "activate" | "deprecate">;
