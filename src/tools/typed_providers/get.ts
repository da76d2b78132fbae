import { closed, object, type Read } from "../../canonical/shape.ts";
import { optional, table } from "../../canonical/table_shape.ts";
import { quote } from "../../law/suggest.ts";
import { failure } from "../framework/errors.ts";
import { name, namespaceId } from "../framework/input.ts";
import { ref } from "../framework/output.ts";
import { wholeAnswer } from "../framework/response_size.ts";
import { lookupId } from "../services/provider_discovery.ts";
import { refuseRegistry } from "../services/schema_record.ts";
import type { Services } from "../services/services.ts";
import { readVersion } from "../services/typed_providers.ts";
import {
  configuredVersion,
  noVersion,
  refuseName,
  type ShownVersion,
  shownVersion,
  VERSION_MEMBERS,
} from "../services/typed_versions.ts";
import { type MakeTool, makeTool, READS } from "../make_tool.ts";
import type { ToolAnswer } from "../framework/types.ts";

const NAMED = { name: "typed_providers_get", group: "Read", audit: "registry" } as const;

const input = table({ namespace_id: namespaceId, provider_id: name, version: optional(name) });

/** The tool `typed_providers_get`. */
export const typedProvidersGet: MakeTool = (services) =>
  makeTool(services, {
    ...NAMED,
    title: "Get a typed provider",
    description: "Returns contract and profile of a typed provider's version, the active one unless given.",
    details:
      "Returns a version of a typed provider with its contract and its runtime profile, the active version unless version is " +
      "given. Credentials are locators, as in the profile. A typed provider of the configuration is one active version " +
      "without a name.",
    hints: READS,
    input,
    listedBy: "profile",
    output: closed({ ...VERSION_MEMBERS, contract: ref("contract"), profile: object }),
    admit: ({ namespace_id }, call) => refuseRegistry(services, call, "get", namespace_id),
    act: (given) => get(services, given),
  });

async function get(
  services: Services,
  given: Read<typeof input>,
): Promise<ToolAnswer> {
  const { namespace_id, provider_id, version } = given;
  const stored = await find(services, { ...given, provider_id: lookupId(services, provider_id) });
  if (stored === null) {
    if (version !== undefined) throw noVersion({ namespace_id, provider_id, version });
    const message = `Cannot find an active version of typed provider ${
      quote(provider_id)
    } in namespace ${namespace_id}`;
    return failure("typed_provider_not_found", message, { namespace_id, provider_id });
  }
  const { loaded: { contract }, profile } = readVersion(stored);
  return wholeAnswer("the version", JSON.stringify({ ...shownVersion(stored), contract, profile }));
}

async function find(
  services: Services,
  { namespace_id, provider_id, version }: Read<typeof input>,
): Promise<(ShownVersion & { readonly body: string }) | null> {
  const configured = version === undefined ? configuredVersion(services.providers.get(provider_id)) : null;
  if (configured !== null) return configured;
  refuseName(services, provider_id);
  const { typedProviders } = services.schemas;
  if (version === undefined) return await typedProviders.getActive(namespace_id, provider_id);
  return await typedProviders.get({ namespace_id, provider_id, version });
}
