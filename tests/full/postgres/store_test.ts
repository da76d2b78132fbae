/**
 * The case suites of the stores, over a real PostgreSQL server. Each case has a database of its own, a copy of a migrated one, and uses a
 * role that can neither remove nor change records.
 */
import { migrateDatabase } from "../../../src/store/postgres/open.ts";
import { runOverPostgres } from "../../simulation/store/open.ts";
import { runSql, startPostgres } from "./server.ts";

const server = await startPostgres();
await runSql(server, "CREATE ROLE gate_server LOGIN");
await runSql(server, "CREATE DATABASE template_of_cases");
const options = { url: server.url("template_of_cases"), tls_ca_path: null, connections: 1 };
await migrateDatabase(options, "gate_server");

let cases = 0;
runOverPostgres(async () => {
  cases += 1;
  await runSql(server, `CREATE DATABASE case_${cases} TEMPLATE template_of_cases`);
  const database = `case_${cases}`;
  return { server: server.url(database, "gate_server"), owner: server.url(database) };
});

await import("../../../src/store/store_cases_test.ts");
await import("../../../src/store/copy/archived_copy_test.ts");
await import("../../../src/store/schema_registry_test.ts");
await import("../../../src/store/typed_providers_test.ts");
await import("../../../src/store/run_index_test.ts");
await import("../../../src/store/archive_cases_test.ts");
await import("../../../src/store/outbox_test.ts");
await import("../../../src/store/open_stages_test.ts");

Deno.test.afterAll(() => server[Symbol.asyncDispose]());
