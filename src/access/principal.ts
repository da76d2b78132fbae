/** The principal of an authenticated subject: its configured roles, and the tenants that it acts for. */

import type { PrincipalConfig } from "../config/types.ts";
import type { Principal, RoleBinding } from "./types.ts";

/** The tenant of a local caller without roles. */
const LOCAL_TENANT = 1;

/**
 * The tenants that a caller acts for: those of its roles, or every tenant where one role has no tenant. A local caller
 * without roles acts for tenant 1, and any other caller without roles for no tenant.
 *
 * @returns Ascending, without repeats; null for every tenant
 */
export function tenantsOf(
  authMethod: Principal["authMethod"],
  roles: readonly RoleBinding[],
): readonly number[] | null {
  if (roles.length === 0) return authMethod === "local" ? [LOCAL_TENANT] : [];
  const tenants = new Set<number>();
  for (const role of roles) {
    if (role.tenant_id === null) return null;
    tenants.add(role.tenant_id);
  }
  return [...tenants].sort((a, b) => a - b);
}

/** Whether a caller acts for a tenant. */
export function actsFor(principal: Principal, tenant: number): boolean {
  return principal.tenants === null || principal.tenants.includes(tenant);
}

/**
 * The principal of an authenticated subject. A subject that the configuration does not name has no roles. Where several
 * entries have the same subject, all of them count.
 *
 * @param principals `server.auth.principals`
 * @param subject `stdio`, `loopback`, `token:<sha256>` or an mTLS subject; compared exactly
 * @param authMethod How the subject was authenticated
 */
export function principalOf(
  principals: readonly PrincipalConfig[],
  subject: string,
  authMethod: Principal["authMethod"],
): Principal {
  const entries = principals.filter((entry) => entry.subject === subject);
  const roles = entries.flatMap((entry) =>
    entry.roles.map(({ name, tenant_id, namespace_id }) => ({ name, tenant_id, namespace_id }))
  );
  const policyClass = entries.at(-1)?.policy_class ?? null;
  return { subject, authMethod, policyClass, roles, tenants: tenantsOf(authMethod, roles) };
}
