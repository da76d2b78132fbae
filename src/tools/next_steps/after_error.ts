/**
 * The next steps after each domain error: every error has at least one. Where only the operator can help, the step is
 * to ask the operator, then to repeat the call.
 */

import { words } from "../../canonical/words.ts";
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, member } from "../../canonical/json.ts";
import { asJson } from "../../run/primitives.ts";
import type { ToolErrorCode } from "../framework/errors.ts";
import { namespaceOfInput } from "../services/authorise.ts";
import { firstOf } from "./shared_steps.ts";
import type { NextStep, ToolAnswer, ToolError } from "../framework/types.ts";

/** A call that failed. */
interface Failed {
  readonly tool: string;
  readonly input: JsonObject;
  readonly details: JsonObject;
  readonly retryable: boolean;
}

/**
 * Arguments that only name things. A hint repeats these alone: other arguments may be large or confidential.
 */
const NAMING = words(
  "namespace_id scenario_id scenario_law_identity run_id stage_id expected_head operation_id",
  "creation_request_id request_id invocation_identity schema_id version data_shape provider_id check_id",
  "runpack_identity profile",
);

/** Most characters of a repeated argument. */
const REPEATED_CHARACTERS = 512;

/** The arguments of a call that only name things. */
export function naming(input: JsonObject): JsonObject {
  const named: [string, JsonValue][] = NAMING.flatMap((name) => {
    const value = member(input, name);
    if (value === undefined || isJsonArray(value)) return [];
    return JSON.stringify(value).length <= REPEATED_CHARACTERS ? [[name, value]] : [];
  });
  return Object.fromEntries(named);
}

function again({ tool, input }: Failed, why: string, change: JsonObject = {}): NextStep {
  return { tool, arguments_hint: { ...naming(input), ...change }, why };
}

/** The same call, with a correction that a hint cannot show. */
function corrected(why: string): (failed: Failed) => NextStep[] {
  return (failed) => [again(failed, why)];
}

/** The same call, unchanged. */
function unchanged(why: string): (failed: Failed) => NextStep[] {
  return corrected(`${why}, then call again, unchanged`);
}

/** The namespace of a call, for the tools that list. */
function inNamespace({ input }: Failed): JsonObject {
  const record = member(input, "record");
  const namespace_id = member(input, "namespace_id") ?? (isJsonObject(record) ? member(record, "namespace_id") : null);
  return typeof namespace_id === "number" ? { namespace_id } : {};
}

const LAWS = "List the scenarios and laws";

/** The list of a tool in the namespace of the call. */
function list(tool: string, why: string): (failed: Failed) => NextStep[] {
  return (failed) => [{ tool, arguments_hint: inNamespace(failed), why }];
}

function listTypedProviders(why: string): (failed: Failed) => NextStep[] {
  return ({ input }) => {
    const namespace_id = namespaceOfInput(input);
    return [{ tool: "typed_providers_list", arguments_hint: namespace_id === null ? {} : { namespace_id }, why }];
  };
}

/** After a failed comparison: the same call with the present value, where the caller still wants it. */
function afterConflict(argument: string, detail: string): (failed: Failed) => NextStep[] {
  return (failed) => [again(failed, "If you still want it, expect what is there now and call again", {
    [argument]: member(failed.details, detail) ?? null,
  })];
}

function listProviders(): NextStep[] {
  return [{ tool: "providers_list", arguments_hint: {}, why: "List the providers and their checks" }];
}

/** After an unknown stage: names the nearest one, else the first. */
function nameStage(failed: Failed): NextStep[] {
  const nearest = firstOf(failed.details, "nearest");
  const stage_id = nearest ?? firstOf(failed.details, "stages") ?? "";
  const why = nearest === undefined ? "Name a stage of the law" : `Did you mean stage "${nearest}"?`;
  return [again(failed, why, { stage_id })];
}

