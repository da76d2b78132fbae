/// <reference lib="dom" />
/**
 * What waits for signatures: first that for the key in use, then the rest. Every active run is asked; what is found appears
 * while the others are asked.
 *
 * @module
 */

import type { Identity } from "../canonical/identity.ts";
import { isJsonObject, type JsonValue, member } from "../canonical/json.ts";
import type { ScenarioLaw } from "../law/types.ts";
import type { WaitingCondition } from "../run/missing/waiting.ts";
import { CallError, callTool, listNamespaces, patiently } from "./gate_client.ts";
import { currentKey } from "./key_store.ts";
import { type Content, make } from "./nodes.ts";
import { type ListedRun, listPage } from "./runs_page.ts";
import { readWaiting } from "./run_reading.ts";
import {
  announce,
  failureOf,
  headingOf,
  reasonOf,
  rowOf,
  runAddress,
  shortIdentity,
  shownText,
  tableOf,
} from "./shell.ts";

/** Runs of a page of the listing. */
const PAGE = 1_000;
/** Calls at one time. */
const CALLS = 4;
/** Codes of failures that every call would meet. */
const OF_ALL = new Set(["unauthenticated", "link_needed", "unreachable"]);
/** Rows that a table shows before its reader asks for more, and further rows of each request. */
const ROWS = 100;

interface Waiting extends WaitingCondition {
  readonly run: ListedRun;
}

/** Milliseconds for which an answer is used again: where the head stays, only keys and the age of statements can change it. */
const KEPT_MILLIS = 300_000;
/** Answers by the head of their run, for a reader who comes back to the page. */
const answered = new Map<Identity, { readonly at: number; readonly waiting: readonly Waiting[] }>();

/** What one run answers: what waits in it, or why it cannot be read. */
type Asked = readonly Waiting[] | Error;

const WAITING_HEADINGS = ["Run", "Scenario", "Stage", "Condition", "Signed", "Waits for"];

/** Shows what waits. */
export async function showWaiting(main: HTMLElement, _route: readonly string[], signal: AbortSignal): Promise<void> {
  const progress = make("p", { class: "note" }, "Asking each active run…");
  const own = growingTable("Waits for your key", WAITING_HEADINGS);
  const others = growingTable("Waits for other keys", WAITING_HEADINGS);
  const unread = growingTable("Runs that cannot be read", ["Run", "Scenario", "Why"]);
  const [ownNote, othersNote] = [make("p", {}), make("p", {})];
  const failures = make("div", { hidden: true }, make("h2", {}, "Cannot be read"), unread.element);
  const problem = make("div", {});
  const results = make(
    "div",
    { "aria-busy": "true" },
    ...[problem, progress, make("h2", {}, "For your key"), ownNote, own.element],
    ...[make("h2", {}, "For other keys"), othersNote, others.element, failures],
  );
  main.replaceChildren(headingOf("Waiting for me"), results);
  const key = await currentKey().catch(() => null);
  if (key === null) {
    ownNote.append(make("a", { href: "#/key" }, "Make or choose a key"), " to see what waits for you.");
  }
  let asked = 0;
  try {
    await askRuns(signal, (run, answer) => {
      asked += 1;
      progress.textContent = `${asked} active runs asked…`;
      if (answer instanceof Error) {
        failures.hidden = false;
        return unread.add([linkOf(run), shownText(run.scenario_id), shownText(reasonOf(answer))]);
      }
      for (const one of answer) {
        const isOwn = one.keys.some(({ public_key }) => public_key === key?.public_key);
        (isOwn ? own : others).add(cellsOf(one));
      }
    });
    if (signal.aborted) return;
    if (own.count() === 0 && key !== null) ownNote.textContent = "Nothing waits for your key.";
    if (others.count() === 0) othersNote.textContent = "Nothing.";
    announce(`${own.count()} questions for you, ${others.count()} for others`);
  } catch (error) {
    problem.replaceChildren(failureOf(error));
  }
  progress.textContent = `${asked} active ${asked === 1 ? "run" : "runs"} asked`;
  results.setAttribute("aria-busy", "false");
}

/** Asks every active run, and reports the answers in the order of the listing. */
async function askRuns(signal: AbortSignal, report: (run: ListedRun, asked: Asked) => void): Promise<void> {
  const laws = new Map<string, Promise<boolean>>();
  for (const namespace_id of await listNamespaces()) {
    let cursor: string | null = null;
    do {
      const query = { namespace_id, status: "active", limit: PAGE, cursor };
      const page: Awaited<ReturnType<typeof listPage>> = await patiently(() => listPage(query), signal);
      await askPage(page.items, { laws, signal, report });
      cursor = page.next;
    } while (cursor !== null && !signal.aborted);
  }
}

