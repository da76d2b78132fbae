import assert from "node:assert/strict";
import { setImmediate } from "node:timers/promises";
import type { RunHead } from "../types.ts";
import type { Connection } from "./connection.ts";
import { openWriterConnection } from "./connection.ts";
import { watchCommits } from "./commit_watch.ts";
import { createHeadCache } from "./head_cache.ts";

const RUN = { namespace_id: 2, run_id: "0".repeat(32) };
const STORAGE = { journal_mode: "wal", sync_mode: "full", busy_timeout_ms: 1000 } as const;

function headAt(revision: number): RunHead {
  const head = { record_id: revision.toString(16).padStart(64, "0"), revision };
  return { run_key: RUN, scenario_id: "s", scenario_law_identity: "f".repeat(64), head };
}

async function withConnections(test: (own: Connection, other: Connection) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  const path = `${folder}/gate.db`;
  const own = openWriterConnection(path, STORAGE);
  const other = openWriterConnection(path, STORAGE);
  try {
    await test(own, other);
  } finally {
    own.database.close();
    other.database.close();
    await Deno.remove(folder, { recursive: true });
  }
}

function commit(connection: Connection, identity: string): void {
  connection.database.prepare("INSERT INTO artifacts (identity, kind, body) VALUES (?, 'schema', '{}')").run(identity);
}

Deno.test("createHeadCache() returns a head until another connection commits", () =>
  withConnections(async (own, other) => {
    const heads = createHeadCache(watchCommits(own));
    assert.equal(heads.get(RUN), undefined);
    heads.set(headAt(3));
    assert.equal(heads.get(RUN)?.head.revision, 3);
    await setImmediate();
    commit(own, "own");
    await setImmediate();
    assert.equal(heads.get(RUN)?.head.revision, 3, "commits of this connection do not count");
    await setImmediate();
    commit(other, "other");
    await setImmediate();
    assert.equal(heads.get(RUN), undefined, "commits of another do");
  }));

Deno.test("createHeadCache() keeps the later of two heads", () =>
  withConnections((own) => {
    const heads = createHeadCache(watchCommits(own));
    heads.get(RUN);
    heads.set(headAt(4));
    heads.set(headAt(3));
    assert.equal(heads.get(RUN)?.head.revision, 4);
    return Promise.resolve();
  }));