/** After data that do not meet their data shape. */
function readShape(failed: Failed, why: string): NextStep[] {
  const shape = member(failed.input, "data_shape");
  const { schema_id = "", version = "" } = isJsonObject(shape) ? shape : {};
  return [
    {
      tool: "schemas_get",
      arguments_hint: { ...inNamespace(failed), schema_id, version },
      why: "Read what the data shape requires",
    },
    again(failed, why),
  ];
}

/** The check of a query, without its params. */
function askedCheck({ input }: Failed): JsonObject {
  const query = member(input, "query");
  const { provider_id = "", check_id = "" } = isJsonObject(query) ? query : {};
  return { provider_id, check_id };
}

function readCheck(failed: Failed): NextStep[] {
  const check = askedCheck(failed);
  return [
    { tool: "provider_check_schema_get", arguments_hint: check, why: "Read which params the check takes" },
    again(failed, "Correct the params and call again", { query: check }),
  ];
}

function afterTooLarge(failed: Failed): NextStep[] {
  if (failed.tool === "evidence_query") {
    const why = "Ask for less, by another check or other params, and call again";
    return [again(failed, why, { query: askedCheck(failed) })];
  }
  const why = "Ask the operator to raise provider_discovery.max_response_bytes, then call again";
  const provider_id = member(failed.input, "provider_id");
  if (failed.tool !== "provider_contract_get" || provider_id === undefined) return [again(failed, why)];
  return [
    {
      tool: "provider_check_schema_get",
      arguments_hint: { provider_id, check_id: "<a check of its bindings or of the documentation>" },
      why: "One check of the contract is smaller than all of it",
    },
    again(failed, why),
  ];
}

/** After a failed query outside of a run. */
function afterFailedQuery(failed: Failed): NextStep[] {
  const query = askedCheck(failed);
  const code = String(member(failed.details, "code") ?? "");
  const why = failed.retryable
    ? "Call again, unchanged, once the provider is back"
    : `Failed with ${code}, which does not pass by itself: query another check, or ask the operator to repair ` +
      "the provider, then call again";
  return [again(failed, why, { query })];
}

/** After a refused access. The hint has no arguments, and the step shows nothing more. */
function askForAccess({ tool }: Failed): NextStep[] {
  const why = "Ask the operator for access, or name a namespace that you may use, then call again";
  return [{ tool, arguments_hint: {}, why }];
}

