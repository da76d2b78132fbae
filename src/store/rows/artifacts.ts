/** Artifacts as rows, for every store that has SQL: objects that many runs share, each stored once. */

import type { Sha256 } from "../../canonical/identity.ts";
import { hashesTo } from "../record_check.ts";
import { textBytes } from "../size.ts";
import { text } from "./columns.ts";
import type { RunRead, RunWrite, Statement } from "./statements.ts";
import { type Artifact, type ArtifactStore, StoreError } from "../types.ts";

const PUT_ARTIFACT = "INSERT INTO artifacts (identity, kind, body) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING";
const GET_ARTIFACT = "SELECT kind, body FROM artifacts WHERE identity = ?1";

/** Writes an artifact unless it exists. */
export function putArtifact({ identity, kind, body }: Artifact): Statement {
  return [PUT_ARTIFACT, identity, kind, body];
}

/** The artifacts of a store. */
export function storeArtifacts(
  sha256: Sha256,
  read: RunRead,
  write: RunWrite,
): ArtifactStore {
  return {
    get: async (identity) => {
      const [row] = await read([GET_ARTIFACT, identity]);
      if (row === undefined) return null;
      const artifact = { identity, kind: text(row, "kind") as Artifact["kind"], body: text(row, "body") };
      if (hashesTo(sha256, artifact.kind, identity, artifact.body)) return artifact;
      throw new StoreError("corrupt", `Cannot read artifact "${identity}": its text does not hash to it`);
    },
    put: async (artifact) => void await write(textBytes(artifact.body), putArtifact(artifact)),
  };
}
