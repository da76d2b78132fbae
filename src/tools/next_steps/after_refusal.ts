/**
 * The next steps after a refused mutation, by outcome: each with its arguments, so that an agent can go on without
 * asking.
 */

import { isJsonArray, type JsonObject, type JsonValue, member } from "../../canonical/json.ts";
import type { Head } from "../../run/types.ts";
import type { NamedRun } from "../mutation/mutation.ts";
import type { Outcome } from "../mutation/outcome.ts";
import type { NextStep } from "../framework/types.ts";
import { failuresOf, nextAfterAcquisition } from "./after_acquisition.ts";
import { firstOf, FRESH_ID, type Retry, textOf } from "./shared_steps.ts";

/** What a refused call was about. */
interface RefusedRun {
  readonly tool: string;
  readonly run: NamedRun;
  readonly expected_head: Head;
}

/** A refused call on a run, with the two ways to make it again. */
export interface RefusedCall extends RefusedRun {
  /** The call under its own id. */
  readonly retry: Retry;
  /** The call under a fresh id, as another operation. */
  readonly afresh: Retry;
}

/** The arguments of every call on a run that names its head. */
type RunArguments = NamedRun & Pick<RefusedRun, "expected_head">;

/** A refused open, evaluate or submit, with its arguments. */
export function refusedMutation(
  tool: string,
  input: RunArguments & { readonly operation_id: string; readonly stage_id?: string },
): RefusedCall {
  const { namespace_id, scenario_id, run_id, expected_head, operation_id, stage_id } = input;
  const run = { namespace_id, scenario_id, run_id };
  const stage = stage_id === undefined ? {} : { stage_id };
  const same = { ...run, ...stage, operation_id, expected_head: headOf(expected_head) };
  return withRetries({ tool, run, expected_head }, same, { operation_id: FRESH_ID });
}

/**
 * A refused call of several steps.
 *
 * @param own Its own arguments, without evidence and payload, which the caller has
 * @param fresh The argument with the id, freshly made
 */
export function refusedStep(tool: string, input: RunArguments, own: JsonObject, fresh: JsonObject): RefusedCall {
  const { namespace_id, scenario_id, run_id, expected_head } = input;
  const run = { namespace_id, scenario_id, run_id };
  return withRetries({ tool, run, expected_head }, { ...run, expected_head: headOf(expected_head), ...own }, fresh);
}

function withRetries(refused: RefusedRun, same: JsonObject, fresh: JsonObject): RefusedCall {
  const retry: Retry = (change, why) => ({ tool: refused.tool, arguments_hint: { ...same, ...change }, why });
  return { ...refused, retry, afresh: (change, why) => retry({ ...fresh, ...change }, why) };
}

function headOf({ record_id, revision }: Head): JsonObject {
  return { record_id, revision };
}

type Steps = (refused: RefusedCall, result: JsonObject) => NextStep[];

/**
 * The steps after each outcome. A tool has some of these outcomes, and the same steps after them as every other tool.
 */
const STEPS: Readonly<Record<string, Steps>> = {
  stale: afterStale,
  operation_conflict: afterConflict,
  run_not_found: ({ run }) => [{
    tool: "scenarios_list",
    arguments_hint: { namespace_id: run.namespace_id },
    why: "No run has this run_id and scenario_id in the namespace: find the scenario, then start a run of it",
  }],
  stage_not_found: afterStageNotFound,
  stage_not_ready: afterStageState,
  stage_already_opened: afterStageState,
  stage_not_open: afterStageState,
  run_complete: afterRunComplete,
  policy_denied: afterDenial,
  evidence_rejected: ({ retry }) => [
    retry({}, "Correct what is wrong at each path of rejections and call again; nothing was recorded"),
  ],
  acquisition_failed: ({ tool, run: { namespace_id, scenario_id }, retry }, result) => {
    const takesBindings = tool !== "scenario_trigger";
    return nextAfterAcquisition(failuresOf(result), retry, { namespace_id, scenario_id }, takesBindings);
  },
  stage_open_mismatch: ({ retry }, result) => {
    const stage_id = textOf(result, "stage_id");
    const stage_open_record_id = textOf(result, "stage_open_record_id");
    const scope = { kind: "stage_open", stage_id, stage_open_record_id };
    return [retry({ scope }, "Name the record that opened the stage")];
  },
  content_type_rejected: ({ retry }, result) => {
    const isJson = textOf(result, "expected").startsWith("application/json");
    const content_type = isJson ? "application/json" : "application/octet-stream";
    return [retry({ content_type }, "Name a media type that fits the payload")];
  },
  payload_rejected: ({ run, retry }, result) => {
    const reason = member(result, "reason");
    if (reason === "run_archived") {
      const why = "The run is archived and accepts nothing: see where its records are, or start another run";
      return [{ tool: "scenario_history", arguments_hint: { ...run }, why }];
    }
    const why = reason === "base64_invalid"
      ? "Write the bytes as base64 with padding and call again"
      : reason === "evidence_invalid"
      ? "Correct the statement, sign it again and submit it"
      : "Send a payload within the limit, or an external one: {kind: external, content_ref}";
    return [retry({}, why)];
  },
};

