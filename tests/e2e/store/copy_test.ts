/** `gate store copy` between SQLite files, as a process. */

import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { closeStores, openStores, type Stores } from "@/store/open.ts";
import type { Append } from "@/store/types.ts";
import { dumpOf } from "../../simulation/store/dump.ts";
import { ARCHIVABLE, archiveRun, fill, fillAll, HEAD, RUN, sealAsBefore } from "../../simulation/store/damage.ts";
import {
  appendTo,
  headAfter,
  LAW,
  makeSchema,
  makeTypedProvider,
  type RecordChoices,
  runKey,
  sha256,
} from "../../simulation/store/fixture.ts";
import { storesOptions, WAL_FULL } from "../../simulation/store/open.ts";
import { type Ended, gate, inFolder } from "../gate_command.ts";
import { startGate } from "../cli/run_command_fixture.ts";

/** Uses the stores in the file `NAME/gate.db` of a folder. */
async function within(folder: string, name: string, use: (stores: Stores) => Promise<void>): Promise<string> {
  const stores = await openStores(storesOptions(join(folder, name), WAL_FULL), sha256);
  try {
    await use(stores);
  } finally {
    await closeStores(stores);
  }
  return join(folder, name, "gate.db");
}

/** Copies `from/gate.db` to `to/gate.db`. */
function copy(folder: string): Promise<Ended> {
  return gate(folder, "store", "copy", "from/gate.db", "to/gate.db", "--json");
}

interface Outcome {
  readonly code: number;
  readonly read: Readonly<Record<string, number>>;
  readonly written: Readonly<Record<string, number>>;
  /** What each problem is about, and its message. */
  readonly problems: readonly string[];
}

function outcomeOf({ code, stdout, stderr }: Ended): Outcome {
  assert.equal(stderr, "");
  const { ok, command, result: { copies: [only] } } = JSON.parse(stdout);
  assert.deepEqual([ok, command, only.sound], [code === 0, "store copy", code === 0]);
  const problems = only.problems.map((problem: { what: string; message: string }) =>
    `${problem.what}: ${problem.message}`
  );
  return { code, read: only.read, written: only.written, problems };
}

/** A run of some records. */
function runOf(name: string, ...operations: readonly (string | RecordChoices)[]): Append {
  return appendTo(runKey(name), null, `create ${name}`, ...operations);
}

Deno.test("gate store copy: a new file has every row of the source, and a second copy writes nothing", () =>
  inFolder(async (folder) => {
    const from = await within(folder, "from", fillAll);
    const first = outcomeOf(await copy(folder));
    const kept = { laws: 1, runs: 3, archived_runs: 0, records: 158, artifacts: 1, snapshots: 1 };
    const rows = { ...kept, schemas: 3, typed_providers: 3 };
    assert.deepEqual([first.code, first.problems, first.written], [0, [], rows]);
    assert.deepEqual(first.read, { ...rows, material: 1 });
    const dump = dumpOf(from);
    assert.deepEqual(dumpOf(join(folder, "to/gate.db")), dump);
    assert.equal(dump["schema_tenants"]?.length, 3);

    const again = outcomeOf(await copy(folder));
    const nothing = Object.fromEntries(Object.keys(rows).map((name) => [name, 0]));
    assert.deepEqual([again.code, again.problems, again.written], [0, [], nothing]);
    assert.deepEqual(dumpOf(join(folder, "to/gate.db")), dump);
    assert.equal((await Deno.stat(join(folder, "to/gate.db"))).mode! & 0o777, 0o600);
  }));

Deno.test("gate store copy: a second copy adds what the source accepted since", () =>
  inFolder(async (folder) => {
    const from = await within(folder, "from", fill);
    await copy(folder);
    await within(folder, "from", async ({ runs, schemas }) => {
      await runs.append(appendTo(RUN, HEAD, "fifth", { operation: "sixth", evaluates: "complete" }));
      await runs.append(runOf("later"));
      await schemas.typedProviders.register(makeTypedProvider("releases", "2"));
      await schemas.typedProviders.deprecate(makeTypedProvider("releases", "1"), "active");
    });
    const { code, problems, written } = outcomeOf(await copy(folder));
    assert.deepEqual([code, problems, written["runs"], written["records"]], [0, [], 1, 3]);
    assert.deepEqual(dumpOf(join(folder, "to/gate.db")), dumpOf(from));
  }));

