/// <reference lib="dom" />
/// <reference lib="dom.iterable" />
/**
 * The playground of the documentation site: judges evidence under a law, and under a changed one beside it. It is
 * bundled to a classic script, which neither loads nor sends anything. A worker finds the answers, because a long text
 * takes a large part of a second, in which the page has to take further keys.
 *
 * @module
 */

import { isJsonObject, member } from "../canonical/json.ts";
import { readJson } from "../canonical/scan.ts";
import { element, type Markup } from "../runpack/view/markup.ts";
import type { Answer, Question } from "./answer.ts";
import type { Given } from "./fields.ts";
import type { Program } from "./program.ts";
import { fragmentOf, type Held, heldIn, LAW_CHARACTERS_MAXIMUM } from "./share.ts";

function byId<Element extends HTMLElement>(id: string, kind: new () => Element): Element {
  const found = document.getElementById(id);
  if (found instanceof kind) return found;
  throw new TypeError(`Expected an element "${id}"`);
}

const SIDES = ["law", "changed"] as const;
const form = byId("form", HTMLElement);
const output = byId("output", HTMLElement);
const picker = byId("example", HTMLSelectElement);
const linked = byId("linked", HTMLElement);
const textOf = (id: string): HTMLTextAreaElement => byId(id, HTMLTextAreaElement);

const NOTHING: Markup = { markup: "" };

const shownIn = new Map<HTMLElement, string>();

/** Shows markup where it is not there yet. The renderer escapes all text, and the policy of the page allows no other script. */
function show(place: HTMLElement, { markup }: Markup): void {
  if (shownIn.get(place) !== markup) place.innerHTML = markup;
  shownIn.set(place, markup);
}

/** What is in the form now. Fields that no law names any more keep their texts, for the next change of a law. */
let given: Given = { evidence: new Map(), parameters: new Map(), signed: new Set(), at: "" };

function readForm(): void {
  const evidence = new Map(given.evidence);
  const parameters = new Map(given.parameters);
  const signed = new Set(given.signed);
  let { at } = given;
  for (const input of form.querySelectorAll<HTMLInputElement | HTMLTextAreaElement>("[data-kind]")) {
    const { kind, name = "" } = input.dataset;
    if (kind === "evidence") evidence.set(name, input.value);
    else if (kind === "parameter") parameters.set(name, input.value);
    else if (kind === "at") at = input.value;
    else if (input instanceof HTMLInputElement && input.checked) signed.add(name);
    else signed.delete(name);
  }
  given = { evidence, parameters, signed, at };
}

const { gateProgram, gateAnswer } = globalThis as unknown as Program;

/** Answers questions, one at a time. */
let ask: (question: Question) => Promise<Answer> = startWorker();

/** Starts the program in a worker. A page from disk may load no file into one, so it hands over the program's own text. */
function startWorker(): typeof ask {
  try {
    const text = new Blob([`(${gateProgram})();`], { type: "text/javascript" });
    const worker = new Worker(URL.createObjectURL(text));
    return (question) =>
      new Promise((resolve) => {
        worker.onmessage = ({ data }: MessageEvent<Answer>) => resolve(data);
        worker.onerror = () => {
          ask = gateAnswer;
          resolve(gateAnswer(question));
        };
        worker.postMessage(question);
      });
  } catch {
    // A browser that permits no worker here.
    return gateAnswer;
  }
}

/** The form is made again only where its fields change, so that typing keeps its place. */
let shownFields = "";

/** Counts the changes of what is in the page. */
let changes = 0;
let isAsking = false;

/** Shows the answer to what is in the page. Changes while a question is open are asked about together, after it. */
async function update(): Promise<void> {
  changes += 1;
  output.dataset["state"] = "working";
  linked.textContent = "";
  if (isAsking) return;
  isAsking = true;
  for (let asked = 0; asked !== changes;) {
    asked = changes;
    const answer = await ask({ texts: SIDES.map((side) => textOf(side).value), given });
    if (asked === changes) showAnswer(answer);
  }
  isAsking = false;
}

