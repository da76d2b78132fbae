import assert from "node:assert/strict";
import { parseTypedHost } from "./host_flag.ts";

/** Text of the flag, host, port, credentials; null for a text that is refused. */
const ROWS: readonly (readonly [string, readonly [string, number, readonly string[]] | null])[] = [
  ["builds.example", ["builds.example", 443, []]],
  ["Builds.Example.:8443", ["builds.example", 8443, []]],
  ["builds.example=file://token", ["builds.example", 443, ["file://token"]]],
  ["[::1]:80=file://a,env://B", ["::1", 80, ["file://a", "env://B"]]],
  ["", null],
  ["=file://token", null],
  ["builds.example=", null],
  ["builds.example=token", null],
  ["builds.example=file://a,", null],
  ["builds.example=file://../a", null],
  ["builds.example:0", null],
  ["https://builds.example", null],
  ["*", null],
];

for (const [text, expected] of ROWS) {
  Deno.test(`parseTypedHost("${text}"): ${expected === null ? "refused" : expected.join(" ")}`, () => {
    const parsed = parseTypedHost(text);
    assert.deepEqual(parsed === null ? null : [parsed.host, parsed.port, parsed.credentials], expected);
  });
}
