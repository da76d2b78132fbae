import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { canonicalize } from "../canonical/canonicalize.ts";
import type { JsonObject } from "../canonical/json.ts";
import {
  appendTo,
  headAfter,
  makeLaw,
  type RecordChoices,
  runKey,
  sha256,
} from "../../tests/simulation/store/fixture.ts";
import { IMPLEMENTATIONS, storesOptions, WAL_FULL, withFolder, withStores } from "../../tests/simulation/store/open.ts";
import { checkStore } from "./check/check.ts";
import { closeStores, openStores } from "./open.ts";
import { completesRun, parameterText } from "./run_index.ts";
import { type RunPosition, type RunQuery, type RunStore, StoreError } from "./types.ts";
import { INDEXED_AT_START } from "./sqlite/run_index.ts";
import { EXAMINED_MAXIMUM, planned } from "./sqlite/run_list.ts";
import { migrateStore } from "./sqlite/open.ts";

const OTHER = makeLaw("other");

function parameter(parameter_id: string, value: string): JsonObject {
  return { parameter_id, value: { value, value_type: "String" } };
}

/** Runs by name: how each was created. */
const RUNS: Readonly<Record<string, Omit<RecordChoices, "operation">>> = {
  first: { created: 1000, parameters: [parameter("commit", "a1"), parameter("version", "1")] },
  second: { created: 2000, law: OTHER, correlation: "ticket 7" },
  third: { created: 2000, parameters: [parameter("commit", "b2"), parameter("version", "1")] },
  fourth: { created: 500, correlation: "ticket 7" },
};

/** Runs that become complete, each followed by a submission. */
const COMPLETE: readonly string[] = ["second", "first"];

async function fill(runs: RunStore): Promise<void> {
  for (const law of [makeLaw("release"), OTHER, makeLaw("release", 1, 3)]) await runs.laws.put(law);
  for (const [name, choices] of Object.entries(RUNS)) {
    const creation = appendTo(runKey(name), null, { operation: `create ${name}`, ...choices });
    assert.deepEqual(await runs.append(creation), { outcome: "accepted" });
    if (!COMPLETE.includes(name)) continue;
    const law = choices.law === undefined ? {} : { law: choices.law };
    const step = { operation: "evaluate", family: "evaluate_stage", evaluates: "complete", ...law } as const;
    assert.deepEqual(await runs.append(appendTo(runKey(name), headAfter(creation), step, "submit")), {
      outcome: "accepted",
    });
  }
  const law = makeLaw("release", 1, 3);
  await runs.append(appendTo(runKey("first", 3), null, { operation: "create first", created: 9000, law }));
}

const NAMES = new Map(Object.keys(RUNS).map((name) => [runKey(name).run_id, name]));

/** The names of the runs that a query lists, in pages of the given size. */
async function list(runs: RunStore, query: Omit<RunQuery, "namespace_id">, limit = 2): Promise<string> {
  const found: (string | undefined)[] = [];
  let after: RunPosition | null = null;
  do {
    const page: Awaited<ReturnType<RunStore["findRuns"]>> = await runs.findRuns(
      { namespace_id: 2, ...query },
      after,
      limit,
    );
    assert.ok(page.runs.length <= limit);
    found.push(...page.runs.map(({ run_key }) => NAMES.get(run_key.run_id)));
    after = page.next;
  } while (after !== null);
  return found.join(" ");
}

/** The two runs of one instant in descending order of their ids. */
const SAME_INSTANT = runKey("second").run_id > runKey("third").run_id ? "second third" : "third second";

/** Query and runs. */
const QUERIES: readonly [Omit<RunQuery, "namespace_id">, string][] = [
  [{}, `${SAME_INSTANT} first fourth`],
  [{ scenario_id: "release" }, "third first fourth"],
  [{ scenario_id: "other" }, "second"],
  [{ scenario_id: "none" }, ""],
  [{ scenario_law_identity: OTHER.scenario_law_identity }, "second"],
  [{ status: "active" }, "third fourth"],
  [{ status: "complete" }, "second first"],
  [{ status: "complete", scenario_id: "release" }, "first"],
  [{ correlation_id: "ticket 7" }, "second fourth"],
  [{ correlation_id: "ticket 7", status: "active" }, "fourth"],
  [{ correlation_id: "" }, ""],
  [{ parameters: [parameterText(parameter("commit", "a1"))] }, "first"],
  [{ parameters: [parameterText(parameter("version", "1"))] }, "third first"],
  [{ parameters: [parameterText(parameter("version", "1")), parameterText(parameter("commit", "b2"))] }, "third"],
  [{ parameters: [parameterText(parameter("version", "1"))], status: "complete" }, "first"],
  [{ parameters: [parameterText(parameter("version", "2"))] }, ""],
];

