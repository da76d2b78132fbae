import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";

import { stoppedClock } from "../../../tests/clock.ts";
import { appendTo, LAW, runKey, sha256, STORAGE } from "../../../tests/simulation/store/fixture.ts";
import { storesOptions, WAL_FULL, withFolder } from "../../../tests/simulation/store/open.ts";
import { backupStore } from "../backup/backup.ts";
import { copyStore } from "../copy/copy.ts";
import { closeStores, openRows, openStores } from "../open.ts";
import { StoreError, type StoreErrorCode } from "../types.ts";
import { openReaderConnection, openWriterConnection } from "./connection.ts";
import { toStoreError } from "./errors.ts";
import { APPLICATION_ID, CREATE_TABLES, FORMAT_VERSION, ROW_BYTES_MAXIMUM } from "./format.ts";

const posix = Deno.build.os !== "windows";

async function modeOf(path: string): Promise<number> {
  return ((await Deno.stat(path)).mode ?? 0) & 0o777;
}

function database(path: string, sql: string): void {
  const file = new DatabaseSync(path);
  file.exec(sql);
  file.close();
}

/** A store with enough content to be cut anywhere. */
async function fullStore(folder: string): Promise<string> {
  const stores = await openStores(storesOptions(folder, WAL_FULL), sha256);
  const operations = Array.from({ length: 100 }, (_, index) => ({ operation: `op ${index}`, filling: 500 }));
  await stores.runs.append(appendTo(runKey("one"), null, "create", ...operations));
  await closeStores(stores);
  return `${folder}/gate.db`;
}

/** The file in place of the store, and the error of opening. */
const OPENINGS: readonly [string, (path: string) => void | Promise<void>, StoreErrorCode | null, RegExp][] = [
  ["nothing", () => {}, null, /^$/],
  [
    "an empty file",
    (path) => Deno.writeTextFile(path, ""),
    "corrupt",
    /: it is empty: restore a backup, or remove it to create a new store$/,
  ],
  ["an empty database", (path) => database(path, "PRAGMA journal_mode = wal"), null, /^$/],
  ["a store", (path) => database(path, CREATE_TABLES), null, /^$/],
  ...([
    [
      "a trigger that drops records",
      "CREATE TRIGGER t BEFORE INSERT ON records BEGIN SELECT raise(IGNORE); END",
      'trigger "t"',
    ],
    [
      "a trigger that moves heads",
      "CREATE TRIGGER t AFTER INSERT ON records BEGIN UPDATE runs SET revision = 1; END",
      'trigger "t"',
    ],
    ["another table", "CREATE TABLE notes (note TEXT)", 'table "notes"'],
    ["a view", "CREATE VIEW notes AS SELECT 1", 'view "notes"'],
    ["another index", "CREATE INDEX seals ON records (seal)", 'index "seals"'],
    ["a table with a long name", `CREATE TABLE "${"n".repeat(65)}" (note TEXT)`, `table "${"n".repeat(64)}..."`],
  ] as const).map(([what, sql, object]): typeof OPENINGS[number] => [
    `a store with ${what}`,
    (path) => database(path, `${CREATE_TABLES}; ${sql}`),
    "corrupt",
    new RegExp(`: its ${object.replaceAll(".", "\\.")} is not part of a gate store: drop it or restore a backup$`),
  ]),
  ...([
    ["another column", "ALTER TABLE runs ADD COLUMN note TEXT", 'table "runs" was changed'],
    ["an index less", "DROP INDEX laws_listed", 'index "laws_listed" is missing'],
    [
      "no constraints",
      "CREATE TABLE r AS SELECT * FROM records; DROP TABLE records; ALTER TABLE r RENAME TO records",
      'table "records" was changed',
    ],
  ] as const).map(([what, sql, fault]): typeof OPENINGS[number] => [
    `a store with ${what}`,
    (path) => database(path, `${CREATE_TABLES}; ${sql}`),
    "corrupt",
    new RegExp(`: its ${fault}: restore a backup$`),
  ]),
  ["text", (path) => Deno.writeTextFile(path, "No database ".repeat(100)), "corrupt", /the file is not a database/],
  ["a few bytes", (path) => Deno.writeTextFile(path, "SQLite"), "corrupt", /the file is not a database/],
  ["a folder", (path) => Deno.mkdir(path), "io", /it is a folder, expected a file/],
  ["a link to nothing", (path) => Deno.symlink("none.db", path), "io", /it is a link to a missing file$/],
  ["a link to itself", (path) => Deno.symlink(path, path), "io", /its links form a loop$/],
  ["a device", (path) => Deno.symlink("/dev/null", path), "io", /it is not a file$/],
  [
    "another program's database",
    (path) => database(path, "CREATE TABLE t (a)"),
    "version_unsupported",
    /of another program/,
  ],
  [
    "another program's id",
    (path) => database(path, "PRAGMA application_id = 7"),
    "version_unsupported",
    /of another program/,
  ],
  [
    "a newer format",
    (path) => database(path, `${CREATE_TABLES} PRAGMA user_version = ${FORMAT_VERSION + 1}`),
    "version_unsupported",
    /format version 8 is newer than 7/,
  ],
  [
    "an older format",
    (path) => database(path, `PRAGMA application_id = ${APPLICATION_ID}`),
    "version_unsupported",
    /format version 0 is older than 1/,
  ],
];

