/**
 * The record tree: a Merkle tree (RFC 6962, section 2.1) over the canonical bytes of the records of a run. It grows
 * leaf by leaf.
 *
 * @module
 */

import type { Sha256 } from "../../canonical/identity.ts";

const HASH_BYTES = 32;
const LEAF_PREFIX = 0x00;
const NODE_PREFIX = 0x01;

/** A growing tree. It keeps only the roots of its full subtrees, at most one for each bit of its size. */
export interface RecordTree {
  /** Adds a leaf by its {@link leafHash}. */
  readonly append: (leaf: string) => void;
  /** Leaves so far. */
  readonly size: () => number;
  /** Root over the leaves so far, 64 lower-case hex digits; the SHA-256 of no bytes where there are no leaves. */
  readonly root: () => string;
}

/** The hash of a leaf: SHA-256(0x00 || record), 64 lower-case hex digits. */
export function leafHash(sha256: Sha256, record: string | Uint8Array): string {
  if (typeof record === "string") return sha256(`\0${record}`);
  const preimage = new Uint8Array(1 + record.length);
  preimage[0] = LEAF_PREFIX;
  preimage.set(record, 1);
  return sha256(preimage);
}

/**
 * The hash of a node: SHA-256(0x01 || left || right).
 *
 * @throws {SyntaxError} If one of them is not hex
 * @throws {TypeError} If one of them is not 32 bytes
 */
export function nodeHash(sha256: Sha256, left: string, right: string): string {
  if (left.length !== 2 * HASH_BYTES || right.length !== 2 * HASH_BYTES) {
    throw new TypeError("Cannot hash node: expected two SHA-256");
  }
  const preimage = new Uint8Array(1 + 2 * HASH_BYTES);
  preimage[0] = NODE_PREFIX;
  preimage.subarray(1).setFromHex(left);
  preimage.subarray(1 + HASH_BYTES).setFromHex(right);
  return sha256(preimage);
}

/**
 * A tree without leaves, to append to.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { createHash } from "node:crypto";
 * import { leafHash, nodeHash, recordTree } from "@/runpack/format/merkle.ts";
 *
 * const sha256 = (data: string | Uint8Array) => createHash("sha256").update(data).digest("hex");
 * const tree = recordTree(sha256);
 * const leaves = ["a", "b", "c"].map((record) => leafHash(sha256, record));
 * leaves.forEach(tree.append);
 * const [a = "", b = "", c = ""] = leaves;
 * assert.equal(tree.root(), nodeHash(sha256, nodeHash(sha256, a, b), c));
 * ```
 */
export function recordTree(sha256: Sha256): RecordTree {
  // Roots of full subtrees, the largest first; their sizes are the bits of `size`.
  const roots: string[] = [];
  let size = 0;
  return {
    append(leaf): void {
      let root = leaf;
      for (let rest = size; rest % 2 === 1; rest = Math.floor(rest / 2)) {
        root = nodeHash(sha256, roots.pop() ?? "", root);
      }
      roots.push(root);
      size++;
    },
    size: () => size,
    root(): string {
      return roots.length === 0 ? sha256("") : roots.reduceRight((right, left) => nodeHash(sha256, left, right));
    },
  };
}

/** The largest power of two below a number of leaves, which is at least 2. */
function splitAt(leaves: number): number {
  let split = 1;
  while (split * 2 < leaves) split *= 2;
  return split;
}

/** Root over leaves by their hashes (RFC 6962, 2.1). */
export function rootOf(sha256: Sha256, leaves: readonly string[]): string {
  const tree = recordTree(sha256);
  leaves.forEach(tree.append);
  return tree.root();
}

function assertPlace(place: number, least: number, beyond: number): void {
  if (!Number.isSafeInteger(place) || place < least || place >= beyond) {
    throw new RangeError(`Cannot prove: expected a place from ${least} to ${beyond - 1}, got ${place}`);
  }
}

/**
 * The audit path of one leaf (RFC 6962, 2.1.1): the hashes that lead from it to the root, the lowest first.
 *
 * @throws {RangeError} If there is no such leaf
 */
