import assert from "node:assert/strict";
import { nextTurns } from "../../../tests/until.ts";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { DatabaseSync } from "node:sqlite";

import { appendTo, headAfter, LAW, runKey, sha256 } from "../../../tests/simulation/store/fixture.ts";
import { storesOptions, WAL_FULL, withFolder } from "../../../tests/simulation/store/open.ts";
import { backupStore } from "../backup/backup.ts";
import { checkStore } from "../check/check.ts";
import { closeStores, openStores } from "../open.ts";
import { StoreError } from "../types.ts";
import { openWriterConnection } from "./connection.ts";
import { createFileGuard } from "./file_guard.ts";

const OPTIONS = storesOptions("", WAL_FULL).run;

/** Legitimate changes by SQLite and gate to files that other processes have open. */
const LEGITIMATE: Readonly<Record<string, (folder: string, round: number) => Promise<void> | void>> = {
  "a passive checkpoint": (folder) => pragma(folder, "wal_checkpoint(PASSIVE)"),
  "a full checkpoint": (folder) => pragma(folder, "wal_checkpoint(FULL)"),
  "a checkpoint that restarts the log": (folder) => pragma(folder, "wal_checkpoint(RESTART)"),
  "a checkpoint that empties the log": (folder) => pragma(folder, "wal_checkpoint(TRUNCATE)"),
  "a limit for the log's length": (folder) => pragma(folder, "journal_size_limit = 0"),
  "a vacuum": (folder) => vacuum(folder),
  "a check": async (folder) => {
    assert.deepEqual((await checkStore(`${folder}/gate.db`, { sha256 })).problems, []);
  },
  "a backup": async (folder, round) => {
    await backupStore(`${folder}/gate.db`, `${folder}/copy${round}.db`, { sha256 });
  },
  "another store on the file, opened and closed": async (folder, round) => {
    const other = await openStores(storesOptions(folder, WAL_FULL), sha256);
    await other.runs.append(appendTo(runKey(`other ${round}`), null, `other ${round}`));
    await closeStores(other);
  },
};

function pragma(folder: string, text: string): void {
  using database = new DatabaseSync(`${folder}/gate.db`, { timeout: 5_000 });
  database.exec(`PRAGMA ${text}`);
}

/** In a process of its own: SQLite vacuums into an attached database, which the runtime allows with every permission. */
async function vacuum(folder: string): Promise<void> {
  const path = JSON.stringify(`${folder}/gate.db`);
  const code =
    `import { DatabaseSync } from "node:sqlite"; new DatabaseSync(${path}, { timeout: 5000 }).exec("VACUUM");`;
  const { success } = await new Deno.Command(Deno.execPath(), { args: ["eval", code] }).output();
  assert.ok(success);
}

Deno.test("a store accepts SQLite's own changes to its files, over 5 rounds and 2 restarts", () =>
  withFolder(async (folder) => {
    let head = null;
    for (const start of [1, 2, 3]) {
      const stores = await openStores(storesOptions(folder, WAL_FULL), sha256, (message) => assert.fail(message));
      if (start === 1) await stores.runs.laws.put(LAW);
      for (let round = 0; round < 5; round++) {
        for (const [what, act] of Object.entries(LEGITIMATE)) {
          const append = appendTo(runKey("one"), head, `${start} ${round} ${what}`);
          assert.deepEqual(await stores.runs.append(append), { outcome: "accepted" }, what);
          head = headAfter(append);
          await act(folder, start * 10 + round);
          await stores.runs.ready();
          assert.deepEqual((await stores.runs.getHead(runKey("one")))?.head, head, what);
        }
      }
      await closeStores(stores);
    }
  }));

const WRITER = fileURLToPath(new URL("../../../tests/simulation/store/writer.ts", import.meta.url));
const CONFIG = fileURLToPath(new URL("../../../deno.json", import.meta.url));

