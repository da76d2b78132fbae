import { closed, orNull, text } from "../../canonical/shape.ts";
import { table } from "../../canonical/table_shape.ts";
import { quote } from "../../law/suggest.ts";
import { failure, success } from "../framework/errors.ts";
import { name } from "../framework/input.ts";
import { refuseRegistry } from "../services/schema_record.ts";
import { noVersion, refuseName, versionMembers } from "../services/typed_versions.ts";
import { type MakeTool, makeTool, WRITES } from "../make_tool.ts";

const NAMED = { name: "typed_providers_activate", group: "Authoring", audit: "mutation" } as const;

/** The tool `typed_providers_activate`. */
export const typedProvidersActivate: MakeTool = (services) =>
  makeTool(services, {
    ...NAMED,
    title: "Activate a typed provider",
    description: "Makes a version the one that laws and new runs use. expected_active: the active one now, or null.",
    details:
      "Makes a registered version of a typed provider the one that scenario_define checks and that new runs are bound to. " +
      "expected_active is the version that is active now, null where none is; another one is active_conflict. The previous " +
      "version becomes registered again, and runs that are bound to it keep it.",
    hints: WRITES,
    input: table({ ...versionMembers, expected_active: orNull(name) }),
    listedBy: "active",
    output: closed({ provider_id: text, active: text, previous: orNull(text) }),
    admit: ({ namespace_id }, call) => refuseRegistry(services, call, "register", namespace_id),
    act: async ({ expected_active, ...key }) => {
      const { provider_id, version } = key;
      refuseName(services, provider_id);
      const result = await services.schemas.typedProviders.activate(key, expected_active);
      const failed = `Cannot activate typed provider ${quote(provider_id)} version ${quote(version)}`;
      switch (result.outcome) {
        case "activated":
          return success({ provider_id, active: version, previous: result.previous });
        case "not_found":
          throw noVersion(key);
        case "deprecated":
          return failure("typed_provider_deprecated", `${failed}: it is deprecated`, key);
        case "conflict": {
          const active = result.active === null ? "no version" : `version ${quote(result.active)}`;
          return failure("active_conflict", `${failed}: ${active} is active`, { ...key, active: result.active });
        }
      }
    },
  });
