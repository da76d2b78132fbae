/** Counts and audits rejected requests and connections, and audits admitted callers. */

import type { Principal } from "../../access/types.ts";
import type { JsonObject } from "../../canonical/json.ts";
import type { CallOrigin } from "../../tools/framework/types.ts";
import type { AuditKind } from "./types.ts";
import type { Metrics } from "../process/metrics.ts";
import {
  type CoalescerOptions,
  createEventCoalescer,
  type EventCoalescer,
  type RequestDecision,
} from "./event_coalescer.ts";
import { peerKey } from "./peers.ts";

/** Records rejections. */
export type Refusals = EventCoalescer;

/** The options of {@link createRefusals}. */
export interface RefusalOptions extends Pick<CoalescerOptions, "audit" | "after"> {
  readonly metrics: Pick<Metrics, "refused">;
}

/** Records a connection that was ended: the reason, the address of the peer, and further facts. */
export type RefusedConnection = (reason: string, peerAddress: string, details?: JsonObject) => void;

/** Makes the recorder of rejections. Their source is the caller where it is known, otherwise the address. */
export function createRefusals({ metrics, audit, after }: RefusalOptions): Refusals {
  const sourceOf = ({ subject, origin }: RequestDecision): string => subject ?? peerKey(origin.peer_address ?? "");
  const { record, flush } = createEventCoalescer({ audit, outcome: "refused", sourceOf, after });
  return {
    flush,
    record: (decision) => {
      metrics.refused(decision.reason);
      record(decision);
    },
  };
}

/** Records admitted callers. */
export interface Admissions extends Pick<EventCoalescer, "flush"> {
  readonly record: (principal: Principal, origin: CallOrigin) => void;
}

/** Makes the recorder of admitted callers. Their source is the caller and its address. */
export function createAdmissions({ audit, after }: Pick<CoalescerOptions, "audit" | "after">): Admissions {
  const sourceOf = ({ subject, origin }: RequestDecision): string => `${subject} ${peerKey(origin.peer_address ?? "")}`;
  const { record, flush } = createEventCoalescer({ audit, outcome: "allowed", sourceOf, after });
  return {
    flush,
    record: ({ subject, authMethod }, origin) =>
      record({
        kind: "authentication",
        reason: "authenticated",
        subject,
        origin,
        details: { auth_method: authMethod },
      }),
  };
}

/** Makes the recorder of connections that end before they carry a request. */
export function connectionRefusals(
  kind: AuditKind,
  options: { readonly transport: "http" | "sse"; readonly refusals: Refusals; readonly nextServerId: () => string },
): RefusedConnection {
  const { transport, refusals, nextServerId } = options;
  return (reason, peer_address, details) => {
    // A connection that was reset before it was accepted has no address, and nothing of it was read.
    if (peer_address === "") return;
    refusals.record({
      kind,
      reason,
      subject: null,
      ...details === undefined ? {} : { details },
      origin: {
        transport,
        peer_address,
        correlation_id: null,
        server_correlation_id: nextServerId(),
        traceparent: null,
      },
    });
  };
}
