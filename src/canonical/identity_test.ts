import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import fc from "../../tests/packages/fast_check.ts";
import { canonicalize } from "./canonicalize.ts";
import {
  contentHash,
  identify,
  identifyBytes,
  identifyCanonical,
  IDENTITY_KINDS,
  isIdentity,
  isOperationIdentity,
} from "./identity.ts";
import type { JsonValue } from "./json.ts";

function sha256(data: string | Uint8Array): string {
  return createHash("sha256").update(data).digest("hex");
}

Deno.test("identify(), identifyCanonical() and identifyBytes() give the same content one identity", () => {
  fc.assert(
    fc.property(fc.jsonValue({ stringUnit: "grapheme" }), fc.constantFrom(...IDENTITY_KINDS), (json, kind) => {
      const value = json as JsonValue;
      const identity = identify(sha256, kind, value);
      assert.equal(identifyCanonical(sha256, kind, canonicalize(value)), identity);
      assert.equal(identifyBytes(sha256, kind, new TextEncoder().encode(canonicalize(value))), identity);
      assert.ok(isIdentity(identity));
    }),
  );
});

Deno.test("identify() has another identity of the same content for each kind", () => {
  assert.equal(new Set(IDENTITY_KINDS.map((kind) => identify(sha256, kind, {}))).size, IDENTITY_KINDS.length);
});

Deno.test("identify() does not depend on the order of members or the spelling of numbers", () => {
  const one = JSON.parse('{"a":1.0,"b":[1e2]}') as JsonValue;
  const other = JSON.parse('{"b":[100],"a":1}') as JsonValue;
  assert.equal(identify(sha256, "run-record", one), identify(sha256, "run-record", other));
});

Deno.test("contentHash() has no label", () => {
  const value = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
  assert.deepEqual(contentHash(sha256, "test"), { algorithm: "sha256", value });
  assert.deepEqual(contentHash(sha256, new Uint8Array([0x74, 0x65, 0x73, 0x74])), { algorithm: "sha256", value });
});

Deno.test("isIdentity() and isOperationIdentity() accept 64 and 32 lower-case hex digits", () => {
  const table: readonly [unknown, boolean, boolean][] = [
    ["0".repeat(64), true, false],
    ["af".repeat(32), true, false],
    ["0".repeat(63), false, false],
    ["0".repeat(65), false, false],
    ["AF".repeat(32), false, false],
    ["g".repeat(64), false, false],
    [`${"0".repeat(64)}\n`, false, false],
    ["0".repeat(32), false, true],
    ["0123456789abcdef".repeat(2), false, true],
    ["0".repeat(31), false, false],
    ["0".repeat(33), false, false],
    ["A".repeat(32), false, false],
    [`${"0".repeat(32)}\n`, false, false],
    [["0".repeat(32)], false, false],
    [null, false, false],
    ["", false, false],
  ];
  for (const [text, identity, operation] of table) {
    assert.equal(isIdentity(text), identity, String(text));
    assert.equal(isOperationIdentity(text), operation, String(text));
  }
});
