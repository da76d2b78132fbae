/**
 * The format of a store's file: its tables, and the two numbers in the header that identify program and version.
 *
 * A record is one row, so that an accepted mutation changes as few pages as possible. Rows are in the order of
 * acceptance over all runs, which keeps the pages of one commit together. The columns of a point read precede the long
 * texts, so it never reads overflow pages.
 */

/** `application_id` of a gate store: "GATE" in ASCII. */
export const APPLICATION_ID = 0x47415445;

/** `user_version`: the format that this program reads and writes. An older file gets it when it is opened for writing. */
export const FORMAT_VERSION = 7;

/** The format with the tenants of schemas. */
export const TENANTS_FORMAT = 2;
/** The format with typed providers. */
export const TYPED_PROVIDERS_FORMAT = 3;
/** The format with the index of runs. */
export const INDEX_FORMAT = 4;
/** The format with tombstones of archived runs. */
export const ARCHIVES_FORMAT = 5;
/** The format with targets of the outbox and open stages. */
export const OPEN_STAGES_FORMAT = 6;

/** The format of {@link CREATE_TABLES}. */
const FIRST_FORMAT = 1;

/** Bytes of one row: more than any accepted call produces, and few enough for the memory of one machine. */
export const ROW_BYTES_MAXIMUM = 256 * 1024 * 1024;

/** The statements that turn an empty database into a store. */
export const CREATE_TABLES = `
CREATE TABLE laws (
  law_row INTEGER PRIMARY KEY,
  namespace_id INTEGER NOT NULL,
  scenario_id TEXT NOT NULL,
  identity TEXT NOT NULL,
  graph_identity TEXT NOT NULL,
  seal TEXT NOT NULL,
  law TEXT NOT NULL,
  UNIQUE (namespace_id, identity)
) STRICT;
CREATE INDEX laws_listed ON laws (namespace_id, scenario_id, identity);
CREATE TABLE runs (
  run_row INTEGER PRIMARY KEY,
  namespace_id INTEGER NOT NULL,
  run_id TEXT NOT NULL,
  scenario_id TEXT NOT NULL,
  law_identity TEXT NOT NULL,
  creation TEXT NOT NULL,
  revision INTEGER NOT NULL,
  head TEXT NOT NULL,
  UNIQUE (namespace_id, run_id),
  UNIQUE (namespace_id, creation)
) STRICT;
CREATE TABLE records (
  record_row INTEGER PRIMARY KEY,
  run_row INTEGER NOT NULL,
  revision INTEGER NOT NULL,
  record_id TEXT NOT NULL,
  family TEXT NOT NULL,
  operation TEXT NOT NULL,
  invocation_identity TEXT NOT NULL,
  material_names TEXT NOT NULL,
  seal TEXT NOT NULL,
  result TEXT NOT NULL,
  record TEXT NOT NULL,
  material TEXT NOT NULL,
  UNIQUE (run_row, revision),
  UNIQUE (run_row, operation, family)
) STRICT;
CREATE TABLE artifacts (
  identity TEXT NOT NULL UNIQUE,
  kind TEXT NOT NULL,
  body TEXT NOT NULL
) STRICT;
CREATE TABLE snapshots (
  run_row INTEGER NOT NULL,
  revision INTEGER NOT NULL,
  state_identity TEXT NOT NULL,
  state TEXT NOT NULL,
  UNIQUE (run_row, revision)
) STRICT;
CREATE TABLE schemas (
  namespace_id INTEGER NOT NULL,
  schema_id TEXT NOT NULL,
  version TEXT NOT NULL,
  schema_identity TEXT NOT NULL,
  schema_bytes INTEGER NOT NULL,
  seal TEXT NOT NULL,
  record TEXT NOT NULL,
  UNIQUE (namespace_id, schema_id, version)
) STRICT;
PRAGMA application_id = ${APPLICATION_ID};
PRAGMA user_version = ${FIRST_FORMAT};
`;

/** The tenants for which a schema was registered: 0 for a caller without tenants. A schema without rows counts for all. */
const TENANTS_TABLE = `CREATE TABLE schema_tenants (
  namespace_id INTEGER NOT NULL,
  schema_id TEXT NOT NULL,
  version TEXT NOT NULL,
  tenant INTEGER NOT NULL,
  UNIQUE (namespace_id, tenant, schema_id, version)
) STRICT`;

/**
 * Versions of typed providers. The columns of listings precede the text, and the index admits one active version a
 * provider.
 */
const TYPED_PROVIDERS_TABLE = `CREATE TABLE typed_providers (
  namespace_id INTEGER NOT NULL,
  provider_id TEXT NOT NULL,
  version TEXT NOT NULL,
  identity TEXT NOT NULL,
  state TEXT NOT NULL,
  typed_protocol TEXT NOT NULL,
  checks INTEGER NOT NULL,
  registered_at INTEGER NOT NULL,
  seal TEXT NOT NULL,
  body TEXT NOT NULL,
  UNIQUE (namespace_id, provider_id, version),
  UNIQUE (namespace_id, provider_id, identity)
) STRICT`;
const TYPED_PROVIDERS_ACTIVE =
  "CREATE UNIQUE INDEX typed_providers_active ON typed_providers (namespace_id, provider_id) WHERE state = 'active'";

/**
 * The index of runs. Its columns are derived from the records of each run, so that a list of runs reads no record. The
 * indexes end with the order of the list. `correlation` and `parameters` are canonical texts; `correlation` is empty
 * where it is unset.
 */
