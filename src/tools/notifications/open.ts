/**
 * Connects the notifier with the stores and with the receiver that the operator names. Loaded only where one is named.
 */

import { setTimeout } from "node:timers/promises";
import { sha256 } from "../../evidence/host_primitives.ts";
import { createPoster } from "../../evidence/builtin/post_request.ts";
import { headerValue } from "../../evidence/builtin/response.ts";
import type { Projections } from "../../store/projection.ts";
import type { RunStore } from "../../store/types.ts";
import type { PinnedResponse } from "../../evidence/egress/pinned_request.ts";
import { eventsOf } from "./events.ts";
import { CONCURRENCY, type Notifier, type NotifierOptions, type Sent, startNotifier } from "./notifier.ts";
import { signedHeaders } from "./signature.ts";

/** Where events go. */
export interface Receiver {
  /** `https`, or `http` to this machine; never logged, since its path can be a credential. */
  readonly url: string;
  readonly secret: Uint8Array;
}

/** The parts of a server that the notifier uses. */
interface Parts extends Pick<NotifierOptions, "log"> {
  readonly runs: RunStore;
  readonly projections: Projections;
}

/** Milliseconds for one request. */
const REQUEST_MILLIS = 15_000;

/** Registers the receiver in the store, and starts to send. */
export async function openNotifier(receiver: Receiver, { runs, projections, log }: Parts): Promise<Notifier> {
  const { url, secret } = receiver;
  const target = sha256(url);
  // Before the first call is answered: its records wait for the receiver, whenever the notifier looks.
  await runs.outbox.register(target);
  const poster = createPoster({ url, requestMillis: REQUEST_MILLIS, concurrency: CONCURRENCY });
  const notifier = startNotifier({
    outbox: runs.outbox,
    target,
    holder: crypto.randomUUID(),
    eventsOf: (entry) => eventsOf(entry, (namespaceId, identity) => projections.law(namespaceId, identity)),
    send: async (event, signal) => {
      const answer = await poster.post({ headers: signedHeaders(secret, event, Date.now()), body: event.body }, signal);
      return "code" in answer ? { kind: "failed", reason: answer.code, retryAfterMillis: null } : sentOf(answer);
    },
    log,
    now: Date.now,
    elapsed: () => performance.now(),
    // An abort ends the pause. A process whose transport has ended does not wait for the next look.
    delay: (millis, signal) => setTimeout(millis, undefined, { signal, ref: false }).catch(() => {}),
    random: Math.random,
  });
  return {
    ...notifier,
    close: async () => {
      await notifier.close();
      poster.close();
    },
  };
}

/** Statuses of refusals that say nothing about the event. */
const LATER = [408, 425, 429];

function sentOf(answer: PinnedResponse): Sent {
  const { status } = answer;
  if (status >= 200 && status < 300) return { kind: "delivered" };
  if (status === 410) return { kind: "gone" };
  const reason = `status ${status}`;
  if (status >= 400 && status < 500 && !LATER.includes(status)) return { kind: "refused", reason };
  return { kind: "failed", reason, retryAfterMillis: retryAfter(headerValue(answer, "retry-after"), Date.now()) };
}

/**
 * The pause that `Retry-After` asks for, in milliseconds; null without one that can be read.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { retryAfter } from "@/tools/notifications/open.ts";
 *
 * assert.equal(retryAfter("120", 0), 120_000);
 * assert.equal(retryAfter("Thu, 01 Jan 1970 00:00:05 GMT", 2_000), 3_000);
 * assert.equal(retryAfter("soon", 0), null);
 * ```
 */
export function retryAfter(value: string | null, now: number): number | null {
  if (value === null) return null;
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1000;
  const until = Date.parse(value);
  return Number.isNaN(until) ? null : Math.max(0, until - now);
}
