/**
 * Stores with a little of everything in them, and what somebody does to their files.
 *
 * @module
 */

import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";

import { checkStore } from "../../../src/store/check/check.ts";
import { closeStores, openStores, type Stores } from "../../../src/store/open.ts";
import { sealLaw, sealSchema } from "../../../src/store/seal.ts";
import type { Append, SchemaRecord } from "../../../src/store/types.ts";
import {
  appendTo,
  headAfter,
  headOf,
  identified,
  LAW,
  makeSchema,
  makeSnapshot,
  makeTypedProvider,
  type RecordChoices,
  runKey,
  sha256,
} from "./fixture.ts";
import { storesOptions, WAL_FULL } from "./open.ts";

/** The run that there is. */
export const RUN = runKey("one");
const PROFILE = { ...identified("operator-profile", { lanes: [] }), kind: "operator-profile" } as const;
const PAYLOAD = identified("payload", { kind: "json", value: "payload" });
const APPEND = {
  ...appendTo(RUN, null, "create", { operation: "second", material: [PAYLOAD] }, "third", "fourth"),
  artifacts: [PROFILE],
};
const RECORDS = APPEND.records;
/** Its head. */
export const HEAD = headAfter(APPEND);
const TYPED = makeTypedProvider("releases", "1");
const SNAPSHOT = makeSnapshot(headOf(RECORDS[2] ?? assert.fail()));

/** Puts a little of everything into empty stores. */
export async function fill({ runs, schemas }: Stores): Promise<void> {
  await runs.laws.put(LAW);
  await runs.append(APPEND);
  await runs.snapshots.put(RUN, SNAPSHOT);
  await schemas.register(makeSchema("report", "1"));
  await schemas.typedProviders.register(TYPED);
  await schemas.typedProviders.activate(TYPED, null);
}

/** A law, two small runs, one of more than a megabyte, schemas with and without tenants, versions in every state. */
export async function fillAll(stores: Stores): Promise<void> {
  const { runs, schemas } = stores;
  await fill(stores);
  const complete = { operation: "e", evaluates: "complete" } as const;
  const parameters = [{ parameter_id: "version", value: { value: "1", value_type: "String" } }];
  const creation: RecordChoices = { operation: "create b", correlation: "x", parameters, created: 7 };
  await runs.append(appendTo(runKey("b"), null, creation, "s", complete));
  const long = Array.from({ length: 150 }, (_, index) => ({ operation: `long ${index}`, filling: 10_000 }));
  await runs.append(appendTo(runKey("long"), null, "create long", ...long));
  await schemas.register(makeSchema("a", "1"), [1, 2]);
  await schemas.register(makeSchema("b", "1"), []);
  const deprecated = makeTypedProvider("old", "1");
  await schemas.typedProviders.register(deprecated);
  await schemas.typedProviders.deprecate(deprecated, "registered");
  await schemas.typedProviders.register(makeTypedProvider("new", "1"));
}

/** A complete run with material and parameters, which {@link archiveRun} archives. */
export const ARCHIVABLE: Append = appendTo(
  runKey("archivable"),
  null,
  { operation: "create archivable", correlation: "y", parameters: [{ parameter_id: "p", value: null }], created: 9 },
  { operation: "paid", material: [PAYLOAD] },
  { operation: "completed", family: "evaluate_stage", evaluates: "complete" },
);

/** Archives {@link ARCHIVABLE}, which the stores have. */
export async function archiveRun({ runs }: Stores, runpack_identity = "a".repeat(64)): Promise<void> {
  const { state_identity, state } = makeSnapshot(headAfter(ARCHIVABLE));
  const tombstone = { runpack_identity, archived_instant: 1_000, state_identity, state };
  const { outcome } = await runs.archives.archive(ARCHIVABLE.run_key, headAfter(ARCHIVABLE), tombstone);
  assert.equal(outcome, "archived");
}

