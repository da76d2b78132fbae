import assert from "node:assert/strict";
import fc from "../../../tests/packages/fast_check.ts";

import { SHA256 } from "../../../tests/simulation/kernel/fixture.ts";
import { leafHash, nodeHash, recordTree } from "./merkle.ts";
import { consistencyProof, inclusionProof, rootOf, verifyConsistency, verifyInclusion } from "./merkle_fixture.ts";

/** The definition of RFC 6962, 2.1, word by word: what the incremental tree is compared with. */
function definedRoot(records: readonly string[]): string {
  if (records.length === 0) return SHA256("");
  if (records.length === 1) return leafHash(SHA256, records[0] ?? "");
  const split = 2 ** Math.floor(Math.log2(records.length - 1));
  return nodeHash(SHA256, definedRoot(records.slice(0, split)), definedRoot(records.slice(split)));
}

const recordsOf = (size: number): string[] => Array.from({ length: size }, (_, index) => `{"revision":${index + 1}}`);
const leavesOf = (size: number): string[] => recordsOf(size).map((record) => leafHash(SHA256, record));

Deno.test("recordTree() has the root of RFC 6962 at every size from 0 to 70", () => {
  const tree = recordTree(SHA256);
  for (const size of Array.from({ length: 71 }, (_, index) => index)) {
    assert.equal(tree.size(), size);
    assert.equal(tree.root(), definedRoot(recordsOf(size)));
    tree.append(leafHash(SHA256, `{"revision":${size + 1}}`));
  }
});

Deno.test("recordTree() agrees with the known answers of Certificate Transparency", () => {
  // Leaves and roots of the test data that certificate-transparency-go publishes.
  const inputs = ["", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f"];
  const roots = [
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
  ];
  const tree = recordTree(SHA256);
  inputs.forEach((hex, index) => {
    tree.append(leafHash(SHA256, Uint8Array.fromHex(hex)));
    assert.equal(tree.root(), roots[index]);
  });
});

Deno.test("leafHash() of a text is that of its bytes", () => {
  fc.assert(fc.property(fc.string({ unit: "grapheme" }), (text) => {
    assert.equal(leafHash(SHA256, text), leafHash(SHA256, new TextEncoder().encode(text)));
  }));
});

Deno.test("verifyInclusion() accepts each proof for its own index alone", () => {
  for (const size of [1, 2, 3, 4, 5, 7, 8, 9, 16, 17]) {
    const leaves = leavesOf(size);
    const root = rootOf(SHA256, leaves);
    leaves.forEach((leaf, index) => {
      const proof = inclusionProof(SHA256, leaves, index);
      const whole = { leaf, index, size, root, proof };
      assert.equal(verifyInclusion(SHA256, whole), true, `${index} of ${size}`);
      assert.equal(verifyInclusion(SHA256, { ...whole, index: index + 1 }), false);
      assert.equal(verifyInclusion(SHA256, { ...whole, leaf: SHA256("other") }), false);
      assert.equal(verifyInclusion(SHA256, { ...whole, proof: [...proof, root] }), false);
      assert.equal(verifyInclusion(SHA256, { ...whole, proof: ["no hash", ...proof.slice(1)] }), false);
      if (proof.length > 0) assert.equal(verifyInclusion(SHA256, { ...whole, proof: proof.slice(1) }), false);
    });
  }
});

Deno.test("verifyConsistency() accepts each proof for its own two trees alone", () => {
  const leaves = leavesOf(20);
  for (let second = 1; second <= 20; second++) {
    for (let first = 1; first <= second; first++) {
      const proof = consistencyProof(SHA256, leaves.slice(0, second), first);
      const older = { size: first, root: rootOf(SHA256, leaves.slice(0, first)) };
      const newer = { size: second, root: rootOf(SHA256, leaves.slice(0, second)) };
      const whole = { first: older, second: newer, proof };
      assert.equal(verifyConsistency(SHA256, whole), true, `${first} of ${second}`);
      assert.equal(verifyConsistency(SHA256, { ...whole, first: { ...older, root: SHA256("other") } }), false);
      assert.equal(verifyConsistency(SHA256, { ...whole, second: { ...newer, root: SHA256("other") } }), false);
      assert.equal(verifyConsistency(SHA256, { ...whole, proof: [...proof, newer.root] }), false);
      if (proof.length > 0) assert.equal(verifyConsistency(SHA256, { ...whole, proof: proof.slice(1) }), false);
    }
  }
});

Deno.test("verifyConsistency() rejects a changed history", () => {
  fc.assert(fc.property(fc.integer({ min: 2, max: 40 }), fc.nat(), fc.nat(), (size, firstSeed, changeSeed) => {
    const leaves = leavesOf(size);
    const first = 1 + firstSeed % (size - 1);
    const changed = leaves.with(changeSeed % first, SHA256("forged"));
    const older = { size: first, root: rootOf(SHA256, leaves.slice(0, first)) };
    const newer = { size, root: rootOf(SHA256, changed) };
    const proof = consistencyProof(SHA256, changed, first);
    assert.equal(verifyConsistency(SHA256, { first: older, second: newer, proof }), false);
  }));
});

Deno.test("proofs are refused for places that are not there", () => {
  const leaves = leavesOf(3);
  for (const place of [-1, 3, 0.5]) assert.throws(() => inclusionProof(SHA256, leaves, place), RangeError);
  for (const place of [0, 4, 0.5]) assert.throws(() => consistencyProof(SHA256, leaves, place), RangeError);
  assert.throws(() => nodeHash(SHA256, "00", SHA256("")), TypeError);
});
