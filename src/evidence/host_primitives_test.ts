import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { KEY_1, KEY_2 } from "../../tests/simulation/kernel/fixture.ts";
import { sha256, verifyEd25519 } from "./host_primitives.ts";

const hex = (text: string): Uint8Array => Uint8Array.fromHex(text);
const bytes = (base64: string): Uint8Array => Uint8Array.fromBase64(base64);

const KEY = bytes(KEY_1.public_key);
const SIGNATURE = bytes(KEY_1.sign("x"));

/** The group order of edwards25519. */
const ORDER = 2n ** 252n + 27742317777372353535851937790883648493n;

function number(little: Uint8Array): bigint {
  return BigInt(`0x${Buffer.from(little).reverse().toString("hex")}`);
}

/** A signature with its scalar S replaced. */
function withScalar(signature: Uint8Array, scalar: bigint): Uint8Array {
  const little = Buffer.from(scalar.toString(16).padStart(64, "0"), "hex").reverse();
  return new Uint8Array([...signature.subarray(0, 32), ...little]);
}

function flipped(data: Uint8Array, bit: number): Uint8Array {
  const copy = data.slice();
  copy[bit >> 3] = (copy[bit >> 3] ?? 0) ^ (1 << (bit & 7));
  return copy;
}

Deno.test("sha256() implements FIPS 180-4 and hashes strings as UTF-8", () => {
  const abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
  assert.equal(sha256("abc"), abc);
  assert.equal(sha256(new TextEncoder().encode("abc")), abc);
  assert.equal(sha256("ä"), sha256(new Uint8Array([0xc3, 0xa4])));
});

Deno.test("verifyEd25519() accepts the signatures of RFC 8032, 7.1", () => {
  const rows: readonly [string, string, string][] = [
    [
      KEY_1.public_key,
      "",
      "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b",
    ],
    [
      KEY_2.public_key,
      "r",
      "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
    ],
  ];
  for (const [key, message, signature] of rows) {
    assert.ok(verifyEd25519(bytes(key), message, hex(signature)));
    assert.ok(!verifyEd25519(bytes(key), `${message} `, hex(signature)));
  }
});

Deno.test("verifyEd25519() refuses another key, another message, and any bit flipped", () => {
  assert.ok(verifyEd25519(KEY, "x", SIGNATURE));
  assert.ok(!verifyEd25519(bytes(KEY_2.public_key), "x", SIGNATURE));
  assert.ok(!verifyEd25519(KEY, "y", SIGNATURE));
  for (let bit = 0; bit < 512; bit++) assert.ok(!verifyEd25519(KEY, "x", flipped(SIGNATURE, bit)), `${bit}`);
  for (let bit = 0; bit < 256; bit++) assert.ok(!verifyEd25519(flipped(KEY, bit), "x", SIGNATURE), `${bit}`);
});

Deno.test("verifyEd25519() refuses every S that is the same modulo the group order", () => {
  const scalar = number(SIGNATURE.subarray(32));
  assert.ok(verifyEd25519(KEY, "x", withScalar(SIGNATURE, scalar)));
  for (let multiple = 1n; scalar + multiple * ORDER < 2n ** 256n; multiple++) {
    assert.ok(!verifyEd25519(KEY, "x", withScalar(SIGNATURE, scalar + multiple * ORDER)), `${multiple}`);
  }
});

Deno.test("verifyEd25519() refuses lengths that are not 32 and 64", () => {
  const longer = new Uint8Array([...SIGNATURE, 0]);
  for (const signature of [new Uint8Array(), SIGNATURE.subarray(0, 63), longer]) {
    assert.ok(!verifyEd25519(KEY, "x", signature));
  }
  for (const key of [new Uint8Array(), KEY.subarray(0, 31), new Uint8Array([...KEY, 0])]) {
    assert.ok(!verifyEd25519(key, "x", SIGNATURE));
  }
});

/** All encodings of the points of small order, including those with y >= p or a redundant sign bit. */
const SMALL_ORDER = [
  "0100000000000000000000000000000000000000000000000000000000000000",
  "0100000000000000000000000000000000000000000000000000000000000080",
  "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
  "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
  "0000000000000000000000000000000000000000000000000000000000000000",
  "0000000000000000000000000000000000000000000000000000000000000080",
  "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
  "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
  "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
  "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
  "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
  "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
  "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
  "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
].map(hex);

Deno.test("verifyEd25519() refuses keys and nonces of small order, whose signatures are valid for many messages", () => {
  const zero = new Uint8Array(32);
  for (const key of SMALL_ORDER) {
    for (const nonce of SMALL_ORDER) {
      const signature = new Uint8Array([...nonce, ...zero]);
      for (let index = 0; index < 16; index++) assert.ok(!verifyEd25519(key, `message ${index}`, signature));
    }
    assert.ok(!verifyEd25519(KEY, "x", new Uint8Array([...key, ...SIGNATURE.subarray(32)])));
  }
});

Deno.test("verifyEd25519() refuses a key that is not a point of the curve", () => {
  // y = 2 has no x.
  const key = new Uint8Array(32);
  key[0] = 2;
  assert.ok(!verifyEd25519(key, "x", SIGNATURE));
});
