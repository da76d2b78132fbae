/** Provider discovery: the providers that callers may see, and the size limit of answers about them. */

import { canonicalize } from "../../canonical/canonicalize.ts";
import type { JsonObject } from "../../canonical/json.ts";
import { compareCodePoints } from "../../canonical/order.ts";
import { utf8Length } from "../../canonical/utf8.ts";
import { mayShowProvider } from "../../evidence/disclosure_discovery.ts";
import type { CheckContract, Provider } from "../../evidence/types.ts";
import { didYouMean, quote } from "../../law/suggest.ts";
import { DomainError, failure, success } from "../framework/errors.ts";
import type { Services } from "./services.ts";
import type { ListedProvider } from "./typed_providers.ts";
import type { ToolAnswer } from "../framework/types.ts";

type ProviderServices = Pick<Services, "config" | "providers" | "typed">;

/** The visible providers in id order: the configured ones, and the active typed ones of a namespace. */
export async function shownProviders(
  { config, providers, typed }: ProviderServices,
  namespaceId: number | null,
): Promise<readonly ListedProvider[]> {
  const isShown = (providerId: string): boolean => mayShowProvider(config.provider_discovery, providerId);
  const isWanted = (providerId: string): boolean => isShown(providerId) && !providers.has(providerId);
  const active = namespaceId === null ? [] : await typed.listActive(namespaceId, isWanted);
  return [...[...providers.values()].filter(({ provider_id }) => isShown(provider_id)), ...active]
    .sort((a, b) => compareCodePoints(a.provider_id, b.provider_id));
}

/** The ids of the visible providers, in order. Reads no contract of a typed one. */
export async function shownProviderIds(
  { config, providers, typed }: ProviderServices,
  namespaceId: number | null,
): Promise<readonly string[]> {
  const active = namespaceId === null ? [] : await typed.listActiveIds(namespaceId);
  return [...new Set([...providers.keys(), ...active])]
    .filter((providerId) => mayShowProvider(config.provider_discovery, providerId))
    .sort(compareCodePoints);
}

/** A configured provider, or the active version of a typed one in a namespace. */
export async function findProvider(
  { providers, typed }: Pick<Services, "providers" | "typed">,
  namespaceId: number | null,
  providerId: string,
): Promise<Provider | "inactive" | null> {
  const configured = providers.get(providerId);
  if (configured !== undefined) return configured;
  return namespaceId === null ? null : await typed.findActive(namespaceId, providerId);
}

/** The id to look up: a hidden provider is looked up as one that cannot exist, so that both answers take as long. */
export function lookupId({ config }: Pick<Services, "config">, providerId: string): string {
  return mayShowProvider(config.provider_discovery, providerId) ? providerId : "";
}

/**
 * A visible provider. A hidden one gives the same error as a missing one.
 *
 * @throws {DomainError} `provider_not_found`, `typed_provider_inactive`
 */
export async function findShown(
  services: ProviderServices,
  namespaceId: number | null,
  providerId: string,
): Promise<Provider> {
  const found = await findProvider(services, namespaceId, lookupId(services, providerId));
  if (found === "inactive") throw inactiveProvider("show provider", namespaceId ?? 0, providerId);
  if (found === null) throw noProvider(providerId, await shownProviderIds(services, namespaceId));
  return found;
}

/** The error for a missing provider; it names the visible ones. */
export function noProvider(providerId: string, known: readonly string[]): DomainError {
  const quoted = quote(providerId);
  const message = `Cannot find provider ${quoted}: no such provider is configured or shown${
    didYouMean(providerId, known)
  }`;
  return new DomainError("provider_not_found", message, { provider_id: providerId, providers: known.slice(0, 64) });
}

/** The error for a typed provider without an active version. */
export function inactiveProvider(what: string, namespace_id: number, provider_id: string): DomainError {
  const message = `Cannot ${what}: typed provider ${
    quote(provider_id)
  } has no active version in namespace ${namespace_id}`;
  return new DomainError("typed_provider_inactive", message, { namespace_id, provider_id });
}

/**
 * A check of a provider's contract.
 *
 * @throws {DomainError} `check_not_found`
 */
export function findCheck({ provider_id, loaded }: Provider, checkId: string): CheckContract {
  const known = loaded.contract.checks.map(({ check_id }) => check_id);
  const found = loaded.contract.checks.find(({ check_id }) => check_id === checkId);
  if (found !== undefined) return found;
  const quoted = `${quote(checkId)} of provider ${quote(provider_id)}`;
  const message = `Cannot find check ${quoted}: its contract has no such check${didYouMean(checkId, known)}`;
  const next = [{ tool: "provider_contract_get", arguments_hint: { provider_id }, why: "List its checks" }];
  throw new DomainError("check_not_found", message, {
    provider_id,
    check_id: checkId,
    checks: known.slice(0, 64),
    next,
  });
}

/** The answer; the error with the limit where it is larger than `provider_discovery.max_response_bytes`. */
export function boundedAnswer({ config }: Pick<Services, "config">, result: JsonObject): ToolAnswer {
  const maximum = config.provider_discovery.max_response_bytes;
  const bytes = utf8Length(canonicalize(result));
  if (bytes <= maximum) return success(result);
  const message = `Cannot answer: ${bytes} bytes are more than provider_discovery.max_response_bytes, ${maximum}`;
  return failure("response_too_large", message, { bytes, maximum_bytes: maximum });
}
