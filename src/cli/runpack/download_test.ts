import assert from "node:assert/strict";
import { PART_BYTES } from "../../runpack/host/archive_parts.ts";
import { type PackParts, partsOf } from "./download.ts";

const IDENTITY = "ab".repeat(32);
const MOST = 2 ** 17 * PART_BYTES;
const LIMIT = /expected at most 131072 parts of at most 524288 bytes$/;
const FORM = /expected its bytes and part_bytes$/;

/** What a server says, and what is taken of it. */
const ROWS: readonly (readonly [unknown, PackParts | RegExp])[] = [
  [{ runpack_identity: IDENTITY, bytes: 1, part_bytes: 1 }, { bytes: 1, part_bytes: 1 }],
  [{ runpack_identity: IDENTITY, bytes: 9, part_bytes: PART_BYTES - 1 }, { bytes: 9, part_bytes: PART_BYTES - 1 }],
  [{ runpack_identity: IDENTITY, bytes: 9, part_bytes: PART_BYTES }, { bytes: 9, part_bytes: PART_BYTES }],
  [{ runpack_identity: IDENTITY, bytes: 9, part_bytes: PART_BYTES + 1 }, LIMIT],
  [{ runpack_identity: IDENTITY, bytes: MOST - 1, part_bytes: PART_BYTES }, {
    bytes: MOST - 1,
    part_bytes: PART_BYTES,
  }],
  [{ runpack_identity: IDENTITY, bytes: MOST, part_bytes: PART_BYTES }, { bytes: MOST, part_bytes: PART_BYTES }],
  [{ runpack_identity: IDENTITY, bytes: MOST + 1, part_bytes: PART_BYTES }, LIMIT],
  [{ runpack_identity: IDENTITY, bytes: 131_072, part_bytes: 1 }, { bytes: 131_072, part_bytes: 1 }],
  [{ runpack_identity: IDENTITY, bytes: 131_073, part_bytes: 1 }, LIMIT],
  [{ runpack_identity: "cd".repeat(32), bytes: 9, part_bytes: 9 }, FORM],
  [{ runpack_identity: IDENTITY, bytes: 0, part_bytes: 9 }, FORM],
  [{ runpack_identity: IDENTITY, bytes: 1.5, part_bytes: 9 }, FORM],
  [{ runpack_identity: IDENTITY, bytes: "9", part_bytes: 9 }, FORM],
  [[], FORM],
];

for (const [said, taken] of ROWS) {
  Deno.test(`partsOf() of ${JSON.stringify(said)}`, () => {
    const read = (): PackParts => partsOf(IDENTITY, JSON.stringify(said));
    if (taken instanceof RegExp) assert.throws(read, taken);
    else assert.deepEqual(read(), taken);
  });
}

Deno.test("partsOf() of no text", () => void assert.throws(() => partsOf(IDENTITY, undefined), FORM));