for (const [what, prepare, code, message] of OPENINGS) {
  Deno.test(`openStores() on ${what}: ${code ?? "opens"}`, () =>
    withFolder(async (folder) => {
      await prepare(`${folder}/gate.db`);
      const opening = openStores(storesOptions(folder, WAL_FULL), sha256);
      if (code === null) {
        const stores = await opening;
        await stores.runs.ready();
        return await closeStores(stores);
      }
      await assert.rejects(opening, (error) => {
        assert.ok(error instanceof StoreError);
        assert.equal(error.code, code);
        assert.match(error.message, message);
        assert.ok(error.message.includes(`${folder}/gate.db`));
        return true;
      });
    }));
}

Deno.test("openStores() creates no store beside the log of a missing store, and keeps the log", () =>
  withFolder(async (folder) => {
    const path = `${folder}/gate.db`;
    await Deno.writeTextFile(`${path}-wal`, "what is left");
    await assert.rejects(
      openStores(storesOptions(folder, WAL_FULL), sha256),
      /its file is missing, but its log ".*" exists/,
    );
    assert.equal(await Deno.readTextFile(`${path}-wal`), "what is left");
    assert.deepEqual((await Array.fromAsync(Deno.readDir(folder))).map(({ name }) => name), ["gate.db-wal"]);
    await Deno.writeTextFile(`${path}-wal`, "");
    await closeStores(await openStores(storesOptions(folder, WAL_FULL), sha256));
  }));

Deno.test("openStores() refuses an empty file, and keeps the log beside it", () =>
  withFolder(async (folder) => {
    const path = `${folder}/gate.db`;
    await Deno.writeTextFile(path, "");
    await Deno.writeTextFile(`${path}-wal`, "what is left");
    await assert.rejects(openStores(storesOptions(folder, WAL_FULL), sha256), /it is empty/);
    assert.equal(await Deno.readTextFile(`${path}-wal`), "what is left");
  }));

Deno.test(
  "openWriterConnection() says in words of its own where no file can be",
  { ignore: Deno.build.os !== "linux" },
  () =>
    withFolder(async (folder) => {
      await Deno.writeTextFile(`${folder}/file`, "");
      await Deno.symlink("none", `${folder}/link`);
      const rows: readonly (readonly [path: string, RegExp])[] = [
        [
          "/proc/gate.db",
          /^Cannot create store "\/proc\/gate.db": (?:gate has no permission to use it|no file can be created there)$/,
        ],
        [`${folder}/file/gate.db`, /^Cannot create store ".*gate.db": a part of its path is not a folder$/],
        [`${folder}/link/gate.db`, /^Cannot create store ".*gate.db": no file can be created there$/],
      ];
      for (const [path, message] of rows) {
        assert.throws(() => openWriterConnection(path, STORAGE), (error) => {
          assert.ok(error instanceof StoreError && error.code === "io");
          assert.match(error.message, message);
          return true;
        });
      }
    }),
);

/** Opens a store once a line was read; the test has limited the process by then. */
const OPEN_LATER = `
  const { openWriterConnection } = await import(Deno.args[0]);
  await Deno.stdout.write(new Uint8Array(1));
  await Deno.stdin.read(new Uint8Array(1));
  openWriterConnection(Deno.args[1], { journal_mode: "wal", sync_mode: "full", busy_timeout_ms: 1000 });
`;

