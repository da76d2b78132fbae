/**
 * The namespace check: namespace 1, the default namespace, is closed unless the operator opens it. It is then open only
 * to the tenants that the operator lists.
 */

import type { NamespaceConfig } from "../config/types.ts";
import { actsFor } from "./principal.ts";
import { type Decision, denialFor } from "./refusal.ts";
import type { Principal } from "./types.ts";

/** The id of the default namespace. */
export const DEFAULT_NAMESPACE = 1;

/**
 * Decides whether a caller may use a namespace at all; roles are checked separately.
 *
 * @param config `namespace`
 * @param principal The caller
 * @param namespaceId The namespace, an integer of at least 1
 */
export function checkNamespace(
  config: Pick<NamespaceConfig, "allow_default" | "default_tenants">,
  principal: Principal,
  namespaceId: number,
): Decision {
  if (namespaceId !== DEFAULT_NAMESPACE) return { allowed: true, reason: "namespace_open" };
  if (!config.allow_default) {
    return denialFor(
      principal,
      "default_namespace_closed",
      "Cannot use namespace 1: the default namespace is closed; use another namespace_id, such as 2, or set " +
        "namespace.allow_default = true and namespace.default_tenants = [1]",
    );
  }
  if (!config.default_tenants.some((tenant) => actsFor(principal, tenant))) {
    return denialFor(
      principal,
      "default_namespace_tenant",
      `Cannot use namespace 1: namespace.default_tenants lists none of the caller's tenants ${
        JSON.stringify(principal.tenants)
      }`,
    );
  }
  return { allowed: true, reason: "default_namespace_tenant_listed" };
}
