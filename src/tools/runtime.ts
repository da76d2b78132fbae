/** The tools with their stores and providers, opened and closed together. */

import { namespaceAuthorityOf } from "../access/namespace_authority.ts";
import { keysFolder, keysFolderNow } from "../config/load.ts";
import { ConfigError, gatherProblems } from "../config/problems.ts";
import type { GateConfig } from "../config/types.ts";
import type { Documentation } from "../docs/documentation.ts";
import { DocsError } from "../docs/types.ts";
import { sha256 } from "../evidence/host_primitives.ts";
import { createSchemaSandbox } from "../evidence/sandbox/schema_sandbox.ts";
import type { TrustedKey } from "../run/profile.ts";
import type { Principal } from "../access/types.ts";
import type { TypedGrants } from "../evidence/typed/grants.ts";
import type { OpenPublisher, PublisherOptions } from "../runpack/host/open_publisher.ts";
import type { PackSigner } from "../runpack/host/signing.ts";
import type { PackThread } from "./packs/pack_thread.ts";
import { closeStores, openStores, type Stores } from "../store/open.ts";
import type { AuditHeads } from "../store/postgres/audit_heads.ts";
import { type AppendResult, type RunFigures as Figures, type RunStore, StoreError } from "../store/types.ts";
import { readsEveryNamespace } from "./services/authorise.ts";
import { countProviders, storeMeasures } from "./services/measures.ts";
import { createServices, type Services } from "./services/services.ts";
import type { TypedProviders } from "./services/typed_providers.ts";
import type { Notifier, NotifierOptions } from "./notifications/notifier.ts";
import type { Receiver } from "./notifications/open.ts";
import { createTools } from "./table.ts";
import type { Call, Measure, NamespaceList, ReadPack, Tool, ToolName } from "./framework/types.ts";
import { gauge } from "./framework/measure.ts";

/** Milliseconds for which figures are shown. */
const FRESH_MILLIS = 15_000;

/**
 * The metrics of runs by status, and of the stage that waits for the longest time. Without figures there are none, and
 * so after a read that failed, or lasted until the next one was due: the figures before it are too old to be shown.
 */
export function runFigures(
  runs: Pick<RunStore, "figures">,
  now: () => number = Date.now,
): () => readonly Measure[] {
  let figures: Figures | null = null;
  let readAt = -Infinity;
  let isReading = false;
  return () => {
    const isDue = now() - readAt >= FRESH_MILLIS;
    if (isDue && isReading) figures = null;
    if (isDue && !isReading) {
      readAt = now();
      isReading = true;
      runs.figures().catch(() => null).then((read) => {
        figures = read;
        isReading = false;
      });
    }
    return figures === null ? [] : measuresOf(figures, now());
  };
}

function measuresOf({ active, complete, oldestOpened }: Figures, now: number): readonly Measure[] {
  const help = "Runs in the store by status.";
  const age = oldestOpened === null ? 0 : Math.max(0, now - oldestOpened) / 1000;
  return [
    gauge("gate_runs", help, { status: "active" }, active),
    gauge("gate_runs", help, { status: "complete" }, complete),
    gauge(
      "gate_oldest_waiting_stage_seconds",
      "Age of the stage that is open for the longest time; 0 where no stage is open.",
      {},
      age,
    ),
  ];
}

/** Options beside the configuration. */
export interface RuntimeOptions {
  /** Absolute path of the data folder, for files beside the stores. */
  readonly dataDir: string;
  /** The file of the key that signs runpacks; null for unsigned runpacks. */
  readonly signingKey: string | null;
  /** What the operator grants to typed providers that callers register; the folder of credentials is that of all. */
  readonly typed: TypedGrants;
  /** The folder of the keys of people; null or absent without one. */
  readonly evidenceKeys?: string | null;
  /** Where people reach the console; null or absent where clients send no one there. */
  readonly publicUrl?: string | null;
  /** The documentation, where the server uses it too; from the configuration unless given. */
  readonly docs?: Documentation;
  /** Where events go; absent without a receiver. */
  readonly receiver?: Receiver;
  /** The log of the sender of events. */
  readonly log?: NotifierOptions["log"];
  /** Called with a sentence where a store has less than was once committed, or differs from what was written. */
  readonly storeNotice?: (message: string) => void;
}

