/**
 * The pages about tools. `deno task docs:tools` writes this list anew.
 *
 * @module
 */

/** The tools that have a page each, in the order of `tools/list`; paths from the folder of the documentation. */
export const TOOL_PAGES: readonly string[] = [
  "reference/tools/scenario_define.md",
  "reference/tools/scenarios_list.md",
  "reference/tools/scenario_start.md",
  "reference/tools/scenario_status.md",
  "reference/tools/scenario_history.md",
  "reference/tools/scenario_open_stage.md",
  "reference/tools/scenario_evaluate_stage.md",
  "reference/tools/scenario_precheck_stage.md",
  "reference/tools/precheck.md",
  "reference/tools/scenario_submit.md",
  "reference/tools/scenario_next.md",
  "reference/tools/scenario_trigger.md",
  "reference/tools/scenario_resolve_creation.md",
  "reference/tools/scenario_resolve_mutation.md",
  "reference/tools/runpack_export.md",
  "reference/tools/runpack_verify.md",
  "reference/tools/schemas_register.md",
  "reference/tools/schemas_list.md",
  "reference/tools/schemas_get.md",
  "reference/tools/providers_list.md",
  "reference/tools/provider_contract_get.md",
  "reference/tools/provider_check_schema_get.md",
  "reference/tools/evidence_query.md",
  "reference/tools/gate_docs_search.md",
];
