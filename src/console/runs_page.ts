/// <reference lib="dom" />
/**
 * The list of runs: filters, search by id, pages of 100, and changes of the shown active runs.
 *
 * @module
 */

import type { JsonObject } from "../canonical/json.ts";
import { canonicalize } from "../canonical/canonicalize.ts";
import { countOf } from "../canonical/count.ts";
import type { ParameterValue } from "../law/types.ts";
import type { WaitingCondition } from "../run/missing/waiting.ts";
import type { Head } from "../run/types.ts";
import { cut } from "../runpack/view/words.ts";
import { callTool, listen, listNamespaces, runUri } from "./gate_client.ts";
import { make } from "./nodes.ts";
import {
  announce,
  failureOf,
  headingOf,
  runAddress,
  shortIdentity,
  shownText,
  statusBadge,
  tableOf,
  timeOf,
} from "./shell.ts";

const PAGE = 100;
/** Runs of a page while runs are searched by id. */
const SEARCH_PAGE = 1000;
/** Runs that one stream watches. */
const WATCHED = 64;
const VALUE_CHARACTERS = 40;

/** A run as `runs_list` lists it. */
export interface ListedRun {
  readonly run_key: { readonly namespace_id: number; readonly run_id: string };
  readonly scenario_id: string;
  readonly scenario_law_identity: string;
  readonly parameters?: readonly ParameterValue[];
  readonly correlation: { readonly kind: string; readonly correlation_id?: string };
  readonly status: "active" | "complete";
  readonly accepted_head: Head;
  readonly created_instant: number;
  /** What waits in the run, where the listing includes it. */
  readonly waiting?: readonly WaitingCondition[];
  /** Why the run cannot be read. */
  readonly unreadable?: string;
}

interface Page {
  readonly items: readonly ListedRun[];
  readonly next: string | null;
}

/** A page of runs, newest first. */
export async function listPage(query: JsonObject): Promise<Page> {
  const answer = await callTool("runs_list", query);
  const next = answer["next_token"];
  return {
    items: (answer["items"] ?? []) as unknown as readonly ListedRun[],
    next: typeof next === "string" ? next : null,
  };
}

/** The runs whose id begins with some digits. */
async function findById(query: JsonObject, prefix: string): Promise<Page> {
  const found: ListedRun[] = [];
  let cursor: string | null = null;
  do {
    const page: Page = await listPage({ ...query, limit: SEARCH_PAGE, cursor });
    found.push(...page.items.filter(({ run_key }) => run_key.run_id.startsWith(prefix)));
    cursor = page.next;
  } while (cursor !== null && found.length < PAGE);
  return { items: found, next: null };
}

/** Shows the list. */
export async function showRuns(main: HTMLElement, _route: readonly string[], signal: AbortSignal): Promise<void> {
  const results = make("div", { "aria-busy": "true" });
  main.replaceChildren(headingOf("Runs"), results);
  const namespaces = await listNamespaces().catch((error) => error as Error);
  if (signal.aborted) return;
  if (namespaces instanceof Error) return showAnswer(results, failureOf(namespaces));
  if (namespaces.length === 0) {
    return showAnswer(
      results,
      make(
        "p",
        {},
        "There is no law that you may read. In a folder without gate.toml, make it first with ",
        make("code", {}, "gate init"),
        ". Then define a law and start a run of it with ",
        make("code", {}, "gate run LAW.yaml"),
        ", or ask the operator for a role.",
      ),
    );
  }
  const form = filterForm(namespaces);
  main.insertBefore(form, results);
  let watching = new AbortController();
  signal.addEventListener("abort", () => watching.abort());
  const load = async (): Promise<void> => {
    watching.abort();
    watching = new AbortController();
    await showResults(results, form, AbortSignal.any([signal, watching.signal]));
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void load();
  });
  form.addEventListener("change", () => void load());
  await load();
}

/** Shows what was waited for. */
function showAnswer(results: HTMLElement, ...content: readonly HTMLElement[]): void {
  results.setAttribute("aria-busy", "false");
  results.replaceChildren(...content);
}

