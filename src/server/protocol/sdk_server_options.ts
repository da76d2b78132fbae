/**
 * The interface between the SDK and the tools behind it.
 *
 * @module
 */

import type { JsonObject } from "../../canonical/json.ts";
import type { Tool } from "../../tools/framework/types.ts";
import type { RequestId } from "../process/edge_error.ts";
import type { CallOutcome } from "./dispatcher.ts";
import type { Offer } from "./offer.ts";
import type { ReadOutcome, ReadRequest } from "./read_request.ts";

/** The tools and offers behind the SDK. Each `id` is that of a request that was delivered to the SDK. */
export interface SdkServerOptions {
  readonly listTools: () => Promise<readonly Tool[]>;
  /** Calls the tool of a `tools/call` request. */
  readonly callTool: (id: RequestId) => Promise<CallOutcome>;
  readonly offer: Offer;
  /** Calls a tool for the caller of a request. */
  readonly askTool: (id: RequestId, name: string, input: JsonObject) => Promise<CallOutcome>;
  /** Reads for the caller of a request. */
  readonly read: <Found>(id: RequestId, request: ReadRequest<Found>) => Promise<ReadOutcome<Found>>;
}
