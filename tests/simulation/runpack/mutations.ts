/**
 * Random single mutations of a pack: none may verify, none may end a verifier but by its answer, none may cost it more
 * than the pack itself.
 *
 * @module
 */

import assert from "node:assert/strict";
import {
  BUDGET_MEMBERS,
  type VerificationReport,
  type VerificationRequest,
} from "../../../src/runpack/verify/types.ts";
import { verifyRunpack } from "../../../src/runpack/verify/verify.ts";
import { randomOf } from "../crash/random.ts";
import { type MemoryPack, memorySource, PRIMITIVES } from "./memory.ts";

/** A number from 0 up to, but not, `below`. */
type Choose = (below: number) => number;

type Mutation = (bytes: Uint8Array, choose: Choose) => Uint8Array;

const changeByte: Mutation = (bytes, choose) => {
  const changed = bytes.slice();
  const at = choose(bytes.length);
  changed[at] = ((changed[at] ?? 0) + 1 + choose(255)) % 256;
  return changed;
};

const swapBytes: Mutation = (bytes, choose) => {
  const changed = bytes.slice();
  const a = choose(bytes.length);
  const b = choose(bytes.length);
  changed[a] = bytes[b] ?? 0;
  changed[b] = bytes[a] ?? 0;
  return changed;
};

/** What is done to the bytes of a manifest or an object. */
const MUTATIONS: readonly Mutation[] = [
  changeByte,
  changeByte,
  changeByte,
  (bytes, choose) => {
    const changed = bytes.slice();
    const at = choose(bytes.length);
    changed[at] = (changed[at] ?? 0) ^ (1 << choose(8));
    return changed;
  },
  (bytes, choose) => {
    const at = choose(bytes.length);
    return new Uint8Array([...bytes.subarray(0, at), ...bytes.subarray(at + 1)]);
  },
  (bytes, choose) => {
    const at = choose(bytes.length + 1);
    return new Uint8Array([...bytes.subarray(0, at), choose(256), ...bytes.subarray(at)]);
  },
  (bytes, choose) => bytes.slice(0, choose(bytes.length)),
  (bytes, choose) => new Uint8Array([...bytes, ...bytes.subarray(0, 1 + choose(bytes.length))]),
  swapBytes,
];

/** What is done to a pack as a whole. */
function mutate(pack: MemoryPack, choose: Choose): MemoryPack {
  const names = [...pack.objects.keys()];
  const name = names[choose(names.length)] ?? "";
  const objects = new Map(pack.objects);
  switch (choose(16)) {
    case 0:
      objects.delete(name);
      return { ...pack, objects };
    case 1:
      objects.set(choose(2).toString().repeat(64), new Uint8Array(choose(100)));
      return { ...pack, objects };
    case 2: {
      const other = names[choose(names.length)] ?? "";
      objects.set(name, pack.objects.get(other) ?? new Uint8Array());
      return { ...pack, objects };
    }
    case 3:
    case 4:
    case 5:
    case 6:
      return { ...pack, manifest: mutateBytes(pack.manifest, choose) };
    default:
      objects.set(name, mutateBytes(pack.objects.get(name) ?? new Uint8Array(), choose));
      return { ...pack, objects };
  }
}

function mutateBytes(bytes: Uint8Array, choose: Choose): Uint8Array {
  return MUTATIONS[choose(MUTATIONS.length)]?.(bytes, choose) ?? bytes;
}

function isSame(a: MemoryPack, b: MemoryPack): boolean {
  const same = (left: Uint8Array | undefined, right: Uint8Array | undefined): boolean =>
    left?.length === right?.length && (left?.every((byte, at) => byte === right?.[at]) ?? true);
  return same(a.manifest, b.manifest) && a.objects.size === b.objects.size &&
    [...a.objects].every(([identity, bytes]) => same(bytes, b.objects.get(identity)));
}

/** Claims that hold in one report, and not in another. */
function lost(before: VerificationReport, after: VerificationReport): number {
  return before.claims.filter(({ status }, index) =>
    status.status === "satisfied" && after.claims[index]?.status.status !== "satisfied"
  ).length;
}

/**
 * Verifies random mutations of a pack, each in one of both profiles.
 *
 * @returns How many there were
 */
export async function verifyMutations(pack: MemoryPack, count: number, seed: number): Promise<number> {
  const random = randomOf(seed);
  const choose: Choose = (below) => Math.floor(random() * below);
  const pristine = new Map<string, VerificationReport>();
  const verify = (subject: MemoryPack, request: VerificationRequest): Promise<VerificationReport> =>
    verifyRunpack(memorySource(subject), request, PRIMITIVES);
  let tried = 0;
  while (tried < count) {
    const mutated = mutate(pack, choose);
    if (isSame(pack, mutated)) continue;
    tried++;
    const profile = tried % 2 === 0 ? "full_replay_v1" : "integrity_only_v1";
    const request = { runpack_identity: null, profile, budget: null, trusted_keys: null } as const;
    const before = pristine.get(profile) ?? await verify(pack, request);
    pristine.set(profile, before);
    const named = { ...request, runpack_identity: before.runpack_identity };
    const after = await verify(mutated, named);
    assert.ok(lost(before, after) > 0, `seed ${seed}, mutation ${tried} verifies`);
    for (const member of BUDGET_MEMBERS) {
      const allowed = before.budget[member] + (member === "bytes_read" || member === "canonical_work_bytes" ? 2048 : 0);
      assert.ok(
        after.budget[member] <= allowed,
        `seed ${seed}, mutation ${tried} takes ${member} ${after.budget[member]}`,
      );
    }
  }
  return tried;
}