function filterForm(namespaces: readonly number[]): HTMLFormElement {
  const option = (value: string, text = value): HTMLElement => make("option", { value }, text);
  return make(
    "form",
    { class: "filters", role: "search", "aria-label": "Filters of runs" },
    make("label", {}, "Namespace", make("select", { name: "namespace" }, namespaces.map((id) => option(`${id}`)))),
    make(
      "label",
      {},
      "Status",
      make("select", { name: "status" }, option("", "any"), option("active"), option("complete")),
    ),
    make("label", {}, "Scenario", make("input", { name: "scenario", autocomplete: "off", spellcheck: "false" })),
    make(
      "label",
      {},
      "Run id or its first digits",
      make("input", { name: "run", autocomplete: "off", spellcheck: "false", pattern: "[0-9a-f]{4,32}" }),
    ),
    make("button", { class: "main" }, "Search"),
  );
}

function queryOf(form: HTMLFormElement): { readonly query: JsonObject; readonly prefix: string } {
  const data = new FormData(form);
  const text = (name: string): string => String(data.get(name) ?? "").trim();
  return {
    query: {
      namespace_id: Number(text("namespace")),
      ...text("status") === "" ? {} : { status: text("status") },
      ...text("scenario") === "" ? {} : { scenario_id: text("scenario") },
    },
    prefix: text("run"),
  };
}

async function showResults(results: HTMLElement, form: HTMLFormElement, signal: AbortSignal): Promise<void> {
  results.setAttribute("aria-busy", "true");
  const { query, prefix } = queryOf(form);
  const first = async (): Promise<Page> =>
    prefix === "" ? await listPage({ ...query, limit: PAGE }) : await findById(query, prefix);
  const shown: ListedRun[] = [];
  let next: string | null = null;
  const draw = (): void => {
    const more = next === null ? null : make("button", { id: "more", click: () => void extend() }, "Show more runs");
    showAnswer(
      results,
      make(
        "p",
        { class: "note" },
        `${countOf(shown.length, "run")}${next === null ? "" : " so far"}`,
      ),
      ...shown.length === 0 ? [] : [runTable(shown)],
      ...more === null ? [] : [make("p", {}, more)],
    );
  };
  const extend = async (): Promise<void> => {
    const page = await listPage({ ...query, limit: PAGE, cursor: next });
    shown.push(...page.items);
    next = page.next;
    draw();
    announce(`${shown.length} runs`);
    document.getElementById("more")?.focus();
  };
  const load = async (): Promise<void> => {
    const page = await first();
    if (signal.aborted) return;
    shown.splice(0, shown.length, ...page.items);
    next = page.next;
    draw();
  };
  try {
    await load();
    announce(`${shown.length} runs`);
  } catch (error) {
    return showAnswer(results, failureOf(error));
  }
  const active = shown.filter(({ status }) => status === "active").slice(0, WATCHED);
  const uris = active.map(({ run_key }) => runUri(run_key.namespace_id, run_key.run_id));
  if (uris.length === 0) return;
  // Only the first page is read again: further pages are older runs, which the reader asked for.
  const changed = (): void => {
    if (shown.length <= PAGE) void load().catch(() => {});
  };
  void listen(uris, { changed, state: () => {} }, signal);
}

function runTable(runs: readonly ListedRun[]): HTMLElement {
  const headings = ["Run", "Scenario", "Status", "Parameters", "Correlation", "Revision", "Started"];
  return tableOf(
    "Runs",
    headings,
    runs.map((run) => [
      make(
        "a",
        { href: runAddress({ ...run.run_key, scenario_id: run.scenario_id }) },
        shortIdentity(run.run_key.run_id),
      ),
      shownText(run.scenario_id),
      statusBadge(run.status),
      parametersOf(run),
      shownText(run.correlation.correlation_id ?? ""),
      `${run.accepted_head.revision}`,
      timeOf(run.created_instant),
    ]),
  );
}

function parametersOf({ parameters = [] }: ListedRun): HTMLElement {
  const texts = parameters.map(({ parameter_id, value }) =>
    `${parameter_id}=${cut(canonicalize(value.value), VALUE_CHARACTERS)}`
  );
  return shownText(texts.join(" "));
}
