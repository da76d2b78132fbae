/** What the operator grants to typed providers: hosts, and the credentials that may go to each host. */

import { isLoopbackAddress } from "../../config/bind.ts";
import { hostKey } from "../../config/host_name.ts";
import type { PrivateSetting } from "../egress/destination.ts";
import type { ContractProblem } from "../contract/problems.ts";
import type { Locator, RuntimeProfile } from "./runtime_profile.ts";

/** A host and port that typed providers may connect to. */
export interface TypedHost {
  /** By `hostKey`. */
  readonly host: string;
  readonly port: number;
  /** The locators of the credentials that may be used there. */
  readonly credentials: readonly Locator[];
}

/** What typed providers may do. */
export interface TypedGrants {
  readonly hosts: readonly TypedHost[];
  readonly allowPrivateNetworks: boolean;
  readonly privateSetting: PrivateSetting;
  /** Where connections without TLS are allowed. */
  readonly cleartext: "nowhere" | "loopback" | "everywhere";
  /** Whether locators `env://NAME` are allowed. */
  readonly allowEnvironment: boolean;
  /** Absolute path of the folder of `file://NAME`; null without one. */
  readonly credentialsDir: string | null;
}

/** Nothing is granted. */
export const NO_GRANTS: TypedGrants = {
  hosts: [],
  allowPrivateNetworks: false,
  privateSetting: "--typed-private",
  cleartext: "nowhere",
  allowEnvironment: false,
  credentialsDir: null,
};

/** Why the operator's grants do not cover a profile. */
export interface GrantProblem extends ContractProblem {
  readonly code: "host_not_allowed" | "credential_locator_refused";
}

/** Where a profile connects to. */
export interface ServiceAddress {
  /** By `hostKey`. */
  readonly host: string;
  readonly port: number;
  readonly secure: boolean;
}

/**
 * The name that the certificate of a service is checked for, by `hostKey`: that of its address, unless a gRPC profile
 * has another authority. Null where it is not a host name.
 */
export function certifiedName(profile: RuntimeProfile): string | null {
  if (profile.typed_protocol === "openapi_http" || profile.authority === null) {
    return serviceAddress(profile)?.host ?? null;
  }
  return parseHostPort(profile.authority)?.host ?? null;
}

/** The port of a host without one. */
const DEFAULT_PORT = 443;

/** The host and port that a checked profile connects to; null where its host is not a host name. */
export function serviceAddress(profile: RuntimeProfile): ServiceAddress | null {
  if (profile.typed_protocol === "openapi_http") {
    const { hostname, port, protocol } = new URL(profile.base_url);
    const secure = protocol === "https:";
    const host = hostKey(hostname);
    return host === null ? null : { host, port: port === "" ? (secure ? DEFAULT_PORT : 80) : Number(port), secure };
  }
  const parsed = parseHostPort(profile.endpoint);
  return parsed === null ? null : { ...parsed, secure: !profile.plaintext };
}

/** Parses `HOST` or `HOST:PORT`, with an IPv6 address in brackets; null for any other text. */
export function parseHostPort(text: string): { readonly host: string; readonly port: number } | null {
  const match = /^(\[[^\]]+\]|[^:[\]]+)(?::([1-9][0-9]{0,4}))?$/.exec(text);
  const host = hostKey(match?.[1] ?? "");
  const port = Number(match?.[2] ?? DEFAULT_PORT);
  return host === null || port > 65_535 ? null : { host, port };
}

/** The locators of a profile with their paths. Those of `secrets` have to be granted for the host. */
export function locatorsOf(
  profile: RuntimeProfile,
): { readonly secrets: readonly (readonly [string, Locator])[]; readonly authority: Locator | null } {
  const { tls, credentials } = profile;
  const client: readonly (readonly [string, Locator])[] = tls.client === null
    ? []
    : [["$.tls.client.certificate", tls.client.certificate], ["$.tls.client.key", tls.client.key]];
  const sent = credentials.map(({ locator }, index) => [`$.credentials[${index}].locator`, locator] as const);
  return { secrets: [...sent, ...client], authority: tls.ca };
}

/** The problems of a checked profile under the operator's grants; empty where they cover it. */
export function checkGrants(profile: RuntimeProfile, grants: TypedGrants): readonly GrantProblem[] {
  const path = profile.typed_protocol === "grpc" ? "$.endpoint" : "$.base_url";
  const address = serviceAddress(profile);
  const granted = grants.hosts.filter(({ host, port }) => host === address?.host && port === address.port);
  if (address === null || granted.length === 0) {
    const shown = address === null ? "its host" : `"${address.host}:${address.port}"`;
    return [{ code: "host_not_allowed", path, message: `Expected a host that the operator allows, got ${shown}` }];
  }
  if (!address.secure && !allowsCleartext(address.host, grants)) {
    return [{ code: "host_not_allowed", path, message: "Expected TLS: the operator does not allow cleartext there" }];
  }
  const name = certifiedName(profile);
  // A certificate of another name would let another service receive the credentials.
  if (name !== address.host && !grants.hosts.some(({ host }) => host === name)) {
    const message = "Expected the endpoint's host, or another host that the operator allows";
    return [{ code: "host_not_allowed", path: "$.authority", message }];
  }
  const { secrets, authority } = locatorsOf(profile);
  const problems = secrets.flatMap(([at, locator]) =>
    refuseLocator(at, locator, grants) ?? (granted.some((host) => host.credentials.includes(locator)) ? [] : [{
      code: "credential_locator_refused" as const,
      path: at,
      message: `The operator does not allow this credential for "${address.host}:${address.port}"`,
    }])
  );
  return [...problems, ...authority === null ? [] : refuseLocator("$.tls.ca", authority, grants) ?? []];
}

function allowsCleartext(host: string, { cleartext }: TypedGrants): boolean {
  if (cleartext !== "loopback") return cleartext === "everywhere";
  return host === "localhost" || isLoopbackAddress(host);
}

/** The problem of a locator that may be used nowhere; null where it may be. */
function refuseLocator(path: string, locator: Locator, grants: TypedGrants): readonly GrantProblem[] | null {
  const refused = (message: string): readonly GrantProblem[] => [{
    code: "credential_locator_refused",
    path,
    message,
  }];
  const variable = variableOf(locator);
  if (variable === null) {
    return grants.credentialsDir === null ? refused("A locator file:// needs --credentials-dir") : null;
  }
  if (!grants.allowEnvironment) return refused("A locator env:// needs dev.allow_dev_env_credentials");
  return isReservedVariable(variable) ? refused("Variables GATE_* and AWS_* are never read") : null;
}

/** The variable that a locator `env://NAME` names; null for another locator. */
export function variableOf(locator: Locator): string | null {
  return locator.startsWith("env://") ? locator.slice("env://".length) : null;
}

/** Whether a variable belongs to gate or to the credentials of its object store. */
export function isReservedVariable(name: string): boolean {
  return /^(?:GATE|AWS)_/i.test(name);
}
