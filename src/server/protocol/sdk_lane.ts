/**
 * The SDK lane of one connection: the official SDK behind an in-memory transport. The first message that the fast lane does
 * not answer loads the SDK. A pinned message then brings it to the era of the connection.
 *
 * @module
 */

import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/server";
import type { JsonObject } from "../../canonical/json.ts";
import type { Log } from "../process/log.ts";
import type { SdkServerOptions } from "./sdk_server_options.ts";

/** The options of the SDK lane. */
export interface SdkLaneOptions extends SdkServerOptions {
  /** Receives the messages of the SDK: answers to delivered requests, and notifications. */
  readonly send: (message: JSONRPCMessage) => void;
  /** Called when the SDK cannot be loaded, and again for each later message: none will be answered. */
  readonly failed: (thrown: unknown) => void;
  readonly log: Log;
}

/** The SDK lane of one connection. */
export interface SdkLane {
  /** Whether the SDK is loaded or loading. */
  readonly isStarted: () => boolean;
  /**
   * Loads the SDK.
   *
   * @param pin A message that brings the SDK to the era of the connection, without its id; null in the opening era. The
   * SDK's answer to it is dropped, since the fast lane has answered.
   */
  readonly start: (pin: JsonObject | null) => void;
  /** Delivers one message, in order. */
  readonly deliver: (message: JsonObject) => void;
  readonly close: () => Promise<void>;
}

/** The log entry of loading the SDK. A connection of plain messages never loads it. */
const SDK_LOADED = "Loading the protocol SDK";

/** The id of the pinned message; no other request is in work at that time. */
const PIN_ID = "gate-pin";

/** Makes the lane, without loading the SDK. */
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

/** Connects the SDK's stdio entry, which handles both eras, to a channel. */
async function openSdk(channel: Transport, options: SdkLaneOptions): Promise<{ close(): Promise<void> }> {
  const [sdk, { serveStdio }, { makeSdkServer }] = await Promise.all([
    import("@modelcontextprotocol/server"),
    import("@modelcontextprotocol/server/stdio"),
    import("./sdk_server.ts"),
  ]);
  return serveStdio(() => makeSdkServer(sdk, options), {
    transport: channel,
    onerror: (error) => options.log("debug", "Message rejected by the protocol", { detail: error.message }),
  });
}