interface Asking {
  /** Whether a law asks people, by namespace and identity. */
  readonly laws: Map<string, Promise<boolean>>;
  readonly signal: AbortSignal;
  readonly report: (run: ListedRun, asked: Asked) => void;
}

/** Asks the runs of a page, several at one time. */
async function askPage(runs: readonly ListedRun[], asking: Asking): Promise<void> {
  const answers: (Asked | undefined)[] = [];
  let [next, reported] = [0, 0];
  const work = async (): Promise<void> => {
    for (let index = next++; index < runs.length && !asking.signal.aborted; index = next++) {
      const run = runs[index];
      if (run === undefined) return;
      answers[index] = await askRun(run, asking).catch(oneFailure);
      for (let answer = answers[reported]; answer !== undefined; answer = answers[++reported]) {
        const of = runs[reported];
        if (of !== undefined && !asking.signal.aborted) asking.report(of, answer);
      }
    }
  };
  await Promise.all(Array.from({ length: CALLS }, work));
}

async function askRun(run: ListedRun, { laws, signal }: Asking): Promise<readonly Waiting[]> {
  const law = `${run.run_key.namespace_id} ${run.scenario_law_identity}`;
  const isAsking = laws.get(law) ?? patiently(() => asksPeople(run), signal);
  laws.set(law, isAsking);
  if (!await isAsking) return [];
  const name = { ...run.run_key, scenario_id: run.scenario_id };
  const { record_id } = run.accepted_head;
  const before = answered.get(record_id);
  if (before !== undefined && performance.now() - before.at < KEPT_MILLIS) return before.waiting;
  const waiting = (await patiently(() => readWaiting(callTool, name), signal)).map((one) => ({ ...one, run }));
  answered.set(record_id, { at: performance.now(), waiting });
  return waiting;
}

/** Whether the law of a run has a condition that takes statements of people; most laws have none. */
async function asksPeople({ run_key: { namespace_id }, scenario_law_identity }: ListedRun): Promise<boolean> {
  const { law } = await callTool("scenarios_get", { namespace_id, scenario_law_identity });
  const conditions = isJsonObject(law) ? member(law, "conditions") as JsonValue : null;
  return (conditions as unknown as ScenarioLaw["conditions"]).some(({ evidence_use_policy: { allowed_channels } }) =>
    allowed_channels.includes("accepted_submission")
  );
}

/** The failure of one run, which hides no other run; one of every call is thrown. */
function oneFailure(error: unknown): Error {
  const isOfAll = error instanceof CallError && OF_ALL.has(error.code);
  if (isOfAll) throw error;
  return error instanceof Error ? error : new Error(String(error));
}

function linkOf({ run_key, scenario_id }: ListedRun, stage?: string): HTMLElement {
  const address = runAddress({ ...run_key, scenario_id });
  const href = stage === undefined ? address : `${address}/${encodeURIComponent(stage)}`;
  return make("a", { href }, shortIdentity(run_key.run_id));
}

function cellsOf({ run, stage_id, condition_id, have, needed, keys }: Waiting): readonly Content[] {
  return [
    linkOf(run, stage_id),
    shownText(run.scenario_id),
    shownText(stage_id),
    shownText(condition_id),
    `${have} of ${needed}`,
    shownText(keys.map(({ key_id }) => key_id).join(", ")),
  ];
}

/** A table that grows; it is empty without rows, and shows further rows on demand. */
function growingTable(caption: string, headings: readonly string[]): {
  readonly element: HTMLElement;
  readonly add: (cells: readonly Content[]) => void;
  readonly count: () => number;
} {
  const table = tableOf(caption, headings, []);
  const body = table.querySelector("tbody");
  const rows: (readonly Content[])[] = [];
  let shown = 0;
  let limit = ROWS;
  const more = make("button", {
    click: () => {
      limit += ROWS;
      draw();
    },
  });
  const below = make("p", { hidden: true }, more);
  const draw = (): void => {
    for (; shown < Math.min(rows.length, limit); shown++) body?.append(rowOf(headings, rows[shown] ?? []));
    below.hidden = shown === rows.length;
    more.textContent = `Show more of ${rows.length}`;
  };
  const element = make("div", { hidden: true }, table, below);
  return {
    element,
    add: (cells) => {
      element.hidden = false;
      rows.push(cells);
      draw();
    },
    count: () => rows.length,
  };
}
