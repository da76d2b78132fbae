/**
 * The document of the run view in clients. It is one file: its policy allows this script and style alone, and it
 * neither loads nor sends anything but messages to its host.
 */

import type { Sha256 } from "../canonical/identity.ts";
import { all, element, scriptElement, styleElement } from "../runpack/view/markup.ts";
import { policyHash } from "../runpack/view/page.ts";
import { CONSOLE_STYLE } from "./style.ts";

/** The style of the console; the theme of the host counts before the preference of the reader. */
const STYLE = `${CONSOLE_STYLE}
[data-theme="light"] { --line: #d9dee3; }
[data-theme="dark"] { --line: #343b43; }`;

/**
 * The document with its script.
 *
 * @throws {TypeError} If the script would end its own element
 */
export function appDocument(sha256: Sha256, script: string): string {
  const policy = [
    "default-src 'none'",
    `script-src ${policyHash(sha256, script)}`,
    `style-src ${policyHash(sha256, STYLE)}`,
    "require-trusted-types-for 'script'",
  ].join("; ");
  const head = element(
    "head",
    {},
    element("meta", { charset: "utf-8" }),
    element("meta", { "http-equiv": "Content-Security-Policy", content: policy }),
    element("meta", { name: "viewport", content: "width=device-width, initial-scale=1" }),
    element("meta", { name: "color-scheme", content: "light dark" }),
    element("title", {}, "Run"),
    styleElement(STYLE),
  );
  const body = element("body", { class: "gate-graph" }, scriptElement(script));
  return `<!doctype html>\n${all(element("html", { lang: "en" }, head, body)).markup}\n`;
}
