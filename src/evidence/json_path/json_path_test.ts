import assert from "node:assert/strict";
import fc from "../../../tests/packages/fast_check.ts";
import { canonicalize } from "../../canonical/canonicalize.ts";
import type { JsonValue } from "../../canonical/json.ts";
import { parseJson } from "../../canonical/scan.ts";
import { selectJson, selectWhole } from "./json_path.ts";
import { JSONPATH_CHARACTERS_MAXIMUM, RESULT_BYTES_MAXIMUM } from "../builtin/limits.ts";

function parse(text: string): JsonValue {
  const parsed = parseJson(text);
  assert.ok(parsed.ok);
  return parsed.value;
}

/** The document of RFC 9535, 1.5. */
const STORE = `{"store":{"book":[
  {"category":"reference","author":"Nigel Rees","title":"Sayings of the Century","price":8.95},
  {"category":"fiction","author":"Evelyn Waugh","title":"Sword of Honour","price":12.99},
  {"category":"fiction","author":"Herman Melville","title":"Moby Dick","isbn":"0-553-21311-3","price":8.99},
  {"category":"fiction","author":"J. R. R. Tolkien","title":"The Lord of the Rings","isbn":"0-395-19395-8","price":22.99}
],"bicycle":{"color":"red","price":399}}}`;
/** The document of RFC 9535, 2.3.5.3. */
const FILTERS =
  `{"a":[3,5,1,2,4,6,{"b":"j"},{"b":"k"},{"b":{}},{"b":"kilo"}],"o":{"p":1,"q":2,"r":3,"s":5,"t":{"u":6}},"e":"f"}`;
const NULLS = `{"a":null,"b":[null],"c":[{}],"null":1}`;
const LETTERS = `["a","b","c","d","e","f","g"]`;
const NESTED = `{"o":{"j":1,"k":2},"a":[5,3,[{"j":4},{"k":6}]]}`;
const NAMES = `{"o":{"j j":{"k.k":3}},"'":{"@":2}}`;
const COMPARED = `{"obj":{"x":"y"},"arr":[2,3]}`;

