/**
 * The host side of the provider `http`.
 *
 * @module
 */

import { canonicalize } from "../../canonical/canonicalize.ts";
import type { BuiltinProviderEntry } from "../../config/types.ts";
import { checkDestination, type Destination } from "../egress/destination.ts";
import { HOST_PRIMITIVES } from "../host_primitives.ts";
import type { ProviderAnswer } from "../types.ts";
import type { Engine, Surroundings } from "./engine.ts";
import { createExchanger, exchange, startTimeLimit } from "./exchange.ts";
import { describeGrant } from "./permissions.ts";
import { answered, failed, type Finding, invalidParams, paramsOf, readText, type Source } from "./result.ts";
import { baseHeaders, refuseEncoding } from "./response.ts";

/** The provider `http`. */
export function createHttpEngine(entry: BuiltinProviderEntry<"http">, surroundings: Surroundings): Engine {
  const { config } = entry;
  const exchanger = createExchanger("gate-http", config, surroundings);
  const refused = (finding: Finding): ProviderAnswer => answered(finding, null, describeGrant({}), surroundings.now());
  return {
    async answer(query, _context, signal): Promise<ProviderAnswer> {
      const given = paramsOf(query, ["url"], true);
      if ("error" in given) return refused(given);
      const url = readText(given.params, "url");
      if (typeof url !== "string") return refused(url);
      const destination = checkDestination(url, exchanger.policy);
      if (destination === null) return refused(invalidParams("url", 'an absolute URL as "url"'));
      if ("code" in destination) return failed(destination);
      const wantsBody = query.check_id === "body_hash";
      const outgoing = { destination, headers: baseHeaders(config.user_agent, "*/*"), wantsBody };
      const limit = startTimeLimit(config.timeout_ms, signal);
      try {
        const response = await exchange(exchanger, outgoing, limit);
        if ("code" in response) return failed(response);
        const finding = wantsBody
          ? refuseEncoding(response) ?? found({ algorithm: "sha256", value: HOST_PRIMITIVES.sha256(response.body) })
          : found(response.status);
        return answered(finding, urlSource(destination), hostGrant(destination), surroundings.now());
      } finally {
        limit.end();
      }
    },
    close: exchanger.pool.close,
  };
}

function found(value: number | { readonly algorithm: string; readonly value: string }): Finding {
  return { found: canonicalize(value), content_type: "application/json" };
}

function urlSource({ href }: Destination): Source {
  return { anchor_type: "url", anchor: { url: href }, uri: href };
}

/** The grant that a request was sent under. */
export function hostGrant({ host, port }: Destination): ReturnType<typeof describeGrant> {
  return describeGrant({ net: [`${host.includes(":") ? `[${host}]` : host}:${port}`] });
}
