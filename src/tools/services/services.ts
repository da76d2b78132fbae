/** The services of the tools: configuration, stores, authorities and providers. */

import type { WordOf } from "../../canonical/words.ts";
import { namespaceAuthorityOf } from "../../access/namespace_authority.ts";
import type { NamespaceAuthority } from "../../access/types.ts";
import type { Identity } from "../../canonical/identity.ts";
import { readFileAtMost } from "../../config/files.ts";
import { ConfigError, gatherProblems } from "../../config/problems.ts";
import { repeatedKeys } from "../../config/trusted_keys.ts";
import type { GateConfig } from "../../config/types.ts";
import { createDocumentation, type Documentation } from "../../docs/documentation.ts";
import { HOST_PRIMITIVES } from "../../evidence/host_primitives.ts";
import { type Acquirer, createAcquirer } from "../../evidence/acquisition/acquire.ts";
import type { SchemaSandbox } from "../../evidence/sandbox/schema_sandbox.ts";
import { isPermissive, modifiedAt, permissiveOf } from "../../evidence/trust/permissive.ts";
import { DomainError } from "../framework/errors.ts";
import type { TypedGrants } from "../../evidence/typed/grants.ts";
import type { Providers } from "../../evidence/types.ts";
import { type Allocation, type Environment, environmentUnder } from "../../run/command.ts";
import type { PrecheckEnvironment } from "../../run/precheck.ts";
import { type Projections, projectRuns } from "../../store/projection.ts";
import type { Publisher } from "../../runpack/host/publish.ts";
import { type OperatorProfile, type TrustedKey, trustedKeys } from "../../run/profile.ts";
import type { RunStore, SchemaRegistry } from "../../store/types.ts";
import { countDecisions, type DecisionCounts } from "./decision_counts.ts";
import { inTurn, KeyedLock } from "./keyed_lock.ts";
import type { VerifyPack } from "../packs/verify_pack.ts";
import type { StateKeys } from "./state_keys.ts";
import { operatorProfile, withPeople } from "./operator_profile.ts";
import { createTypedProviders, type OpenTypedProvider, type TypedProviders } from "./typed_providers.ts";
import { encodeHex } from "../../canonical/hex.ts";
import type { TimeSource } from "../../run/types.ts";

/** Stamps acceptance times. Null = no stamp now. */
export interface TimeAuthority {
  readonly read: () => TimeSource | null;
}

/** Allocates run identities. Null = no identity now. */
interface RunIdAuthority {
  readonly allocate: () => Allocation | null;
}

let lastReading: TimeSource | null = null;

/** The system clock, Unix milliseconds. It may step back; acceptance times never do. One object for each reading. */
const SYSTEM_CLOCK: TimeAuthority = {
  read: () => {
    const now = Date.now();
    if (lastReading?.reading_unix_millis === now) return lastReading;
    lastReading = { authority_revision: "1", reading_unix_millis: now, time_authority_id: "gate.system_clock" };
    return lastReading;
  },
};

/** 128 random bits for each run. */
const RANDOM_RUN_IDS: RunIdAuthority = {
  allocate: () => ({
    authority_id: "gate.random",
    run_id: encodeHex(crypto.getRandomValues(new Uint8Array(16))),
  }),
};

