import assert from "node:assert/strict";
import { SHA256 } from "../../tests/simulation/kernel/fixture.ts";
import { canonicalize } from "../canonical/canonicalize.ts";
import type { Payload } from "../law/types.ts";
import { hashPayload } from "./payload.ts";
import { asJson } from "./primitives.ts";

const HASH = "cd".repeat(32);

Deno.test("hashPayload() identifies a payload by its canonical form and hashes its content", () => {
  const rows: readonly [Payload, string, number][] = [
    [{ kind: "json", value: { b: 1.0, a: "ä" } }, SHA256('{"a":"ä","b":1}'), 16],
    [{ kind: "json", value: null }, SHA256("null"), 4],
    [{ kind: "bytes", base64: "AAEC" }, SHA256(new Uint8Array([0, 1, 2])), 3],
    [{ kind: "bytes", base64: "" }, SHA256(""), 0],
    [{ kind: "bytes", base64: "+/8=" }, SHA256(new Uint8Array([251, 255])), 2],
    [
      {
        kind: "external",
        content_ref: {
          uri: "https://a.example/b",
          content_hash: { algorithm: "sha256", value: HASH },
          encryption: "age",
        },
      },
      HASH,
      0,
    ],
  ];
  for (const [payload, hash, bytes] of rows) {
    const hashed = hashPayload(SHA256, payload);
    assert.ok(hashed !== null);
    assert.equal(hashed.text, canonicalize(asJson(payload)));
    assert.equal(hashed.identity, SHA256(`gate:payload:v1\0${hashed.text}`));
    assert.deepEqual(hashed.content_hash, { algorithm: "sha256", value: hash });
    assert.equal(hashed.bytes, bytes);
  }
});

Deno.test("hashPayload() accepts canonical base64 only", () => {
  for (const base64 of ["A", "AAE", "AAF=", "AA EC", "AAEC\n", "-_8=", 'AA"C']) {
    assert.equal(hashPayload(SHA256, { kind: "bytes", base64 }), null, base64);
  }
});
