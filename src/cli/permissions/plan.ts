/** Derives the minimum permissions for serving a configuration. */

import { DEFAULT_CONFIG_FILE, defaultKeysFolder } from "../../config/load.ts";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { BuiltinProviderEntry, GateConfig, ProviderConfig, TrustPolicy } from "../../config/types.ts";
import { trustedKeyFiles } from "../../config/paths.ts";
import { resolveAddress, variableOfUrl } from "../../config/postgres_address.ts";
import { hostKey } from "../../config/host_name.ts";
import { NETWORKS_4_NOT_PUBLIC, parseAddress } from "../../evidence/egress/address.ts";
import { grantedNames } from "../../evidence/builtin/env.ts";
import type { TypedHost } from "../../evidence/typed/grants.ts";
import { HAS_GROUPS, KILL_PROGRAM } from "../../evidence/external/process_group.ts";
import { referencedEnvironment } from "../../evidence/providers.ts";
import { headDraftPath, headPath } from "../../server/audit/head.ts";
import { markPath } from "../../store/sqlite/high_water_mark.ts";
import { dataDirOf } from "../terminal/data_dir.ts";
import { isLocal } from "../terminal/secure_url.ts";
import { readVariable } from "../config/variable.ts";
import { AUTHORITIES, isGranted } from "./grants.ts";
import { hasOAuth, type ServeArguments } from "../serve/serve_flags.ts";
import { existsSync } from "node:fs";

/** The allowed values of one permission: all, or a list. */
export type Allowance = "all" | readonly string[];

/** The permissions of a process. */
export interface PermissionPlan {
  readonly read: readonly string[];
  readonly write: readonly string[];
  readonly env: Allowance;
  readonly net: Allowance;
  /** Exceptions to `net`. */
  readonly deny_net: readonly string[];
  readonly run: readonly string[];
  readonly sys: Allowance;
  /** Reasons for permissions that are wider than expected. */
  readonly notes: readonly string[];
}

/** Private networks, which providers may reach only if configured; the runtime accepts no IPv6 networks here. */
const PRIVATE_NETWORKS = [...NETWORKS_4_NOT_PUBLIC, "[::1]"];

/** Variables that gate passes to the program of an external provider. */
const CHILD_VARIABLES = ["HOME", "LANG", "LC_ALL", "PATH", "SYSTEMROOT", "TMPDIR", "TZ"];
/** Variables that the client of the object store reads. */
const STORE_VARIABLES = ["AWS_*", "HOME", "HOMEDRIVE", "HOMEPATH", "USERPROFILE", "_X_AMZN_TRACE_ID"];

/** Variables that the client of PostgreSQL asks for although every option is given. */
const POSTGRES_VARIABLES = ["PG*"];

/** Where providers of one kind may connect to. */
interface Outward {
  /** Null for any public host. */
  readonly hosts: readonly string[] | null;
  readonly allowPrivate: boolean;
}

/** What the flags of `gate serve` add to a configuration. */
interface FlagNeeds {
  readonly typedHosts: readonly TypedHost[];
  /** The address of `--otlp-endpoint`. */
  readonly collector: URL | null;
  /** The addresses of `--oauth-issuer`. */
  readonly issuers: readonly string[];
  /** The address of `--notify`. */
  readonly receiver: URL | null;
  /** The variables of `--otlp-header` and `--notify-secret`, and those with which an operator replaces flags. */
  readonly variables: readonly string[];
}

/**
 * Derives the permissions of `gate serve` with some flags. Links in paths are resolved, because the runtime compares
 * resolved paths.
 */
