/**
 * Artifacts in SQL: objects that many runs share, each stored once.
 *
 * @module
 */

import type { Identity, Sha256 } from "../../canonical/identity.ts";
import { hashesTo } from "../record_check.ts";
import { type Artifact, StoreError } from "../types.ts";
import type { Connection } from "./connection.ts";
import { text } from "./rows.ts";

const PUT_ARTIFACT = "INSERT INTO artifacts (identity, kind, body) VALUES (?, ?, ?) ON CONFLICT DO NOTHING";
const GET_ARTIFACT = "SELECT kind, body FROM artifacts WHERE identity = ?";

/** Writes an artifact unless it exists; to be called inside a transaction. */
export function writeArtifact(connection: Connection, artifact: Artifact): void {
  connection.statement(PUT_ARTIFACT).run(artifact.identity, artifact.kind, artifact.body);
}

/**
 * An artifact, verified by its hash.
 *
 * @throws {StoreError} `corrupt`
 */
export function readArtifact(connection: Connection, sha256: Sha256, identity: Identity): Artifact | null {
  const row = connection.statement(GET_ARTIFACT).get(identity);
  if (row === undefined) return null;
  const artifact = { identity, kind: text(row, "kind") as Artifact["kind"], body: text(row, "body") };
  if (hashesTo(sha256, artifact.kind, identity, artifact.body)) return artifact;
  throw new StoreError("corrupt", `Cannot read artifact "${identity}": its text does not hash to it`);
}
