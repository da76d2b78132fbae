import { anyInteger, anyOf, closed, identity, oneOf } from "../canonical/shape.ts";
import { table } from "../canonical/table_shape.ts";
import type { JsonObject } from "../canonical/json.ts";
import type { Publication } from "../runpack/host/publish.ts";
import { success } from "./framework/errors.ts";
import { givenOperationIdentity, namespaceId } from "./framework/input.ts";
import { refusalsOf } from "./framework/outcome_types.ts";
import { type MakeTool, makeTool, WRITES, WRITES_AND_ACQUIRES } from "./make_tool.ts";
import type { Call, NextStep, ToolAnswer, ToolError } from "./framework/types.ts";

const NAMED = { name: "runpack_export", group: "Audit", audit: "mutation" } as const;

/** Outcomes beside `published`. */
const REFUSALS = ["run_not_found", "unauthorized", "limit_exceeded", "integrity_failure", "repository_unavailable"];

const PUBLICATION = anyOf(
  closed({ outcome: oneOf("published"), runpack_identity: identity }, { archived_instant: anyInteger }),
  ...refusalsOf(REFUSALS),
);

interface Run {
  readonly namespace_id: number;
  readonly run_id: string;
}

function refused(outcome: string, result: JsonObject, next: readonly NextStep[]): ToolAnswer {
  const steps = next.map((step) => ({ ...step }));
  return success({ publication: { outcome, result: { ...result, next: steps } } });
}

function again({ namespace_id, run_id }: Run, why: string): NextStep {
  return { tool: NAMED.name, arguments_hint: { namespace_id, run_id }, why };
}

function unauthorized(error: ToolError, raw: JsonObject): ToolAnswer {
  const next = { tool: NAMED.name, arguments_hint: { ...raw }, why: "Ask the operator for access, then call again" };
  return refused("unauthorized", { reason: error.code, message: error.message }, [next]);
}

/** The message of a failure: only local callers get paths and addresses. */
function messageFor(call: Call, message: string, generic: string): string {
  return call.principal.authMethod === "local" ? message : generic;
}

function answerOf(publication: Publication, run: Run, call: Call): ToolAnswer {
  switch (publication.outcome) {
    case "archived": {
      const { runpack_identity, archived_instant } = publication.archived;
      return success({ publication: { outcome: "published", runpack_identity, archived_instant } });
    }
    case "published": {
      const { outcome, runpack_identity } = publication;
      return success({ publication: { outcome, runpack_identity } });
    }
    case "run_not_found": {
      const list = { tool: "scenarios_list", arguments_hint: { namespace_id: run.namespace_id } };
      const why = "No run has this run_id in the namespace: name the run_id that scenario_start returned";
      return refused("run_not_found", { ...run }, [{ ...list, why }]);
    }
    case "repository_unavailable": {
      const { message, runpack_identity } = publication;
      const why = runpack_identity === null
        ? "Nothing was published: call again once the repository can be written"
        : "The runpack is stored here but not mirrored: call again once the object store is available";
      const shown = messageFor(call, message, "Cannot publish runpack: a repository is unavailable");
      const known = runpack_identity === null ? {} : { runpack_identity };
      return refused("repository_unavailable", { message: shown, ...known, retryable: true }, [again(run, why)]);
    }
    case "limit_exceeded":
    case "integrity_failure":
    case "condition_not_found": {
      // This tool withholds nothing, so it cannot name an unknown condition.
      const outcome = publication.outcome === "limit_exceeded" ? "limit_exceeded" : "integrity_failure";
      const generic = outcome === "limit_exceeded"
        ? "Cannot publish runpack: the run is too large"
        : "Cannot publish runpack: the store differs from what was accepted";
      const shown = messageFor(call, publication.message, generic);
      const why = outcome === "limit_exceeded"
        ? "The run is too large for a runpack: read its records with scenario_history"
        : 'Nothing was published: the operator has to run "gate store check"';
      return refused(outcome, { message: shown }, [again(run, why)]);
    }
  }
}

/** The tool `runpack_export`. */
export const runpackExport: MakeTool = (services) =>
  makeTool(services, {
    ...NAMED,
    title: "Export a runpack",
    description:
      "Publishes a run up to its accepted head as a runpack, which anyone can verify offline. Next: runpack_verify.",
    details: "Publishes a run, up to its accepted head, as a runpack: a checkpoint that anyone can verify offline, " +
      "and that nothing accepted later changes. Changes nothing of the run. Exporting the same head again gives the same " +
      "runpack_identity, which runpack_verify takes. For an archived run the answer names the runpack that has its records.",
    hints: services.config.runpack_storage === null ? WRITES : WRITES_AND_ACQUIRES,
    input: table({ namespace_id: namespaceId, run_id: givenOperationIdentity }),
    output: closed({ publication: PUBLICATION }),
    refused: unauthorized,
    act: async (run, _raw, call) => {
      const publisher = await services.publisher();
      return answerOf(await publisher.publish(run, { signal: call.signal }), run, call);
    },
  });