const RUN_INDEX = [
  `CREATE TABLE run_index (
  run_row INTEGER PRIMARY KEY,
  namespace_id INTEGER NOT NULL,
  created INTEGER NOT NULL,
  run_id TEXT NOT NULL,
  scenario_id TEXT NOT NULL,
  law_identity TEXT NOT NULL,
  status TEXT NOT NULL,
  correlation TEXT NOT NULL,
  parameters TEXT NOT NULL,
  seal TEXT NOT NULL
) STRICT`,
  "CREATE INDEX run_index_all ON run_index (namespace_id, created, run_id)",
  "CREATE INDEX run_index_scenario ON run_index (namespace_id, scenario_id, created, run_id)",
  "CREATE INDEX run_index_law ON run_index (namespace_id, law_identity, created, run_id)",
  "CREATE INDEX run_index_status ON run_index (namespace_id, status, created, run_id)",
  "CREATE INDEX run_index_correlation ON run_index (namespace_id, correlation, created, run_id) WHERE correlation <> ''",
  // `parameter` is the hash of one parameter with its value.
  `CREATE TABLE run_parameters (
  namespace_id INTEGER NOT NULL,
  parameter TEXT NOT NULL,
  created INTEGER NOT NULL,
  run_id TEXT NOT NULL,
  run_row INTEGER NOT NULL,
  UNIQUE (namespace_id, parameter, created, run_id)
) STRICT`,
];

/**
 * Tombstones of archived runs. The rows of their records stay as receipts, with an empty `record` and `material`, so
 * that the number of rows never decreases.
 */
const ARCHIVES_TABLE = `CREATE TABLE archives (
  run_row INTEGER PRIMARY KEY,
  runpack_identity TEXT NOT NULL,
  archived INTEGER NOT NULL,
  state_identity TEXT NOT NULL,
  archive_seal TEXT NOT NULL,
  state TEXT NOT NULL
) STRICT`;

/** How far the records were announced to each target, and which process announces them: `expires` is Unix milliseconds. */
const OUTBOX_TARGETS = `CREATE TABLE outbox_targets (
  target TEXT NOT NULL UNIQUE,
  settled INTEGER NOT NULL,
  holder TEXT NOT NULL,
  expires INTEGER NOT NULL
) STRICT`;

/**
 * The stages that are open and not complete, in runs that are active, with the instant of their opening. The table is
 * derived from the records, so that metrics read no record.
 */
const OPEN_STAGES = `CREATE TABLE open_stages (
  run_row INTEGER NOT NULL,
  stage_id TEXT NOT NULL,
  opened INTEGER NOT NULL,
  UNIQUE (run_row, stage_id)
) STRICT`;
const OPEN_STAGES_OPENED = "CREATE INDEX open_stages_opened ON open_stages (opened)";

/** A member of a record in SQL; null for a text that is no JSON, which a check reports. */
function inRecord(alias: string, path: string): string {
  return `CASE WHEN json_valid(${alias}.record) THEN json_extract(${alias}.record, '$.${path}') END`;
}

/** Adds the open stages of an older store. Only records that complete a stage have the text of the first comparison. */
const FILL_OPEN_STAGES = `INSERT OR IGNORE INTO open_stages (run_row, stage_id, opened)
  SELECT run_row, stage_id, opened FROM (
    SELECT o.run_row, CAST(${inRecord("o", "body.stage_id")} AS TEXT) AS stage_id,
      CAST(${inRecord("o", "acceptance_time.accepted_audit_instant")} AS INTEGER) AS opened
    FROM records AS o WHERE o.family = 'open_stage' AND o.record <> '') AS opening
  WHERE NOT EXISTS (
    SELECT 1 FROM records AS e WHERE e.run_row = opening.run_row AND e.family = 'evaluate_stage'
      AND instr(e.record, '"completed":true') > 0 AND ${inRecord("e", "body.completed")}
      AND (${inRecord("e", "body.stage_id")} = opening.stage_id OR ${inRecord("e", "body.run_status")} = 'complete'))`;

/** Finds the run of a creation request by its sealed receipt: an edited row of the run then admits no second run. */
const RECORDS_OF_CREATION = "CREATE INDEX records_of_creation ON records (operation) WHERE family = 'create_run'";

/** Finds the tenants of a schema, which its seal covers. */
const TENANTS_OF_SCHEMA = "CREATE INDEX tenants_of_schema ON schema_tenants (namespace_id, schema_id, version, tenant)";

/** The statements that turn the format below a number into it. */
export const FORMAT_STEPS: Readonly<Record<number, readonly string[]>> = {
  2: [TENANTS_TABLE],
  3: [TYPED_PROVIDERS_TABLE, TYPED_PROVIDERS_ACTIVE],
  4: RUN_INDEX,
  5: [ARCHIVES_TABLE],
  6: [OUTBOX_TARGETS, OPEN_STAGES, OPEN_STAGES_OPENED, FILL_OPEN_STAGES],
  7: [RECORDS_OF_CREATION, TENANTS_OF_SCHEMA],
};

const SCHEMA: readonly string[] = CREATE_TABLES.split(";").map((text) => text.trim())
  .filter((text) => text.startsWith("CREATE ")).sort();

/** The SQL texts of the tables and indexes of a format, as SQLite stores them. */
export function schemaOf(format: number): readonly string[] {
  const steps = Object.entries(FORMAT_STEPS).filter(([step]) => Number(step) <= format);
  const created = steps.flatMap(([, statements]) => statements).filter((text) => text.startsWith("CREATE "));
  return [...SCHEMA, ...created];
}
