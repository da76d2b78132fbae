/**
 * Publication: the accepted head of a run is exported into the local repository. It is signed where a key is
 * configured, and mirrored where an object store is configured.
 */

import { setImmediate } from "node:timers";

import { untilAborted } from "../../config/until_aborted.ts";
import { createLimiter, type Limiter } from "../../canonical/limiter.ts";
import type { Identity, Sha256 } from "../../canonical/identity.ts";
import type { RunKey } from "../../run/types.ts";
import {
  type Archived,
  type ArtifactStore,
  type LawStore,
  type RunHead,
  type RunStore,
  StoreError,
} from "../../store/types.ts";
import { type ExportedPack, exportRun } from "../export.ts";
import { ExportError, type ExportErrorCode } from "../format/objects.ts";
import { copyPack, openContents } from "./contents.ts";
import { type Repository, RepositoryError } from "./repository.ts";
import type { PackSigner } from "./signing.ts";

/** The result of a publication. The caller authorises it. */
export type Publication =
  | { readonly outcome: "published"; readonly runpack_identity: Identity }
  /** The records of the run are in this runpack and no longer in the store. */
  | { readonly outcome: "archived"; readonly archived: Archived }
  | { readonly outcome: "run_not_found" }
  | { readonly outcome: "condition_not_found" | "limit_exceeded" | "integrity_failure"; readonly message: string }
  | {
    readonly outcome: "repository_unavailable";
    readonly message: string;
    /** The pack, if the local repository has it; a later export mirrors it. */
    readonly runpack_identity: Identity | null;
  };

/** Called during an export: the number of objects written in a phase. */
export type OnProgress = (phase: "export" | "mirror", objects: number) => void;

/** A pack of the mirror. */
export interface MirroredPack {
  readonly manifest: Uint8Array;
  /** Copies the pack into the local repository. Rejects with {@link RepositoryError}. */
  readonly fetch: () => Promise<void>;
}

/** Exports runs. */
export interface Publisher {
  /** Publishes a run at its accepted head. Rejects with {@link StoreError} only. */
  readonly publish: (
    runKey: RunKey,
    options?: {
      readonly withheld_conditions?: readonly string[];
      readonly onProgress?: OnProgress;
      /** Aborted when the caller is gone: the publication then ends, and the work of its turn goes on. */
      readonly signal?: AbortSignal;
    },
  ) => Promise<Publication>;
  /**
   * A pack that another server has mirrored; null where the mirror does not have it, and without a mirror.
   *
   * @param signal Aborted when the caller is gone; the search and a copy then end as unavailable
   * @throws {RepositoryError}
   */
  readonly mirrored: (identity: Identity, signal?: AbortSignal) => Promise<MirroredPack | null>;
  /**
   * The repositories that cannot accept a pack: the local one, or a mirror that overwrites. An unreachable mirror is
   * not reported: the local repository keeps its packs until it is reachable.
   */
  readonly unready: () => Promise<readonly ("runpacks" | "runpack_storage")[]>;
}

/** The dependencies of a publisher. */
export interface PublisherParts {
  readonly sha256: Sha256;
  readonly runs: Pick<RunStore, "getHead" | "listRecords"> & {
    readonly laws: Pick<LawStore, "get">;
    readonly artifacts: Pick<ArtifactStore, "get">;
  };
  readonly local: Repository;
  /** The mirror, opened on first use. Null where none is configured. */
  readonly mirror: (() => Promise<Repository>) | null;
  readonly signer: PackSigner | null;
  /** Builds the objects of a pack; runs on this thread by default. */
  readonly exportRun?: typeof exportRun;
}

/** The publisher of a service without a data folder. */
export const NOWHERE: Publisher = {
  publish: () =>
    Promise.resolve({
      outcome: "repository_unavailable",
      message: "Cannot publish runpack: there is no data folder",
      runpack_identity: null,
    }),
  mirrored: () => Promise.resolve(null),
  unready: () => Promise.resolve(["runpacks"]),
};

/** Concurrent exports; each holds a segment in memory. */
const EXPORTS_AT_ONCE = 2;
/** Concurrent mirrorings. */
const MIRRORS_AT_ONCE = 2;
/** Concurrent searches in the mirror. */
const SEARCHES_AT_ONCE = 16;
/** How long readiness waits for the mirror. */
const MIRROR_MILLIS = 1000;
/** Canonical bytes in one read from the store. */
const PAGE_BYTES = 1024 * 1024;

/** Makes a publisher. */
export function createPublisher(parts: PublisherParts): Publisher {
  // Mirroring has its own limit, so that a slow mirror does not delay publications.
  const lanes = {
    exporting: createLimiter(EXPORTS_AT_ONCE),
    mirroring: createLimiter(MIRRORS_AT_ONCE),
    searching: createLimiter(SEARCHES_AT_ONCE),
  };
  return {
    publish: (runKey, options = {}) => publish(parts, lanes, runKey, options),
    mirrored: (identity, signal) => findMirrored(parts, lanes, identity, signal),
    unready: async () => {
      const [local, mirror] = await Promise.allSettled([
        parts.local.ready(),
        within(MIRROR_MILLIS, (async () => await (await parts.mirror?.())?.ready())()),
      ]);
      return [
        ...local.status === "rejected" ? ["runpacks" as const] : [],
        ...mirror.status === "rejected" && isUnsupported(mirror.reason) ? ["runpack_storage" as const] : [],
      ];
    },
  };
}

interface Lanes {
  readonly exporting: Limiter;
  readonly mirroring: Limiter;
  readonly searching: Limiter;
}