/** What the target holds before the copy, the runs that it then has, and the problem that names what differs. */
const DIFFERING: readonly (readonly [
  what: string,
  prepare: (stores: Stores) => Promise<unknown>,
  problem: RegExp | null,
])[] = [
  ["nothing", () => Promise.resolve(), null],
  ["the first records of a run", ({ runs }) => runs.append(runOf("a", "second")), null],
  ["a run that went on", ({ runs }) => runs.append(runOf("a", "second", "third", "fourth")), null],
  ["another run", ({ runs }) => runs.append(runOf("c", "x")), null],
  [
    "a run with another last record",
    ({ runs }) => runs.append(runOf("a", "second", "other")),
    new RegExp(
      '^run: the run differs: record 3 is "(\\w{64})" at the source and "(\\w{64})" at the target; ' +
        'the head is "\\1" at revision 3 at the source and "\\2" at revision 3 at the target$',
    ),
  ],
  [
    "a run that went on differently",
    ({ runs }) => runs.append(runOf("a", "other", "third", "fourth")),
    /^run: the run differs: record 2 is .*; the head is "\w{64}" at revision 3 at the source and "\w{64}" at revision 4 at the target$/,
  ],
  [
    "a shorter run that differs",
    ({ runs }) => runs.append(runOf("a", "other")),
    /^run: the run differs: record 2 is .* the head is "\w{64}" at revision 3 at the source and "\w{64}" at revision 2 at the target$/,
  ],
  [
    "a run of the same id with another answer",
    ({ runs }) => runs.append(runOf("a", { operation: "second", filling: 1 })),
    /^run: the run differs: record 2 has another receipt or material at the target; the head is /,
  ],
  [
    "another run of the same creation request",
    ({ runs }) => runs.append({ ...appendTo(runKey("d"), null, "create a"), artifacts: [] }),
    new RegExp(`^run: its creation request created run "${runKey("d").run_id}" at the target$`),
  ],
  [
    "another schema of the same name",
    ({ schemas }) => {
      const { schema_identity, schema_bytes } = makeSchema("other", "1");
      const record = makeSchema("report", "1").record.replace('"title":"report"', '"title":"other"');
      return schemas.register({ ...makeSchema("report", "1"), record, schema_identity, schema_bytes });
    },
    /^schema: Schema "report" version "1" differs at the target$/,
  ],
  [
    "another version of the same name",
    ({ schemas }) => schemas.typedProviders.register(makeTypedProvider("releases", "1", { text: "other" })),
    /^typed_provider: Typed provider "releases" version "1": the target has its name or its bytes as version "1"$/,
  ],
  [
    "a deprecated version",
    async ({ schemas }) => {
      await schemas.typedProviders.register(makeTypedProvider("releases", "1"));
      await schemas.typedProviders.deprecate(makeTypedProvider("releases", "1"), "registered");
    },
    /^typed_provider: .* version "1" is active at the source and deprecated at the target$/,
  ],
  [
    "another active version",
    async ({ schemas }) => {
      await schemas.typedProviders.register(makeTypedProvider("releases", "2"));
      await schemas.typedProviders.activate(makeTypedProvider("releases", "2"), null);
    },
    /^typed_provider: .* version "1" is active at the source and registered at the target$/,
  ],
];

