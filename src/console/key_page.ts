/// <reference lib="dom" />
/**
 * The credential for the server, and the key that signs. Both stay in this browser.
 *
 * @module
 */

import { listNamespaces, useBearer } from "./gate_client.ts";
import { type ApproverKey, createKey, currentKey, forgetFileKey, removeKey, useKeyFile } from "./key_store.ts";
import { type Content, make } from "./nodes.ts";
import { announce, failureOf, headingOf, reasonOf } from "./shell.ts";

/** Shows the page. */
export async function showKey(main: HTMLElement): Promise<void> {
  const section = make("div", { id: "key-section" });
  main.replaceChildren(
    headingOf("Key and credential"),
    make("h2", {}, "Credential"),
    credentialForm(),
    make("h2", {}, "Key that signs"),
    section,
  );
  await drawKey(section);
}

function credentialForm(): HTMLElement {
  const token = make("input", { id: "token", type: "password", autocomplete: "off", spellcheck: "false" });
  const result = make("p", { role: "status", id: "token-result" });
  const form = make(
    "form",
    {},
    make(
      "p",
      {},
      "Local access and client certificates need nothing here. A bearer token stays in the memory of this page: a reload " +
        "forgets it, and no address contains it.",
    ),
    make("div", { class: "field" }, make("label", { for: "token" }, "Bearer token"), token),
    make("div", { class: "actions" }, make("button", { class: "main", id: "token-use" }, "Use the token")),
    result,
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    useBearer(token.value === "" ? null : token.value);
    token.value = "";
    listNamespaces().then(
      (namespaces) => result.textContent = `The server accepts it: you may read namespaces ${namespaces.join(", ")}.`,
      (error) => result.textContent = `The server refuses it: ${reasonOf(error)}.`,
    );
  });
  return form;
}

async function drawKey(section: HTMLElement): Promise<void> {
  try {
    const key = await currentKey();
    section.replaceChildren(...key === null ? noKey(section) : withKey(section, key));
  } catch (error) {
    section.replaceChildren(failureOf(error));
  }
}

/** Runs an action and draws the section again. */
function acting(section: HTMLElement, action: () => Promise<unknown>, said: string): () => void {
  return () => {
    action().then(() => announce(said)).then(() => drawKey(section), (error) => section.prepend(failureOf(error)));
  };
}

function noKey(section: HTMLElement): HTMLElement[] {
  return [
    make(
      "p",
      {},
      "A key that this browser makes cannot be read out, and belongs to this address of the server. Every user of this " +
        "browser profile can sign with it.",
    ),
    make(
      "div",
      { class: "actions" },
      make(
        "button",
        { class: "main", id: "key-create", click: acting(section, createKey, "The key was made") },
        "Make a key",
      ),
    ),
    fileField(section),
  ];
}

function fileField(section: HTMLElement): HTMLElement {
  const file = make("input", { id: "key-file", type: "file" });
  file.addEventListener("change", () => {
    const chosen = file.files?.[0];
    if (chosen !== undefined) acting(section, () => useKeyFile(chosen), "The key file is in use")();
  });
  return make(
    "div",
    { class: "field" },
    make("label", { for: "key-file" }, "Or use a key file of gate key create, until this page is closed"),
    file,
  );
}

function withKey(section: HTMLElement, { public_key, origin }: ApproverKey): HTMLElement[] {
  const isFile = origin === "file";
  const remove = make(
    "button",
    { id: "key-remove" },
    isFile ? "Stop using the file" : "Remove the key from this browser",
  );
  remove.addEventListener("click", () => {
    if (isFile) {
      forgetFileKey();
      return void drawKey(section);
    }
    // A removed key cannot be restored, so the second click confirms.
    if (remove.dataset["armed"] === "yes") return acting(section, removeKey, "The key was removed")();
    remove.dataset["armed"] = "yes";
    remove.textContent = "Remove it for ever: what it signed stays valid";
  });
  return [
    make("p", {}, isFile ? "A key file is in use." : "This browser has a key."),
    make("p", {}, "Public key: ", make("code", { id: "public-key" }, public_key)),
    make(
      "p",
      {},
      "The operator registers it in the folder of the keys of people. It counts from the next start of a run:",
    ),
    make(
      "pre",
      { tabindex: 0 },
      `printf '%s\\n' '${public_key}' > me.pub\ngate key trust me.pub --name MY_NAME --evidence-keys evidence-keys`,
    ),
    lossText(),
    make("div", { class: "actions" }, remove),
  ];
}

function lossText(): HTMLElement {
  const texts: readonly Content[] = [
    "If you lose the key (the profile is deleted, or the device is lost), tell the operator: remove NAME.pub from the folder of " +
    "evidence keys and start a run, or restart the server. Statements of that key count no more. Then make a new key, registered under " +
    "a new name or the old one.",
  ];
  return make("details", {}, make("summary", {}, "If the key is lost or stolen"), make("p", {}, ...texts));
}
