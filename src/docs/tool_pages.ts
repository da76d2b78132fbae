/**
 * The pages about tools. `deno task docs:tools` writes this list anew.
 *
 * @module
 */

/** The tools that have a page each, in the order of `tools/list`; paths from the folder of the documentation. */
export const TOOL_PAGES: readonly string[] = [
  "tools/scenario_define.md",
  "tools/scenarios_list.md",
  "tools/scenario_start.md",
  "tools/scenario_status.md",
  "tools/scenario_history.md",
  "tools/scenario_open_stage.md",
  "tools/scenario_evaluate_stage.md",
  "tools/scenario_precheck_stage.md",
  "tools/precheck.md",
  "tools/scenario_submit.md",
  "tools/scenario_next.md",
  "tools/scenario_trigger.md",
  "tools/scenario_resolve_creation.md",
  "tools/scenario_resolve_mutation.md",
  "tools/runpack_export.md",
  "tools/runpack_verify.md",
  "tools/schemas_register.md",
  "tools/schemas_list.md",
  "tools/schemas_get.md",
  "tools/providers_list.md",
  "tools/provider_contract_get.md",
  "tools/provider_check_schema_get.md",
  "tools/evidence_query.md",
  "tools/gate_docs_search.md",
];
