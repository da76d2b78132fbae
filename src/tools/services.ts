/**
 * What tools work with.
 *
 * @module
 */

import type { Identity } from "../canonical/identity.ts";
import type { GateConfig } from "../config/types.ts";
import { HOST_PRIMITIVES } from "../evidence/host_primitives.ts";
import type { SchemaSandbox } from "../evidence/sandbox/schema_sandbox.ts";
import type { Surroundings } from "../run/command.ts";
import { profileIdentity, trustedKeys } from "../run/profile.ts";
import { type Projections, projectRuns } from "../store/projection.ts";
import type { RunStore, SchemaRegistry } from "../store/types.ts";
import { RANDOM_RUN_IDS, type RunIdAuthority, SYSTEM_CLOCK, type TimeAuthority } from "./authorities.ts";
import { InFlight } from "./in_flight.ts";
import { operatorProfile, type ReadKeyFile } from "./operator_profile.ts";

/** Everything that a tool may use beside its input and caller. */
export interface Services {
  readonly config: GateConfig;
  readonly runs: RunStore;
  readonly schemas: SchemaRegistry;
  readonly projections: Projections;
  readonly surroundings: Surroundings;
  readonly time: TimeAuthority;
  readonly runIds: RunIdAuthority;
  readonly schemaSandbox: SchemaSandbox;
  /** Operations being executed in this process. */
  readonly inFlight: InFlight;
  /** Identities of artifacts that this process has already stored. */
  readonly storedArtifacts: Set<Identity>;
}

/** What {@link createServices} is handed. */
export interface ServiceParts {
  readonly config: GateConfig;
  readonly runs: RunStore;
  readonly schemas: SchemaRegistry;
  readonly schemaSandbox: SchemaSandbox;
  readonly time?: TimeAuthority;
  readonly runIds?: RunIdAuthority;
  readonly readKeyFile?: ReadKeyFile;
}

async function readFileBounded(path: string, maximumBytes: number): Promise<Uint8Array> {
  using file = await Deno.open(path);
  const buffer = new Uint8Array(maximumBytes + 1);
  let filled = 0;
  while (filled < buffer.length) {
    const read = await file.read(buffer.subarray(filled));
    if (read === null) break;
    filled += read;
  }
  return buffer.subarray(0, filled);
}

/** Puts the services together. Key files named by the configuration are read here. */
export async function createServices(parts: ServiceParts): Promise<Services> {
  const { sha256 } = HOST_PRIMITIVES;
  const profile = await operatorProfile(parts.config, parts.readKeyFile ?? readFileBounded, false);
  return {
    config: parts.config,
    runs: parts.runs,
    schemas: parts.schemas,
    projections: projectRuns(parts.runs, sha256),
    surroundings: {
      primitives: HOST_PRIMITIVES,
      profile,
      profile_identity: profileIdentity(sha256, profile),
      keys: trustedKeys(profile),
    },
    time: parts.time ?? SYSTEM_CLOCK,
    runIds: parts.runIds ?? RANDOM_RUN_IDS,
    schemaSandbox: parts.schemaSandbox,
    inFlight: new InFlight(),
    storedArtifacts: new Set(),
  };
}
