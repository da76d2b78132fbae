import { closed, identity, oneOf, type Read, text } from "../../canonical/shape.ts";
import { table } from "../../canonical/table_shape.ts";
import { failure, noTimeStamp, success } from "../framework/errors.ts";
import { jsonObject } from "../framework/input.ts";
import { refuseRegistry } from "../services/schema_record.ts";
import type { Services } from "../services/services.ts";
import { checkVersion, refuseName, versionMembers } from "../services/typed_versions.ts";
import { TYPED_VERSIONS_MAXIMUM } from "../../store/typed_provider_types.ts";
import { quote } from "../../law/suggest.ts";
import { type MakeTool, makeTool, WRITES } from "../make_tool.ts";
import type { ToolAnswer } from "../framework/types.ts";

const NAMED = { name: "typed_providers_register", group: "Authoring", audit: "mutation" } as const;

const input = table({
  ...versionMembers,
  contract: jsonObject({ description: "Capability contract v1, transport typed, as typed_providers_import makes it" }),
  profile: jsonObject({ description: "Runtime profile v1; it names credentials by locator, never by value" }),
});

type Input = Read<typeof input>;

/** The tool `typed_providers_register`. */
export const typedProvidersRegister: MakeTool = (services) =>
  makeTool(services, {
    ...NAMED,
    title: "Register a typed provider",
    description:
      "Stores contract and profile as a version of a typed provider, for ever. Next: typed_providers_activate.",
    details:
      "Stores the capability contract and the runtime profile of a typed provider as one version, for ever: a change needs a " +
      "new version. The same bytes again give the same answer. The operator allows the host of the profile and pairs each " +
      "credential with it. A version is used from typed_providers_activate on.",
    hints: WRITES,
    input,
    listedBy: "provider_version_identity",
    output: closed({
      provider_id: text,
      version: text,
      provider_version_identity: identity,
      state: oneOf("registered", "active", "deprecated"),
    }),
    admit: ({ namespace_id }, call) => refuseRegistry(services, call, "register", namespace_id),
    act: (given) => register(services, given),
  });

async function register(services: Services, given: Input): Promise<ToolAnswer> {
  const { namespace_id, provider_id, version } = given;
  refuseName(services, provider_id);
  const { loaded: { contract, provider_version }, profile } = await checkVersion(services, provider_id, given);
  const time = services.time.read();
  if (provider_version === undefined || time === null) throw noTimeStamp();
  const { identity: provider_version_identity, text: body } = provider_version;
  const registered = await services.schemas.typedProviders.register({
    namespace_id,
    provider_id,
    version,
    provider_version_identity,
    typed_protocol: profile.typed_protocol,
    checks: contract.checks.length,
    registered_at: time.reading_unix_millis,
    body,
  });
  if (registered.outcome === "exists") {
    const isSameName = registered.version === version;
    const why = isSameName
      ? "it exists with other bytes, and versions never change"
      : `its bytes are registered as version ${quote(registered.version)}`;
    const message = `Cannot register typed provider ${quote(provider_id)} version ${quote(version)}: ${why}`;
    return failure("typed_provider_exists", message, { namespace_id, provider_id, version: registered.version });
  }
  if (registered.outcome === "limit") {
    const message =
      `Cannot register typed provider: namespace ${namespace_id} holds ${TYPED_VERSIONS_MAXIMUM} versions`;
    return failure("typed_providers_exhausted", message, { namespace_id, maximum_versions: TYPED_VERSIONS_MAXIMUM });
  }
  const state = registered.outcome === "same" ? registered.state : "registered";
  return success({ provider_id, version, provider_version_identity, state });
}
