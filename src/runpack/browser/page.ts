/// <reference lib="dom" />
/// <reference lib="dom.iterable" />
/**
 * The page that opens a runpack from disk. It is bundled into one document, which neither loads nor sends anything.
 *
 * @module
 */

import { element } from "../view/markup.ts";
import { type OpenedPack, openFiles, openSingleFile, type PackFile, withinFolder } from "./files.ts";
import { type Asked, verifyAndRender } from "./verification.ts";

function byId<Element extends HTMLElement>(id: string, kind: new () => Element): Element {
  const found = document.getElementById(id);
  if (found instanceof kind) return found;
  throw new TypeError(`Expected an element "${id}"`);
}

const chooser = byId("chooser", HTMLElement);
const result = byId("result", HTMLElement);
const folder = byId("folder", HTMLInputElement);
const file = byId("file", HTMLInputElement);

/** Shows a state, for tests and screen readers too. */
function showState(state: "working" | "done" | "failed", markup: string): void {
  result.dataset["state"] = state;
  result.setAttribute("aria-busy", String(state === "working"));
  // The renderer escapes all text, and the policy of the page allows no other script.
  result.innerHTML = markup;
}

const textOf = (id: string): string => byId(id, HTMLInputElement).value;
const listOf = (id: string): string => byId(id, HTMLTextAreaElement).value;
const isChecked = (id: string): boolean => byId(id, HTMLInputElement).checked;

function readAsked(): Asked {
  return {
    keys: listOf("keys"),
    identity: textOf("identity"),
    law: textOf("law"),
    parameters: listOf("parameters"),
    anyParameters: listOf("any-parameters"),
    stage: textOf("stage"),
    producers: listOf("producers"),
    notBefore: textOf("not-before"),
    names: listOf("names"),
    providers: listOf("providers"),
    acceptProcedures: listOf("accept-procedures"),
    originUnchecked: isChecked("origin-unchecked"),
    signersUnchecked: isChecked("signers-unchecked"),
    allowAsserted: isChecked("allow-asserted"),
  };
}

async function show(open: () => Promise<OpenedPack>): Promise<void> {
  showState("working", element("p", { class: "note" }, "Verifying…").markup);
  const started = performance.now();
  try {
    const { markup, examination, admission } = await verifyAndRender(await open(), readAsked());
    result.dataset["report"] = examination.report.report_identity;
    result.dataset["verdict"] = examination.verdict_identity;
    result.dataset["decision"] = admission === null ? "" : String(admission.exit_code);
    const millis = Math.round(performance.now() - started);
    showState("done", markup + element("footer", {}, `Verified in this page, in ${millis} ms.`).markup);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    showState("failed", element("p", { class: "banner bad", role: "alert" }, why).markup);
  }
}

function chosenFiles(list: FileList): PackFile[] {
  return [...list].map((content) => ({ path: withinFolder(content.webkitRelativePath), content }));
}

/** A folder or file in browsers that offer handles for files on disk. */
type Handle =
  | { readonly kind: "file"; readonly name: string; readonly getFile: () => Promise<File> }
  | { readonly kind: "directory"; readonly name: string; readonly values: () => AsyncIterable<Handle> };

async function filesOf(handle: Handle, prefix: string): Promise<PackFile[]> {
  if (handle.kind === "file") return [{ path: `${prefix}${handle.name}`, content: await handle.getFile() }];
  const found: PackFile[] = [];
  for await (const one of handle.values()) {
    for (const below of await filesOf(one, one.kind === "file" ? prefix : `${prefix}${one.name}/`)) found.push(below);
  }
  return found;
}

/** Every file below a dropped folder, for browsers without handles. */
async function filesBelow(entry: FileSystemEntry, prefix: string): Promise<PackFile[]> {
  if (entry.isFile) {
    const content = await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject));
    return [{ path: `${prefix}${entry.name}`, content }];
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  const found: PackFile[] = [];
  for (;;) {
    // A reader returns at most a hundred entries at a time.
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (some.length === 0) return found;
    for (const one of some) {
      const below = await filesBelow(one, one.isFile ? prefix : `${prefix}${one.name}/`);
      for (const packFile of below) found.push(packFile);
    }
  }
}

/** The dropped pack. It must be requested before the event ends. */
function dropped(data: DataTransfer | null): (() => Promise<OpenedPack>) | null {
  const item = data?.items[0];
  const content = data?.files[0];
  const entry = item?.webkitGetAsEntry() ?? null;
  if (item === undefined || content === undefined || entry === null) return null;
  if (entry.isFile) return () => openSingleFile(content);
  const { getAsFileSystemHandle } = item as { getAsFileSystemHandle?: () => Promise<Handle | null> };
  const asked = getAsFileSystemHandle?.call(item);
  return async () => {
    const handle = await asked ?? null;
    return await openFiles(handle === null ? await filesBelow(entry, "") : await filesOf(handle, ""));
  };
}

folder.addEventListener("change", () => {
  const { files } = folder;
  if (files !== null && files.length > 0) void show(() => openFiles(chosenFiles(files)));
});
file.addEventListener("change", () => {
  const chosen = file.files?.[0];
  if (chosen !== undefined) void show(() => openSingleFile(chosen));
});
for (const name of ["dragover", "dragleave", "drop"] as const) {
  chooser.addEventListener(name, (event) => {
    event.preventDefault();
    chooser.classList.toggle("over", name === "dragover");
    const open = name === "drop" ? dropped(event.dataTransfer) : null;
    if (open !== null) void show(open);
  });
}
