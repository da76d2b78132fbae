/**
 * Typed providers on SQLite. The table exists from the first registration on, which makes the file format 3.
 *
 * @module
 */

import type { Sha256 } from "../../canonical/identity.ts";
import { hashesTo } from "../record_check.ts";
import { sealTypedProvider } from "../seal.ts";
import { assertTypedProvider } from "../shape.ts";
import { textBytes } from "../size.ts";
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
import type { Connection } from "./connection.ts";
import type { StoreFile } from "./file.ts";
import { formatOf, TYPED_PROVIDERS_FORMAT } from "./format_steps.ts";
import { integer, type Row, text } from "./rows.ts";

const ITEM = `namespace_id, provider_id, version, identity, state, typed_protocol, checks, registered_at, seal`;
const ADD = `INSERT INTO typed_providers
  (namespace_id, provider_id, version, identity, state, typed_protocol, checks, registered_at, seal, body)
  VALUES (?, ?, ?, ?, 'registered', ?, ?, ?, ?, ?)`;
const EXISTING = `SELECT ${ITEM} FROM typed_providers
  WHERE namespace_id = ?1 AND provider_id = ?2 AND (version = ?3 OR identity = ?4) ORDER BY version <> ?3 LIMIT 1`;
const COUNT = "SELECT count(*) AS versions FROM typed_providers WHERE namespace_id = ?";
const GET = "SELECT * FROM typed_providers WHERE namespace_id = ? AND provider_id = ? AND version = ?";
const GET_ACTIVE = "SELECT * FROM typed_providers WHERE namespace_id = ? AND provider_id = ? AND state = 'active'";
const GET_BY_IDENTITY = "SELECT * FROM typed_providers WHERE namespace_id = ? AND provider_id = ? AND identity = ?";
const FIND = `SELECT ${ITEM} FROM typed_providers WHERE namespace_id = ? AND provider_id = ? AND version = ?`;
const FIND_ACTIVE = `SELECT ${ITEM} FROM typed_providers
  WHERE namespace_id = ? AND provider_id = ? AND state = 'active'`;
const LIST = `SELECT ${ITEM} FROM typed_providers
  WHERE namespace_id = ? AND (provider_id, version) > (?, ?) ORDER BY provider_id, version LIMIT ?`;
const LIST_ACTIVE = `SELECT ${ITEM} FROM typed_providers
  WHERE namespace_id = ? AND state = 'active' ORDER BY provider_id`;
const NAMESPACES = `SELECT DISTINCT namespace_id FROM typed_providers
  WHERE state = 'active' ORDER BY namespace_id LIMIT ?`;
const SET_STATE = `UPDATE typed_providers SET state = ?, seal = ?
  WHERE namespace_id = ? AND provider_id = ? AND version = ?`;

/**
 * The reads of typed providers.
 *
 * @param read Runs a read on a connection
 */
export function readTypedProviders(
  sha256: Sha256,
  read: <Result>(work: (connection: Connection) => Result) => Promise<Result>,
): TypedProviderReads {
  const one = (sql: string, ...parameters: (string | number)[]): Promise<StoredTypedProvider | null> =>
    read((connection) => {
      const row = connection.statement(sql).get(...parameters);
      return row === undefined ? null : toTypedProvider(sha256, row);
    });
  const many = (sql: string, ...parameters: (string | number)[]): Promise<TypedProviderItem[]> =>
    read((connection) => connection.statement(sql).all(...parameters).map((row) => toItem(sha256, row)));
  return {
    get: ({ namespace_id, provider_id, version }) => one(GET, namespace_id, provider_id, version),
    getActive: (namespaceId, providerId) => one(GET_ACTIVE, namespaceId, providerId),
    getByIdentity: (namespaceId, providerId, identity) => one(GET_BY_IDENTITY, namespaceId, providerId, identity),
    list: (namespaceId, after, limit) => many(LIST, namespaceId, after?.provider_id ?? "", after?.version ?? "", limit),
    listActive: (namespaceId) => many(LIST_ACTIVE, namespaceId),
    listNamespaces: (limit) =>
      read((connection) => connection.statement(NAMESPACES).all(limit).map((row) => integer(row, "namespace_id"))),
  };
}

