import { closed, oneOf, text } from "../canonical/shape.ts";
import { optional, table } from "../canonical/table_shape.ts";
import { sortedBy } from "../canonical/order.ts";
import { namespaceId } from "./framework/input.ts";
import { arrayOf } from "./framework/output.ts";
import { boundedAnswer, shownProviders } from "./services/provider_discovery.ts";
import { type MakeTool, makeTool, READS } from "./make_tool.ts";

const NAMED = { name: "providers_list", group: "Read", audit: "discovery" } as const;

/** The tool `providers_list`. */
export const providersList: MakeTool = (services) =>
  makeTool(services, {
    ...NAMED,
    title: "List evidence providers",
    description:
      "Lists the evidence providers and their checks, which acquisition_bindings may name; with namespace_id also typed " +
      "ones. Next: provider_check_schema_get.",
    details: "Lists the evidence providers that gate is configured with, each with the checks that a scenario's " +
      "acquisition_bindings may name. With namespace_id the list also has the typed providers that are active in that " +
      "namespace. Next: provider_check_schema_get for one check.",
    hints: READS,
    namespaced: "optional",
    input: table({ namespace_id: optional(namespaceId) }),
    output: closed({
      providers: arrayOf(
        closed({ provider_id: text, transport: oneOf("builtin", "mcp", "typed"), checks: arrayOf(text) }),
      ),
    }),
    act: async ({ namespace_id = null }) => {
      const providers = (await shownProviders(services, namespace_id)).map(({ provider_id, loaded: { contract } }) => ({
        provider_id,
        transport: contract.transport,
        checks: sortedBy(contract.checks.map(({ check_id }) => check_id), (checkId) => checkId),
      }));
      return boundedAnswer(services, { providers });
    },
  });
