/** The address that the server listens on. */

/** Four decimal numbers of 0 to 255 without leading zeros. */
const IPV4 = /^(?:(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])(?:\.(?!$)|$)){4}$/;

/** A parsed `server.bind`. */
export interface BindAddress {
  /** An IP address, without brackets. */
  readonly hostname: string;
  /** 0 to 65535; with 0 the system chooses a port. */
  readonly port: number;
}

/** Parses `IP:port`, with an IPv6 address in brackets. Returns null for any other text, a host name included. */
export function parseBind(bind: string): BindAddress | null {
  const match = /^(.+):(0|[1-9][0-9]{0,4})$/.exec(bind);
  const [, host = "", digits = ""] = match ?? [];
  const bracketed = /^\[(.+)\]$/.exec(host)?.[1];
  const isAddress = bracketed === undefined ? IPV4.test(host) : canonicalIpv6(bracketed) !== null;
  const port = Number(digits);
  return isAddress && port <= 65535 ? { hostname: bracketed ?? host, port } : null;
}

/** Whether an IP address is a loopback address: 127.0.0.0/8, ::1, or 127.0.0.0/8 mapped into IPv6. */
export function isLoopbackAddress(address: string): boolean {
  if (IPV4.test(address)) return address.startsWith("127.");
  const canonical = canonicalIpv6(address);
  return canonical !== null && (canonical === "::1" || /^::ffff:7f[0-9a-f]{2}:/.test(canonical));
}

/**
 * An IPv6 address in the canonical spelling of the URL standard, or null. Loading `node:net` instead would cost each
 * start 15 ms.
 */
export function canonicalIpv6(address: string): string | null {
  if (!/^[0-9a-fA-F:.]+$/.test(address) || !URL.canParse(`http://[${address}]/`)) return null;
  return new URL(`http://[${address}]/`).hostname.slice(1, -1);
}
