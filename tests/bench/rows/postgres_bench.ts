/**
 * Durable appends over PostgreSQL against SQLite on the same disk, both with full flushes, in turns within one run. The peer is the loop
 * that groups what its callers wait for into one transaction, with one row of the same texts an append.
 *
 * @module
 */

import { DatabaseSync } from "node:sqlite";
import { setImmediate } from "node:timers";

import { migrateDatabase } from "../../../src/store/postgres/open.ts";
import { closeStores } from "../../../src/store/open.ts";
import { type PostgresServer, runSql, startPostgres } from "../../full/postgres/server.ts";
import { appendTo, LAW, runKey, sha256 } from "../../simulation/store/fixture.ts";
import { alternate, type BenchRow, makeRow } from "../harness.ts";
import { percentile } from "./mutation_bench.ts";
import { FILLING, MATERIAL, newCallers, openStore, plansOf, runPlans, timed } from "../postgres_load.ts";

const CALLERS = 64;

/** Appends of one caller in one round. */
const APPENDS = 40;

/** Runs in the large database, and in the small one. */
const MANY_RUNS = 100_000;
const FEW_RUNS = 100;

/** Records in each run of the callers of the large database. */
const LONG_RUN = 1000;

/** Callers of each of several servers, and their appends in one round: few, so that a statement waits for the network. */
const SERVER_CALLERS = 2;
const SERVER_APPENDS = 60;

/** Delay of every byte between a server and the database, in milliseconds. */
const DELAY_MILLIS = 1;

