/** Opens the publisher of a configuration: the local repository in the data folder, and the bucket that mirrors it. */

import { join } from "node:path";

import type { Sha256 } from "../../canonical/identity.ts";
import type { RunpackStorageConfig } from "../../config/types.ts";
import { openLocalRepository } from "./local_repository.ts";
import { createPublisher, type Publisher, type PublisherParts } from "./publish.ts";
import type { Repository } from "./repository.ts";
import type { PackSigner } from "./signing.ts";

/** The folder of the local repository within a data folder. */
export function repositoryFolder(dataDir: string): string {
  return join(dataDir, "runpacks");
}

/** The options of a publisher. */
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

/** A publisher with the resources that it closes. */
export interface OpenPublisher extends Publisher {
  /** Closes the connections to the mirror. */
  readonly close: () => Promise<void>;
}

/** Opens a publisher. It neither writes nor connects before the first publication. */
export function openPublisher({ storage, dataDir, ...parts }: PublisherOptions): OpenPublisher {
  let mirror: Promise<Repository> | null = null;
  const openMirror = storage === null ? null : async (): Promise<Repository> => {
    mirror ??= import("./s3_repository.ts").then(({ openS3Repository }) => openS3Repository(storage)).catch((error) => {
      // A failed load is retried.
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
