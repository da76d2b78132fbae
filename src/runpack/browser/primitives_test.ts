import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import fc from "fast-check";
import { decodeBase64 } from "../../canonical/base64.ts";
import { encodeHex } from "../../canonical/hex.ts";
import { HOST_PRIMITIVES } from "../../evidence/host_primitives.ts";
import { verifyEd25519 } from "./ed25519.ts";
import { hashStream, sha256 } from "./sha256.ts";
import { sha512 } from "./sha512.ts";

const VECTORS = new URL("../../../tests/vectors/run/evidence_statements.json", import.meta.url);

interface SignatureVectors {
  readonly keys: readonly { key_id: string; public_key: string }[];
  readonly statements: readonly { name: string; canonical: string; key_id: string; signature: string }[];
  readonly refused: readonly { name: string; public_key: string; message: string; signature: string }[];
}

const bytesOf = (length: number): Uint8Array => Uint8Array.from({ length }, (_, index) => index * 7 % 256);

Deno.test("sha256() and sha512() agree with the runtime at every length around their blocks", () => {
  for (const length of [0, 1, 55, 56, 57, 63, 64, 65, 111, 112, 113, 119, 127, 128, 129, 1000]) {
    const bytes = bytesOf(length);
    assert.equal(sha256(bytes), createHash("sha256").update(bytes).digest("hex"), `${length}`);
    assert.equal(encodeHex(sha512(bytes)), createHash("sha512").update(bytes).digest("hex"), `${length}`);
  }
});

Deno.test("hashStream() gives the hash of the whole however it is cut into pieces", () => {
  fc.assert(fc.property(fc.array(fc.uint8Array({ maxLength: 200 }), { maxLength: 8 }), (pieces) => {
    const [ours, theirs] = [hashStream(), createHash("sha256")];
    for (const piece of pieces) {
      ours.update(piece);
      theirs.update(piece);
    }
    assert.equal(ours.digest(), theirs.digest("hex"));
  }));
});

Deno.test("sha256() takes a string by its UTF-8 bytes", () => {
  assert.equal(sha256("grün \u{1f600}"), HOST_PRIMITIVES.sha256("grün \u{1f600}"));
});

Deno.test("verifyEd25519() verifies and refuses what the vectors say", async () => {
  const { keys, statements, refused } = JSON.parse(await Deno.readTextFile(VECTORS)) as SignatureVectors;
  const decoded = (text: string): Uint8Array => decodeBase64(text) ?? new Uint8Array();
  for (const { name, canonical, key_id, signature } of statements) {
    const key = decoded(keys.find((one) => one.key_id === key_id)?.public_key ?? "");
    assert.ok(verifyEd25519(key, canonical, decoded(signature)), name);
    assert.ok(!verifyEd25519(key, `${canonical} `, decoded(signature)), name);
  }
  for (const { name, public_key, message, signature } of refused) {
    assert.ok(!verifyEd25519(decoded(public_key), message, decoded(signature)), name);
  }
});