for (const [what, prepare, problem] of DIFFERING) {
  Deno.test(`gate store copy to a store with ${what} ${problem === null ? "succeeds" : "reports it"}`, () =>
    inFolder(async (folder) => {
      await within(folder, "from", async ({ runs, schemas }) => {
        await runs.laws.put(LAW);
        await runs.append(runOf("a", "second", "third"));
        await runs.append(runOf("b", "second"));
        await schemas.register(makeSchema("report", "1"));
        await schemas.typedProviders.register(makeTypedProvider("releases", "1"));
        await schemas.typedProviders.activate(makeTypedProvider("releases", "1"), null);
      });
      const to = await within(folder, "to", async (stores) => {
        await stores.runs.laws.put(LAW);
        await prepare(stores);
      });
      const before = dumpOf(to);
      const { code, problems } = outcomeOf(await copy(folder));
      assert.equal(code, problem === null ? 0 : 6, JSON.stringify(problems));
      assert.equal(problems.length, problem === null ? 0 : 1, JSON.stringify(problems));
      if (problem !== null) assert.match(problems[0] ?? "", problem);
      const after = dumpOf(to);
      for (const table of ["records", "schemas", "laws"]) {
        const kept = new Set(after[table]);
        assert.deepEqual(before[table]?.filter((row) => !kept.has(row)), [], table);
      }
      // What does not differ is copied, whatever else does.
      assert.ok(after["runs"]?.some((row) => row.includes(runKey("b").run_id)));
      assert.equal((await gate(folder, "store", "check", "to/gate.db", "--json")).stdout.includes("hash"), false);
    }));
}

/** Puts the run that can be archived into stores, and archives it in a runpack. */
function archived(runpack?: string): (stores: Stores) => Promise<void> {
  return async (stores) => {
    await stores.runs.append(ARCHIVABLE);
    await archiveRun(stores, runpack);
  };
}

async function unarchived({ runs }: Stores): Promise<void> {
  await runs.append(ARCHIVABLE);
}

async function continued({ runs }: Stores): Promise<void> {
  await runs.append(ARCHIVABLE);
  await runs.append(appendTo(ARCHIVABLE.run_key, headAfter(ARCHIVABLE), "late"));
}

/** An archived run at the source or the target, what the other one holds, the problem, and whether the target changes. */
const ARCHIVED: readonly (readonly [
  source: string,
  fillSource: (stores: Stores) => Promise<void>,
  target: string,
  fillTarget: (stores: Stores) => Promise<void>,
  problem: RegExp | null,
  isWritten: boolean,
])[] = [
  ["archived", archived(), "absent", () => Promise.resolve(), null, true],
  ["archived", archived(), "archived", archived(), null, false],
  ["archived", archived(), "not archived", unarchived, null, false],
  ["archived", archived(), "continued", continued, null, false],
  [
    "archived",
    archived(),
    "archived in another runpack",
    archived("b".repeat(64)),
    /^run: it is archived in runpack "a{64}" at the source and "b{64}" at the target$/,
    false,
  ],
  [
    "archived",
    archived(),
    "shorter",
    async ({ runs }) => void await runs.append({ ...ARCHIVABLE, records: ARCHIVABLE.records.slice(0, 2) }),
    /^run: the run differs: record 3 is "\w{64}" at the source and absent at the target; the head is /,
    false,
  ],
  [
    "archived",
    archived(),
    "another one of the same creation request",
    async ({ runs }) => void await runs.append(appendTo(runKey("d"), null, "create archivable")),
    /^run: its creation request created another run at the target$/,
    false,
  ],
  ["not archived", unarchived, "archived", archived(), null, false],
  [
    "continued",
    continued,
    "archived",
    archived(),
    /^run: the run differs: record 4 is "\w{64}" at the source and absent at the target; the head is /,
    false,
  ],
];

for (const [source, fillSource, target, fillTarget, problem, isWritten] of ARCHIVED) {
  const verdict = problem === null ? "succeeds" : "reports it";
  Deno.test(`gate store copy of a run that is ${source} to a store where it is ${target} ${verdict}`, () =>
    inFolder(async (folder) => {
      const from = await within(folder, "from", async (stores) => {
        await stores.runs.laws.put(LAW);
        await fillSource(stores);
      });
      const to = await within(folder, "to", async (stores) => {
        await stores.runs.laws.put(LAW);
        await fillTarget(stores);
      });
      const before = dumpOf(to);
      const { code, problems, written } = outcomeOf(await copy(folder));
      assert.equal(code, problem === null ? 0 : 6, JSON.stringify(problems));
      assert.equal(problems.length, problem === null ? 0 : 1, JSON.stringify(problems));
      if (problem !== null) assert.match(problems[0] ?? "", problem);
      assert.deepEqual([written["runs"], written["archived_runs"]], isWritten ? [1, 1] : [0, 0]);
      assert.deepEqual(dumpOf(to), isWritten ? dumpOf(from) : before);
      if (isWritten) assert.equal(outcomeOf(await copy(folder)).written["runs"], 0);
    }));
}

