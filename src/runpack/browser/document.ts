/**
 * The document around the page's script.
 *
 * @module
 */

import type { Sha256 } from "../../canonical/identity.ts";
import { all, element, scriptElement } from "../view/markup.ts";
import { documentOf, policyHash } from "../view/page.ts";
import { STYLE } from "../view/style.ts";

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
        element("p", {}, element("label", { for: "identity" }, "Runpack identity, if it has to be a certain one")),
        element("input", { id: "identity", class: "identity", spellcheck: "false", autocomplete: "off" }),
        element(
          "p",
          {},
          element("label", { for: "keys" }, "Ed25519 public keys that you trust, in base64, one a line"),
        ),
        element("textarea", { id: "keys", rows: 2, spellcheck: "false" }),
      ),
    ),
    element("div", { id: "result" }),
    element("noscript", {}, element("p", { class: "banner bad" }, "This page verifies with a script, which is off.")),
  );
  return documentOf("Verify a runpack", policy, all(body, scriptElement(script)));
}