/** Document, query, result as JSON or code of the error. */
const ROWS: readonly (readonly [document: string, query: string, result: string])[] = [
  // root, names, indices: singular, so the value itself
  [NESTED, "$", NESTED],
  [NAMES, "$.o['j j']", '{"k.k":3}'],
  [NAMES, "$.o['j j']['k.k']", "3"],
  [NAMES, '$["\'"]["@"]', "2"],
  [NAMES, "$['\\'']['@']", "2"],
  ['{"\u263a":1}', "$.\u263a", "1"],
  ['{"\u263a":1}', '$["\\u263A"]', "1"],
  ['{"\ud83d\ude00":1}', '$["\\uD83D\\uDE00"]', "1"],
  ['{"__proto__":1}', "$.__proto__", "1"],
  ["{}", "$.__proto__", "jsonpath_not_found"],
  ["{}", "$.constructor", "jsonpath_not_found"],
  ["[]", "$.length", "jsonpath_not_found"],
  ['"abc"', "$[0]", "jsonpath_not_found"],
  ['{"0":1}', "$[0]", "jsonpath_not_found"],
  ['["a","b"]', "$[1]", '"b"'],
  ['["a","b"]', "$[-2]", '"a"'],
  ['["a","b"]', "$[2]", "jsonpath_not_found"],
  ['["a","b"]', "$[-3]", "jsonpath_not_found"],
  // a character beyond the basic plane is one character of a pattern
  ['["\u{1f600}"]', "$[?match(@, '\u{1f600}')]", '["\u{1f600}"]'],
  ['["\u{1f600}"]', "$[?match(@, '[a-\u{1f600}]')]", '["\u{1f600}"]'],
  ['["\u{1f600}"]', "$[?match(@, '.')]", '["\u{1f600}"]'],
  ['["\u{1f600}"]', "$[?!match(@, '\u{1f600}')]", "jsonpath_not_found"],
  ['["bad"]', "$[?search(@, '\u{1f600}|bad')]", '["bad"]'],
  ['["x\u{1f600}y"]', "$[?!search(@, '\u{1f600}|bad')]", "jsonpath_not_found"],
  // null is a value
  [NULLS, "$.a", "null"],
  [NULLS, "$.a[0]", "jsonpath_not_found"],
  [NULLS, "$.b[0]", "null"],
  [NULLS, "$.b[*]", "[null]"],
  [NULLS, "$.b[?@]", "[null]"],
  [NULLS, "$.b[?@==null]", "[null]"],
  [NULLS, "$.c[?@.d==null]", "jsonpath_not_found"],
  [NULLS, "$.null", "1"],
  // wildcards, slices, unions: not singular, so an array, even of one
  [NESTED, "$[*]", '[{"j":1,"k":2},[5,3,[{"j":4},{"k":6}]]]'],
  [NESTED, "$.o[*]", "[1,2]"],
  [NESTED, "$.o[*, *]", "[1,2,1,2]"],
  [NESTED, "$.a[*]", '[5,3,[{"j":4},{"k":6}]]'],
  ["[7]", "$[*]", "[7]"],
  ["[7]", "$[0:1]", "[7]"],
  ["[7]", "$[0,0]", "[7,7]"],
  ["[]", "$[*]", "jsonpath_not_found"],
  [LETTERS, "$[1:3]", '["b","c"]'],
  [LETTERS, "$[5:]", '["f","g"]'],
  [LETTERS, "$[1:5:2]", '["b","d"]'],
  [LETTERS, "$[5:1:-2]", '["f","d"]'],
  [LETTERS, "$[::-1]", '["g","f","e","d","c","b","a"]'],
  [LETTERS, "$[::0]", "jsonpath_not_found"],
  [LETTERS, "$[0, 3]", '["a","d"]'],
  [LETTERS, "$[0:2, 5]", '["a","b","f"]'],
  // descendants
  [NESTED, "$..j", "[1,4]"],
  [NESTED, "$..[0]", '[5,{"j":4}]'],
  [NESTED, "$..o", '[{"j":1,"k":2}]'],
  [NESTED, "$.o..[*, *]", "[1,2,1,2]"],
  [STORE, "$.store.book[*].author", '["Nigel Rees","Evelyn Waugh","Herman Melville","J. R. R. Tolkien"]'],
  [STORE, "$..author", '["Nigel Rees","Evelyn Waugh","Herman Melville","J. R. R. Tolkien"]'],
  [STORE, "$.store..price", "[8.95,12.99,8.99,22.99,399]"],
  [STORE, "$..book[2].author", '["Herman Melville"]'],
  [STORE, "$..book[2].publisher", "jsonpath_not_found"],
  [STORE, "$..book[?@.isbn].price", "[8.99,22.99]"],
  [STORE, "$..book[?@.price<10].title", '["Sayings of the Century","Moby Dick"]'],
  // filters
  [FILTERS, "$.a[?@.b == 'kilo']", '[{"b":"kilo"}]'],
  [FILTERS, "$.a[?(@.b == 'kilo')]", '[{"b":"kilo"}]'],
  [FILTERS, "$.a[?@>3.5]", "[5,4,6]"],
  [FILTERS, "$.a[?@.b]", '[{"b":"j"},{"b":"k"},{"b":{}},{"b":"kilo"}]'],
  [
    FILTERS,
    "$[?@.*]",
    '[[3,5,1,2,4,6,{"b":"j"},{"b":"k"},{"b":{}},{"b":"kilo"}],{"p":1,"q":2,"r":3,"s":5,"t":{"u":6}}]',
  ],
  [FILTERS, "$[?@[?@.b]]", '[[3,5,1,2,4,6,{"b":"j"},{"b":"k"},{"b":{}},{"b":"kilo"}]]'],
  [FILTERS, "$.o[?@<3, ?@<3]", "[1,2,1,2]"],
  [FILTERS, '$.a[?@<2 || @.b == "k"]', '[1,{"b":"k"}]'],
  [FILTERS, "$.o[?@>1 && @<4]", "[2,3]"],
  [FILTERS, "$.o[?@.u || @.x]", '[{"u":6}]'],
  [FILTERS, "$.a[?@.b == $.x]", "[3,5,1,2,4,6]"],
  [FILTERS, "$.a[?@ == @]", '[3,5,1,2,4,6,{"b":"j"},{"b":"k"},{"b":{}},{"b":"kilo"}]'],
  [FILTERS, "$.a[?!@.b]", "[3,5,1,2,4,6]"],
  // comparisons, RFC 9535 table 11
  [COMPARED, "$[?$.absent1 == $.absent2]", '[{"x":"y"},[2,3]]'],
  [COMPARED, "$[?$.absent1 <= $.absent2]", '[{"x":"y"},[2,3]]'],
  [COMPARED, "$[?$.absent == 'g']", "jsonpath_not_found"],
  [COMPARED, "$[?$.absent1 != $.absent2]", "jsonpath_not_found"],
  [COMPARED, "$[?$.absent != 'g']", '[{"x":"y"},[2,3]]'],
  [COMPARED, "$[?1 <= 2]", '[{"x":"y"},[2,3]]'],
  [COMPARED, "$[?1 > 2]", "jsonpath_not_found"],
  [COMPARED, "$[?13 == '13']", "jsonpath_not_found"],
  [COMPARED, "$[?'a' <= 'b']", '[{"x":"y"},[2,3]]'],
  [COMPARED, "$[?$.obj == $.arr]", "jsonpath_not_found"],
  [COMPARED, "$[?$.obj != $.arr]", '[{"x":"y"},[2,3]]'],
  [COMPARED, "$[?$.obj == $.obj]", '[{"x":"y"},[2,3]]'],
  [COMPARED, "$[?$.obj == 17]", "jsonpath_not_found"],
  [COMPARED, "$[?$.obj <= $.arr]", "jsonpath_not_found"],
  [COMPARED, "$[?$.obj < $.arr]", "jsonpath_not_found"],
  [COMPARED, "$[?$.obj <= $.obj]", '[{"x":"y"},[2,3]]'],
  [COMPARED, "$[?1 <= $.arr]", "jsonpath_not_found"],
  [COMPARED, "$[?true <= true]", '[{"x":"y"},[2,3]]'],
  [COMPARED, "$[?true > true]", "jsonpath_not_found"],
  ['[{"a":1.0,"b":1},{"a":"1","b":1}]', "$[?@.a == @.b]", '[{"a":1,"b":1}]'],
  // own members only, in both operands
  ['[{"a":{"__proto__":{}},"b":{"x":1}}]', "$[?@.a == @.b]", "jsonpath_not_found"],
  ['[{"a":{"x":1},"b":{"__proto__":{}}}]', "$[?@.b == @.a]", "jsonpath_not_found"],
  // strings by code points, not code units: U+FF61 < U+1F600
  ['["\uff61","\ud83d\ude00"]', "$[?@ < '\ud83d\ude00']", '["\uff61"]'],
  ['["\uff61","\ud83d\ude00"]', "$[?@ > '\uff61']", '["\ud83d\ude00"]'],
  ['["\ud83d\ude00","ab"]', "$[?length(@) == 1]", '["\ud83d\ude00"]'],
  // functions
  ['[[1,2],[1],{"a":1},"ab",7]', "$[?length(@) == 2]", '[[1,2],"ab"]'],
  ['[[1,2],[1],{"a":1}]', "$[?count(@.*) == 1]", '[[1],{"a":1}]'],
  ['["abc","abcd"]', "$[?match(@, 'a.c')]", '["abc"]'],
  ['["abc","xabcx"]', "$[?search(@, 'a.c')]", '["abc","xabcx"]'],
  ['["a\\nc"]', "$[?match(@, 'a.c')]", "jsonpath_not_found"],
  ['["a\u2028c"]', "$[?match(@, 'a.c')]", '["a\u2028c"]'],
  ['["a.c","abc"]', "$[?match(@, 'a[.]c')]", '["a.c"]'],
  ['["a.c","abc"]', "$[?match(@, 'a\\\\.c')]", '["a.c"]'],
  ['["é","e"]', "$[?match(@, '\\\\p{L}')]", '["é","e"]'],
  ['["ab","a"]', "$[?match(@, 'a|ab')]", '["ab","a"]'],
  // match() tests the whole text, also with anchors in the pattern
  ['["ab","xab","abx"]', "$[?match(@, 'ab$')]", '["ab"]'],
  ['["ab","xab","abx"]', "$[?match(@, '^ab')]", '["ab"]'],
  ['["ab","xab","abx"]', "$[?match(@, '^ab$')]", '["ab"]'],
  ['["ab","cd","ab zzz","xcd"]', "$[?match(@, 'ab|cd$')]", '["ab","cd"]'],
  ['["ab","cd","ab zzz","xcd"]', "$[?match(@, '^ab|cd')]", '["ab","cd"]'],
  ['["abc","axc","ab","xab"]', "$[?match(@, '^ab.*')]", '["abc","ab"]'],
  ['["abc","axc","ab","abcx"]', "$[?match(@, '.*bc$')]", '["abc"]'],
  ['["ab","xab","abx"]', "$[?search(@, '^ab')]", '["ab","abx"]'],
  ['["ab","xab","abx"]', "$[?search(@, 'ab$')]", '["ab","xab"]'],
  // patterns of I-Regexp that the runtime rejects
  ['["a-b","ab"]', "$[?match(@, 'a\\\\-b')]", '["a-b"]'],
  ['["a-b","ab"]', "$[?!match(@, 'a\\\\-b')]", '["ab"]'],
  ['["a-b","ab"]', "$[?match(@, 'a[\\\\-]b')]", '["a-b"]'],
  ['["ab","xab"]', "$[?search(@, '^{1}ab')]", '["ab"]'],
  ['["ab","abx"]', "$[?search(@, 'ab$+')]", '["ab"]'],
  ['["a^b","a$b","a(b"]', "$[?match(@, 'a[$(^]b')]", '["a^b","a$b","a(b"]'],
  // patterns that are not I-Regexp match nothing
  ['["aa"]', "$[?search(@, '(a)\\\\1')]", "jsonpath_not_found"],
  ['["aa"]', "$[?search(@, '(?=a)')]", "jsonpath_not_found"],
  ['["aa"]', "$[?search(@, '(a){2}\\\\1')]", "jsonpath_not_found"],
  ['["aa"]', "$[?search(@, '[b-a]')]", "jsonpath_not_found"],
  ['["aa"]', "$[?!search(@, 'a{2,1}')]", '["aa"]'],
  ['["aa"]', "$[?match(@, 7)]", "jsonpath_not_found"],
  // patterns of I-Regexp beyond a limit end the query
  ['[{"a":"b"}]', "$[?!search(@.a, 'b{1,20001}')]", "jsonpath_limit_exceeded"],
  ['[{"a":"a"}]', "$[?match(@.a, 'a{1,20001}')]", "jsonpath_limit_exceeded"],
  ['[{"a":"a"}]', "$[?!search(@.a, 'b{99999999999999999999}')]", "jsonpath_limit_exceeded"],
  [JSON.stringify({ t: ["a"], p: "()".repeat(30_000) }), "$.t[?!search(@, $.p)]", "jsonpath_limit_exceeded"],
  [
    JSON.stringify({ t: ["a"], p: "(".repeat(30_000) + ")".repeat(30_000) }),
    "$.t[?!search(@, $.p)]",
    "jsonpath_limit_exceeded",
  ],
  [`["${"a".repeat(5_000)}!"]`, "$[?match(@, '(a+)+')]", "jsonpath_not_found"],
  [`["${"a".repeat(5_000)}"]`, "$[?match(@, '(a|a)*b')]", "jsonpath_not_found"],
  ['["a"]', `$[?search(@, '${"(|)".repeat(40)}\\\\P{L}')]`, "jsonpath_not_found"],
  [
    JSON.stringify({ s: "x".repeat(400_000), l: new Array(4_000).fill(0) }),
    "$.l[?length($.s) > 1]",
    "jsonpath_limit_exceeded",
  ],
  [`["${"a".repeat(100_000)}"]`, `$[?match(@, '${"(a|b)*".repeat(200)}c')]`, "jsonpath_limit_exceeded"],
  [
    JSON.stringify(Array.from({ length: 3_000 }, (_, i) => `a{${15_000 + i}}`)),
    "$[?match('a', @)]",
    "jsonpath_limit_exceeded",
  ],
  ['[{"a":[5]},{"a":[5,6]}]', "$[?value(@.a[*]) == 5]", '[{"a":[5]}]'],
  // the root is the document's, however deep the filter
  ['{"w":1,"l":[[{"w":2}],[1]]}', "$.l[?@[?@ == $.w]]", "[[1]]"],
  // invalid queries
  ["{}", "", "invalid_jsonpath"],
  ["{}", "a", "invalid_jsonpath"],
  ["{}", "@", "invalid_jsonpath"],
  ["{}", " $", "invalid_jsonpath"],
  ["{}", "$ ", "invalid_jsonpath"],
  ["{}", "$.", "invalid_jsonpath"],
  ["{}", "$..", "invalid_jsonpath"],
  ["{}", "$.[0]", "invalid_jsonpath"],
  ["{}", "$[", "invalid_jsonpath"],
  ["{}", "$[]", "invalid_jsonpath"],
  ["{}", "$[0,]", "invalid_jsonpath"],
  ["{}", "$[01]", "invalid_jsonpath"],
  ["{}", "$[-0]", "invalid_jsonpath"],
  ["{}", "$[1.0]", "invalid_jsonpath"],
  ["{}", "$[9007199254740992]", "invalid_jsonpath"],
  ["{}", "$['a", "invalid_jsonpath"],
  ["{}", "$['\\x']", "invalid_jsonpath"],
  ["{}", "$['\\ud800']", "invalid_jsonpath"],
  ["{}", "$.a b", "invalid_jsonpath"],
  ["{}", "$.1a", "invalid_jsonpath"],
  ["{}", "$[?]", "invalid_jsonpath"],
  ["{}", "$[?1]", "invalid_jsonpath"],
  ["{}", "$[?true]", "invalid_jsonpath"],
  ["{}", "$[?@.a = 1]", "invalid_jsonpath"],
  ["{}", "$[?@.a === 1]", "invalid_jsonpath"],
  ["{}", "$[?@.* == 1]", "invalid_jsonpath"],
  ["{}", "$[?@..a == 1]", "invalid_jsonpath"],
  ["{}", "$[?(@.a]", "invalid_jsonpath"],
  ["{}", "$[?@.a && ]", "invalid_jsonpath"],
  ["{}", "$[?length(@)]", "invalid_jsonpath"],
  ["{}", "$[?length(@.*) < 3]", "invalid_jsonpath"],
  ["{}", "$[?count(1) == 1]", "invalid_jsonpath"],
  ["{}", "$[?match(@)]", "invalid_jsonpath"],
  ["{}", "$[?match(@, 'a') == true]", "invalid_jsonpath"],
  ["{}", "$[?unknown(@)]", "invalid_jsonpath"],
  ["{}", "$[?!length(@)]", "invalid_jsonpath"],
  ["{}", "$[?length(@) && @.a]", "invalid_jsonpath"],
  ["{}", "$[?!true]", "invalid_jsonpath"],
  ["{}", "$[?(@.a == 1) == true]", "invalid_jsonpath"],
  ["{}", "$.~", "invalid_jsonpath"],
  ["{}", "$[~]", "invalid_jsonpath"],
  ["{}", "$[?# == 'a']", "invalid_jsonpath"],
  ["{}", "$[?@ == 9007199254740993]", "invalid_jsonpath"],
  ["{}", "$[?@ == 1e400]", "invalid_jsonpath"],
  ["{}", "$[?@ == 0.1]", "jsonpath_not_found"],
  ["{}", "$[?@ == 1e2]", "jsonpath_not_found"],
  ["[0.5,0.25,-0.5,0,100]", "$[?@ < 0.5]", "[0.25,-0.5,0]"],
  ["[0.5,0.25,-0.5,0,100]", "$[?@ == -0.5]", "[-0.5]"],
  ["[0.5,0.25,-0.5,0,100]", "$[?@ == -0]", "[0]"],
  ["[0.5,0.25,-0.5,0,100]", "$[?@ == 1E+02]", "[100]"],
  ["[0.5,0.25,-0.5,0,100]", "$[?@ == 0e0]", "[0]"],
  ["{}", "$[?@ == 01]", "invalid_jsonpath"],
  ["{}", "$[?@ == -01]", "invalid_jsonpath"],
  ["{}", "$[?@ == 00.5]", "invalid_jsonpath"],
  ["{}", "$[?@ == 1.]", "invalid_jsonpath"],
  ["{}", "$[?@ == .5]", "invalid_jsonpath"],
  ["{}", "$[?@ == +1]", "invalid_jsonpath"],
  ["{}", "$[?@ == 1e]", "invalid_jsonpath"],
  ["{}", "$[?@ == 0x1]", "invalid_jsonpath"],
];

