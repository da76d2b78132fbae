/**
 * Which role may use which tools (decisions.md 6). Roles bind only where the operator configured principals; without any,
 * every authenticated caller may do everything.
 *
 * @module
 */

import type { Principal, RoleBinding } from "./types.ts";

/** The groups that tools are granted in. */
export type ToolGroup = "Authoring" | "Run" | "Read" | "Audit";

/** How sensitive a principal's surroundings are. */
export type PolicyClass = "prod" | "project" | "scratch";

interface Grant {
  readonly groups: readonly ToolGroup[];
  /** Tools beyond the groups. */
  readonly tools: readonly string[];
  /** Classes in which the role counts; absent = all. */
  readonly classes?: readonly PolicyClass[];
}

const EVERYTHING: Grant = { groups: ["Authoring", "Run", "Read", "Audit"], tools: [] };

/** The built-in roles and what each grants; any other role name grants nothing. */
const GRANTS: ReadonlyMap<string, Grant> = new Map<string, Grant>([
  ["TenantAdmin", EVERYTHING],
  ["NamespaceOwner", EVERYTHING],
  ["NamespaceAdmin", EVERYTHING],
  ["NamespaceWriter", { groups: ["Run", "Read"], tools: ["runpack_verify"] }],
  ["NamespaceReader", { groups: ["Read"], tools: ["runpack_verify"] }],
  ["SchemaManager", { groups: ["Read"], tools: ["schemas_register"], classes: ["project", "scratch"] }],
  ["AgentSandbox", { groups: ["Run", "Read"], tools: [], classes: ["scratch"] }],
  ["NamespaceDeleteAdmin", { groups: ["Read"], tools: [] }],
]);

/** The names of the built-in roles. */
export const ROLE_NAMES: readonly string[] = [...GRANTS.keys()];

/**
 * The policy class that a label stands for, read without regard to case. What is missing or unknown counts as `prod`,
 * the most restricted one.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { policyClassOf } from "@/access/roles.ts";
 *
 * assert.equal(policyClassOf("Scratch"), "scratch");
 * assert.equal(policyClassOf("staging"), "prod");
 * ```
 */
export function policyClassOf(label: string | null): PolicyClass {
  const lower = label?.toLowerCase();
  return lower === "scratch" || lower === "project" ? lower : "prod";
}

/** Whether a role binding reaches a namespace; null = a call that names none. */
export function inScope(role: RoleBinding, namespaceId: number | null): boolean {
  return namespaceId === null || role.namespace_id === null || role.namespace_id === namespaceId;
}

/** What a tool call asks for. */
export interface ToolUse {
  readonly group: ToolGroup;
  readonly tool: string;
  /** The namespace that the call is about; null for a tool without one. */
  readonly namespaceId: number | null;
}

/** The roles of a principal that grant a use; the names go into the record of a mutation as `roles_matched`. */
export function matchingRoles(principal: Principal, use: ToolUse): RoleBinding[] {
  const policyClass = policyClassOf(principal.policyClass);
  return principal.roles.filter((role) => {
    const grant = GRANTS.get(role.name);
    if (grant === undefined || !inScope(role, use.namespaceId)) return false;
    if (grant.classes !== undefined && !grant.classes.includes(policyClass)) return false;
    // A tool without a namespace belongs to nobody in particular: any role that counts will do.
    return use.namespaceId === null || grant.groups.includes(use.group) || grant.tools.includes(use.tool);
  });
}

/**
 * Whether a principal may use a tool in a namespace.
 *
 * @param rolesInForce Whether `server.auth.principals` has any entry; without one roles do not restrict
 * @param principal Who asks
 * @param use What for
 */
export function mayUse(rolesInForce: boolean, principal: Principal, use: ToolUse): boolean {
  return !rolesInForce || matchingRoles(principal, use).length > 0;
}
