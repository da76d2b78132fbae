/**
 * The tool `providers_list`.
 *
 * @module
 */

import { z } from "zod";
import { sortedBy } from "../canonical/order.ts";
import { closed, listOf, oneOfNames, TEXT } from "./framework/output.ts";
import { boundedAnswer, shownProviders } from "./services/provider_discovery.ts";
import type { Services } from "./services/services.ts";
import { makeTool, READS } from "./make_tool.ts";
import type { Tool } from "./framework/types.ts";

const NAMED = { name: "providers_list", group: "Read", audit: "discovery" } as const;

/** The tool `providers_list`. */
export function providersList(services: Services): Tool {
  return makeTool(services, {
    ...NAMED,
    title: "List evidence providers",
    description:
      "Lists the evidence providers and their checks, which acquisition_bindings may name. Next: provider_check_schema_get.",
    details: "Lists the evidence providers that gate is configured with, each with the checks that a scenario's " +
      "acquisition_bindings may name. Next: provider_check_schema_get for one check.",
    hints: READS,
    namespaced: false,
    input: z.strictObject({}),
    output: closed({
      providers: listOf(
        closed({ provider_id: TEXT, transport: oneOfNames("builtin", "mcp", "typed"), checks: listOf(TEXT) }),
      ),
    }),
    act: () => {
      const providers = shownProviders(services).map(({ provider_id, loaded: { contract } }) => ({
        provider_id,
        transport: contract.transport,
        checks: sortedBy(contract.checks.map(({ check_id }) => check_id), (checkId) => checkId),
      }));
      return Promise.resolve(boundedAnswer(services, { providers }));
    },
  });
}
