/**
 * Opening the publisher of a configuration: the local repository in the data folder, and the bucket that it is mirrored to.
 *
 * @module
 */

import { join } from "node:path";

import type { Sha256 } from "../../canonical/identity.ts";
import type { RunpackStorageConfig } from "../../config/types.ts";
import { openLocalRepository } from "./local_repository.ts";
import { createPublisher, type Publisher, type PublisherParts } from "./publish.ts";
import type { Repository } from "./repository.ts";
import type { PackSigner } from "./signing.ts";

/** Where the local repository lies in a data folder. */
export function repositoryFolder(dataDir: string): string {
  return join(dataDir, "runpacks");
}

/** What a publisher is opened with. */
export interface PublisherOptions {
  readonly sha256: Sha256;
  readonly runs: PublisherParts["runs"];
  /** Absolute path of the folder that holds the local repository. */
  readonly dataDir: string;
  /** `runpack_storage`. */
  readonly storage: RunpackStorageConfig | null;
  readonly signer: PackSigner | null;
  readonly exportRun?: NonNullable<PublisherParts["exportRun"]>;
}

/** A publisher, and what ends with it. */
export interface OpenPublisher extends Publisher {
  /** Ends connections to the mirror. */
  readonly close: () => Promise<void>;
}

/** Opens a publisher. Nothing is written or reached before it is asked to publish. */
export function openPublisher({ storage, dataDir, ...parts }: PublisherOptions): OpenPublisher {
  let mirror: Promise<Repository> | null = null;
  const openMirror = storage === null ? null : async (): Promise<Repository> => {
    mirror ??= import("./s3_repository.ts").then(({ openS3Repository }) => openS3Repository(storage)).catch((error) => {
      // What could not be loaded is tried again.
      mirror = null;
      throw error;
    });
    return await mirror;
  };
  const publisher = createPublisher({
    ...parts,
    local: openLocalRepository(repositoryFolder(dataDir)),
    mirror: openMirror,
  });
  return { ...publisher, close: async () => (await mirror)?.close() };
}
