/**
 * Packs in memory, which tests may take apart and put together again.
 *
 * @module
 */

import { createHash } from "node:crypto";
import { canonicalBytes } from "../../../src/canonical/canonicalize.ts";
import { identifyBytes, type Identity } from "../../../src/canonical/identity.ts";
import type { JsonValue } from "../../../src/canonical/json.ts";
import { HOST_PRIMITIVES } from "../../../src/evidence/host_primitives.ts";
import { objectName } from "../../../src/runpack/format/archive.ts";
import { exportRun, type ExportSource } from "../../../src/runpack/export.ts";
import { runpackIdentity } from "../../../src/runpack/format/manifest.ts";
import type { PackSource } from "../../../src/runpack/format/types.ts";
import type {
  VerificationPrimitives,
  VerificationReport,
  VerificationRequest,
} from "../../../src/runpack/verify/types.ts";
import { type Examination, examineRunpack } from "../../../src/runpack/verify/verify.ts";
import type { PlayedRun } from "./run.ts";

/** A pack as its parts. */
export interface MemoryPack {
  readonly manifest: Uint8Array;
  readonly objects: ReadonlyMap<Identity, Uint8Array>;
}

/** What a verifier is handed on this runtime, without a JSON Schema validator. */
export const PRIMITIVES: VerificationPrimitives = {
  ...HOST_PRIMITIVES,
  hashStream: () => {
    const hash = createHash("sha256");
    return {
      update: (chunk) => void hash.update(chunk),
      digest: () => hash.digest("hex"),
    };
  },
};

/** A source over a pack in memory, in chunks of a size. */
export function memorySource(pack: MemoryPack, chunkBytes = 65_536): PackSource {
  return {
    manifest: () => Promise.resolve(pack.manifest),
    object: (identity, maximumBytes) => {
      const bytes = pack.objects.get(identity);
      return bytes === undefined ? "missing" : chunksOf(bytes.subarray(0, maximumBytes + 1), chunkBytes);
    },
    list: () => namesOf(pack),
  };
}

async function* chunksOf(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield await Promise.resolve(bytes.subarray(at, at + size));
}

async function* namesOf(pack: MemoryPack): AsyncGenerator<string> {
  for (const identity of pack.objects.keys()) yield await Promise.resolve(objectName(identity));
}

/** Exports a run that was played. */
export async function packOf(
  run: PlayedRun,
  revision: number = run.records.length,
  changes: Partial<ExportSource> = {},
): Promise<MemoryPack> {
  const { scenario_id, scenario_law_identity, law } = run.law;
  const stream = exportRun(HOST_PRIMITIVES.sha256, {
    run_key: run.state.run_key,
    head: { record_id: run.records[revision - 1]?.record_id ?? "", revision },
    scenario_id,
    scenario_law_identity,
    law,
    records: (after, limit) => Promise.resolve(run.records.slice(after, after + limit)),
    artifact: (identity) => Promise.resolve(run.artifacts.find((artifact) => artifact.identity === identity) ?? null),
    withheld_conditions: [],
    ...changes,
  });
  const objects = new Map<Identity, Uint8Array>();
  for (;;) {
    const next = await stream.next();
    if (next.done === true) return { manifest: next.value.bytes, objects };
    objects.set(next.value.identity, next.value.bytes);
  }
}

/** The identity of a pack. */
export function identityOf(pack: MemoryPack): Identity {
  return runpackIdentity(HOST_PRIMITIVES.sha256, pack.manifest);
}

/** A whole verification of a pack that has to be itself. */
export async function verifyWhole(
  pack: MemoryPack,
  changes: Partial<VerificationRequest> = {},
): Promise<VerificationReport> {
  return (await examineWhole(pack, changes)).report;
}

/** A whole verification, with what the run came to. */
export function examineWhole(pack: MemoryPack, changes: Partial<VerificationRequest> = {}): Promise<Examination> {
  const request = {
    runpack_identity: identityOf(pack),
    profile: "full_replay_v1",
    budget: null,
    trusted_keys: null,
  } as const;
  return examineRunpack(memorySource(pack), { ...request, ...changes }, PRIMITIVES);
}

/** The statuses of a report by claim, each as `satisfied`, or with its reason. */
export function statusesOf({ claims }: VerificationReport): Readonly<Record<string, string>> {
  return Object.fromEntries(claims.map(({ claim, status }) => [
    claim,
    "reason" in status ? `${status.status} ${status.reason}` : status.status,
  ]));
}

/** An object of a value in canonical JSON. */
export function objectOf(value: JsonValue): { readonly identity: Identity; readonly bytes: Uint8Array } {
  const bytes = canonicalBytes(value);
  return { identity: identifyBytes(HOST_PRIMITIVES.sha256, "object", bytes), bytes };
}
