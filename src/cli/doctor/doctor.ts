/** `gate doctor`: checks the configuration and the machine, and prints the block for MCP clients. */

import { loadConfig } from "../../config/load.ts";
import { describeUrl } from "../../config/postgres_address.ts";
import { ConfigError, type ConfigProblem, formatProblem } from "../../config/problems.ts";
import type { GateConfig, TlsConfig } from "../../config/types.ts";
import {
  type ClientBlock,
  clientBlock,
  type RemoteClientBlock,
  remoteClientBlock,
  serveCommand,
} from "../client/block.ts";
import { compareGrants, describeWider } from "../permissions/grants.ts";
import { withRunStore } from "../store/files.ts";
import { dataDirOf } from "../terminal/data_dir.ts";
import {
  checkClock,
  checkFolder,
  checkKeys,
  checkStateKeys,
  checkStoreFile,
  fail,
  type Finding,
  note,
  ok,
} from "./checks.ts";
import { bearerProblems, databaseProblems } from "../config/variable.ts";
import { checkConfigured } from "./config.ts";
import { checkNetwork } from "./network.ts";
import { CliError } from "../terminal/cli_error.ts";
import { EXIT } from "../terminal/exit_codes.ts";
import { type ConfigFlags, prettyJson, writeAnswer } from "../terminal/output.ts";
import { isRuntimeExporting, RUNTIME_EXPORTS } from "../terminal/runtime_telemetry.ts";
import { columns, paint, type Tone, wantsColour } from "../terminal/text.ts";
import { dirname } from "node:path";
import { otherAt } from "../../server/audit/file.ts";
import { HeadError, readHead } from "../../server/audit/head.ts";
import { AuditTailError, readTail } from "../../server/audit/tail.ts";
import type { X509Certificate } from "node:crypto";
import { compatibilityNote } from "../../server/tls/certificate_compatibility.ts";
import { certificates, loadMaterial, TlsFilesError } from "../../server/tls/material.ts";
import { nameOf, standingOf, timeOf } from "../../server/tls/validity.ts";

