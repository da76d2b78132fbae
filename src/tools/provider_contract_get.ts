import { closed, oneOf, orNull, text } from "../canonical/shape.ts";
import { optional, table } from "../canonical/table_shape.ts";
import { asJson } from "../run/primitives.ts";
import { name, namespaceId } from "./framework/input.ts";
import { ref } from "./framework/output.ts";
import { boundedAnswer, findShown } from "./services/provider_discovery.ts";
import { type MakeTool, makeTool, READS } from "./make_tool.ts";

const NAMED = { name: "provider_contract_get", group: "Read", audit: "discovery" } as const;

/** The tool `provider_contract_get`. */
export const providerContractGet: MakeTool = (services) =>
  makeTool(services, {
    ...NAMED,
    title: "Get a provider's contract",
    description:
      "Returns the whole contract of an evidence provider. provider_check_schema_get returns one check alone.",
    details:
      "Returns the whole capability contract of an evidence provider: its checks with params and result schemas, " +
      "comparators, anchors and content types. A run stays bound to the contract it began with. A typed provider of a " +
      "namespace is found with namespace_id; version names its active version. " +
      "provider_check_schema_get returns one check alone.",
    hints: READS,
    namespaced: "optional",
    input: table({ provider_id: name, namespace_id: optional(namespaceId) }),
    listedBy: "contract",
    output: closed({
      provider_id: text,
      contract: ref("contract"),
      contract_hash: ref("hash"),
      source: oneOf("builtin", "file", "registry"),
      version: orNull(text),
    }),
    act: async ({ provider_id, namespace_id = null }) => {
      const { contract, contract_hash, source, version = null } =
        (await findShown(services, namespace_id, provider_id)).loaded;
      return boundedAnswer(services, {
        provider_id,
        contract: asJson(contract),
        contract_hash: asJson(contract_hash),
        source,
        version,
      });
    },
  });
