/// <reference lib="dom" />
/**
 * What waits for signatures: first that for the key in use, then the rest.
 *
 * @module
 */

import type { WaitingCondition } from "../run/missing/waiting.ts";
import { callTool, listNamespaces } from "./gate_client.ts";
import { currentKey } from "./key_store.ts";
import { make } from "./nodes.ts";
import { type ListedRun, listPage } from "./runs_page.ts";
import { readHints } from "./run_reading.ts";
import { announce, failureOf, headingOf, runAddress, shortIdentity, shownText, tableOf } from "./shell.ts";

/** Active runs that are asked for; a page says that there are more. */
const RUNS = 200;
/** Calls at one time. */
const CALLS = 4;

interface Waiting extends WaitingCondition {
  readonly run: ListedRun;
}

/** Shows what waits. */
export async function showWaiting(main: HTMLElement, _route: readonly string[], signal: AbortSignal): Promise<void> {
  const results = make("div", { "aria-busy": "true" }, make("p", { class: "note" }, "Asking each active run…"));
  main.replaceChildren(headingOf("Waiting for me"), results);
  try {
    const key = await currentKey().catch(() => null);
    const { found, isWhole } = await findWaiting(signal);
    if (signal.aborted) return;
    const own = found.filter(({ keys }) => keys.some(({ public_key }) => public_key === key?.public_key));
    const others = found.filter((one) => !own.includes(one));
    results.replaceChildren(
      make("h2", {}, "For your key"),
      key === null
        ? make("p", {}, make("a", { href: "#/key" }, "Make or choose a key"), " to see what waits for you.")
        : own.length === 0
        ? make("p", {}, "Nothing waits for your key.")
        : waitingTable("Waits for your key", own),
      make("h2", {}, "For other keys"),
      others.length === 0 ? make("p", {}, "Nothing.") : waitingTable("Waits for other keys", others),
      ...isWhole ? [] : [
        make(
          "p",
          { class: "note" },
          `There are more active runs: the page asked the newest ${RUNS} of each namespace.`,
        ),
      ],
    );
    announce(`${own.length} questions for you, ${others.length} for others`);
  } catch (error) {
    results.replaceChildren(failureOf(error));
  }
  results.setAttribute("aria-busy", "false");
}

async function findWaiting(
  signal: AbortSignal,
): Promise<{ readonly found: readonly Waiting[]; readonly isWhole: boolean }> {
  const runs: ListedRun[] = [];
  let isWhole = true;
  for (const namespace_id of await listNamespaces()) {
    const page = await listPage({ namespace_id, status: "active", limit: RUNS });
    runs.push(...page.items);
    isWhole &&= page.next === null;
  }
  const found: Waiting[][] = runs.map(() => []);
  let next = 0;
  const work = async (): Promise<void> => {
    for (let index = next++; index < runs.length && !signal.aborted; index = next++) {
      const run = runs[index];
      if (run === undefined) return;
      const { waiting } = await readHints(callTool, { ...run.run_key, scenario_id: run.scenario_id });
      found[index] = waiting.map((one) => ({ ...one, run }));
    }
  };
  await Promise.all(Array.from({ length: CALLS }, work));
  return { found: found.flat(), isWhole };
}

function waitingTable(caption: string, waiting: readonly Waiting[]): HTMLElement {
  const headings = ["Run", "Scenario", "Stage", "Condition", "Signed", "Waits for"];
  return tableOf(
    caption,
    headings,
    waiting.map(({ run, stage_id, condition_id, have, needed, keys }) => {
      const address = runAddress({ ...run.run_key, scenario_id: run.scenario_id });
      return [
        make("a", { href: `${address}/${encodeURIComponent(stage_id)}` }, shortIdentity(run.run_key.run_id)),
        shownText(run.scenario_id),
        shownText(stage_id),
        shownText(condition_id),
        `${have} of ${needed}`,
        shownText(keys.map(({ key_id }) => key_id).join(", ")),
      ];
    }),
  );
}
