/** `gate serve`: serves MCP clients until its input ends or a signal stops it. */

import { existsSync } from "node:fs";
import { ConfigError } from "../../config/problems.ts";
import type { GateConfig } from "../../config/types.ts";
import type { OneTimeLink } from "../../server/auth/one_time_link.ts";
import type { Collector } from "../../server/telemetry/exporter.ts";
import type { LogLevel } from "../../server/process/log.ts";
import { configVariable } from "../config/variable.ts";
import { dataDirOf, loadConfigToWrite } from "../terminal/data_dir.ts";
import type { TypedGrants } from "../../evidence/typed/grants.ts";
import type { CheckedNetwork } from "./network_settings.ts";
import type { Receiver } from "../../tools/notifications/open.ts";
import { writeLog } from "../terminal/output.ts";
import { type PostureLine, securityPosture } from "../doctor/posture.ts";
import { compareGrants, describeWider, isGranted, revokeOthers } from "../permissions/grants.ts";
import type { ConsoleAssets } from "../../server/http/console_pages.ts";
import { CliError } from "../terminal/cli_error.ts";
import { hasOAuth, parseServeArguments, type ServeArguments } from "./serve_flags.ts";

/** What `gate console` changes of `gate serve`. */
export interface ServeChanges {
  readonly adapt: (config: GateConfig) => GateConfig;
  /** Called with the address once the server listens. */
  readonly listening: (url: string) => void;
  /** The link whose first browser is the only caller. */
  readonly link: OneTimeLink;
  /** Whether a program that opens a browser is started. */
  readonly opens: boolean;
}

/** Runs `gate serve` with the arguments after its name; returns the exit code. */
export async function runServe(argv: readonly string[], changes: ServeChanges | null = null): Promise<number> {
  const flags = parseServeArguments(argv);
  // The server's modules load while the configuration is read; an invalid configuration is reported first.
  const loading = import("../../server/serve.ts");
  loading.catch(() => {});
  const loaded = await loadConfigToWrite({ ...flags, environment: configVariable() });
  const oauth = hasOAuth(flags) ? await import("./oauth_flags.ts") : null;
  const config = changes !== null ? changes.adapt(loaded) : oauth?.withOAuth(loaded) ?? loaded;
  const isBuilt = Deno.build.standalone || existsSync(new URL("../../console/assets.json", import.meta.url));
  // A checkout bundles the view of a run when a client first reads it.
  const limited = await limitToConfig(config, flags, isBuilt && changes?.opens !== true ? [] : ["run"]);
  const hasApp = isBuilt || isGranted({ name: "run", command: Deno.execPath() });
  const page = await consoleOf(config, flags);
  // The check of the network counts the files that can be opened, so nothing else may open files meanwhile.
  const { serve } = await loading;
  await refuseUnsetTokens(config);
  const network = config.server.transport === "stdio" ? null : await networkOf(config, flags);
  const notices = network?.notices ?? ineffectiveFlags(flags);
  const typed = await grantsOf(config, flags);
  const lines = [...securityPosture(config), ...limited, ...notices, ...await trustPosture(config)];
  announce(lines, flags.logLevel);
  return await serve({
    config,
    dataDir: dataDirOf(config, flags.dataDir),
    logLevel: flags.logLevel,
    signingKey: flags.signingKey ?? null,
    typed,
    evidenceKeys: flags.evidenceKeys ?? null,
    publicUrl: await publicUrlOfFlags(flags),
    runApp: hasApp ? async () => await (await import("../../console/assets.ts")).readRunApp() : null,
    collector: await collectorOfFlags(flags),
    receiver: await receiverOfFlags(flags),
    network: network === null ? null : {
      ...network.settings,
      ...page,
      ...oauth === null ? {} : { oauth: await oauth.resourceServerOf(flags, config) },
      ...changes === null ? {} : { listening: changes.listening, link: changes.link },
    },
  });
}

/**
 * Gives up permissions that the configuration does not need, and names those that stay wider.
 *
 * @param kept Classes that are kept all the same
 * @throws {CliError} `usage` where a permission is missing
 */
async function limitToConfig(
  config: GateConfig,
  flags: ServeArguments,
  kept: readonly "run"[],
): Promise<readonly PostureLine[]> {
  const { planPermissions } = await import("../permissions/plan.ts");
  const plan = await planPermissions(config, flags);
  const { missing } = compareGrants(plan);
  if (missing.length > 0) {
    const hint = "gate permissions prints the flags that the configuration needs";
    throw new CliError("usage", `Cannot serve: this process was started without ${missing.join(" ")}`, hint);
  }
  revokeOthers(plan, kept);
  const message = describeWider(compareGrants(plan));
  return message === null ? [] : [{ level: "info", message }];
}

