/**
 * Compares gate's protocol with the SDK's server: the same mutated messages for both, and the same answers, or a listed
 * reason.
 *
 * @module
 */

import assert from "node:assert/strict";
import type { JsonObject } from "@/canonical/json.ts";
import { DEFAULT_SETTINGS } from "@/config/defaults.ts";
import { createDocumentation } from "@/docs/documentation.ts";
import { createDispatcher } from "@/server/protocol/dispatcher.ts";
import { readMessage } from "@/server/protocol/message.ts";
import { offerWith } from "@/server/protocol/offer.ts";
import { fixtureTools } from "../e2e/fixture_tools.ts";
import { drawFields, drawMessage, randomOf } from "./mutations.ts";
import { gateImplementation, type Reply, sdkImplementation } from "./peers.ts";

/** Messages of one connection. */
const CONNECTION_MESSAGES = 4;

const dispatcher = createDispatcher({
  loadTools: () => Promise.resolve(fixtureTools()),
  tools: { mode: "filter", allowlist: [], denylist: [] },
  auth: null,
  log: () => undefined,
  offer: offerWith(createDocumentation(DEFAULT_SETTINGS.docs), () => true),
});

/** The part of a reply that both must agree on. Error messages are words for people, and differ. */
interface Seen {
  readonly status: number | null;
  readonly results: readonly JsonObject[];
  /** The code of the error, or null. */
  readonly code: unknown;
  /** The id of the error. */
  readonly id: unknown;
}

function seenIn({ status, messages }: Reply): Seen {
  const failed = messages.find((message) => "error" in message);
  return {
    status,
    results: messages.filter((message) => message !== failed),
    code: (failed?.["error"] as JsonObject | undefined)?.["code"] ?? null,
    id: failed?.["id"] ?? null,
  };
}

/** A difference that is meant. */
interface Reason {
  readonly why: string;
  readonly holds: (ours: Seen, theirs: Seen, message: JsonObject) => boolean;
}

const PARAMETERS: Reason = {
  why: "parameters of another shape are invalid parameters, not an internal error",
  holds: (ours, theirs) => ours.status === theirs.status && ours.code === -32602 && theirs.code === -32603,
};

const HTTP_REASONS: readonly Reason[] = [
  PARAMETERS,
  {
    why: "a message that cannot be read has the code of its fault and, where it is known, its id",
    holds: (ours, theirs, message) => isUnread(message) && ours.status === 400 && theirs.status === 400,
  },
  {
    why: "a version of the older era that is not served has the code of unsupported versions and the id of the request",
    holds: (ours, theirs) => ours.status === 400 && ours.code === -32022 && theirs.code === -32000,
  },
  {
    why: "an initialize is judged by its parameters, whatever version the header names",
    holds: (ours, theirs, { method }) =>
      method === "initialize" && ours.code === -32602 && ours.status === 200 && theirs.code === -32000,
  },
  {
    why: "the newer era has no responses of clients",
    holds: (ours, theirs, message) => "result" in message && ours.code === -32600 && theirs.code === -32000,
  },
];

const CONNECTION_REASONS: readonly Reason[] = [
  PARAMETERS,
  {
    why: "a subscription to nothing ends at once, as over HTTP",
    holds: ({ results: [first, second] }, { results: [only, ...others] }, { method }) => {
      if (method !== "subscriptions/listen" || others.length > 0) return false;
      assert.deepEqual(first, only);
      return (second?.["result"] as JsonObject | undefined)?.["resultType"] === "complete";
    },
  },
  {
    why: "a connection of the newer era serves no other version",
    holds: (ours) => ours.code === -32022,
  },
];

function isUnread(message: JsonObject): boolean {
  return !readMessage(message).ok;
}

/** Compares two replies and counts the reason of a difference; fails where there is none. */
function compare(reasons: readonly Reason[], counts: Map<string, number>, message: JsonObject, replies: Reply[]): void {
  const [ours, theirs] = replies.map(seenIn);
  if (ours === undefined || theirs === undefined) throw new Error("Cannot compare: two replies are needed");
  try {
    assert.deepEqual(ours, theirs, JSON.stringify(message));
  } catch (error) {
    const reason = reasons.find(({ holds }) => holds(ours, theirs, message));
    if (reason === undefined) throw error;
    counts.set(reason.why, (counts.get(reason.why) ?? 0) + 1);
  }
}

/** A reason that explains nothing any longer hides nothing: it is removed. */
function assertUsed(reasons: readonly Reason[], counts: ReadonlyMap<string, number>): void {
  assert.deepEqual(reasons.map(({ why }) => why).filter((why) => !counts.has(why)), []);
}

/** Sends messages with header fields over HTTP, each without a session. */
export async function compareOverHttp(seed: number, messages: number): Promise<void> {
  const random = randomOf(seed);
  const [gate, sdk] = [gateImplementation(dispatcher), sdkImplementation(dispatcher)];
  const counts = new Map<string, number>();
  for (let at = 0; at < messages; at++) {
    const message = drawMessage(random, at);
    const fields = drawFields(random, message);
    const replies = await Promise.all([gate, sdk].map((implementation) => implementation.post(message, fields)));
    compare(HTTP_REASONS, counts, message, replies);
  }
  assertUsed(HTTP_REASONS, counts);
}

/** Sends messages on connections, a few on each. */
export async function compareOnConnections(seed: number, messages: number): Promise<void> {
  const random = randomOf(seed);
  const implementations = [gateImplementation(dispatcher), sdkImplementation(dispatcher)];
  const counts = new Map<string, number>();
  for (let at = 0; at < messages;) {
    const connections = implementations.map((implementation) => implementation.connect());
    for (const end = at + CONNECTION_MESSAGES; at < end; at++) {
      const message = drawMessage(random, at);
      // The SDK drops what it cannot read; gate answers it (tests/e2e/protocol/hostile_test.ts).
      if (isUnread(message)) continue;
      compare(CONNECTION_REASONS, counts, message, await Promise.all(connections.map(({ send }) => send(message))));
    }
    for (const connection of connections) await connection.close();
  }
  assertUsed(CONNECTION_REASONS, counts);
}
