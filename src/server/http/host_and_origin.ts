/** Checks `Host` and `Origin` against allowed names, so that a web page cannot reach the server by DNS rebinding. */

import { isLoopbackAddress } from "../../config/bind.ts";
import { ofLast } from "../process/of_last.ts";

/** The names that are accepted besides those of this machine. */
export interface NameOptions {
  /** The address that is listened on, without brackets. */
  readonly bindAddress: string;
  /** The port that is listened on. */
  readonly port: () => number;
  /** `--allowed-host`: a name for any port, or `name:port`. */
  readonly allowedHosts: readonly string[];
  /** `--allowed-origin`: `scheme://name` or `scheme://name:port`. */
  readonly allowedOrigins: readonly string[];
  /** The schemes of the server's own pages, which may call it; absent where it has none. */
  readonly pageSchemes?: readonly ("http" | "https")[];
}

/** The checks. */
export interface HostAndOriginChecks {
  /** Whether a `Host` names this server. */
  readonly host: (value: string | null) => boolean;
  /**
   * Whether pages of an `Origin` may call. A request without `Origin` is not from a page, and may.
   *
   * @param host The `Host` of the request, which passed its check: a page of the server itself has it in its origin
   */
  readonly origin: (value: string | null, host?: string | null) => boolean;
  /** Whether the operator listed an `Origin`: its pages may also read answers. */
  readonly isListedOrigin: (value: string) => boolean;
}

/** The loopback names of this machine. */
const LOOPBACK_NAMES = ["localhost", "127.0.0.1", "[::1]"];

const HOST = /^(\[[0-9a-f:.]{2,45}\]|[a-z0-9_](?:[a-z0-9._-]{0,253}[a-z0-9_])?)(?::([0-9]{1,5}))?$/;
const WEB_ORIGIN = /^(https?):\/\/(.+)$/;

/**
 * Makes the checks. The loopback names and the bind address are always accepted, with the bind port or without a port:
 * an attacker controls neither. A client behind a forwarder may name another port; the operator allows that name with
 * `--allowed-host`. Pages of the loopback may call a server that listens on the loopback.
 */
export function createHostAndOriginChecks(options: NameOptions): HostAndOriginChecks {
  const address = options.bindAddress.includes(":") ? `[${options.bindAddress}]` : options.bindAddress;
  const own = new Set([...LOOPBACK_NAMES, address].map((name) => name.toLowerCase()));
  const listed = new Set(options.allowedHosts.map((name) => name.toLowerCase()));
  const origins = new Set(options.allowedOrigins.map((origin) => origin.toLowerCase()));
  const isLocal = isLoopbackAddress(options.bindAddress);
  const isListedOrigin = (value: string): boolean => origins.has(value.toLowerCase());
  const readHost = ofLast((value: string) => HOST.exec(value.toLowerCase()));
  const readOrigin = ofLast((value: string) => {
    const [, scheme, named = ""] = WEB_ORIGIN.exec(value.toLowerCase()) ?? [];
    const isLoopback = LOOPBACK_NAMES.includes(HOST.exec(named)?.[1] ?? "");
    return { isListed: isListedOrigin(value), scheme, named, isLoopback };
  });
  return {
    isListedOrigin,
    host: (value) => {
      const match = readHost(value ?? "");
      if (match === null) return false;
      const [whole, name = "", port] = match;
      if (listed.has(name) || listed.has(whole)) return true;
      return own.has(name) && (port === undefined || Number(port) === options.port());
    },
    origin: (value, host = null) => {
      if (value === null) return true;
      const { isListed, scheme, named, isLoopback } = readOrigin(value);
      if (isListed) return true;
      const isOwn = options.pageSchemes?.some((one) => one === scheme) === true && named === host?.toLowerCase();
      return isOwn || isLocal && isLoopback;
    },
  };
}

/** Whether a text can be a value of `--allowed-host`. */
export function isHostName(text: string): boolean {
  return HOST.test(text.toLowerCase());
}

/** Whether a text can be a value of `--allowed-origin`: only a scheme and a host. */
export function isOriginName(text: string): boolean {
  return HOST.test(/^[a-z][a-z0-9+.-]*:\/\/(.+)$/.exec(text.toLowerCase())?.[1] ?? "");
}
