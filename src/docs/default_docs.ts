/**
 * The documents of the service. Literal paths name them, so that `deno compile` can include them.
 *
 * @module
 */

import { TOOL_PAGES } from "./tool_pages.ts";
import type { DocRole } from "./types.ts";

/** A document of the service. */
export interface DefaultDoc {
  readonly doc_id: string;
  readonly doc_role: DocRole;
  readonly doc_title: string;
  readonly description: string;
  /** The part of the URI after `gate://docs/`. */
  readonly suffix: string;
  /** Paths below the folder `docs`: one file, or several pages, of which the first is Markdown. */
  readonly files: readonly string[];
}

/**
 * Every document of the service, in the order of the catalogue. Pages about building and measuring gate (benchmarks, decisions,
 * contributing) are on the site alone: they help with no call, and each page here is part of every executable.
 */
export const DEFAULT_DOCS: readonly DefaultDoc[] = [
  {
    doc_id: "concepts",
    doc_role: "ontology",
    doc_title: "Concepts",
    description: "The ten nouns, the three truth values, and their relations",
    suffix: "concepts",
    files: ["guide/concepts.md"],
  },
  {
    doc_id: "agent_playbook",
    doc_role: "decision",
    doc_title: "Agent playbook",
    description: "Which tool to call next, and what to do with every outcome and error",
    suffix: "agent-playbook",
    files: ["guide/agent_playbook.md"],
  },
  {
    doc_id: "authoring",
    doc_role: "pattern",
    doc_title: "Writing a scenario",
    description: "From a question to a law: stages, requirements, conditions, evidence-use policy",
    suffix: "authoring",
    files: ["guide/authoring.md"],
  },
  {
    doc_id: "examples",
    doc_role: "pattern",
    doc_title: "Examples",
    description:
      "Worked scenarios to copy: release, change approval, database migration, data disclosure, agent task, model promotion",
    suffix: "examples",
    files: [
      "examples/README.md",
      "examples/release_gate/scenario.yaml",
      "examples/change_approval/scenario.yaml",
      "examples/database_migration/scenario.yaml",
      "examples/data_disclosure/scenario.yaml",
      "examples/agent_task/scenario.yaml",
      "examples/model_promotion/scenario.json",
    ],
  },
  {
    doc_id: "trust",
    doc_role: "reasoning",
    doc_title: "Trust",
    description: "Why evidence counts: lanes, signatures, approvals by people, anchors",
    suffix: "trust",
    files: ["guide/trust.md"],
  },
  {
    doc_id: "providers",
    doc_role: "ontology",
    doc_title: "Providers",
    description: "The built-in providers time, env, json, http and rest: checks, limits and every error code",
    suffix: "providers",
    files: ["reference/providers.md"],
  },
  {
    doc_id: "typed_providers",
    doc_role: "pattern",
    doc_title: "Typed providers",
    description: "Evidence from any OpenAPI or gRPC service: import, versions, credentials, lifecycle",
    suffix: "typed-providers",
    files: ["guide/typed_providers.md"],
  },
  {
    doc_id: "typed_grpc",
    doc_role: "ontology",
    doc_title: "gRPC services as typed providers",
    description: "How messages become JSON, and what a gRPC service has to answer",
    suffix: "typed-grpc",
    files: ["reference/typed_grpc.md"],
  },
  {
    doc_id: "typed_openapi",
    doc_role: "ontology",
    doc_title: "HTTP services with OpenAPI as typed providers",
    description: "What an import of an OpenAPI document takes, and why an operation is no check",
    suffix: "typed-openapi",
    files: ["reference/typed_openapi.md"],
  },
  {
    doc_id: "custom_provider",
    doc_role: "pattern",
    doc_title: "Writing a custom provider",
    description: "How to write your own provider over MCP: its contract, messages, signatures, anchors and errors",
    suffix: "custom-provider",
    files: ["guide/custom_provider.md"],
  },
  {
    doc_id: "provider_contract",
    doc_role: "ontology",
    doc_title: "The provider contract",
    description: "Every member, limit and fault of a capability contract, for providers of type mcp and typed",
    suffix: "provider-contract",
    files: ["reference/provider_contract.md"],
  },
  {
    doc_id: "runtime_profile",
    doc_role: "ontology",
    doc_title: "The runtime profile",
    description: "How a typed provider asks a service: requests, credentials by locator, limits, errors, anchors",
    suffix: "runtime-profile",
    files: ["reference/runtime_profile.md"],
  },
  {
    doc_id: "runpacks",
    doc_role: "pattern",
    doc_title: "Runpacks",
    description: "Exporting, verifying, showing and replaying a runpack, and the meaning of each claim",
    suffix: "runpacks",
    files: ["guide/runpacks.md"],
  },
  {
    doc_id: "cli",
    doc_role: "pattern",
    doc_title: "Command line",
    description: "Every command, scenario files and their cases, a client for scripts, exit codes",
    suffix: "cli",
    files: ["reference/cli.md"],
  },
  {
    doc_id: "operations",
    doc_role: "decision",
    doc_title: "Operations",
    description: "Configuring, running, watching, backing up and repairing a server",
    suffix: "operations",
    files: ["guide/operations.md"],
  },
  {
    doc_id: "notifications",
    doc_role: "decision",
    doc_title: "Notifications",
    description: "Signed webhooks for open, waiting and complete stages, and what a receiver can rely on",
    suffix: "notifications",
    files: ["guide/notifications.md"],
  },
  {
    doc_id: "console",
    doc_role: "decision",
    doc_title: "Console",
    description: "The page on which people see runs and sign what stages wait for",
    suffix: "console",
    files: ["guide/console.md"],
  },
  {
    doc_id: "pictures",
    doc_role: "pattern",
    doc_title: "Pictures",
    description: "Drawings of laws and runs, and what their shapes and words mean",
    suffix: "pictures",
    files: ["guide/pictures.md"],
  },
  {
    doc_id: "pipelines",
    doc_role: "pattern",
    doc_title: "Pipelines",
    description: "Stopping a pipeline until a gate is open: one command, its exit code, GitHub Actions and GitLab CI",
    suffix: "pipelines",
    files: ["guide/pipelines.md"],
  },
  {
    doc_id: "several_servers",
    doc_role: "decision",
    doc_title: "Several servers on one database",
    description: "PostgreSQL as the store of several servers: setting it up, losing a machine, what servers share",
    suffix: "several-servers",
    files: ["guide/several_servers.md"],
  },
  {
    doc_id: "fleet",
    doc_role: "pattern",
    doc_title: "A fleet: deployment and drills",
    description: "Three servers behind nginx on PostgreSQL with a standby: setting it up, what fails over, drills",
    suffix: "fleet",
    files: ["guide/fleet.md"],
  },
  {
    doc_id: "configuration",
    doc_role: "ontology",
    doc_title: "Configuration",
    description: "Every setting of gate.toml with its values and default, and the policy on entry packets",
    suffix: "configuration",
    files: ["reference/configuration.md"],
  },
  {
    doc_id: "http",
    doc_role: "pattern",
    doc_title: "HTTP",
    description: "Calling gate over HTTP: addresses, fields, status codes, retries, streams and limits",
    suffix: "http",
    files: ["reference/http.md"],
  },
  {
    doc_id: "deployment",
    doc_role: "decision",
    doc_title: "Deployment",
    description: "One executable, ready configurations, systemd, containers, proxies, certificates, monitoring",
    suffix: "deployment",
    files: ["guide/deployment.md"],
  },
  {
    doc_id: "upgrading",
    doc_role: "decision",
    doc_title: "Upgrading",
    description: "Compatibility between versions of gate, and the steps of an upgrade",
    suffix: "upgrading",
    files: ["guide/upgrade.md"],
  },
  {
    doc_id: "security",
    doc_role: "reasoning",
    doc_title: "Security",
    description: "Threats, protections and their limits: authentication, roles, attackers",
    suffix: "security",
    files: ["design/security.md"],
  },
  {
    doc_id: "audit",
    doc_role: "pattern",
    doc_title: "The audit log",
    description: "Logged events, the chain of lines, and how to verify, rotate and recover the log",
    suffix: "audit",
    files: ["reference/audit.md"],
  },
  {
    doc_id: "architecture",
    doc_role: "reasoning",
    doc_title: "Architecture",
    description: "The three promises, the path of one call, and the dependencies between modules",
    suffix: "architecture",
    files: ["design/architecture.md"],
  },
  {
    doc_id: "tools",
    doc_role: "decision",
    doc_title: "Tools",
    description: "Every tool with its arguments and results, one page a tool",
    suffix: "tools",
    files: ["reference/tools/README.md", ...TOOL_PAGES],
  },
  {
    doc_id: "format_scenario_law",
    doc_role: "ontology",
    doc_title: "Scenario law",
    description: "Valid specs: every member and limit, the normal form, identities and proofs",
    suffix: "format/scenario-law",
    files: ["format/scenario_law.md"],
  },
  {
    doc_id: "format_values",
    doc_role: "ontology",
    doc_title: "Values and predicates",
    description: "Domains, equality of values, and the meaning of each predicate",
    suffix: "format/values",
    files: ["format/values.md"],
  },
  {
    doc_id: "format_records",
    doc_role: "ontology",
    doc_title: "Run records",
    description: "Members of records, qualification and judgement of evidence, and the fold of records to a state",
    suffix: "format/records",
    files: ["format/records.md"],
  },
  {
    doc_id: "format_evidence_statement",
    doc_role: "pattern",
    doc_title: "Evidence statement",
    description: "The signed bytes of evidence, signing and verification",
    suffix: "format/evidence-statement",
    files: ["format/evidence_statement.md"],
  },
  {
    doc_id: "format_runpack",
    doc_role: "reasoning",
    doc_title: "Runpack",
    description: "Objects of a runpack, the claims of its verification, and why the claims hold",
    suffix: "format/runpack",
    files: ["format/runpack.md"],
  },
  {
    doc_id: "format_identities",
    doc_role: "reasoning",
    doc_title: "Identities",
    description: "Identities by content, and how to recompute an identity",
    suffix: "format/identities",
    files: ["format/identities.md"],
  },
  {
    doc_id: "format_canonical",
    doc_role: "ontology",
    doc_title: "Canonical JSON",
    description: "Accepted JSON texts, their canonical text, and the order of strings",
    suffix: "format/canonical",
    files: ["format/canonical.md"],
  },
];
