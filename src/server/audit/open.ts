import type { AuditConfig } from "../../config/types.ts";
import { VERSION } from "../../config/product_version.ts";
import type { Log } from "../process/log.ts";
import type { AuditDamage } from "./file.ts";
import { openFileSink } from "./file_sink.ts";
import { createHeadRecorder, type OpenHeadStore } from "./head_recorder.ts";
import { openStreamSink } from "./stream_sink.ts";
import { type Audit, type AuditEvent, NO_AUDIT } from "./types.ts";

/** The options of {@link openAudit}. */
export interface OpenAuditOptions {
  /** `server.audit`. */
  readonly config: Pick<AuditConfig, "enabled" | "path">;
  /** Writes all bytes to standard error, after any write in progress. */
  readonly writeError: (bytes: Uint8Array) => Promise<void>;
  readonly log: Log;
  /** Opens the store that keeps heads apart from the file; absent without one. */
  readonly openHeads?: OpenHeadStore | undefined;
}

/** The first event of every process. */
const OPENING: AuditEvent = {
  kind: "process",
  outcome: "begun",
  reason: "process_started",
  subject: null,
  origin: null,
  details: { version: VERSION },
};

const DAMAGES: Readonly<Record<AuditDamage, string>> = {
  file_deleted: "The audit log was deleted: its lines are lost, and the chain continues in a new file",
  file_changed_outside:
    "The audit log was cut, or written by another program: gate audit verify shows whether its chain is intact",
  lines_missing: "Lines are missing at the end of the audit log: its chain is broken from here on",
};

/**
 * Opens the audit log.
 *
 * @throws {Error} When its file cannot be opened or written, or is no audit log
 */
export function openAudit({ config, writeError, log, openHeads }: OpenAuditOptions): Audit {
  if (!config.enabled) return NO_AUDIT;
  if (config.path === null) return openStreamSink({ write: writeError, opening: OPENING });
  const { path } = config;
  const heads = openHeads === undefined ? null : createHeadRecorder({ path, open: openHeads, log });
  const sink = openFileSink({
    path,
    opening: OPENING,
    ...heads === null ? {} : { onSynced: heads.record },
    onDamage: (damage, details) => log("error", DAMAGES[damage], { path, ...details }),
    onFault: (fault) => {
      if (fault === null) log("info", "The audit log is written again", { path });
      else log("error", "Cannot write the audit log: calls that change anything are refused", { path, detail: fault });
    },
  });
  if (heads === null) return sink;
  return { ...sink, close: () => sink.close().finally(heads.close) };
}
