/**
 * Typed providers as rows, for every store that has SQL.
 *
 * A transaction is a generator, which a store runs at once (SQLite) or statement by statement (PostgreSQL).
 */

import type { Sha256 } from "../../canonical/identity.ts";
import { hashesTo } from "../record_check.ts";
import { sealTypedProvider } from "../seal.ts";
import { assertTypedProvider } from "../shape.ts";
import { textBytes } from "../size.ts";
import { integer, type Row, text } from "./columns.ts";
import type { RunRead, Statement, Steps } from "./statements.ts";
import {
  type ActivateTypedResult,
  type DeprecateTypedResult,
  type RegisterTypedResult,
  type StoredTypedProvider,
  TYPED_VERSIONS_MAXIMUM,
  type TypedProviderItem,
  type TypedProviderKey,
  type TypedProviderReads,
  type TypedProviderState,
  type TypedProviderStore,
  type TypedProviderVersion,
} from "../typed_provider_types.ts";
import { StoreError } from "../types.ts";

/**
 * Runs a transaction that no other writer of the namespace overlaps; a store may begin it anew. `bytes` is the size of
 * its texts.
 */
export type RunTransaction = <Result>(
  namespaceId: number,
  bytes: number,
  begin: () => Steps<Result>,
) => Promise<Result>;

const ITEM = "namespace_id, provider_id, version, identity, state, typed_protocol, checks, registered_at, seal";
const ADD = `INSERT INTO typed_providers
  (namespace_id, provider_id, version, identity, state, typed_protocol, checks, registered_at, seal, body)
  VALUES (?1, ?2, ?3, ?4, 'registered', ?5, ?6, ?7, ?8, ?9)`;
const OF_PROVIDER = "FROM typed_providers WHERE namespace_id = ?1 AND provider_id = ?2";
const EXISTING = `SELECT ${ITEM} ${OF_PROVIDER} AND (version = ?3 OR identity = ?4) ORDER BY version <> ?3 LIMIT 1`;
const COUNT = "SELECT count(*) AS versions FROM typed_providers WHERE namespace_id = ?1";
const GET = `SELECT * ${OF_PROVIDER} AND version = ?3`;
const GET_ACTIVE = `SELECT * ${OF_PROVIDER} AND state = 'active'`;
const GET_BY_IDENTITY = `SELECT * ${OF_PROVIDER} AND identity = ?3`;
const FIND = `SELECT ${ITEM} ${OF_PROVIDER} AND version = ?3`;
const FIND_ACTIVE = `SELECT ${ITEM} ${OF_PROVIDER} AND state = 'active'`;
const LIST = `SELECT ${ITEM} FROM typed_providers
  WHERE namespace_id = ?1 AND (provider_id, version) > (?2, ?3) ORDER BY provider_id, version LIMIT ?4`;
const LIST_ACTIVE = `SELECT ${ITEM} FROM typed_providers
  WHERE namespace_id = ?1 AND state = 'active' ORDER BY provider_id`;
const NAMESPACES = `SELECT DISTINCT namespace_id FROM typed_providers
  WHERE state = 'active' ORDER BY namespace_id LIMIT ?1`;
const SET_STATE = `UPDATE typed_providers SET state = ?4, seal = ?5
  WHERE namespace_id = ?1 AND provider_id = ?2 AND version = ?3`;

/** The reads of typed providers. */
export function readTypedProviders(sha256: Sha256, read: RunRead): TypedProviderReads {
  const one = async (...statement: Statement): Promise<StoredTypedProvider | null> => {
    const [row] = await read(statement);
    return row === undefined ? null : toTypedProvider(sha256, row);
  };
  const many = async (...statement: Statement): Promise<TypedProviderItem[]> =>
    (await read(statement)).map((row) => toItem(sha256, row));
  return {
    get: ({ namespace_id, provider_id, version }) => one(GET, namespace_id, provider_id, version),
    getActive: (namespaceId, providerId) => one(GET_ACTIVE, namespaceId, providerId),
    getByIdentity: (namespaceId, providerId, identity) => one(GET_BY_IDENTITY, namespaceId, providerId, identity),
    list: (namespaceId, after, limit) => many(LIST, namespaceId, after?.provider_id ?? "", after?.version ?? "", limit),
    listActive: (namespaceId) => many(LIST_ACTIVE, namespaceId),
    listNamespaces: async (limit) => (await read([NAMESPACES, limit])).map((row) => integer(row, "namespace_id")),
  };
}

