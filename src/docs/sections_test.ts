import assert from "node:assert/strict";
import { createSearch } from "./answer.ts";
import {
  HEADING_CHARACTERS_MAXIMUM,
  HEADINGS_MAXIMUM,
  SECTION_BYTES_MAXIMUM,
  splitSections,
  titleOf,
} from "./sections.ts";
import type { Doc } from "./types.ts";

function docOf(text: string, doc_title = "T"): Doc {
  return {
    doc_id: "d",
    doc_role: "pattern",
    doc_title,
    description: "",
    uri: "gate://docs/d",
    text,
    bytes: 0,
    pages: [],
  };
}

/** Sections as `parent > heading: content`. */
function split(text: string): string[] {
  return splitSections(docOf(text)).map(({ parent, heading, content }) =>
    `${parent === "" ? "" : `${parent} > `}${heading}: ${content}`
  );
}

Deno.test("splitSections() splits at headings of the second and third level only", () => {
  const cases: [what: string, text: string, ...sections: string[]][] = [
    ["nothing", ""],
    ["a title alone", "# Title\n"],
    ["an introduction", "# Title\n\nIntro\n", "T: Intro"],
    ["no title", "Intro\n## A\na", "T: Intro", "A: a"],
    ["two levels", "## A\na\n### B\nb\n## C\nc", "A: a", "A > B: b", "C: c"],
    ["a third level without a second", "### B\nb", "B: b"],
    ["a heading without content", "## A\n### B\nb", "A > B: b"],
    ["other levels", "## A\n# x\n#### y\n", "A: # x\n#### y"],
    ["no space", "## A\n##b", "A: ##b"],
    ["closing marks", "## A ##\na", "A: a"],
    ["closing marks with spaces", "## A  # \t \na", "A: a"],
    ["marks that close nothing", "## A#\na\n## # B\nb\n## ##\nc", "A#: a", "# B: b", "##: c"],
    ["Windows line ends", "# Title\r\nx\r\n## A\r\na\r\n", "T: x", "A: a"],
    ["a later heading of the first level", "x\n# y", "T: x\n# y"],
    ["a fence", "## A\n```sh\n## not\n```\n## B\nb", "A: ```sh\n## not\n```", "B: b"],
    ["a fence of tildes", "## A\n~~~\n## not\n```\n~~~\n## B\nb", "A: ~~~\n## not\n```\n~~~", "B: b"],
    ["a longer fence", "## A\n````\n```\n## not\n````\n## B\nb", "A: ````\n```\n## not\n````", "B: b"],
    ["an indented fence", "## A\n   ```\n## not\n  ```\n## B\nb", "A: ```\n## not\n  ```", "B: b"],
    ["a fence that never closes", "## A\n```\n## not", "A: ```\n## not"],
    [
      "a closing fence with words does not close",
      "## A\n```\n``` x\n## not\n```\n## B\nb",
      "A: ```\n``` x\n## not\n```",
      "B: b",
    ],
    ["backticks within a line open nothing", "## A\n```a``` b\n## B\nb", "A: ```a``` b", "B: b"],
  ];
  for (const [what, text, ...sections] of cases) assert.deepEqual(split(text), sections, what);
});

Deno.test("splitSections() continues in another section of the same heading at its limit of bytes", () => {
  for (const [lines, count] of [[1, 1], [2, 1], [3, 2]] as const) {
    const line = "x".repeat(SECTION_BYTES_MAXIMUM / 4 - 1);
    const sections = splitSections(docOf(`## A\n${Array(lines * 2).fill(line).join("\n")}`));
    assert.equal(sections.length, count, `${lines * 2} quarters`);
    assert.ok(sections.every(({ heading }) => heading === "A"));
  }
});

Deno.test("splitSections() cuts a line that is longer than a section between code points", () => {
  const text = "\u{1F600}".repeat(SECTION_BYTES_MAXIMUM);
  const sections = splitSections(docOf(text));
  assert.ok(sections.length > 3);
  assert.ok(sections.map(({ content }) => content.replaceAll("\n", "")).join("") === text);
  for (const { content } of sections) {
    assert.ok(content.isWellFormed() && new TextEncoder().encode(content).length <= SECTION_BYTES_MAXIMUM);
  }
});

Deno.test("titleOf() reads a heading of the first level on the first line", () => {
  const cases: [text: string, title: string | null][] = [
    ["# A title\nx", "A title"],
    ["#   B  \r\n", "B"],
    ["## A", null],
    ["\n# A", null],
    ["#A", null],
    ["# ", null],
    ["", null],
  ];
  for (const [text, title] of cases) assert.equal(titleOf(text), title, text);
});

Deno.test("splitSections() limits the length of headings and the number of sections", () => {
  for (const length of [HEADING_CHARACTERS_MAXIMUM - 1, HEADING_CHARACTERS_MAXIMUM, HEADING_CHARACTERS_MAXIMUM + 1]) {
    const kept = "h".repeat(Math.min(length, HEADING_CHARACTERS_MAXIMUM));
    assert.deepEqual(split(`## ${"h".repeat(length)}\na`), [`${kept}: a`]);
    assert.equal(titleOf(`# ${"h".repeat(length)}`), kept);
  }
  for (const count of [HEADINGS_MAXIMUM - 1, HEADINGS_MAXIMUM, HEADINGS_MAXIMUM + 1]) {
    const sections = split(Array.from({ length: count }, (_, at) => `## H${at}\n${at}\n`).join(""));
    assert.equal(sections.length, Math.min(count, HEADINGS_MAXIMUM));
    const last = HEADINGS_MAXIMUM - 1;
    const rest = count > HEADINGS_MAXIMUM ? `\n## H${last + 1}\n${last + 1}` : "";
    if (count >= HEADINGS_MAXIMUM) assert.equal(sections.at(-1), `H${last}: ${last}${rest}`);
  }
});

/** Documents of the largest size whose content is costly to split or search. */
const COSTLY: readonly (readonly [what: string, part: string, before?: string, after?: string])[] = [
  ["a heading of spaces", " ", "## a", "b"],
  ["a heading of marks", "#", "## a ", "b"],
  ["a heading of spaces and marks", " #", "## a", "b"],
  ["headings", "## a\nb\n"],
  ["headings below a long one", "### a\nb\n", `## ${"long ".repeat(100_000)}\n`],
  ["headings below a long title", "## a\nb\n", `# ${"long ".repeat(100_000)}\n`],
  ["fences", "```\n"],
  ["fences that never close", "~~~\n", "```\n"],
  ["one word", "a"],
  ["names of many parts", "a_B"],
  ["marks over one letter", "\u0301", "e"],
];

for (const [what, part, before = "", after = ""] of COSTLY) {
  Deno.test(`a document of ${what} is split and searched in time linear in its size`, () => {
    const bytes = 1024 * 1024;
    const text = `${before}${part.repeat((bytes - before.length - after.length) / part.length)}${after}`;
    const started = performance.now();
    const doc = docOf(text, titleOf(text) ?? "T");
    createSearch([doc], splitSections(doc))("a long b", 10);
    // Linear work takes at most a second; quadratic work would take many minutes.
    assert.ok(performance.now() - started < 60_000);
  });
}