/** Appends in a separate process, which opens and closes the store. */
async function write(folder: string, name: string, appends: number): Promise<void> {
  const { code, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "--no-prompt", "--allow-all", "--config", CONFIG, WRITER, folder, name, "4", `${appends}`],
    env: { NO_COLOR: "1" },
    stdout: "null",
    stderr: "piped",
  }).output();
  assert.equal(code, 0, new TextDecoder().decode(stderr));
}

Deno.test("a store accepts the work of other processes while the log is emptied", () =>
  withFolder(async (folder) => {
    const stores = await openStores(storesOptions(folder, WAL_FULL, { busy_timeout_ms: 20_000 }), sha256);
    await stores.runs.laws.put(LAW);
    await stores.runs.append(appendTo(runKey("contended"), null, "create contended"));
    const writers = ["together 1", "together 2"].map((name) => write(folder, name, 40));
    let isWorking = true;
    const working = Promise.all(writers).finally(() => isWorking = false);
    for (let round = 0; isWorking; round++) {
      pragma(folder, `wal_checkpoint(${round % 2 === 0 ? "TRUNCATE" : "RESTART"})`);
      await stores.runs.ready();
      await stores.runs.append(appendTo(runKey(`own ${round}`), null, `own ${round}`));
    }
    await working;
    await closeStores(stores);
    assert.deepEqual((await checkStore(`${folder}/gate.db`, { sha256 })).problems, []);
  }));

Deno.test("three processes that open and close a store by turns accept that its log appears and disappears", () =>
  withFolder(async (folder) => {
    const stores = await openStores(storesOptions(folder, WAL_FULL), sha256);
    await stores.runs.laws.put(LAW);
    await closeStores(stores);
    await Promise.all([1, 2, 3].map(async (lane) => {
      for (let round = 0; round < 5; round++) await write(folder, `${lane} ${round}`, 3);
    }));
    const { problems, counts } = await checkStore(`${folder}/gate.db`, { sha256 });
    assert.deepEqual([problems, counts.runs], [[], 3 * 5 * 4]);
  }));

/** Bytes cut from the end of a log whose bytes are all in use, and whether the guard detects it. */
const CUTS: readonly (readonly [bytes: number, isSeen: boolean])[] = [[0, false], [1, true], [4096, true]];

for (const [bytes, isSeen] of CUTS) {
  Deno.test(`createFileGuard() ${isSeen ? "detects" : "accepts"} a log that is shorter by ${bytes} bytes`, () =>
    withFolder(async (folder) => {
      const path = `${folder}/gate.db`;
      const connection = openWriterConnection(path, OPTIONS);
      connection.database.exec("INSERT INTO artifacts VALUES ('a', 'schema', hex(zeroblob(4096)))");
      const guard = createFileGuard(connection, OPTIONS);
      const { size } = await Deno.stat(`${path}-wal`);
      assert.ok(size > 4096);
      await Deno.truncate(`${path}-wal`, size - bytes);
      const isLost = (error: unknown): boolean => error instanceof StoreError && error.code === "file_lost";
      if (isSeen) assert.throws(guard.verify, isLost);
      else guard.verify();
      // A lost store stays lost, also after the files are restored.
      await Deno.truncate(`${path}-wal`, size);
      if (isSeen) assert.throws(guard.verify, isLost);
      guard.close();
      connection.database.close();
      await nextTurns();
    }));
}

Deno.test("createFileGuard() detects a log that was cut back to its length before the commit of another connection", () =>
  withFolder(async (folder) => {
    const path = `${folder}/gate.db`;
    const connection = openWriterConnection(path, OPTIONS);
    const guard = createFileGuard(connection, OPTIONS);
    const { size } = await Deno.stat(`${path}-wal`);
    pragma(folder, "user_version = 0");
    assert.ok((await Deno.stat(`${path}-wal`)).size > size);
    await Deno.truncate(`${path}-wal`, size);
    assert.throws(guard.verify, /its "-wal" file was cut short/);
    guard.close();
    connection.database.close();
  }));

