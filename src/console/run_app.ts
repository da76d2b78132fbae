/// <reference lib="dom" />
/// <reference lib="dom.iterable" />
/**
 * The run view in clients that show MCP Apps (`ui://gate/run`): the run of a call of `scenario_status` or
 * `scenario_next`, or the runs of `runs_list`. It reads runs as the console does, through its host.
 *
 * @module
 */

import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, member } from "../canonical/json.ts";
import { shellOperand } from "../canonical/shell_operand.ts";
import { lawWords } from "../law/words.ts";
import { connectHost, type Host } from "./host_bridge.ts";
import { make } from "./nodes.ts";
import { sectionsOf } from "./run_page.ts";
import { readHints, readRun, type RunName, viewOf } from "./run_reading.ts";
import { headingOf, reasonOf, shownText, tableOf } from "./shell.ts";

/** The runs that a list shows. */
const RUNS = 50;

const main = make("main", {}, headingOf("Run"), make("p", { class: "quiet" }, "Waiting for the run"));
document.body.append(main, make("div", { id: "announcer", class: "unseen", role: "status", "aria-live": "polite" }));

let host: Promise<Host> | null = null;
let shown: RunName | null = null;
let drawing: Promise<void> = Promise.resolve();

host = connectHost({
  // The result follows, and only then the run stands where the call left it.
  input: (input) => {
    shown = nameOf(input);
  },
  result: (result) => {
    const items = member(result, "items");
    if (items !== undefined && isJsonArray(items)) show(() => drawRuns(items));
    else if (shown !== null) show(() => drawRun(shown));
  },
  context: (context) => {
    const theme = member(context, "theme");
    if (theme !== "light" && theme !== "dark") return;
    document.documentElement.dataset["theme"] = theme;
    document.documentElement.style.colorScheme = theme;
  },
});
host.catch(failed);

/** Draws after what is being drawn. */
function show(draw: () => Promise<void>): void {
  drawing = drawing.then(draw).catch(failed);
}

function failed(error: unknown): void {
  main.replaceChildren(
    headingOf("Run"),
    make("p", { class: "banner bad", role: "alert" }, shownText(reasonOf(error))),
  );
}

/** The run that arguments or an item name; null for those of a list. */
function nameOf(value: JsonObject): RunName | null {
  const key = member(value, "run_key");
  const named = isJsonObject(key) ? key : value;
  const [namespace_id, run_id, scenario_id] = [
    member(named, "namespace_id"),
    member(named, "run_id"),
    member(value, "scenario_id"),
  ];
  if (typeof namespace_id !== "number" || typeof run_id !== "string" || typeof scenario_id !== "string") return null;
  return { namespace_id, run_id, scenario_id };
}

async function drawRun(name: RunName | null): Promise<void> {
  const connected = await host;
  if (name === null || connected === null) return;
  if (!connected.callsTools) throw new Error("The client lets its views call no tools, so this run cannot be shown");
  const run = await readRun(connected.callTool, name);
  const hints = await readHints(connected.callTool, name);
  const refresh = make("button", { click: () => show(() => drawRun(name)) }, "Read again");
  const sections = sectionsOf({
    run,
    hints,
    view: viewOf(run),
    actions: ({ stage_id, condition: { condition_id } }) =>
      make(
        "p",
        { class: "waits" },
        "Waits for a signed statement on ",
        shownText(lawWords(run.law.law).condition(condition_id)),
        ". A person signs or refuses with ",
        make("code", {}, `gate approve ${name.run_id} ${shellOperand(stage_id)}`),
      ),
  });
  main.replaceChildren(headingOf("Run of ", shownText(name.scenario_id)), make("p", {}, refresh), ...sections);
  main.dataset["revision"] = `${run.state.head.revision}`;
}

function drawRuns(items: readonly JsonValue[]): Promise<void> {
  const rows = items.filter(isJsonObject).slice(0, RUNS).map((item) => {
    const name = nameOf(item);
    const id = name?.run_id ?? "";
    const open = make("button", { click: () => show(() => drawRun(name)) }, make("code", {}, id.slice(0, 8)));
    return [open, shownText(String(member(item, "scenario_id"))), String(member(item, "status"))];
  });
  main.replaceChildren(headingOf("Runs"), tableOf("Runs", ["Run", "Scenario", "Status"], rows));
  return Promise.resolve();
}
