/**
 * Connections that end before they are a request: counted all, and audited as far as a flood of them leaves room.
 *
 * @module
 */

import type { Audit, AuditKind } from "../audit/types.ts";
import type { Metrics } from "../metrics.ts";

/** What is needed to tell of them. */
export interface RefusalOptions {
  readonly transport: "http" | "sse";
  readonly metrics: Metrics;
  readonly audit: Audit;
  readonly nextServerId: () => string;
  /** A clock in milliseconds that never goes back. */
  readonly now?: () => number;
}

/** Takes the word for why a connection was ended, and the address of its other end. */
export type RefusedConnection = (reason: string, peerAddress: string) => void;

/** Refusals that are audited in one second; of more only the number is kept, else a flood would fill the log. */
export const AUDITED_A_SECOND = 20;

/** Makes the function that tells metrics and audit log. */
export function connectionRefusals(kind: AuditKind, options: RefusalOptions): RefusedConnection {
  const { transport, metrics, audit, nextServerId, now = (): number => performance.now() } = options;
  let second = -1;
  let audited = 0;
  let unaudited = 0;
  return (reason, peer_address) => {
    metrics.refused(reason);
    const current = Math.floor(now() / 1000);
    if (current !== second) [second, audited] = [current, 0];
    if (++audited > AUDITED_A_SECOND) return void unaudited++;
    const details = unaudited === 0 ? {} : { details: { refused_unaudited: unaudited } };
    unaudited = 0;
    audit.record({
      kind,
      outcome: "refused",
      reason,
      subject: null,
      origin: {
        transport,
        peer_address,
        correlation_id: null,
        server_correlation_id: nextServerId(),
        traceparent: null,
      },
      ...details,
    }).catch(() => undefined);
  };
}