export async function planPermissions(config: GateConfig, flags: ServeArguments): Promise<PermissionPlan> {
  const notes: string[] = [];
  const needs = await needsOf(config, flags);
  const collector = needs.collector === null ? [] : [authorityOf(needs.collector.href)];
  const own = [...ownHosts(config), ...collector, ...localReceiver(needs.receiver)];
  noteUnsetAddress(config, notes);
  const outward = [...config.providers.flatMap(outwardOf), ...outwardOfFlags(needs, flags)];
  const net = netOf(outward, own, notes);
  const dataDir = dataDirOf(config, flags.dataDir);
  const evidenceKeys = flags.evidenceKeys ?? config.trust.evidence_keys ?? defaultKeysOf(config);
  const { signingKey, credentialsDir, oauthPrincipals, oauthCa } = flags;
  const named = [signingKey, credentialsDir, evidenceKeys, oauthPrincipals, oauthCa].flatMap((path) => path ?? []);
  const logs = storeFiles(config).flatMap((path) => [`${realPath(path)}-wal`, `${realPath(path)}-shm`]);
  const files = [
    ...readPaths(config),
    ...config.providers.flatMap(filesOfProvider),
    ...named,
    dataDir,
    ...writtenFolders(config),
    ...logs,
  ];
  const write = topPaths(writePaths(config, dataDir));
  const read = topPaths([...files.map((path) => resolve(path)), ...write]);
  const plan = {
    // Where no file is named, the one in the working folder goes first. The runtime resolves its name at the start.
    read: [...config.config_path === null ? [DEFAULT_CONFIG_FILE] : [], ...read],
    write,
    env: await envOf(config, needs, notes),
    net,
    deny_net: net === "all" ? deniedNetworks(outward, own, notes) : [],
    run: unique([...programsOf(config), ...bundlerOf(flags, notes)]),
    sys: sysOf(config, notes),
    notes,
  };
  notes.push(...commaFaults(plan));
  return plan;
}

async function needsOf({ server }: GateConfig, flags: ServeArguments): Promise<FlagNeeds> {
  const { config, allowNonLoopback, typedHosts, otlpEndpoint, otlpHeaders, notify, notifySecret } = flags;
  const [typed, telemetry, events, oauth] = await Promise.all([
    typedHosts.length === 0 ? null : import("../serve/typed_flags.ts"),
    otlpEndpoint === undefined ? null : import("../serve/telemetry_flags.ts"),
    notify === undefined ? null : import("../serve/notify_flags.ts"),
    hasOAuth(flags) ? import("../serve/oauth_flags.ts") : null,
  ]);
  return {
    typedHosts: await typed?.typedHostsOf(typedHosts) ?? [],
    collector: telemetry?.parseEndpoint(otlpEndpoint ?? "") ?? null,
    issuers: oauth?.oauthIssuersOf(flags).map(({ issuer }) => issuer) ?? [],
    receiver: events?.parseReceiver(notify ?? "") ?? null,
    variables: [
      ...config === undefined ? ["GATE_CONFIG"] : [],
      ...server.transport === "stdio" || allowNonLoopback ? [] : ["GATE_ALLOW_NON_LOOPBACK"],
      ...telemetry === null ? [] : otlpHeaders.map((header) => telemetry.parseHeader(header).variable),
      ...events === null || notifySecret === undefined ? [] : [events.parseSecret(notifySecret)],
    ],
  };
}

/** Why flags cannot have the permissions of a plan: a comma ends an item. At most one fault. */
export function commaFaults({ read, env, run }: Pick<PermissionPlan, "read" | "env" | "run">): readonly string[] {
  const [item] = [...read, ...env === "all" ? [] : env, ...run].filter((one) => one.includes(","));
  return item === undefined ? [] : [`no flag can name a path or a variable with a comma: rename ${item}`];
}

/** Folders of the program that are read while it runs: documents, and workers that are started by name. */
export const OWN_FOLDERS: readonly string[] = ["docs", "src"];

/** A path of the program itself. A compiled program has no files on disk, so its paths count from the root of a checkout. */
export function ownPath(path: string): string {
  return Deno.build.standalone ? path : fileURLToPath(new URL(`../../../${path}`, import.meta.url));
}

