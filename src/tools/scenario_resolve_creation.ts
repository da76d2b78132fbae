import { table } from "../canonical/table_shape.ts";
import { givenIdentity, givenOperationIdentity, namespaceId } from "./framework/input.ts";
import { creationKey } from "./services/keyed_lock.ts";
import { outcomeOf } from "./framework/outcome_types.ts";
import { resolve, RESOLVE_REFUSALS, unauthorized } from "./mutation/resolve.ts";
import { type MakeTool, makeTool, READS } from "./make_tool.ts";

const NAMED = { name: "scenario_resolve_creation", group: "Read", audit: "request" } as const;

/** The tool `scenario_resolve_creation`. */
export const scenarioResolveCreation: MakeTool = (services) =>
  makeTool(services, {
    ...NAMED,
    title: "Resolve a run creation",
    description:
      "Reports what became of a scenario_start whose answer was lost. Repeating the start unchanged does the same.",
    details: "Reports what became of a scenario_start whose answer was lost: accepted with the original result, or " +
      "known_unaccepted. Starts nothing. invocation_identity is that of the start; repeating scenario_start with the same " +
      "arguments gives the same answer and needs no identity.",
    hints: READS,
    input: table({
      namespace_id: namespaceId,
      creation_request_id: givenOperationIdentity,
      invocation_identity: givenIdentity,
    }),
    output: outcomeOf(["creation"], RESOLVE_REFUSALS),
    refused: (error, raw) => unauthorized(NAMED.name, error, raw),
    act: ({ namespace_id, creation_request_id, invocation_identity }, raw) =>
      resolve(services, {
        tool: NAMED,
        invocation_identity,
        lockKey: creationKey(namespace_id, creation_request_id),
        findReceipt: () => services.runs.receipts.ofCreation(namespace_id, creation_request_id),
        input: raw,
        again: {
          tool: "scenario_start",
          arguments_hint: { namespace_id, creation_request_id },
          why: "The start was not accepted: send it again, unchanged",
        },
      }),
  });
