/** The names of tools that `server.tools.*` and `server.auth.allowed_tools` accept. */

import { words } from "../canonical/words.ts";

/**
 * Every tool name that the configuration accepts. The order is part of the published schema.
 */
export const TOOL_NAMES = words(
  "scenario_define scenario_start scenario_status scenario_next scenario_submit scenario_trigger",
  "evidence_query runpack_export runpack_verify providers_list provider_contract_get",
  "provider_check_schema_get schemas_register schemas_list schemas_get scenarios_list precheck",
  "gate_docs_search typed_providers_import typed_providers_register typed_providers_list",
  "typed_providers_get typed_providers_activate typed_providers_deprecate scenario_history",
  "scenario_open_stage scenario_evaluate_stage scenario_precheck_stage scenario_resolve_creation",
  "scenario_resolve_mutation runs_list scenarios_get scenario_questions scenario_apply",
);

/** One of {@link TOOL_NAMES}. */
export type ToolName = typeof TOOL_NAMES[number];
