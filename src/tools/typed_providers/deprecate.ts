import { closed, oneOf, text } from "../../canonical/shape.ts";
import { table } from "../../canonical/table_shape.ts";
import { quote } from "../../law/suggest.ts";
import { failure, success } from "../framework/errors.ts";
import { refuseRegistry } from "../services/schema_record.ts";
import { noVersion, refuseName, versionMembers } from "../services/typed_versions.ts";
import { type MakeTool, makeTool, WRITES } from "../make_tool.ts";

const NAMED = { name: "typed_providers_deprecate", group: "Authoring", audit: "mutation" } as const;

/** The tool `typed_providers_deprecate`. */
export const typedProvidersDeprecate: MakeTool = (services) =>
  makeTool(services, {
    ...NAMED,
    title: "Deprecate a typed provider",
    description: "Ends a version: runs bound to it acquire nothing more. expected_state: its state now.",
    details:
      "Ends a version of a typed provider for ever. Runs that are bound to it acquire nothing more: their attempts fail with " +
      "acquisition_failed, code provider_version_deprecated. Records and runpacks stay valid. expected_state is its state " +
      "now; another one is state_conflict.",
    hints: WRITES,
    input: table({ ...versionMembers, expected_state: oneOf("registered", "active") }),
    listedBy: "state",
    output: closed({ provider_id: text, version: text, state: oneOf("deprecated") }),
    admit: ({ namespace_id }, call) => refuseRegistry(services, call, "register", namespace_id),
    act: async ({ expected_state, ...key }) => {
      const { provider_id, version } = key;
      refuseName(services, provider_id);
      const result = await services.schemas.typedProviders.deprecate(key, expected_state);
      if (result.outcome === "deprecated") return success({ provider_id, version, state: "deprecated" });
      if (result.outcome === "not_found") throw noVersion(key);
      const { state } = result;
      const what = `Cannot deprecate typed provider ${quote(provider_id)} version ${quote(version)}`;
      if (state === "deprecated") return failure("typed_provider_deprecated", `${what}: it is deprecated already`, key);
      return failure("state_conflict", `${what}: its state is ${quote(state)}`, { ...key, state });
    },
  });