/** The steps after each error, by code. */
const STEPS: Readonly<Record<ToolErrorCode, (failed: Failed) => NextStep[]>> = {
  invalid_input: ({ tool }) => [{
    tool,
    arguments_hint: {},
    why: "Correct the arguments at each path in details.issues and call again",
  }],
  invalid_spec: corrected("Correct the spec at each path in details.refusals and call again"),
  invalid_schema: corrected("Correct the JSON Schema as the message says and call again"),
  invalid_cursor: (failed) => [again(failed, "Start at the beginning, without a cursor")],
  contract_invalid: corrected("Correct the contract at each path in details.problems and call again"),
  profile_invalid: corrected("Correct the profile at each path in details.problems and call again"),
  import_failed: corrected("Correct the document at each path in details.problems and call again"),
  evidence_rejected: corrected("Correct what is wrong at each path in details.rejections and call again"),
  genesis_rejected: corrected("Correct the genesis at each path in details.faults and call again"),
  params_invalid: readCheck,
  payload_invalid: (failed) => readShape(failed, "Correct the payload as details.reason says and call again"),
  data_shape_rejected: (failed) =>
    readShape(failed, "Name a data shape that fits every condition that details.refusals names, and call again"),
  signature_invalid: corrected("Sign the record as it is, with the key that signing names, and call again"),
  scenario_not_found: list("scenarios_list", LAWS),
  law_not_found: list("scenarios_list", LAWS),
  run_not_found: list("runs_list", "List the runs"),
  stage_not_found: nameStage,
  schema_not_found: list("schemas_list", "List the registered schemas"),
  runpack_not_found: corrected("Have the run exported again, or name the runpack_identity that an export gave"),
  provider_not_found: listProviders,
  check_not_found: listProviders,
  typed_provider_not_found: listTypedProviders("List the versions of typed providers"),
  law_exists: list("scenarios_list", LAWS),
  schema_exists: list("schemas_list", "List the registered schemas; a changed schema needs a new version"),
  typed_provider_exists: listTypedProviders(
    "Use the version that has these bytes, or register the changed ones as a new version",
  ),
  active_conflict: afterConflict("expected_active", "active"),
  state_conflict: afterConflict("expected_state", "state"),
  typed_provider_deprecated: listTypedProviders("Activate a version that is not deprecated, or register a new one"),
  typed_provider_inactive: listTypedProviders(
    "Activate one of the versions with typed_providers_activate, then call again",
  ),
  law_contract_mismatch: (failed) => [
    ...listTypedProviders("Activate a version whose contract fits each path in details.refusals, then call again")(
      failed,
    ),
    {
      tool: "scenario_define",
      arguments_hint: {},
      why: "Or define a law that fits the contract, and start a run of it",
    },
  ],
  typed_provider_configured: () => listProviders(),
  ask_declined: corrected(
    "Talk to the person, or leave out ask to take the step without the question, with a fresh id",
  ),
  provider_id_reserved: corrected("Name the provider differently, in the contract too, and call again"),
  namespace_refused: askForAccess,
  role_refused: askForAccess,
  tool_not_allowed: askForAccess,
  registry_refused: askForAccess,
  signing_required: corrected("Add signing {key_id, signature} to the record and call again"),
  host_not_allowed: unchanged("Ask the operator to allow the host with --typed-host"),
  credential_locator_refused: unchanged("Ask the operator to pair the credential with the host in --typed-host"),
  schema_too_large: corrected("Register a schema of at most maximum_bytes bytes"),
  response_too_large: afterTooLarge,
  schema_entries_exhausted: list(
    "schemas_list",
    "Use a schema that is registered, or ask the operator to raise the limit",
  ),
  typed_providers_exhausted: listTypedProviders("Use a version that is registered: versions are never removed"),
  schema_deadline_exceeded: corrected(
    "Call again, unchanged; if it takes too long again, make the JSON Schema simpler",
  ),
  acquisition_failed: afterFailedQuery,
  input_required: unchanged("Have the client ask the person"),
  store_busy: unchanged("Wait for retry_after_ms, or a moment"),
  runs_not_indexed: unchanged('Ask the operator to run "gate store migrate"'),
  store_unavailable: unchanged("Wait for retry_after_ms; a mutation that was recorded answers with its first result"),
  run_archived: unchanged("The records of the run are in its runpack now"),
  store_full: unchanged("Ask the operator to make room on the disk of the store"),
  store_closed: unchanged("Wait until the server is back"),
  schema_worker_unavailable: unchanged("Wait a moment"),
  authority_unavailable: unchanged("Nothing was recorded; wait a moment"),
  namespace_authority_unavailable: unchanged("Wait a moment"),
  audit_unavailable: unchanged("Nothing was done; wait until the operator has repaired the audit log"),
  store_corrupt: unchanged('Ask the operator to run "gate store check" and to restore a backup'),
  store_version_unsupported: unchanged("Ask the operator to run the version of gate that wrote the store"),
  store_failed: unchanged("Ask the operator to check the log and the files of the store, and to restart the server"),
  internal: unchanged("Ask the operator to check the log"),
};

/** The steps after an error of a tool. */
export function nextOfError(tool: string, input: JsonObject, { code, details = {}, retryable }: ToolError): NextStep[] {
  return STEPS[code as ToolErrorCode]({ tool, input, details, retryable });
}

/** Adds next steps to an error: the steps of the tool, else those of its code. Returns other answers unchanged. */
export function withNext(tool: string, input: JsonObject, answer: ToolAnswer): ToolAnswer {
  if (answer.ok || answer.error.details?.["next"] !== undefined) return answer;
  const { error } = answer;
  const next = asJson(nextOfError(tool, input, error));
  return { ok: false, error: { ...error, details: { ...error.details, next } } };
}