/** A change to a file; the runs that are copied, and what the copy reports. */
const DAMAGED: readonly (readonly [file: "from" | "to", sql: string, problem: RegExp, runs: number])[] = [
  [
    "from",
    "UPDATE records SET record = replace(record, 'artifact_s', 'artifact_S') WHERE revision = 2",
    /^record: .*does not hash/,
    1,
  ],
  ["from", "UPDATE records SET result = result || ' ' WHERE revision = 2", /^record: its receipt differs/, 1],
  ["from", "DELETE FROM records WHERE revision = 2", /^run: record 2 is missing/, 1],
  ["from", "UPDATE laws SET law = replace(law, 'release', 'Release')", /^law: .*does not hash/, 0],
  [
    "to",
    "UPDATE records SET record = replace(record, 'artifact_s', 'artifact_S') WHERE revision = 2",
    /^run: the target: .* revision 2: record does not hash/,
    2,
  ],
  [
    "to",
    "UPDATE records SET result = replace(result, 'second', 'Second') WHERE revision = 2",
    /^run: the target: .* revision 2: its receipt differs/,
    2,
  ],
  ["to", "UPDATE laws SET law = replace(law, 'release', 'Release')", /^law: the target: .*does not hash/, 2],
];

for (const [file, sql, problem, runs] of DAMAGED) {
  Deno.test(`gate store copy with a changed ${file === "from" ? "source" : "target"} reports: ${sql}`, () =>
    inFolder(async (folder) => {
      await within(folder, "from", async (stores) => {
        await stores.runs.laws.put(LAW);
        await stores.runs.append(runOf("a", "second", "third"));
        await stores.runs.append(runOf("b"));
      });
      if (file === "to") assert.equal((await copy(folder)).code, 0);
      const database = new DatabaseSync(join(folder, file, "gate.db"));
      database.exec(sql);
      database.close();
      const { code, problems } = outcomeOf(await copy(folder));
      assert.equal(code, 6);
      assert.ok(problems.some((one) => problem.test(one)), problems.join("\n"));
      assert.equal(dumpOf(join(folder, "to/gate.db"))["runs"]?.length, runs);
    }));
}

/** Runs at the target when the copy is killed. */
for (const runsAtKill of [0, 1, 100, 390]) {
  Deno.test(`gate store copy, killed after ${runsAtKill} of 400 runs, goes on where it stopped`, () =>
    inFolder(async (folder) => {
      const from = await within(folder, "from", async (stores) => {
        await fillAll(stores);
        const all = Array.from({ length: 397 }, (_, index) => runOf(`many ${index}`, "second", "third"));
        await Promise.all(all.map((run) => stores.runs.append(run)));
      });
      const to = join(folder, "to/gate.db");
      const killed = startGate(folder, "store", "copy", "from/gate.db", "to/gate.db");
      let hasEnded = false;
      void killed.process.status.then(() => hasEnded = true);
      while (!hasEnded && countRuns(to) < runsAtKill) await new Promise((resolve) => setTimeout(resolve, 1));
      if (!hasEnded) await killed.kill();
      const { code, problems } = outcomeOf(await copy(folder));
      assert.deepEqual([code, problems], [0, []]);
      assert.deepEqual(dumpOf(to), dumpOf(from));
    }));
}

/** Runs in a file that another process may be creating. */
function countRuns(path: string): number {
  try {
    const database = new DatabaseSync(path, { readOnly: true });
    try {
      return Number(database.prepare("SELECT count(*) AS runs FROM runs").get()?.["runs"]);
    } finally {
      database.close();
    }
  } catch {
    return -1;
  }
}

