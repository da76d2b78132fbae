/**
 * The permissions of each built-in provider's workers, derived from its configuration, and the grant as evidence states
 * it: by name, without paths or addresses.
 */

import type { JsonObject } from "../../canonical/json.ts";
import { urlHost } from "../../config/host_name.ts";
import type { WorkerPermissions } from "../sandbox/worker_host.ts";

/** A worker without permissions. */
export const NO_PERMISSIONS: WorkerPermissions = {};

/** A worker that may connect to one port of these addresses. */
export function addressPermissions(addresses: readonly string[], port: number): WorkerPermissions {
  return { net: addresses.map((address) => `${urlHost(address)}:${port}`) };
}

/** The grant as an acquisition records it. */
export function describeGrant(granted: {
  readonly env?: readonly string[];
  /** `host:port`. */
  readonly net?: readonly string[];
  /** Identifiers of roots. */
  readonly read?: readonly string[];
}): JsonObject {
  return { sandbox: "worker", env: granted.env ?? [], net: granted.net ?? [], read: granted.read ?? [] };
}
