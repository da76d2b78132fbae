/**
 * Permission to register, list and get schemas: by role, or by the operator's own rules. The check follows those of the
 * tool and the namespace, and does not depend on configured principals.
 */

import type { RegistryAclConfig, RegistryAclRuleConfig, RegistryAction } from "../config/types.ts";
import { actsFor } from "./principal.ts";
import { type Decision, denialFor } from "./refusal.ts";
import { inScope, policyClassOf } from "./roles.ts";
import type { Principal } from "./types.ts";

const WRITERS: readonly string[] = ["TenantAdmin", "NamespaceOwner", "NamespaceAdmin"];
const READERS: readonly string[] = [...WRITERS, "NamespaceWriter", "NamespaceReader", "SchemaManager"];

/** Roles that may get a schema by name without listing schemas, where the policy class is `scratch`. */
const SCRATCH_GETTERS: readonly string[] = ["AgentSandbox"];

/** An action on the schemas of a namespace, and the rules that decide on it. */
interface RegistryUse {
  readonly acl: RegistryAclConfig;
  readonly principal: Principal;
  readonly action: RegistryAction;
  readonly namespaceId: number;
}

/**
 * Decides whether a caller may perform an action on the schemas of a namespace.
 *
 * @param acl `schema_registry.acl`
 * @param principal The caller
 * @param action The action
 * @param namespaceId The namespace of the schemas
 */
export function checkRegistry(
  acl: RegistryAclConfig,
  principal: Principal,
  action: RegistryAction,
  namespaceId: number,
): Decision {
  const use = { acl, principal, action, namespaceId };
  return acl.mode === "custom" ? checkRules(use) : checkBuiltin(use);
}

function checkBuiltin({ acl, principal, action, namespaceId }: RegistryUse): Decision {
  if (acl.allow_local_only && principal.authMethod === "local") {
    return { allowed: true, reason: "builtin_allow_local_only" };
  }
  const names = principal.roles.filter((role) => inScope(role, namespaceId)).map((role) => role.name);
  const writes = action === "register";
  const allowed = writes ? mayRegister(names, principal.policyClass) : mayRead(names, principal.policyClass, action);
  const kind = writes ? "write" : "read";
  if (allowed) return { allowed: true, reason: `builtin_allow_${kind}` };
  return denialFor(
    principal,
    `builtin_deny_${kind}`,
    `Cannot ${action} schemas of namespace ${namespaceId}: set schema_registry.acl.allow_local_only = true, or give ` +
      `"${principal.subject}" a role in server.auth.principals`,
  );
}

function mayRegister(names: readonly string[], policyClass: string | null): boolean {
  if (names.some((name) => WRITERS.includes(name))) return true;
  return names.includes("SchemaManager") && policyClassOf(policyClass) !== "prod";
}

function mayRead(names: readonly string[], policyClass: string | null, action: RegistryAction): boolean {
  if (names.some((name) => READERS.includes(name))) return true;
  // The role exists to run prechecks, and a precheck reads one schema by name.
  return action === "get" && policyClassOf(policyClass) === "scratch" &&
    names.some((name) => SCRATCH_GETTERS.includes(name));
}

function checkRules(use: RegistryUse): Decision {
  const { acl, principal, action, namespaceId } = use;
  const { policyClass } = principal;
  const isNamed = acl.rules.some((rule) => rule.policy_classes.some((entry) => entry === policyClass));
  // A missing class, or one that no rule names, must not pass a rule that denies the class that it counts as.
  const deniedAs = isNamed ? policyClass : policyClassOf(policyClass);
  const index = acl.rules.findIndex((rule) =>
    ruleMatches(rule, use) &&
    any(rule.policy_classes, (entry) => entry === policyClass || rule.effect === "deny" && entry === deniedAs)
  );
  const rule = acl.rules[index];
  const effect = rule?.effect ?? acl.default;
  const reason = `${rule === undefined ? "default" : "custom"}_${effect}`;
  if (effect === "allow") return { allowed: true, reason };
  const setting = rule === undefined ? "schema_registry.acl.default" : `schema_registry.acl.rules[${index}]`;
  return denialFor(
    principal,
    reason,
    `Cannot ${action} schemas of namespace ${namespaceId}: ${setting} denies it`,
  );
}

/** Whether every selector of a rule but that of policy classes matches. */
function ruleMatches(rule: RegistryAclRuleConfig, { principal, action, namespaceId }: RegistryUse): boolean {
  return (
    any(rule.actions, (entry) => entry === action) &&
    any(rule.namespaces, (entry) => entry === namespaceId) &&
    any(rule.tenants, (entry) => actsFor(principal, entry)) &&
    any(rule.subjects, (entry) => entry === principal.subject) &&
    any(rule.roles, (entry) => principal.roles.some((role) => role.name === entry && inScope(role, namespaceId)))
  );
}

/** Whether a selector matches; an empty selector always matches. */
function any<T>(selector: readonly T[], holds: (entry: T) => boolean): boolean {
  return selector.length === 0 || selector.some(holds);
}