/** @throws {ConfigError} Where a variable of `server.auth.bearer_tokens` holds no token */
async function refuseUnsetTokens(config: GateConfig): Promise<void> {
  if (!config.server.auth?.bearer_tokens.length) return;
  const { bearerProblems } = await import("../config/variable.ts");
  const problems = bearerProblems(config);
  if (problems.length > 0) throw new ConfigError(config.config_path ?? "built-in defaults", problems);
}

/** The console of `--console`. It is loaded before files are counted, since a checkout bundles it now. */
async function consoleOf({ server }: GateConfig, flags: ServeArguments): Promise<{ readonly console?: ConsoleAssets }> {
  if (!flags.console) return {};
  if (server.transport !== "http") {
    throw new CliError(
      "usage",
      `Cannot use --console: server.transport is "${server.transport}"`,
      'the console needs "http"; gate console starts a server of its own',
    );
  }
  return { console: await (await import("../../console/assets.ts")).readConsoleAssets() };
}

/** Checks the network flags. The module is loaded here because its `node:net` costs a start ten milliseconds. */
async function networkOf(config: GateConfig, flags: ServeArguments): Promise<CheckedNetwork> {
  const { networkSettings } = await import("./network_settings.ts");
  return networkSettings(config, flags);
}

/** What the flags grant to typed providers. The module is loaded only where a flag grants something. */
async function grantsOf({ dev }: GateConfig, flags: ServeArguments): Promise<TypedGrants> {
  const { typedHosts, typedPrivate, credentialsDir } = flags;
  const none = typedHosts.length === 0 && credentialsDir === undefined;
  const parts = none ? null : await import("./typed_flags.ts");
  return {
    hosts: parts === null ? [] : await parts.typedHostsOf(typedHosts),
    allowPrivateNetworks: typedPrivate,
    privateSetting: "--typed-private",
    cleartext: "loopback",
    allowEnvironment: dev.allow_dev_env_credentials,
    credentialsDir: parts === null || credentialsDir === undefined
      ? null
      : await parts.credentialsFolder(credentialsDir),
  };
}

/** The collector of the flags. The module is loaded only where a flag names one. */
async function collectorOfFlags({ otlpEndpoint, otlpHeaders }: ServeArguments): Promise<Collector | null> {
  if (otlpEndpoint === undefined && otlpHeaders.length === 0) return null;
  return (await import("./telemetry_flags.ts")).collectorOf(otlpEndpoint, otlpHeaders);
}

/** Where people reach the console. The module is loaded only where a flag says so. */
async function publicUrlOfFlags({ publicUrl }: ServeArguments): Promise<string | null> {
  return publicUrl === undefined ? null : (await import("./public_url.ts")).publicUrlOf(publicUrl);
}

/** The receiver of the flags. The module is loaded only where a flag names one. */
async function receiverOfFlags({ notify, notifySecret }: ServeArguments): Promise<Receiver | null> {
  if (notify === undefined && notifySecret === undefined) return null;
  return (await import("./notify_flags.ts")).receiverOf(notify, notifySecret);
}

/** Warns of network flags while the server uses standard input and output. */
function ineffectiveFlags(flags: ServeArguments): readonly PostureLine[] {
  const given = [
    ...flags.allowNonLoopback ? ["--allow-non-loopback"] : [],
    ...flags.trustedProxies.length > 0 ? ["--trusted-proxy"] : [],
    ...flags.allowedHosts.length > 0 ? ["--allowed-host"] : [],
    ...flags.allowedOrigins.length > 0 ? ["--allowed-origin"] : [],
  ];
  if (given.length === 0) return [];
  return [{ level: "warn", message: `no effect while server.transport is "stdio": ${given.join(", ")}` }];
}

/** Describes the trust settings. The modules are loaded only for relaxed settings or configured providers. */
async function trustPosture(config: GateConfig): Promise<readonly PostureLine[]> {
  const { dev, server, trust, providers } = config;
  const relaxed = dev.permissive || server.mode === "dev_permissive" || trust.min_lane === "asserted";
  if (!relaxed && providers.length === 0) return [];
  const [{ trustNotices }, { modifiedAt, permissiveOf }] = await Promise.all([
    import("../../evidence/trust/notices.ts"),
    import("../../evidence/trust/permissive.ts"),
  ]);
  return trustNotices(config, permissiveOf(config, await modifiedAt(config)), Date.now());
}

/** Logs the posture: nothing at level `error`, only warnings at level `warn`. */
function announce(lines: readonly PostureLine[], level: LogLevel): void {
  if (level === "error") return;
  for (const line of lines) {
    if (level !== "warn" || line.level === "warn") writeLog(line.level, line.message);
  }
}
