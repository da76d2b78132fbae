/** A request from an authenticated sender. */

import type { Principal } from "../../access/types.ts";
import type { CallOrigin } from "../../tools/framework/types.ts";
import type { HttpRequest } from "./request.ts";

/** A request and its sender. */
export interface AuthenticatedRequest {
  readonly request: HttpRequest;
  readonly principal: Principal;
  readonly origin: CallOrigin;
}
