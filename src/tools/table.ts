/**
 * The table of tools.
 *
 * A server lists its tools to every client, and most clients call few of them. So the published form of the tools is a
 * file, `published.json`, and the module of a tool is loaded with its first call. A test compares the file with the
 * modules.
 */

import type { JsonObject } from "../canonical/json.ts";
import { PUBLISHED, type PublishedTool } from "./framework/published.ts";
import type { Services } from "./services/services.ts";
import type { MakeTool } from "./make_tool.ts";
import { referenceOf } from "./framework/reference.ts";
import type { TaskRule, Tool, ToolAuditKind, ToolName } from "./framework/types.ts";

/** The module of every tool, in the order of `tools/list`, which follows the work from law to receipt. */
const MODULES: Readonly<Record<ToolName, () => Promise<MakeTool>>> = {
  scenario_define: async () => (await import("./scenario_define.ts")).scenarioDefine,
  scenarios_list: async () => (await import("./scenarios_list.ts")).scenariosList,
  scenarios_get: async () => (await import("./scenarios_get.ts")).scenariosGet,
  scenario_questions: async () => (await import("./scenario_questions.ts")).scenarioQuestions,
  scenario_start: async () => (await import("./scenario_start.ts")).scenarioStart,
  runs_list: async () => (await import("./runs_list.ts")).runsList,
  scenario_status: async () => (await import("./scenario_status.ts")).scenarioStatus,
  scenario_history: async () => (await import("./scenario_history.ts")).scenarioHistory,
  scenario_open_stage: async () => (await import("./scenario_open_stage.ts")).scenarioOpenStage,
  scenario_evaluate_stage: async () => (await import("./scenario_evaluate_stage.ts")).scenarioEvaluateStage,
  scenario_precheck_stage: async () => (await import("./scenario_precheck_stage.ts")).scenarioPrecheckStage,
  precheck: async () => (await import("./precheck.ts")).precheck,
  scenario_submit: async () => (await import("./scenario_submit.ts")).scenarioSubmit,
  scenario_next: async () => (await import("./scenario_next.ts")).scenarioNext,
  scenario_trigger: async () => (await import("./scenario_trigger.ts")).scenarioTrigger,
  scenario_apply: async () => (await import("./apply/scenario_apply.ts")).scenarioApply,
  scenario_resolve_creation: async () => (await import("./scenario_resolve_creation.ts")).scenarioResolveCreation,
  scenario_resolve_mutation: async () => (await import("./scenario_resolve_mutation.ts")).scenarioResolveMutation,
  runpack_export: async () => (await import("./runpack_export.ts")).runpackExport,
  runpack_verify: async () => (await import("./runpack_verify.ts")).runpackVerify,
  schemas_register: async () => (await import("./schemas_register.ts")).schemasRegister,
  schemas_list: async () => (await import("./schemas_list.ts")).schemasList,
  schemas_get: async () => (await import("./schemas_get.ts")).schemasGet,
  typed_providers_import: async () => (await import("./typed_providers/import.ts")).typedProvidersImport,
  typed_providers_register: async () => (await import("./typed_providers/register.ts")).typedProvidersRegister,
  typed_providers_activate: async () => (await import("./typed_providers/activate.ts")).typedProvidersActivate,
  typed_providers_deprecate: async () => (await import("./typed_providers/deprecate.ts")).typedProvidersDeprecate,
  typed_providers_list: async () => (await import("./typed_providers/list.ts")).typedProvidersList,
  typed_providers_get: async () => (await import("./typed_providers/get.ts")).typedProvidersGet,
  providers_list: async () => (await import("./providers_list.ts")).providersList,
  provider_contract_get: async () => (await import("./provider_contract_get.ts")).providerContractGet,
  provider_check_schema_get: async () => (await import("./provider_check_schema_get.ts")).providerCheckSchemaGet,
  evidence_query: async () => (await import("./evidence_query.ts")).evidenceQuery,
  gate_docs_search: async () => (await import("./gate_docs_search.ts")).gateDocsSearch,
};

/** The tools that a configuration can disable. */
const ENABLED: Readonly<Record<ToolName, (services: Services) => boolean>> = {
  gate_docs_search: ({ docs }) => docs.search,
};

/** The tools whose calls may become tasks. */
const TASKS: Readonly<Record<ToolName, (services: Services) => Promise<TaskRule>>> = {
  scenario_next: async (services) => (await import("./mutation/next_task.ts")).nextTask(services),
};

/** The enabled tools by name; their modules are not loaded yet. */
export function createTools(services: Services): Map<ToolName, Tool> {
  const enabled = PUBLISHED.filter(({ name }) => ENABLED[name]?.(services) ?? true);
  return new Map(enabled.map((tool) => {
    const lazy = lazyTool(tool, () => loadTool(tool.name, services));
    const task = TASKS[tool.name];
    return [tool.name, task === undefined ? lazy : { ...lazy, task: () => task(services) }];
  }));
}

/** Loads every tool from its module; its published form is built from its decoder. */
export async function loadTools(services: Services): Promise<Tool[]> {
  return await Promise.all(Object.keys(MODULES).map((name) => loadTool(name, services)));
}

async function loadTool(name: ToolName, services: Services): Promise<Tool> {
  const load = MODULES[name];
  if (load === undefined) throw new Error(`Cannot load tool "${name}": its module is missing`);
  return (await load())(services);
}

/** The kind of the audit lines of a call; `request` for a name that no tool has. */
export function auditKindOf(name: string): ToolAuditKind {
  return PUBLISHED.find((tool) => tool.name === name)?.audit ?? "request";
}

/** A tool in its published form; its module is loaded with the first call. */
export function lazyTool({ annotations, ...shown }: PublishedTool, load: () => Promise<Tool>): Tool {
  const { title: _, ...hints } = annotations;
  let loading: Promise<Tool> | undefined;
  let loaded: Tool | undefined;
  // After a failed load the next call tries again.
  const loadOnce = (): Promise<Tool> =>
    loading ??= load().then((tool) => loaded = tool).finally(() => loading = undefined);
  return {
    ...shown,
    hints,
    reference: async () => await referenceOf(loaded ?? await loadOnce()),
    handle: (input, call) =>
      loaded === undefined ? loadOnce().then((tool) => tool.handle(input, call)) : loaded.handle(input, call),
  };
}

/** The JSON Schemas of the files that describe a provider. */
export async function providerSchema(name: "contract" | "profile"): Promise<JsonObject> {
  if (name === "contract") return (await import("../evidence/contract/check.ts")).contractSchema();
  return (await import("../evidence/typed/runtime_profile.ts")).profileSchema();
}

/** The full JSON Schema of a scenario spec; `tools/list` has a shortened one. */
export async function fullSpecSchema(): Promise<JsonObject> {
  return (await import("./framework/full_schemas.ts")).FULL_SPEC_SCHEMA;
}

/** The JSON Schemas of a tool as one document: the schema of its arguments, and `#/$defs/output`. */
export async function fullToolSchema(tool: Tool): Promise<JsonObject> {
  return await (await import("./framework/full_schemas.ts")).fullToolSchema(tool);
}
