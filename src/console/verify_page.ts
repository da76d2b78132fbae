/// <reference lib="dom" />
/**
 * Verifies a runpack that was dropped on the page, with the verifier of the browser. The file stays on this computer.
 *
 * @module
 */

import { openSingleFile } from "../runpack/browser/files.ts";
import { type Asked, verifyAndRender } from "../runpack/browser/verification.ts";
import { type Content, make, nodesOf } from "./nodes.ts";
import { announce, failureOf, focusable, headingOf } from "./shell.ts";

const FIELDS = [
  ["law", "Identity of the law that the run must have followed; with it the page decides"],
  ["stage", "Stage that must be complete; empty for the whole run"],
  ["names", "Whose keys you know: NAME=KEY, Ed25519 public keys in base64, separated by spaces"],
  ["producers", "Ed25519 public keys of those who may have made it, in base64, separated by spaces"],
  ["parameters", "Parameters that the run must have, NAME=VALUE, separated by spaces"],
] as const;

type Field = typeof FIELDS[number][0];

/** Shows the page. */
export function showVerify(main: HTMLElement): void {
  const inputs = new Map(FIELDS.map(([name]) => [name, make("input", { id: `pack-${name}`, spellcheck: "false" })]));
  const unchecked = make("input", { id: "pack-origin", type: "checkbox" });
  const file = make("input", { id: "pack-file", type: "file", accept: ".runpack" });
  const result = make("div", { id: "pack-result" });
  const text = (name: Field): string => inputs.get(name)?.value.trim() ?? "";
  const lines = (name: Field): string => text(name).split(/\s+/).join("\n");
  const verify = (content: Blob): void => {
    const asked: Asked = {
      keys: "",
      identity: "",
      law: text("law"),
      parameters: lines("parameters"),
      anyParameters: "",
      stage: text("stage"),
      producers: lines("producers"),
      notBefore: "",
      names: lines("names"),
      providers: "",
      acceptProcedures: "",
      originUnchecked: unchecked.checked,
      signersUnchecked: false,
      allowAsserted: false,
    };
    void show(result, content, asked);
  };
  file.addEventListener("change", () => {
    const chosen = file.files?.[0];
    if (chosen !== undefined) verify(chosen);
  });
  const drop = make(
    "div",
    { class: "drop", id: "pack-drop" },
    make("p", {}, "Drop a runpack here, or choose one. It stays on this computer."),
    make("div", { class: "field" }, make("label", { for: "pack-file" }, "Runpack, a single file"), file),
    make("details", {}, make("summary", {}, "Decide whether to admit it"), fieldsOf(inputs, unchecked)),
  );
  for (const name of ["dragover", "dragleave", "drop"] as const) {
    drop.addEventListener(name, (event) => {
      event.preventDefault();
      drop.classList.toggle("over", name === "dragover");
      const [dropped] = name === "drop" ? event.dataTransfer?.files ?? [] : [];
      if (dropped !== undefined) verify(dropped);
    });
  }
  main.replaceChildren(headingOf("Verify a runpack"), drop, result);
}

function fieldsOf(inputs: ReadonlyMap<Field, HTMLInputElement>, unchecked: HTMLInputElement): Content {
  return [
    FIELDS.map(([name, label]) =>
      make("div", { class: "field" }, make("label", { for: `pack-${name}` }, label), inputs.get(name) ?? null)
    ),
    make("p", {}, make("label", {}, unchecked, " Do not check who made it")),
  ];
}

async function show(result: HTMLElement, content: Blob, asked: Asked): Promise<void> {
  result.dataset["state"] = "working";
  result.replaceChildren(make("p", { class: "note" }, "Verifying…"));
  try {
    const { markup, examination, admission } = await verifyAndRender(await openSingleFile(content), asked);
    const shown = nodesOf({ markup });
    for (const region of shown.querySelectorAll(".scroll:not([tabindex])")) focusable(region, "Table");
    result.replaceChildren(shown);
    result.dataset["report"] = examination.report.report_identity;
    result.dataset["decision"] = admission === null ? "" : String(admission.exit_code);
    result.dataset["state"] = "done";
    announce("The runpack was verified");
  } catch (error) {
    result.replaceChildren(failureOf(error));
    result.dataset["state"] = "failed";
  }
}
