/// <reference lib="dom" />
/// <reference lib="dom.iterable" />
/**
 * The playground of the documentation site: judges evidence under a law, and under a changed one beside it. It is bundled
 * to a classic script, which neither loads nor sends anything.
 *
 * @module
 */

import { isJsonObject, member } from "../canonical/json.ts";
import { readJson } from "../canonical/scan.ts";
import { element, type Markup } from "../runpack/view/markup.ts";
import { fieldsOf, type Given } from "./fields.ts";
import { judge } from "./judge.ts";
import { KERNEL } from "./kernel.ts";
import { LAW_CHARACTERS_MAXIMUM, type ReadLaw, readLaw } from "./read_law.ts";
import { fragmentOf, type Held, heldIn } from "./share.ts";
import { renderFaults, renderForm, renderProblems, renderVerdict } from "./view.ts";

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

/** Shows markup. The renderer escapes all text, and the policy of the page allows no other script. */
function show(place: HTMLElement, { markup }: Markup): void {
  place.innerHTML = markup;
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

/** The form is made again only where its fields change, so that typing keeps its place. */
let shownFields = "";

function renderFields(laws: readonly ReadLaw[]): void {
  const fields = fieldsOf(laws.flatMap(({ law }) => law?.law ?? []));
  const key = JSON.stringify(fields);
  if (key === shownFields) return;
  shownFields = key;
  show(form, renderForm(fields, given));
}

/** Counts the updates: a slower earlier one does not replace a later one. */
let latest = 0;

async function update(): Promise<void> {
  const own = ++latest;
  output.dataset["state"] = "working";
  linked.textContent = "";
  const texts = SIDES.map((side) => textOf(side).value);
  const read = texts.map((text) => text.trim() === "" ? { law: null, problems: [] } : readLaw(text));
  SIDES.forEach((side, index) =>
    show(byId(`${side}-problems`, HTMLElement), renderProblems(read[index]?.problems ?? []))
  );
  renderFields(read);
  readForm();
  const verdicts = await Promise.all(read.map(({ law }) => law === null ? null : judge(law, given)));
  if (own !== latest) return;
  SIDES.forEach((side, index) => {
    const judged = verdicts[index] ?? null;
    const place = byId(`${side}-verdict`, HTMLElement);
    const text = texts[index]?.trim() ?? "";
    if (judged === null) {
      const why = text === "" ? "No law yet." : "Nothing is decided under a text that is not a law.";
      show(place, element("p", { class: "note" }, why));
    } else show(place, "faults" in judged ? renderFaults(judged.faults) : renderVerdict(judged.verdict));
  });
  keep();
  output.dataset["state"] = "done";
}

/**
 * Refuses a text that would make a field longer than a law may be, before it is inserted: the browser alone takes seconds to lay out
 * 10 MB.
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

Object.assign(globalThis, { gate: Object.freeze(KERNEL) });
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
