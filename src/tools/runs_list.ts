/**
 * The tool `runs_list`.
 *
 * @module
 */

import * as z from "../config/schema_builder.ts";
import { canonicalize } from "../canonical/canonicalize.ts";
import { isOperationIdentity } from "../canonical/identity.ts";
import type { JsonObject } from "../canonical/json.ts";
import { asJson } from "../run/primitives.ts";
import { type ListedRun, parameterText, type RunPosition } from "../store/run_index.ts";
import { textAnswer } from "./framework/errors.ts";
import { briefly, identity, name, namespaceId, pageMembers, parameterValues } from "./framework/input.ts";
import { closed, IDENTITY, INTEGER, listOf, orNull, ref, TEXT } from "./framework/output.ts";
import { cutPage, PAGE_DEFAULT, pageStart, pageText } from "./framework/pagination.ts";
import { RUN_STATUS } from "./framework/record_types.ts";
import { type MakeTool, makeTool, READS } from "./make_tool.ts";

const NAMED = { name: "runs_list", group: "Read", audit: "request" } as const;

/** The tool `runs_list`. */
export const runsList: MakeTool = (services) =>
  makeTool(services, {
    ...NAMED,
    title: "List runs",
    description: "Lists the runs of a namespace, newest first. Next page: cursor = next_token.",
    details:
      "Lists the runs of a namespace that meet every given filter, in descending order of (created_instant, run_id), a page " +
      "at a time: call again with cursor = next_token until next_token is null. A page may have fewer runs than limit, or none, " +
      "before the end. Each run is listed at most once; runs that began after the first page are not listed. parameters admits " +
      "runs that have each of these values, compared as JSON.",
    hints: READS,
    input: z.strictObject({
      namespace_id: namespaceId,
      scenario_id: name.exactOptional(),
      scenario_law_identity: identity.exactOptional(),
      status: z.enum(["active", "complete"]).exactOptional(),
      parameters: briefly(parameterValues, "{parameter_id, value}").exactOptional(),
      correlation_id: z.string().exactOptional(),
      ...pageMembers,
    }),
    listedBy: "items",
    output: closed({
      items: listOf(closed({
        run_key: ref("run_key"),
        scenario_id: TEXT,
        scenario_law_identity: IDENTITY,
        correlation: ref("correlation"),
        status: RUN_STATUS,
        accepted_head: ref("head"),
        created_instant: INTEGER,
      }, { archived: ref("archived"), parameters: listOf(ref("parameter")) })),
      next_token: orNull(TEXT),
    }),
    act: async ({ namespace_id, cursor, limit = PAGE_DEFAULT, parameters, ...filters }) => {
      const texts = (parameters ?? []).map((parameter) => parameterText(asJson(parameter)));
      const digest = services.environment.primitives.sha256(canonicalize(asJson({ ...filters, parameters: texts })));
      const query = { tool: NAMED.name, namespaceId: namespace_id, filters: digest, keys: services.stateKeys };
      const start = pageStart(query, cursor ?? null, 3, isPosition);
      if (!start.ok) return start;
      const after = start.after === null ? null : positionOf(start.after);
      const wanted = { namespace_id, ...filters, ...texts.length === 0 ? {} : { parameters: texts } };
      const found = await services.runs.findRuns(wanted, after, limit);
      const page = cutPage(found.runs, limit, itemText);
      const next = page.last === null ? found.next : endOf(page.last, found.newest);
      return textAnswer(pageText(query, page.items.map(itemText), next && keyOf(next)));
    },
  });

function keyOf({ created_instant, run_id, newest }: RunPosition): string[] {
  return [String(created_instant), run_id, String(newest)];
}

function isPosition([created_instant = "", run_id = "", newest = ""]: readonly string[]): boolean {
  return isInteger(created_instant) && isOperationIdentity(run_id) && isInteger(newest);
}

function isInteger(text: string): boolean {
  return String(Number(text)) === text && Number.isSafeInteger(Number(text));
}

function positionOf([created_instant, run_id = "", newest]: readonly string[]): RunPosition {
  return { created_instant: Number(created_instant), run_id, newest: Number(newest) };
}

function endOf({ created_instant, run_key }: ListedRun, newest: number): RunPosition {
  return { created_instant, run_id: run_key.run_id, newest };
}

function itemText(run: ListedRun): string {
  const { run_key: { namespace_id, run_id }, parameters, correlation, head } = run;
  const item: JsonObject = {
    run_key: { namespace_id, run_id },
    scenario_id: run.scenario_id,
    scenario_law_identity: run.scenario_law_identity,
    ...parameters.length === 0 ? {} : { parameters },
    correlation: asJson(correlation),
    status: run.status,
    accepted_head: { record_id: head.record_id, revision: head.revision },
    created_instant: run.created_instant,
    ...run.archived === undefined ? {} : { archived: { ...run.archived } },
  };
  return JSON.stringify(item);
}