for (const implementation of IMPLEMENTATIONS) {
  Deno.test(`findRuns() (${implementation.name}) lists the runs of a query in pages of every size`, () =>
    withStores(implementation, {}, async ({ runs }) => {
      await fill(runs);
      for (const [query, expected] of QUERIES) {
        for (const limit of [1, 2, 3, 4, 5]) {
          assert.equal(await list(runs, query, limit), expected, JSON.stringify(query));
        }
      }
    }));

  Deno.test(`findRuns() (${implementation.name}) has the end of the list with the last run`, () =>
    withStores(implementation, {}, async ({ runs }) => {
      await fill(runs);
      const ends = [3, 4, 5].map(async (limit) =>
        (await runs.findRuns({ namespace_id: 2 }, null, limit)).next === null
      );
      assert.deepEqual(await Promise.all(ends), [false, true, true]);
    }));

  Deno.test(`findRuns() (${implementation.name}) returns what the records have`, () =>
    withStores(implementation, {}, async ({ runs }) => {
      await fill(runs);
      const { runs: [run] } = await runs.findRuns({ namespace_id: 2, scenario_id: "other" }, null, 1);
      assert.deepEqual(run, {
        run_key: runKey("second"),
        scenario_id: "other",
        scenario_law_identity: OTHER.scenario_law_identity,
        parameters: [],
        correlation: { kind: "set", correlation_id: "ticket 7" },
        status: "complete",
        created_instant: 2000,
        head: (await runs.getHead(runKey("second")))?.head,
      });
      const { runs: [first] } = await runs.findRuns({ namespace_id: 3 }, null, 1);
      assert.deepEqual([first?.created_instant, first?.status, first?.correlation], [9000, "active", {
        kind: "unset",
      }]);
    }));

  Deno.test(`findRuns() (${implementation.name}) shows no run that was begun after the first page`, () =>
    withStores(implementation, {}, async ({ runs }) => {
      await fill(runs);
      const { runs: before, next } = await runs.findRuns({ namespace_id: 2 }, null, 2);
      // One run by a clock that is behind, one at the same instant as the last run of the page.
      for (const created of [1, 600, 2000, 3000]) {
        await runs.append(appendTo(runKey(`late ${created}`), null, { operation: `late ${created}`, created }));
      }
      const { runs: after } = await runs.findRuns({ namespace_id: 2 }, next, 10);
      const names = [...before, ...after].map(({ run_key }) => NAMES.get(run_key.run_id));
      assert.equal(names.join(" "), `${SAME_INSTANT} first fourth`);
      assert.equal((await runs.findRuns({ namespace_id: 2 }, null, 10)).runs.length, 8);
    }));

  Deno.test(`append() (${implementation.name}) rejects a creation without an instant`, () =>
    withStores(implementation, {}, async ({ runs }) => {
      const append = appendTo(runKey("a"), null, { operation: "create" });
      const [record] = append.records;
      assert.ok(record !== undefined);
      const broken = {
        ...append,
        records: [{ ...record, record: record.record.replace("accepted_audit_instant", "other") }],
      };
      await assert.rejects(runs.append(broken), (error) => error instanceof StoreError && error.code === "corrupt");
      assert.equal(await runs.getHead(runKey("a")), null);
    }));
}

/** Makes a store of format 1: without the index of runs. */
function makeOld(path: string): void {
  using database = new DatabaseSync(path);
  database.exec(
    "DROP TABLE run_index; DROP TABLE run_parameters; DROP TABLE schema_tenants; DROP TABLE typed_providers; DROP TABLE archives; " +
      "DROP TABLE outbox_targets; DROP TABLE open_stages; DROP INDEX records_of_creation; PRAGMA user_version = 1",
  );
}

const ALL = { namespace_id: 2 } as const;

Deno.test("a store of an older format lists its runs after its next start, and keeps its records", () =>
  withFolder(async (folder) => {
    const options = storesOptions(folder, WAL_FULL);
    const first = await openStores(options, sha256);
    await fill(first.runs);
    const records = await first.runs.listRecords(runKey("first"), 0, 10);
    await closeStores(first);
    makeOld(`${folder}/gate.db`);
    const second = await openStores(options, sha256);
    for (const [query, expected] of QUERIES) {
      assert.equal(await list(second.runs, query), expected, JSON.stringify(query));
    }
    assert.deepEqual(await second.runs.listRecords(runKey("first"), 0, 10), records);
    await closeStores(second);
    assert.deepEqual((await checkStore(`${folder}/gate.db`, { sha256 })).problems, []);
  }));