Deno.test("gate store copy of a store in use: each run is one that the source had", () =>
  inFolder(async (folder) => {
    const heads = new Map<string, Set<string>>();
    await within(folder, "from", async (stores) => {
      await stores.runs.laws.put(LAW);
      let runs = Array.from({ length: 20 }, (_, index) => runOf(`live ${index}`));
      let isOver = false;
      const copied = copy(folder).finally(() => isOver = true);
      for (let round = 0; !isOver; round++) {
        for (const append of runs) {
          assert.equal((await stores.runs.append(append)).outcome, "accepted");
          const { run_id } = append.run_key;
          heads.set(run_id, (heads.get(run_id) ?? new Set()).add(headAfter(append).record_id));
        }
        runs = runs.map((append) => appendTo(append.run_key, headAfter(append), `round ${round}`));
      }
      const { code, problems } = outcomeOf(await copied);
      assert.deepEqual([code, problems], [0, []]);
    });
    for (const row of dumpOf(join(folder, "to/gate.db"))["runs"] ?? []) {
      const { run_id, head } = JSON.parse(row);
      assert.ok(heads.get(run_id)?.has(head), row);
    }
    assert.equal(outcomeOf(await copy(folder)).code, 0);
    assert.deepEqual(dumpOf(join(folder, "to/gate.db")), dumpOf(join(folder, "from/gate.db")));
  }));

Deno.test("gate store copy, started twice at the same time, copies everything once", () =>
  inFolder(async (folder) => {
    const from = await within(folder, "from", async (stores) => {
      await fillAll(stores);
      const many = Array.from({ length: 200 }, (_, index) => runOf(`many ${index}`, "second", "third"));
      await Promise.all(many.map((run) => stores.runs.append(run)));
    });
    for (const ended of await Promise.all([copy(folder), copy(folder)])) {
      const { code, problems } = outcomeOf(ended);
      assert.deepEqual([code, problems], [0, []]);
    }
    assert.deepEqual(dumpOf(join(folder, "to/gate.db")), dumpOf(from));
  }));

/** Tables that later formats added, and the format without them. */
const OLDER: readonly (readonly [format: number, tables: readonly string[]])[] = [
  [1, [
    "schema_tenants",
    "typed_providers",
    "run_index",
    "run_parameters",
    "archives",
    "outbox_targets",
    "open_stages",
  ]],
  [2, ["typed_providers", "run_index", "run_parameters", "archives", "outbox_targets", "open_stages"]],
  [3, ["run_index", "run_parameters", "archives", "outbox_targets", "open_stages"]],
  [4, ["archives", "outbox_targets", "open_stages"]],
  [5, ["outbox_targets", "open_stages"]],
  [6, []],
];

function withoutSeal(row: string): string {
  const { seal: _, ...rest } = JSON.parse(row);
  return JSON.stringify(rest);
}

for (const [format, tables] of OLDER) {
  Deno.test(`gate store copy of a file of format ${format} makes one of the newest format, and leaves the source as it is`, () =>
    inFolder(async (folder) => {
      const from = await within(folder, "from", fillAll);
      const wanted: Record<string, readonly string[]> = { ...dumpOf(from) };
      const database = new DatabaseSync(from);
      for (const table of tables) {
        database.exec(`DROP TABLE ${table}`);
        if (table === "schema_tenants") {
          sealAsBefore(database);
          wanted["schemas"] = wanted["schemas"]?.map(withoutSeal) ?? [];
        }
        if (table === "schema_tenants" || table === "typed_providers") wanted[table] = [];
      }
      database.exec("DROP INDEX records_of_creation; DROP INDEX IF EXISTS tenants_of_schema");
      database.exec(`PRAGMA user_version = ${format}; PRAGMA wal_checkpoint(TRUNCATE)`);
      database.close();
      const before = await Deno.readFile(from);
      const { code, problems } = outcomeOf(await copy(folder));
      assert.deepEqual([code, problems], [0, []]);
      const made = dumpOf(join(folder, "to/gate.db"));
      // A schema without known tenants counts for every tenant, which its new seal covers.
      const schemas = format === 1 ? made["schemas"]?.map(withoutSeal) ?? [] : made["schemas"];
      assert.deepEqual({ ...made, schemas }, wanted);
      assert.deepEqual(await Deno.readFile(from), before);
    }));
}

