/**
 * A request whose sender is known, on its way to an endpoint.
 *
 * @module
 */

import type { Principal } from "../../access/types.ts";
import type { CallOrigin } from "../../tools/framework/types.ts";
import type { HttpRequest } from "./request.ts";

/** A request with its sender. */
export interface Exchange {
  readonly request: HttpRequest;
  readonly principal: Principal;
  readonly origin: CallOrigin;
}