/** Adds runs to a file without the index. */
function addOldRuns(path: string, count: number): void {
  using database = new DatabaseSync(path);
  database.exec("BEGIN");
  const run = database.prepare(
    `INSERT INTO runs (namespace_id, run_id, scenario_id, law_identity, creation, revision, head)
    SELECT 2, ?1, scenario_id, law_identity, ?1, revision, head FROM runs WHERE run_row = 1`,
  );
  const record = database.prepare(
    `INSERT INTO records (run_row, revision, record_id, family, operation, invocation_identity,
    material_names, seal, result, record, material) SELECT ?1, 1, record_id, family, operation, invocation_identity,
    material_names, seal, result, replace(record, (SELECT run_id FROM runs WHERE run_row = 1),
      (SELECT run_id FROM runs WHERE run_row = ?1)), material FROM records WHERE run_row = 1`,
  );
  for (let index = 0; index < count; index++) record.run(run.run(sha256(`old ${index}`).slice(0, 32)).lastInsertRowid);
  database.exec("COMMIT");
}

for (
  const [runs, isListed] of [[INDEXED_AT_START - 1, true], [INDEXED_AT_START, true], [
    INDEXED_AT_START + 1,
    false,
  ]] as const
) {
  Deno.test(`a start with ${runs} runs that are not in the index ${isListed ? "adds them" : "asks for gate store migrate"}`, () =>
    withFolder(async (folder) => {
      const options = storesOptions(folder, WAL_FULL);
      const path = `${folder}/gate.db`;
      const first = await openStores(options, sha256);
      await first.runs.append(appendTo(runKey("a"), null, { operation: "create a" }));
      await closeStores(first);
      makeOld(path);
      addOldRuns(path, runs - 1);
      const stores = await openStores(options, sha256);
      const created = appendTo(runKey("new"), null, { operation: "create new", created: 5000 });
      assert.deepEqual(await stores.runs.append(created), { outcome: "accepted" });
      if (!isListed) {
        const isMissing = (error: unknown): boolean =>
          error instanceof StoreError && error.code === "index_missing" && error.message.includes("gate store migrate");
        await assert.rejects(stores.runs.findRuns(ALL, null, 1), isMissing);
        await assert.rejects(stores.runs.figures(), isMissing);
        assert.equal(await migrateStore(options.run, sha256), runs);
        assert.equal(await migrateStore(options.run, sha256), 0);
      }
      const { runs: listed, next } = await stores.runs.findRuns(ALL, null, 1000);
      assert.deepEqual([listed[0]?.run_key, listed.length], [runKey("new"), 1000]);
      assert.notEqual(next, null);
      await closeStores(stores);
    }));
}

Deno.test("findRuns() examines a limited number of runs in one call, and goes on in the next one", () =>
  withFolder(async (folder) => {
    const options = storesOptions(folder, WAL_FULL);
    const first = await openStores(options, sha256);
    await first.runs.append(appendTo(runKey("a"), null, { operation: "create a" }));
    await closeStores(first);
    makeOld(`${folder}/gate.db`);
    addOldRuns(`${folder}/gate.db`, EXAMINED_MAXIMUM - 1);
    const { runs, schemas } = await openStores(options, sha256);
    await runs.append(appendTo(runKey("b"), null, { operation: "create b", created: 1 }));
    const query = { ...ALL, scenario_id: "release", status: "complete" } as const;
    const page = await runs.findRuns(query, null, 10);
    assert.deepEqual([page.runs, page.next === null], [[], false]);
    assert.deepEqual(await runs.findRuns(query, page.next, 10), { runs: [], next: null, newest: page.newest });
    await closeStores({ runs, schemas });
  }));