Deno.test("gate store copy between configurations whose stores are in two files", () =>
  inFolder(async (folder) => {
    const section = (name: string, path: string): string => `[${name}]\ntype = "sqlite"\npath = "${path}"\n`;
    for (const name of ["old", "new"]) {
      const config = section("run_state_store", `${name}_runs.db`) + section("schema_registry", `${name}_schemas.db`);
      await Deno.writeTextFile(join(folder, `${name}.toml`), config);
    }
    const options = storesOptions(folder, WAL_FULL);
    const stores = await openStores({
      run: { ...options.run, path: join(folder, "old_runs.db") },
      schemas: { ...options.schemas, path: join(folder, "old_schemas.db") },
    }, sha256);
    await fillAll(stores);
    await closeStores(stores);
    const { code, stdout, stderr } = await gate(folder, "store", "copy", "old.toml", "new.toml");
    assert.deepEqual([code, stderr], [0, ""]);
    const to = `${folder}/new_runs.db, ${folder}/new_schemas.db`;
    assert.ok(
      stdout.startsWith(`${folder}/old_runs.db: copied to ${to} (1 law, 3 runs, 158 records, 0 schemas, `),
      stdout,
    );
    for (const file of ["runs", "schemas"]) {
      assert.deepEqual(dumpOf(join(folder, `new_${file}.db`)), dumpOf(join(folder, `old_${file}.db`)));
    }
  }));

/** Arguments, exit code, and what the command says. */
const REFUSED: readonly (readonly [from: string, to: string, code: number, message: RegExp])[] = [
  ["absent.db", "to.db", 8, /^gate: Cannot open store "\/.*absent\.db": it does not exist\n$/],
  ["gate.db", "gate.db", 2, /^gate: Cannot copy \/.*gate\.db to itself\n$/],
  ["gate.db", "link.db", 2, /^gate: Cannot copy \/.*link\.db to itself\n$/],
  ["gate.db", "postgress://a:b@127.0.0.1/gate", 2, /^gate: Cannot use the address of the database: it has to be /],
  ["gate.db", "memory.toml", 2, /^gate: Cannot copy to a store in memory \(name a file, /],
  ["memory.toml", "to.db", 2, /^gate: Cannot find a store file: both stores are in memory/],
  ["absent.toml", "to.db", 2, /absent\.toml: does not exist\n$/],
  ["gate.db", "note.txt", 6, /^gate: Cannot open store "\/.*note\.txt": the file is not a database\n$/],
  ["note.txt", "to.db", 6, /^gate: Cannot read store "\/.*note\.txt": the file is not a database\n$/],
  [
    "gate.db",
    "postgres://u:p@127.0.0.1:1/gate",
    8,
    /^gate: Cannot use database "gate" at 127\.0\.0\.1:1: it is not available /,
  ],
  ["gate.db", "postgres://127.0.0.1/gate", 2, /^gate: Cannot use the address of the database: it has to be /],
  [
    "env:GATE_ABSENT",
    "to.db",
    2,
    /^gate: Cannot use the database: its url refers to variable "GATE_ABSENT", which is not set\n$/,
  ],
];

for (const [from, to, wanted, message] of REFUSED) {
  Deno.test(`gate store copy ${from} ${to} ends with ${wanted}: ${message.source}`, () =>
    inFolder(async (folder) => {
      await within(folder, "", fill);
      await Deno.symlink("gate.db", join(folder, "link.db"));
      await Deno.writeTextFile(join(folder, "memory.toml"), "");
      await Deno.writeTextFile(join(folder, "note.txt"), "no database ".repeat(500));
      const { code, stdout, stderr } = await gate(folder, "store", "copy", from, to);
      assert.deepEqual([code, stdout], [wanted, ""], stderr);
      assert.match(stderr, message);
    }));
}
