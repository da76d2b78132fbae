/**
 * Typed providers: checks of a service that its contract and runtime profile describe.
 *
 * The host side resolves and checks the service's address, and reads credentials. A worker that may connect to these
 * addresses only sends the request and reads the response.
 */

import { isJsonObject } from "../../canonical/json.ts";
import { askHost, type HostAccess, startTimeLimit } from "../builtin/bounded_request.ts";
import {
  type BuiltinProviderOptions,
  dependenciesOf,
  type Engine,
  type ProviderDependencies,
  providerOf,
} from "../builtin/engine.ts";
import { hostGrant } from "../builtin/http_provider.ts";
import { addressPermissions, describeGrant } from "../builtin/permissions.ts";
import { answered, failed, invalidParams } from "../builtin/result.ts";
import { isLoopbackAddress } from "../../config/bind.ts";
import type { Resolver } from "../egress/destination.ts";
import { createWorkerPool } from "../sandbox/worker_pool.ts";
import type { EvidenceQuery, Provider, ProviderAnswer } from "../types.ts";
import type { CallQuestion, CallResponse } from "./call.ts";
import { CredentialError, readCredentials } from "./credentials.ts";
import { checkGrants, type ServiceAddress, serviceAddress, type TypedGrants } from "./grants.ts";
import type { RuntimeProfile, TypedVersion } from "./runtime_profile.ts";

/** Requests in flight of one provider. */
const CONCURRENCY = 256;

/** A typed provider: one version, which never changes. */
export interface TypedProvider extends Provider {
  readonly version: TypedVersion;
}

/** Options beside version and grants; those of the host by default. */
export interface TypedProviderOptions
  extends Pick<BuiltinProviderOptions, "resolver" | "environment" | "authorities" | "workerLimits"> {
  /** Whether raw values may be disclosed; false by default. */
  readonly allow_raw?: boolean;
  /** Milliseconds that bound those of the profile. */
  readonly timeouts?: { readonly connect_timeout_ms: number; readonly request_timeout_ms: number };
}

interface State {
  readonly version: TypedVersion;
  readonly grants: TypedGrants;
  readonly options: TypedProviderOptions;
  readonly access: HostAccess;
  readonly dependencies: ProviderDependencies;
}

/** The worker's module of each protocol. */
const WORKERS: Readonly<Record<RuntimeProfile["typed_protocol"], URL>> = {
  openapi_http: new URL("./http/call_worker.ts", import.meta.url),
  grpc: new URL("./grpc/call_worker.ts", import.meta.url),
};

/**
 * Creates a provider from a version and what the operator grants. Its worker starts with the first query. Each query
 * checks the grants, so that a version which they do not cover connects to nothing.
 */
export function createTypedProvider(
  version: TypedVersion,
  grants: TypedGrants,
  options: TypedProviderOptions = {},
): TypedProvider {
  const { contract } = version.loaded;
  const dependencies = dependenciesOf(options);
  const pool = createWorkerPool({
    name: "gate-typed",
    module: WORKERS[version.profile.typed_protocol],
    setup: version.profile,
    concurrency: CONCURRENCY,
    // A second one replaces the first where the addresses of the host change.
    workersMaximum: 2,
    limits: dependencies.workerLimits,
  });
  const access: HostAccess = {
    policy: {
      allowHttp: true,
      allowPrivateNetworks: grants.allowPrivateNetworks,
      privateSetting: grants.privateSetting,
      allowedHosts: null,
    },
    resolver: resolverFor(version, grants, dependencies.resolver),
    pool,
    permissions: (addresses, _, port) => addressPermissions([...addresses].sort(), port),
  };
  const state: State = { version, grants, options, access, dependencies };
  const own = {
    provider_id: contract.provider_id,
    kind: "typed",
    loaded: version.loaded,
    allow_raw: options.allow_raw ?? false,
  } as const;
  const engine: Engine = { answer: (query, _context, signal) => ask(state, query, signal), close: pool.close };
  return { ...providerOf(own, engine), version };
}

/** The resolver; for cleartext that is allowed on loopback alone, a host has an address only if all of them are loopback. */
function resolverFor(
  { profile }: TypedVersion,
  { cleartext }: TypedGrants,
  resolver: Resolver,
): Resolver {
  if (cleartext !== "loopback" || serviceAddress(profile)?.secure === true) return resolver;
  return async (host, signal) => {
    const addresses = await resolver(host, signal);
    return addresses.every(isLoopbackAddress) ? addresses : [];
  };
}

async function ask(state: State, query: EvidenceQuery, signal: AbortSignal): Promise<ProviderAnswer> {
  const { version: { profile }, grants, options, dependencies } = state;
  const [problem] = checkGrants(profile, grants);
  if (problem !== undefined) return failed({ code: problem.code, message: problem.message });
  const params = query.params ?? {};
  if (!isJsonObject(params)) {
    return answered(invalidParams("", "an object"), null, describeGrant({}));
  }
  const service = serviceAddress(profile);
  if (service === null) throw new Error("Cannot ask: the profile names no host");
  const millis = Math.min(profile.limits.timeout_ms, options.timeouts?.request_timeout_ms ?? Infinity);
  const limit = startTimeLimit(millis, signal);
  try {
    const credentials = await readCredentials(profile, { ...grants, environment: dependencies.environment });
    const authorities = [...dependencies.authorities ?? [], ...credentials.authorities ?? []];
    const response = await askHost<CallResponse>(state.access, service, limit, (address, left): CallQuestion => ({
      check_id: query.check_id,
      params,
      address,
      connectMillis: Math.min(left, options.timeouts?.connect_timeout_ms ?? Infinity),
      millis: Math.ceil(limit.left()),
      ...credentials,
      authorities: authorities.length === 0 ? null : authorities,
    }));
    return "code" in response ? failed(response) : answerOf(state, service, response);
  } catch (error) {
    if (error instanceof CredentialError) return failed({ code: "credential_unavailable", message: error.message });
    throw error;
  } finally {
    limit.end();
  }
}

function answerOf(
  { version }: State,
  service: ServiceAddress,
  { finding, anchor }: CallResponse,
): ProviderAnswer {
  if (anchor === null) return answered(finding, null, describeGrant({}));
  const { provider_version_identity } = version;
  const anchor_type = version.profile.typed_protocol === "grpc" ? "grpc_request" : "openapi_request";
  const source = { anchor_type, anchor: { ...anchor, provider_version_identity }, uri: null };
  return answered(finding, source, hostGrant(service));
}