/** A change of the index in the file, and what a list or a check of the store reports. */
const DAMAGES: readonly [string, RegExp][] = [
  [
    "UPDATE run_index SET status = 'complete' WHERE status = 'active'",
    /its entry in the index differs from the written one/,
  ],
  ["UPDATE run_index SET created = created + 1", /its entry in the index differs from the written one/],
  [
    "UPDATE run_index SET parameters = '[]' WHERE parameters <> '[]'",
    /its entry in the index differs from the written one/,
  ],
  ["UPDATE run_index SET seal = ''", /its entry in the index differs from the written one/],
  ["DELETE FROM run_index WHERE run_row = 2", /it is not in the index of runs/],
  ["DELETE FROM run_parameters WHERE run_row = 3", /its entry in the index of runs differs from its records/],
  ["UPDATE run_parameters SET parameter = 'x' || parameter", /its entry in the index of runs differs from its records/],
  [
    ["records", "run_index", "run_parameters", "open_stages", "runs"].map((table) =>
      `DELETE FROM ${table} WHERE run_row = 2`
    ).join("; "),
    /lost data: 4 of 5 rows of "runs"/,
  ],
  [
    `DELETE FROM records WHERE run_row = 2 AND revision = 3;
      UPDATE runs SET (revision, head) = (2, (SELECT record_id FROM records WHERE run_row = 2 AND revision = 2)) WHERE run_row = 2`,
    /lost data: \d+ of \d+ rows of "records"/,
  ],
  [
    `INSERT INTO run_index SELECT 99, namespace_id, created, run_id, scenario_id, law_identity, status, 
      correlation, parameters, seal FROM run_index LIMIT 1`,
    /1 rows of "run_index" belong to no run/,
  ],
];

for (const [damage, reported] of DAMAGES) {
  Deno.test(`a check reports an index that was changed: ${damage.slice(0, 60)}`, () =>
    withFolder(async (folder) => {
      const options = storesOptions(folder, WAL_FULL);
      const stores = await openStores(options, sha256);
      await fill(stores.runs);
      await closeStores(stores);
      const before = (await checkStore(`${folder}/gate.db`, { sha256 })).problems.length;
      using database = new DatabaseSync(`${folder}/gate.db`);
      database.exec(damage);
      const { problems } = await checkStore(`${folder}/gate.db`, { sha256 });
      assert.ok(problems.length > before);
      assert.ok(problems.some(({ message }) => reported.test(message)), JSON.stringify(problems));
    }));
}

const PARAMETRIZED = { ...ALL, parameters: [parameterText(parameter("version", "1"))] } as const;

/** A change of an entry, and the list that meets it. */
const CHANGED_ENTRIES: readonly (readonly [string, RunQuery])[] = [
  ["status = 'complete'", ALL],
  ["parameters = 'zz'", ALL],
  ["parameters = 'zz'", PARAMETRIZED],
  ["parameters = '[]'", PARAMETRIZED],
  ["correlation = 'zz'", ALL],
];

for (const [change, query] of CHANGED_ENTRIES) {
  Deno.test(`findRuns() lists nothing from an entry with ${change}, as ${Object.keys(query)} ask`, () =>
    withFolder(async (folder) => {
      const stores = await openStores(storesOptions(folder, WAL_FULL), sha256);
      await fill(stores.runs);
      using database = new DatabaseSync(`${folder}/gate.db`);
      database.exec(`UPDATE run_index SET ${change}`);
      await assert.rejects(
        stores.runs.findRuns(query, null, 10),
        (error) => error instanceof StoreError && error.code === "corrupt",
      );
      await closeStores(stores);
    }));
}

/** Query plans must search by an index: a scan or a sort would cost more with every run. */
Deno.test("findRuns() searches by an index and sorts nothing", () =>
  withStores(WAL_FULL, {}, async (stores, folder) => {
    await fill(stores.runs);
    using database = new DatabaseSync(`${folder}/gate.db`);
    for (const [query] of QUERIES) {
      const plan = database.prepare(`EXPLAIN QUERY PLAN ${planned({ ...ALL, ...query }, sha256)}`).all();
      for (const { detail } of plan) {
        assert.match(String(detail), /^SEARCH .* USING (INDEX|INTEGER PRIMARY KEY)/, JSON.stringify(query));
      }
    }
  }));

// Text of a record, and whether it completed its run.
const COMPLETIONS: readonly [string, boolean][] = [
  ['{"body":{"run_status":"complete"},"record_kind":"stage_evaluated"}', true],
  ['{"body":{"run_status":"active"},"record_kind":"stage_evaluated"}', false],
  ['{"body":{"params":{"run_status":"complete"},"run_status":"active"},"record_kind":"stage_evaluated"}', false],
  ['{"body":{"run_status":"complete"},"record_kind":"artifact_submitted"}', false],
  ['{"run_status":"complete","record_kind":"stage_evaluated"}', false],
];

for (const [record, expected] of COMPLETIONS) {
  Deno.test(`completesRun() of ${record} is ${expected}`, () => assert.equal(completesRun(record), expected));
}

Deno.test("parameterText() leaves other members out", () => {
  assert.equal(
    parameterText({ value: 1, parameter_id: "p", more: true }),
    canonicalize({ parameter_id: "p", value: 1 }),
  );
});
