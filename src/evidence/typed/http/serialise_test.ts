import assert from "node:assert/strict";
import { httpOperation } from "../../../../tests/simulation/typed_documents.ts";
import type { JsonObject, JsonValue } from "../../../canonical/json.ts";
import type { OperationParameter, ParameterStyle } from "../runtime_profile.ts";
import { serialiseParams } from "./serialise.ts";

function formOf(parameter: OperationParameter, value: JsonValue): string {
  const path_template = parameter.in === "path" ? "/x/{color}" : "/x";
  const parts = serialiseParams(httpOperation({ path_template, parameters: [parameter] }), { color: value });
  if ("error" in parts) return parts.error.code;
  if (parameter.in === "path") return parts.path.slice("/x/".length);
  return parameter.in === "query" ? parts.query : parts.headers.map(([name, text]) => `${name}: ${text}`).join("\n");
}

const LIST = ["blue", "black", "brown"];
const MAP = { R: 100, G: 200, B: 150 };

/** Place, style, explode; the forms of an empty text, a text, a list and a map, as OpenAPI 3.1 has them. */
const STYLES:
  readonly (readonly [OperationParameter["in"], ParameterStyle, boolean, string, string, string, string])[] = [
    ["path", "matrix", false, ";color", ";color=blue", ";color=blue,black,brown", ";color=R,100,G,200,B,150"],
    ["path", "matrix", true, ";color", ";color=blue", ";color=blue;color=black;color=brown", ";R=100;G=200;B=150"],
    ["path", "label", false, ".", ".blue", ".blue,black,brown", ".R,100,G,200,B,150"],
    ["path", "label", true, ".", ".blue", ".blue.black.brown", ".R=100.G=200.B=150"],
    ["path", "simple", false, "params_invalid", "blue", "blue,black,brown", "R,100,G,200,B,150"],
    ["path", "simple", true, "params_invalid", "blue", "blue,black,brown", "R=100,G=200,B=150"],
    ["query", "form", false, "color=", "color=blue", "color=blue,black,brown", "color=R,100,G,200,B,150"],
    ["query", "form", true, "color=", "color=blue", "color=blue&color=black&color=brown", "R=100&G=200&B=150"],
    [
      "query",
      "spaceDelimited",
      false,
      "color=",
      "color=blue",
      "color=blue%20black%20brown",
      "color=R%20100%20G%20200%20B%20150",
    ],
    [
      "query",
      "pipeDelimited",
      false,
      "color=",
      "color=blue",
      "color=blue%7Cblack%7Cbrown",
      "color=R%7C100%7CG%7C200%7CB%7C150",
    ],
    ["header", "simple", false, "color: ", "color: blue", "color: blue,black,brown", "color: R,100,G,200,B,150"],
    ["header", "simple", true, "color: ", "color: blue", "color: blue,black,brown", "color: R=100,G=200,B=150"],
  ];

for (const [place, style, explode, empty, text, list, map] of STYLES) {
  Deno.test(`serialiseParams() in ${place}, style ${style}${explode ? ", exploded" : ""}`, () => {
    const parameter = { name: "color", in: place, param: "color", style, explode };
    // ".": a path that is only the prefix of a label would name the folder itself.
    const expected = [empty === "." ? "params_invalid" : empty, text, list, map];
    assert.deepEqual(["", "blue", LIST, MAP].map((value) => formOf(parameter, value)), expected);
  });
}

const PATH: OperationParameter = { name: "color", in: "path", param: "color", style: "simple", explode: false };
const QUERY: OperationParameter = { ...PATH, in: "query", style: "form" };
const HEADER: OperationParameter = { ...PATH, in: "header" };

