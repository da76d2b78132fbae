/**
 * Requests and connections that are turned away: counted all, and audited as far as a flood of them leaves room. The
 * first of a kind from one source is told whole and at once, those that follow it within a minute by one line together.
 *
 * @module
 */

import type { CallOrigin } from "../../tools/types.ts";
import type { Audit, AuditEvent, AuditKind } from "../audit/types.ts";
import type { Metrics } from "../metrics.ts";
import { peerKey } from "./peers.ts";

/** What was turned away. */
export interface TurnedAway extends Pick<AuditEvent, "kind" | "reason" | "subject"> {
  readonly origin: CallOrigin;
}

/** Takes what was turned away. */
export interface Refusals {
  /** Counts a refusal, and tells the audit log at once or later. */
  readonly tell: (refusal: TurnedAway) => void;
  /** Tells the audit log of all that was counted since, now. */
  readonly flush: () => void;
}

/** What is needed to tell of them. */
export interface RefusalOptions {
  readonly metrics: Pick<Metrics, "refused">;
  readonly audit: Audit;
  /** Calls a function once, after so many milliseconds. */
  readonly after?: (milliseconds: number, run: () => void) => void;
}

/** Takes the word for why a connection was ended, and the address of its other end. */
export type RefusedConnection = (reason: string, peerAddress: string) => void;

/** For how long refusals that are like the first are counted before they are told, in milliseconds. */
export const COUNTED_MILLISECONDS = 60_000;

/** Pairs of a source and a word that are told apart in that time, of strangers and again of known callers. */
export const TOLD_APART = 256;

interface Counted {
  /** Refusals since the last line. */
  count: number;
  last: TurnedAway;
}

/** Makes the counter. Known callers have a table of their own: strangers who fill theirs blur nothing else. */
export function createRefusals(options: RefusalOptions): Refusals {
  const { metrics, audit, after = afterwards } = options;
  const tables = { strangers: new Map<string, Counted>(), callers: new Map<string, Counted>() };
  /** By the word alone: from whom there is no more room to tell apart. */
  const others = new Map<string, Counted>();
  let isCounting = false;

  const write = (refusal: TurnedAway, details?: AuditEvent["details"]): void => {
    const event: AuditEvent = { ...refusal, outcome: "refused", ...(details === undefined ? {} : { details }) };
    audit.record(event).catch(() => undefined);
  };
  const flush = (): void => {
    for (const table of [tables.strangers, tables.callers]) {
      for (const { count, last } of table.values()) if (count > 0) write(last, { count });
      table.clear();
    }
    for (const { count, last } of others.values()) {
      write({ ...last, subject: null, origin: { ...last.origin, peer_address: null } }, { count });
    }
    others.clear();
  };
  const tell = (refusal: TurnedAway): void => {
    const { kind, reason, subject, origin } = refusal;
    metrics.refused(reason);
    if (!isCounting) {
      isCounting = true;
      after(COUNTED_MILLISECONDS, () => {
        isCounting = false;
        flush();
      });
    }
    const table = subject === null ? tables.strangers : tables.callers;
    const word = `${kind} ${reason}`;
    const key = `${word} ${subject ?? peerKey(origin.peer_address ?? "")}`;
    const known = table.get(key);
    if (known === undefined && table.size < TOLD_APART) {
      table.set(key, { count: 0, last: refusal });
      return write(refusal);
    }
    count(known === undefined ? others : table, known === undefined ? word : key, refusal);
  };
  return { tell, flush };
}

function count(table: Map<string, Counted>, key: string, refusal: TurnedAway): void {
  const counted = table.get(key);
  if (counted === undefined) return void table.set(key, { count: 1, last: refusal });
  counted.count++;
  counted.last = refusal;
}

function afterwards(milliseconds: number, run: () => void): void {
  Deno.unrefTimer(setTimeout(run, milliseconds));
}

/** Makes the function that tells of connections that end before they are a request. */
export function connectionRefusals(
  kind: AuditKind,
  options: { readonly transport: "http" | "sse"; readonly refusals: Refusals; readonly nextServerId: () => string },
): RefusedConnection {
  const { transport, refusals, nextServerId } = options;
  return (reason, peer_address) =>
    refusals.tell({
      kind,
      reason,
      subject: null,
      origin: {
        transport,
        peer_address,
        correlation_id: null,
        server_correlation_id: nextServerId(),
        traceparent: null,
      },
    });
}
