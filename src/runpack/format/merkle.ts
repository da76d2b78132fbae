/**
 * The record tree: a Merkle tree (RFC 6962, section 2.1) over the canonical bytes of the records of a run. It grows
 * leaf by leaf.
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