/** All that a tool may use beside its input and the call. */
export interface Services {
  readonly config: GateConfig;
  readonly runs: RunStore;
  readonly schemas: SchemaRegistry;
  readonly projections: Projections;
  /** What decisions depend on. Keys of people and the end of permissive mode change it, so each decision reads it again. */
  readonly environment: Environment;
  /** The values of {@link Services.environment} that a decision of now may have. */
  readonly profiles: readonly Environment[];
  /** Reads the keys of people again, before a run starts. */
  readonly refreshPeople: () => Promise<void>;
  readonly time: TimeAuthority;
  readonly runIds: RunIdAuthority;
  readonly schemaSandbox: SchemaSandbox;
  /** The namespace authority; null where none is configured. */
  readonly namespaces: NamespaceAuthority | null;
  /** The configured providers. */
  readonly providers: Providers;
  /** The typed providers of the store. */
  readonly typed: TypedProviders;
  /** What the operator grants to typed providers. */
  readonly typedGrants: TypedGrants;
  /** Queries the providers of a stage's bindings. */
  readonly acquirer: Acquirer;
  /** The keys that sign what callers carry between calls; null without keys. */
  readonly stateKeys: StateKeys | null;
  /** Where people reach the console, without a slash at its end; null where clients send no one there. */
  readonly publicUrl: string | null;
  /** Publishes runpacks; loaded on first use. */
  readonly publisher: () => Promise<Publisher>;
  /** Verifies a pack of the local repository. */
  readonly verifyPack: VerifyPack;
  /** Absolute path of the folder of the local runpack repository; null without one. */
  readonly dataDir: string | null;
  /** The documentation of the service; read on first use. */
  readonly docs: Documentation;
  /** One lock for each operation that this process executes. */
  readonly operationLock: Pick<KeyedLock, "isHeld" | "acquire">;
  /** Identities of artifacts that this process has stored. */
  readonly storedArtifacts: {
    readonly has: (identity: Identity) => boolean;
    readonly add: (identity: Identity) => void;
  };
  /** What this process decided. */
  readonly decisions: DecisionCounts;
}

/** The environment of a precheck now: its evaluation time is the present reading of the time authority. */
export function precheckEnvironment({ environment, time }: Services): PrecheckEnvironment {
  return { ...environment, precheck_at: time.read()?.reading_unix_millis ?? null };
}

/** The keys of people; null without a folder of them. */
type People = readonly TrustedKey[] | null;

/** The services that have a default. */
type OptionalService = WordOf<
  "time runIds providers typedGrants namespaces publisher verifyPack dataDir publicUrl docs"
>;

/**
 * The parts of {@link createServices}. Unless they are given, namespaces and documentation are those of the
 * configuration, packs are verified on this thread, and there is no provider, no grant, no repository and no public
 * URL.
 */
export type ServiceParts =
  & Pick<Services, "config" | "runs" | "schemas" | "schemaSandbox">
  & { readonly [Name in OptionalService]?: Services[Name] | undefined }
  & {
    /** The flag or the member that names their folder. */
    readonly keysSetting?: string | undefined;
    /** Reads the keys of people, now and before runs start; there are none unless it is given. */
    readonly readPeople?: () => Promise<People>;
    /** Opens typed providers of the store; those of `evidence/typed` unless given. */
    readonly openTyped?: OpenTypedProvider | undefined;
    /** Receives a sentence where the store differs from what was written, and no caller waits for the finding. */
    readonly storeNotice?: ((message: string) => void) | undefined;
  };

/** The environments of a process, outside of permissive mode and in it. They are one object where they are the same. */
interface Environments {
  readonly strict: Environment;
  readonly relaxed: Environment;
}

/** @throws {ConfigError} Where two ids name one key: one signer would count as two */
async function environmentsUnder(
  { config, keysSetting = "" }: ServiceParts,
  [strict, relaxed]: readonly [OperatorProfile, OperatorProfile],
  people: readonly TrustedKey[],
): Promise<Environments> {
  const keys = trustedKeys(strict);
  const problems = [...repeatedKeys(config, new Map([...keys].map(([id, { public_key }]) => [id, public_key])))];
  if (people.length > 0) {
    const { repeatedEvidenceKeys } = await import("../../evidence/trust/evidence_keys.ts");
    problems.push(...repeatedEvidenceKeys(people, keys, keysSetting));
  }
  if (problems.length > 0) throw new ConfigError(config.config_path ?? "built-in defaults", problems);
  const environment = environmentUnder(HOST_PRIMITIVES, withPeople(strict, people));
  return {
    strict: environment,
    relaxed: relaxed === strict ? environment : environmentUnder(HOST_PRIMITIVES, withPeople(relaxed, people)),
  };
}

