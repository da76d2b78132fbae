/**
 * Authorises a caller for a tool in a namespace, before anything is read: by roles, by the rules of the namespace, and
 * by the namespace authority, in this order. Each decision is recorded in the audit log.
 */

import { checkNamespace, DEFAULT_NAMESPACE } from "../../access/namespace.ts";
import { GENERIC_REFUSAL } from "../../access/refusal.ts";
import { checkRole, rolesInForce, type UsedNamespace } from "../../access/roles.ts";
import type { NamespaceAnswer, Principal } from "../../access/types.ts";
import { isJsonObject, type JsonObject, type JsonValue, member } from "../../canonical/json.ts";
import { toolError } from "../framework/errors.ts";
import type { Services } from "./services.ts";
import type { Call, Tool, ToolError } from "../framework/types.ts";

/** Members with the namespace of a call, where it is not at the top: of a law, a schema record, a query. */
const CARRIERS = ["spec", "record", "context"];

/**
 * The namespace in the arguments of a call; null where it is missing or invalid.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { namespaceOfInput } from "@/tools/services/authorise.ts";
 *
 * assert.equal(namespaceOfInput({ namespace_id: 2, run_id: "0" }), 2);
 * assert.equal(namespaceOfInput({ record: { namespace_id: 3 } }), 3);
 * assert.equal(namespaceOfInput({ query: "gates" }), null);
 * ```
 */
export function namespaceOfInput(input: JsonObject): number | null {
  const given = member(input, "namespace_id");
  if (given !== undefined) return asNamespace(given);
  for (const name of CARRIERS) {
    const carrier = member(input, name);
    const inside = isJsonObject(carrier) ? member(carrier, "namespace_id") : undefined;
    if (inside !== undefined) return asNamespace(inside);
  }
  return null;
}

function asNamespace(value: JsonValue): number | null {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 1 ? value : null;
}

/** The services that access decisions need. */
export type AccessServices = Pick<Services, "config" | "namespaces">;

/**
 * Why a caller may not use a tool in a namespace; null when it may.
 *
 * @param tool Name and group of the tool
 * @returns As {@link refuseRole} and {@link refuseNamespace}
 */
export function authorise(
  services: AccessServices,
  tool: Pick<Tool, "name" | "group">,
  call: Call,
  namespaceId: number,
): ToolError | null | Promise<ToolError | null> {
  return refuseRole(services, tool, call, namespaceId) ?? refuseNamespace(services, call, namespaceId);
}

/**
 * Why the roles of a caller do not let it use a tool; null where they do.
 *
 * @param namespaceId The namespace of the call; null for a tool without one, which any role in force grants
 * @param evidence Whether the call submits evidence that waits
 * @returns `role_refused`
 */
export function refuseRole(
  services: Pick<Services, "config">,
  tool: Pick<Tool, "name" | "group">,
  call: Call,
  namespaceId: UsedNamespace,
  evidence = false,
): ToolError | null {
  const isInForce = rolesInForce(services.config.server.auth, call.principal);
  const decision = checkRole(isInForce, call.principal, {
    group: tool.group,
    tool: tool.name,
    namespaceId,
    evidence,
  });
  if (decision === null) return null;
  const { allowed, reason } = decision;
  const namespace_id = typeof namespaceId === "number" ? namespaceId : null;
  call.auditor?.decided({ decision: "role", allowed, reason, namespace_id });
  return decision.allowed ? null : toolError("role_refused", decision.message);
}

/** Whether the roles of a caller let it use a tool in any namespace. Nothing is written to the audit log. */
export function mayUseSomewhere(
  { config }: Pick<Services, "config">,
  { group, name }: Pick<Tool, "name" | "group">,
  principal: Principal,
): boolean {
  const isInForce = rolesInForce(config.server.auth, principal);
  return checkRole(isInForce, principal, { group, tool: name, namespaceId: "unread" })?.allowed ?? true;
}

/**
 * Whether a caller may read every namespace, whatever it holds. Where a namespace authority decides, no caller is known
 * to. Nothing is written to the audit log: the caller named no namespace.
 */
export function readsEveryNamespace({ config, namespaces }: AccessServices, principal: Principal): boolean {
  const roles = principal.roles.filter(({ namespace_id }) => namespace_id === null);
  const isGranted = mayUseSomewhere({ config }, { group: "Read", name: "scenarios_list" }, { ...principal, roles });
  const readsDefault = !config.namespace.allow_default ||
    checkNamespace(config.namespace, principal, DEFAULT_NAMESPACE).allowed;
  return namespaces === null && isGranted && readsDefault;
}

/**
 * Why a caller may not use a namespace, with any tool; null where it may.
 *
 * @returns `namespace_refused` or `namespace_authority_unavailable`; a promise only where it queries the namespace
 * authority
 */
export function refuseNamespace(
  services: AccessServices,
  call: Call,
  namespaceId: number,
): ToolError | null | Promise<ToolError | null> {
  const decision = checkNamespace(services.config.namespace, call.principal, namespaceId);
  const { allowed, reason } = decision;
  call.auditor?.decided({ decision: "namespace", allowed, reason, namespace_id: namespaceId });
  if (!decision.allowed) return toolError("namespace_refused", decision.message);
  if (services.namespaces === null) return null;
  return services.namespaces.ask(namespaceId, call.correlationId).then((answer) => {
    call.auditor?.decided({
      decision: "namespace",
      allowed: answer.verdict === "granted",
      reason: answer.reason,
      namespace_id: namespaceId,
    });
    return refuseByAuthority(answer, call.principal, namespaceId);
  });
}

function refuseByAuthority(answer: NamespaceAnswer, principal: Principal, namespaceId: number): ToolError | null {
  switch (answer.verdict) {
    case "granted":
      return null;
    case "refused":
      return toolError(
        "namespace_refused",
        principal.authMethod === "local"
          ? `Cannot use namespace ${namespaceId}: namespace.authority does not grant it`
          : GENERIC_REFUSAL,
      );
    case "unavailable":
      return toolError(
        "namespace_authority_unavailable",
        "Cannot decide on the namespace: the namespace authority gives no answer, try again",
      );
  }
}
