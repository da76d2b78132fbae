/** Checks the network flags of `gate serve` against the configuration. */

import { countOf } from "../../config/problems.ts";
import type { GateConfig } from "../../config/types.ts";
import { exposureNotices, exposureRefusals, readAllowNonLoopback } from "../../server/exposure.ts";
import { CONNECTION_BOUNDS, type ConnectionBounds } from "../../server/http/listener.ts";
import { isHostName, isOriginName } from "../../server/http/host_and_origin.ts";
import { readNetworks } from "../../server/audit/peers.ts";
import { connectionRoom, countOpenable, RESERVED_FILES } from "../../server/process/open_files.ts";
import type { NetworkSettings } from "../../server/serve.ts";
import { readVariable } from "../config/variable.ts";
import { CliError } from "../terminal/cli_error.ts";
import { EXIT } from "../terminal/exit_codes.ts";
import type { PostureLine } from "../doctor/posture.ts";
import type { ServeArguments } from "./serve_flags.ts";

/** The settings with their notices. */
export interface CheckedNetwork {
  readonly settings: NetworkSettings;
  readonly notices: readonly PostureLine[];
}

/**
 * Reads and checks the flags.
 *
 * @throws {CliError} If flags are invalid, or the service may not listen as configured; with every problem
 */
export function networkSettings({ server, config_path }: GateConfig, flags: ServeArguments): CheckedNetwork {
  const problems: Problem[] = [];
  const reject = (flag: string, value: string, expected: string): number =>
    problems.push({ code: "usage", message: `Cannot use --${flag} "${value}": must be ${expected}`, hint: null });
  for (const host of flags.allowedHosts) {
    if (!isHostName(host)) reject("allowed-host", host, "a name, or name:port");
  }
  for (const origin of flags.allowedOrigins) {
    if (!isOriginName(origin)) reject("allowed-origin", origin, "scheme://name, or scheme://name:port");
  }
  for (const network of flags.trustedProxies) {
    if (typeof readNetworks([network]) === "function") continue;
    reject("trusted-proxy", network, "an address, or a network such as 10.0.0.0/8");
  }
  const environment = readAllowNonLoopback(readVariable("GATE_ALLOW_NON_LOOPBACK"));
  if (environment === null) {
    problems.push({ code: "usage", message: "Cannot read GATE_ALLOW_NON_LOOPBACK: must be 1 or 0", hint: null });
  }
  const exposure = {
    // An invalid variable is already reported.
    allowNonLoopback: flags.allowNonLoopback || environment !== false,
    trustedProxies: flags.trustedProxies.length,
    allowedHosts: flags.allowedHosts.length,
  };
  for (const refusal of exposureRefusals(server, exposure)) problems.push({ code: "config_invalid", ...refusal });
  const isTrustedProxy = readNetworks(flags.trustedProxies);
  if (problems.length > 0 || typeof isTrustedProxy !== "function") throw errorOf(problems);
  const { bounds, notices } = connectionsOf(config_path);
  return {
    settings: { allowedHosts: flags.allowedHosts, allowedOrigins: flags.allowedOrigins, isTrustedProxy, bounds },
    notices: [...exposureNotices(server, exposure), ...notices],
  };
}

/** Limits connections to the open files of the process. The path exists: the built-in defaults do not use the network. */
function connectionsOf(path: string | null): { bounds: ConnectionBounds; notices: readonly PostureLine[] } {
  const wanted = CONNECTION_BOUNDS.connections;
  const files = path === null ? Infinity : countOpenable(path, wanted + RESERVED_FILES);
  const connections = connectionRoom(files, wanted);
  const hint = `allow ${2 * wanted} open files: LimitNOFILE of systemd, ulimit -n of a shell`;
  if (connections === null) {
    const count = countOf(files, "more file");
    const message = `Cannot serve: the process can open ${count}, too few for connections and stores`;
    throw new CliError("unreachable", message, hint, EXIT.unreachable);
  }
  const bounds = { ...CONNECTION_BOUNDS, connections };
  if (connections === wanted) return { bounds, notices: [] };
  const message = `the process can open ${countOf(files, "more file")}: room for ${connections} connections (${hint})`;
  return { bounds, notices: [{ level: "warn", message }] };
}

/** One problem of the flags. */
type Problem = Pick<CliError, "code" | "message" | "hint">;

function errorOf(problems: readonly Problem[]): CliError {
  const [first, second] = problems;
  if (first !== undefined && second === undefined) return new CliError(first.code, first.message, first.hint);
  const code = problems.find((one) => one.code === "usage")?.code ?? "config_invalid";
  const reasons = problems.map(({ message, hint }) => hint === null ? message : `${message} (${hint})`);
  return new CliError(code, `Cannot serve: ${countOf(problems.length, "problem")}`, null, EXIT.usage, reasons);
}