/** The steps after a refused call on a run. */
export function nextAfterRefusal(refused: RefusedCall, { outcome, result }: Outcome): NextStep[] {
  return STEPS[outcome]?.(refused, result) ?? [statusStep(refused)];
}

/** Reads where the run stands, and what is missing. */
function statusStep({ run }: RefusedRun): NextStep {
  return {
    tool: "scenario_status",
    arguments_hint: { ...run, include: ["missing"] },
    why: "See the stages, the ready frontier, the head, and what is missing",
  };
}

function afterRunComplete({ run }: RefusedCall): NextStep[] {
  const why = "The run is complete and takes submissions only";
  return [{ tool: "scenario_history", arguments_hint: { ...run }, why }];
}

/** After a head that is not the current one. */
function afterStale(refused: RefusedCall, head: JsonObject): NextStep[] {
  const { run, expected_head, retry } = refused;
  const why = "If it still applies, call again at the current head; nothing was recorded";
  const again = retry({ expected_head: head }, why);
  if (expected_head.revision >= Number(member(head, "revision"))) {
    return [{ ...statusStep(refused), why: "The named head is not of this run: see where the run stands" }, again];
  }
  return [
    { ...statusStep(refused), why: "The run moved on: see where it stands now" },
    {
      tool: "scenario_history",
      arguments_hint: { ...run, after_revision: expected_head.revision },
      why: "See what was accepted since the revision that you named",
    },
    again,
  ];
}

/** After an id that was used for another call. The current head is not known then, so no hint names one. */
function afterConflict(refused: RefusedCall, result: JsonObject): NextStep[] {
  const { namespace_id, run_id } = refused.run;
  const used = {
    operation_id: member(result, "operation_id") ?? {},
    invocation_identity: textOf(result, "accepted_invocation_identity"),
  };
  const fresh = refused.afresh({}, "For a new call use a fresh id, at the current head");
  const { expected_head: _, ...arguments_hint } = fresh.arguments_hint;
  return [
    {
      tool: "scenario_resolve_mutation",
      arguments_hint: { namespace_id, run_id, ...used },
      why: "This id was accepted with other arguments: get what it did",
    },
    statusStep(refused),
    { ...fresh, arguments_hint },
  ];
}

/** After an unknown stage: names the nearest stage, else the first of the law. */
function afterStageNotFound(refused: RefusedCall, result: JsonObject): NextStep[] {
  const nearest = firstOf(result, "nearest");
  const stage_id = nearest ?? firstOf(result, "stages") ?? "";
  const why = nearest === undefined ? "Name a stage of the scenario" : `Did you mean stage "${nearest}"?`;
  return [refused.retry({ stage_id }, why), statusStep(refused)];
}

/** After a stage in another state than the call needs. */
function afterStageState(refused: RefusedCall, result: JsonObject): NextStep[] {
  if (member(result, "reason") === "run_complete") return afterRunComplete(refused);
  const ready = firstOf(result, "ready_frontier");
  switch (refused.tool) {
    case "scenario_trigger":
      return [statusStep(refused)];
    case "scenario_next": {
      const others = ready === undefined
        ? []
        : [refused.afresh({ stage_id: ready }, "Go on with a stage that is ready")];
      return [...others, statusStep(refused)];
    }
    default:
      return afterClassification(refused, result, ready);
  }
}

