/**
 * The SDK's lane: the official implementation of the protocol behind a transport of ours. It is loaded at the first
 * message that the fast lane leaves to it, and first brought to where the connection already stands.
 *
 * @module
 */

import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/server";
import type { JsonObject } from "../../canonical/json.ts";
import type { Log } from "../process/log.ts";
import type { SdkServerOptions } from "./sdk_server.ts";

/** What the SDK's lane needs of the session. */
export interface SdkLaneOptions extends SdkServerOptions {
  /** Takes what the SDK sends: an answer to a delivered request, or a notification. */
  readonly send: (message: JSONRPCMessage) => void;
  /** Told when the SDK cannot be loaded, and of each message delivered since: nothing will be answered. */
  readonly failed: (thrown: unknown) => void;
  readonly log: Log;
}

/** The SDK's side of one connection. */
export interface SdkLane {
  /** Whether the SDK is loaded, or being loaded. */
  readonly isStarted: () => boolean;
  /**
   * Loads the SDK.
   *
   * @param pin The message that brought the connection to where it stands, without its id; null for none. Its answer
   * was given already, so the SDK's is dropped.
   */
  readonly start: (pin: JsonObject | null) => void;
  /** Delivers one message, in order. */
  readonly deliver: (message: JsonObject) => void;
  readonly close: () => Promise<void>;
}

/** Logged when the SDK is loaded: a connection of plain messages never needs it. */
const SDK_LOADED = "Loading the protocol SDK";

/** The id under which a pin is replayed; no other request is under way then. */
const PIN_ID = "gate-pin";

/** Makes the lane; nothing is loaded yet. */
export function createSdkLane(options: SdkLaneOptions): SdkLane {
  let waiting: JsonObject[] = [];
  let handle: { close(): Promise<void> } | null = null;
  let starting: Promise<void> | null = null;
  let pinAnswered: (() => void) | null = null;
  let failure: { readonly thrown: unknown } | null = null;

  const channel: Transport = {
    start: () => Promise.resolve(),
    close: () => Promise.resolve(),
    send: (message) => {
      if (pinAnswered !== null && "id" in message && message.id === PIN_ID) pinAnswered();
      else options.send(message);
      return Promise.resolve();
    },
  };

  const deliverNow = (message: JsonObject): void => channel.onmessage?.(message as unknown as JSONRPCMessage);

  const start = async (pin: JsonObject | null): Promise<void> => {
    options.log("debug", SDK_LOADED);
    handle = await openSdk(channel, options);
    if (pin !== null) {
      const answered = Promise.withResolvers<void>();
      pinAnswered = answered.resolve;
      deliverNow({ ...pin, id: PIN_ID });
      await answered.promise;
      pinAnswered = null;
    }
    const first = waiting;
    waiting = [];
    for (const message of first) deliverNow(message);
  };

  return {
    isStarted: () => starting !== null,
    start: (pin) => {
      starting ??= start(pin).catch((thrown) => {
        failure = { thrown };
        waiting = [];
        options.failed(thrown);
      });
    },
    deliver: (message) => {
      if (failure !== null) options.failed(failure.thrown);
      else if (handle === null || pinAnswered !== null || waiting.length > 0) waiting.push(message);
      else deliverNow(message);
    },
    close: async () => {
      await starting;
      await handle?.close();
    },
  };
}

/** Connects the SDK's own stdio entry, which knows both eras, to a channel. */
async function openSdk(channel: Transport, options: SdkLaneOptions): Promise<{ close(): Promise<void> }> {
  const [sdk, { serveStdio }, { makeSdkServer }] = await Promise.all([
    import("@modelcontextprotocol/server"),
    import("@modelcontextprotocol/server/stdio"),
    import("./sdk_server.ts"),
  ]);
  return serveStdio(() => makeSdkServer(sdk, options), {
    transport: channel,
    onerror: (error) => options.log("debug", "Message refused by the protocol", { detail: error.message }),
  });
}
