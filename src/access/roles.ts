/**
 * Which role may use which tools (docs/guide/operations.md, "Who may do what"). Roles bind only where the operator configured
 * principals; without any, every authenticated caller may do everything.
 *
 * @module
 */

import type { Decision } from "./refusal.ts";
import type { Principal, RoleBinding } from "./types.ts";

/** The groups that tools are granted in. */
export type ToolGroup = "Authoring" | "Run" | "Read" | "Audit";

/** How sensitive a principal's surroundings are, from the most restricted one. */
export const POLICY_CLASSES = ["prod", "project", "scratch"] as const;

/** One of {@link POLICY_CLASSES}. */
export type PolicyClass = typeof POLICY_CLASSES[number];

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

/** The policy classes in which a role counts; null for all, and for a role that is not built in. */
export function classesOf(role: string): readonly PolicyClass[] | null {
  return GRANTS.get(role)?.classes ?? null;
}

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

/** The namespace that a use is about: null for none, `unread` where its arguments name none that can be read. */
export type UsedNamespace = number | null | "unread";

/** Whether a role binding reaches a namespace; one that is not known is reached by every role. */
export function inScope(role: RoleBinding, namespaceId: UsedNamespace): boolean {
  return typeof namespaceId !== "number" || role.namespace_id === null || role.namespace_id === namespaceId;
}

/** What a caller asks for. */
export interface ToolUse {
  readonly group: ToolGroup;
  /** The tool, or the method of the protocol. */
  readonly tool: string;
  readonly namespaceId: UsedNamespace;
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
 * Whether the roles of a principal let it use something. Where the arguments do not say the namespace, a role that grants
 * the use in any will do: such a call goes no further than to be told so.
 *
 * @param rolesInForce Whether `server.auth.principals` has any entry; without one roles do not restrict
 * @param principal Who asks
 * @param use What for
 * @returns The reason is the role that grants it; null where roles do not restrict
 */
export function checkRole(rolesInForce: boolean, principal: Principal, use: ToolUse): Decision | null {
  if (!rolesInForce) return null;
  const [role] = matchingRoles(principal, use);
  if (role !== undefined) return { allowed: true, reason: role.name };
  const where = typeof use.namespaceId === "number" ? ` in namespace ${use.namespaceId}` : "";
  // A caller may know what it lacks; the names of settings and of its subject are for those on this machine.
  const why = principal.authMethod === "local"
    ? `no role of "${principal.subject}" in server.auth.principals grants it`
    : "none of the caller's roles grants it";
  return { allowed: false, reason: "no_role_grants", message: `Cannot use ${use.tool}${where}: ${why}` };
}
