/**
 * The tools with everything beneath them: opened and closed as one, for whoever serves them.
 *
 * @module
 */

import { namespaceAuthorityOf } from "../access/namespace_authority.ts";
import { ConfigError, gatherProblems } from "../config/problems.ts";
import type { GateConfig } from "../config/types.ts";
import type { Documentation } from "../docs/documentation.ts";
import { DocsError } from "../docs/types.ts";
import { sha256 } from "../evidence/host_primitives.ts";
import { createSchemaSandbox } from "../evidence/sandbox/schema_sandbox.ts";
import type { OpenPublisher, PublisherOptions } from "../runpack/host/open_publisher.ts";
import type { PackSigner } from "../runpack/host/signing.ts";
import type { PackThread } from "./packs/pack_thread.ts";
import { closeStores, openStores, type Stores } from "../store/open.ts";
import { StoreError } from "../store/types.ts";
import { countProviders, storeMeasures } from "./services/measures.ts";
import { createServices } from "./services/services.ts";
import { createTools } from "./table.ts";
import type { Call, Measure, NamespaceList, Tool, ToolName } from "./framework/types.ts";

/** What a configuration has no member for. */
export interface RuntimeOptions {
  /** Absolute path of the folder for what is written beside the stores. */
  readonly dataDir: string;
  /** The file of the key that signs runpacks; null for none. */
  readonly signingKey: string | null;
  /** The documentation where others serve it too; that of the configuration unless given. */
  readonly docs?: Documentation;
  /** Told in a sentence where a store holds less than was once committed to it. */
  readonly storeNotice?: (message: string) => void;
}

/** Open tools. */
export interface ToolRuntime {
  readonly tools: ReadonlyMap<ToolName, Tool>;
  /** Names of what cannot take a write and a read now. */
  readonly unready: () => Promise<readonly string[]>;
  /** The namespaces that a caller may use and whose number begins with a text. */
  readonly namespaces: (begun: string, call: Call) => Promise<NamespaceList>;
  /** What it counts about itself. */
  readonly measures: () => readonly Measure[];
  /** Ends providers and workers and closes the stores; call it after the last call. */
  readonly close: () => Promise<void>;
}

/**
 * Opens the stores and providers that a configuration names, and the tools over them. Nothing of a provider runs before it is first asked.
 *
 * @throws {StoreError} `corrupt`, `version_unsupported`, `busy`, `io`: a store cannot be opened
 * @throws {ConfigError} When a document, provider or key cannot be used as it is configured; it holds every problem
 * @throws {KeyError} When the key that signs runpacks cannot be read
 */
export async function openRuntime(config: GateConfig, options: RuntimeOptions): Promise<ToolRuntime> {
  const { run_state_store: run, schema_registry: schemas } = config;
  const stores = await openStores({ run, schemas }, sha256, options.storeNotice);
  const schemaSandbox = createSchemaSandbox();
  let { providers, measures } = countProviders(new Map());
  let publisher: Promise<OpenPublisher> | null = null;
  let packs: Promise<PackThread> | null = null;
  const packThread = (): Promise<PackThread> => packs ??= openPackThread(options);
  const namespaces = namespaceAuthorityOf(config.namespace);
  const close = async (): Promise<void> => {
    namespaces?.close();
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
      const { createProviders } = await import("../evidence/providers.ts");
      ({ providers, measures } = countProviders(await createProviders(config, { schemas: schemaSandbox })));
    });
    const signer = await signerOf(options.signingKey);
    const openPublisher = (): Promise<OpenPublisher> =>
      publisher ??= publisherOf(config, options, { runs: stores.runs, signer, packs: packThread }).catch(
        (error) => {
          // What could not be loaded is tried again.
          publisher = null;
          throw error;
        },
      );
    const services = settle(
      await attempt(() =>
        createServices({
          ...{ config, ...stores, schemaSandbox, namespaces, providers, publisher: openPublisher },
          ...{ dataDir: options.dataDir, verifyPack: async (...asked) => await (await packThread()).verify(...asked) },
          ...options.docs === undefined ? {} : { docs: options.docs },
        })
      ),
    );
    return {
      tools: createTools(services),
      unready: () => unreadyOf(stores, openPublisher),
      namespaces: async (begun, call) =>
        await (await import("./services/visible_namespaces.ts")).visibleNamespaces(services, begun, call),
      measures: () => [...storeMeasures(stores.runs), ...measures()],
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Reads documents that depend on the operator's settings, so that what is wrong with them shows at the start. */
async function readConfiguredDocs({ config_path }: GateConfig, docs: Documentation | undefined): Promise<void> {
  if (docs?.isConfigured !== true) return;
  await docs.load().catch((error: unknown) => {
    throw error instanceof DocsError ? new ConfigError(config_path ?? "built-in defaults", error.problems) : error;
  });
}

/** Whether what {@link openRuntime} throws is of what the configuration or a flag names. */
export function isMistaken(thrown: unknown): boolean {
  return thrown instanceof ConfigError || thrown instanceof Error && thrown.name === "KeyError";
}

/** Whether what {@link openRuntime} throws is of a store, and not of how the service was set up. */
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

/** What verifies and exports beside the thread that serves; it starts with its first work. */
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

/** The name of a store, with what is wrong with it where that may be shown. */
function unreadyStore(name: string, reason: unknown): string {
  const why = reason instanceof StoreError ? reason.publicReason : null;
  return why === null ? name : `${name}: ${why}`;
}
