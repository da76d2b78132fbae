import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";

import { stoppedClock } from "../../../tests/clock.ts";
import { STORAGE } from "../../../tests/simulation/store/fixture.ts";
import { withFolder } from "../../../tests/simulation/store/open.ts";
import { type StorageOptions, StoreError } from "../types.ts";
import { type Connection, openWriterConnection } from "./connection.ts";
import { createWriter, type Writer } from "./writer.ts";

const PUT =
  "INSERT INTO laws (namespace_id, scenario_id, identity, graph_identity, seal, law) VALUES (1, ?, ?, '', '', '')";

/** An operation that writes its name. */
function put(name: string): (connection: Connection) => string {
  return (connection) => {
    connection.statement(PUT).run(name, name);
    return name;
  };
}

interface Bench {
  readonly writer: Writer;
  readonly connection: Connection;
  readonly path: string;
  /** Names that a separate connection reads. */
  readonly committed: () => string[];
  /** The number of operations in each committed transaction. */
  readonly batches: () => number[];
}

async function withWriter(changes: Partial<StorageOptions>, run: (bench: Bench) => Promise<void>): Promise<void> {
  await withFolder(async (folder) => {
    const options = { ...STORAGE, ...changes };
    const path = `${folder}/gate.db`;
    const plain = openWriterConnection(path, options);
    const sizes: number[] = [];
    let size = 0;
    // Counts the operations between BEGIN and COMMIT, and runs them.
    const statement: Connection["statement"] = (sql) => {
      if (sql.startsWith("BEGIN")) size = 0;
      if (sql === PUT) size += 1;
      if (sql === "COMMIT") sizes.push(size);
      return plain.statement(sql);
    };
    const connection = { ...plain, statement };
    const watcher = new DatabaseSync(path, { readOnly: true });
    const committed = (): string[] =>
      watcher.prepare("SELECT scenario_id FROM laws ORDER BY law_row").all().map((row) => String(row["scenario_id"]));
    const writer = createWriter(connection, options, { verifyBefore: () => {}, verify: () => {}, committed: () => {} });
    try {
      await run({ writer, connection, path, committed, batches: () => sizes });
    } finally {
      await writer.drain();
      watcher.close();
      plain.database.close();
    }
  });
}

function names(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `name ${index}`);
}

function isCode(code: string): (error: unknown) => boolean {
  return (error) => error instanceof StoreError && error.code === code;
}

Deno.test("submit() answers after the commit, in order, one transaction for all", () =>
  withWriter({}, async ({ writer, committed, batches }) => {
    const answers = names(10).map((name) =>
      writer.submit(1, put(name)).then((result) => {
        assert.ok(committed().includes(result));
        return result;
      })
    );
    assert.deepEqual(committed(), []);
    assert.deepEqual(await Promise.all(answers), names(10));
    assert.deepEqual(committed(), names(10));
    assert.deepEqual(batches(), [10]);
  }));

// Operations queued at once, bytes of each, limits, and the sizes of the transactions.
const BATCHES: readonly [number, number, Partial<StorageOptions>, readonly number[]][] = [
  [3, 1, { batch_max_ops: 4 }, [3]],
  [4, 1, { batch_max_ops: 4 }, [4]],
  [5, 1, { batch_max_ops: 4 }, [4, 1]],
  [3, 1, { batch_max_ops: 1 }, [1, 1, 1]],
  [3, 10, { batch_max_bytes: 31 }, [3]],
  [3, 10, { batch_max_bytes: 30 }, [3]],
  [3, 10, { batch_max_bytes: 29 }, [2, 1]],
  [3, 10, { batch_max_bytes: 1 }, [1, 1, 1]],
];

for (const [count, bytes, changes, expected] of BATCHES) {
  Deno.test(`submit() ${count} operations of ${bytes} bytes with ${JSON.stringify(changes)}: ${expected.join(" + ")}`, () =>
    withWriter(changes, async ({ writer, batches }) => {
      await Promise.all(names(count).map((name) => writer.submit(bytes, put(name))));
      assert.deepEqual(batches(), expected);
    }));
}

for (const [count, refused] of [[3, 0], [4, 0], [5, 1]] as const) {
  Deno.test(`submit() of ${count} with a capacity of 4 rejects ${refused}`, () =>
    withWriter({ writer_queue_capacity: 4, batch_max_wait_ms: 7 }, async ({ writer, committed }) => {
      const results = await Promise.allSettled(names(count).map((name) => writer.submit(1, put(name))));
      const errors = results.flatMap((result) => result.status === "rejected" ? [result.reason] : []);
      assert.equal(errors.length, refused);
      for (const error of errors) {
        assert.ok(isCode("queue_full")(error) && error.retryable);
        assert.equal(error.retryAfterMillis, 7);
      }
      assert.equal(committed().length, count - refused);
      assert.equal(await writer.submit(1, put("later")), "later");
    }));
}

