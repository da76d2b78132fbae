import assert from "node:assert/strict";
import { isJsonContentType, isMediaType } from "./content_type.ts";

Deno.test("isMediaType() and isJsonContentType() read the grammar of RFC 9110", () => {
  const cases: readonly (readonly [text: string, mediaType: boolean, json: boolean])[] = [
    ["application/json", true, true],
    ["APPLICATION/Json", true, true],
    ["application/json; charset=utf-8", true, true],
    ['application/json ;a=b\t; c="d;\\"e"', true, true],
    ["application/problem+json", true, true],
    ["image/svg+JSON", true, true],
    ["text/json", true, false],
    ["application/jsonl", true, false],
    ["application/json-seq", true, false],
    ["text/plain;format=flowed", true, false],
    ["*/*", true, false],
    ["application", false, false],
    ["application/", false, false],
    ["/json", false, false],
    ["application/json;", false, false],
    ["application/json; charset", false, false],
    ["application/json; charset=", false, false],
    ["application/json; charset = utf-8", false, false],
    [" application/json", false, false],
    ["application/json\n", false, false],
    ["application/json, text/plain", false, false],
    ["application/jsön", false, false],
    ["", false, false],
  ];
  for (const [text, mediaType, json] of cases) {
    assert.deepEqual([isMediaType(text), isJsonContentType(text)], [mediaType, json], text);
  }
});

Deno.test("isMediaType() accepts up to 256 characters in linear time", () => {
  for (const [length, ok] of [[255, true], [256, true], [257, false]] as const) {
    assert.equal(isMediaType("a/".padEnd(length, "b")), ok);
  }
  assert.equal(isMediaType(`a/b${' ;a="'.repeat(49)}`), false);
});
