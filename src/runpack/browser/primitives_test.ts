import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import fc from "../../../tests/packages/fast_check.ts";
import { decodeBase64 } from "../../canonical/base64.ts";
import { HOST_PRIMITIVES } from "../../evidence/host_primitives.ts";
import { verifyEd25519 } from "./ed25519.ts";
import { hashStream, sha256 } from "./sha256.ts";
import { Point } from "@noble/ed25519";
import { sha512 } from "@noble/hashes/sha2.js";

const VECTORS = new URL("../../../tests/vectors/run/evidence_statements.json", import.meta.url);

interface SignatureVectors {
  readonly keys: readonly { key_id: string; public_key: string }[];
  readonly statements: readonly { name: string; canonical: string; key_id: string; signature: string }[];
  readonly refused: readonly { name: string; public_key: string; message: string; signature: string }[];
}

const bytesOf = (length: number): Uint8Array => Uint8Array.from({ length }, (_, index) => index * 7 % 256);

Deno.test("sha256() agrees with the runtime at every length around its blocks", () => {
  for (const length of [0, 1, 55, 56, 57, 63, 64, 65, 111, 112, 113, 119, 127, 128, 129, 1000]) {
    const bytes = bytesOf(length);
    assert.equal(sha256(bytes), createHash("sha256").update(bytes).digest("hex"), `${length}`);
  }
});

Deno.test("hashStream() hashes the whole, however it is split", () => {
  fc.assert(fc.property(fc.array(fc.uint8Array({ maxLength: 200 }), { maxLength: 8 }), (pieces) => {
    const ours = hashStream();
    const theirs = createHash("sha256");
    for (const piece of pieces) {
      ours.update(piece);
      theirs.update(piece);
    }
    assert.equal(ours.digest(), theirs.digest("hex"));
  }));
});

Deno.test("sha256() hashes the UTF-8 bytes of a string", () => {
  assert.equal(sha256("grün \u{1f600}"), HOST_PRIMITIVES.sha256("grün \u{1f600}"));
});

Deno.test("verifyEd25519() accepts and rejects as the vectors expect", async () => {
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

const ORDER = Point.CURVE().n;
/** A point of order 8: adding it to a point leaves the equation with a cofactor as it is. */
const TORSION = Point.fromHex("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05");

function scalar(bytes: Uint8Array): bigint {
  return bytes.reduceRight((high, byte) => high << 8n | BigInt(byte), 0n) % ORDER;
}

function signature(key: Point, secret: bigint, commitment: Point, nonce: bigint, message: string): Uint8Array {
  const point = commitment.toBytes();
  const bytes = new TextEncoder().encode(message);
  const challenge = scalar(sha512.create().update(point).update(key.toBytes()).update(bytes).digest());
  let response = (nonce + challenge * secret) % ORDER;
  const tail = Uint8Array.from({ length: 32 }, () => {
    const byte = Number(response & 0xffn);
    response >>= 8n;
    return byte;
  });
  return Uint8Array.from([...point, ...tail]);
}

Deno.test("verifyEd25519() agrees with the runtime on keys and signatures of mixed order", () => {
  const seen = new Set<string>();
  for (let round = 1; round <= 24; round++) {
    const secret = scalar(createHash("sha512").update(`secret ${round}`).digest());
    const nonce = scalar(createHash("sha512").update(`nonce ${round}`).digest());
    const honest = { key: Point.BASE.multiply(secret), commitment: Point.BASE.multiply(nonce) };
    const multiples = TORSION.multiply(BigInt(round % 8), false);
    for (
      const [key, commitment] of [
        [honest.key, honest.commitment],
        [honest.key.add(multiples), honest.commitment],
        [honest.key, honest.commitment.add(multiples)],
        [honest.key.add(multiples), honest.commitment.add(multiples)],
      ] as const
    ) {
      const made = signature(key, secret, commitment, nonce, `${round}`);
      const expected = HOST_PRIMITIVES.verifyEd25519(key.toBytes(), `${round}`, made);
      assert.equal(verifyEd25519(key.toBytes(), `${round}`, made), expected, `${round}`);
      seen.add(`${round % 8 === 0 ? "honest" : "mixed"} ${expected}`);
    }
  }
  assert.ok(seen.has("honest true") && seen.has("mixed false") && !seen.has("honest false"));
});
