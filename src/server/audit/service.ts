/**
 * The audit log of a process: opened when it is first needed, told of signals, and closed at the end.
 *
 * @module
 */

import type { AuditConfig } from "../../config/types.ts";
import type { AuditCall } from "../protocol/dispatcher.ts";
import type { Refusals, TurnedAway } from "./refusals.ts";
import type { Log } from "../process/log.ts";
import { type Audit, NO_AUDIT } from "./types.ts";

/** The audit log of a process. */
export interface AuditService {
  /** Opens the log, once. Rejects where it cannot be opened or written. */
  readonly open: () => Promise<Audit>;
  /** What writes calls to it; opens it, too. */
  readonly loadCallAudit: () => Promise<AuditCall>;
  /** Tells of a message that was turned away, with others like it; opens the log, too. Over HTTP others do that. */
  readonly refused: (refusal: TurnedAway) => void;
  /** Opens the file again after it was moved away; a failure is logged, and shows in readiness. */
  readonly reopen: () => void;
  /** Writes the last line; a failure is logged. */
  readonly close: () => Promise<void>;
}

/** What the service needs. */
export interface AuditServiceOptions {
  /** `server.audit` */
  readonly config: AuditConfig;
  /** Writes all of some bytes to standard error, after whatever is being written there. */
  readonly writeError: (bytes: Uint8Array) => Promise<void>;
  readonly log: Log;
}

/** On stdio nobody asks for metrics. */
const UNCOUNTED = { refused: (): void => undefined };

/** How long the end waits for the last lines, in milliseconds: nobody may read standard error. */
const CLOSE_MILLISECONDS = 1000;

/** Makes the service. Nothing is loaded or opened before it is asked for. */
export function createAuditService(options: AuditServiceOptions): AuditService {
  let opening: Promise<Audit> | null = null;
  const open = (): Promise<Audit> =>
    opening ??= options.config.enabled
      ? import("./open.ts").then(({ openAudit }) => openAudit(options))
      : Promise.resolve(NO_AUDIT);
  let telling: Promise<Refusals> | null = null;
  const say = (what: string) => (error: unknown): void =>
    options.log("error", what, { detail: error instanceof Error ? error.message : String(error) });
  return {
    open,
    loadCallAudit: async () => {
      const [audit, { auditCall }] = await Promise.all([open(), import("./call_audit.ts")]);
      const { log_precheck_payloads: logPrecheckPayloads } = options.config;
      return (name, input, call) => auditCall({ audit, logPrecheckPayloads }, name, input, call);
    },
    refused: (refusal) => {
      if (!options.config.enabled) return;
      telling ??= Promise.all([open(), import("./refusals.ts")])
        .then(([audit, { createRefusals }]) => createRefusals({ audit, metrics: UNCOUNTED }));
      telling.then((refusals) => refusals.tell(refusal), () => undefined);
    },
    reopen: () => {
      opening?.then((audit) => audit.reopen()).catch(say("Cannot open the audit log again"));
    },
    close: async () => {
      if (opening === null) return;
      await telling?.then((refusals) => refusals.flush(), () => undefined);
      const { promise: late, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, CLOSE_MILLISECONDS);
      const closed = opening.then((audit) => audit.close().catch(say("Cannot close the audit log")), () => undefined);
      await Promise.race([closed, late]);
      clearTimeout(timer);
    },
  };
}
