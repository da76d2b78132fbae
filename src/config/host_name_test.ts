import assert from "node:assert/strict";
import { hostKey } from "./host_name.ts";

/** An entry of `allowed_hosts`, and its key. */
const HOSTS: readonly (readonly [string, string | null])[] = [
  ["Example.COM", "example.com"],
  ["example.com..", "example.com"],
  ["bücher.example", "xn--bcher-kva.example"],
  ["127.0.0.1", "127.0.0.1"],
  ["0x7f.1", "127.0.0.1"],
  ["::1", "::1"],
  ["[0:0:0:0:0:0:0:1]", "::1"],
  ["*.example.com", null],
  ["example.com:443", null],
  ["https://example.com", null],
  ["example.com/path", null],
  ["a b", null],
  ["", null],
  [".", null],
];

for (const [entry, key] of HOSTS) {
  Deno.test(`hostKey() ${JSON.stringify(entry)}: ${key}`, () => assert.equal(hostKey(entry), key));
}