/** The typed providers of a store. */
export function storeTypedProviders(sha256: Sha256, read: RunRead, write: RunTransaction): TypedProviderStore {
  return {
    ...readTypedProviders(sha256, read),
    register: (version) =>
      write(version.namespace_id, textBytes(version.body), () => {
        assertTypedProvider(version);
        return register(sha256, version);
      }),
    activate: (key, expected) => write(key.namespace_id, 0, () => activate(sha256, key, expected)),
    deprecate: (key, expected) => write(key.namespace_id, 0, () => deprecate(sha256, key, expected)),
  };
}

function* register(sha256: Sha256, version: TypedProviderVersion): Steps<RegisterTypedResult> {
  const { namespace_id, provider_id, provider_version_identity: identity } = version;
  const [row] = yield [EXISTING, namespace_id, provider_id, version.version, identity];
  if (row !== undefined) {
    const existing = toItem(sha256, row);
    const isSame = existing.version === version.version && existing.provider_version_identity === identity;
    return isSame ? { outcome: "same", state: existing.state } : { outcome: "exists", version: existing.version };
  }
  const [counted] = yield [COUNT, namespace_id];
  if (counted === undefined || integer(counted, "versions") >= TYPED_VERSIONS_MAXIMUM) return { outcome: "limit" };
  const { typed_protocol, checks, registered_at, body } = version;
  const seal = sealTypedProvider(sha256, { ...version, state: "registered" });
  const names = [namespace_id, provider_id, version.version, identity];
  yield [ADD, ...names, typed_protocol, checks, registered_at, seal, body];
  return { outcome: "registered" };
}

function* activate(sha256: Sha256, key: TypedProviderKey, expected: string | null): Steps<ActivateTypedResult> {
  const version = yield* find(sha256, key);
  if (version === null) return { outcome: "not_found" };
  if (version.state === "deprecated") return { outcome: "deprecated" };
  const [row] = yield [FIND_ACTIVE, key.namespace_id, key.provider_id];
  const active = row === undefined ? null : toItem(sha256, row);
  if ((active?.version ?? null) !== expected) return { outcome: "conflict", active: active?.version ?? null };
  if (active !== null) yield setState(sha256, active, "registered");
  yield setState(sha256, version, "active");
  return { outcome: "activated", previous: expected };
}

function* deprecate(
  sha256: Sha256,
  key: TypedProviderKey,
  expected: TypedProviderState,
): Steps<DeprecateTypedResult> {
  const version = yield* find(sha256, key);
  if (version === null) return { outcome: "not_found" };
  if (version.state !== expected || expected === "deprecated") return { outcome: "conflict", state: version.state };
  yield setState(sha256, version, "deprecated");
  return { outcome: "deprecated" };
}

function* find(sha256: Sha256, key: TypedProviderKey): Steps<TypedProviderItem | null> {
  const [row] = yield [FIND, key.namespace_id, key.provider_id, key.version];
  return row === undefined ? null : toItem(sha256, row);
}

function setState(sha256: Sha256, item: TypedProviderItem, state: TypedProviderState): Statement {
  const seal = sealTypedProvider(sha256, { ...item, state });
  return [SET_STATE, item.namespace_id, item.provider_id, item.version, state, seal];
}

/**
 * The version of a row, verified by its seal.
 *
 * @throws {StoreError} `corrupt`
 */
function toItem(sha256: Sha256, row: Row): TypedProviderItem {
  const item: TypedProviderItem = {
    namespace_id: integer(row, "namespace_id"),
    provider_id: text(row, "provider_id"),
    version: text(row, "version"),
    provider_version_identity: text(row, "identity"),
    state: text(row, "state") as TypedProviderState,
    typed_protocol: text(row, "typed_protocol"),
    checks: integer(row, "checks"),
    registered_at: integer(row, "registered_at"),
  };
  if (sealTypedProvider(sha256, item) === text(row, "seal")) return item;
  throw corrupt(item);
}

/**
 * The version of a whole row, verified by its seal and its identity.
 *
 * @throws {StoreError} `corrupt`
 */
export function toTypedProvider(sha256: Sha256, row: Row): StoredTypedProvider {
  const item = toItem(sha256, row);
  const body = text(row, "body");
  if (hashesTo(sha256, "provider-version", item.provider_version_identity, body)) return { ...item, body };
  throw corrupt(item);
}

function corrupt({ provider_id, version, namespace_id }: TypedProviderKey): StoreError {
  return new StoreError(
    "corrupt",
    `Cannot read typed provider "${provider_id}" version "${version}" of namespace ${namespace_id}: it differs from the ` +
      "written one",
  );
}
