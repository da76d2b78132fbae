import assert from "node:assert/strict";
import fc from "../../../tests/packages/fast_check.ts";
import { all, element } from "./markup.ts";

const ROWS: readonly (readonly [given: string, markup: string])[] = [
  ["a < b & c > d", "a &lt; b &amp; c &gt; d"],
  [`"quoted" 'twice'`, "&quot;quoted&quot; &#39;twice&#39;"],
  ["</style><script>alert(1)</script>", "&lt;/style&gt;&lt;script&gt;alert(1)&lt;/script&gt;"],
  ["a\u0000b\u001bc", "a\\u{0}b\\u{1b}c"],
  ["abc\u202edef", "abc\\u{202e}def"],
  ["zero\u200bwidth\ufeff", "zero\\u{200b}width\\u{feff}"],
  ["a\ufe0fb\u3164c\u2800d", "a\\u{fe0f}b\\u{3164}c\\u{2800}d"],
  ["tag\u{e0041}\ufff9", "tag\\u{e0041}\\u{fff9}"],
  ["line\nbreak\ttab", "line\nbreak\ttab"],
  ["gr\u00fcn \ud83d\ude00", "gr\u00fcn \ud83d\ude00"],
];

for (const [given, markup] of ROWS) {
  Deno.test(`all() writes ${markup}`, () => assert.equal(all(given).markup, markup));
}

Deno.test("element() lets no text out of its place, as content or attribute", () => {
  fc.assert(fc.property(fc.string({ unit: "binary" }), (given) => {
    const { markup } = element("p", { title: given }, given);
    const [, attribute, content] = /^<p title="([^"<>]*)">([^<>]*)<\/p>$/s.exec(markup) ?? [];
    assert.equal(attribute, all(given).markup);
    assert.equal(content, attribute);
  }));
});

Deno.test("element() leaves out null attributes, nests content, and closes what is empty", () => {
  assert.equal(element("a", { href: null, id: 1 }, [all("x", "y"), element("b")]).markup, '<a id="1">xy<b></b></a>');
  assert.equal(element("path", { d: "M0 0" }).markup, '<path d="M0 0"></path>');
  assert.equal(element("meta", { charset: "utf-8" }).markup, '<meta charset="utf-8">');
});
