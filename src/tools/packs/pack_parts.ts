/** Runpacks for those who may export or read the run: the single file of a pack, in parts. */

import { HOST_PRIMITIVES } from "../../evidence/host_primitives.ts";
import { type ArchiveLayout, layOutArchive, PART_BYTES, readPart } from "../../runpack/host/archive_parts.ts";
import { openContents, type PackContents } from "../../runpack/host/contents.ts";
import { openLocalRepository } from "../../runpack/host/local_repository.ts";
import { repositoryFolder } from "../../runpack/host/open_publisher.ts";
import type { ReadPack, Tool } from "../framework/types.ts";
import type { Services } from "../services/services.ts";
import { isPackShown, notShown, withPackFiles } from "./shown_pack.ts";

/** The tools that show what a runpack holds. A caller needs one of them. */
const TOOLS: readonly Pick<Tool, "name" | "group">[] = [
  { name: "runpack_export", group: "Audit" },
  { name: "scenario_history", group: "Read" },
];

/** Files of a pack whose layout is kept for the next part. */
const KEPT_ENTRIES = 65_536;

/** Packs whose layouts are kept: callers that download at the same time take turns. */
const KEPT_LAYOUTS = 4;

/**
 * Makes the reader of packs. The layouts of the last packs are kept, since parts are read one after the other. Readers
 * of one pack share the walk through it.
 */
export function packReader(services: Services): ReadPack {
  const kept = new Map<string, Promise<ArchiveLayout>>();
  const layoutOf = (contents: PackContents): Promise<ArchiveLayout> => {
    // A signature may be added between two parts: its entry then follows those that were read already.
    const key = [contents.runpackIdentity, ...contents.signatures.map(({ keyId }) => keyId)].join();
    const layout = kept.get(key) ?? layOutArchive(contents);
    // The one that was read last is the last to go.
    kept.delete(key);
    kept.set(key, layout);
    for (const oldest of [...kept.keys()].slice(0, -KEPT_LAYOUTS)) kept.delete(oldest);
    const drop = (): void => {
      if (kept.get(key) === layout) kept.delete(key);
    };
    layout.then(({ entries }) => entries.length > KEPT_ENTRIES && drop(), drop);
    return layout;
  };
  return async (identity, part, isOffered, call) => {
    const { dataDir } = services;
    if (dataDir === null) return null;
    return await withPackFiles(identity, async () => {
      const since = performance.now();
      const root = repositoryFolder(dataDir);
      const tools = TOOLS.filter(({ name }) => isOffered(name));
      const contents = await isPackShown(services, root, { identity, tools }, call)
        ? await openContents(HOST_PRIMITIVES.sha256, openLocalRepository(root), identity)
        : null;
      if (contents === null) return await notShown(since, null);
      const layout = await layoutOf(contents);
      if (part !== null) return await readPart(root, layout, part);
      const { bytes } = layout;
      return { runpack_identity: identity, bytes, part_bytes: PART_BYTES, parts: Math.ceil(bytes / PART_BYTES) };
    });
  };
}