/**
 * Reads the keys of people again, and takes them where they are others.
 *
 * @throws {DomainError} `authority_unavailable`: without the keys it is unknown whose signatures a run needs
 */
function refreshedBy(
  read: () => Promise<People>,
  first: People,
  take: (people: People) => Promise<void>,
): () => Promise<void> {
  let last = JSON.stringify(first);
  return inTurn(async () => {
    try {
      const people = await read();
      const text = JSON.stringify(people);
      if (text === last) return;
      await take(people);
      last = text;
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      const message = "Cannot start run: the keys of people cannot be read; gate config check says why";
      throw new DomainError("authority_unavailable", message);
    }
  });
}

/** Reads the keys of `server.state_keys`; the module is loaded only with keys. */
async function stateKeysOf(config: GateConfig): Promise<StateKeys | null> {
  return config.server.state_keys.length === 0 ? null : await (await import("./state_keys.ts")).readStateKeys(config);
}

/** Creates the services. Reads the key files that the configuration names. */
export async function createServices(parts: ServiceParts): Promise<Services> {
  const time = parts.time ?? SYSTEM_CLOCK;
  const permissive = permissiveOf(parts.config, await modifiedAt(parts.config));
  const { readPeople = () => Promise.resolve(null) } = parts;
  const { attempt, settle } = gatherProblems();
  const people = await attempt(readPeople);
  const strict = settle(await attempt(() => operatorProfile(parts.config, readFileAtMost, false)));
  const relaxed = permissive.requested ? await operatorProfile(parts.config, readFileAtMost, true) : strict;
  const under = (keys: People): Promise<Environments> => environmentsUnder(parts, [strict, relaxed], keys ?? []);
  let current = await under(people);
  const providers = parts.providers ?? new Map();
  const typedGrants = parts.typedGrants ?? (await import("../../evidence/typed/grants.ts")).NO_GRANTS;
  return {
    config: parts.config,
    runs: parts.runs,
    schemas: parts.schemas,
    projections: projectRuns(
      parts.runs,
      HOST_PRIMITIVES.sha256,
      parts.storeNotice === undefined ? {} : { notice: parts.storeNotice },
    ),
    get environment(): Environment {
      if (current.relaxed === current.strict) return current.strict;
      return isPermissive(permissive, time.read()?.reading_unix_millis ?? null) ? current.relaxed : current.strict;
    },
    get profiles(): readonly Environment[] {
      return [...new Set([current.strict, current.relaxed])];
    },
    refreshPeople: refreshedBy(readPeople, people, async (keys) => {
      current = await under(keys);
    }),
    time,
    runIds: parts.runIds ?? RANDOM_RUN_IDS,
    schemaSandbox: parts.schemaSandbox,
    namespaces: parts.namespaces === undefined ? namespaceAuthorityOf(parts.config.namespace) : parts.namespaces,
    providers,
    typed: createTypedProviders(
      parts.schemas.typedProviders,
      parts.openTyped ??
        (async (version) =>
          (await import("../../evidence/typed/provider.ts")).createTypedProvider(version, typedGrants)),
    ),
    typedGrants,
    acquirer: createAcquirer(providers, parts.schemaSandbox),
    stateKeys: await stateKeysOf(parts.config),
    publicUrl: parts.publicUrl ?? null,
    publisher: parts.publisher ?? (async () => (await import("../../runpack/host/publish.ts")).NOWHERE),
    verifyPack: parts.verifyPack ??
      (async (root, request, validateSchema) =>
        await (await import("../packs/verify_pack.ts")).verifyPack(root, request, validateSchema)),
    dataDir: parts.dataDir ?? null,
    docs: parts.docs ?? createDocumentation(parts.config.docs),
    operationLock: new KeyedLock(),
    decisions: countDecisions(),
    storedArtifacts: new Set(),
  };
}
