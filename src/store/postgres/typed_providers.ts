/**
 * Typed providers on PostgreSQL.
 *
 * @module
 */

import type { Sha256 } from "../../canonical/identity.ts";
import type { Gate } from "../gate.ts";
import { storeTypedProviders } from "../typed_provider_rows.ts";
import type { TypedProviderStore } from "../typed_provider_types.ts";
import type { Database } from "./database.ts";
import { inNamespace } from "./namespace_lock.ts";
import { runSteps, statementsOn } from "./statements.ts";

/** Typed providers in an open database. */
export function createPostgresTypedProviders(database: Database, sha256: Sha256, use: Gate): TypedProviderStore {
  return storeTypedProviders(
    sha256,
    statementsOn(database, use).read,
    (namespaceId, _bytes, begin) => use(() => inNamespace(database, namespaceId, (query) => runSteps(query, begin()))),
  );
}
