import assert from "node:assert/strict";

import {
  appendTo,
  headAfter,
  headOf,
  identified,
  LAW,
  makeLaw,
  makeSnapshot,
  runKey,
  sha256,
} from "../../tests/simulation/store/fixture.ts";
import { identifyCanonical } from "../canonical/identity.ts";
import { type Changes, type Implementation, IMPLEMENTATIONS, withStores } from "../../tests/simulation/store/open.ts";
import type { Stores } from "./open.ts";
import { MATERIAL_MAXIMUM } from "./size.ts";
import { type Append, type AppendResult, type Artifact, type StoredRecord, StoreError } from "./types.ts";

/** Runs a case over every implementation. */
function overAll(name: string, changes: Changes, run: (stores: Stores) => Promise<void>): void {
  for (const implementation of IMPLEMENTATIONS) testCase(implementation, name, changes, run);
}

function testCase(
  implementation: Implementation,
  name: string,
  changes: Changes,
  run: (stores: Stores) => Promise<void>,
): void {
  Deno.test(`RunStore (${implementation.name}) ${name}`, () => withStores(implementation, changes, run));
}

const RUN = runKey("one");
const CREATE = appendTo(RUN, null, "create");
const FIRST = headAfter(CREATE);
const SECOND_APPEND = appendTo(RUN, FIRST, { operation: "second", family: "open_stage" });
const SECOND = headAfter(SECOND_APPEND);

/** A run with two records. */
async function withTwoRecords({ runs }: Stores): Promise<void> {
  assert.deepEqual(await runs.append(CREATE), { outcome: "accepted" });
  assert.deepEqual(await runs.append(SECOND_APPEND), { outcome: "accepted" });
}

/** A result as text: its outcome and its revision. */
function shown(result: AppendResult): string {
  if (result.outcome === "operation_exists") return `operation_exists ${result.receipt.revision}`;
  return "head" in result ? `${result.outcome} ${result.head.revision}` : result.outcome;
}

const OTHER_LAW: Append = {
  ...appendTo(RUN, SECOND, "a"),
  scenario_law_identity: makeLaw("other").scenario_law_identity,
};

// An append to a run with a creation (revision 1) and an opening (revision 2), and its outcome.
const APPEND_OUTCOMES: readonly [string, Append, string][] = [
  ["a record at the head", appendTo(RUN, SECOND, "a"), "accepted"],
  ["three records at the head", appendTo(RUN, SECOND, "a", "b", "c"), "accepted"],
  ["the same operation of another family", appendTo(RUN, SECOND, "second"), "accepted"],
  ["the same operation on another run", appendTo(runKey("two"), null, "create 2", "second"), "accepted"],
  ["the same creation in another namespace", appendTo(runKey("one", 3), null, "create"), "accepted"],
  ["a record at an older head", appendTo(RUN, FIRST, "a"), "stale 2"],
  ["a record at a head of that revision that is not there", appendTo(RUN, { ...FIRST, revision: 2 }, "a"), "stale 2"],
  ["a record at a head that is yet to come", appendTo(RUN, { ...SECOND, revision: 3 }, "a"), "stale 2"],
  [
    "an accepted operation at the head",
    appendTo(RUN, SECOND, { operation: "second", family: "open_stage" }),
    "operation_exists 2",
  ],
  ["an accepted operation at an older head", SECOND_APPEND, "operation_exists 2"],
  [
    "an accepted operation among new ones",
    appendTo(RUN, SECOND, "a", { operation: "second", family: "open_stage" }),
    "operation_exists 2",
  ],
  [
    "an accepted operation among new ones at an older head",
    appendTo(RUN, FIRST, "a", { operation: "second", family: "open_stage" }),
    "operation_exists 2",
  ],
  ["an accepted creation", CREATE, "operation_exists 1"],
  ["an accepted creation under another run", appendTo(runKey("two"), null, "create"), "operation_exists 1"],
  ["another creation under the same run", appendTo(RUN, null, "create 2"), "run_exists 2"],
  ["a record on no run", appendTo(runKey("two"), FIRST, "a"), "run_not_found"],
  ["a record on a run of another namespace", appendTo(runKey("one", 3), SECOND, "a"), "run_not_found"],
  ["a record on a run of another law", OTHER_LAW, "run_not_found"],
];

