/**
 * The tools that each role may use (docs/guide/operations.md, "Who may do what"). Roles apply where the operator
 * configured principals, and to callers with access tokens. Any other authenticated caller may do everything.
 */

import type { AuthConfig } from "../config/types.ts";
import type { Decision } from "./refusal.ts";
import type { Principal, RoleBinding } from "./types.ts";

/** The groups of tools that a role can grant. */
export type ToolGroup = "Authoring" | "Run" | "Read" | "Audit";

/** How sensitive a principal's environment is, from the most restricted class. */
export const POLICY_CLASSES = ["prod", "project", "scratch"] as const;

/** One of {@link POLICY_CLASSES}. */
export type PolicyClass = typeof POLICY_CLASSES[number];

interface Grant {
  readonly groups: readonly ToolGroup[];
  /** Tools beyond the groups. */
  readonly tools: readonly string[];
  /** Whether the role grants submissions of evidence that waits. */
  readonly evidence?: true;
  /** Classes in which the role counts; absent for all. */
  readonly classes?: readonly PolicyClass[];
}

const EVERYTHING: Grant = { groups: ["Authoring", "Run", "Read", "Audit"], tools: [] };

/** The built-in roles and their grants; any other role grants nothing. */
const GRANTS: ReadonlyMap<string, Grant> = new Map<string, Grant>([
  ["TenantAdmin", EVERYTHING],
  ["NamespaceOwner", EVERYTHING],
  ["NamespaceAdmin", EVERYTHING],
  ["NamespaceWriter", { groups: ["Run", "Read"], tools: ["runpack_verify"] }],
  ["NamespaceReader", { groups: ["Read"], tools: ["runpack_verify"] }],
  ["SchemaManager", { groups: ["Read"], tools: ["schemas_register"], classes: ["project", "scratch"] }],
  ["AgentSandbox", { groups: ["Run", "Read"], tools: [], classes: ["scratch"] }],
  ["Approver", { groups: ["Read"], tools: [], evidence: true }],
  ["NamespaceDeleteAdmin", { groups: ["Read"], tools: [] }],
]);

/** The names of the built-in roles. */
export const ROLE_NAMES: readonly string[] = [...GRANTS.keys()];

/** The policy classes in which a role counts; null for all classes, and for a role that is not built in. */
export function classesOf(role: string): readonly PolicyClass[] | null {
  return GRANTS.get(role)?.classes ?? null;
}

/**
 * The policy class of a label, whose case is ignored. A missing or unknown label counts as `prod`, the most restricted
 * class.
 */
export function policyClassOf(label: string | null): PolicyClass {
  const lower = label?.toLowerCase();
  return lower === "scratch" || lower === "project" ? lower : "prod";
}

/** The namespace of a use: null where the tool has none, `unread` where the arguments name none that can be read. */
export type UsedNamespace = number | null | "unread";

/** Whether a role applies to a namespace; every role applies to a namespace that is not known. */
export function inScope(role: RoleBinding, namespaceId: UsedNamespace): boolean {
  return typeof namespaceId !== "number" || role.namespace_id === null || role.namespace_id === namespaceId;
}

/** The use of a tool that a caller requests. */
export interface ToolUse {
  readonly group: ToolGroup;
  /** The tool, or the method of the protocol. */
  readonly tool: string;
  readonly namespaceId: UsedNamespace;
  /** Whether the call submits evidence that waits. */
  readonly evidence?: boolean;
}

/** The roles of a principal that grant a use; the record of a mutation names them as `roles_matched`. */
export function matchingRoles(principal: Principal, use: ToolUse): RoleBinding[] {
  const policyClass = policyClassOf(principal.policyClass);
  return principal.roles.filter((role) => {
    const grant = GRANTS.get(role.name);
    if (grant === undefined || !inScope(role, use.namespaceId)) return false;
    if (grant.classes !== undefined && !grant.classes.includes(policyClass)) return false;
    // A tool without a namespace needs no particular grant: any role that counts is enough.
    return use.namespaceId === null || grant.groups.includes(use.group) || grant.tools.includes(use.tool) ||
      use.evidence === true && grant.evidence === true;
  });
}

/**
 * Whether roles restrict a principal. Those of access tokens always do, since their issuer may serve anybody; those of
 * other callers where `server.auth.principals` has an entry.
 */
export function rolesInForce(auth: Pick<AuthConfig, "principals"> | null, { authMethod }: Principal): boolean {
  return authMethod === "oauth" || (auth?.principals.length ?? 0) > 0;
}

/**
 * Decides whether the roles of a principal grant a use. Where the arguments do not name a namespace, a grant in any
 * namespace is enough: decoding then rejects the call.
 *
 * @param isInForce {@link rolesInForce}; roles that are not in force do not restrict
 * @param principal The caller
 * @param use The requested use
 * @returns The decision, whose reason is the role that grants the use; null where roles do not restrict
 */
export function checkRole(isInForce: boolean, principal: Principal, use: ToolUse): Decision | null {
  if (!isInForce) return null;
  const [role] = matchingRoles(principal, use);
  if (role !== undefined) return { allowed: true, reason: role.name };
  const where = typeof use.namespaceId === "number" ? ` in namespace ${use.namespaceId}` : "";
  // Every caller may learn which permission it lacks; only a local caller reads names of settings and its subject.
  const why = principal.authMethod === "local"
    ? `no role of "${principal.subject}" in server.auth.principals grants it`
    : "none of the caller's roles grants it";
  return { allowed: false, reason: "no_role_grants", message: `Cannot use ${use.tool}${where}: ${why}` };
}