Deno.test("createFileGuard() compares once a turn on request, and follows links", () =>
  withFolder(async (folder) => {
    await Deno.mkdir(`${folder}/real`);
    await Deno.symlink(`${folder}/real/gate.db`, `${folder}/link.db`);
    openWriterConnection(`${folder}/real/gate.db`, OPTIONS).database.close();
    const connection = openWriterConnection(`${folder}/link.db`, OPTIONS);
    const guard = createFileGuard(connection, OPTIONS);
    guard.verifyThisTurn();
    Deno.removeSync(`${folder}/real/gate.db-shm`);
    guard.verifyThisTurn();
    await nextTurns();
    assert.throws(guard.verifyThisTurn, /its "-shm" file was removed or renamed while it was open/);
    guard.close();
    connection.database.close();
  }));

/** Whether a read of the turn compared; the immediate phases after the removal; whether a transaction may begin. */
const BEFORE_COMMIT: readonly (readonly [read: boolean, phases: number, outcome: "begins" | "refused"])[] = [
  [false, 0, "refused"],
  [true, 0, "begins"],
  [true, 1, "begins"],
  [true, 2, "refused"],
];

for (const [read, phases, outcome] of BEFORE_COMMIT) {
  const turn = read ? "its turn compared" : "nothing compared";
  Deno.test(`createFileGuard() before a commit, ${turn}, ${phases} phases after a removal: ${outcome}`, () =>
    withFolder(async (folder) => {
      const connection = openWriterConnection(`${folder}/gate.db`, OPTIONS);
      const guard = createFileGuard(connection, OPTIONS);
      if (read) guard.verifyThisTurn();
      Deno.removeSync(`${folder}/gate.db-shm`);
      for (let phase = 0; phase < phases; phase++) await new Promise((resolve) => setImmediate(resolve));
      if (outcome === "begins") guard.verifyBeforeCommit();
      else assert.throws(guard.verifyBeforeCommit, { code: "file_lost" });
      assert.throws(guard.verify, { code: "file_lost" }, "the comparison after the commit finds it");
      guard.close();
      connection.database.close();
    }));
}

Deno.test("createFileGuard() before the commit of a turn that began within the commit of another: begins", () =>
  withFolder(async (folder) => {
    const connection = openWriterConnection(`${folder}/gate.db`, OPTIONS);
    const guard = createFileGuard(connection, OPTIONS);
    guard.verifyThisTurn();
    await new Promise((resolve) => setImmediate(resolve));
    guard.verifyThisTurn();
    await new Promise((resolve) => setImmediate(resolve));
    Deno.removeSync(`${folder}/gate.db-shm`);
    guard.verifyBeforeCommit();
    await new Promise((resolve) => setImmediate(resolve));
    assert.throws(guard.verifyBeforeCommit, { code: "file_lost" });
    guard.close();
    connection.database.close();
  }));

/** Milliseconds since a name in the folder changed, what then happens to the log, and what the comparison finds. */
const LOG_CHANGES:
  readonly (readonly [age: number, what: string, change: (log: string) => void, finds: RegExp | null])[] = [
    [0, "nothing", () => {}, null],
    [5_000, "nothing", () => {}, null],
    [0, "a removal", (log) => Deno.removeSync(log), /its "-wal" file was removed or renamed/],
    [5_000, "a removal", (log) => Deno.removeSync(log), /its "-wal" file was removed or renamed/],
    [0, "another file in its place", replace, /its "-wal" file was replaced by another/],
    [5_000, "another file in its place", replace, /its "-wal" file was replaced by another/],
    [5_000, "a removal of the file", (log) => Deno.removeSync(log.slice(0, -4)), /its file was removed/],
    [
      5_000,
      "a removal of its index",
      (log) => Deno.removeSync(`${log.slice(0, -4)}-shm`),
      /its "-shm" file was removed/,
    ],
    [
      5_000,
      "a removal of its folder",
      (log) => Deno.renameSync(dirname(log), `${dirname(log)}-moved`),
      /its file was removed/,
    ],
  ];

