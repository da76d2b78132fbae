/**
 * `gate serve`: answers MCP clients until its input ends or it is told to stop.
 *
 * @module
 */

import { loadConfig } from "../../config/load.ts";
import type { GateConfig } from "../../config/types.ts";
import type { LogLevel } from "../../server/process/log.ts";
import { dataDirOf } from "../terminal/data_dir.ts";
import type { CheckedNetwork } from "./network_settings.ts";
import { writeLog } from "../terminal/output.ts";
import { type PostureLine, securityPosture } from "../doctor/posture.ts";
import { parseServeArguments, type ServeArguments } from "./serve_flags.ts";

/** Runs `gate serve` with the arguments after its name; returns the exit code. */
export async function runServe(argv: readonly string[]): Promise<number> {
  const flags = parseServeArguments(argv);
  // Loaded while the configuration is read; a wrong configuration is said before anything else.
  const loading = import("../../server/serve.ts");
  loading.catch(() => {});
  const config = await loadConfig({ config: flags.config });
  // First: nothing else may open files while those are counted that can be.
  const { serve } = await loading;
  const network = config.server.transport === "stdio" ? null : await networkOf(config, flags);
  const notices = network?.notices ?? idleFlags(flags);
  const lines = [...securityPosture(config), ...notices, ...await trustPosture(config)];
  announce(lines, flags.logLevel);
  return await serve({
    config,
    dataDir: dataDirOf(config, flags.dataDir),
    logLevel: flags.logLevel,
    signingKey: flags.signingKey ?? null,
    network: network?.settings ?? null,
  });
}

/** What the flags say about the network. Loaded here: its address lists bring `node:net`, which costs a start ten milliseconds. */
async function networkOf(config: GateConfig, flags: ServeArguments): Promise<CheckedNetwork> {
  const { networkSettings } = await import("./network_settings.ts");
  return networkSettings(config, flags);
}

/** Flags that are given and change nothing on standard input and output. */
function idleFlags(flags: ServeArguments): readonly PostureLine[] {
  const given = [
    ...flags.allowNonLoopback ? ["--allow-non-loopback"] : [],
    ...flags.trustedProxies.length > 0 ? ["--trusted-proxy"] : [],
    ...flags.allowedHosts.length > 0 ? ["--allowed-host"] : [],
    ...flags.allowedOrigins.length > 0 ? ["--allowed-origin"] : [],
  ];
  if (given.length === 0) return [];
  return [{ level: "warn", message: `without effect where server.transport is "stdio": ${given.join(", ")}` }];
}

/** How far evidence is believed; nothing is loaded for a configuration that relaxes nothing and asks nobody. */
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

/** Says the posture; with `error` nothing, with `warn` its warnings alone. */
function announce(lines: readonly PostureLine[], level: LogLevel): void {
  if (level === "error") return;
  for (const line of lines) {
    if (level !== "warn" || line.level === "warn") writeLog(line.level, line.message);
  }
}