for (const [what, append, outcome] of APPEND_OUTCOMES) {
  overAll(`append() ${what}: ${outcome}`, {}, async (stores) => {
    const { runs } = stores;
    await withTwoRecords(stores);
    const before = await runs.listRuns(null, 10);
    assert.equal(shown(await runs.append(append)), outcome);
    if (outcome !== "accepted") {
      assert.deepEqual(await runs.listRuns(null, 10), before);
      assert.equal((await runs.listRecords(RUN, 0, 10)).length, 2);
      return;
    }
    assert.deepEqual((await runs.getHead(append.run_key))?.head, headAfter(append));
    const after = append.expected_head?.revision ?? 0;
    assert.deepEqual(await runs.listRecords(append.run_key, after, 10), [...append.records]);
  });
}

const MISSHAPEN: readonly [string, Append][] = [
  ["no record", { ...CREATE, records: [] }],
  ["a revision left out", { ...SECOND_APPEND, expected_head: { ...FIRST, revision: 2 } }],
  ["a creation of another family", appendTo(RUN, null, { operation: "create", family: "submit" })],
  ["a creation after the head", appendTo(RUN, FIRST, { operation: "a", family: "create_run" })],
  ["one operation twice", appendTo(RUN, FIRST, "a", "a")],
  [
    "material over two lines",
    appendTo(RUN, FIRST, { operation: "a", material: [{ kind: "payload", identity: "", body: "1\n2" }] }),
  ],
  [
    "more material than any call leaves",
    appendTo(RUN, FIRST, { operation: "a", material: pieces(MATERIAL_MAXIMUM + 1) }),
  ],
  ["a name with a NUL", { ...CREATE, scenario_id: "a\0b" }],
];

/** The given number of pieces of material. */
function pieces(count: number): StoredRecord["material"] {
  return Array(count).fill(identified("payload", 1));
}

overAll("append() accepts the maximum of material of a record", {}, async ({ runs }) => {
  const create = appendTo(RUN, null, { operation: "create", material: pieces(MATERIAL_MAXIMUM) });
  assert.equal(shown(await runs.append(create)), "accepted");
  assert.deepEqual(await runs.listRecords(RUN, 0, 10), [...create.records]);
});

for (const [what, append] of MISSHAPEN) {
  overAll(`append() rejects ${what}`, {}, async ({ runs }) => {
    await assert.rejects(runs.append(append), (error) => error instanceof StoreError && error.code === "corrupt");
    assert.deepEqual(await runs.listRuns(null, 10), []);
  });
}

overAll("append() called many times at one head accepts exactly one", {}, async ({ runs }) => {
  await runs.append(CREATE);
  const rivals = Array.from({ length: 100 }, (_, index) => runs.append(appendTo(RUN, FIRST, `rival ${index}`)));
  const outcomes = (await Promise.all(rivals)).map(shown);
  assert.equal(outcomes.filter((outcome) => outcome === "accepted").length, 1);
  assert.equal(outcomes.filter((outcome) => outcome === "stale 2").length, 99);
});

overAll("appendTogether() compares each append by itself, and commits those that fit", {}, async (stores) => {
  const { runs } = stores;
  await withTwoRecords(stores);
  const before = runs.load();
  const created = appendTo(runKey("three"), null, "create 3", "first", "second of three");
  const results = await runs.appendTogether([
    appendTo(runKey("two"), null, "create 2", "second"),
    appendTo(RUN, FIRST, "a"),
    created,
    appendTo(runKey("four"), null, "create"),
  ]);
  assert.deepEqual(results.map(shown), ["accepted", "stale 2", "accepted", "operation_exists 1"]);
  assert.equal(runs.load().batches, before.batches + 1);
  assert.deepEqual(await runs.listRecords(runKey("three"), 0, 10), [...created.records]);
  assert.equal((await runs.listRuns(null, 10)).length, 3);
  assert.deepEqual(await runs.appendTogether([]), []);
});

overAll("appendTogether() with an append of a wrong shape commits none", {}, async ({ runs }) => {
  const wrong = { ...appendTo(runKey("two"), null, "create 2"), records: [] };
  await assert.rejects(runs.appendTogether([CREATE, wrong]), StoreError);
  assert.deepEqual(await runs.listRuns(null, 10), []);
});

overAll("append() of a creation called many times creates one run", {}, async ({ runs }) => {
  const rivals = Array.from(
    { length: 20 },
    (_, index) => runs.append(appendTo(runKey(`rival ${index}`), null, "create")),
  );
  const outcomes = (await Promise.all(rivals)).map(shown);
  assert.deepEqual(outcomes.sort(), ["accepted", ...Array<string>(19).fill("operation_exists 1")]);
  assert.equal((await runs.listRuns(null, 100)).length, 1);
});

