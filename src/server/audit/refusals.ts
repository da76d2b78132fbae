/**
 * Requests and connections that are turned away, counted all and told alike ones together; and callers that are let in.
 *
 * @module
 */

import type { Principal } from "../../access/types.ts";
import type { JsonObject } from "../../canonical/json.ts";
import type { CallOrigin } from "../../tools/framework/types.ts";
import type { AuditKind } from "./types.ts";
import type { Metrics } from "../process/metrics.ts";
import { type AlikeDecisions, type AlikeOptions, createAlikeDecisions, type Decided } from "./event_coalescer.ts";
import { peerKey } from "./peers.ts";

/** What was turned away. */
export type TurnedAway = Decided;

/** Takes what was turned away. */
export type Refusals = AlikeDecisions;

/** What is needed to tell of them. */
export interface RefusalOptions extends Pick<AlikeOptions, "audit" | "after"> {
  readonly metrics: Pick<Metrics, "refused">;
}

/** Takes the word for why a connection was ended, the address of its other end, and further facts. */
export type RefusedConnection = (reason: string, peerAddress: string, details?: JsonObject) => void;

/** Makes the counter of refusals: their source is the caller where it is known, else the address. */
export function createRefusals({ metrics, audit, after }: RefusalOptions): Refusals {
  const sourceOf = ({ subject, origin }: TurnedAway): string => subject ?? peerKey(origin.peer_address ?? "");
  const { tell, flush } = createAlikeDecisions({ audit, outcome: "refused", sourceOf, after });
  return {
    flush,
    tell: (refusal) => {
      metrics.refused(refusal.reason);
      tell(refusal);
    },
  };
}

/** Takes callers that were let in. */
export interface Admissions extends Pick<AlikeDecisions, "flush"> {
  readonly tell: (principal: Principal, origin: CallOrigin) => void;
}

/** Makes the counter of callers that are let in: their source is who they are and the address that they come from. */
export function createAdmissions({ audit, after }: Pick<AlikeOptions, "audit" | "after">): Admissions {
  const sourceOf = ({ subject, origin }: Decided): string => `${subject} ${peerKey(origin.peer_address ?? "")}`;
  const { tell, flush } = createAlikeDecisions({ audit, outcome: "allowed", sourceOf, after });
  return {
    flush,
    tell: ({ subject, authMethod }, origin) =>
      tell({
        kind: "authentication",
        reason: "authenticated",
        subject,
        origin,
        details: { auth_method: authMethod },
      }),
  };
}

/** Makes the function that tells of connections that end before they are a request. */
export function connectionRefusals(
  kind: AuditKind,
  options: { readonly transport: "http" | "sse"; readonly refusals: Refusals; readonly nextServerId: () => string },
): RefusedConnection {
  const { transport, refusals, nextServerId } = options;
  return (reason, peer_address, details) => {
    // Reset before it was taken: nothing was read of it, nobody was refused.
    if (peer_address === "") return;
    refusals.tell({
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
