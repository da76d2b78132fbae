import assert from "node:assert/strict";
import fc from "../../tests/packages/fast_check.ts";
import { createSearchIndex, type IndexedText, QUERY_TERMS_MAXIMUM } from "./search_index.ts";
import { termsOf } from "./words.ts";

function text(content: string, heading = "", title = "", parent = ""): IndexedText {
  return { content, heading, title, parent };
}

Deno.test("SearchIndex.find() ranks", () => {
  const cases: [what: string, texts: IndexedText[], query: string, found: number[]][] = [
    ["what has the word before what has not", [text("a stage"), text("a run")], "run", [1]],
    ["nothing for a word that is nowhere", [text("a stage")], "banana", []],
    ["nothing for words that say nothing", [text("it is what it is")], "what is it", []],
    ["a heading before content", [text("run run of x"), text("something else", "run")], "run", [1, 0]],
    ["a rare word before a common one", [text("run stage"), text("run law"), text("run head")], "head run", [2, 0, 1]],
    ["a heading that is the query first", [text("x", "Why a head"), text("head head x", "a head")], "a Head", [1, 0]],
    ["more of the words first", [text("stale stale stale stale"), text("stale head")], "stale head", [1, 0]],
    ["short before long", [text(`run ${"filler ".repeat(50)}`), text("run")], "run", [1, 0]],
    ["equal ones in order", [text("run"), text("run"), text("run")], "run", [0, 1, 2]],
    ["forms of a word as one", [text("evaluating stages"), text("x")], "stage evaluation", [0]],
    ["parts of a name", [text("scenario_define"), text("define"), text("x")], "define", [0, 1]],
    ["a name as a whole first", [text("scenario and define"), text("scenario_define")], "scenario_define", [1, 0]],
    ["names without regard to case", [text("AllQualifyingAgree"), text("x")], "allqualifyingagree", [0]],
    ["parts of such names", [text("AllQualifyingAgree"), text("x")], "qualifying", [0]],
    ["words that objects have", [text("constructor"), text("__proto__ x")], "constructor", [0]],
  ];
  for (const [what, texts, query, found] of cases) {
    assert.deepEqual(createSearchIndex(texts).find(query, 10), found, what);
  }
});

Deno.test("SearchIndex.find() respects the limit, and returns the same order for each limit", () => {
  const word = fc.constantFrom("run", "stage", "law", "head", "stale", "evidence", "scenario_define");
  const words = fc.array(word, { maxLength: 12 }).map((list) => list.join(" "));
  fc.assert(fc.property(fc.array(words, { maxLength: 12 }), words, (contents, query) => {
    const index = createSearchIndex(contents.map((content) => text(content)));
    const all = index.find(query, 100);
    assert.deepEqual(all, createSearchIndex(contents.map((content) => text(content))).find(query, 100));
    for (let limit = 1; limit <= 4; limit++) assert.deepEqual(index.find(query, limit), all.slice(0, limit));
    assert.equal(new Set(all).size, all.length);
    const wanted = new Set(query.split(" ").filter((one) => one !== ""));
    for (const [at, content] of contents.entries()) {
      const has = content.split(" ").some((one) => wanted.has(one));
      if (has) assert.ok(all.includes(at), "what has a word is found");
    }
  }));
});

Deno.test("SearchIndex.find() uses the first terms of a long query", () => {
  const index = createSearchIndex([text("last"), text("w0")]);
  const query = (count: number): string => `${Array.from({ length: count }, (_, at) => `w${at}`).join(" ")} last`;
  assert.deepEqual(index.find(query(QUERY_TERMS_MAXIMUM - 1), 10), [0, 1]);
  assert.deepEqual(index.find(query(QUERY_TERMS_MAXIMUM), 10), [1]);
});

Deno.test("termsOf() maps the forms of a word to one term", () => {
  const forms: string[][] = [
    ["evaluate", "evaluates", "evaluated", "evaluating", "evaluation", "Evaluations"],
    ["condition", "conditions"],
    ["policy", "policies"],
    ["verify", "verifies", "verified", "verifying", "verification"],
    ["run", "runs", "running"],
    ["pass", "passes", "passed", "passing"],
    ["submit", "submits", "submitted", "submitting"],
    ["stage", "stages", "staged"],
    ["box", "boxes"],
  ];
  for (const words of forms) assert.equal(new Set(words.map((word) => termsOf(word)[0])).size, 1, words.join(" "));
  for (const word of ["status", "is", "sha256", "genesis", "été", "v6"]) assert.ok(termsOf(word).length <= 1, word);
  assert.deepEqual(termsOf("status"), ["status"]);
  assert.deepEqual(termsOf("x".repeat(65)), []);
  assert.deepEqual(termsOf("RFC"), ["rfc"]);
  assert.deepEqual(termsOf("max_doc_bytes"), ["max_doc_bytes", "max", "doc", "byte"]);
});
