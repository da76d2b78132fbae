/**
 * The tables of a store on PostgreSQL, and the rights of the role that a server uses.
 *
 * Every key begins with the namespace and the id of the run; nothing refers to a row number, so a store can be copied.
 * A run's entry in the list of runs stands in its row. An entry has two seals, since its status changes once, in the
 * statement that moves the head.
 */

/** The version of the tables that this program reads and writes. */
export const TABLES_VERSION = 6;

/** The heads of audit logs. A server only adds rows, so it cannot take back a head that it recorded. */
const CREATE_AUDIT_HEADS = `CREATE TABLE gate.audit_heads (
  chain_id text NOT NULL,
  sequence int8 NOT NULL,
  head text NOT NULL,
  server text NOT NULL,
  log text NOT NULL,
  recorded_at int8 NOT NULL,
  PRIMARY KEY (chain_id, sequence)
)`;

/** The states of archived runs. */
const CREATE_ARCHIVES = `CREATE TABLE gate.archives (
  namespace_id int8 NOT NULL,
  run_id text NOT NULL,
  state text NOT NULL,
  PRIMARY KEY (namespace_id, run_id)
)`;

/** Marks an archived run in its row, so that an append which waits for the row finds the mark; null in every other row. */
const ADD_ARCHIVED_COLUMNS = `ALTER TABLE gate.runs ADD COLUMN runpack_identity text, ADD COLUMN archived int8,
  ADD COLUMN state_identity text, ADD COLUMN archive_seal text`;

/**
 * Targets of the outbox with their leases, and the records that wait for each; `seen` says when a server last
 * registered it.
 */
const CREATE_OUTBOX: readonly string[] = [
  `CREATE TABLE gate.outbox_targets (
  target text NOT NULL PRIMARY KEY,
  holder text NOT NULL,
  expires timestamptz NOT NULL,
  seen timestamptz NOT NULL
)`,
  `CREATE TABLE gate.outbox (
  target text NOT NULL,
  place bigserial NOT NULL,
  namespace_id int8 NOT NULL,
  run_id text NOT NULL,
  revision int8 NOT NULL,
  PRIMARY KEY (target, place)
)`,
];

/** The stages that are open in active runs, so that metrics read no record. */
const CREATE_OPEN_STAGES: readonly string[] = [
  `CREATE TABLE gate.open_stages (
  namespace_id int8 NOT NULL,
  run_id text NOT NULL,
  stage_id text NOT NULL,
  opened int8 NOT NULL,
  PRIMARY KEY (namespace_id, run_id, stage_id)
)`,
  "CREATE INDEX open_stages_opened ON gate.open_stages (opened)",
];

/**
 * The number of runs, kept by the statements that create and complete them. Connections have 1,024 rows, so that few
 * statements wait for another one.
 */
const CREATE_RUN_COUNTS = `CREATE TABLE gate.run_counts (
  backend int8 NOT NULL PRIMARY KEY,
  runs int8 NOT NULL,
  complete int8 NOT NULL
)`;

/** Counts the runs that exist. No connection has the number 0. */
const FILL_RUN_COUNTS = `INSERT INTO gate.run_counts (backend, runs, complete)
  SELECT 0, count(*), count(*) FILTER (WHERE status = 'complete') FROM gate.runs`;

/** Adds the open stages of the runs that exist. */
const FILL_OPEN_STAGES = `INSERT INTO gate.open_stages (namespace_id, run_id, stage_id, opened)
  SELECT namespace_id, run_id, o.record::json #>> '{body,stage_id}',
    (o.record::json #>> '{acceptance_time,accepted_audit_instant}')::int8
  FROM gate.runs AS u JOIN gate.records AS o USING (namespace_id, run_id)
  WHERE u.status = 'active' AND o.family = 'open_stage' AND NOT EXISTS (
    SELECT 1 FROM gate.records AS e WHERE e.namespace_id = u.namespace_id AND e.run_id = u.run_id
      AND e.family = 'evaluate_stage' AND strpos(e.record, '"completed":true') > 0
      AND e.record::json #>> '{body,completed}' = 'true'
      AND e.record::json #>> '{body,stage_id}' = o.record::json #>> '{body,stage_id}')`;

/** Refuses a second run of a creation request also where the row of the first one was edited. */
const RECORDS_OF_CREATION =
  "CREATE UNIQUE INDEX records_of_creation ON gate.records (namespace_id, operation) WHERE family = 'create_run'";

/** The statements that lead from a version to the next one; the first ones lead from version 1. */
export const UPGRADES: readonly (readonly string[])[] = [
  [CREATE_AUDIT_HEADS, "INSERT INTO gate.version (version) VALUES (2)"],
  [ADD_ARCHIVED_COLUMNS, CREATE_ARCHIVES, "INSERT INTO gate.version (version) VALUES (3)"],
  [...CREATE_OUTBOX, ...CREATE_OPEN_STAGES, FILL_OPEN_STAGES, "INSERT INTO gate.version (version) VALUES (4)"],
  [RECORDS_OF_CREATION, "INSERT INTO gate.version (version) VALUES (5)"],
  [
    "LOCK TABLE gate.runs IN SHARE ROW EXCLUSIVE MODE",
    "DROP INDEX IF EXISTS gate.runs_of_status",
    ...[CREATE_RUN_COUNTS, FILL_RUN_COUNTS],
    "INSERT INTO gate.version (version) VALUES (6)",
  ],
];

