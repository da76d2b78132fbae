/**
 * The table of tools: everything that a dispatcher knows of this room.
 *
 * @module
 */

import { evidenceQuery } from "./evidence_query.ts";
import { gateDocsSearch } from "./gate_docs_search.ts";
import { precheck } from "./precheck.ts";
import { providerCheckSchemaGet } from "./provider_check_schema_get.ts";
import { providerContractGet } from "./provider_contract_get.ts";
import { providersList } from "./providers_list.ts";
import { runpackExport } from "./runpack_export.ts";
import { runpackVerify } from "./runpack_verify.ts";
import { scenarioDefine } from "./scenario_define.ts";
import { scenarioEvaluateStage } from "./scenario_evaluate_stage.ts";
import { scenarioHistory } from "./scenario_history.ts";
import { scenarioNext } from "./scenario_next.ts";
import { scenarioOpenStage } from "./scenario_open_stage.ts";
import { scenarioPrecheckStage } from "./scenario_precheck_stage.ts";
import { scenarioResolveCreation } from "./scenario_resolve_creation.ts";
import { scenarioResolveMutation } from "./scenario_resolve_mutation.ts";
import { scenarioStart } from "./scenario_start.ts";
import { scenarioStatus } from "./scenario_status.ts";
import { scenarioSubmit } from "./scenario_submit.ts";
import { scenarioTrigger } from "./scenario_trigger.ts";
import { scenariosList } from "./scenarios_list.ts";
import { schemasGet } from "./schemas_get.ts";
import { schemasList } from "./schemas_list.ts";
import { schemasRegister } from "./schemas_register.ts";
import type { Services } from "./services.ts";
import type { Tool, ToolName } from "./types.ts";

/** Every tool of this build, in the order of `tools/list`: that of the work, from the law to the receipt. */
const TOOLS: readonly ((services: Services) => Tool)[] = [
  scenarioDefine,
  scenariosList,
  scenarioStart,
  scenarioStatus,
  scenarioHistory,
  scenarioOpenStage,
  scenarioEvaluateStage,
  scenarioPrecheckStage,
  precheck,
  scenarioSubmit,
  scenarioNext,
  scenarioTrigger,
  scenarioResolveCreation,
  scenarioResolveMutation,
  runpackExport,
  runpackVerify,
  schemasRegister,
  schemasList,
  schemasGet,
  providersList,
  providerContractGet,
  providerCheckSchemaGet,
  evidenceQuery,
];

/** The tools that a configuration can leave out, with what it takes. */
const OPTIONAL_TOOLS: readonly (readonly [(services: Services) => Tool, (services: Services) => boolean])[] = [
  [gateDocsSearch, ({ docs }) => docs.search],
];

/**
 * The tools over some services, by name. This module loads the decoder library and every tool, so a server imports it
 * only once somebody asks for tools.
 */
export function createTools(services: Services): Map<ToolName, Tool> {
  const optional = OPTIONAL_TOOLS.flatMap(([make, isWanted]) => isWanted(services) ? [make] : []);
  return new Map([...TOOLS, ...optional].map((make) => {
    const tool = make(services);
    return [tool.name, tool];
  }));
}