function replace(log: string): void {
  Deno.copyFileSync(log, `${log}-copy`);
  Deno.renameSync(`${log}-copy`, log);
}

for (const [age, what, change, finds] of LOG_CHANGES) {
  Deno.test(`createFileGuard() ${age} ms after a change of the folder, ${what}: ${finds?.source ?? "no difference"}`, () =>
    withFolder(async (parent) => {
      const folder = `${parent}/store`;
      await Deno.mkdir(folder);
      const connection = openWriterConnection(`${folder}/gate.db`, OPTIONS);
      const time = new Date(Date.now() - age);
      await Deno.utime(folder, time, time);
      const guard = createFileGuard(connection, OPTIONS);
      guard.verify();
      change(`${folder}/gate.db-wal`);
      if (finds === null) guard.verify();
      else assert.throws(guard.verify, finds);
      guard.close();
      connection.database.close();
    }));
}

const EACH_TIME = ["/gate.db", ""];
const BESIDE = ["/gate.db-wal", "/gate.db-shm"];

const SETTLED = [...EACH_TIME, ...EACH_TIME, ...BESIDE];
const UNSETTLED = [...EACH_TIME, ...BESIDE, ...EACH_TIME, ...BESIDE];

/**
 * Milliseconds of the second in which a name in the folder changed, the milliseconds since then, and what two
 * comparisons get a `stat` of. The second one follows another change.
 */
const STATS: readonly (readonly [fraction: number, age: number, compared: readonly string[]])[] = [
  [0, 101, UNSETTLED],
  [0, 2_499, UNSETTLED],
  [0, 2_500, UNSETTLED],
  [0, 2_501, SETTLED],
  [250, -1, UNSETTLED],
  [250, 99, UNSETTLED],
  [250, 100, UNSETTLED],
  [250, 101, SETTLED],
  [250, 2_501, SETTLED],
];

for (const [fraction, age, compared] of STATS) {
  const files = compared.map((end) => end || "the folder").join(" ");
  Deno.test(`createFileGuard() ${age} ms after a change of the folder at ${fraction} ms of a second stats ${files}`, () =>
    withFolder(async (folder) => {
      const connection = openWriterConnection(`${folder}/gate.db`, OPTIONS);
      const time = new Date(1_700_000_000_000 + fraction);
      await Deno.utime(folder, time, time);
      const { statSync } = Deno;
      const { now } = Date;
      const stats: string[] = [];
      try {
        Date.now = () => time.getTime() + age;
        const guard = createFileGuard(connection, OPTIONS);
        Deno.statSync = (path) => {
          stats.push(String(path).slice(folder.length));
          return statSync(path);
        };
        guard.verify();
        await Deno.writeTextFile(`${folder}/another`, "");
        guard.verify();
        guard.close();
      } finally {
        Deno.statSync = statSync;
        Date.now = now;
      }
      assert.deepEqual(stats, compared);
      connection.database.close();
    }));
}

Deno.test("createFileGuard() detects another file in the place of the store where the folder does not change, as with a mount", () =>
  withFolder(async (folder) => {
    const path = `${folder}/gate.db`;
    const connection = openWriterConnection(path, OPTIONS);
    const time = new Date(Date.now() - 60_000);
    await Deno.utime(folder, time, time);
    const guard = createFileGuard(connection, OPTIONS);
    guard.verify();
    const { statSync } = Deno;
    const before = statSync(folder);
    await Deno.copyFile(path, `${path}-copy`);
    await Deno.rename(`${path}-copy`, path);
    try {
      Deno.statSync = (name) => name === folder ? before : statSync(name);
      assert.throws(guard.verify, /its file was replaced by another/);
    } finally {
      Deno.statSync = statSync;
    }
    guard.close();
    connection.database.close();
  }));