/**
 * Takes a turn in a lane. A caller that is gone waits no longer, and a turn that it had not begun is skipped. Otherwise
 * its call would stay in work while an object store gives no answer.
 */
async function takeTurn<Result>(
  lane: Limiter,
  work: () => Promise<Result>,
  signal: AbortSignal = new AbortController().signal,
): Promise<Result> {
  const turn = lane(async () => {
    signal.throwIfAborted();
    return await work();
  });
  try {
    return await untilAborted(turn, signal);
  } catch (error) {
    if (!signal.aborted) throw error;
    throw new RepositoryError("unavailable", "Cannot wait for the repository: the caller is gone");
  }
}

/** Waits for work up to a time limit. Slower work counts as failed. */
async function within(millis: number, work: Promise<void>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  work.catch(() => {});
  const late = new Promise<void>((resolve) => timer = setTimeout(resolve, millis));
  try {
    await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

function isUnsupported(error: unknown): boolean {
  return error instanceof RepositoryError && error.code === "unsupported";
}

async function publish(
  parts: PublisherParts,
  lanes: Lanes,
  runKey: RunKey,
  { withheld_conditions = [], onProgress = () => {}, signal }: Parameters<Publisher["publish"]>[1] & object,
): Promise<Publication> {
  let identity: Identity | null = null;
  try {
    const made = await takeTurn(lanes.exporting, async (): Promise<ExportedPack | Publication> => {
      // The head is read once: records accepted later are not part of the pack.
      const head = await parts.runs.getHead(runKey);
      if (head === null) return { outcome: "run_not_found" };
      if (head.archived !== undefined) return { outcome: "archived", archived: head.archived };
      return await exportTo(parts, head, withheld_conditions, onProgress);
    }, signal);
    if ("outcome" in made) return made;
    const published = identity = made.runpack_identity;
    const { mirror } = parts;
    if (mirror !== null) {
      const work = async (): Promise<void> => await mirrorPack(parts, await mirror(), published, onProgress);
      await takeTurn(lanes.mirroring, work, signal);
    }
    return { outcome: "published", runpack_identity: identity };
  } catch (error) {
    return failed(error, identity);
  }
}

function failed(error: unknown, identity: Identity | null): Publication {
  if (error instanceof ExportError) {
    const outcome: ExportErrorCode = error.code;
    return { outcome, message: error.message };
  }
  if (error instanceof RepositoryError) {
    const { code, message } = error;
    if (code === "integrity_failure") return { outcome: "integrity_failure", message };
    return { outcome: "repository_unavailable", message, runpack_identity: identity };
  }
  if (error instanceof StoreError && error.code === "corrupt") {
    return { outcome: "integrity_failure", message: error.message };
  }
  throw error;
}

async function exportTo(
  { sha256, runs, local, signer, exportRun: makePack = exportRun }: PublisherParts,
  { run_key, head, scenario_id, scenario_law_identity }: RunHead,
  withheld_conditions: readonly string[],
  onProgress: OnProgress,
): Promise<ExportedPack> {
  const law = await runs.laws.get(run_key.namespace_id, scenario_law_identity);
  if (law === null) {
    throw new ExportError("integrity_failure", `Cannot export run: its law "${scenario_law_identity}" is missing`);
  }
  const stream = makePack(sha256, {
    run_key,
    head,
    scenario_id,
    scenario_law_identity,
    law: law.law,
    withheld_conditions,
    records: async (after, limit) => {
      // Each page yields to the event loop, so that other callers are answered during a long export.
      await new Promise((resolve) => setImmediate(resolve));
      return await runs.listRecords(run_key, after, limit, PAGE_BYTES);
    },
    artifact: (identity) => runs.artifacts.get(identity),
  });
  const pack = await writeObjects(stream, local, onProgress);
  if (signer !== null) {
    await local.putSignature(pack.runpack_identity, signer.signPack(pack.bytes, pack.manifest));
  }
  await local.putManifest(pack.runpack_identity, pack.bytes);
  return pack;
}

async function writeObjects(
  stream: ReturnType<typeof exportRun>,
  local: Repository,
  onProgress: OnProgress,
): Promise<ExportedPack> {
  try {
    for (let count = 1;; count++) {
      const step = await stream.next();
      if (step.done === true) return step.value;
      await local.putObject(step.value);
      onProgress("export", count);
    }
  } catch (error) {
    // Until the stream ends, it holds one of the few jobs of the worker.
    await stream.return(undefined as never);
    throw error;
  }
}

async function findMirrored(
  { sha256, local, mirror }: PublisherParts,
  { searching, mirroring }: Lanes,
  identity: Identity,
  signal: AbortSignal | undefined,
): Promise<MirroredPack | null> {
  if (mirror === null) return null;
  const contents = await takeTurn(searching, async () => await openContents(sha256, await mirror(), identity), signal);
  if (contents === null) return null;
  return {
    manifest: contents.manifest,
    fetch: () => takeTurn(mirroring, () => copyPack(contents, local), signal),
  };
}

async function mirrorPack(
  { sha256, local }: PublisherParts,
  mirror: Repository,
  identity: Identity,
  onProgress: OnProgress,
): Promise<void> {
  await mirror.ready();
  const contents = await openContents(sha256, local, identity);
  if (contents === null) throw new RepositoryError("unavailable", `Cannot mirror runpack "${identity}": it is gone`);
  let count = 0;
  await copyPack(contents, mirror, () => onProgress("mirror", ++count));
}