/** The programs of providers, and the program that ends their process groups. */
function programsOf({ providers }: GateConfig): readonly string[] {
  const programs = providers.flatMap(({ command }) => command.slice(0, 1));
  return unique(programs.length === 0 || !HAS_GROUPS ? programs : [...programs, KILL_PROGRAM]);
}

/** The runtime that bundles the console in a checkout; a compiled program has it built. */
function bundlerOf({ console: isServed }: ServeArguments, notes: string[]): readonly string[] {
  if (!isServed || Deno.build.standalone) return [];
  notes.push(
    "a checkout bundles the console when the server starts: a release has it built and runs no program for it",
  );
  return [Deno.execPath()];
}

function unique(values: readonly string[]): readonly string[] {
  return [...new Set(values)].sort();
}

/** Paths and their resolved forms, both of which the runtime checks, without those in a folder among the others. */
function topPaths(paths: readonly string[]): readonly string[] {
  const all = new Set(paths.flatMap((path) => [path, realPath(path)]));
  const isBelow = (path: string): boolean => {
    const parent = dirname(path);
    return parent !== path && (all.has(parent) || isBelow(parent));
  };
  return [...all].filter((path) => !isBelow(path)).sort();
}

/** Resolves the links of a path, which need not exist. */
function realPath(path: string): string {
  try {
    // A process with this plan may not look at the parents of its folders.
    return isGranted({ name: "read", path }) ? Deno.realPathSync(path) : path;
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(realPath(parent), basename(path));
  }
}

/** System information: free disk space, the system's authorities, and its release for the client of the object store. */
function sysOf(config: GateConfig, notes: string[]): Allowance {
  const isSecure = ownUrls(config).some((url) => url.startsWith("https:"));
  if (isSecure) {
    notes.push("gate itself uses https: the runtime has no narrower flag for the system's certificate authorities");
  }
  return [
    ...isSecure ? [AUTHORITIES] : [],
    ...config.runpack_storage === null ? [] : ["osRelease"],
    "statfs",
  ];
}

/** A folder that is made later counts after the next start. Without a configuration there is no such folder. */
function defaultKeysOf(config: GateConfig): string | undefined {
  return config.config_path !== null || isStarter(config) ? defaultKeysFolder(config) : undefined;
}

/** Whether `--data-dir` stands in for a configuration: the whole folder is then gate's own. */
function isStarter({ config_path, run_state_store }: GateConfig): boolean {
  return config_path === null && run_state_store.type !== "memory";
}

function readPaths(config: GateConfig): readonly string[] {
  const { docs, server } = config;
  const tls = server.tls === null ? [] : [server.tls.cert_path, server.tls.key_path, server.tls.client_ca_path ?? ""];
  const policies: readonly TrustPolicy[] = [
    config.trust.default_policy,
    ...config.providers.flatMap(({ trust }) => trust ?? []),
  ];
  return [
    config.config_path ?? "",
    config.run_state_store.tls_ca_path ?? "",
    ...tls,
    ...server.state_keys,
    ...policies.flatMap((policy) => trustedKeyFiles(policy, config.base_dir).map(({ path }) => path)),
    ...docs.enabled ? docs.extra_paths : [],
    ...docs.enabled && docs.include_default_docs ? [ownPath("docs")] : [],
    // The runtime checks read permission before it starts a worker.
    ownPath("src"),
  ].filter((path) => path !== "");
}

/** The files and folders that a provider reads. */
export function filesOfProvider(provider: ProviderConfig): readonly string[] {
  return [
    ...[provider.capabilities_path, provider.runtime_profile_path].filter((path) => path !== null),
    ...provider.type === "builtin" && provider.name === "json" ? [provider.config.root] : [],
  ];
}

