import assert from "node:assert/strict";
import {
  anchorsOf,
  checkBlocks,
  checkCitations,
  checkLinks,
  checkOrphans,
  checkTasks,
  PAGE_CHECKS,
  readBlocks,
} from "./doc_links.ts";
import type { SourceFile } from "./source.ts";
import { formatViolations, pagesOf, readTree } from "./tree.ts";

const tree = await readTree();

for (const { name, check } of PAGE_CHECKS) {
  Deno.test(`the tree: ${name}`, () => {
    const violations = check(tree);
    assert.equal(violations.length, 0, formatViolations(violations));
  });
}

/** Shell blocks of the pages, one a row; the shell reads each without running it. */
const shellBlocks = pagesOf(tree).flatMap((page) =>
  readBlocks(page.text).filter((block) => block.language === "sh").map((block) => ({ ...block, path: page.path }))
);

for (const { path, line, text } of shellBlocks) {
  Deno.test(`the tree: shell block ${path}:${line} parses`, async () => {
    const shell = new Deno.Command("sh", { args: ["-n", "-c", text], stdin: "null", stderr: "piped" });
    const { success, stderr } = await shell.output();
    assert.ok(success, new TextDecoder().decode(stderr));
  });
}

const PAGE = "docs/a.md";
const OTHER: readonly SourceFile[] = [
  { path: "docs/b.md", text: "# Title\n## The parts, and more\n" },
  { path: "src/law/c.ts", text: "" },
  { path: "deno.json", text: `{ "tasks": { "test": "x", "test:full": "x" } }` },
];

const LINKS: readonly (readonly [text: string, outcome: "passes" | "refused"])[] = [
  ["[b](b.md)", "passes"],
  ["[b](./b.md#the-parts-and-more)", "passes"],
  ["[b](b.md#nothing)", "refused"],
  ["[b](missing.md)", "refused"],
  ["[c](../src/law/c.ts)", "passes"],
  ["[law](../src/law/)", "passes"],
  ["[law](../src/flaw/)", "refused"],
  ["[b](/docs/b.md)", "refused"],
  ["[rfc](https://www.rfc-editor.org/rfc/rfc8785)", "passes"],
  ["# Here\n[here](#here)", "passes"],
  ["[here](#here)", "refused"],
  ["[b]: missing.md", "refused"],
  ["`[b](missing.md)`", "passes"],
  ["```md\n[b](missing.md)\n```", "passes"],
  ["```md\n```\n[b](missing.md)", "refused"],
];

for (const [text, outcome] of LINKS) {
  Deno.test(`checkLinks() ${text.replaceAll("\n", " ")} ${outcome}`, () => {
    assert.equal(checkLinks([...OTHER, { path: PAGE, text }]).length > 0 ? "refused" : "passes", outcome);
  });
}

const BLOCKS: readonly (readonly [text: string, outcome: "passes" | "refused"])[] = [
  ['```json\n{ "a": 1 }\n```', "passes"],
  ["```json\n{ a: 1 }\n```", "refused"],
  ["```toml\na = 1\n```", "passes"],
  ["```toml\na = \n```", "refused"],
  ["```text\na = \n```", "passes"],
  ["```\na\n```", "refused"],
  ["````md\n```\nnested\n```\n````", "passes"],
];

for (const [text, outcome] of BLOCKS) {
  Deno.test(`checkBlocks() ${text.replaceAll("\n", " ")} ${outcome}`, () => {
    assert.equal(checkBlocks([{ path: PAGE, text }]).length > 0 ? "refused" : "passes", outcome);
  });
}

const TASKS: readonly (readonly [text: string, outcome: "passes" | "refused"])[] = [
  ["Run `deno task test`.", "passes"],
  ["Run `npx -y deno@2.9.6 task test:full`.", "passes"],
  ["Run `deno task tests`.", "refused"],
];

for (const [text, outcome] of TASKS) {
  Deno.test(`checkTasks() ${text} ${outcome}`, () => {
    assert.equal(checkTasks([...OTHER, { path: PAGE, text }]).length > 0 ? "refused" : "passes", outcome);
  });
}

const CITATIONS: readonly (readonly [text: string, outcome: "passes" | "refused"])[] = [
  ["/** As docs/b.md says. */", "passes"],
  ['/** As the page says (docs/b.md, "The parts, and more"). */', "passes"],
  [' * As docs/b.md "The parts, and more" says.', "passes"],
  ['// As docs/b.md, "Nothing", says.', "refused"],
  ["// As b.md says.", "refused"],
  ["/** As elsewhere.md says. */", "refused"],
  ['const page = "elsewhere.md";', "passes"],
];

for (const [text, outcome] of CITATIONS) {
  Deno.test(`checkCitations() ${text} ${outcome}`, () => {
    const files = [...OTHER, { path: "src/law/d.ts", text }];
    assert.equal(checkCitations(files).length > 0 ? "refused" : "passes", outcome);
    assert.deepEqual(checkCitations([...OTHER, { path: "src/law/d_test.ts", text }]), []);
  });
}

Deno.test("checkOrphans() refuses a page that no link leads to", () => {
  const violations = checkOrphans([
    { path: "docs/README.md", text: "[a](format/README.md)" },
    { path: "docs/format/README.md", text: "[b](./b.md#here) [rfc](https://www.rfc-editor.org/)" },
    { path: "docs/format/b.md", text: "" },
    { path: "docs/c.md", text: "[b](format/b.md)" },
  ]);
  assert.deepEqual(violations.map((entry) => entry.path), ["docs/c.md"]);
});

Deno.test("anchorsOf() numbers headings that are alike, and leaves blocks alone", () => {
  assert.deepEqual([...anchorsOf("# A b\n## A b\n```sh\n# c\n```\n### `d_e`!")], ["a-b", "a-b-1", "d_e"]);
});