/** Measures PostgreSQL. */
export async function run(): Promise<BenchRow[]> {
  const folder = await Deno.makeTempDir({ prefix: "gate_bench_" });
  // No statistics are gathered behind the back of the rows on fresh tables.
  await using server = await startPostgres(["autovacuum=off"]);
  try {
    return [
      ...await againstSqlite(server, `${folder}/raw.db`),
      await overRuns(server),
      ...await overServers(server),
    ];
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function createDatabase(server: PostgresServer, name: string): Promise<string> {
  await runSql(server, `CREATE DATABASE ${name}`);
  const url = server.url(name);
  await migrateDatabase({ url, tls_ca_path: null, connections: 1 }, null);
  return url;
}

/** A side that measures both its rate and its 99th percentile. */
function withPercentiles(
  round: (latencies: number[]) => Promise<number>,
): { readonly side: () => Promise<number>; readonly p99s: number[] } {
  const p99s: number[] = [];
  return {
    p99s,
    side: async () => {
      const latencies: number[] = [];
      const rate = await round(latencies);
      p99s.push(percentile(latencies, 0.99));
      return rate;
    },
  };
}

async function againstSqlite(server: PostgresServer, path: string): Promise<BenchRow[]> {
  const stores = await openStore(await createDatabase(server, "bench"));
  const raw = openGroupedLoop(path);
  try {
    const callers = newCallers("bench", CALLERS);
    const ours = withPercentiles((latencies) => runPlans(stores, plansOf(callers, APPENDS), latencies));
    const peer = withPercentiles(raw.round);
    // A round takes a tenth of a second, and one flush that is late moves it.
    const samples = await alternate(ours.side, peer.side, { counted: 25, warmUp: 5 });
    const spec = { row: "postgres", peer_name: "grouped node:sqlite loop" } as const;
    const counted = { ours: ours.p99s.slice(-samples.ours.length), peer: peer.p99s.slice(-samples.peer.length) };
    return [
      makeRow({
        ...spec,
        name: "durable append on PostgreSQL, 64 callers on 64 runs",
        ...{ unit: "appends/s", must: 0.6, goal: 0.8, direction: "higher" },
        ceiling: "an append's texts are sent to another process",
      }, samples),
      makeRow({
        ...spec,
        name: "p99 of an append on PostgreSQL, 64 callers",
        ...{ unit: "ms", must: 2, goal: 1.5, direction: "lower" },
      }, counted),
    ];
  } finally {
    raw.close();
    await closeStores(stores);
  }
}

interface RawAppend {
  readonly run: string;
  readonly revision: number;
  readonly operation: string;
}

/** The loop of the peer: one transaction for all callers that wait. */
function openGroupedLoop(path: string): { round: (latencies: number[]) => Promise<number>; close: () => void } {
  const database = new DatabaseSync(path);
  database.exec(`PRAGMA journal_mode = wal; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 2000;
    CREATE TABLE runs (run TEXT PRIMARY KEY, revision INTEGER NOT NULL, head TEXT NOT NULL);
    CREATE TABLE records (run TEXT, revision INTEGER, head TEXT, operation TEXT, identity TEXT, names TEXT, seal TEXT,
      result TEXT, record TEXT, material TEXT, PRIMARY KEY (run, revision), UNIQUE (run, operation))`);
  const [begin, commit] = [database.prepare("BEGIN IMMEDIATE"), database.prepare("COMMIT")];
  const move = database.prepare(`UPDATE runs SET revision = ?, head = ? WHERE run = ? AND revision = ?
    AND NOT EXISTS (SELECT 1 FROM records AS r WHERE r.run = runs.run AND r.operation = ?)`);
  const insert = database.prepare("INSERT INTO records VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  const [record] = appendTo(runKey("raw"), null, { operation: "raw", material: MATERIAL, filling: FILLING }).records;
  const texts = [record?.receipt.result ?? "", record?.record ?? "", record?.material[0]?.body ?? ""];
  const names = [record?.record_id ?? "", `payload ${record?.record_id}`, record?.record_id ?? ""];
  const waiting: { readonly append: RawAppend; readonly resolve: () => void }[] = [];
  const flush = (): void => {
    const batch = waiting.splice(0);
    begin.run();
    for (const { append: { run, revision, operation } } of batch) {
      if (move.run(revision, operation, run, revision - 1, operation).changes !== 1) throw new Error("Not moved");
      insert.run(run, revision, operation, operation, ...names, ...texts);
    }
    commit.run();
    for (const { resolve } of batch) resolve();
  };
  const submit = (append: RawAppend): Promise<void> =>
    new Promise((resolve) => {
      if (waiting.push({ append, resolve }) === 1) setImmediate(flush);
    });
  for (let caller = 0; caller < CALLERS; caller++) {
    database.prepare("INSERT INTO runs VALUES (?, 0, '')").run(`run ${caller}`);
  }
  let revision = 0;
  return {
    round: async (latencies) => {
      const plans = Array.from({ length: CALLERS }, (_, caller) =>
        Array.from({ length: APPENDS }, (_, index) => {
          const at = revision + index + 1;
          return { run: `run ${caller}`, revision: at, operation: sha256(`${caller} ${at}`) };
        }));
      revision += APPENDS;
      return await timed(plans, submit, latencies);
    },
    close: () => database.close(),
  };
}

/** Fills a database with runs of one record, as the statement of an append leaves them, and adds records to the runs of the callers. */
async function fill(server: PostgresServer, database: string, runs: number, records: number): Promise<void> {
  const { scenario_id, scenario_law_identity } = LAW;
  const hash = "md5(i::text) || md5('x' || i)";
  const added = (run: string, revision: string): string =>
    `SELECT ${run}, ${revision}, ${hash}, 'submit', md5(i::text), ${hash}, '', ${hash}, repeat('t', ${FILLING}), '{}', ''`;
  const own = newCallers(database, CALLERS).map(({ name }) => `'${runKey(name).run_id}'`);
  await runSql(
    server,
    `INSERT INTO gate.runs (namespace_id, run_id, scenario_id, law_identity, creation, revision, head, created, status,
       correlation, parameters, parameter_hashes, active_seal, complete_seal)
     SELECT 2, md5(i::text), '${scenario_id}', '${scenario_law_identity}', md5(i::text), 1, ${hash}, i, 'active', '', '[]',
       '{}', '', '' FROM generate_series(1, ${runs}) AS i;
     INSERT INTO gate.records ${added("2, md5(i::text)", "1")} FROM generate_series(1, ${runs}) AS i;
     INSERT INTO gate.records ${added("2, run", "1000000 + i")}
       FROM generate_series(1, ${records}) AS i, unnest(ARRAY[${own.join(", ")}]) AS run`,
    database,
  );
}

/** Appends to long runs beside many others against appends to short ones beside few, on tables without statistics. */
async function overRuns(server: PostgresServer): Promise<BenchRow> {
  const sizes = [["many_runs", MANY_RUNS, LONG_RUN], ["few_runs", FEW_RUNS, 0]] as const;
  const [many, few] = await Promise.all(sizes.map(async ([name, runs, records]) => {
    const url = await createDatabase(server, name);
    const stores = await openStore(url);
    // The statements are planned while the tables are empty, as those of a new server are.
    await runPlans(stores, plansOf(newCallers(`${name} first`, 1), APPENDS), []);
    await fill(server, name, runs, records);
    const callers = newCallers(name, CALLERS);
    return { stores, side: () => runPlans(stores, plansOf(callers, APPENDS), []) };
  }));
  if (many === undefined || few === undefined) throw new Error("No database");
  try {
    return makeRow({
      row: "postgres",
      name: `durable append to runs of ${LONG_RUN} records beside ${MANY_RUNS} runs, without ANALYZE`,
      ...{ peer_name: `to new runs beside ${FEW_RUNS}`, unit: "appends/s", must: 0.8, goal: 0.95, direction: "higher" },
    }, await alternate(many.side, few.side));
  } finally {
    for (const { stores } of [many, few]) await closeStores(stores);
  }
}

/** A process of a benchmark that says what it did in lines. */
interface Child {
  readonly next: () => Promise<string>;
  readonly go: () => Promise<void>;
  readonly end: () => Promise<void>;
}

function startChild(module: string, ...args: string[]): Child {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "--no-prompt", "--quiet", "--lock=tests/deno.lock", "-P=bench", `tests/bench/${module}`, ...args],
    env: { NO_COLOR: "1" },
    stdin: "piped",
    stdout: "piped",
  }).spawn();
  const lines = child.stdout.pipeThrough(new TextDecoderStream()).pipeThrough(new TextLines()).getReader();
  const writer = child.stdin.getWriter();
  return {
    next: async () => (await lines.read()).value ?? "",
    go: () => writer.write(new TextEncoder().encode("go\n")),
    end: async () => {
      child.kill("SIGKILL");
      await Promise.all([child.status, lines.cancel(), writer.abort().catch(() => {})]);
    },
  };
}

