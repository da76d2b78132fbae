/**
 * The address that the server listens on.
 *
 * @module
 */

import { BlockList, isIP, isIPv6 } from "node:net";

/** A parsed `server.bind`. */
export interface BindAddress {
  /** An IP address, without brackets. */
  readonly hostname: string;
  /** 0 to 65535; 0 lets the system choose. */
  readonly port: number;
}

/**
 * Reads `IP:port`, with an IPv6 address in brackets; null for anything else, host names too.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { parseBind } from "@/config/bind.ts";
 *
 * assert.deepEqual(parseBind("[::1]:8080"), { hostname: "::1", port: 8080 });
 * assert.equal(parseBind("localhost:8080"), null);
 * ```
 */
export function parseBind(bind: string): BindAddress | null {
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([0-9.]+)):(0|[1-9][0-9]{0,4})$/.exec(bind);
  if (match === null) return null;
  const [, bracketed, plain, digits] = match;
  const hostname = bracketed ?? plain ?? "";
  const port = Number(digits);
  const family = bracketed === undefined ? 4 : 6;
  return isIP(hostname) === family && port <= 65535 ? { hostname, port } : null;
}

/** Whether an IP address is of this machine alone: 127.0.0.0/8, ::1, and the former mapped into IPv6. */
export function isLoopbackAddress(address: string): boolean {
  if (isIP(address) === 0) return false;
  const loopback = new BlockList();
  loopback.addSubnet("127.0.0.0", 8, "ipv4");
  loopback.addAddress("::1", "ipv6");
  return loopback.check(address, isIPv6(address) ? "ipv6" : "ipv4");
}
