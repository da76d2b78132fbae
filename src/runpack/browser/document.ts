/** The document around the page's script. */

import type { Sha256 } from "../../canonical/identity.ts";
import { all, element, type Markup, scriptElement } from "../view/markup.ts";
import { documentOf, policyHash } from "../view/page.ts";
import { STYLE } from "../view/style.ts";

function labelled(id: string, text: string): Markup {
  return element("p", {}, element("label", { for: id }, text));
}

function lineInput(id: string, text: string): Markup {
  return all(labelled(id, text), element("input", { id, class: "identity", spellcheck: "false", autocomplete: "off" }));
}

function listInput(id: string, text: string): Markup {
  return all(labelled(id, text), element("textarea", { id, rows: 2, spellcheck: "false" }));
}

function choice(id: string, text: string): Markup {
  return element("p", {}, element("label", {}, element("input", { id, type: "checkbox" }), ` ${text}`));
}

/**
 * The document of the verifier in the browser. Its policy allows this script alone, and neither loads nor sends
 * anything.
 *
 * @param script The bundled script
 * @throws {TypeError} If the script would end its own element
 */
export function verifierDocument(sha256: Sha256, script: string): string {
  const policy = [
    "default-src 'none'",
    "connect-src 'none'",
    `script-src ${policyHash(sha256, script)}`,
    `style-src ${policyHash(sha256, STYLE)}`,
  ].join("; ");
  const body = element(
    "main",
    {},
    element("h1", {}, "Verify a runpack"),
    element(
      "div",
      { id: "chooser", class: "open-pack" },
      element("div", {}, "Choose a runpack, or drop it here. It stays on this computer: this page can send nothing."),
      element(
        "div",
        { class: "choices" },
        element("label", {}, "Open a folder", element("input", { id: "folder", type: "file", webkitdirectory: "" })),
        element("label", {}, "Open a single file", element("input", { id: "file", type: "file", accept: ".runpack" })),
      ),
      element(
        "details",
        {},
        element("summary", {}, "What it has to be, and who signed it"),
        lineInput("identity", "Runpack identity, if it has to be a certain one"),
        listInput("keys", "Ed25519 public keys that you trust, in base64, one a line"),
      ),
      element(
        "details",
        {},
        element("summary", {}, "Decide whether to admit it"),
        lineInput("law", "Identity of the law that the run must have followed; with it the page decides"),
        listInput("parameters", "Parameters that the run must have, NAME=VALUE, one a line"),
        listInput("any-parameters", "Parameters that may have any value, one name a line"),
        lineInput("stage", "Stage that must be complete; empty for the whole run"),
        listInput("producers", "Ed25519 public keys of those who may have made it, in base64, one a line"),
        listInput("names", "Whose keys you know: NAME=KEY, an Ed25519 public key in base64, one a line"),
        listInput("providers", "Versions of typed providers, NAME=IDENTITY, one a line"),
        listInput("accept-procedures", "Superseded procedures that you accept, one a line"),
        lineInput("not-before", "Earliest instant of completion, such as 2026-03-01T09:00:00Z"),
        choice("origin-unchecked", "Do not check who made it"),
        choice("signers-unchecked", "Do not check who signed the evidence"),
        choice("allow-asserted", "Allow evidence that was only asserted"),
      ),
    ),
    element("div", { id: "result" }),
    element("noscript", {}, element("p", { class: "banner bad" }, "This page verifies with a script, which is off.")),
  );
  return documentOf("Verify a runpack", policy, all(body, scriptElement(script)));
}