class TextLines extends TransformStream<string, string> {
  constructor() {
    let rest = "";
    super({
      transform: (text, controller) => {
        const lines = (rest + text).split("\n");
        rest = lines.pop() ?? "";
        for (const line of lines) controller.enqueue(line);
      },
    });
  }
}

/** Appends of two servers against those of one, with a network between server and database and without. */
async function overServers(server: PostgresServer): Promise<BenchRow[]> {
  const url = await createDatabase(server, "servers");
  const line = startChild("delayed_line.ts", String(server.port), String(DELAY_MILLIS));
  try {
    const far = url.replace(`:${server.port}/`, `:${await line.next()}/`);
    const spec = { row: "postgres", peer_name: "one server", unit: "appends/s", direction: "higher" } as const;
    const name = `two servers on one database, ${DELAY_MILLIS} ms to it`;
    return [
      makeRow({ ...spec, name, must: 1.8, goal: 1.9 }, await oneAndTwo(far, "far")),
      makeRow({
        ...{ ...spec, name: "two servers on one database, on its machine" },
        ...{ must: null, goal: 1.5, ceiling: "the processors that servers and database share" },
      }, await oneAndTwo(url, "near")),
    ];
  } finally {
    await line.end();
  }
}

async function oneAndTwo(url: string, name: string): Promise<BenchRow["samples"]> {
  const servers = [1, 2].map((index) =>
    startChild("postgres_child.ts", url, `${name} ${index}`, String(SERVER_CALLERS), String(SERVER_APPENDS))
  );
  const expect = async (server: Child, line: string): Promise<void> => {
    if (await server.next() !== line) throw new Error(`Cannot measure: a server did not say "${line}"`);
  };
  const round = async (used: readonly Child[]): Promise<number> => {
    await Promise.all(used.map((server) => expect(server, "planned")));
    const start = performance.now();
    await Promise.all(used.map(async (server) => {
      await server.go();
      await expect(server, "done");
    }));
    return used.length * SERVER_CALLERS * SERVER_APPENDS * 1000 / (performance.now() - start);
  };
  try {
    return await alternate(() => round(servers), () => round(servers.slice(0, 1)));
  } finally {
    await Promise.all(servers.map((server) => server.end()));
  }
}
