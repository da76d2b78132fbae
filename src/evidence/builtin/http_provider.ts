import { canonicalize } from "../../canonical/canonicalize.ts";
import { urlHost } from "../../config/host_name.ts";
import type { BuiltinProviderEntry } from "../../config/types.ts";
import { checkDestination, type Destination } from "../egress/destination.ts";
import { HOST_PRIMITIVES } from "../host_primitives.ts";
import type { ProviderAnswer } from "../types.ts";
import type { Engine, ProviderDependencies } from "./engine.ts";
import { createRequester, sendRequest, startTimeLimit } from "./bounded_request.ts";
import { describeGrant } from "./permissions.ts";
import { answered, failed, type Finding, invalidParams, paramsOf, readText, type Source } from "./result.ts";
import { baseHeaders, refuseEncoding } from "./response.ts";

/** The provider `http`. */
export function createHttpEngine(entry: BuiltinProviderEntry<"http">, dependencies: ProviderDependencies): Engine {
  const { config } = entry;
  const requester = createRequester("gate-http", config, dependencies);
  const refused = (finding: Finding): ProviderAnswer => answered(finding, null, describeGrant({}));
  return {
    async answer(query, _context, signal): Promise<ProviderAnswer> {
      const given = paramsOf(query, ["url"], true);
      if ("error" in given) return refused(given);
      const url = readText(given.params, "url");
      if (typeof url !== "string") return refused(url);
      const destination = checkDestination(url, requester.policy);
      if (destination === null) return refused(invalidParams("url", 'an absolute URL as "url"'));
      if ("code" in destination) return failed(destination);
      const wantsBody = query.check_id === "body_hash";
      const outgoing = { destination, headers: baseHeaders(config.user_agent, "*/*"), wantsBody };
      const limit = startTimeLimit(config.timeout_ms, signal);
      try {
        const response = await sendRequest(requester, outgoing, limit);
        if ("code" in response) return failed(response);
        const finding = wantsBody
          ? refuseEncoding(response) ?? found({ algorithm: "sha256", value: HOST_PRIMITIVES.sha256(response.body) })
          : found(response.status);
        const { href } = destination;
        const source: Source = { anchor_type: "url", anchor: { url: href }, uri: href };
        return answered(finding, source, hostGrant(destination));
      } finally {
        limit.end();
      }
    },
    close: requester.pool.close,
  };
}

function found(value: number | { readonly algorithm: string; readonly value: string }): Finding {
  return { found: canonicalize(value), content_type: "application/json" };
}

/** The grant of the worker that sent a request. */
export function hostGrant({ host, port }: Pick<Destination, "host" | "port">): ReturnType<typeof describeGrant> {
  return describeGrant({ net: [`${urlHost(host)}:${port}`] });
}