Deno.test("submit() of a failing operation does not affect others, even after it has written", () =>
  withWriter({}, async ({ writer, committed }) => {
    const failing = (connection: Connection): never => {
      connection.statement(PUT).run("left behind", "left behind");
      throw new Error("An unexpected failure");
    };
    const results = await Promise.allSettled([
      writer.submit(1, put("a")),
      writer.submit(1, failing),
      writer.submit(1, put("b")),
      writer.submit(1, put("a")),
      writer.submit(1, put("c")),
    ]);
    const shown = results.map((result) => result.status === "fulfilled" ? result.value : result.reason.code);
    assert.deepEqual(shown, ["a", "io", "b", "corrupt", "c"]);
    assert.deepEqual(committed(), ["a", "b", "c"]);
  }));

Deno.test("submit() of a single caller waits for a turn, not for the clock", () =>
  withWriter({ batch_max_wait_ms: 60_000 }, async ({ writer, batches }) => {
    for (const name of names(5)) await writer.submit(1, put(name));
    assert.deepEqual(batches(), [1, 1, 1, 1, 1]);
  }));

Deno.test("submit() waits at most batch_max_wait_ms while others keep arriving", () =>
  withWriter(
    { batch_max_wait_ms: 5, batch_max_ops: 1_000_000, writer_queue_capacity: 1_000_000 },
    async ({ writer }) => {
      let answered = false;
      const first = writer.submit(1, put("first")).then(() => answered = true);
      const rest: Promise<string>[] = [];
      const until = performance.now() + 60_000;
      while (!answered && performance.now() < until) {
        rest.push(writer.submit(1, put(`name ${rest.length}`)));
        await new Promise((resolve) => setImmediate(resolve));
      }
      assert.ok(answered, "The first operation starved");
      await Promise.all([first, ...rest]);
    },
  ));

Deno.test("submit() retries while another connection holds the database, without blocking the loop", () =>
  withWriter({ busy_timeout_ms: 60_000 }, async ({ writer, path, committed }) => {
    const other = new DatabaseSync(path);
    other.exec("BEGIN IMMEDIATE");
    const waiting = writer.submit(1, put("a"));
    // A writer that blocked the loop would give up before these turns.
    for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setTimeout(resolve, 10));
    other.exec("COMMIT");
    other.close();
    assert.equal(await waiting, "a");
    assert.deepEqual(committed(), ["a"]);
  }));

Deno.test("submit() gives up after busy_timeout_ms with a retryable error", () =>
  withWriter({ busy_timeout_ms: 60 }, async ({ writer, path, committed }) => {
    const other = new DatabaseSync(path);
    other.exec("BEGIN IMMEDIATE");
    using clock = stoppedClock();
    const waiting = Promise.allSettled([writer.submit(1, put("a")), writer.submit(1, put("b"))]);
    for (const millis of [59, 1]) {
      await new Promise((resolve) => setTimeout(resolve, 50));
      assert.equal(writer.load().queued, 2);
      clock.pass(millis);
    }
    for (const result of await waiting) assert.ok(result.status === "rejected" && isCode("busy")(result.reason));
    other.exec("ROLLBACK");
    other.close();
    assert.equal(await writer.submit(1, put("c")), "c");
    assert.deepEqual(committed(), ["c"]);
  }));

Deno.test("submit() on a full disk fails the operations that do not fit and changes nothing", () =>
  withWriter({}, async ({ writer, connection, committed }) => {
    const pages = Number(connection.database.prepare("PRAGMA page_count").get()?.["page_count"]);
    connection.database.exec(`PRAGMA max_page_count = ${pages + 2}`);
    const large = "x".repeat(100_000);
    const results = await Promise.allSettled([
      writer.submit(1, put("a")),
      writer.submit(1, put(large)),
      writer.submit(1, put("b")),
    ]);
    assert.deepEqual(results.map((result) => result.status === "fulfilled" ? result.value : result.reason.code), [
      "a",
      "disk_full",
      "b",
    ]);
    assert.deepEqual(committed(), ["a", "b"]);
    connection.database.exec("PRAGMA max_page_count = 100000");
    assert.equal(await writer.submit(1, put("c")), "c");
  }));

Deno.test("drain() waits for queued operations and rejects further ones", () =>
  withWriter({ batch_max_ops: 2 }, async ({ writer, committed }) => {
    const queued = names(5).map((name) => writer.submit(1, put(name)));
    const drained = writer.drain();
    await assert.rejects(writer.submit(1, put("late")), isCode("closed"));
    await drained;
    assert.deepEqual(committed(), names(5));
    await Promise.all(queued);
  }));

Deno.test("a commit whose files differ afterwards rejects every caller, and is not repeated", () =>
  withFolder(async (folder) => {
    const connection = openWriterConnection(`${folder}/gate.db`, STORAGE);
    const verify = (): void => {
      throw new StoreError("file_lost", "Cannot use it");
    };
    const committed = (): void => assert.fail("it counts as a commit");
    const writer = createWriter(connection, STORAGE, { verifyBefore: () => {}, verify, committed });
    let applied = 0;
    const answers = await Promise.allSettled([1, 2].map(() => writer.submit(1, () => applied += 1)));
    assert.deepEqual(answers.map(({ status }) => status), ["rejected", "rejected"]);
    assert.equal(applied, 2);
    await writer.drain();
    connection.database.close();
  }));
