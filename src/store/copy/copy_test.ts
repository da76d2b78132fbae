import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";

import { SHA256 } from "../../../tests/simulation/kernel/fixture.ts";
import { playGoldenRun, storeRun } from "../../../tests/simulation/runpack/run.ts";
import { appendTo, LAW, makeSchema, makeTypedProvider, runKey } from "../../../tests/simulation/store/fixture.ts";
import { storesOptions, WAL_FULL, withFolder } from "../../../tests/simulation/store/open.ts";
import { type CopyReport, copyStore } from "./copy.ts";
import { closeStores, openRows, openStores, type Stores } from "../open.ts";
import type { StoreRows } from "../rows/store_rows.ts";
import type { TypedProviderVersion } from "../typed_provider_types.ts";

const GOLDEN = playGoldenRun(0, () => "gate-kernel-1");
const GOLDEN_KEY = GOLDEN.state.run_key;

/** Fills a file, changes it, and copies its rows to a store in memory. */
async function copyOf(
  folder: string,
  source: {
    readonly fill: (stores: Stores) => Promise<void>;
    readonly sql?: string;
    readonly rows?: (rows: StoreRows) => StoreRows;
    readonly fillTarget?: (stores: Stores) => Promise<unknown>;
  },
): Promise<{ readonly report: CopyReport; readonly target: Stores; readonly progress: readonly number[] }> {
  const options = storesOptions(folder, WAL_FULL);
  const stores = await openStores(options, SHA256);
  await source.fill(stores);
  await closeStores(stores);
  const database = new DatabaseSync(`${folder}/gate.db`);
  database.exec(source.sql ?? "");
  database.close();
  const target = await openStores(storesOptions(folder, { name: "memory", changes: {} }), SHA256);
  await source.fillTarget?.(target);
  const rows = await openRows(options.run);
  const progress: number[] = [];
  const onProgress = ({ records }: { records: number }): void => void progress.push(records);
  const report = await copyStore((source.rows ?? ((same) => same))(rows), target, { sha256: SHA256, onProgress });
  await rows.close();
  return { report, target, progress };
}

/** A table that got its rows later. */
async function* noPages(): AsyncGenerator<never> {}

Deno.test("copyStore() copies laws and artifacts that were stored after the copies of their tables", () =>
  withFolder(async (folder) => {
    const { report, target, progress } = await copyOf(folder, {
      fill: async ({ runs }) => {
        await storeRun(runs, GOLDEN);
        await runs.laws.put(LAW);
        for (let run = 0; run < 40; run++) await runs.append(appendTo(runKey(`${run}`), null, `create ${run}`));
      },
      rows: (rows) => ({ ...rows, pages: noPages }),
    });
    assert.deepEqual(report.problems, []);
    assert.deepEqual([report.written.laws, report.written.runs], [2, 41]);
    assert.ok(report.written.artifacts > 0);
    assert.equal((await target.runs.getHead(GOLDEN_KEY))?.head.revision, GOLDEN.state.head.revision);
    assert.equal(progress.at(-1), report.read.records);
    assert.ok(progress.some((records) => records < report.read.records));
  }));

Deno.test("copyStore() copies no run whose artifact is damaged", () =>
  withFolder(async (folder) => {
    const { report, target } = await copyOf(folder, {
      fill: ({ runs }) => storeRun(runs, GOLDEN),
      sql: "UPDATE artifacts SET body = body || ' '",
    });
    assert.deepEqual(await target.runs.listRuns(null, 10), []);
    const messages = report.problems.map(({ what, message }) => `${what}: ${message}`);
    assert.ok(messages.some((message) => /^artifact: .* does not hash to its identity$/.test(message)));
    assert.match(messages.at(-1) ?? "", /^run: its artifact "\w{64}" was not copied$/);
  }));

Deno.test("copyStore() stops where the target cannot be written, and a repetition goes on", () =>
  withFolder(async (folder) => {
    const options = storesOptions(folder, WAL_FULL);
    const { target } = await copyOf(folder, {
      fill: async ({ runs }) => {
        await runs.laws.put(LAW);
        for (const name of ["a", "b"]) await runs.append(appendTo(runKey(name), null, `create ${name}`));
      },
      rows: (rows) => ({ ...rows, nextRun: () => Promise.resolve(null) }),
    });
    const rows = await openRows(options.run);
    let left = 1;
    const append: typeof target.runs.append = (one) =>
      left-- > 0 ? target.runs.append(one) : Promise.reject(new Error("The disk is gone"));
    const failing = { ...target, runs: { ...target.runs, append } };
    await assert.rejects(copyStore(rows, failing, { sha256: SHA256 }), /The disk is gone/);
    const again = await copyStore(rows, target, { sha256: SHA256 });
    assert.deepEqual([again.sound, again.read.runs, (await target.runs.listRuns(null, 10)).length], [true, 2, 2]);
    await rows.close();
  }));

// What the target has of a typed provider, and the problem.
const TYPED: readonly (readonly [Partial<TypedProviderVersion>, RegExp | null])[] = [
  [{}, null],
  [{ registered_at: 1 }, /^Typed provider "scanner" version "1" differs at the target$/],
  [{ checks: 2 }, /^Typed provider "scanner" version "1" differs at the target$/],
];

for (const [change, problem] of TYPED) {
  Deno.test(`copyStore() to a target whose typed provider has ${JSON.stringify(change)}: ${problem?.source ?? "sound"}`, () =>
    withFolder(async (folder) => {
      const version = makeTypedProvider("scanner", "1");
      const { report, target } = await copyOf(folder, {
        fill: async ({ schemas }) => void await schemas.typedProviders.register(version),
        fillTarget: ({ schemas }) => schemas.typedProviders.register({ ...version, ...change }),
      });
      assert.equal(report.sound, problem === null);
      if (problem !== null) assert.match(report.problems.map(({ message }) => message).join(), problem);
      assert.deepEqual(await target.schemas.typedProviders.get(version), {
        ...version,
        ...change,
        state: "registered",
      });
    }));
}

// The tenants of a schema at the source and at the target, and the problem.
const TENANTS: readonly (readonly [readonly number[] | null, readonly number[] | null, string | null])[] = [
  [null, null, null],
  [[2, 1], [1, 2], null],
  [[], [], null],
  [[1], [1, 2], "counts for tenants [1] at the source and tenants [1, 2] at the target"],
  [null, [1], "counts for every tenant at the source and tenants [1] at the target"],
  [[], null, "counts for tenants [0] at the source and every tenant at the target"],
];

for (const [source, there, problem] of TENANTS) {
  Deno.test(`copyStore() compares tenants ${JSON.stringify(source)} and ${JSON.stringify(there)}: ${problem ?? "equal"}`, () =>
    withFolder(async (folder) => {
      const schema = makeSchema("report", "1");
      const { report } = await copyOf(folder, {
        fill: async ({ schemas }) => void await schemas.register(schema, source),
        fillTarget: ({ schemas }) => schemas.register(schema, there),
      });
      const problems = problem === null ? [] : [`Schema "report" version "1" ${problem}`];
      assert.deepEqual(report.problems.map(({ message }) => message), problems);
    }));
}
