/** The documents of the console and of the run view in clients. Their scripts build everything else. */

import { all, element, scriptElement, styleElement } from "../runpack/view/markup.ts";
import { NONCE_MARK } from "../server/http/console_pages.ts";
import type { Sha256 } from "../canonical/identity.ts";
import { policyHash } from "../runpack/view/page.ts";
import { CONSOLE_STYLE } from "./style.ts";

/** The document with the paths of its script and style sheet. */
export function consoleDocument(scriptPath: string, stylePath: string): string {
  const link = (route: string, text: string): ReturnType<typeof element> =>
    element("li", {}, element("a", { href: `#/${route}`, id: `go-${route}` }, text));
  const head = element(
    "head",
    {},
    element("meta", { charset: "utf-8" }),
    element("meta", { name: "viewport", content: "width=device-width, initial-scale=1" }),
    element("meta", { name: "color-scheme", content: "light dark" }),
    element("title", {}, "Gate console"),
    element("link", { rel: "icon", href: "data:," }),
    element("link", { rel: "stylesheet", href: stylePath, nonce: NONCE_MARK }),
    element("script", { defer: "", src: scriptPath, nonce: NONCE_MARK }, ""),
  );
  const body = element(
    "body",
    { class: "gate-graph" },
    element("a", { class: "skip", href: "#content" }, "Skip to the content"),
    element(
      "header",
      { class: "top" },
      element("span", { class: "brand" }, "gate"),
      element(
        "nav",
        { "aria-label": "Console" },
        element(
          "ul",
          {},
          link("runs", "Runs"),
          link("waiting", "Waiting for me"),
          link("verify", "Verify a runpack"),
          link("key", "Key and credential"),
        ),
      ),
    ),
    element(
      "main",
      { id: "content", tabindex: "-1" },
      element("noscript", {}, element("p", { class: "banner bad" }, "The console needs JavaScript, which is off.")),
    ),
    element("div", { id: "announcer", class: "unseen", "aria-live": "polite", role: "status" }, ""),
    element(
      "footer",
      { class: "bottom" },
      "A hostile server can show anything on this page. ",
      element("code", {}, "gate approve RUN --law FILE"),
      " on your own machine checks the law and the history itself.",
    ),
  );
  return `<!doctype html>\n${all(element("html", { lang: "en" }, head, body)).markup}\n`;
}

/** The style of the console; the theme of the host counts before the preference of the reader. */
const STYLE = `${CONSOLE_STYLE}
[data-theme="light"] { --line: #d9dee3; }
[data-theme="dark"] { --line: #343b43; }`;

/**
 * The document of the run view in clients, with its script. It is one file: its policy allows this script and style
 * alone, and it neither loads nor sends anything but messages to its host.
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