overAll("getReceipt() returns the original result, byte for byte", {}, async (stores) => {
  await withTwoRecords(stores);
  const [record] = SECOND_APPEND.records;
  const operation = record?.receipt.operation;
  assert.ok(record !== undefined && operation !== undefined);
  const { runs } = stores;
  assert.deepEqual(await runs.receipts.get(RUN, operation), { ...record.receipt, run_key: RUN, revision: 2 });
  assert.equal(await runs.receipts.get(RUN, { ...operation, family: "submit" }), null);
  assert.equal(await runs.receipts.get(runKey("two"), operation), null);
  assert.equal(await runs.receipts.get(runKey("one", 3), operation), null);
});

overAll("getCreationReceipt() is by namespace and names the run", {}, async (stores) => {
  await withTwoRecords(stores);
  const [record] = CREATE.records;
  assert.ok(record !== undefined);
  const { identity } = record.receipt.operation;
  assert.deepEqual(await stores.runs.receipts.ofCreation(2, identity), {
    ...record.receipt,
    run_key: RUN,
    revision: 1,
  });
  assert.deepEqual(await stores.runs.receipts.get(RUN, record.receipt.operation), {
    ...record.receipt,
    run_key: RUN,
    revision: 1,
  });
  assert.equal(await stores.runs.receipts.ofCreation(3, identity), null);
  assert.equal(await stores.runs.receipts.ofCreation(2, "0".repeat(32)), null);
});

overAll("getHead() returns the scenario and law of the run", {}, async (stores) => {
  assert.equal(await stores.runs.getHead(RUN), null);
  await withTwoRecords(stores);
  const { scenario_id, scenario_law_identity } = LAW;
  assert.deepEqual(await stores.runs.getHead(RUN), { run_key: RUN, scenario_id, scenario_law_identity, head: SECOND });
  assert.equal(await stores.runs.getHead(runKey("one", 3)), null);
});

overAll("putLaw() stores a law once in a namespace", {}, async ({ runs }) => {
  const law = makeLaw("a");
  const elsewhere = makeLaw("a", 1, 3);
  assert.equal(await runs.laws.put(law), "stored");
  assert.equal(await runs.laws.put(law), "exists");
  assert.equal(await runs.laws.put(elsewhere), "stored");
  assert.deepEqual(await runs.laws.get(2, law.scenario_law_identity), law);
  assert.deepEqual(await runs.laws.get(3, elsewhere.scenario_law_identity), elsewhere);
  assert.equal(await runs.laws.get(3, law.scenario_law_identity), null);
  assert.deepEqual([await runs.laws.hasScenario(2, "a"), await runs.laws.hasScenario(2, "A")], [true, false]);
  await assert.rejects(runs.laws.put({ ...law, scenario_id: "a\0" }), StoreError);
});

overAll("listLaws() pages in code point order", {}, async ({ runs }) => {
  const ids = ["b", "a", "B", "10", "2", "\u{10000}", "\uffff", "é", "a\u0001"];
  const laws = ids.flatMap((id) => [makeLaw(id, 1), makeLaw(id, 2)]);
  for (const law of laws) await runs.laws.put(law);
  await runs.laws.put(makeLaw("a", 1, 3));
  const found: string[] = [];
  let after = null;
  for (;;) {
    const page = await runs.laws.list(2, after, 5);
    found.push(...page.map((law) => law.scenario_id));
    after = page.at(-1) ?? null;
    if (after === null) break;
  }
  const ordered = ["10", "2", "B", "a", "a\u0001", "b", "é", "\uffff", "\u{10000}"];
  assert.deepEqual(found, ordered.flatMap((id) => [id, id]));
});

overAll("listNamespaces() pages the namespaces that hold laws", {}, async ({ runs }) => {
  assert.deepEqual(await runs.laws.listNamespaces(0, 5), []);
  for (const namespaceId of [10, 2, 3, 2, 11]) {
    await runs.laws.put(makeLaw("a", 1, namespaceId));
    await runs.laws.put(makeLaw("b", 2, namespaceId));
  }
  assert.deepEqual(await runs.laws.listNamespaces(0, 3), [2, 3, 10]);
  assert.deepEqual(await runs.laws.listNamespaces(0, 4), [2, 3, 10, 11]);
  assert.deepEqual(await runs.laws.listNamespaces(0, 5), [2, 3, 10, 11]);
  assert.deepEqual(await runs.laws.listNamespaces(3, 9), [10, 11]);
  assert.deepEqual(await runs.laws.listNamespaces(11, 9), []);
});