/** Open tools. */
export interface ToolRuntime {
  readonly tools: ReadonlyMap<ToolName, Tool>;
  /** Names of stores and repositories that fail a write or a read now. */
  readonly unready: () => Promise<readonly string[]>;
  /** The namespaces with a prefix that a caller may use. */
  readonly namespaces: (prefix: string, call: Call) => Promise<NamespaceList>;
  /** The revision of the head of a run; null where the run does not exist. */
  readonly readRevision: (namespaceId: number, runId: string) => Promise<number | null>;
  /** The scenario of a run; null where the run does not exist. */
  readonly scenarioOf: (namespaceId: number, runId: string) => Promise<string | null>;
  /** Reads a runpack that was exported here, or a part of it. */
  readonly readPack: ReadPack;
  /** The metrics for a caller, or for the operator. Those who may read every namespace get the names of scenarios too. */
  readonly measures: (reader: Principal | "operator") => readonly Measure[];
  /** Ends providers and workers and closes the stores; call it after the last call. */
  readonly close: () => Promise<void>;
}

function readersOf(
  services: Services,
  ofProviders: () => readonly Measure[],
  notifier: Notifier | null,
): Pick<ToolRuntime, "measures" | "readRevision" | "scenarioOf"> {
  const { runs, decisions } = services;
  const figures = runFigures(runs);
  const shared = (): readonly Measure[] => [
    ...storeMeasures(runs),
    ...figures(),
    ...ofProviders(),
    ...notifier?.measures() ?? [],
  ];
  return {
    readRevision: async (namespace_id, run_id) => (await runs.getHead({ namespace_id, run_id }))?.head.revision ?? null,
    scenarioOf: async (namespace_id, run_id) => (await runs.getHead({ namespace_id, run_id }))?.scenario_id ?? null,
    measures: (reader) => {
      const isWhole = reader === "operator" || readsEveryNamespace(services, reader);
      return [...shared(), ...isWhole ? decisions.detailed() : decisions.measures()];
    },
  };
}

/** The reader of packs. Its module is loaded with the first pack. */
function packsOf(services: Services): ReadPack {
  let reader: Promise<ReadPack> | null = null;
  return async (...request) =>
    await (await (reader ??= import("./packs/pack_parts.ts").then(({ packReader }) => packReader(services))))(
      ...request,
    );
}

/** Starts to send events where a receiver is named. The modules are loaded only then. */
async function notifierOf({ receiver, log }: RuntimeOptions, services: Services): Promise<Notifier | null> {
  if (receiver === undefined) return null;
  const { openNotifier } = await import("./notifications/open.ts");
  return await openNotifier(receiver, { ...services, log: log ?? (() => {}) });
}

/** Opens the stores. With a receiver, they say when records were appended. */
async function openWatched(
  { run_state_store: run, schema_registry: schemas }: GateConfig,
  { receiver, storeNotice }: RuntimeOptions,
  appended: () => void,
): Promise<Stores> {
  const stores = await openStores({ run, schemas }, sha256, storeNotice);
  if (receiver === undefined) return stores;
  const appendTogether: Stores["runs"]["appendTogether"] = async (appends) => {
    const results = await stores.runs.appendTogether(appends);
    if (results.some(({ outcome }) => outcome === "accepted")) appended();
    return results;
  };
  const append: Stores["runs"]["append"] = async (one) => (await appendTogether([one]))[0] as AppendResult;
  return { ...stores, runs: { ...stores.runs, append, appendTogether } };
}

/** The keys of people now; null without a folder of them. */
async function readPeople(config: GateConfig, flag: string | null = null): Promise<readonly TrustedKey[] | null> {
  const folder = await keysFolderNow(config, flag);
  return folder === null ? null : await (await import("../evidence/trust/evidence_keys.ts")).readEvidenceKeys(folder);
}

/**
 * Opens the stores and providers of a configuration, and the tools on them. A provider starts with its first query.
 *
 * @throws {StoreError} `corrupt`, `version_unsupported`, `busy`, `io`: a store cannot be opened
 * @throws {ConfigError} When a configured document, provider or key cannot be used; it lists every problem
 * @throws {KeyError} When the key that signs runpacks cannot be read
 */