/**
 * Typed providers in an open file.
 *
 * @param use Runs an operation unless the registry is closed
 */
export function createSqliteTypedProviders(
  file: StoreFile,
  sha256: Sha256,
  use: <Result>(work: () => Promise<Result>) => Promise<Result>,
): TypedProviderStore {
  const write = <Result>(apply: (connection: Connection) => Result): Promise<Result> =>
    use(() => file.writer.submit(0, apply));
  return {
    ...readTypedProviders(sha256, (work) => use(() => file.readers.point(work))),
    register: (version) =>
      use(() => {
        assertTypedProvider(version);
        return file.writer.submit(textBytes(version.body), (connection) => register(connection, sha256, version));
      }),
    activate: (key, expected) => write((connection) => activate(connection, sha256, key, expected)),
    deprecate: (key, expected) => write((connection) => deprecate(connection, sha256, key, expected)),
  };
}

/** Whether the file has the table: a file that is only read may have an older format. */
export function hasTable(connection: Connection): boolean {
  return formatOf(connection) >= TYPED_PROVIDERS_FORMAT;
}

function register(connection: Connection, sha256: Sha256, version: TypedProviderVersion): RegisterTypedResult {
  const { namespace_id, provider_id, provider_version_identity: identity } = version;
  const row = connection.statement(EXISTING).get(namespace_id, provider_id, version.version, identity);
  if (row !== undefined) {
    const existing = toItem(sha256, row);
    const isSame = existing.version === version.version && existing.provider_version_identity === identity;
    return isSame ? { outcome: "same", state: existing.state } : { outcome: "exists", version: existing.version };
  }
  const counted = connection.statement(COUNT).get(namespace_id);
  if (counted === undefined || integer(counted, "versions") >= TYPED_VERSIONS_MAXIMUM) return { outcome: "limit" };
  const { typed_protocol, checks, registered_at, body } = version;
  const seal = sealTypedProvider(sha256, { ...version, state: "registered" });
  connection.statement(ADD).run(
    namespace_id,
    provider_id,
    version.version,
    identity,
    typed_protocol,
    checks,
    registered_at,
    seal,
    body,
  );
  return { outcome: "registered" };
}

function activate(
  connection: Connection,
  sha256: Sha256,
  key: TypedProviderKey,
  expected: string | null,
): ActivateTypedResult {
  const version = find(connection, sha256, key);
  if (version === null) return { outcome: "not_found" };
  if (version.state === "deprecated") return { outcome: "deprecated" };
  const row = connection.statement(FIND_ACTIVE).get(key.namespace_id, key.provider_id);
  const active = row === undefined ? null : toItem(sha256, row);
  if ((active?.version ?? null) !== expected) return { outcome: "conflict", active: active?.version ?? null };
  if (active !== null) setState(connection, sha256, active, "registered");
  setState(connection, sha256, version, "active");
  return { outcome: "activated", previous: expected };
}

function deprecate(
  connection: Connection,
  sha256: Sha256,
  key: TypedProviderKey,
  expected: TypedProviderState,
): DeprecateTypedResult {
  const version = find(connection, sha256, key);
  if (version === null) return { outcome: "not_found" };
  if (version.state !== expected || expected === "deprecated") return { outcome: "conflict", state: version.state };
  setState(connection, sha256, version, "deprecated");
  return { outcome: "deprecated" };
}

function find(connection: Connection, sha256: Sha256, key: TypedProviderKey): TypedProviderItem | null {
  const row = connection.statement(FIND).get(key.namespace_id, key.provider_id, key.version);
  return row === undefined ? null : toItem(sha256, row);
}

function setState(connection: Connection, sha256: Sha256, item: TypedProviderItem, state: TypedProviderState): void {
  const seal = sealTypedProvider(sha256, { ...item, state });
  connection.statement(SET_STATE).run(state, seal, item.namespace_id, item.provider_id, item.version);
}

/**
 * The version of a row, verified by its seal.
 *
 * @throws {StoreError} `corrupt`
 */
export function toItem(sha256: Sha256, row: Row): TypedProviderItem {
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