/** Checks that the audit log can be opened and continued. The server creates the file, but not its folder. */
export async function checkAudit(path: string): Promise<Finding> {
  const check = "audit log";
  const folder = dirname(path);
  const other = otherAt(path);
  if (other !== null) return fail(check, `${path} cannot be written: ${other}`);
  try {
    const existing = statOrNull(path);
    if (existing === null && statOrNull(folder) === null) return fail(check, `${folder} does not exist`);
    if (existing !== null) {
      using file = Deno.openSync(path, { read: true, append: true });
      if (existing.size > 0) readTail(file, existing.size, path);
    }
    readHead(path);
    await Deno.remove(await Deno.makeTempFile({ dir: folder, prefix: ".gate-doctor-" }));
    return ok(check, `${path} can be written`);
  } catch (error) {
    if (error instanceof AuditTailError || error instanceof HeadError) return fail(check, error.message);
    // The runtime's message advises on flags of its own command line.
    if (error instanceof Deno.errors.NotCapable) return fail(check, `${path} cannot be written: permission denied`);
    return fail(check, `${path} cannot be written: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function statOrNull(path: string): Deno.FileInfo | null {
  try {
    return Deno.statSync(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
}

/** The flags of `gate doctor`. */
export interface DoctorOptions extends ConfigFlags {
  readonly evidenceKeys?: string;
  readonly notify?: string;
  readonly notifySecret?: string;
}

const TONES: Readonly<Record<Finding["status"], Tone>> = { ok: "good", note: "warning", fail: "bad" };

/** The checks that depend on the configuration alone; the others depend on the machine. */
const CONFIGURED = ["configuration", "documentation", "provider", "trusted key", "evidence keys"];

/** Runs `gate doctor`. Returns 0 if no check fails, 2 if a check of the configuration fails, else 8. */
export async function runDoctor(options: DoctorOptions): Promise<number> {
  const { config, findings: found } = await examine(options.config, options.evidenceKeys ?? null);
  const findings = [...found, ...await checkReceiver(options)];
  const failed = findings.filter((finding) => finding.status === "fail");
  const client = config === null ? null : await blockOf(config);
  const block = client === null ? "" : `\nFor MCP clients:\n\n${prettyJson(client)}`;
  const failure = failed.some(({ check }) => CONFIGURED.includes(check)) ? EXIT.usage : EXIT.unreachable;
  const exitCode = failed.length === 0 ? EXIT.ok : failure;
  return writeAnswer("doctor", options, { findings, client }, renderFindings(findings) + block, { exitCode });
}

async function blockOf(config: GateConfig): Promise<ClientBlock | RemoteClientBlock | null> {
  return config.server.transport === "stdio" ? await clientBlock(config) : remoteClientBlock(config.server);
}

/** Runs all checks. An invalid configuration is null, and the other checks are then skipped. */
async function examine(
  named: string | undefined,
  evidenceKeys: string | null,
): Promise<{ config: GateConfig | null; findings: readonly Finding[] }> {
  try {
    const config = await loadConfig({ config: named });
    return { config, findings: [...configFindings(config), ...await systemFindings(config, evidenceKeys)] };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const findings = error.problems.map((problem) => fail("configuration", formatProblem(problem)));
    return { config: null, findings };
  }
}

/** Findings on the settings for namespace 1 and the schema registry. */
function configFindings(config: GateConfig): readonly Finding[] {
  const { allow_default: open, default_tenants: tenants } = config.namespace;
  const { acl } = config.schema_registry;
  const hasPrincipals = (config.server.auth?.principals.length ?? 0) > 0;
  const standing = open
    ? `namespaces 1 and above are open; 1 to tenants ${tenants.join(", ")}`
    : "namespaces 2 and above are open; 1 needs namespace.allow_default";
  const refused = "every caller is refused: set schema_registry.acl.allow_local_only = true, or grant roles in " +
    "server.auth.principals";
  return [
    config.config_path === null
      ? note("configuration", "no configuration file found, using built-in defaults: gate init writes a file")
      : ok("configuration", `${config.config_path} is valid`),
    ok("namespace", standing),
    acl.mode === "custom" || acl.allow_local_only || hasPrincipals
      ? ok("schema registry", `access is decided by ${registryRule(acl.mode, acl.allow_local_only)}`)
      : note("schema registry", refused),
  ];
}

function registryRule(mode: "builtin" | "custom", allowLocal: boolean): string {
  if (mode === "custom") return "schema_registry.acl.rules";
  return allowLocal
    ? "schema_registry.acl.allow_local_only: local callers may do everything"
    : "roles of server.auth.principals";
}

/** Findings on the machine, and on the files and services that the configuration names. */
async function systemFindings(config: GateConfig, evidenceKeys: string | null): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  const stores = new Map<string, string[]>();
  for (const section of ["run_state_store", "schema_registry"] as const) {
    const { path, type } = config[section];
    if (type === "postgres") continue;
    if (path === null) {
      findings.push(note(section, 'type is "memory": all data is lost at exit'));
    } else stores.set(path, [...stores.get(path) ?? [], section]);
  }
  for (const [path, sections] of stores) findings.push(checkStoreFile(sections.join(", "), path));
  const failed = (problem: ConfigProblem): Finding => fail("configuration", formatProblem(problem));
  const faults = databaseProblems(config).map(failed);
  findings.push(...faults, ...bearerProblems(config).map(failed));
  if (config.run_state_store.type === "postgres" && faults.length === 0) findings.push(await checkDatabase(config));
  if (isRuntimeExporting()) findings.push(note("telemetry", RUNTIME_EXPORTS));
  findings.push(
    ...await checkConfigured(config),
    ...await checkKeys(config, evidenceKeys),
    ...await checkStateKeys(config),
  );
  findings.push(...await checkNetwork(config));
  if (config.server.tls !== null) findings.push(...await checkTls(config.server.tls, Date.now()));
  const { enabled, path: audit } = config.server.audit;
  if (enabled && audit !== null) findings.push(await checkAudit(audit));
  findings.push(...checkFolder(dataDirOf(config, undefined)));
  findings.push(checkClock(Date.now(), [...stores.keys()]), ...await checkPermissions(config));
  return findings;
}

/** Compares the permissions of this process, which a server that is started alike has, with what the configuration needs. */
async function checkPermissions(config: GateConfig): Promise<readonly Finding[]> {
  const check = "permissions";
  const { plan, fault } = await serveCommand(config);
  const comparison = compareGrants(plan);
  const { missing } = comparison;
  const wider = describeWider(comparison);
  return [
    ...fault === null ? [] : [note(check, fault)],
    ...missing.length === 0 ? [] : [note(check, `a server with those of this process lacks ${missing.join(" ")}`)],
    wider === null ? ok(check, "they are no wider than the configuration needs") : note(check, wider),
  ];
}

/** Checks the flags about a receiver of events, and whether its host has addresses that gate posts to. Nothing is sent. */
async function checkReceiver({ notify, notifySecret }: DoctorOptions): Promise<readonly Finding[]> {
  if (notify === undefined && notifySecret === undefined) return [];
  const check = "notify";
  try {
    const { receiverOf } = await import("../serve/notify_flags.ts");
    const { url } = receiverOf(notify, notifySecret);
    const { checkReceiverHost } = await import("../../evidence/builtin/post_request.ts");
    const { host, fault } = await checkReceiverHost(url);
    if (fault !== null) return [fail(check, fault)];
    return [ok(check, `events go to ${host}, signed`)];
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    return [fail(check, error.message)];
  }
}

/** Connects to the database of the stores, as a start does. */
async function checkDatabase(config: GateConfig): Promise<Finding> {
  const check = "run_state_store, schema_registry";
  try {
    const message = await withRunStore(config, async (runs) => {
      await runs.ready();
      return `${describeUrl(config.run_state_store.url ?? "")} accepts writes`;
    });
    return ok(check, message);
  } catch (error) {
    return fail(check, error instanceof Error ? error.message : String(error));
  }
}

function renderFindings(findings: readonly Finding[]): string {
  const colour = wantsColour();
  const lines = columns(findings.map(({ check, status, message }) => [status.padEnd(4), check, message]));
  return lines.split("\n").map((line, index) => {
    const status = findings[index]?.status;
    return status === undefined ? line : paint(line.slice(0, 4), TONES[status], colour) + line.slice(4);
  }).join("\n");
}

/** Reads the files as the server does; checks the validity of each certificate, and the form of the server's. */
async function checkTls(config: TlsConfig, now: number): Promise<readonly Finding[]> {
  try {
    const { cert, leaf: own, clientAuthorities } = await loadMaterial(config);
    const [leaf, ...chain] = certificates("server.tls.cert_path", cert).map((one) =>
      validity("server.tls.cert_path", one, now)
    );
    const authorities = (clientAuthorities ?? []).flatMap((pem) => certificates("server.tls.client_ca_path", pem))
      .map((one) => validity("server.tls.client_ca_path", one, now));
    // One expired authority among several only affects its own clients.
    const isAnyValid = authorities.some(({ status }) => status !== "fail");
    return [
      ...leaf === undefined ? [] : [leaf],
      ...form("server.tls.cert_path", own),
      ...chain.filter(({ status }) => status !== "ok"),
      ...authorities.map((one) => one.status === "fail" && isAnyValid ? { ...one, status: "note" as const } : one),
    ];
  } catch (error) {
    if (!(error instanceof TlsFilesError)) throw error;
    return error.faults.map((message) => fail("certificate", message));
  }
}

function form(member: string, certificate: X509Certificate): readonly Finding[] {
  const note = compatibilityNote(certificate);
  return note === null ? [] : [finding(member, certificate, "note", note)];
}

function validity(member: string, certificate: X509Certificate, now: number): Finding {
  const { from, to } = timeOf(certificate);
  const found = (status: Finding["status"], what: string, time: number): Finding =>
    finding(member, certificate, status, `${what} ${new Date(time).toISOString()}`);
  switch (standingOf(certificate, now)) {
    case "not_yet":
      return found("fail", "is not valid before", from);
    case "over":
      return found("fail", "expired at", to);
    case "soon_over":
      return found("note", "expires at", to);
    case "good":
      return found("ok", "is valid until", to);
  }
}

function finding(member: string, certificate: X509Certificate, status: Finding["status"], what: string): Finding {
  return { check: "certificate", status, message: `${member}: "${nameOf(certificate)}" ${what}` };
}
