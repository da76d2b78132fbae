/** Serves a configuration. `gate serve` runs this after it has read the file. */

import { dirname } from "node:path";
import type { GateConfig } from "../config/types.ts";
import { createDocumentation, type Documentation } from "../docs/documentation.ts";
import { offeredTools } from "../access/offered_tools.ts";
import { host } from "./host.ts";
import type { HttpHostOptions, Runtime } from "./hosting.ts";
import type { RuntimeOptions } from "../tools/runtime.ts";
import type { StateKeys } from "../tools/services/state_keys.ts";
import type { Log, LogLevel } from "./process/log.ts";
import { offerWith, type Rounds } from "./protocol/offer.ts";
import type { Collector } from "./telemetry/exporter.ts";
import { MISCONFIGURED, StartFailure, UNREACHABLE } from "./process/start_failure.ts";

/** The network settings of the command-line flags. */
export type NetworkSettings = Omit<HttpHostOptions, "folders">;

/** The options of {@link serve}. */
export interface ServeOptions {
  readonly config: GateConfig;
  /** Absolute path of the folder for files beside the stores. */
  readonly dataDir: string;
  /** The lowest level of log entries that are written. */
  readonly logLevel: LogLevel;
  /** The file of the key that signs runpacks, or null. */
  readonly signingKey: string | null;
  /** What the operator grants to typed providers. */
  readonly typed: RuntimeOptions["typed"];
  /** The folder of the keys of people; null without one. */
  readonly evidenceKeys: string | null;
  /** Where people reach the console: `--public-url`; null without it. */
  readonly publicUrl: string | null;
  /** Reads the run view that clients show as an app; null where this process cannot have it. */
  readonly runApp: (() => Promise<string>) | null;
  /** Where telemetry goes; null without it. */
  readonly collector: Collector | null;
  /** Where events go; null without it. */
  readonly receiver: RuntimeOptions["receiver"] | null;
  /** Null on stdio. */
  readonly network: NetworkSettings | null;
}

/**
 * Serves until the client is gone or a stop signal arrives.
 *
 * @returns The exit code. 0: an orderly end. 8: a store, the audit log, a certificate or the address cannot be opened.
 * 2: a name in the configuration or a flag cannot be used. 1: an unexpected failure.
 */
export async function serve(options: ServeOptions): Promise<number> {
  const { config, logLevel, network } = options;
  const docs = createDocumentation(config.docs);
  return await host({
    server: config.server,
    logLevel,
    // The modules under the tools are loaded after the first answer.
    loadRuntime: async (log) => {
      const runtime = await openRuntime(options, docs, log);
      await warnOfDocs(docs, log);
      return runtime;
    },
    offer: offerWith(docs, offeredTools(config.server), {
      rounds: roundsOf(options),
      ...options.runApp === null ? {} : { runApp: options.runApp },
    }),
    collector: options.collector,
    openHeads: config.run_state_store.type === "postgres"
      ? async () => await (await import("../tools/runtime.ts")).openAuditHeads(config)
      : undefined,
    ...(network === null ? {} : { http: { ...network, folders: foldersOf(options) } }),
  });
}

/** The tools that ask the client. The keys are read with the first call that asks. */
function roundsOf({ config, publicUrl }: ServeOptions): Rounds {
  let keys: Promise<StateKeys> | null = null;
  return {
    tools: new Set(["scenario_next"]),
    // Without an address of the console there is no page to show.
    capabilities: publicUrl === null ? [] : ["elicitation"],
    // A file that cannot be read now is read again by the next call.
    keys: () =>
      keys ??= openStateKeys(config).catch((error) => {
        keys = null;
        throw error;
      }),
    tasks: config.server.state_keys.length > 0,
  };
}

/** The keys of the configuration; without them a key of this process, with which a round ends at a restart. */
async function openStateKeys(config: GateConfig): Promise<StateKeys> {
  const { readStateKeys, stateKeys } = await import("../tools/services/state_keys.ts");
  return await readStateKeys(config) ?? stateKeys([crypto.getRandomValues(new Uint8Array(32))]);
}

async function openRuntime(options: ServeOptions, docs: Documentation, log: Log): Promise<Runtime> {
  const { isMistaken, isStoreFailure, openRuntime } = await import("../tools/runtime.ts");
  try {
    const storeNotice = (message: string): void => log("error", message);
    const { receiver, ...rest } = options;
    const notifying = receiver === null || receiver === undefined ? {} : { receiver, log };
    return await openRuntime(options.config, { ...rest, ...notifying, docs, storeNotice });
  } catch (error) {
    if (isMistaken(error)) throw new StartFailure(error, MISCONFIGURED);
    throw isStoreFailure(error) ? new StartFailure(error, UNREACHABLE) : error;
  }
}

/** Logs the warnings about the operator's documents, which were read when the tools were opened. */
async function warnOfDocs(docs: Documentation, log: Log): Promise<void> {
  if (!docs.isConfigured) return;
  const { warnings } = await docs.load();
  for (const warning of warnings) log("warn", warning);
}

/** The folders that the process writes to. */
function foldersOf({ config, dataDir }: ServeOptions): readonly string[] {
  const files = [config.run_state_store.path, config.schema_registry.path, config.server.audit.path];
  return [...new Set([dataDir, ...files.filter((path) => path !== null).map((path) => dirname(path))])];
}