for (const [document, query, expected] of ROWS) {
  Deno.test(`selectJson() ${query} of ${document.slice(0, 40).replaceAll("\n", "")}: ${expected.slice(0, 60)}`, () => {
    const selection = selectJson(parse(document), query);
    const shown = "error" in selection ? selection.error.code : selection.found;
    assert.equal(shown, /^[a-z_]+$/.test(expected) && expected !== "null" ? expected : canonicalize(parse(expected)));
  });
}

Deno.test("selectJson() refuses an invalid query for any document", () => {
  for (const document of [null, 1, "x", [], {}]) {
    const selection = selectJson(document, "$[");
    assert.equal("error" in selection ? selection.error.code : null, "invalid_jsonpath");
  }
});

Deno.test("selectJson() accepts any text and any document without a crash", () => {
  const text = fc.string({ unit: fc.constantFrom(..."$@.[]()?*'\"<>=!&|,:~#-019ae \u263a\\"), maxLength: 24 });
  fc.assert(
    fc.property(fc.oneof(text, text.map((rest) => `$${rest}`)), fc.jsonValue(), (query, document) => {
      const selection = selectJson(document as JsonValue, query);
      if ("error" in selection) {
        assert.match(selection.error.code, /^(invalid_jsonpath|jsonpath_not_found)$/);
      } else assert.ok(selection.found.length > 0);
    }),
    { numRuns: 3000 },
  );
});