/** Every read of the suite; each name is what may be refused. */
export const READS: Readonly<Record<string, (stores: Stores) => Promise<unknown>>> = {
  head: ({ runs }) => runs.getHead(RUN),
  records: ({ runs }) => runs.listRecords(RUN, 0, 10),
  tail: ({ runs }) => runs.listRecords(RUN, 2, 10),
  receipt: ({ runs }) => runs.receipts.get(RUN, RECORDS[1]?.receipt.operation ?? assert.fail()),
  creation: ({ runs }) => runs.receipts.ofCreation(2, RECORDS[0]?.receipt.operation.identity ?? assert.fail()),
  repeat: ({ runs }) => runs.append(appendTo(RUN, headOf(RECORDS[0] ?? assert.fail()), "second")),
  law: ({ runs }) => runs.laws.get(2, LAW.scenario_law_identity),
  laws: ({ runs }) => runs.laws.list(2, null, 10),
  scenario: ({ runs }) => runs.laws.hasScenario(2, "release"),
  artifact: ({ runs }) => runs.artifacts.get(PROFILE.identity),
  snapshot: ({ runs }) => runs.snapshots.get(RUN, 9),
  again: ({ runs }) => runs.append(appendTo(runKey("again"), null, "create")),
  schema: ({ schemas }) => schemas.get(2, "report", "1"),
  tenants: ({ schemas }) => schemas.getTenants(2, "report", "1"),
  schemas: ({ schemas }) => schemas.list(2, null, 10),
  typed: ({ schemas }) => schemas.typedProviders.getActive(2, "releases"),
  typed_list: ({ schemas }) => schemas.typedProviders.list(2, null, 10),
};

/** SQL, or what puts seals right that would tell of a change. */
export type Change = string | ((database: DatabaseSync) => void);

/** Gives a schema another document, or another name, as somebody does who knows how a row is sealed. */
export function forgeSchema(change: Partial<SchemaRecord>): Change {
  const forged = { ...makeSchema("report", "1"), ...change };
  const { schema_id, version, schema_identity, schema_bytes, record } = forged;
  return (database) => {
    database.prepare(
      "UPDATE schemas SET version = ?, schema_identity = ?, schema_bytes = ?, seal = ?, record = ? WHERE schema_id = ?",
    )
      .run(
        version,
        schema_identity,
        schema_bytes,
        sealSchema(sha256, { schema: forged, tenants: null }),
        record,
        schema_id,
      );
  };
}

/** Seals the schemas of a file as programs did before seals covered tenants. */
export function sealAsBefore(database: DatabaseSync): void {
  for (const row of database.prepare("SELECT rowid AS place, * FROM schemas").all()) {
    const { place, namespace_id, schema_identity, schema_bytes, schema_id, version, record } = row;
    const names = `${schema_id}\n${version}\n${record}`;
    const seal = sha256(`gate store schema 1\n${namespace_id} ${schema_identity} ${schema_bytes}\n${names}`);
    database.prepare("UPDATE schemas SET seal = ? WHERE rowid = ?").run(seal, place ?? null);
  }
}

/** Gives a law another scenario in the same way. */
export const forgeLaw: Change = (database) => {
  const seal = sealLaw(sha256, { ...LAW, scenario_id: "releasf" });
  database.prepare("UPDATE laws SET scenario_id = ?, seal = ?").run("releasf", seal);
};

/** Makes a sound store, and changes its file. */
export async function corrupted(folder: string, change: Change): Promise<string> {
  const stores = await openStores(storesOptions(folder, WAL_FULL), sha256);
  await fill(stores);
  for (const read of Object.values(READS)) await read(stores);
  await closeStores(stores);
  const path = `${folder}/gate.db`;
  assert.equal((await checkStore(path, { sha256 })).sound, true);
  const database = new DatabaseSync(path);
  if (typeof change === "string") database.exec(change);
  else change(database);
  database.close();
  return path;
}
