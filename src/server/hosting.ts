/** The interface between the host of the process and the transports that it runs. */

import type { ServerConfig } from "../config/types.ts";
import type { ToolRuntime } from "../tools/runtime.ts";
import type { NetworkCheck } from "./audit/peers.ts";
import type { OpenHeadStore } from "./audit/head_recorder.ts";
import type { AuditService } from "./audit/service.ts";
import type { OneTimeLink } from "./auth/one_time_link.ts";
import type { ConsoleAssets } from "./http/console_pages.ts";
import type { ConnectionBounds } from "./http/listener.ts";
import type { Limits } from "./process/limits.ts";
import type { ResourceServer } from "./oauth/resource_server.ts";
import type { Log, LogLevel } from "./process/log.ts";
import type { StopWatch } from "./process/signals.ts";
import type { Dispatcher } from "./protocol/dispatcher.ts";
import type { Offer } from "./protocol/offer.ts";
import type { Collector } from "./telemetry/exporter.ts";

/** The tools and the resources behind them; a part that is left out has nothing to report. */
export type Runtime = Pick<ToolRuntime, "tools" | "close"> & Partial<ToolRuntime>;

/** The options of a host. */
export interface HostOptions {
  readonly server: ServerConfig;
  readonly logLevel: LogLevel;
  /** Opens stores and makes the tools; called once. A rejection is logged, answered to clients, and ends the process. */
  readonly loadRuntime: (log: Log) => Promise<Runtime>;
  /** The offers besides tools; default: no offers. */
  readonly offer?: Offer;
  /** Opens the store that keeps heads of the audit log apart from its file; absent without one. */
  readonly openHeads?: OpenHeadStore | undefined;
  /** Where telemetry goes; absent or null without it. */
  readonly collector?: Collector | null;
  /** The options of the HTTP transports; without them only stdio is served. */
  readonly http?: HttpHostOptions;
}

/** The options of the HTTP transports besides the configuration. */
export interface HttpHostOptions {
  /** `--allowed-host`. */
  readonly allowedHosts: readonly string[];
  /** `--allowed-origin`. */
  readonly allowedOrigins: readonly string[];
  /** Whether an address is one of `--trusted-proxy`. */
  readonly isTrustedProxy: NetworkCheck;
  /** Folders whose disks must have room. */
  readonly folders: readonly string[];
  /** `--console`: its page; absent without it. */
  readonly console?: ConsoleAssets;
  /** The link whose first browser is the only caller; absent without one. */
  readonly link?: OneTimeLink;
  /** `--oauth-issuer` and its like: makes the resource server; absent without them. */
  readonly oauth?: (log: Log) => ResourceServer;
  /** Called with the address once the server listens. */
  readonly listening?: (url: string) => void;
  /** Default: the bounds of the service. */
  readonly bounds?: ConnectionBounds;
}

/** The parts of the process that a transport uses. */
export interface Hosting {
  readonly options: HostOptions;
  readonly log: Log;
  readonly limits: Limits;
  readonly dispatcher: Dispatcher;
  readonly audit: AuditService;
  /** Opens the stores and the audit log, once. */
  readonly load: () => Promise<Runtime>;
  readonly signals: StopWatch;
  /** Aborted when the stores or the audit log cannot be opened; its reason is the `StartFailure`. */
  readonly broken: AbortSignal;
}
