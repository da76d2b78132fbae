/**
 * The tool `provider_contract_get`.
 *
 * @module
 */

import { z } from "zod";
import { asJson } from "../run/primitives.ts";
import { name } from "./framework/input.ts";
import { closed, ref, TEXT } from "./framework/output.ts";
import { boundedAnswer, findShown } from "./services/provider_discovery.ts";
import type { Services } from "./services/services.ts";
import { makeTool, READS } from "./make_tool.ts";
import type { Tool } from "./framework/types.ts";

const NAMED = { name: "provider_contract_get", group: "Read", audit: "discovery" } as const;

/** The tool `provider_contract_get`. */
export function providerContractGet(services: Services): Tool {
  return makeTool(services, {
    ...NAMED,
    title: "Get a provider's contract",
    description:
      "Returns the whole contract of an evidence provider. provider_check_schema_get returns one check alone.",
    details:
      "Returns the whole capability contract of an evidence provider: its checks with params and result schemas, " +
      "comparators, anchors and content types. A run stays bound to the contract it began with. " +
      "provider_check_schema_get returns one check alone.",
    hints: READS,
    namespaced: false,
    input: z.strictObject({ provider_id: name }),
    output: closed({
      provider_id: TEXT,
      contract: ref("contract"),
      contract_hash: ref("hash"),
      source: { enum: ["builtin", "file"] },
      version: { type: "null" },
    }),
    act: ({ provider_id }) => {
      const provider = findShown(services, provider_id);
      if ("code" in provider) return Promise.resolve({ ok: false, error: provider });
      const { contract, contract_hash, source } = provider.loaded;
      return Promise.resolve(boundedAnswer(services, {
        provider_id,
        contract: asJson(contract),
        contract_hash: asJson(contract_hash),
        source,
        version: null,
      }));
    },
  });
}
