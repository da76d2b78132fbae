/** The documents of the service. Their paths name them, so that `deno compile` can include them. */

import { TOOLS_WITH_PAGES } from "./tool_pages.ts";
import type { DocRole } from "./types.ts";

/** A document of the service. Its first page has the title. */
export interface DefaultDoc {
  readonly doc_role: DocRole;
  readonly description: string;
  /** The part of the URI after `gate://docs/`; the id has `_` in place of its `-` and `/`. */
  readonly suffix: string;
  /** Paths below the folder `docs`: one file, or several pages, of which the first is Markdown. */
  readonly files: readonly string[];
}

/** Documents of a role, from the paths of their pages. */
function ofRole(
  doc_role: DocRole,
): (file: string, description: string, ...pages: readonly string[]) => DefaultDoc {
  return (file, description, ...pages) => {
    const suffix = file.replace(/^(guide|reference|design)\//, "").replace(/(\/README)?\.md$/, "").replaceAll("_", "-");
    return { doc_role, description, suffix, files: [file, ...pages] };
  };
}

const reasoning = ofRole("reasoning");
const decision = ofRole("decision");
const pattern = ofRole("pattern");
const ontology = ofRole("ontology");

/**
 * Every document of the service, in the order of the catalogue. Pages about building and measuring gate (benchmarks,
 * decisions, contributing) are on the site alone: they help with no call, and each page here is part of every
 * executable.
 */
export const DEFAULT_DOCS: readonly DefaultDoc[] = [
  ontology("guide/concepts.md", "The ten nouns, the three truth values, and their relations"),
  decision("guide/agent_playbook.md", "Which tool to call next, and what to do with every outcome and error"),
  pattern("guide/first_law.md", "From nothing to a law with two approvals, its cases and a run"),
  pattern("guide/authoring.md", "From a question to a law: stages, requirements, conditions, evidence-use policy"),
  pattern(
    "examples/README.md",
    "Worked scenarios to copy: release, change approval, database migration, data disclosure, agent task, model promotion",
    "examples/release_gate/scenario.yaml",
    "examples/change_approval/scenario.yaml",
    "examples/database_migration/scenario.yaml",
    "examples/data_disclosure/scenario.yaml",
    "examples/agent_task/scenario.yaml",
    "examples/model_promotion/scenario.json",
  ),
  ontology(
    "reference/law_file.md",
    "How a law is written: members, types, evidence lines, expressions, and what each compiles to",
  ),
  reasoning("guide/questions.md", "Who can open a law, what it needs, and what a change of it does"),
  reasoning("guide/trust.md", "Why evidence counts: lanes, signatures, approvals by people, anchors"),
  reasoning(
    "guide/bound_approvals.md",
    "What an approval is bound to, what it cannot be used for, and how it is checked later",
  ),
  ontology(
    "reference/providers.md",
    "The built-in providers time, calendar, env, json, http and rest: checks, limits and every error code",
  ),
  pattern(
    "guide/typed_providers.md",
    "Evidence from any OpenAPI or gRPC service: import, versions, credentials, lifecycle",
  ),
  ontology("reference/typed_grpc.md", "How messages become JSON, and what a gRPC service has to answer"),
  ontology(
    "reference/typed_openapi.md",
    "What an import of an OpenAPI document takes, and why an operation is no check",
  ),
  pattern(
    "guide/custom_provider.md",
    "How to write your own provider over MCP: its contract, messages, signatures, anchors and errors",
  ),
  ontology(
    "reference/provider_contract.md",
    "Every member, limit and fault of a capability contract, for providers of type mcp and typed",
  ),
  ontology(
    "reference/runtime_profile.md",
    "How a typed provider asks a service: requests, credentials by locator, limits, errors, anchors",
  ),
  pattern("guide/runpacks.md", "Exporting, verifying, showing and replaying a runpack, and the meaning of each claim"),
  pattern("reference/cli.md", "Every command, scenario files and their cases, a client for scripts, exit codes"),
  decision("guide/operations.md", "Configuring, running, watching, backing up and repairing a server"),
  decision(
    "guide/notifications.md",
    "Signed webhooks for open, waiting and complete stages, and what a receiver can rely on",
  ),
  decision("guide/console.md", "The page on which people see runs and sign what stages wait for"),
  pattern("guide/pictures.md", "Drawings of laws and runs, and what their shapes and words mean"),
  pattern(
    "guide/pipelines.md",
    "Stopping a pipeline until a gate is open: one command, its exit code, GitHub Actions and GitLab CI",
  ),
  decision(
    "guide/several_servers.md",
    "PostgreSQL as the store of several servers: setting it up, losing a machine, what servers share",
  ),
  pattern(
    "guide/fleet.md",
    "Three servers behind nginx on PostgreSQL with a standby: setting it up, what fails over, drills",
  ),
  ontology(
    "reference/configuration.md",
    "Every setting of gate.toml with its values and default, and the policy on entry packets",
  ),
  pattern(
    "reference/permissions.md",
    "What each start of a server grants, what fails with one fewer, and what the runtime cannot narrow",
  ),
  pattern("reference/http.md", "Calling gate over HTTP: addresses, fields, status codes, retries, streams and limits"),
  decision(
    "guide/deployment.md",
    "One executable, ready configurations, systemd, containers, proxies, certificates, monitoring",
  ),
  {
    ...decision("guide/upgrade.md", "Compatibility between versions of gate, and the steps of an upgrade"),
    suffix: "upgrading",
  },
  reasoning("design/security.md", "Threats, protections and their limits: authentication, roles, attackers"),
  pattern("reference/audit.md", "Logged events, the chain of lines, and how to verify, rotate and recover the log"),
  reasoning("design/architecture.md", "The three promises, the path of one call, and the dependencies between modules"),
  decision(
    "reference/tools/README.md",
    "Every tool with its arguments and results, one page a tool",
    ...TOOLS_WITH_PAGES.map((name) => `reference/tools/${name}.md`),
  ),
  ontology("format/scenario_law.md", "Valid specs: every member and limit, the normal form, identities and proofs"),
  ontology("format/values.md", "Domains, equality of values, and the meaning of each predicate"),
  ontology(
    "format/records.md",
    "Members of records, qualification and judgement of evidence, and the fold of records to a state",
  ),
  pattern("format/evidence_statement.md", "The signed bytes of evidence, signing and verification"),
  reasoning("format/runpack.md", "Objects of a runpack, the claims of its verification, and why the claims hold"),
  reasoning("format/identities.md", "Identities by content, and how to recompute an identity"),
  ontology("format/canonical.md", "Accepted JSON texts, their canonical text, and the order of strings"),
];
