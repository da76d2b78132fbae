/**
 * Which kind of decision a call of a tool is.
 *
 * @module
 */

import type { ToolName } from "../../config/tool_names.ts";
import type { AuditKind } from "./types.ts";

const KINDS: Readonly<Record<ToolName, AuditKind>> = {
  scenario_define: "mutation",
  scenario_start: "mutation",
  scenario_status: "request",
  scenario_next: "mutation",
  scenario_submit: "mutation",
  scenario_trigger: "mutation",
  evidence_query: "acquisition",
  runpack_export: "mutation",
  runpack_verify: "request",
  providers_list: "discovery",
  provider_contract_get: "discovery",
  provider_check_schema_get: "discovery",
  schemas_register: "mutation",
  schemas_list: "registry",
  schemas_get: "registry",
  scenarios_list: "request",
  precheck: "precheck",
  gate_docs_search: "request",
  typed_providers_import: "request",
  typed_providers_register: "mutation",
  typed_providers_list: "registry",
  typed_providers_get: "registry",
  typed_providers_activate: "mutation",
  typed_providers_deprecate: "mutation",
  scenario_history: "request",
  scenario_open_stage: "mutation",
  scenario_evaluate_stage: "mutation",
  scenario_precheck_stage: "precheck",
  scenario_resolve_creation: "request",
  scenario_resolve_mutation: "request",
};

/** The kind of a call; `request` for a tool that there is none of. */
export function kindOfTool(name: string): AuditKind {
  return Object.hasOwn(KINDS, name) ? KINDS[name as ToolName] : "request";
}
