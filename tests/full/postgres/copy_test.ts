/** `gate store copy` with a real PostgreSQL server on either side, killed and started again. */
import assert from "node:assert/strict";
import { join } from "node:path";

import { checkRows } from "../../../src/store/check/check.ts";
import { closeStores, openRows, openStores, type Stores } from "../../../src/store/open.ts";
import { type Ended, gate, inFolder } from "../../e2e/gate_command.ts";
import { startGate } from "../../e2e/cli/run_command_fixture.ts";
import { ARCHIVABLE, archiveRun, fillAll } from "../../simulation/store/damage.ts";
import { dumpOf } from "../../simulation/store/dump.ts";
import { appendTo, headAfter, LAW, makeSnapshot, runKey, sha256 } from "../../simulation/store/fixture.ts";
import { storesOptions, WAL_FULL } from "../../simulation/store/open.ts";
import { createMigrated, runSql, startPostgres } from "./server.ts";

const server = await startPostgres();
await runSql(server, "CREATE ROLE gate_server LOGIN; CREATE ROLE gate_reader LOGIN");
let databases = 0;

/** A new database with tables; the server's role may write, the reader's only read. */
async function createDatabase(): Promise<string> {
  databases += 1;
  const database = await createMigrated(server, `copied_${databases}`, "gate_server");
  const grants = "GRANT USAGE ON SCHEMA gate TO gate_reader; GRANT SELECT ON ALL TABLES IN SCHEMA gate TO gate_reader";
  await runSql(server, grants, database);
  return database;
}

async function makeFile(folder: string, fill: (stores: Stores) => Promise<void>): Promise<string> {
  const stores = await openStores(storesOptions(folder, WAL_FULL), sha256);
  await fill(stores);
  await closeStores(stores);
  return join(folder, "gate.db");
}

interface Copied {
  readonly code: number;
  readonly problems: readonly string[];
  readonly records: number;
}

function copiedOf({ code, stdout, stderr }: Ended): Copied {
  assert.equal(stderr, "");
  const [one] = JSON.parse(stdout).result.copies;
  return {
    code,
    problems: one.problems.map(({ message }: { message: string }) => message),
    records: one.written.records,
  };
}

async function copy(folder: string, from: string, to: string): Promise<Copied> {
  return copiedOf(await gate(folder, "store", "copy", from, to, "--json"));
}

Deno.test("gate store copy: a file, copied to a database by the role of the servers and back by a reader, is the same", () =>
  inFolder(async (folder) => {
    const file = await makeFile(folder, fillAll);
    const database = await createDatabase();
    const url = server.url(database, "gate_server");
    assert.deepEqual(await copy(folder, file, url), { code: 0, problems: [], records: 158 });
    assert.deepEqual(await copy(folder, file, url), { code: 0, problems: [], records: 0 });
    const back = join(folder, "back.db");
    const reader = server.url(database, "gate_reader");
    assert.deepEqual(await copy(folder, reader, back), { code: 0, problems: [], records: 158 });
    assert.deepEqual(dumpOf(back), dumpOf(file));
    const other = await createDatabase();
    assert.deepEqual(await copy(folder, reader, server.url(other, "gate_server")), {
      code: 0,
      problems: [],
      records: 158,
    });
  }));

Deno.test("gate store copy: a database that changes a byte while it is written is found", () =>
  inFolder(async (folder) => {
    const file = await makeFile(folder, fillAll);
    const database = await createDatabase();
    const changing = `CREATE FUNCTION gate.change() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN NEW.record := replace(NEW.record, '"revision":2', '"revision":3'); RETURN NEW; END $$;
      CREATE TRIGGER change BEFORE INSERT ON gate.records FOR EACH ROW
      WHEN (NEW.revision = 2 AND NEW.run_id = '${runKey("b").run_id}') EXECUTE FUNCTION gate.change()`;
    await runSql(server, changing, database);
    const { code, problems } = await copy(folder, file, server.url(database));
    assert.equal(code, 6);
    assert.match(
      problems.join("\n"),
      /^the target: Cannot read run ".*" of namespace 2 at revision 2: record does not hash/,
    );
    assert.equal(problems.length, 1);
  }));

Deno.test("gate store copy: a run of the database that differs is named with both heads, and stays", () =>
  inFolder(async (folder) => {
    const file = await makeFile(folder, async ({ runs }) => {
      await runs.laws.put(LAW);
      for (const name of ["a", "b"]) await runs.append(appendTo(runKey(name), null, `create ${name}`, "second"));
    });
    const database = await createDatabase();
    const postgres = { name: "postgres", changes: { type: "postgres", url: server.url(database) } } as const;
    const stores = await openStores(storesOptions("", postgres), sha256);
    await stores.runs.append(appendTo(runKey("a"), null, "create a", "other"));
    await closeStores(stores);
    const rows = `SELECT string_agg(record, '' ORDER BY revision) FROM gate.records WHERE run_id = '${
      runKey("a").run_id
    }'`;
    const before = await runSql(server, rows, database);
    const { code, problems, records } = await copy(folder, file, server.url(database));
    assert.deepEqual([code, problems.length, records], [6, 1, 2]);
    assert.match(
      problems[0] ?? "",
      /record 2 is "\w{64}" at the source and .*; the head is "\w{64}" at revision 2 at the source and/,
    );
    assert.equal(await runSql(server, rows, database), before);
  }));