overAll("listRuns() pages by namespace and run", {}, async ({ runs }) => {
  const keys = ["a", "b", "c"].flatMap((name) => [runKey(name, 10), runKey(name, 2)]);
  for (const [index, key] of keys.entries()) await runs.append(appendTo(key, null, `create ${index}`));
  const first = await runs.listRuns(null, 4);
  const second = await runs.listRuns(first.at(-1)?.run_key ?? null, 4);
  const found = [...first, ...second].map(({ run_key }) => run_key);
  const order = (a: string, b: string): number => a < b ? -1 : 1;
  const expected = [2, 10].flatMap((namespace_id) =>
    ["a", "b", "c"].map((name) => runKey(name).run_id).sort(order).map((run_id) => ({ namespace_id, run_id }))
  );
  assert.deepEqual(found, expected);
});

// A run of 10 records of about 1000 bytes each: after, limit, maximumBytes, and the returned revisions.
const PAGES: readonly [number, number, number | undefined, readonly number[]][] = [
  [0, 3, undefined, [1, 2, 3]],
  [8, 3, undefined, [9, 10]],
  [9, 1, undefined, [10]],
  [10, 3, undefined, []],
  [11, 3, undefined, []],
  [0, 0, undefined, []],
  [0, 10, 1, [1]],
  [4, 10, 1, [5]],
];

overAll("listRecords() pages by revision, with at least one record of any size", {}, async ({ runs }) => {
  const filled = Array.from({ length: 9 }, (_, index) => ({ operation: `op ${index}`, filling: 1000 }));
  await runs.append(appendTo(RUN, null, { operation: "create", filling: 1000 }, ...filled));
  for (const [after, limit, maximumBytes, expected] of PAGES) {
    const page = await runs.listRecords(RUN, after, limit, maximumBytes);
    assert.deepEqual(page.map((record) => record.revision), expected);
  }
  assert.deepEqual(await runs.listRecords(runKey("two"), 0, 10), []);
});

overAll("listRecords() stops at maximumBytes exactly", {}, async ({ runs }) => {
  const append = appendTo(RUN, null, "create", { operation: "é", filling: 100 }, { operation: "b", filling: 100 });
  await runs.append(append);
  const bytes = append.records.slice(0, 2)
    .reduce((sum, { record, receipt }) => sum + new TextEncoder().encode(record + receipt.result).length, 0);
  const counts = [bytes - 1, bytes, bytes + 1].map(async (most) => (await runs.listRecords(RUN, 0, 3, most)).length);
  assert.deepEqual(await Promise.all(counts), [1, 2, 2]);
});

overAll("listRecords() returns long pages whole and in order", {}, async ({ runs }) => {
  const operations = Array.from({ length: 299 }, (_, index) => `op ${index}`);
  const append = appendTo(RUN, null, "create", ...operations);
  await runs.append(append);
  const pages = await Promise.all(Array.from({ length: 6 }, () => runs.listRecords(RUN, 0, 1000)));
  for (const page of pages) assert.deepEqual(page, [...append.records]);
});

overAll("append() stores material of 2 MiB unchanged", {}, async ({ runs }) => {
  const material = [
    identified("payload", { kind: "json", value: `é\u{1f600}"\n`.repeat(200_000) }),
    identified("evidence-value", { value: "", value_type: "String" }),
  ];
  const append = appendTo(RUN, null, "create", { operation: "a", material });
  assert.deepEqual(await runs.append(append), { outcome: "accepted" });
  assert.deepEqual(await runs.listRecords(RUN, 0, 10), [...append.records]);
});

// Texts with what a store may put between texts.
const CONTROLS = [
  "\x1f",
  "\x1f\x1f",
  "a\x1f",
  "\x1fa",
  "\x1f0",
  "\x1f0\x1e",
  "\x1f1\x1e\x1f0",
  "\x1e",
  "{}",
  '{"a":null}',
  "NULL",
  "",
  "\\",
  "é",
];

