/**
 * Tests that take long for what they alone show. `test:full` runs them; the rest of `test` shows the same rules
 * closer to their code, and one case of each through the front door.
 *
 * @module
 */

import { importersOf } from "./import_graph.ts";
import type { SourceFile } from "./checks/source.ts";

/** Files, and folders with all that is in them or will be. */
export const LONG = [
  // Questions to people, over every transport and client: src/tools and src/server/protocol hold their rules.
  "tests/e2e/people",
  // Services of their own, with many peers each: src/evidence/typed holds their rules.
  "tests/e2e/typed",
  // Certificates, which take processes of openssl.
  "tests/e2e/tls",
  // Providers behind a server: `src/evidence`, `tests/e2e/providers` and the MCP provider's own test stay.
  "tests/e2e/evidence/absence_test.ts",
  "tests/e2e/evidence/acquisition_example_test.ts",
  "tests/e2e/evidence/acquisition_permissive_test.ts",
  "tests/e2e/evidence/acquisition_signatures_test.ts",
  "tests/e2e/evidence/parameters_test.ts",
  "tests/e2e/evidence/acquisition_serve_test.ts",
  "tests/e2e/providers/permissions_test.ts",
  "tests/e2e/providers/provider_processes_test.ts",
  // A server for each row, where src/cli, src/server and src/config hold the rules.
  "tests/e2e/access/auth_process_test.ts",
  "tests/e2e/audit/http_test.ts",
  "tests/e2e/audit/process_test.ts",
  "tests/e2e/audit/rotation_test.ts",
  "tests/e2e/cli/client_command_test.ts",
  "tests/e2e/cli/run_command_test.ts",
  // Whole stories of examples and pages.
  "tests/e2e/docs/agent_script_test.ts",
  "tests/e2e/docs/database_migration_test.ts",
  "tests/e2e/docs/demo_test.ts",
  "tests/e2e/docs/offer_test.ts",
  "tests/e2e/docs/pipelines_test.ts",
  // Servers that start and stop again and again.
  "tests/e2e/serve/first_start_test.ts",
  "tests/e2e/serve/grants_table_test.ts",
  "tests/e2e/serve/presets_blocks_test.ts",
  "tests/e2e/serve/presets_test.ts",
  "tests/e2e/serve/rounds_over_restarts_test.ts",
  "tests/e2e/serve/start_failure_test.ts",
  "tests/e2e/serve/telemetry_test.ts",
  // Large stores, and processes that are killed.
  "tests/e2e/store/archive_test.ts",
  "tests/e2e/store/cold_read_test.ts",
  "tests/e2e/store/copy_test.ts",
  "tests/e2e/store/files_lost_test.ts",
  "tests/e2e/store/full_disk_test.ts",
  "tests/simulation/apply/crash_test.ts",
  "tests/simulation/crash",
  "tests/simulation/runpack/crash_test.ts",
  "tests/simulation/store/growth_test.ts",
  "tests/simulation/store/processes_test.ts",
  // Runs of deno test that hang, and are ended.
  "tests/steps_test.ts",
  // A megabyte of program, built twice.
  "tests/compile",
  // Random messages for gate and for another server.
  "tests/protocol",
];

/** Those that fill much memory, or count the open connections of their process: a file at a time, beside other steps. */
export const LONG_APART = [
  "tests/e2e/evidence/acquisition_mcp_test.ts",
  "tests/e2e/typed/import_hostile_test.ts",
];

/** Those that measure time, or fill the machine's connections: nothing else runs meanwhile. */
export const LONG_ALONE = [
  "tests/e2e/evidence/acquisition_responsive_test.ts",
  "tests/e2e/evidence/precheck_responsive_test.ts",
  "tests/e2e/http/attacks_test.ts",
  "tests/e2e/http/overload_test.ts",
];

