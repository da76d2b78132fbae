import { anyInteger, closed, identity, listOf, oneOf, orNull, text } from "../canonical/shape.ts";
import { choices, optional, table } from "../canonical/table_shape.ts";
import { canonicalize } from "../canonical/canonicalize.ts";
import { isOperationIdentity } from "../canonical/identity.ts";
import type { JsonObject } from "../canonical/json.ts";
import { asJson } from "../run/primitives.ts";
import { type ListedRun, type RunPosition, StoreError } from "../store/types.ts";
import { parameterText } from "../store/run_index.ts";
import { timeSlices } from "../evidence/cooperative_scheduler.ts";
import { storeFailure, textAnswer } from "./framework/errors.ts";
import {
  briefly,
  givenIdentity,
  listedAs,
  name,
  namespaceId,
  pageMembers,
  parameterValues,
} from "./framework/input.ts";
import { arrayOf, ref } from "./framework/output.ts";
import { cutPage, PAGE_BYTES, PAGE_DEFAULT, pageStart, pageText } from "./framework/pagination.ts";
import { RUN_STATUS } from "./framework/record_types.ts";
import { type MakeTool, makeTool, READS } from "./make_tool.ts";
import { waitingMembers } from "./precheck/waiting_of_run.ts";
import type { Services } from "./services/services.ts";

const NAMED = { name: "runs_list", group: "Read", audit: "request" } as const;

/** Most runs of a page with what waits, since each of them may have to be read. */
const WAITING_PAGE = 100;
/** Most bytes of what waits in one run: a page has room for any item. */
const WAITING_BYTES = PAGE_BYTES / 4;

/** The tool `runs_list`. */
export const runsList: MakeTool = (services) =>
  makeTool(services, {
    ...NAMED,
    title: "List runs",
    description: "Lists runs of a namespace, newest first. Next page: cursor = next_token.",
    details:
      "Lists the runs of a namespace that meet every given filter, in descending order of (created_instant, run_id), a page " +
      "at a time: call again with cursor = next_token until next_token is null. A page may have fewer runs than limit, or none, " +
      "before the end. Each run is listed at most once; runs that began after the first page are not listed. parameters admits " +
      "runs that have each of these values, compared as JSON. With include [waiting] each run also has the conditions that " +
      `signed statements can still satisfy, as in scenario_status. A page then has at most ${WAITING_PAGE} runs. A run whose ` +
      "records are damaged has unreadable with the reason instead.",
    hints: READS,
    input: table({
      namespace_id: namespaceId,
      scenario_id: optional(name),
      scenario_law_identity: optional(givenIdentity),
      status: optional(oneOf("active", "complete")),
      parameters: optional(briefly(parameterValues, "{parameter_id, value: {value, value_type}}")),
      correlation_id: optional(text),
      include: optional(listedAs(listOf(choices("waiting"), 1), { type: "array", items: { enum: ["waiting"] } })),
      ...pageMembers,
    }),
    listedBy: "items",
    output: closed({
      items: arrayOf(closed({
        run_key: ref("run_key"),
        scenario_id: text,
        scenario_law_identity: identity,
        correlation: ref("correlation"),
        status: RUN_STATUS,
        accepted_head: ref("head"),
        created_instant: anyInteger,
        parameters: arrayOf(ref("parameter")),
      }, {
        archived: ref("archived"),
        waiting: arrayOf(ref("waiting")),
        waiting_left_out: anyInteger,
        unreadable: text,
      })),
      next_token: orNull(text),
    }),
    act: async ({ namespace_id, cursor, limit = PAGE_DEFAULT, parameters, include, ...filters }) => {
      const values = (parameters ?? []).map((parameter) => parameterText(asJson(parameter)));
      const digest = services.environment.primitives.sha256(canonicalize(asJson({ ...filters, parameters: values })));
      const query = { tool: NAMED.name, namespaceId: namespace_id, filters: digest, keys: services.stateKeys };
      const start = pageStart(query, cursor ?? null, 3, isPosition);
      const after = start === null ? null : positionOf(start);
      const wanted = { namespace_id, ...filters, ...values.length === 0 ? {} : { parameters: values } };
      const isWaiting = include?.includes("waiting") === true;
      const most = isWaiting ? Math.min(limit, WAITING_PAGE) : limit;
      const found = await services.runs.findRuns(wanted, after, most);
      const texts = isWaiting ? await textsWithWaiting(services, found.runs) : new Map<ListedRun, string>();
      const textOf = (run: ListedRun): string => texts.get(run) ?? itemText(run);
      const page = cutPage(found.runs, most, textOf);
      const next = page.last === null ? found.next : endOf(page.last, found.newest);
      return textAnswer(pageText(query, page.items.map(textOf), next && keyOf(next)));
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
    parameters,
    correlation: asJson(correlation),
    status: run.status,
    accepted_head: { record_id: head.record_id, revision: head.revision },
    created_instant: run.created_instant,
    ...run.archived === undefined ? {} : { archived: { ...run.archived } },
  };
  return JSON.stringify(item);
}

/** The texts of runs with what waits in them. */
async function textsWithWaiting(
  services: Services,
  runs: readonly ListedRun[],
): Promise<ReadonlyMap<ListedRun, string>> {
  const texts = new Map<ListedRun, string>();
  const nextSlice = timeSlices();
  for (const run of runs) {
    texts.set(run, `${itemText(run).slice(0, -1)},${await waitingOf(services, run)}}`);
    await nextSlice();
  }
  return texts;
}

/** What waits in a run, as members of its item. A damaged run hides no other run. */
async function waitingOf(services: Services, run: ListedRun): Promise<string> {
  const none = '"waiting":[]';
  if (run.status === "complete" || run.archived !== undefined) return none;
  try {
    // The law is in memory, and most laws ask no person: their runs are not read.
    const law = await services.projections.law(run.run_key.namespace_id, run.scenario_law_identity);
    if (law?.stages.some(({ acceptsSubmissions }) => acceptsSubmissions) === false) return none;
    const projected = await services.projections.read(run.run_key);
    return projected === null ? none : await waitingMembers(services, projected, WAITING_BYTES);
  } catch (error) {
    if (!(error instanceof StoreError) || error.code !== "corrupt") throw error;
    return `"unreadable":${JSON.stringify(storeFailure(error).message)}`;
  }
}
