/**
 * What the params of a check show before it is run: that the provider as it is configured never answers it. A law keeps its
 * params for ever, so whoever writes one should know.
 *
 * @module
 */

import { isJsonObject, type JsonObject, member } from "../../canonical/json.ts";
import type { BuiltinProviderConfig, BuiltinProviderEntry } from "../../config/types.ts";
import { parseAddress } from "../egress/address.ts";
import { checkDestination, resolveDestination } from "../egress/destination.ts";
import type { EvidenceQuery } from "../types.ts";
import { dependenciesOf } from "./engine.ts";
import { refuseKey } from "./env.ts";
import { egressPolicy } from "./bounded_request.ts";
import { refusePath } from "./json_file.ts";
import { selectJson } from "../json_path/json_path.ts";
import { configuredHeaders } from "./rest_headers.ts";
import { decodeRequest } from "./rest_provider.ts";
import { checkTime } from "./time.ts";

/** An observed error or a failure, whose words say why. */
interface Reason {
  readonly code: string;
  readonly message: string;
}

/**
 * Why a check of a built-in provider is never answered, whatever the world is like; null where it may be.
 *
 * @param entry The provider in the configuration
 * @param query The check, with params that fit its contract
 * @param reservedEnvironment Names of variables that gate's own configuration refers to
 */
export async function findStaticFailure(
  entry: BuiltinProviderEntry,
  query: EvidenceQuery,
  reservedEnvironment: ReadonlySet<string>,
): Promise<string | null> {
  const reason = await reasonOf(entry, query, reservedEnvironment);
  return reason === null ? null : `${reason.message} (${reason.code})`;
}

async function reasonOf(
  entry: BuiltinProviderEntry,
  query: EvidenceQuery,
  reserved: ReadonlySet<string>,
): Promise<Reason | null> {
  const params = isJsonObject(query.params) ? query.params : {};
  switch (entry.name) {
    case "time":
      return errorIn(checkTime(entry.config, { query, trigger_time: { kind: "unix_millis", value: 0 } }));
    case "env":
      return errorIn(refuseKey({ config: entry.config, reserved }, textOf(params, "key")));
    case "json":
      return errorIn(refusePath(textOf(params, "file"))) ?? refuseQuery(member(params, "jsonpath"));
    case "http":
      return await refuseUrl(entry.config, textOf(params, "url"));
    case "rest": {
      const configured = configuredHeaders(entry.config, dependenciesOf({}));
      const request = decodeRequest(configured, egressPolicy(entry.config), query);
      if ("error" in request) return request.error;
      if ("code" in request) return request;
      return await refuseUrl(entry.config, request.destination.href) ?? refuseQuery(request.jsonpath);
    }
  }
}

function textOf(params: JsonObject, name: string): string {
  return String(member(params, name) ?? "");
}

function errorIn(finding: object | null): Reason | null {
  return finding !== null && "error" in finding ? finding.error as Reason : null;
}

/** A text that is no query is none whatever the document. */
function refuseQuery(jsonpath: unknown): Reason | null {
  const error = typeof jsonpath === "string" ? errorIn(selectJson(null, jsonpath)) : null;
  return error?.code === "invalid_jsonpath" ? error : null;
}

/** Of a host that is given by its address it is known without a network whether it may be asked. */
async function refuseUrl(config: BuiltinProviderConfig<"http">, url: string): Promise<Reason | null> {
  const policy = egressPolicy(config);
  const destination = checkDestination(url, policy);
  if (destination === null) return { code: "params_invalid", message: 'Expected an absolute URL as "url" in params' };
  if ("code" in destination) return destination;
  if (parseAddress(destination.host) === null) return null;
  const addresses = await resolveDestination(
    destination,
    policy,
    () => Promise.resolve([]),
    new AbortController().signal,
  );
  return "code" in addresses ? addresses : null;
}
