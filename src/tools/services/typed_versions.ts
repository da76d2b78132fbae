/** What the tools of typed providers share: their inputs, their answers, and the checks of a version. */

import { canonicalize } from "../../canonical/canonicalize.ts";
import type { JsonObject, JsonValue } from "../../canonical/json.ts";
import { utf8Length } from "../../canonical/utf8.ts";
import { isBuiltinProviderName } from "../../config/builtin_names.ts";
import { checkContract, CONTRACT_BYTES_MAXIMUM } from "../../evidence/contract/check.ts";
import type { ContractProblem } from "../../evidence/contract/problems.ts";
import { sealContract, sealVersion } from "../../evidence/contract/seal.ts";
import { checkProfile } from "../../evidence/typed/check_profile.ts";
import { checkGrants } from "../../evidence/typed/grants.ts";
import type { TypedVersion } from "../../evidence/typed/runtime_profile.ts";
import type { Provider } from "../../evidence/types.ts";
import { quote } from "../../law/suggest.ts";
import { asJson } from "../../run/primitives.ts";
import type { TypedProviderItem, TypedProviderKey } from "../../store/typed_provider_types.ts";
import { DomainError, faultsSentence, type ToolErrorCode } from "../framework/errors.ts";
import { name, namespaceId } from "../framework/input.ts";
import { anyInteger, closed, identity, oneOf, orNull, text } from "../../canonical/shape.ts";
import { namedMembers, type Outputs } from "../framework/output.ts";
import type { Services } from "./services.ts";
import { readVersion } from "./typed_providers.ts";

/** The members that name a version. */
export const versionMembers = { namespace_id: namespaceId, provider_id: name, version: name };

/** The members of a version in a listing. */
export const VERSION_MEMBERS: Outputs = {
  provider_id: text,
  /** Null in the configuration. */
  version: orNull(text),
  state: oneOf("registered", "active", "deprecated"),
  typed_protocol: oneOf("openapi_http", "grpc"),
  provider_version_identity: identity,
  checks: anyInteger,
  registered_at: orNull(closed({ kind: oneOf("unix_millis"), value: anyInteger })),
};

/** A registered version, or one of the configuration, which has neither a name nor a time. */
export type ShownVersion = Omit<TypedProviderItem, "namespace_id" | "version" | "registered_at"> & {
  readonly version: string | null;
  readonly registered_at: number | null;
};

/** A version as answers show it. */
export function shownVersion(item: ShownVersion): JsonObject {
  const at = item.registered_at;
  const registered_at = at === null ? null : { kind: "unix_millis", value: at };
  return { ...namedMembers(item, Object.keys(VERSION_MEMBERS)), registered_at };
}

/** The version of a typed provider of the configuration, active from the start; null for any other provider. */
export function configuredVersion(provider: Provider | undefined): (ShownVersion & { readonly body: string }) | null {
  const version = provider?.kind === "typed" ? provider.loaded.provider_version : undefined;
  if (provider === undefined || version === undefined) return null;
  const { provider_id, loaded: { contract } } = provider;
  const named = { provider_id, version: null, registered_at: null, state: "active" as const, body: version.text };
  const { typed_protocol } = readVersion(named).profile;
  return { ...named, typed_protocol, provider_version_identity: version.identity, checks: contract.checks.length };
}

/**
 * Refuses a name that belongs to a built-in or configured provider.
 *
 * @throws {DomainError} `typed_provider_configured`, `provider_id_reserved`
 */
export function refuseName({ providers }: Pick<Services, "providers">, provider_id: string): void {
  const configured = providers.get(provider_id);
  if (configured?.kind === "typed") {
    const message = `Cannot use typed provider ${
      quote(provider_id)
    }: the configuration defines it, and no tool changes it`;
    throw new DomainError("typed_provider_configured", message, { provider_id });
  }
  if (configured === undefined && !isBuiltinProviderName(provider_id)) return;
  const message = `Cannot use typed provider ${quote(provider_id)}: a built-in or configured provider has this name`;
  throw new DomainError("provider_id_reserved", message, { provider_id });
}

/** The error for a version that is not registered. */
export function noVersion({ namespace_id, provider_id, version }: TypedProviderKey): DomainError {
  const message = `Cannot find typed provider ${quote(provider_id)} version ${
    quote(version)
  } in namespace ${namespace_id}`;
  return new DomainError("typed_provider_not_found", message, { namespace_id, provider_id, version });
}

/**
 * Checks contract and profile in full, and that the operator's grants cover the profile.
 *
 * @throws {DomainError} `contract_invalid`, `profile_invalid`, or what a missing grant gives
 * @throws {SchemaSandboxError} Where a schema of the contract gave no verdict
 */
export async function checkVersion(
  { schemaSandbox, typedGrants }: Pick<Services, "schemaSandbox" | "typedGrants">,
  provider_id: string,
  given: { readonly contract: JsonValue; readonly profile: JsonValue },
): Promise<TypedVersion> {
  const bytes = utf8Length(canonicalize(given.contract));
  if (bytes > CONTRACT_BYTES_MAXIMUM) {
    const message = `Expected at most ${CONTRACT_BYTES_MAXIMUM} bytes, got ${bytes}`;
    throw versionError("contract_invalid", "contract", [{ code: "contract_too_large", path: "$", message }]);
  }
  const contract = await checkContract(given.contract, { provider_id, transport: "typed" }, schemaSandbox);
  if (!contract.ok) throw versionError("contract_invalid", "contract", contract.problems);
  const profile = await checkProfile(given.profile, contract.contract);
  if (!profile.ok) throw versionError("profile_invalid", "profile", profile.problems);
  const [first, ...more] = checkGrants(profile.profile, typedGrants);
  if (first !== undefined) throw versionError(first.code, "profile", [first, ...more]);
  return sealVersion(sealContract(contract.contract, "registry"), profile.profile);
}

/** The error with all problems; the message has the first. Paths begin at the argument. */
function versionError(
  code: ToolErrorCode,
  argument: "contract" | "profile",
  problems: readonly (Omit<ContractProblem, "code"> & { readonly code: string })[],
): DomainError {
  const within = problems.map(({ code, path, message }) => ({
    code,
    path: `$.${argument}${path.replace(/^\$/, "")}`,
    message,
  }));
  return new DomainError(code, faultsSentence("Cannot register typed provider", within), { problems: asJson(within) });
}
