import { closed, orNull, text } from "../../canonical/shape.ts";
import { table } from "../../canonical/table_shape.ts";
import { compareCodePoints } from "../../canonical/order.ts";
import { mayShowProvider } from "../../evidence/disclosure_discovery.ts";
import { textAnswer } from "../framework/errors.ts";
import { namespaceId, pageMembers } from "../framework/input.ts";
import { arrayOf } from "../framework/output.ts";
import { cutPage, PAGE_DEFAULT, pageStart, pageText } from "../framework/pagination.ts";
import { refuseRegistry } from "../services/schema_record.ts";
import { TYPED_VERSIONS_MAXIMUM } from "../../store/typed_provider_types.ts";
import type { Services } from "../services/services.ts";
import { configuredVersion, type ShownVersion, shownVersion, VERSION_MEMBERS } from "../services/typed_versions.ts";
import { type MakeTool, makeTool, READS } from "../make_tool.ts";

const NAMED = { name: "typed_providers_list", group: "Read", audit: "registry" } as const;

/** The tool `typed_providers_list`. */
export const typedProvidersList: MakeTool = (services) =>
  makeTool(services, {
    ...NAMED,
    title: "List typed providers",
    description: "Lists the versions of typed providers. Next page: cursor = next_token.",
    details:
      "Lists the versions of typed providers of a namespace by provider and version, a page at a time: call again with cursor = " +
      "next_token until next_token is null. A typed provider of the configuration is one active version, whose version and " +
      "registered_at are null.",
    hints: READS,
    input: table({ namespace_id: namespaceId, ...pageMembers }),
    listedBy: "items",
    output: closed({ items: arrayOf(closed(VERSION_MEMBERS)), next_token: orNull(text) }),
    admit: ({ namespace_id }, call) => refuseRegistry(services, call, "list", namespace_id),
    act: async ({ namespace_id, cursor, limit = PAGE_DEFAULT }) => {
      const query = { tool: NAMED.name, namespaceId: namespace_id, keys: services.stateKeys };
      const start = pageStart(query, cursor ?? null, 2);
      const [provider_id = "", version = ""] = start ?? [];
      const after = start === null ? null : { provider_id, version };
      const { provider_discovery: discovery } = services.config;
      const hides = discovery.allowlist.length > 0 || discovery.denylist.length > 0;
      // A cursor names the last item, so hidden versions are removed before the page is cut.
      const most = hides ? TYPED_VERSIONS_MAXIMUM : limit + 1;
      const stored = await services.schemas.typedProviders.list(namespace_id, after, most);
      const fetched = [...configuredAfter(services, start === null ? null : provider_id), ...stored]
        .filter((item) => mayShowProvider(discovery, item.provider_id))
        .sort((a, b) => compareCodePoints(a.provider_id, b.provider_id))
        .slice(0, limit + 1);
      const textOf = (item: typeof fetched[number]): string => JSON.stringify(shownVersion(item));
      const page = cutPage(fetched, limit, textOf);
      const last = page.last === null ? null : [page.last.provider_id, page.last.version ?? ""];
      return textAnswer(pageText(query, page.items.map(textOf), last));
    },
  });

/** The versions of the configuration after a provider. Each stands before the registered versions of its provider. */
function configuredAfter({ providers }: Services, providerId: string | null): readonly ShownVersion[] {
  return [...providers.values()]
    .filter(({ provider_id }) => providerId === null || compareCodePoints(provider_id, providerId) > 0)
    .map(configuredVersion)
    .filter((version) => version !== null);
}
