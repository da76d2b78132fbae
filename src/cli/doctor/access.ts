/** The checks of `gate doctor` on access: callers, subjects and roles without effect. */

import { classesOf, POLICY_CLASSES, policyClassOf } from "../../access/roles.ts";
import { digestOfToken } from "../../config/bearer_tokens.ts";
import { formatPath, type SettingPath } from "../../config/problems.ts";
import type { PrincipalConfig, ServerConfig } from "../../config/types.ts";
import type { GateConfig } from "../../config/types.ts";
import { LOOPBACK_SUBJECT } from "../../server/auth/local_only.ts";
import { STDIO_SUBJECT } from "../../server/stdio/serve_stdio.ts";
import { writtenSubject } from "../../server/tls/subject.ts";
import { readVariable } from "../config/variable.ts";
import { type Finding, note } from "./checks.ts";
import { sha256 } from "../run/fold_state.ts";
import { ineffectiveAclSettings, PRINCIPALS, unknownRoles } from "./posture.ts";

/** Finds callers whose every call is refused, and settings that grant nothing. */
export function checkAccess(config: GateConfig): readonly Finding[] {
  return [
    ...notes("roles", [...unknownRoles(config), ...ineffectivePrincipals(config)]),
    ...notes("callers", [...impossibleSubjects(config.server), ...unmatchedCallers(config.server)]),
    ...notes("schema registry", ineffectiveAclSettings(config.schema_registry.acl)),
  ];
}

function notes(check: string, messages: readonly string[]): readonly Finding[] {
  return messages.map((message) => note(check, message));
}

/** Unknown policy classes, and roles that grant nothing in the policy class of their principal. */
export function ineffectivePrincipals(
  { server, schema_registry: { acl } }: GateConfig,
  principals: readonly Pick<PrincipalConfig, "policy_class" | "roles">[] = server.auth?.principals ?? [],
  place: SettingPath = PRINCIPALS,
): readonly string[] {
  const rules = acl.mode === "custom" ? acl.rules : [];
  const labels = new Set(rules.flatMap(({ policy_classes }) => policy_classes));
  const elsewhere = new Set([
    ...server.feedback.scenario_next.trace_roles,
    ...server.feedback.scenario_next.evidence_roles,
    ...rules.flatMap(({ roles }) => roles),
  ]);
  return principals.flatMap(({ policy_class: label, roles }, index) => {
    const where = [...place, index];
    const policyClass = policyClassOf(label);
    const isKnown = label === null || labels.has(label) || label.toLowerCase() === policyClass;
    const unknown = isKnown ? [] : [
      `${formatPath([...where, "policy_class"])}: ${JSON.stringify(label)} counts as ${policyClass}; ` +
      `built in are ${POLICY_CLASSES.join(", ")}`,
    ];
    const ineffective = roles.flatMap(({ name }, role) => {
      const classes = classesOf(name);
      if (classes === null || classes.includes(policyClass) || elsewhere.has(name)) return [];
      const path = formatPath([...where, "roles", role, "name"]);
      return [
        `${path}: role "${name}" grants nothing in policy class ${policyClass}, only in ${classes.join(" and ")}`,
      ];
    });
    return [...unknown, ...ineffective];
  });
}

/** Subjects that no certificate can have: gate writes each subject in one form of RFC 4514 and compares the text. */
function impossibleSubjects({ auth, tls_termination }: ServerConfig): readonly string[] {
  // A proxy writes subjects in its own form.
  if (auth?.mode !== "mtls" || tls_termination === "upstream") return [];
  return auth.mtls_subjects.flatMap((subject, index) => {
    const written = writtenSubject(subject);
    if (written === subject) return [];
    const where = formatPath(["server", "auth", "mtls_subjects", index]);
    const hint = written === null
      ? "openssl x509 -noout -subject -nameopt RFC2253,-esc_msb prints the expected form"
      : `expected ${JSON.stringify(written)}`;
    return [`${where}: no certificate has the subject ${JSON.stringify(subject)}: ${hint}`];
  });
}

interface Caller {
  readonly subject: string;
  /** The setting that admits it. */
  readonly where: string;
}

/** Principals that match no caller, and callers that match no principal. */
function unmatchedCallers(server: ServerConfig): readonly string[] {
  const principals = server.auth?.principals ?? [];
  if (principals.length === 0) return [];
  const callers = callersOf(server);
  const subjects = new Set(callers.map(({ subject }) => subject));
  const named = new Set(principals.map(({ subject }) => subject));
  const sources = [...new Set(callers.map(({ where }) => where.replace(/\[\d+\]$/, "")))].join();
  return [
    ...principals.flatMap(({ subject }, index) => {
      if (subjects.has(subject)) return [];
      const where = formatPath(["server", "auth", "principals", index, "subject"]);
      return [`${where}: ${JSON.stringify(subject)} matches no caller: it is not among ${sources}`];
    }),
    ...callers.filter(({ subject }) => !named.has(subject)).map(({ subject, where }) =>
      `${where}: every call is refused: server.auth.principals has no subject ${JSON.stringify(subject)}`
    ),
  ];
}

/** The callers that the configuration admits. */
function callersOf({ transport, auth }: ServerConfig): readonly Caller[] {
  const list = (member: "bearer_tokens" | "mtls_subjects", subjectOf: (item: string) => string): readonly Caller[] =>
    (auth?.[member] ?? []).map((item, index) => ({
      subject: subjectOf(item),
      where: formatPath(["server", "auth", member, index]),
    }));
  switch (auth?.mode) {
    case "bearer_token":
      return list("bearer_tokens", (item) => {
        const digest = digestOfToken(item, readVariable, sha256);
        return typeof digest === "string" ? `token:${digest}` : item;
      });
    case "mtls":
      return list("mtls_subjects", (subject) => subject);
    default:
      return [{
        subject: transport === "stdio" ? STDIO_SUBJECT : LOOPBACK_SUBJECT,
        where: `the callers of server.transport "${transport}"`,
      }];
  }
}
