/** Which callers may see a runpack that was exported here, or that another server mirrored to the object store. */

import { setTimeout } from "node:timers/promises";
import type { Identity } from "../../canonical/identity.ts";
import { HOST_PRIMITIVES } from "../../evidence/host_primitives.ts";
import { RepositoryError } from "../../runpack/host/repository.ts";
import { DomainError } from "../framework/errors.ts";
import type { Call, Tool } from "../framework/types.ts";
import { authorise } from "../services/authorise.ts";
import type { Services } from "../services/services.ts";

/** The least time of an answer without a pack. */
const NOT_SHOWN_MILLISECONDS = 25;

/**
 * An answer without a pack. A hidden runpack is read, a missing one is not, and both take as long.
 *
 * @param since When the pack was asked for, by `performance.now()`
 */
export async function notShown<Answer>(since: number, answer: Answer): Promise<Answer> {
  return await setTimeout(Math.max(0, since + NOT_SHOWN_MILLISECONDS - performance.now()), answer);
}

/** A pack, and the tools of which a caller needs one to see it. */
export interface SoughtPack {
  readonly identity: Identity;
  readonly tools: readonly Pick<Tool, "name" | "group">[];
}

/**
 * Does work with the files of a pack.
 *
 * @throws {DomainError} `store_unavailable` where its repository fails, `store_corrupt` where it is damaged there
 */
export async function withPackFiles<Result>(identity: Identity, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    const { PackError } = await import("../../runpack/walk.ts");
    if (!(error instanceof RepositoryError || error instanceof PackError)) throw error;
    const message = `Cannot read runpack "${identity}"`;
    throw error instanceof PackError || error.code === "integrity_failure"
      ? new DomainError("store_corrupt", `${message}: it is damaged in its repository`)
      : new DomainError("store_unavailable", `${message}: its repository is not available now, try again`);
  }
}

/**
 * Whether a caller may see a pack, which is then in the local repository. A pack that this server has and hides from
 * the caller is looked up in the object store too, and not fetched: an unavailable store must not reveal that it exists.
 *
 * @param root The folder of the local repository
 * @throws {RepositoryError} Where the object store fails
 */
export async function isPackShown(services: Services, root: string, pack: SoughtPack, call: Call): Promise<boolean> {
  const { localPackSource } = await import("../../runpack/host/local_repository.ts");
  const manifest = await localPackSource(root, pack.identity).manifest();
  if (await isVisible(services, pack, manifest, call)) return true;
  const mirrored = await (await services.publisher()).mirrored(pack.identity, call.signal);
  const isShown = manifest === "missing" && mirrored !== null &&
    await isVisible(services, pack, mirrored.manifest, call);
  if (isShown) await mirrored.fetch();
  return isShown;
}

/**
 * Whether a caller may see a pack, by the namespace of its manifest. Where the manifest does not prove a namespace,
 * only local callers without roles may.
 */
async function isVisible(
  services: Services,
  { identity, tools }: SoughtPack,
  manifest: Uint8Array | string,
  call: Call,
): Promise<boolean> {
  if (manifest === "missing") return false;
  const { decodeManifest, runpackIdentity } = await import("../../runpack/format/manifest.ts");
  const named = typeof manifest !== "string" && runpackIdentity(HOST_PRIMITIVES.sha256, manifest) === identity
    ? decodeManifest(manifest)
    : null;
  if (named?.ok !== true) {
    return call.principal.authMethod === "local" && (services.config.server.auth?.principals.length ?? 0) === 0;
  }
  for (const tool of tools) {
    if (await authorise(services, tool, call, named.manifest.run_key.namespace_id) === null) return true;
  }
  return false;
}
