/**
 * What tools work with.
 *
 * @module
 */

import { namespaceAuthorityOf } from "../../access/namespace_authority.ts";
import type { NamespaceAuthority } from "../../access/types.ts";
import type { Identity } from "../../canonical/identity.ts";
import { readAtMost } from "../../config/files.ts";
import { ConfigError } from "../../config/problems.ts";
import { repeatedKeys } from "../../config/trusted_keys.ts";
import type { GateConfig } from "../../config/types.ts";
import { createDocumentation, type Documentation } from "../../docs/documentation.ts";
import { HOST_PRIMITIVES } from "../../evidence/host_primitives.ts";
import { type Acquirer, createAcquirer } from "../../evidence/acquisition/acquire.ts";
import type { SchemaSandbox } from "../../evidence/sandbox/schema_sandbox.ts";
import { isPermissive, modifiedAt, permissiveOf } from "../../evidence/trust/permissive.ts";
import type { Providers } from "../../evidence/types.ts";
import { type Environment, environmentUnder } from "../../run/command.ts";
import { type Projections, projectRuns } from "../../store/projection.ts";
import type { Publisher } from "../../runpack/host/publish.ts";
import type { RunStore, SchemaRegistry } from "../../store/types.ts";
import { RANDOM_RUN_IDS, type RunIdAuthority, SYSTEM_CLOCK, type TimeAuthority } from "./authorities.ts";
import { KeyedLock } from "./keyed_lock.ts";
import type { VerifyPack } from "../packs/verify_pack.ts";
import { operatorProfile, type ReadKeyFile } from "./operator_profile.ts";

/** Everything that a tool may use beside its input and caller. */
export interface Services {
  readonly config: GateConfig;
  readonly runs: RunStore;
  readonly schemas: SchemaRegistry;
  readonly projections: Projections;
  /** What decisions read. It changes when permissive mode comes to its end, so each decision takes it anew. */
  readonly environment: Environment;
  /** All that {@link Services.environment} may be in this process. */
  readonly profiles: readonly Environment[];
  readonly time: TimeAuthority;
  readonly runIds: RunIdAuthority;
  readonly schemaSandbox: SchemaSandbox;
  /** Whom to ask about namespaces; null for nobody. */
  readonly namespaces: NamespaceAuthority | null;
  /** The configured providers. */
  readonly providers: Providers;
  /** Asks the providers behind a stage's bindings. */
  readonly acquirer: Acquirer;
  /** Publishes runpacks; loaded when first asked for. */
  readonly publisher: () => Promise<Publisher>;
  /** Verifies a pack of the local repository. */
  readonly verifyPack: VerifyPack;
  /** Absolute path of the folder that holds the local repository of runpacks; null where there is none. */
  readonly dataDir: string | null;
  /** The documentation of the service; read when first asked for. */
  readonly docs: Documentation;
  /** Operations being executed in this process. */
  readonly operationLock: KeyedLock;
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
  /** None unless given. */
  readonly providers?: Providers;
  /** That of the configuration unless given. */
  readonly namespaces?: NamespaceAuthority | null;
  /** One without a repository unless given. */
  readonly publisher?: () => Promise<Publisher>;
  /** On this thread unless given. */
  readonly verifyPack?: VerifyPack;
  /** None unless given. */
  readonly dataDir?: string;
  /** That of the configuration unless given. */
  readonly docs?: Documentation;
}

async function environmentOf(parts: ServiceParts, permissive: boolean): Promise<Environment> {
  const profile = await operatorProfile(parts.config, parts.readKeyFile ?? readAtMost, permissive);
  return environmentUnder(HOST_PRIMITIVES, profile);
}

/** @throws {ConfigError} Where two ids name one key: what counts as two signatures would be one. */
function refuseRepeatedKeys(config: GateConfig, { keys }: Environment): void {
  const problems = repeatedKeys(config, new Map([...keys].map(([id, { public_key }]) => [id, public_key])));
  if (problems.length > 0) throw new ConfigError(config.config_path ?? "built-in defaults", problems);
}

/** Puts the services together. Key files named by the configuration are read here. */
export async function createServices(parts: ServiceParts): Promise<Services> {
  const time = parts.time ?? SYSTEM_CLOCK;
  const permissive = permissiveOf(parts.config, await modifiedAt(parts.config));
  const strict = await environmentOf(parts, false);
  refuseRepeatedKeys(parts.config, strict);
  const relaxed = permissive.requested ? await environmentOf(parts, true) : strict;
  const providers = parts.providers ?? new Map();
  return {
    config: parts.config,
    runs: parts.runs,
    schemas: parts.schemas,
    projections: projectRuns(parts.runs, HOST_PRIMITIVES.sha256),
    get environment(): Environment {
      if (relaxed === strict) return strict;
      return isPermissive(permissive, time.read()?.reading_unix_millis ?? null) ? relaxed : strict;
    },
    profiles: relaxed === strict ? [strict] : [strict, relaxed],
    time,
    runIds: parts.runIds ?? RANDOM_RUN_IDS,
    schemaSandbox: parts.schemaSandbox,
    namespaces: parts.namespaces === undefined ? namespaceAuthorityOf(parts.config.namespace) : parts.namespaces,
    providers,
    acquirer: createAcquirer(providers, parts.schemaSandbox),
    publisher: parts.publisher ?? (async () => (await import("../../runpack/host/publish.ts")).NOWHERE),
    verifyPack: parts.verifyPack ??
      (async (root, request, validateSchema) =>
        await (await import("../packs/verify_pack.ts")).verifyPack(root, request, validateSchema)),
    dataDir: parts.dataDir ?? null,
    docs: parts.docs ?? createDocumentation(parts.config.docs),
    operationLock: new KeyedLock(),
    storedArtifacts: new Set(),
  };
}
