/**
 * The proofs of RFC 6962 and RFC 9162 over a record tree. They show that the roots of checkpoints support them; no part
 * of gate makes or reads proofs.
 */

import type { Sha256 } from "../../canonical/identity.ts";
import { nodeHash, recordTree } from "./merkle.ts";

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
