import { closed, text } from "../canonical/shape.ts";
import { optional, table } from "../canonical/table_shape.ts";
import { asJson } from "../run/primitives.ts";
import { name, namespaceId } from "./framework/input.ts";
import { namedMembers, ref } from "./framework/output.ts";
import { CHECK_MEMBERS } from "./framework/result_types.ts";
import { boundedAnswer, findCheck, findShown } from "./services/provider_discovery.ts";
import { type MakeTool, makeTool, READS } from "./make_tool.ts";

const NAMED = { name: "provider_check_schema_get", group: "Read", audit: "discovery" } as const;

/** The tool `provider_check_schema_get`. */
export const providerCheckSchemaGet: MakeTool = (services) =>
  makeTool(services, {
    ...NAMED,
    title: "Get the schema of a check",
    description:
      "Returns what a check of a provider takes and yields. Use it to write an acquisition binding or an evidence_query.",
    details:
      "Returns what one check of an evidence provider takes and yields: JSON Schemas of params and result, the " +
      "comparators that a predicate on it may use, and examples. Use it to write an acquisition binding, or to query with " +
      "evidence_query.",
    hints: READS,
    namespaced: "optional",
    input: table({ provider_id: name, check_id: name, namespace_id: optional(namespaceId) }),
    listedBy: "params_schema",
    output: closed({ provider_id: text, ...CHECK_MEMBERS, contract_hash: ref("hash") }),
    act: async ({ provider_id, check_id, namespace_id = null }) => {
      const provider = await findShown(services, namespace_id, provider_id);
      const check = findCheck(provider, check_id);
      return boundedAnswer(services, {
        provider_id,
        ...namedMembers(check, Object.keys(CHECK_MEMBERS)),
        contract_hash: asJson(provider.loaded.contract_hash),
      });
    },
  });
