/**
 * Which names a client may call this server by, and which web pages may call it: `Host` and `Origin` are checked, so that
 * a page whose name was pointed at this machine (DNS rebinding) gets nothing.
 *
 * @module
 */

import { isLoopbackAddress } from "../../config/bind.ts";

/** What is accepted besides the names of this machine itself. */
export interface NameOptions {
  /** The address that is listened on, without brackets. */
  readonly bindAddress: string;
  /** The port that is listened on. */
  readonly port: () => number;
  /** `--allowed-host`: a name for any port, or `name:port`. */
  readonly allowedHosts: readonly string[];
  /** `--allowed-origin`: `scheme://name` or `scheme://name:port`. */
  readonly allowedOrigins: readonly string[];
}

/** The checks. */
export interface HostAndOriginChecks {
  /** Whether a `Host` is one of ours. */
  readonly host: (value: string | null) => boolean;
  /** Whether a page of an `Origin` may call; without one it is no page that calls. */
  readonly origin: (value: string | null) => boolean;
  /** Whether an `Origin` was listed by the operator, so that its pages may also read answers. */
  readonly isListedOrigin: (value: string) => boolean;
}

/** The names of this machine for itself. */
const LOOPBACK_NAMES = ["localhost", "127.0.0.1", "[::1]"];

const HOST = /^(\[[0-9a-f:.]{2,45}\]|[a-z0-9_](?:[a-z0-9._-]{0,253}[a-z0-9_])?)(?::([0-9]{1,5}))?$/;
const WEB_ORIGIN = /^https?:\/\/(.+)$/;

/**
 * Makes the checks. The names of the loopback and the address listened on are always accepted, with the port listened on or
 * without one: a name that an attacker controls is neither, and a client that names another port was sent here by something
 * between them, which the operator allows by name. Pages of the loopback may call a server that listens on the loopback.
 */
export function createHostAndOriginChecks(options: NameOptions): HostAndOriginChecks {
  const address = options.bindAddress.includes(":") ? `[${options.bindAddress}]` : options.bindAddress;
  const own = new Set([...LOOPBACK_NAMES, address].map((name) => name.toLowerCase()));
  const listed = new Set(options.allowedHosts.map((name) => name.toLowerCase()));
  const origins = new Set(options.allowedOrigins.map((origin) => origin.toLowerCase()));
  const isLocal = isLoopbackAddress(options.bindAddress);
  const isListedOrigin = (value: string): boolean => origins.has(value.toLowerCase());
  return {
    isListedOrigin,
    host: (value) => {
      const match = HOST.exec(value?.toLowerCase() ?? "");
      if (match === null) return false;
      const [whole, name = "", port] = match;
      if (listed.has(name) || listed.has(whole)) return true;
      return own.has(name) && (port === undefined || Number(port) === options.port());
    },
    origin: (value) => {
      if (value === null || isListedOrigin(value)) return true;
      const match = HOST.exec(WEB_ORIGIN.exec(value.toLowerCase())?.[1] ?? "");
      return isLocal && LOOPBACK_NAMES.includes(match?.[1] ?? "");
    },
  };
}

/** Whether a text can be a value of `--allowed-host`. */
export function isHostName(text: string): boolean {
  return HOST.test(text.toLowerCase());
}

/** Whether a text can be a value of `--allowed-origin`: a scheme and a host, nothing after it. */
export function isOriginName(text: string): boolean {
  return HOST.test(/^[a-z][a-z0-9+.-]*:\/\/(.+)$/.exec(text.toLowerCase())?.[1] ?? "");
}
