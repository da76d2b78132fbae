import type { JsonObject } from "../../canonical/json.ts";
import { envelope, id } from "./tools_fixture.ts";
import { creationKey, mutationKey } from "../services/keyed_lock.ts";
import { type Case, type Scene, SUBMIT, testCases, testCoverage, UNKNOWN_ID } from "./outcome_case_fixture.ts";

function resolveCreation(change: JsonObject): JsonObject {
  return { namespace_id: 2, creation_request_id: id(1), invocation_identity: UNKNOWN_ID, ...change };
}

function resolveMutation(s: Scene, change: JsonObject): JsonObject {
  const { run_id } = s.run;
  const operation_id = { family: "submit", identity: id(1) };
  return { namespace_id: 2, run_id, operation_id, invocation_identity: UNKNOWN_ID, ...change };
}

const RESOLVE: readonly Case[] = [
  {
    tool: "scenario_resolve_creation",
    outcome: "accepted",
    input: async (s) => {
      const { result } = envelope(await s.bench.call("scenario_start", s.start));
      return resolveCreation({ invocation_identity: result["invocation_identity"] ?? "" });
    },
  },
  {
    tool: "scenario_resolve_creation",
    outcome: "known_unaccepted",
    next: "scenario_start",
    why: /send it again, unchanged/,
    result: { reason: "no_accepted_receipt" },
    input: () => resolveCreation({ creation_request_id: id(5) }),
  },
  {
    tool: "scenario_resolve_creation",
    outcome: "invocation_mismatch",
    next: "scenario_resolve_creation",
    input: () => resolveCreation({}),
  },
  {
    tool: "scenario_resolve_creation",
    outcome: "unauthorized",
    next: "scenario_resolve_creation",
    input: () => resolveCreation({ namespace_id: 1 }),
  },
  {
    tool: "scenario_resolve_creation",
    outcome: "unauthorized",
    name: "remote caller",
    remote: true,
    result: { message: "Cannot do this: the caller is not authorized" },
    input: () => resolveCreation({ namespace_id: 1 }),
  },
  {
    tool: "scenario_resolve_creation",
    outcome: "indeterminate",
    next: "scenario_resolve_creation",
    input: async (s) => {
      await s.bench.services.operationLock.acquire(creationKey(2, id(5)));
      return resolveCreation({ creation_request_id: id(5) });
    },
  },
  {
    tool: "scenario_resolve_mutation",
    outcome: "accepted",
    input: async (s) => {
      const result = await s.accept("scenario_submit", 1, SUBMIT);
      await s.accept("scenario_submit", 2, SUBMIT);
      return resolveMutation(s, { invocation_identity: result["invocation_identity"] ?? "" });
    },
  },
  {
    tool: "scenario_resolve_mutation",
    outcome: "known_unaccepted",
    next: "scenario_submit",
    hint: { expected_head: null },
    why: /send its call again, unchanged.* request_id or trigger_id/,
    result: { reason: "no_accepted_receipt" },
    input: (s) => resolveMutation(s, {}),
  },
  {
    tool: "scenario_resolve_mutation",
    outcome: "known_unaccepted",
    name: "no such run",
    input: (s) => resolveMutation(s, { run_id: id(99) }),
  },
  {
    tool: "scenario_resolve_mutation",
    outcome: "invocation_mismatch",
    next: "scenario_resolve_mutation",
    input: async (s) => {
      await s.accept("scenario_submit", 1, SUBMIT);
      return resolveMutation(s, {});
    },
  },
  {
    tool: "scenario_resolve_mutation",
    outcome: "unauthorized",
    next: "scenario_resolve_mutation",
    input: (s) => resolveMutation(s, { namespace_id: 1 }),
  },
  {
    tool: "scenario_resolve_mutation",
    outcome: "indeterminate",
    next: "scenario_resolve_mutation",
    input: async (s) => {
      await s.bench.services.operationLock.acquire(mutationKey(2, s.run.run_id, "submit", id(1)));
      return resolveMutation(s, {});
    },
  },
];

testCases(RESOLVE);
testCoverage(RESOLVE, {
  scenario_resolve_creation: "accepted known_unaccepted invocation_mismatch unauthorized indeterminate",
  scenario_resolve_mutation: "accepted known_unaccepted invocation_mismatch unauthorized indeterminate",
});