Deno.test(
  "a process that is killed while it creates a store leaves nothing at the path",
  { ignore: !posix },
  () =>
    withFolder(async (folder) => {
      const path = `${folder}/gate.db`;
      const module = new URL("./connection.ts", import.meta.url).href;
      const script = `${folder}/open.ts`;
      await Deno.writeTextFile(script, OPEN_LATER);
      const config = new URL("../../../deno.json", import.meta.url).pathname;
      const args = ["run", "--allow-all", "--quiet", "--no-check", "--config", config, script, module, path];
      const pipes = { stdin: "piped", stdout: "piped", stderr: "null" } as const;
      const child = new Deno.Command(Deno.execPath(), { args, ...pipes }).spawn();
      const reader = child.stdout.getReader();
      assert.equal((await reader.read()).value?.length, 1);
      // The first byte that it writes to any file ends the process.
      const limited = new Deno.Command("prlimit", { args: ["--fsize=0", "--pid", String(child.pid)] });
      assert.ok((await limited.output()).success);
      const writer = child.stdin.getWriter();
      await writer.write(new Uint8Array(1));
      assert.equal((await child.status).signal, "SIGXFSZ");
      await reader.cancel();
      await writer.close().catch(() => {});
      await assert.rejects(Deno.lstat(path), Deno.errors.NotFound);
      await closeStores(await openStores(storesOptions(folder, WAL_FULL), sha256));
      assert.ok((await Deno.stat(path)).size > 0);
    }),
);

Deno.test("processes that create one store at the same time use the same one", () =>
  withFolder(async (folder) => {
    const opening = Array.from({ length: 4 }, () => openStores(storesOptions(folder, WAL_FULL), sha256));
    const all = await Promise.all(opening);
    const created = appendTo(runKey("one"), null, "create");
    assert.deepEqual(await all[0]?.runs.append(created), { outcome: "accepted" });
    for (const { runs } of all) assert.equal((await runs.getHead(created.run_key))?.head.revision, 1);
    await Promise.all(all.map(closeStores));
    const names = (await Array.fromAsync(Deno.readDir(folder))).map(({ name }) => name);
    assert.deepEqual(names.toSorted(), [".gate.db.mark", "gate.db"]);
  }));

for (const part of [0.02, 0.3, 0.7, 0.99]) {
  Deno.test(`openStores() on a store cut to ${part * 100} % is corrupt, at once or at the first read`, () =>
    withFolder(async (folder) => {
      const path = await fullStore(folder);
      await Deno.truncate(path, Math.floor((await Deno.stat(path)).size * part));
      await assert.rejects(async () => {
        const stores = await openStores(storesOptions(folder, WAL_FULL), sha256);
        try {
          await stores.runs.listRecords(runKey("one"), 0, 1000);
        } finally {
          await closeStores(stores);
        }
      }, (error) => error instanceof StoreError && error.code === "corrupt");
    }));
}

Deno.test(
  "openStores() makes missing folders and files for their owner alone",
  { ignore: !posix },
  () =>
    withFolder(async (folder) => {
      const inner = `${folder}/a/b`;
      const stores = await openStores(storesOptions(inner, WAL_FULL), sha256);
      await stores.runs.append(appendTo(runKey("one"), null, "create"));
      const modes = [`${folder}/a`, inner, `${inner}/gate.db`, `${inner}/gate.db-wal`, `${inner}/gate.db-shm`].map(
        modeOf,
      );
      assert.deepEqual(await Promise.all(modes), [0o700, 0o700, 0o600, 0o600, 0o600]);
      await closeStores(stores);
    }),
);

Deno.test("openStores() keeps the content, in either journal mode", () =>
  withFolder(async (folder) => {
    const append = appendTo(runKey("one"), null, "create", "a");
    const first = await openStores(storesOptions(folder, WAL_FULL), sha256);
    await first.runs.append(append);
    await closeStores(first);
    for (const journal_mode of ["delete", "wal"] as const) {
      const stores = await openStores(storesOptions(folder, WAL_FULL, { journal_mode }), sha256);
      assert.deepEqual(await stores.runs.listRecords(runKey("one"), 0, 10), [...append.records]);
      await closeStores(stores);
    }
  }));

Deno.test("openStores() opens runs and schemas in one file or two", () =>
  withFolder(async (folder) => {
    const { run, schemas } = storesOptions(folder, WAL_FULL);
    const apart = await openStores({ run, schemas: { ...schemas, path: `${folder}/schemas.db` } }, sha256);
    await closeStores(apart);
    const mixed = await openStores({ run: { ...run, type: "memory", path: null }, schemas }, sha256);
    await closeStores(mixed);
    await assert.rejects(
      openStores({ run, schemas: { ...schemas, batch_max_ops: 1 } }, sha256),
      /"batch_max_ops" differs/,
    );
    await assert.rejects(openStores({ run: { ...run, path: null }, schemas }, sha256), /no path is configured/);
  }));