function showAnswer({ problems, verdicts, form: fieldset, fields }: Answer): void {
  SIDES.forEach((side, index) => {
    show(byId(`${side}-problems`, HTMLElement), problems[index] ?? NOTHING);
    show(byId(`${side}-verdict`, HTMLElement), verdicts[index] ?? NOTHING);
  });
  if (fields !== shownFields) show(form, fieldset);
  shownFields = fields;
  keep();
  output.dataset["state"] = "done";
}

/**
 * Refuses a text that would make a field longer than a law may be, before it is inserted: the browser alone takes
 * seconds to lay out 10 MB.
 */
function refuseLong(event: InputEvent): void {
  const field = event.target;
  if (!(field instanceof HTMLTextAreaElement || field instanceof HTMLInputElement)) return;
  const inserted = (event.data ?? event.dataTransfer?.getData("text/plain") ?? "").replaceAll("\r\n", "\n");
  const replaced = (field.selectionEnd ?? 0) - (field.selectionStart ?? 0);
  const length = field.value.length - replaced + inserted.length;
  if (inserted === "" || length <= LAW_CHARACTERS_MAXIMUM) return;
  event.preventDefault();
  const message = `Cannot insert the text: expected at most ${LAW_CHARACTERS_MAXIMUM} characters, got ${length}`;
  show(document.getElementById(`${field.id}-problems`) ?? linked, element("p", { class: "note" }, message));
}

function hold({ law, changed, given: entered }: Held): void {
  textOf("law").value = law;
  textOf("changed").value = changed;
  given = entered;
  // The fields hold what was entered before.
  show(form, NOTHING);
  shownFields = "";
  void update();
}

/** The example of a name in the page's own data. */
function exampleOf(name: string): Held | null {
  const examples = readJson(byId("examples", HTMLScriptElement).text);
  const fragment = isJsonObject(examples) ? member(examples, name) : undefined;
  return typeof fragment === "string" ? heldIn(fragment) : null;
}

function share(): void {
  readForm();
  const fragment = fragmentOf({ law: textOf("law").value, changed: textOf("changed").value, given });
  if (fragment === null) {
    linked.textContent = "Cannot make a link: the laws and the evidence are too long for one.";
    return;
  }
  history.replaceState(null, "", `#${fragment}`);
  linked.textContent = "The address of this page now holds the laws and the evidence. Copy it to share them.";
}

/** Keeps what the page holds in its entry of the history, so that it is there again when the page is loaded again. */
function keep(): void {
  history.replaceState(fragmentOf({ law: textOf("law").value, changed: textOf("changed").value, given }), "");
}

/** Opens what the history has kept; else what the address holds, else the first example. */
function openAddress(): void {
  const kept: unknown = history.state;
  const again = typeof kept === "string" ? heldIn(kept) : null;
  if (again !== null) return hold(again);
  const fragment = location.hash.slice(1);
  const held = fragment === "" ? null : heldIn(fragment);
  const first = exampleOf(picker.value);
  if (held !== null) hold(held);
  else if (first !== null) hold(first);
  if (fragment !== "" && held === null) {
    linked.textContent = "Cannot read the address: it does not hold laws and evidence.";
  }
}

for (const side of SIDES) textOf(side).addEventListener("input", () => void update());
addEventListener("beforeinput", refuseLong);
form.addEventListener("input", () => {
  readForm();
  void update();
});
picker.addEventListener("change", () => {
  const held = exampleOf(picker.value);
  if (held !== null) hold(held);
});
byId("share", HTMLButtonElement).addEventListener("click", share);
byId("copy", HTMLButtonElement).addEventListener("click", () => {
  textOf("changed").value = textOf("law").value;
  void update();
});
addEventListener("hashchange", openAddress);
openAddress();