export function inclusionProof(sha256: Sha256, leaves: readonly string[], index: number): string[] {
  assertPlace(index, 0, leaves.length);
  if (leaves.length === 1) return [];
  const split = splitAt(leaves.length);
  const left = leaves.slice(0, split);
  const right = leaves.slice(split);
  return index < split
    ? [...inclusionProof(sha256, left, index), rootOf(sha256, right)]
    : [...inclusionProof(sha256, right, index - split), rootOf(sha256, left)];
}

/**
 * The proof that a tree is an older one with leaves added (RFC 6962, 2.1.2).
 *
 * @param first Leaves of the older tree, at least 1
 * @throws {RangeError} If the older tree is larger, or has no leaves
 */
export function consistencyProof(sha256: Sha256, leaves: readonly string[], first: number): string[] {
  assertPlace(first, 1, leaves.length + 1);
  return subproof(sha256, leaves, first, true);
}

function subproof(sha256: Sha256, leaves: readonly string[], first: number, whole: boolean): string[] {
  if (first === leaves.length) return whole ? [] : [rootOf(sha256, leaves)];
  const split = splitAt(leaves.length);
  const left = leaves.slice(0, split);
  const right = leaves.slice(split);
  return first <= split
    ? [...subproof(sha256, left, first, whole), rootOf(sha256, right)]
    : [...subproof(sha256, right, first - split, false), rootOf(sha256, left)];
}

/** The statement of an audit path: a leaf is at an index of a tree. */
export interface Inclusion {
  readonly leaf: string;
  readonly index: number;
  readonly size: number;
  readonly root: string;
  readonly proof: readonly string[];
}

/** Whether an audit path leads from the leaf to the root (RFC 9162, 2.1.3.2). */
export function verifyInclusion(sha256: Sha256, { leaf, index, size, root, proof }: Inclusion): boolean {
  if (!Number.isSafeInteger(index) || index < 0 || index >= size) return false;
  let at = index;
  let last = size - 1;
  let hash = leaf;
  for (const sibling of proof) {
    if (last === 0 || !isHash(sibling)) return false;
    if (at % 2 === 1 || at === last) {
      hash = nodeHash(sha256, sibling, hash);
      while (at % 2 === 0 && at !== 0) [at, last] = [half(at), half(last)];
    } else hash = nodeHash(sha256, hash, sibling);
    [at, last] = [half(at), half(last)];
  }
  return last === 0 && hash === root;
}

/** The statement of a consistency proof: the second tree begins with the leaves of the first. */
export interface Consistency {
  readonly first: { readonly size: number; readonly root: string };
  readonly second: { readonly size: number; readonly root: string };
  readonly proof: readonly string[];
}

/** Whether a consistency proof holds (RFC 9162, 2.1.4.2). */
export function verifyConsistency(sha256: Sha256, { first, second, proof }: Consistency): boolean {
  const sizes = [first.size, second.size];
  if (!sizes.every(Number.isSafeInteger) || first.size < 1 || first.size > second.size) return false;
  if (first.size === second.size) return proof.length === 0 && first.root === second.root;
  if (!proof.every(isHash)) return false;
  let at = first.size - 1;
  let last = second.size - 1;
  while (at % 2 === 1) [at, last] = [half(at), half(last)];
  // The proof begins at the first tree where that tree is one full subtree.
  const [start, ...path] = at === 0 ? [first.root, ...proof] : proof;
  if (start === undefined) return false;
  let older = start;
  let newer = start;
  for (const sibling of path) {
    if (last === 0) return false;
    if (at % 2 === 1 || at === last) {
      [older, newer] = [nodeHash(sha256, sibling, older), nodeHash(sha256, sibling, newer)];
      while (at % 2 === 0 && at !== 0) [at, last] = [half(at), half(last)];
    } else newer = nodeHash(sha256, newer, sibling);
    [at, last] = [half(at), half(last)];
  }
  return last === 0 && older === first.root && newer === second.root;
}

function half(number: number): number {
  return Math.floor(number / 2);
}

function isHash(text: string): boolean {
  return /^[0-9a-f]{64}$/.test(text);
}