overAll("append() stores texts with control characters unchanged", {}, async ({ runs }) => {
  for (const [index, control] of CONTROLS.entries()) {
    const run = runKey(`run ${index}`);
    const create = appendTo(run, null, `create ${index}`);
    const body = control === "" ? "1" : control;
    const material = [{ kind: "payload", identity: identifyCanonical(sha256, "payload", body), body }];
    const [record] = appendTo(run, headAfter(create), { operation: "a", material }).records;
    assert.ok(record !== undefined);
    const stored = { ...record, receipt: { ...record.receipt, result: control } };
    const append = { ...appendTo(run, headAfter(create), "a"), records: [stored] };
    assert.deepEqual(await runs.append(create), { outcome: "accepted" });
    assert.deepEqual(await runs.append(append), { outcome: "accepted" });
    assert.deepEqual(await runs.listRecords(run, 1, 10), [stored], JSON.stringify(control));
  }
});

overAll("append() stores an artifact once", {}, async ({ runs }) => {
  const { identity, body } = identified("operator-profile", { lanes: [] });
  const artifact: Artifact = { kind: "operator-profile", identity, body };
  await runs.append({ ...CREATE, artifacts: [artifact] });
  await runs.append({ ...SECOND_APPEND, artifacts: [artifact, artifact] });
  assert.deepEqual(await runs.artifacts.get(identity), artifact);
  const refused = identified("contract", { checks: [] });
  await runs.append({ ...appendTo(RUN, FIRST, "late"), artifacts: [{ ...refused, kind: "contract" }] });
  assert.equal(await runs.artifacts.get(refused.identity), null);
});

overAll("putArtifact() stores an artifact without a run, and replaces none", {}, async ({ runs }) => {
  const { identity, body } = identified("contract", { checks: [] });
  const artifact: Artifact = { kind: "contract", identity, body };
  await runs.artifacts.put(artifact);
  await runs.artifacts.put({ ...artifact, kind: "schema" });
  assert.deepEqual(await runs.artifacts.get(identity), artifact);
});

for (const [max_versions, kept] of [[1, [3]], [2, [2, 3]], [3, [1, 2, 3]], [null, [2, 3]]] as const) {
  overAll(
    `putSnapshot() with max_versions ${max_versions} keeps revisions ${kept.join(", ")}`,
    { max_versions },
    async ({ runs }) => {
      const append = appendTo(RUN, null, "create", "a", "b");
      await runs.append(append);
      const heads = append.records.map(headOf);
      const snapshots = heads.map((head) => makeSnapshot(head));
      for (const index of [1, 0, 2]) await runs.snapshots.put(RUN, snapshots[index] ?? assert.fail());
      const found = [];
      for (const revision of [1, 2, 3]) found.push((await runs.snapshots.get(RUN, revision))?.revision);
      const expected = [1, 2, 3].map((most) => kept.filter((revision) => revision <= most).at(-1));
      assert.deepEqual(found, expected);
      assert.deepEqual(await runs.snapshots.get(RUN, 99), snapshots[2]);
    },
  );
}

overAll(
  "putSnapshot() replaces a snapshot of the same revision, and stores none of an unknown run or revision",
  {},
  async ({ runs }) => {
    await runs.append(CREATE);
    await runs.snapshots.put(RUN, makeSnapshot(FIRST));
    await runs.snapshots.put(RUN, makeSnapshot(FIRST, "again"));
    assert.deepEqual(await runs.snapshots.get(RUN, 1), makeSnapshot(FIRST, "again"));
    await runs.snapshots.put(RUN, makeSnapshot(SECOND));
    assert.deepEqual(await runs.snapshots.get(RUN, 9), makeSnapshot(FIRST, "again"));
    await runs.snapshots.put(runKey("two"), makeSnapshot(FIRST));
    assert.equal(await runs.snapshots.get(runKey("two"), 9), null);
  },
);

overAll("close() commits queued operations, then rejects calls", {}, async (stores) => {
  const { runs } = stores;
  const queued = runs.append(CREATE);
  const closing = runs.close();
  assert.deepEqual(await queued, { outcome: "accepted" });
  await closing;
  await runs.close();
  for (const call of [runs.getHead(RUN), runs.append(SECOND_APPEND), runs.ready(), runs.listRecords(RUN, 0, 1)]) {
    await assert.rejects(call, (error) => error instanceof StoreError && error.code === "closed" && !error.retryable);
  }
  await stores.schemas.ready();
});

overAll("ready() resolves on an open store", {}, async ({ runs, schemas }) => {
  await runs.ready();
  await schemas.ready();
});