/** Parameter, value, form. */
const VALUES: readonly (readonly [OperationParameter, JsonValue, string])[] = [
  [PATH, "a/b", "a%2Fb"],
  [PATH, "..", "params_invalid"],
  [PATH, ".", "params_invalid"],
  [PATH, "../../admin", "..%2F..%2Fadmin"],
  [PATH, "%2e%2e", "%252e%252e"],
  [PATH, "a?b#c", "a%3Fb%23c"],
  [PATH, "a\\b", "a%5Cb"],
  [PATH, "a\r\nHost: evil", "a%0D%0AHost%3A%20evil"],
  [PATH, "é!'()*~$&", "%C3%A9%21%27%28%29%2A~%24%26"],
  [PATH, "$1{color}", "%241%7Bcolor%7D"],
  [PATH, "\ud800", "params_invalid"],
  [PATH, null, "params_invalid"],
  [PATH, [], "params_invalid"],
  [PATH, ["."], "params_invalid"],
  [QUERY, "a&b=c", "color=a%26b%3Dc"],
  [QUERY, "a+b c", "color=a%2Bb%20c"],
  [QUERY, 1.5, "color=1.5"],
  [QUERY, 1e21, "color=1e%2B21"],
  [QUERY, false, "color=false"],
  [QUERY, null, "params_invalid"],
  [QUERY, [["a"]], "params_invalid"],
  [QUERY, { a: {} }, "params_invalid"],
  [QUERY, [], "color="],
  [{ ...QUERY, explode: true }, [], ""],
  [HEADER, "a b", "color: a b"],
  [HEADER, "a\r\nX-Evil: 1", "params_invalid"],
  [HEADER, "é", "params_invalid"],
  [HEADER, " a", "params_invalid"],
];

for (const [parameter, value, form] of VALUES) {
  Deno.test(`serialiseParams() of ${JSON.stringify(value)} in ${parameter.in}: ${form}`, () => {
    assert.equal(formOf(parameter, value), form);
  });
}

Deno.test("serialiseParams() refuses two values that make a climbing segment together", () => {
  const parameters = ["a", "b"].map((name) => ({ ...PATH, name, param: name }));
  const operation = httpOperation({ path_template: "/x/{a}{b}/y", parameters });
  const form = (params: JsonObject): string => {
    const parts = serialiseParams(operation, params);
    return "error" in parts ? parts.error.code : parts.path;
  };
  assert.equal(form({ a: ".", b: "." }), "params_invalid");
  assert.equal(form({ a: ".", b: "x" }), "/x/.x/y");
  assert.equal(form({ a: "{b}", b: "x" }), "/x/%7Bb%7Dx/y");
});

/** Path template, value, path or code. */
const ENCODED_DOTS: readonly (readonly [string, string, string])[] = [
  ["/x/%2e{color}/y", ".", "params_invalid"],
  ["/x/{color}%2E", ".", "params_invalid"],
  ["/x/%2{color}", "e", "params_invalid"],
  ["/x/%2e{color}", "x", "/x/%2ex"],
];

for (const [path_template, value, outcome] of ENCODED_DOTS) {
  Deno.test(`serialiseParams() puts ${JSON.stringify(value)} into ${path_template}: ${outcome}`, () => {
    const parts = serialiseParams(httpOperation({ path_template, parameters: [PATH] }), { color: value });
    assert.equal("error" in parts ? parts.error.code : parts.path, outcome);
  });
}

Deno.test("serialiseParams() wants path parameters, and only params of the operation", () => {
  const operation = httpOperation({
    path_template: "/x/{color}",
    parameters: [PATH, { ...QUERY, name: "q", param: "q" }],
  });
  const code = (params: JsonObject): unknown => {
    const parts = serialiseParams(operation, params);
    return "error" in parts ? parts.error.details : parts.path;
  };
  assert.deepEqual(code({}), { path: "$.color" });
  assert.deepEqual(code({ color: "x" }), "/x/x");
  assert.deepEqual(code({ color: "x", other: 1 }), { path: "$.other" });
});

Deno.test("serialiseParams() writes a body as canonical JSON", () => {
  const body = { param: "body", content_type: "application/json" } as const;
  const operation = httpOperation({ method: "POST", path_template: "/x", parameters: [], body });
  const parts = serialiseParams(operation, { body: { b: 1.0, a: null } });
  assert.ok(!("error" in parts));
  assert.equal(parts.body, '{"a":null,"b":1}');
});
