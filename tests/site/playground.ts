/**
 * The body of the playground, with its examples.
 *
 * @module
 */

import { all, element, type Markup } from "../../src/runpack/view/markup.ts";
import { fragmentOf } from "../../src/playground/share.ts";
import { ROOT_URL } from "../checks/tree.ts";

interface Example {
  readonly name: string;
  /** The file of its law, from the root. */
  readonly file: string;
  /** What the changed law has in place of a text of the law. */
  readonly change: readonly [from: string, to: string];
  readonly parameters?: Readonly<Record<string, string>>;
  readonly evidence: Readonly<Record<string, string>>;
}

const EXAMPLES: readonly Example[] = [
  {
    name: "first gate: two tests failed",
    file: "docs/examples/first_gate/release.yaml",
    change: ["tests_failed == 0", "tests_failed <= 2"],
    parameters: { commit: "4f2a9c1" },
    evidence: { tested_commit: "4f2a9c1", tests_failed: "2" },
  },
  {
    name: "change approval: one of two people agrees",
    file: "docs/examples/change_approval/scenario.yaml",
    change: ["2 of owners", "1 of owners"],
    parameters: { commit: "4f2a9c1" },
    evidence: { tested_commit: "4f2a9c1", tests_failed: "0", approved: "alice = true" },
  },
  {
    name: "release gate: the program reports another version",
    file: "docs/examples/release_gate/scenario.yaml",
    change: ["endpoint_version == version", "present(endpoint_version)"],
    parameters: { version: "0.1.0", commit: "a".repeat(40) },
    evidence: {
      checked_commit: "a".repeat(40),
      format_exit_code: "0",
      lint_exit_code: "0",
      types_exit_code: "0",
      tests_passed: "1200",
      tests_failed: "0",
      branch: "main",
      endpoint_status: "200",
      endpoint_version: "0.0.9",
      window_open: "true",
    },
  },
];

/** The body of the page. */
export async function playgroundBody(): Promise<Markup> {
  const fragments = await Promise.all(EXAMPLES.map(async (example): Promise<[string, string]> => {
    const { name, file, change: [from, to], parameters = {}, evidence } = example;
    const law = await Deno.readTextFile(new URL(file, ROOT_URL));
    if (!law.includes(from)) throw new Error(`Cannot change ${file}: it does not have "${from}"`);
    const entries = (texts: Readonly<Record<string, string>>): Map<string, string> => new Map(Object.entries(texts));
    const given = { evidence: entries(evidence), parameters: entries(parameters), signed: new Set<string>(), at: "" };
    const fragment = fragmentOf({ law, changed: law.replace(from, to), given });
    if (fragment === null) throw new Error(`Cannot offer ${file}: it is too long`);
    return [name, fragment];
  }));
  const area = (id: string, title: string): Markup =>
    element(
      "section",
      {},
      element("h2", {}, element("label", { for: id }, title)),
      element("textarea", { id, rows: 18, spellcheck: "false", autocomplete: "off" }),
      element("div", { id: `${id}-problems`, "aria-live": "polite" }),
    );
  const verdict = (id: string, title: string): Markup =>
    element("section", {}, element("h2", {}, title), element("div", { id: `${id}-verdict` }));
  return element(
    "div",
    { id: "playground" },
    element("h1", {}, "Playground"),
    element(
      "p",
      {},
      "Write a law, feed evidence, and see what gate decides and why. The kernel runs in this page; nothing is sent or " +
        "recorded. Evidence counts as fresh, lanes and providers are not checked, and a value under a JSON Schema does not " +
        "count, because this page has no schemas.",
    ),
    element(
      "div",
      { class: "tools" },
      element("label", { for: "example" }, "Example"),
      element("select", { id: "example" }, fragments.map(([name]) => element("option", { value: name }, name))),
      element("button", { id: "copy", type: "button" }, "Copy the law to the changed law"),
      element("button", { id: "share", type: "button" }, "Put it into the address"),
      element("span", { id: "linked", role: "status" }),
    ),
    element("div", { class: "sides" }, area("law", "Law, as YAML, TOML or JSON"), area("changed", "Changed law")),
    element("h2", {}, "Evidence for both"),
    element("div", { id: "form" }),
    element(
      "div",
      { class: "sides", id: "output" },
      verdict("law", "What the law says"),
      verdict("changed", "What the changed law says"),
    ),
    element("noscript", {}, element("p", { class: "banner bad" }, "The kernel runs as a script, which is off.")),
    all(dataElement("examples", JSON.stringify(Object.fromEntries(fragments)))),
  );
}

/** Data for the script of the page. It holds letters, digits and marks of JSON alone, so nothing in it ends the element. */
function dataElement(id: string, json: string): Markup {
  if (/[<&]/.test(json)) throw new Error("Cannot inline data with markup in it");
  return { markup: `<script type="application/json" id="${id}">${json}</script>` };
}
