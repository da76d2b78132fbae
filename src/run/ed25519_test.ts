import assert from "node:assert/strict";
import { KEY_1 } from "../../tests/simulation/kernel/fixture.ts";
import { decodeHex } from "../canonical/hex.ts";
import { isStrictEd25519 } from "./ed25519.ts";

const KEY = Uint8Array.fromBase64(KEY_1.public_key);
const SIGNATURE = Uint8Array.fromBase64(KEY_1.sign("x"));

/** 32 bytes from big-endian hex. */
function little(hex: string): Uint8Array {
  const bytes = decodeHex(hex.padStart(64, "0"));
  assert.ok(bytes !== null);
  return bytes.reverse();
}

function signature(nonce: Uint8Array, scalar: Uint8Array): Uint8Array {
  return new Uint8Array([...nonce, ...scalar]);
}

const NONCE = SIGNATURE.subarray(0, 32);
const SCALAR = SIGNATURE.subarray(32);
const SIGN = "8".padEnd(64, "0");

/** Adds numbers in hex. */
function plus(hex: string, more: string): string {
  return (BigInt(`0x${hex}`) + BigInt(`0x${more}`)).toString(16);
}

const PRIME = "7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffed";
const ORDER = "1000000000000000000000000000000014def9dea2f79cd65812631a5cf5d3ed";

Deno.test("isStrictEd25519() scalar S: 0, one below the group order, the order, one above, all ones", () => {
  const rows: readonly [string, boolean][] = [
    ["0", true],
    [(BigInt(`0x${ORDER}`) - 1n).toString(16), true],
    [ORDER, false],
    [plus(ORDER, "1"), false],
    ["f".repeat(64), false],
  ];
  for (const [scalar, strict] of rows) {
    assert.equal(isStrictEd25519(KEY, signature(NONCE, little(scalar))), strict, scalar);
  }
});

/** The y coordinates of all points of small order, in every encoding below 2^255. */
const SMALL = [
  "0",
  "1",
  (BigInt(`0x${PRIME}`) - 1n).toString(16),
  PRIME,
  plus(PRIME, "1"),
  "7a03ac9277fdc74ec6cc392cfa53202a0f67100d760b3cba4fd84d3d706a17c7",
  "5fc536d880238b13933c6d305acdfd5f098eff289f4c345b027b2c28f95e826",
];

Deno.test("isStrictEd25519() rejects key and nonce of small order, with and without the sign bit", () => {
  for (const y of SMALL) {
    for (const point of [little(y), little(plus(y, SIGN))]) {
      assert.ok(!isStrictEd25519(point, SIGNATURE), y);
      assert.ok(!isStrictEd25519(KEY, signature(point, SCALAR)), y);
    }
  }
});

Deno.test("isStrictEd25519() y coordinate: accepts 2 and p - 2, rejects p + 2 and the greatest", () => {
  const rows: readonly [string, boolean][] = [
    ["2", true],
    [(BigInt(`0x${PRIME}`) - 2n).toString(16), true],
    [plus(PRIME, "2"), false],
    [`7${"f".repeat(63)}`, false],
  ];
  for (const [y, strict] of rows) {
    for (const point of [little(y), little(plus(y, SIGN))]) {
      assert.equal(isStrictEd25519(point, SIGNATURE), strict, y);
      assert.equal(isStrictEd25519(KEY, signature(point, SCALAR)), strict, y);
    }
  }
});

Deno.test("isStrictEd25519() lengths: 31, 32, 33 and 63, 64, 65", () => {
  const longKey = new Uint8Array([...KEY, 0]);
  for (const length of [31, 32, 33]) {
    assert.equal(isStrictEd25519(longKey.subarray(0, length), SIGNATURE), length === 32);
  }
  for (const length of [63, 64, 65]) {
    const bytes = new Uint8Array(length);
    bytes.set(SIGNATURE.subarray(0, length));
    assert.equal(isStrictEd25519(KEY, bytes), length === 64);
  }
});
