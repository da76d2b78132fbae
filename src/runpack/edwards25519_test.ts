import assert from "node:assert/strict";
import { add, BASE, decode, isPublicKey, isSame, multiply } from "./edwards25519.ts";

/** The order of the base point. */
const ORDER = 2n ** 252n + 27742317777372353535851937790883648493n;

Deno.test("multiply() and add() agree with each other, and the base point has its order", () => {
  assert.ok(BASE !== null);
  assert.ok(isSame(add(BASE, multiply(4n, BASE)), multiply(5n, BASE)));
  assert.ok(isSame(multiply(ORDER + 1n, BASE), BASE));
  assert.ok(!isSame(multiply(2n, BASE), BASE));
});

Deno.test("decode() and isPublicKey() take the bytes of a point, and about half of all others", () => {
  // RFC 8032, 7.1, test 1: a public key, and the private one that it belongs to.
  const key = Uint8Array.fromHex("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a");
  const secret = Uint8Array.fromHex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60");
  assert.deepEqual([isPublicKey(key), isPublicKey(secret), isPublicKey(key.subarray(1))], [true, false, false]);
  const points = Array.from({ length: 256 }, (_, byte) => decode(new Uint8Array(32).fill(byte)) !== null);
  const count = points.filter(Boolean).length;
  assert.ok(count > 80 && count < 176, `${count}`);
});