Deno.test("gate store copy: an archived run goes to a database and back; the role of the servers cannot write it", () =>
  inFolder(async (folder) => {
    const file = await makeFile(folder, async (stores) => {
      await stores.runs.laws.put(LAW);
      await stores.runs.append(ARCHIVABLE);
      await archiveRun(stores);
    });
    const database = await createDatabase();
    const refused = await gate(folder, "store", "copy", file, server.url(database, "gate_server"));
    assert.deepEqual([refused.code, refused.stdout], [8, ""]);
    assert.match(
      refused.stderr,
      /write archived run "\w{32}" in .*: the role lacks a right \(42501\), expected the role that owns/,
    );
    assert.equal(await runSql(server, "SELECT count(*) FROM gate.runs", database), "0");
    assert.deepEqual(await copy(folder, file, server.url(database)), { code: 0, problems: [], records: 0 });
    const back = join(folder, "back.db");
    assert.deepEqual(await copy(folder, server.url(database, "gate_reader"), back), {
      code: 0,
      problems: [],
      records: 0,
    });
    assert.deepEqual(dumpOf(back), dumpOf(file));
    const checked = JSON.parse((await gate(folder, "store", "check", server.url(database), "--json")).stdout);
    // The fixture names a runpack that nobody made.
    const [problem, ...others] = checked.result.stores[0].problems;
    assert.deepEqual(others, []);
    assert.match(problem.message, /^its runpack a{32,} is not in /);
    assert.equal(checked.result.stores[0].counts.archived_runs, 1);
  }));

Deno.test("gate store check and copy of a database in use find no problem, and each run is one that it had", () =>
  inFolder(async (folder) => {
    const database = await createDatabase();
    const postgres = { name: "postgres", changes: { type: "postgres", url: server.url(database) } } as const;
    const options = storesOptions("", postgres);
    const stores = await openStores(options, sha256);
    await stores.runs.laws.put(LAW);
    let runs = Array.from({ length: 20 }, (_, index) => appendTo(runKey(`live ${index}`), null, `create ${index}`));
    const heads = new Set<string>();
    let isOver = false;
    const rows = await openRows(options.run);
    const reading = (async () => {
      const checked = [];
      for (let round = 0; round < 5; round++) checked.push(...(await checkRows(rows, { sha256 })).problems);
      const copied = await copy(folder, server.url(database), join(folder, "live.db"));
      isOver = true;
      return { checked, copied };
    })();
    for (let round = 0; !isOver; round++) {
      await Promise.all(runs.map(async (append) => {
        assert.equal((await stores.runs.append(append)).outcome, "accepted");
        heads.add(headAfter(append).record_id);
        if (round % 3 === 0) await stores.runs.snapshots.put(append.run_key, makeSnapshot(headAfter(append)));
      }));
      runs = runs.map((append) => appendTo(append.run_key, headAfter(append), `round ${round}`));
    }
    const { checked, copied: { code, problems } } = await reading;
    assert.deepEqual([checked, code, problems], [[], 0, []]);
    await rows.close();
    await closeStores(stores);
    for (const row of dumpOf(join(folder, "live.db"))["runs"] ?? []) assert.ok(heads.has(JSON.parse(row).head), row);
    assert.equal((await copy(folder, server.url(database), join(folder, "live.db"))).code, 0);
    const after = await createDatabase();
    assert.equal((await copy(folder, join(folder, "live.db"), server.url(after))).code, 0);
    const counts = "SELECT count(*), sum(revision) FROM gate.runs";
    assert.equal(await runSql(server, counts, after), await runSql(server, counts, database));
  }));

/** Runs at the target when the copy is killed. */
for (const runsAtKill of [0, 1, 100, 390]) {
  Deno.test(`gate store copy to a database, killed after ${runsAtKill} of 400 runs, goes on where it stopped`, () =>
    inFolder(async (folder) => {
      const file = await makeFile(folder, async (stores) => {
        await fillAll(stores);
        const many = Array.from(
          { length: 397 },
          (_, index) => appendTo(runKey(`${index}`), null, `c ${index}`, "second"),
        );
        await Promise.all(many.map((run) => stores.runs.append(run)));
      });
      const database = await createDatabase();
      const killed = startGate(folder, "store", "copy", file, server.url(database));
      let hasEnded = false;
      void killed.process.status.then(() => hasEnded = true);
      const count = async (): Promise<number> =>
        Number(await runSql(server, "SELECT count(*) FROM gate.runs", database));
      while (!hasEnded && await count() < runsAtKill);
      if (!hasEnded) await killed.kill();
      assert.deepEqual({ ...await copy(folder, file, server.url(database)), records: 0 }, {
        code: 0,
        problems: [],
        records: 0,
      });
      const back = join(folder, "back.db");
      assert.equal((await copy(folder, server.url(database), back)).code, 0);
      assert.deepEqual(dumpOf(back), dumpOf(file));
    }));
}

Deno.test.afterAll(() => server[Symbol.asyncDispose]());
