/**
 * Typed providers on PostgreSQL.
 *
 * @module
 */

import type { Sha256 } from "../../canonical/identity.ts";
import { sealTypedProvider } from "../seal.ts";
import { assertTypedProvider } from "../shape.ts";
import { integer } from "../sqlite/rows.ts";
import { toItem, toTypedProvider } from "../sqlite/typed_providers.ts";
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
import type { Database, Transaction, Value } from "./database.ts";
import { inNamespace } from "./namespace_lock.ts";

const ITEM = "namespace_id, provider_id, version, identity, state, typed_protocol, checks, registered_at, seal";
const ADD = `INSERT INTO gate.typed_providers
  (namespace_id, provider_id, version, identity, state, typed_protocol, checks, registered_at, seal, body)
  VALUES ($1, $2, $3, $4, 'registered', $5, $6, $7, $8, $9)`;
const OF_PROVIDER = "FROM gate.typed_providers WHERE namespace_id = $1 AND provider_id = $2";
const EXISTING = `SELECT ${ITEM} ${OF_PROVIDER} AND (version = $3 OR identity = $4) ORDER BY version <> $3 LIMIT 1`;
const COUNT = "SELECT count(*) AS versions FROM gate.typed_providers WHERE namespace_id = $1";
const GET = `SELECT * ${OF_PROVIDER} AND version = $3`;
const GET_ACTIVE = `SELECT * ${OF_PROVIDER} AND state = 'active'`;
const GET_BY_IDENTITY = `SELECT * ${OF_PROVIDER} AND identity = $3`;
const FIND = `SELECT ${ITEM} ${OF_PROVIDER} AND version = $3`;
const FIND_ACTIVE = `SELECT ${ITEM} ${OF_PROVIDER} AND state = 'active'`;
const LIST = `SELECT ${ITEM} FROM gate.typed_providers
  WHERE namespace_id = $1 AND (provider_id, version) > ($2, $3) ORDER BY provider_id, version LIMIT $4`;
const LIST_ACTIVE = `SELECT ${ITEM} FROM gate.typed_providers
  WHERE namespace_id = $1 AND state = 'active' ORDER BY provider_id`;
const NAMESPACES = `SELECT DISTINCT namespace_id FROM gate.typed_providers
  WHERE state = 'active' ORDER BY namespace_id LIMIT $1`;
const SET_STATE = `UPDATE gate.typed_providers SET state = $4, seal = $5
  WHERE namespace_id = $1 AND provider_id = $2 AND version = $3`;

/**
 * Typed providers in an open database.
 *
 * @param use Runs an operation unless the registry is closed
 */
export function createPostgresTypedProviders(
  database: Database,
  sha256: Sha256,
  use: <Result>(work: () => Promise<Result>) => Promise<Result>,
): TypedProviderStore {
  const one = (sql: string, ...values: Value[]): Promise<StoredTypedProvider | null> =>
    use(async () => {
      const [row] = await database.query(sql, values);
      return row === undefined ? null : toTypedProvider(sha256, row);
    });
  const many = (sql: string, ...values: Value[]): Promise<TypedProviderItem[]> =>
    use(async () => (await database.query(sql, values)).map((row) => toItem(sha256, row)));
  const write = <Result>(namespaceId: number, work: (query: Transaction) => Promise<Result>): Promise<Result> =>
    use(() => inNamespace(database, namespaceId, work));
  return {
    register: (version) =>
      write(version.namespace_id, (query) => {
        assertTypedProvider(version);
        return register(query, sha256, version);
      }),
    get: ({ namespace_id, provider_id, version }) => one(GET, namespace_id, provider_id, version),
    getActive: (namespaceId, providerId) => one(GET_ACTIVE, namespaceId, providerId),
    getByIdentity: (namespaceId, providerId, identity) => one(GET_BY_IDENTITY, namespaceId, providerId, identity),
    list: (namespaceId, after, limit) => many(LIST, namespaceId, after?.provider_id ?? "", after?.version ?? "", limit),
    listActive: (namespaceId) => many(LIST_ACTIVE, namespaceId),
    listNamespaces: (limit) =>
      use(async () => (await database.query(NAMESPACES, [limit])).map((row) => integer(row, "namespace_id"))),
    activate: (key, expected) => write(key.namespace_id, (query) => activate(query, sha256, key, expected)),
    deprecate: (key, expected) => write(key.namespace_id, (query) => deprecate(query, sha256, key, expected)),
  };
}

async function register(
  query: Transaction,
  sha256: Sha256,
  version: TypedProviderVersion,
): Promise<RegisterTypedResult> {
  const { namespace_id, provider_id, provider_version_identity: identity } = version;
  const [row] = await query(EXISTING, [namespace_id, provider_id, version.version, identity]);
  if (row !== undefined) {
    const existing = toItem(sha256, row);
    const isSame = existing.version === version.version && existing.provider_version_identity === identity;
    return isSame ? { outcome: "same", state: existing.state } : { outcome: "exists", version: existing.version };
  }
  const [counted] = await query(COUNT, [namespace_id]);
  if (counted === undefined || integer(counted, "versions") >= TYPED_VERSIONS_MAXIMUM) return { outcome: "limit" };
  const { typed_protocol, checks, registered_at, body } = version;
  const seal = sealTypedProvider(sha256, { ...version, state: "registered" });
  const names = [namespace_id, provider_id, version.version, identity];
  await query(ADD, [...names, typed_protocol, checks, registered_at, seal, body]);
  return { outcome: "registered" };
}

async function activate(
  query: Transaction,
  sha256: Sha256,
  key: TypedProviderKey,
  expected: string | null,
): Promise<ActivateTypedResult> {
  const version = await find(query, sha256, key);
  if (version === null) return { outcome: "not_found" };
  if (version.state === "deprecated") return { outcome: "deprecated" };
  const [row] = await query(FIND_ACTIVE, [key.namespace_id, key.provider_id]);
  const active = row === undefined ? null : toItem(sha256, row);
  if ((active?.version ?? null) !== expected) return { outcome: "conflict", active: active?.version ?? null };
  if (active !== null) await setState(query, sha256, active, "registered");
  await setState(query, sha256, version, "active");
  return { outcome: "activated", previous: expected };
}

async function deprecate(
  query: Transaction,
  sha256: Sha256,
  key: TypedProviderKey,
  expected: TypedProviderState,
): Promise<DeprecateTypedResult> {
  const version = await find(query, sha256, key);
  if (version === null) return { outcome: "not_found" };
  if (version.state !== expected || expected === "deprecated") return { outcome: "conflict", state: version.state };
  await setState(query, sha256, version, "deprecated");
  return { outcome: "deprecated" };
}

async function find(query: Transaction, sha256: Sha256, key: TypedProviderKey): Promise<TypedProviderItem | null> {
  const [row] = await query(FIND, [key.namespace_id, key.provider_id, key.version]);
  return row === undefined ? null : toItem(sha256, row);
}

async function setState(
  query: Transaction,
  sha256: Sha256,
  item: TypedProviderItem,
  state: TypedProviderState,
): Promise<void> {
  const seal = sealTypedProvider(sha256, { ...item, state });
  await query(SET_STATE, [item.namespace_id, item.provider_id, item.version, state, seal]);
}
