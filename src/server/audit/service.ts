/** The audit log of a process: opened at first use, reopened at a signal, and closed at the end. */

import type { AuditConfig } from "../../config/types.ts";
import type { AuditCall } from "../protocol/dispatcher.ts";
import type { RequestDecision } from "./event_coalescer.ts";
import type { OpenHeadStore } from "./head_recorder.ts";
import type { Refusals } from "./refusals.ts";
import type { Log } from "../process/log.ts";
import { type Audit, NO_AUDIT } from "./types.ts";

/** The audit log of a process. */
export interface AuditService {
  /** Opens the log, once. Rejects where it cannot be opened or written. */
  readonly open: () => Promise<Audit>;
  /** Loads the function that audits calls; also opens the log. */
  readonly loadCallAudit: () => Promise<AuditCall>;
  /** Records a message that stdio rejected, coalesced with equal ones; also opens the log. */
  readonly refused: (decision: RequestDecision) => void;
  /** Opens the file again after it was moved away. A failure is logged and shows in readiness. */
  readonly reopen: () => void;
  /** Writes the last line. A failure is logged. */
  readonly close: () => Promise<void>;
}

/** The options of the service. */
export interface AuditServiceOptions {
  /** `server.audit` */
  readonly config: AuditConfig;
  /** Writes all bytes to standard error, after any write in progress. */
  readonly writeError: (bytes: Uint8Array) => Promise<void>;
  readonly log: Log;
  /** Opens the store that keeps heads apart from the file; absent without one. */
  readonly openHeads?: OpenHeadStore | undefined;
}

/** Stdio serves no metrics. */
const UNCOUNTED = { refused: (): void => undefined };

/** How long the end waits for the last lines, in milliseconds: standard error may have no reader. */
const CLOSE_MILLISECONDS = 1000;

/** How long the end waits where the last head is recorded too, in milliseconds: a database may not answer. */
const HEAD_CLOSE_MILLISECONDS = 5000;

/** Makes the service. It loads and opens nothing before its first use. */
export function createAuditService(options: AuditServiceOptions): AuditService {
  let opening: Promise<Audit> | null = null;
  const open = (): Promise<Audit> =>
    opening ??= options.config.enabled
      ? import("./open.ts").then(({ openAudit }) => openAudit(options))
      : Promise.resolve(NO_AUDIT);
  let loadingRefusals: Promise<Refusals> | null = null;
  const logFailure = (message: string) => (error: unknown): void =>
    options.log("error", message, { detail: error instanceof Error ? error.message : String(error) });
  return {
    open,
    loadCallAudit: async () => {
      const [audit, { auditCall }] = await Promise.all([open(), import("./call_audit.ts")]);
      const { log_precheck_payloads: logPrecheckPayloads } = options.config;
      return (name, input, call) => auditCall({ audit, logPrecheckPayloads }, name, input, call);
    },
    refused: (decision) => {
      if (!options.config.enabled) return;
      loadingRefusals ??= Promise.all([open(), import("./refusals.ts")])
        .then(([audit, { createRefusals }]) => createRefusals({ audit, metrics: UNCOUNTED }));
      loadingRefusals.then((refusals) => refusals.record(decision), () => undefined);
    },
    reopen: () => {
      opening?.then((audit) => audit.reopen()).catch(logFailure("Cannot open the audit log again"));
    },
    close: async () => {
      if (opening === null) return;
      await loadingRefusals?.then((refusals) => refusals.flush(), () => undefined);
      const { promise: late, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(
        resolve,
        options.openHeads === undefined ? CLOSE_MILLISECONDS : HEAD_CLOSE_MILLISECONDS,
      );
      const closed = opening.then(
        (audit) => audit.close().catch(logFailure("Cannot close the audit log")),
        () => undefined,
      );
      await Promise.race([closed, late]);
      clearTimeout(timer);
    },
  };
}
