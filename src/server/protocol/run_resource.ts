/** Runs as MCP resources: `gate://runs/{namespace_id}/{run_id}`, which clients read and, over HTTP, listen to. */

import type { ListedTemplate, ResourceText } from "./resources.ts";
import type { CallOutcome } from "./dispatcher.ts";
import type { JsonObject } from "../../canonical/json.ts";

const RUN_URI = /^gate:\/\/runs\/([1-9]\d{0,15})\/([0-9a-f]{32})$/;
const MIME_TYPE = "application/json";

/** The template of runs. */
export const RUN_TEMPLATE: ListedTemplate = {
  uriTemplate: "gate://runs/{namespace_id}/{run_id}",
  name: "run",
  title: "A run",
  description: "The result of scenario_status, with the parameters of the run and what waits for signatures",
  mimeType: MIME_TYPE,
};

/** The run that a URI names. */
export interface NamedRun {
  readonly namespaceId: number;
  readonly runId: string;
}

/** The run of a URI; null where the URI names no run. */
export function runOfUri(uri: string): NamedRun | null {
  const [, namespace, runId] = RUN_URI.exec(uri) ?? [];
  return namespace === undefined || runId === undefined ? null : { namespaceId: Number(namespace), runId };
}

/** What a run is read with, for its caller. */
export interface RunReading {
  readonly tool: (name: string, input: JsonObject) => Promise<CallOutcome>;
  /** The scenario of a run; null where the run does not exist. */
  readonly scenarioOf: (run: NamedRun) => Promise<string | null>;
}

/** Whether a caller may read the runs of a namespace. */
export async function readsRuns(tool: RunReading["tool"], namespace_id: number): Promise<boolean> {
  const outcome = await tool("runs_list", { namespace_id, limit: 1 });
  return outcome.ok && outcome.answer.ok;
}

/** A run as a resource; null where it does not exist or the caller may not read it. */
export async function readRunResource(uri: string, { tool, scenarioOf }: RunReading): Promise<ResourceText | null> {
  const run = runOfUri(uri);
  // The caller is authorised before the run is looked up, so no one else learns whether it exists.
  if (run === null || !await readsRuns(tool, run.namespaceId)) return null;
  const scenario_id = await scenarioOf(run);
  if (scenario_id === null) return null;
  const input = { namespace_id: run.namespaceId, scenario_id, run_id: run.runId, include: ["parameters", "waiting"] };
  const outcome = await tool("scenario_status", input);
  if (!outcome.ok || !outcome.answer.ok) return null;
  const { result, text = JSON.stringify(result) } = outcome.answer;
  return { uri, mimeType: MIME_TYPE, text };
}
