/// <reference lib="dom" />
/**
 * What waits for signatures: first that for the key in use, then the rest. It appears page by page of the active runs.
 *
 * @module
 */

import { countOf } from "../canonical/count.ts";
import { tallyText } from "../run/missing/sentence.ts";
import type { WaitingCondition } from "../run/missing/waiting.ts";
import { listNamespaces, patiently } from "./gate_client.ts";
import { currentKey } from "./key_store.ts";
import { type Content, make } from "./nodes.ts";
import { type ListedRun, listPage } from "./runs_page.ts";
import { announce, failureOf, headingOf, rowOf, runAddress, shortIdentity, shownText, tableOf } from "./shell.ts";

/** Runs of a page of the listing. */
const PAGE = 100;
/** Rows that a table shows before its reader asks for more, and further rows of each request. */
const ROWS = 100;

const WAITING_HEADINGS = ["Run", "Scenario", "Stage", "Condition", "Signed", "Waits for"];

/** Shows what waits. */
export async function showWaiting(main: HTMLElement, _route: readonly string[], signal: AbortSignal): Promise<void> {
  const progress = make("p", { class: "note" }, "Reading the active runs…");
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
  let read = 0;
  try {
    await readActive(signal, (run) => {
      read += 1;
      progress.textContent = `${countOf(read, "active run")} read…`;
      if (run.unreadable !== undefined) {
        failures.hidden = false;
        unread.add([linkOf(run), shownText(run.scenario_id), shownText(run.unreadable)]);
      }
      for (const one of run.waiting ?? []) {
        const isOwn = one.keys.some(({ public_key }) => public_key === key?.public_key);
        (isOwn ? own : others).add(cellsOf(run, one));
      }
    });
    if (signal.aborted) return;
    if (own.count() === 0 && key !== null) ownNote.textContent = "Nothing waits for your key.";
    if (others.count() === 0) othersNote.textContent = "Nothing.";
    announce(`${countOf(own.count(), "question")} for you, ${others.count()} for others`);
  } catch (error) {
    problem.replaceChildren(failureOf(error));
  }
  progress.textContent = `${countOf(read, "active run")} read`;
  results.setAttribute("aria-busy", "false");
}

/** Reads every active run, in the order of the listing; what waits in it is a part of its item. */
async function readActive(signal: AbortSignal, report: (run: ListedRun) => void): Promise<void> {
  for (const namespace_id of await listNamespaces()) {
    let cursor: string | null = null;
    do {
      const query = { namespace_id, status: "active", include: ["waiting"], limit: PAGE, cursor };
      const page: Awaited<ReturnType<typeof listPage>> = await patiently(() => listPage(query), signal);
      if (signal.aborted) return;
      page.items.forEach(report);
      cursor = page.next;
    } while (cursor !== null);
  }
}

function linkOf({ run_key, scenario_id }: ListedRun, stage?: string): HTMLElement {
  const address = runAddress({ ...run_key, scenario_id });
  const href = stage === undefined ? address : `${address}/${encodeURIComponent(stage)}`;
  return make("a", { href }, shortIdentity(run_key.run_id));
}

function cellsOf(run: ListedRun, one: WaitingCondition): readonly Content[] {
  const { stage_id, condition_id, sentence = condition_id, keys } = one;
  return [
    linkOf(run, stage_id),
    shownText(run.scenario_id),
    shownText(stage_id),
    shownText(sentence),
    shownText(tallyText(one)),
    // Either the operator registered none that may sign, or all of them have.
    shownText(keys.map(({ key_id }) => key_id).join(", ") || "no registered key left"),
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
