/**
 * The address that the server listens on.
 *
 * @module
 */

/** Four numbers of 0 to 255 in decimal, without leading zeros. */
const IPV4 = /^(?:(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])(?:\.(?!$)|$)){4}$/;

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
  const match = /^(.+):(0|[1-9][0-9]{0,4})$/.exec(bind);
  const [, host = "", digits = ""] = match ?? [];
  const bracketed = /^\[(.+)\]$/.exec(host)?.[1];
  const isAddress = bracketed === undefined ? IPV4.test(host) : canonicalIpv6(bracketed) !== null;
  const port = Number(digits);
  return isAddress && port <= 65535 ? { hostname: bracketed ?? host, port } : null;
}

/** Whether an IP address is of this machine alone: 127.0.0.0/8, ::1, and the former mapped into IPv6. */
export function isLoopbackAddress(address: string): boolean {
  if (IPV4.test(address)) return address.startsWith("127.");
  const canonical = canonicalIpv6(address);
  return canonical !== null && (canonical === "::1" || /^::ffff:7f[0-9a-f]{2}:/.test(canonical));
}

/** An IPv6 address in the one spelling of the URL standard, or null. `node:net` would do it too, but costs a start 15 ms. */
export function canonicalIpv6(address: string): string | null {
  if (!/^[0-9a-fA-F:.]+$/.test(address) || !URL.canParse(`http://[${address}]/`)) return null;
  return new URL(`http://[${address}]/`).hostname.slice(1, -1);
}
