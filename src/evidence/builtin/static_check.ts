/**
 * Finds checks that can never succeed from params and configuration alone, before they run. The params of a law are
 * immutable, so its author needs to know early.
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
import { checkCalendar } from "./calendar_provider.ts";
import { checkTime } from "./time.ts";

/** An observed error or a failure. */
interface Reason {
  readonly code: string;
  readonly message: string;
}

/**
 * The reason why a check of a built-in provider always fails; null where it can succeed.
 *
 * @param entry The provider in the configuration
 * @param query The check, with params that are valid under its contract
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
    case "calendar":
      return errorIn(checkCalendar(query, { kind: "unix_millis", value: 0 }));
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

/** An invalid query is invalid for every document. */
function refuseQuery(jsonpath: unknown): Reason | null {
  const error = typeof jsonpath === "string" ? errorIn(selectJson(null, jsonpath)) : null;
  return error?.code === "invalid_jsonpath" ? error : null;
}

/** Checks the URL; an IP address as its host is checked without a network. */
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
