/**
 * The checks that the bindings of a spec may name: those of the configured providers and of the active typed ones.
 * Their params are validated before the proofs of the law, since the proofs are synchronous.
 */

import { canonicalize } from "../../canonical/canonicalize.ts";
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, member } from "../../canonical/json.ts";
import { judgeParams } from "../../evidence/acquisition/params.ts";
import { checkFacts } from "../../evidence/contract/facts.ts";
import type { Provider } from "../../evidence/types.ts";
import { SPEC_LIMITS } from "../../law/limits.ts";
import type { LawEnvironment } from "../../law/types.ts";
import type { Services } from "./services.ts";

/** The part of a provider that has its checks. */
type CheckedProvider = Pick<Provider, "provider_id" | "loaded">;

/** Finds a provider; `inactive` for a typed one without an active version, null for an unknown one. */
export type FindProvider = (providerId: string) => Promise<CheckedProvider | "inactive" | null>;

type FoundProviders = ReadonlyMap<string, Awaited<ReturnType<FindProvider>>>;

/** The members of a raw binding that are needed here. */
interface RawBinding {
  readonly provider: CheckedProvider;
  readonly check_id: string;
  readonly params: JsonValue | undefined;
}

/**
 * Validates the params of every binding of a raw spec that names a check. The proofs report malformed bindings.
 *
 * @returns The function by which the proofs find a check
 * @throws {SchemaSandboxError} Where a params schema gave no verdict
 */
export async function knownChecks(
  { schemaSandbox }: Pick<Services, "schemaSandbox">,
  spec: JsonObject,
  find: FindProvider,
): Promise<LawEnvironment["findCheck"]> {
  const verdicts = new Map<string, string | null>();
  const providers = await namedProviders(spec, find);
  for (const { provider, check_id, params } of rawBindings(spec).flatMap((one) => readBinding(providers, one))) {
    const check = provider.loaded.contract.checks.find((one) => one.check_id === check_id);
    const name = verdictName(provider.provider_id, check_id, params);
    if (check === undefined || verdicts.has(name)) continue;
    verdicts.set(name, await judgeParams(schemaSandbox, provider.loaded, check, params));
  }
  return (providerId, checkId) => {
    const provider = providers.get(providerId) ?? null;
    if (provider === null) return "provider";
    if (provider === "inactive") return "inactive";
    const facts = checkFacts(provider.loaded.contract, checkId, (check, params) => {
      const verdict = verdicts.get(verdictName(providerId, check.check_id, params));
      return verdict === undefined ? "Params were not judged" : verdict;
    });
    return facts ?? "check";
  };
}

/** The providers that the bindings of a raw spec name, each once. */
export function boundProviders(spec: JsonObject): readonly string[] {
  const names = rawBindings(spec).flatMap((binding) => {
    const providerId = isJsonObject(binding) ? member(binding, "provider_id") : undefined;
    return typeof providerId === "string" ? [providerId] : [];
  });
  return [...new Set(names)];
}

/** The providers that the bindings of a spec name, each looked up once. */
async function namedProviders(spec: JsonObject, find: FindProvider): Promise<FoundProviders> {
  const found = new Map<string, Awaited<ReturnType<FindProvider>>>();
  for (const name of boundProviders(spec)) found.set(name, await find(name));
  return found;
}

function rawBindings(spec: JsonObject): readonly JsonValue[] {
  const bindings = member(spec, "acquisition_bindings");
  return isJsonArray(bindings) ? bindings.slice(0, SPEC_LIMITS.acquisitionBindings) : [];
}

function readBinding(providers: FoundProviders, binding: JsonValue): RawBinding[] {
  if (!isJsonObject(binding)) return [];
  const providerId = member(binding, "provider_id");
  const check_id = member(binding, "check_id");
  const provider = typeof providerId === "string" ? providers.get(providerId) : undefined;
  if (typeof provider !== "object" || provider === null || typeof check_id !== "string") return [];
  return [{ provider, check_id, params: member(binding, "params") }];
}

function verdictName(providerId: string, checkId: string, params: JsonValue | undefined): string {
  return JSON.stringify([providerId, checkId, params === undefined ? null : canonicalize(params)]);
}