for (const [extra, expected] of [[-1, null], [0, null], [1, "invalid_jsonpath"]] as const) {
  Deno.test(`selectJson() a query of ${JSONPATH_CHARACTERS_MAXIMUM} ${extra} characters: ${expected}`, () => {
    const name = "a".repeat(JSONPATH_CHARACTERS_MAXIMUM + extra - 2);
    const selection = selectJson({ [name]: 1 }, `$.${name}`);
    assert.equal("error" in selection ? selection.error.code : null, expected);
  });
}

for (const [extra, expected] of [[-1, null], [0, null], [1, "result_too_large"]] as const) {
  Deno.test(`selectWhole() a result of ${RESULT_BYTES_MAXIMUM} ${extra} bytes: ${expected}`, () => {
    const texts = [
      "x".repeat(RESULT_BYTES_MAXIMUM + extra - 2),
      "\u00e9".repeat((RESULT_BYTES_MAXIMUM + extra) / 2 - 1),
    ];
    for (const text of texts) {
      const padded = text + "x".repeat(RESULT_BYTES_MAXIMUM + extra - 2 - new TextEncoder().encode(text).length);
      const selection = selectWhole(padded);
      assert.equal("error" in selection ? selection.error.code : null, expected);
    }
  });
}

/** A document with a number of chains of nested arrays. */
function chains(count: number, depth: number): JsonValue {
  const chain = (): JsonValue => {
    let value: JsonValue = [];
    for (let level = 1; level < depth; level++) value = [value];
    return value;
  };
  return Array.from({ length: count }, chain);
}

/** Query with a combinatorial result, outcome. */
const MULTIPLYING: readonly (readonly [string, string])[] = [
  ["$..*..*..*..*", "result_too_large jsonpath_limit_exceeded"],
  ["$[?count(@..*..*..*..*) > 1]", "jsonpath_limit_exceeded"],
  ["$[?count($..*..*..*) > 1]", "jsonpath_limit_exceeded"],
  ["$[?@..*..*..*..*]", "jsonpath_limit_exceeded"],
  ["$..[?count($..[?count($..[?@ == 'none']) > 0]) > 0]", "jsonpath_limit_exceeded"],
];

for (const [query, expected] of MULTIPLYING) {
  Deno.test(`selectJson() ${query} over deep chains: ${expected}, in bounded memory`, () => {
    const before = Deno.memoryUsage().heapUsed;
    const selection = selectJson(chains(2000, 60), query);
    assert.ok(expected.includes("error" in selection ? selection.error.code : "found"));
    assert.ok(Deno.memoryUsage().heapUsed - before < 600e6);
  });
}

Deno.test("selectJson() visits documents of the maximum depth", () => {
  const selection = selectJson(chains(1, 63), "$..*");
  assert.ok("found" in selection);
});
