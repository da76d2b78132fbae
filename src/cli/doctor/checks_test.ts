import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { loadConfig } from "../../config/load.ts";
import { CREATE_TABLES } from "../../store/sqlite/format.ts";
import { markPath } from "../../store/sqlite/high_water_mark.ts";
import { checkClock, checkFolder, checkKeys, checkStoreFile, type Finding } from "./checks.ts";

/** Runs a body with a fresh folder, which is removed afterwards. */
async function inFolder(body: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.realPath(await Deno.makeTempDir());
  try {
    await body(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("checkClock() fails a clock outside the plausible range, or before a store's last change", async () => {
  await inFolder(async (folder) => {
    const store = join(folder, "gate.db");
    await Deno.writeTextFile(store, "");
    const changed = Date.UTC(2026, 0, 31);
    await Deno.utime(store, new Date(changed), new Date(changed));
    const cases: [now: number, stores: string[], status: string][] = [
      [Date.UTC(2025, 0, 1) - 1, [], "fail"],
      [Date.UTC(2025, 0, 1), [], "ok"],
      [Date.UTC(2100, 0, 1) - 1, [], "ok"],
      [Date.UTC(2100, 0, 1), [], "fail"],
      [changed - 300_000, [store], "ok"],
      [changed - 300_001, [store], "fail"],
      [changed, [store], "ok"],
      [changed, [join(folder, "missing.db")], "ok"],
    ];
    for (const [now, stores, status] of cases) {
      assert.equal(checkClock(now, stores).status, status, new Date(now).toISOString());
    }
  });
});

Deno.test("checkFolder() writes to the folder or its parent, and removes its file", async () => {
  await inFolder(async (folder) => {
    const [existing, disk] = checkFolder(folder);
    assert.deepEqual(existing, { check: "data folder", status: "ok", message: `${folder} can be written` });
    assert.equal(disk?.check, "disk");
    const [missing] = checkFolder(join(folder, "a/b"));
    assert.equal(missing?.message, `${join(folder, "a/b")} (to be created in ${folder}) can be written`);
    assert.deepEqual([...Deno.readDirSync(folder)], []);

    await Deno.writeTextFile(join(folder, "file"), "");
    const [blocked] = checkFolder(join(folder, "file"));
    assert.equal(blocked?.status, "fail");
  });
});

/** A mark beside the store at a path, which held three records. */
function markThree(path: string): void {
  const mark = JSON.stringify({ laws: 0, records: 3, schemas: 0, record_id: "c".repeat(64) });
  Deno.writeTextFileSync(markPath(path), `${mark.padEnd(511)}\n`);
}

/** The file at the path of the store, and the finding; a failure has the message of a start. */
const STORES: readonly (readonly [what: string, make: (path: string) => void, status: Finding["status"], RegExp])[] = [
  ["nothing", () => {}, "ok", /store\.db will be created$/],
  ["a store", (path) => database(path, CREATE_TABLES), "ok", /store\.db opens and passes the quick check$/],
  [
    "a store that held more",
    (path) => {
      database(path, CREATE_TABLES);
      markThree(path);
    },
    "note",
    /store\.db lost data: it holds 0 of at least 3 records$/,
  ],
  ["nothing where a store was", markThree, "note", /store\.db lost data: it holds 0 of at least 3 records; a start /],
  [
    "nothing beside the log of a store",
    (path) => Deno.writeTextFileSync(`${path}-wal`, "log"),
    "fail",
    /^Cannot open store ".*": its file is missing, but its log ".*-wal" exists/,
  ],
  ["an empty database", (path) => database(path, "PRAGMA journal_mode = wal"), "ok", /it becomes a store$/],
  ["a folder", (path) => Deno.mkdirSync(path), "fail", /^Cannot open store ".*": it is a folder, expected a file$/],
  [
    "a link to nothing",
    (path) => Deno.symlinkSync("none.db", path),
    "fail",
    /^Cannot open store ".*": it is a link to /,
  ],
  ["a link to itself", (path) => Deno.symlinkSync(path, path), "fail", /^Cannot open .*: its links form a loop$/],
  ["a device", (path) => Deno.symlinkSync("/dev/null", path), "fail", /^Cannot open store ".*": it is not a file$/],
  ["an empty file", (path) => Deno.writeTextFileSync(path, ""), "fail", /^Cannot open store ".*": it is empty/],
  ["text", (path) => Deno.writeTextFileSync(path, "no database".repeat(100)), "fail", /the file is not a database$/],
  [
    "another program's",
    (path) => database(path, "PRAGMA application_id = 7"),
    "fail",
    /^Cannot open .* another program$/,
  ],
  [
    "a store with an index more",
    (path) => database(path, `${CREATE_TABLES}; CREATE INDEX mine ON laws (seal)`),
    "fail",
    /^Cannot open store ".*": its index "mine" is not part of a gate store/,
  ],
];

function database(path: string, sql: string): void {
  const made = new DatabaseSync(path);
  made.exec(sql);
  made.close();
}

for (const [what, make, status, message] of STORES) {
  Deno.test(`checkStoreFile() of ${what}: ${status}`, () =>
    inFolder((folder) => {
      const path = join(folder, "store.db");
      make(path);
      const found = checkStoreFile("store", path);
      assert.equal(found.status, status);
      assert.match(found.message, message);
      return Promise.resolve();
    }));
}

Deno.test(
  "checkStoreFile() reports where a store cannot be created",
  { ignore: Deno.build.os !== "linux" },
  async () => {
    await inFolder((folder) => {
      const rows: readonly (readonly [path: string, RegExp])[] = [
        // The runtime allows /proc only with all permissions; its message names a flag of its own.
        [
          "/proc/gate.db",
          /^Cannot open store "\/proc\/gate.db": gate has no permission to use it$|\/proc is not writable$/,
        ],
        [`${folder}/file/gate.db`, /: a part of its path is not a folder$/],
        [`${folder}/link/gate.db`, /link\/gate.db cannot be created: .*link is not writable$/],
      ];
      Deno.writeTextFileSync(`${folder}/file`, "");
      Deno.symlinkSync("none", `${folder}/link`);
      for (const [path, message] of rows) {
        const found = checkStoreFile("store", path);
        assert.equal(found.status, "fail");
        assert.match(found.message, message);
      }
      return Promise.resolve();
    });
  },
);

Deno.test("checkKeys() reads each trusted key once, and reports which cannot be used", async () => {
  await inFolder(async (folder) => {
    await Deno.writeFile(join(folder, "good.pub"), new Uint8Array(32));
    await Deno.writeFile(join(folder, "short.pub"), new Uint8Array(31));
    const path = join(folder, "gate.toml");
    await Deno.writeTextFile(
      path,
      `[trust]
default_policy = { require_signature = { keys = ["good.pub", "short.pub"] } }
[[providers]]
name = "time"
type = "builtin"
trust = { require_signature = { keys = ["good.pub", "missing.pub"] } }
`,
    );
    assert.deepEqual(await checkKeys(await loadConfig({ config: path })), [
      { check: "trusted key", status: "ok", message: "good.pub is a public key" },
      {
        check: "trusted key",
        status: "fail",
        message: `Cannot read public key "${join(folder, "short.pub")}": expected 32 raw bytes or their base64`,
      },
      {
        check: "trusted key",
        status: "fail",
        message: `Cannot read public key "${join(folder, "missing.pub")}": it does not exist`,
      },
    ]);
  });
});
