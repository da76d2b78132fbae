/**
 * The golden runpacks: how they are made, and the one command that writes them. What is written once is never
 * changed.
 *
 * @module
 */

import { Buffer } from "node:buffer";
import { join } from "node:path";
import { canonicalize } from "../../../src/canonical/canonicalize.ts";
import { leafHash } from "../../../src/runpack/format/merkle.ts";
import { consistencyProof, inclusionProof, rootOf } from "../../../src/runpack/format/merkle_fixture.ts";
import { openContents } from "../../../src/runpack/host/contents.ts";
import { writeFolder } from "../../../src/runpack/host/folder.ts";
import { openLocalRepository } from "../../../src/runpack/host/local_repository.ts";
import { createPublisher, type Publication } from "../../../src/runpack/host/publish.ts";
import { type PackSigner, packSigner } from "../../../src/runpack/host/signing.ts";
import type { RunStore } from "../../../src/store/types.ts";
import { SHA256 } from "../kernel/fixture.ts";
import { playGoldenRun, type ProcedureAt, storeRun } from "./run.ts";
import { WAL_FULL, withStores } from "../store/open.ts";

/** Where the golden runpacks of this format lie. */
export const GOLDEN_FOLDER = new URL("../../vectors/runpack/v6", import.meta.url).pathname;

/** The key of RFC 8032, 7.1, test 1, which signs nothing but golden runpacks. */
export function goldenSigner(): PackSigner {
  const seed = Buffer.from("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60", "hex");
  const signer = packSigner(SHA256, seed);
  if (signer === null) throw new TypeError("Cannot sign: the seed is invalid");
  return signer;
}

/** A golden runpack: what it withholds, and whether it is signed. */
interface GoldenPack {
  readonly name: string;
  readonly withheld: readonly string[];
  readonly isSigned: boolean;
}

/** The golden runs: the procedures that made their records, and the golden runpacks of each. */
export const GOLDEN_RUNS: readonly { procedureAt: ProcedureAt; packs: readonly GoldenPack[] }[] = [
  {
    procedureAt: () => "gate-kernel-1",
    packs: [
      { name: "plain", withheld: [], isSigned: false },
      { name: "withheld", withheld: ["approved", "log"], isSigned: false },
      { name: "signed", withheld: [], isSigned: true },
    ],
  },
  { procedureAt: () => "gate-kernel-2", packs: [{ name: "kernel_2", withheld: [], isSigned: false }] },
  {
    procedureAt: (revision) => revision <= 6 ? "gate-kernel-1" : "gate-kernel-2",
    packs: [{ name: "kernel_1_then_2", withheld: [], isSigned: false }],
  },
];

/** Publishes a run of a store into the local repository in a folder. */
export function publishTo(
  root: string,
  runs: RunStore,
  runKey: { readonly namespace_id: number; readonly run_id: string },
  withheld_conditions: readonly string[] = [],
  signer: PackSigner | null = null,
): Promise<Publication> {
  const local = openLocalRepository(root);
  return createPublisher({ sha256: SHA256, runs, local, mirror: null, signer }).publish(runKey, {
    withheld_conditions,
  });
}

/** Writes the golden runpacks of a run below a folder, each in a folder of its name. The store has to be empty. */
export async function writeGoldenPacks(
  { procedureAt, packs }: typeof GOLDEN_RUNS[number],
  runs: RunStore,
  scratch: string,
  folder: string,
): Promise<void> {
  const run = playGoldenRun(0, procedureAt);
  await storeRun(runs, run);
  for (const { name, withheld, isSigned } of packs) {
    const root = join(scratch, name);
    const published = await publishTo(root, runs, run.state.run_key, withheld, isSigned ? goldenSigner() : null);
    if (published.outcome !== "published") throw new Error(JSON.stringify(published));
    const contents = await openContents(SHA256, openLocalRepository(root), published.runpack_identity);
    if (contents === null) throw new Error("Cannot find the runpack that was just published");
    await writeFolder(join(folder, name), contents);
  }
}

/** What `signed.key.json` holds. */
export function goldenKeyFile(): string {
  const { keyId, publicKey } = goldenSigner();
  return `${canonicalize({ keyid: keyId, public_key: Buffer.from(publicKey).toString("base64") })}\n`;
}

/** What `merkle.json` holds: roots and proofs of trees whose leaves are the decimal numbers from 0. */
export function merkleVectors(): string {
  const leaves = Array.from({ length: 70 }, (_, index) => leafHash(SHA256, String(index)));
  const sizes = [1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17, 31, 32, 33, 64, 70];
  const roots = sizes.map((size) => ({ size, root: rootOf(SHA256, leaves.slice(0, size)) }));
  const inclusion = [[1, 0], [2, 1], [7, 6], [8, 0], [17, 16], [70, 33]].map(([size = 0, index = 0]) => ({
    size,
    index,
    proof: inclusionProof(SHA256, leaves.slice(0, size), index),
  }));
  const consistency = [[1, 1], [1, 2], [3, 7], [4, 7], [6, 8], [8, 17], [33, 70]].map(([first = 0, second = 0]) => ({
    first,
    second,
    proof: consistencyProof(SHA256, leaves.slice(0, second), first),
  }));
  const about = "Leaf number n is the decimal text of n, counted from 0";
  return `${JSON.stringify({ about, roots, inclusion, consistency }, null, 2)}\n`;
}

if (import.meta.main) {
  // What was written once is never written again.
  const written = new Set([...Deno.readDirSync(GOLDEN_FOLDER)].map(({ name }) => name));
  for (const run of GOLDEN_RUNS.filter(({ packs }) => packs.every(({ name }) => !written.has(name)))) {
    await withStores(WAL_FULL, {}, async ({ runs }, scratch) => {
      await writeGoldenPacks(run, runs, join(scratch, "repositories"), GOLDEN_FOLDER);
    });
  }
  await Deno.writeTextFile(join(GOLDEN_FOLDER, "signed.key.json"), goldenKeyFile());
  await Deno.writeTextFile(join(GOLDEN_FOLDER, "..", "merkle.json"), merkleVectors());
}