Deno.test("openStores() waits for another process no longer than busy_timeout_ms", () =>
  withFolder(async (folder) => {
    const path = await fullStore(folder);
    const other = new DatabaseSync(path);
    other.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE");
    using clock = stoppedClock();
    const opening = openStores(
      storesOptions(folder, WAL_FULL, { busy_timeout_ms: 80, journal_mode: "delete" }),
      sha256,
    );
    let isOver = false;
    const over = assert.rejects(opening, { name: "StoreError", code: "busy", retryable: true })
      .finally(() => isOver = true);
    for (const millis of [79, 1]) {
      await new Promise((resolve) => setTimeout(resolve, 50));
      assert.equal(isOver, false);
      clock.pass(millis);
    }
    await over;
    other.close();
  }));

Deno.test("openWriterConnection() applies the options", () =>
  withFolder((folder) => {
    for (const [sync_mode, synchronous] of [["full", 2], ["normal", 1]] as const) {
      for (const journal_mode of ["wal", "delete"] as const) {
        const path = `${folder}/${sync_mode}_${journal_mode}.db`;
        const connection = openWriterConnection(path, { ...STORAGE, sync_mode, journal_mode });
        const pragma = (name: string): unknown => connection.database.prepare(`PRAGMA ${name}`).get()?.[name];
        assert.deepEqual(["synchronous", "journal_mode", "trusted_schema"].map(pragma), [synchronous, journal_mode, 0]);
        connection.database.close();
      }
    }
    return Promise.resolve();
  }));

Deno.test("A connection accepts rows up to the limit", () =>
  withFolder((folder) => {
    const path = `${folder}/gate.db`;
    const connections = [openWriterConnection(path, STORAGE), openReaderConnection(path, STORAGE)];
    for (const { statement } of connections) {
      // The size of a row of zeros is checked before memory is allocated for it.
      const measure = (bytes: number): unknown =>
        statement("SELECT length(zeroblob(?)) AS bytes").get(bytes)?.["bytes"];
      for (const bytes of [ROW_BYTES_MAXIMUM - 1, ROW_BYTES_MAXIMUM]) assert.equal(measure(bytes), bytes);
      assert.throws(() => measure(ROW_BYTES_MAXIMUM + 1), (error) => {
        const { code, message } = toStoreError(error, path, "read");
        assert.deepEqual([code, message], [
          "corrupt",
          `Cannot read "${path}": one of its rows exceeds 268435456 bytes`,
        ]);
        return true;
      });
    }
    for (const { database } of connections.reverse()) database.close();
    return Promise.resolve();
  }));

/** The file in place of the store, and the bytes of its pages once it is a store. */
const PAGES: readonly [string, (path: string) => void, number][] = [
  ["nothing", () => {}, 2048],
  ["an empty database", (path) => database(path, "PRAGMA journal_mode = wal"), 4096],
  ["a store of 4 KiB", (path) => database(path, `PRAGMA page_size = 4096; ${CREATE_TABLES}`), 4096],
  ["a store of 1 KiB", (path) => database(path, `PRAGMA page_size = 1024; ${CREATE_TABLES}`), 1024],
];

function pageBytes(path: string): unknown {
  using file = new DatabaseSync(path, { readOnly: true });
  return file.prepare("PRAGMA page_size").get()?.["page_size"];
}

for (const [what, make, bytes] of PAGES) {
  Deno.test(`from ${what}, a store and its backup have pages of ${bytes} bytes, and a copy has those of a new file`, () =>
    withFolder(async (folder) => {
      make(`${folder}/gate.db`);
      const stores = await openStores(storesOptions(folder, WAL_FULL), sha256);
      await stores.runs.laws.put(LAW);
      const operations = Array.from({ length: 100 }, (_, index) => ({ operation: `op ${index}`, filling: 5_000 }));
      const append = appendTo(runKey("one"), null, "create", ...operations);
      assert.deepEqual(await stores.runs.append(append), { outcome: "accepted" });
      await backupStore(`${folder}/gate.db`, `${folder}/backup.db`, { sha256 });
      await closeStores(stores);
      const rows = await openRows(storesOptions(folder, WAL_FULL).run);
      await Deno.mkdir(`${folder}/copies`);
      const copied = await openStores(storesOptions(`${folder}/copies`, WAL_FULL), sha256);
      assert.deepEqual((await copyStore(rows, copied, { sha256 })).written.records, 101);
      await rows.close();
      await closeStores(copied);
      assert.deepEqual(["gate.db", "backup.db", "copies/gate.db"].map((name) => pageBytes(`${folder}/${name}`)), [
        bytes,
        bytes,
        2048,
      ]);
    }));
}