export async function openRuntime(config: GateConfig, options: RuntimeOptions): Promise<ToolRuntime> {
  let notifier: Notifier | null = null;
  const stores = await openWatched(config, options, () => notifier?.wake());
  const schemaSandbox = createSchemaSandbox();
  let { providers, measures } = countProviders(new Map());
  let publisher: Promise<OpenPublisher> | null = null;
  let packs: Promise<PackThread> | null = null;
  const packThread = (): Promise<PackThread> => packs ??= openPackThread(options);
  const namespaces = namespaceAuthorityOf(config.namespace);
  let typed: TypedProviders | null = null;
  const close = async (): Promise<void> => {
    namespaces?.close();
    await notifier?.close();
    await typed?.close();
    await Promise.all([...providers.values()].map((provider) => provider.close()));
    schemaSandbox.close();
    (await packs)?.close();
    await (await publisher)?.close();
    await closeStores(stores);
  };
  const { attempt, settle } = gatherProblems();
  try {
    await attempt(() => readConfiguredDocs(config, options.docs));
    await attempt(async () => {
      if (config.providers.length === 0) return;
      const providing = { schemas: schemaSandbox, credentialsDir: options.typed.credentialsDir };
      const { createProviders } = await import("../evidence/providers.ts");
      ({ providers, measures } = countProviders(await createProviders(config, providing)));
    });
    const signer = await signerOf(options.signingKey);
    const openPublisher = (): Promise<OpenPublisher> =>
      publisher ??= publisherOf(config, options, { runs: stores.runs, signer, packs: packThread }).catch((error) => {
        // After a failure the next use tries again.
        publisher = null;
        throw error;
      });
    const services = settle(
      await attempt(() =>
        createServices({
          // The services take the folder, the public URL, the documentation and the receiver of notices as they are.
          ...options,
          config,
          ...stores,
          schemaSandbox,
          namespaces,
          providers,
          typedGrants: options.typed,
          keysSetting: keysFolder(config, options.evidenceKeys)?.setting,
          readPeople: () => readPeople(config, options.evidenceKeys),
          publisher: openPublisher,
          verifyPack: async (...request) => await (await packThread()).verify(...request),
        })
      ),
    );
    typed = services.typed;
    notifier = await notifierOf(options, services);
    return {
      tools: createTools(services),
      unready: () => unreadyOf(stores, openPublisher),
      namespaces: async (prefix, call) =>
        await (await import("./services/visible_namespaces.ts")).visibleNamespaces(services, prefix, call),
      readPack: packsOf(services),
      ...readersOf(services, () => measures(), notifier),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/**
 * Opens the heads of audit logs in the database of a configuration.
 *
 * @throws {StoreError} Where the database cannot be used
 */
export async function openAuditHeads({ run_state_store }: GateConfig): Promise<AuditHeads> {
  return await (await import("../store/postgres/open.ts")).openAuditHeads(run_state_store);
}

/** Reads documents of the operator's settings, so that their faults show at start-up. */
async function readConfiguredDocs({ config_path }: GateConfig, docs: Documentation | undefined): Promise<void> {
  if (docs?.isConfigured !== true) return;
  await docs.load().catch((error: unknown) => {
    throw error instanceof DocsError ? new ConfigError(config_path ?? "built-in defaults", error.problems) : error;
  });
}

/** Whether an error of {@link openRuntime} is a fault of the configuration or of a flag. */
export function isMistaken(thrown: unknown): boolean {
  return thrown instanceof ConfigError || thrown instanceof Error && thrown.name === "KeyError" ||
    thrown instanceof StoreError && thrown.code === "misconfigured";
}

/** Whether an error of {@link openRuntime} is a failure of a store. */
export function isStoreFailure(thrown: unknown): boolean {
  return thrown instanceof StoreError;
}

async function signerOf(signingKey: string | null): Promise<PackSigner | null> {
  if (signingKey === null) return null;
  const { readPackSigner } = await import("../runpack/host/signing.ts");
  return await readPackSigner(sha256, signingKey);
}

async function publisherOf(
  config: GateConfig,
  { dataDir }: RuntimeOptions,
  { runs, signer, packs }: Pick<PublisherOptions, "runs" | "signer"> & { readonly packs: () => Promise<PackThread> },
): Promise<OpenPublisher> {
  const { openPublisher } = await import("../runpack/host/open_publisher.ts");
  const { exportRun } = await packs();
  return openPublisher({ sha256, runs, dataDir, storage: config.runpack_storage, signer, exportRun });
}

/** The thread that verifies and exports runpacks; its worker starts with the first job. */
async function openPackThread({ dataDir }: RuntimeOptions): Promise<PackThread> {
  const { repositoryFolder } = await import("../runpack/host/open_publisher.ts");
  const { createPackThread } = await import("./packs/pack_thread.ts");
  return createPackThread(repositoryFolder(dataDir));
}

async function unreadyOf(
  { runs, schemas }: Stores,
  openPublisher: () => Promise<OpenPublisher>,
): Promise<readonly string[]> {
  const [run, schema] = await Promise.allSettled([runs.ready(), schemas.ready()]);
  return [
    ...run.status === "rejected" ? [unreadyStore("run_state_store", run.reason)] : [],
    ...schema.status === "rejected" ? [unreadyStore("schema_registry", schema.reason)] : [],
    ...await (await openPublisher()).unready(),
  ];
}

/** The name of a store, with the reason where it may be shown. */
function unreadyStore(name: string, reason: unknown): string {
  const why = reason instanceof StoreError ? reason.publicReason : null;
  return why === null ? name : `${name}: ${why}`;
}