/** The files that gate writes, and the folder of runpacks. A path in a missing folder is replaced by that folder. */
function writePaths(config: GateConfig, dataDir: string): readonly string[] {
  const audit = config.server.audit.path;
  if (isStarter(config)) return [config.base_dir, join(dataDir, "runpacks")];
  const stores = storeFiles(config).flatMap((path) => [path, markPath(realPath(path))]);
  const files = [...stores, ...audit === null ? [] : [audit, headPath(audit), headDraftPath(audit)]];
  return [...files, join(dataDir, "runpacks")].map((path) => isMissing(dirname(path)) ? dirname(path) : path);
}

function isMissing(folder: string): boolean {
  return isGranted({ name: "read", path: folder }) && !existsSync(folder);
}

/** Folders of written files: gate reads their free space, and syncs them so that new files survive a power failure. */
function writtenFolders(config: GateConfig): readonly string[] {
  const audit = config.server.audit.path;
  const files = [...storeFiles(config), ...audit === null ? [] : [audit]];
  return files.map(dirname);
}

/** The files of the stores. SQLite needs no permission for its own files beside them. */
function storeFiles(config: GateConfig): readonly string[] {
  return [config.run_state_store.path, config.schema_registry.path].flatMap((path) => path ?? []);
}

async function envOf(config: GateConfig, needs: FlagNeeds, notes: string[]): Promise<Allowance> {
  const names = [...needs.variables, ...await referencedEnvironment(config)];
  if (config.dev.allow_dev_env_credentials) {
    if (config.providers.some(({ type }) => type === "typed")) {
      notes.push(
        "a profile of a typed provider may name any variable: the process needs permission for every variable",
      );
      return "all";
    }
    const locators = needs.typedHosts.flatMap(({ credentials }) => credentials);
    if (locators.length > 0) {
      const { variableOf } = await import("../../evidence/typed/grants.ts");
      names.push(...locators.flatMap((locator) => variableOf(locator) ?? []));
    }
  }
  if (config.runpack_storage !== null) names.push(...STORE_VARIABLES);
  if (config.run_state_store.type === "postgres") names.push(...POSTGRES_VARIABLES);
  for (const provider of config.providers) {
    if (provider.command.length > 0) names.push(...CHILD_VARIABLES);
    const granted = provider.type === "builtin" ? variablesOf(provider) : [];
    if (granted === null) {
      notes.push('provider "env" has no allowlist: the process needs permission for every variable');
      return "all";
    }
    names.push(...granted);
  }
  return unique(names);
}

function variablesOf(entry: BuiltinProviderEntry): readonly string[] | null {
  return entry.name === "env" ? grantedNames({ config: entry.config, reserved: new Set() }) : [];
}

function outwardOf(provider: ProviderConfig): readonly Outward[] {
  // The profile, which is not read here, names the host of a typed provider, and mostly by name.
  if (provider.type === "typed") return [{ hosts: null, allowPrivate: provider.config.allow_private_networks }];
  if (provider.type !== "builtin" || (provider.name !== "http" && provider.name !== "rest")) return [];
  return [{ hosts: provider.config.allowed_hosts, allowPrivate: provider.config.allow_private_networks }];
}

function outwardOfFlags(
  { typedHosts, issuers, receiver }: FlagNeeds,
  { typedPrivate, oauthPrivate }: ServeArguments,
): readonly Outward[] {
  const typed = typedHosts.length === 0
    ? []
    : [{ hosts: typedHosts.map(({ host }) => host), allowPrivate: typedPrivate }];
  const issuing = issuers.map((issuer) => ({ hosts: [new URL(issuer).hostname], allowPrivate: oauthPrivate }));
  const receiving = receiver === null || isLocal(receiver) ? [] : [{ hosts: [receiver.hostname], allowPrivate: false }];
  return [...typed, ...issuing, ...receiving];
}

/** A receiver on this machine, which the worker reaches by an address. */
function localReceiver(receiver: URL | null): readonly string[] {
  if (receiver === null || !isLocal(receiver)) return [];
  const own = authorityOf(receiver.href);
  const port = own.slice(own.lastIndexOf(":"));
  return [own, ...receiver.hostname === "localhost" ? [`127.0.0.1${port}`, `[::1]${port}`] : []];
}