/** The statements that create the tables; the owner's role runs them in one transaction. */
export const CREATE_TABLES: readonly string[] = [
  "CREATE SCHEMA gate",
  "CREATE TABLE gate.version (version int8 NOT NULL PRIMARY KEY)",
  "CREATE TABLE gate.readiness (id int8 NOT NULL PRIMARY KEY, writes int8 NOT NULL)",
  "CREATE TABLE gate.namespaces (namespace_id int8 NOT NULL PRIMARY KEY)",
  `CREATE TABLE gate.laws (
  namespace_id int8 NOT NULL,
  identity text NOT NULL,
  scenario_id text NOT NULL,
  graph_identity text NOT NULL,
  seal text NOT NULL,
  law text NOT NULL,
  PRIMARY KEY (namespace_id, identity)
)`,
  "CREATE INDEX laws_listed ON gate.laws (namespace_id, scenario_id, identity)",
  `CREATE TABLE gate.runs (
  namespace_id int8 NOT NULL,
  run_id text NOT NULL,
  scenario_id text NOT NULL,
  law_identity text NOT NULL,
  creation text NOT NULL,
  revision int8 NOT NULL,
  head text NOT NULL,
  run_row bigserial NOT NULL,
  created int8 NOT NULL,
  status text NOT NULL,
  correlation text NOT NULL,
  parameters text NOT NULL,
  parameter_hashes text[] NOT NULL,
  active_seal text NOT NULL,
  complete_seal text NOT NULL,
  PRIMARY KEY (namespace_id, run_id),
  UNIQUE (namespace_id, creation)
)`,
  "CREATE INDEX runs_listed ON gate.runs (namespace_id, created, run_id)",
  "CREATE INDEX runs_of_scenario ON gate.runs (namespace_id, scenario_id, created, run_id)",
  "CREATE INDEX runs_of_law ON gate.runs (namespace_id, law_identity, created, run_id)",
  "CREATE INDEX runs_of_correlation ON gate.runs (namespace_id, correlation, created, run_id) WHERE correlation <> ''",
  "CREATE INDEX runs_of_parameters ON gate.runs USING gin (parameter_hashes)",
  `CREATE TABLE gate.records (
  namespace_id int8 NOT NULL,
  run_id text NOT NULL,
  revision int8 NOT NULL,
  record_id text NOT NULL,
  family text NOT NULL,
  operation text NOT NULL,
  invocation_identity text NOT NULL,
  material_names text NOT NULL,
  seal text NOT NULL,
  result text NOT NULL,
  record text NOT NULL,
  material text NOT NULL,
  PRIMARY KEY (namespace_id, run_id, revision),
  UNIQUE (namespace_id, run_id, operation, family)
)`,
  `CREATE TABLE gate.artifacts (
  identity text NOT NULL PRIMARY KEY,
  kind text NOT NULL,
  body text NOT NULL
)`,
  `CREATE TABLE gate.snapshots (
  namespace_id int8 NOT NULL,
  run_id text NOT NULL,
  revision int8 NOT NULL,
  state_identity text NOT NULL,
  state text NOT NULL,
  PRIMARY KEY (namespace_id, run_id, revision)
)`,
  `CREATE TABLE gate.schemas (
  namespace_id int8 NOT NULL,
  schema_id text NOT NULL,
  version text NOT NULL,
  schema_identity text NOT NULL,
  schema_bytes int8 NOT NULL,
  tenants int8[],
  seal text NOT NULL,
  record text NOT NULL,
  PRIMARY KEY (namespace_id, schema_id, version)
)`,
  `CREATE TABLE gate.typed_providers (
  namespace_id int8 NOT NULL,
  provider_id text NOT NULL,
  version text NOT NULL,
  identity text NOT NULL,
  state text NOT NULL,
  typed_protocol text NOT NULL,
  checks int8 NOT NULL,
  registered_at int8 NOT NULL,
  seal text NOT NULL,
  body text NOT NULL,
  PRIMARY KEY (namespace_id, provider_id, version),
  UNIQUE (namespace_id, provider_id, identity)
)`,
  "CREATE UNIQUE INDEX typed_providers_active ON gate.typed_providers (namespace_id, provider_id) WHERE state = 'active'",
  CREATE_AUDIT_HEADS,
  ADD_ARCHIVED_COLUMNS,
  CREATE_ARCHIVES,
  ...CREATE_OUTBOX,
  ...CREATE_OPEN_STAGES,
  RECORDS_OF_CREATION,
  CREATE_RUN_COUNTS,
  `INSERT INTO gate.version (version) VALUES (${TABLES_VERSION})`,
];

/** The rights of a server's role, which can neither remove nor change a record, a law or an artifact, and archives no run. */
export function grantsTo(role: string): readonly string[] {
  const quoted = `"${role.replaceAll('"', '""')}"`;
  return [
    `GRANT USAGE ON SCHEMA gate TO ${quoted}`,
    `GRANT SELECT ON ALL TABLES IN SCHEMA gate TO ${quoted}`,
    `GRANT INSERT ON gate.laws, gate.runs, gate.records, gate.artifacts, gate.snapshots, gate.schemas,
      gate.typed_providers, gate.namespaces, gate.readiness, gate.audit_heads, gate.outbox_targets,
      gate.outbox, gate.open_stages, gate.run_counts TO ${quoted}`,
    `GRANT UPDATE (revision, head, status) ON gate.runs TO ${quoted}`,
    `GRANT UPDATE (state, seal) ON gate.typed_providers TO ${quoted}`,
    `GRANT UPDATE, DELETE ON gate.snapshots TO ${quoted}`,
    `GRANT DELETE ON gate.outbox, gate.open_stages TO ${quoted}`,
    `GRANT UPDATE ON gate.outbox_targets TO ${quoted}`,
    `GRANT UPDATE ON gate.readiness, gate.namespaces, gate.run_counts TO ${quoted}`,
    `GRANT USAGE ON SEQUENCE gate.runs_run_row_seq, gate.outbox_place_seq TO ${quoted}`,
  ];
}