function afterClassification(refused: RefusedCall, result: JsonObject, ready: JsonValue | undefined): NextStep[] {
  const { run, expected_head } = refused;
  const at = (tool: string, stage_id: JsonValue, why: string): NextStep => ({
    tool,
    arguments_hint: { ...run, stage_id, expected_head: headOf(expected_head), operation_id: FRESH_ID },
    why,
  });
  const stageId = textOf(result, "stage_id");
  switch (member(result, "classification")) {
    case "ready_unopened":
      return [at("scenario_open_stage", stageId, "The stage is ready: open it first")];
    case "open_incomplete":
      return [at("scenario_evaluate_stage", stageId, "The stage is open: evaluate it with evidence")];
    case "blocked": {
      const why = "The prerequisite does not hold yet: go on with a stage that is ready";
      return [...ready === undefined ? [] : [at("scenario_open_stage", ready, why)], statusStep(refused)];
    }
    default:
      return [statusStep(refused)];
  }
}

/** After an entry packet that may not be disclosed: another ready stage, else what would change the decision. */
function afterDenial(refused: RefusedCall, result: JsonObject): NextStep[] {
  const ready = member(result, "ready_frontier");
  const [other] = (isJsonArray(ready) ? ready : []).filter((stage) => stage !== member(result, "stage_id"));
  const others = other === undefined
    ? []
    : [refused.afresh({ stage_id: other }, "Go on with another stage that is ready")];
  return [...others, statusStep(refused), remedyOfDenial(refused, result)];
}

function remedyOfDenial({ retry }: RefusedCall, result: JsonObject): NextStep {
  const packet = JSON.stringify(textOf(result, "packet_id"));
  switch (member(result, "reason")) {
    case "packet_expired":
      return {
        tool: "scenario_define",
        arguments_hint: {},
        why: `Entry packet ${packet} has expired: define the scenario with a later expiry and start a run of that law`,
      };
    case "rule_error":
      return retry(
        {},
        `A rule of the operator's disclosure policy fails on entry packet ${packet}: have it repaired, then retry`,
      );
    default:
      return retry({}, `The operator's disclosure policy refuses entry packet ${packet}: ask for a rule, then retry`);
  }
}

/** The steps after a refused creation. */
export function nextAfterCreation(input: JsonObject, { outcome, result }: Outcome): NextStep[] {
  const { namespace_id = 0, creation_request_id = "" } = input;
  // A declared genesis may be large, and the caller has it.
  const same = Object.fromEntries(Object.entries(input).filter(([name]) => name !== "genesis"));
  const retry: Retry = (change, why) => ({ tool: "scenario_start", arguments_hint: { ...same, ...change }, why });
  const list = { tool: "scenarios_list", arguments_hint: { namespace_id }, why: "List the scenarios and laws" };
  switch (outcome) {
    case "creation_conflict": {
      const invocation_identity = textOf(result, "accepted_invocation_identity");
      return [{
        tool: "scenario_resolve_creation",
        arguments_hint: { namespace_id, creation_request_id, invocation_identity },
        why: "This creation_request_id was accepted with other arguments: get the run it created",
      }, retry({ creation_request_id: FRESH_ID }, "For another run use a fresh creation_request_id")];
    }
    case "scenario_not_found":
      return [list, { tool: "scenario_define", arguments_hint: {}, why: "Define the scenario first" }];
    case "law_not_found":
      return [list];
    case "genesis_rejected":
      if (result["faults"] === undefined) {
        return [retry({ genesis: { kind: "empty" } }, "Start with an empty genesis, or correct its payload")];
      }
      return [retry({}, "Correct the genesis at each path in faults; the law names its parameters")];
    case "correlation_rejected":
      return [retry({ correlation: { kind: "unset" } }, "Start without a correlation, or correct its id")];
    default:
      return [retry({}, "Nothing was recorded: call again, unchanged")];
  }
}