/** Hosts on which gate itself listens or to which it connects, except for requests of `http`, `rest` and typed providers. */
function ownHosts(config: GateConfig): readonly string[] {
  const { server } = config;
  return [
    ...server.transport === "stdio" || server.bind === null ? [] : [server.bind],
    ...databaseHosts(config),
    // The self-test for client certificates uses a port of its own.
    ...(server.tls?.client_ca_path ?? null) === null ? [] : ["127.0.0.1"],
    ...ownUrls(config).map(authorityOf),
  ];
}

/** The servers of the stores' database. The variable of an address that is not set now adds none. */
function databaseHosts({ run_state_store: { url } }: GateConfig): readonly string[] {
  const address = resolveAddress(url ?? "", readVariable);
  return ("fault" in address ? [] : address.servers).map(({ host, port }) =>
    `${host.includes(":") ? `[${host}]` : host}:${port}`
  );
}

function noteUnsetAddress({ run_state_store: { url } }: GateConfig, notes: string[]): void {
  const variable = variableOfUrl(url ?? "");
  if (variable === null || !("fault" in resolveAddress(url ?? "", readVariable))) return;
  notes.push(`${variable} has no address of a database here: set it as for the server, or the flags lack the database`);
}

/** The URLs to which gate itself connects, in lower case. */
function ownUrls({ namespace, providers, runpack_storage: storage }: GateConfig): readonly string[] {
  const urls = [
    namespace.authority.ledger?.base_url ?? null,
    ...providers.map((provider) => provider.command.length > 0 ? null : provider.url),
    storage === null ? null : storage.endpoint ?? storeAddress(storage),
  ];
  return urls.flatMap((url) => url === null ? [] : [new URL(url).href]);
}

function storeAddress(
  storage: { readonly bucket: string; readonly region: string | null; readonly force_path_style: boolean },
): string {
  const host = `s3.${storage.region ?? "us-east-1"}.amazonaws.com`;
  return `https://${storage.force_path_style ? host : `${storage.bucket}.${host}`}`;
}

function authorityOf(url: string): string {
  const { hostname, port, protocol } = new URL(url);
  return `${hostname}:${port === "" ? (protocol === "https:" ? "443" : "80") : port}`;
}

/**
 * Connections of `http`, `rest` and typed providers are pinned to addresses, so the runtime needs permission for
 * addresses, not names.
 */
function netOf(outward: readonly Outward[], own: readonly string[], notes: string[]): Allowance {
  const hosts = outward.map((one) => one.hosts);
  const keys = hosts.flatMap((list) => list ?? []).map((host) => hostKey(host) ?? host);
  const names = keys.filter((key) => parseAddress(key) === null);
  if (hosts.every((list) => list !== null) && names.length === 0) {
    const addresses = keys.map((key) => key.includes(":") ? `[${key}]` : key);
    return unique([...own.filter((one) => !addresses.includes(one.replace(/:\d+$/, ""))), ...addresses]);
  }
  notes.push(
    "providers, the sender of events and the reader of keys of issuers connect to addresses that are only known at run " +
      "time: each worker may connect to those of one host, the process to all",
  );
  return "all";
}

function deniedNetworks(
  outward: readonly Outward[],
  own: readonly string[],
  notes: string[],
): readonly string[] {
  if (outward.some(({ allowPrivate }) => allowPrivate)) return [];
  const names = own.filter((host) => !isPublic(host));
  if (names.length === 0) return PRIVATE_NETWORKS;
  notes.push(`private networks are not denied, because gate itself uses ${names.join(", ")}`);
  return [];
}

/** Whether a `host:port` is certain to be public; any other name may resolve to a private address. */
function isPublic(host: string): boolean {
  return /\.amazonaws\.com:\d+$/.test(host);
}