/** Unit tests that take seconds: brute force, peers, hostile input, many runs and timers. */
export const SLOW_UNITS = [
  "src/cli/scenario/case_runner_test.ts",
  "src/cli/scenario/short_form_test.ts",
  "src/config/agreement_test.ts",
  "src/config/files_test.ts",
  "src/docs/catalogue_test.ts",
  "src/evidence/builtin/yaml_document_test.ts",
  "src/evidence/contract/check_test.ts",
  "src/evidence/json_path/limits_test.ts",
  "src/evidence/json_path/peer_test.ts",
  "src/evidence/json_schema/compile_peer_test.ts",
  "src/evidence/sandbox/schema_sandbox_test.ts",
  "src/evidence/typed/grpc/message_json_test.ts",
  "src/evidence/typed/grpc/proto_source_test.ts",
  "src/evidence/typed/openapi/import_test.ts",
  "src/evidence/typed/openapi/read_source_test.ts",
  "src/evidence/typed/runtime_profile_test.ts",
  "src/law/law_limits_test.ts",
  "src/law/spec_schema_test.ts",
  "src/run/missing/missing_test.ts",
  "src/runpack/browser/files_test.ts",
  "src/runpack/verify/status_test.ts",
  "src/runpack/verify/work_meter_test.ts",
  "src/server/audit/sinks_test.ts",
  "src/store/run_index_test.ts",
  "src/store/sqlite/connection_test.ts",
  "src/store/sqlite/file_guard_test.ts",
  "src/store/sqlite/log/log_mover_test.ts",
  "src/tools/framework/response_size_test.ts",
  "src/tools/gate_docs_search_test.ts",
  "src/tools/packs/pack_thread_test.ts",
  "src/tools/tests/typed_providers_test.ts",
];

/** Unit tests that take a second or more each: `test` runs them, the minute of `ok` has no room for them. */
export const LATER_UNITS = [
  "src/canonical/plain_text_test.ts",
  "src/canonical/scan_test.ts",
  "src/docs/sections_test.ts",
  "src/evidence/json_path/json_path_test.ts",
  "src/evidence/typed/grpc/import_grpc_test.ts",
  "src/evidence/typed/grpc/wire_check_test.ts",
  "src/evidence/typed/openapi/import_properties_test.ts",
  "src/law/questions/questions_test.ts",
  "src/runpack/format/segments_test.ts",
  "src/runpack/format/tree_test.ts",
  "src/runpack/golden_test.ts",
  "src/runpack/host/forms_test.ts",
  "src/runpack/host/local_repository_test.ts",
  "src/runpack/host/s3_repository_test.ts",
  "src/runpack/verify/verify_test.ts",
  "src/scenario/law_file/write_test.ts",
  "src/server/protocol/prompts_test.ts",
  "src/store/archive_cases_test.ts",
  "src/store/archive_file_test.ts",
  "src/store/backup/backup_test.ts",
  "src/store/corruption_test.ts",
  "src/store/open_stages_test.ts",
  "src/store/schema_registry_test.ts",
  "src/store/store_cases_test.ts",
  "src/store/typed_providers_test.ts",
  "src/tools/evidence_query_test.ts",
  "src/tools/framework/full_schemas_test.ts",
  "src/tools/framework/result_types_test.ts",
  "src/tools/framework/spec_schema_test.ts",
  "src/tools/mutation/run_parameters_test.ts",
  "src/tools/precheck_test.ts",
  "src/tools/published_test.ts",
  "src/tools/runpack_export_test.ts",
  "src/tools/runpack_verify_test.ts",
  "src/tools/tests/apply_test.ts",
  "src/tools/tests/clock_test.ts",
  "src/tools/tests/outcomes_step_test.ts",
  "src/tools/tests/parameters_test.ts",
  "src/tools/tests/policy_test.ts",
  "src/tools/tests/reads_test.ts",
  "src/tools/tests/required_bindings_test.ts",
  "src/tools/tests/schemas_test.ts",
  "src/tools/tests/stage_choice_test.ts",
  "src/tools/tests/steps_test.ts",
  "src/tools/tests/waiting_test.ts",
];

/** The official SDK before this one: with what it needs, as many packages as all other tests together. */
const FIRST_SDK = "tests/e2e/protocol/first_sdk.ts";

/** Whether a path is one of some files, or in one of some folders. */
export function isIn(paths: readonly string[], file: string): boolean {
  return paths.some((path) => file === path || file.startsWith(`${path}/`));
}

/** The test files among `files` that take long, or need packages that no other test needs. */
export function longTests(tree: readonly SourceFile[], files: readonly string[]): string[] {
  const ofFirstSdk = new Set(importersOf(tree, [FIRST_SDK]));
  return files.filter((file) => isIn(LONG, file) || ofFirstSdk.has(file));
}
