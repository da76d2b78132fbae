/** Connects `gate client` to a server with the official client library. */

import {
  Client,
  ProtocolError,
  ProtocolErrorCode,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
} from "@modelcontextprotocol/client";
import { isJsonObject, member } from "../../canonical/json.ts";
import { parseJson } from "../../canonical/scan.ts";
import { VERSION } from "../../config/product_version.ts";
import { exitCodeOfEdge } from "./exit_code.ts";
import { CliError } from "../terminal/cli_error.ts";
import { startCommand } from "./block.ts";
import { type HttpFlags, httpTransport } from "./http.ts";
import { type ServerProcess, serverProcess } from "./process.ts";
import { EXIT } from "../terminal/exit_codes.ts";
import { shown } from "../terminal/text.ts";
import type { ConfigFlags } from "../terminal/output.ts";

/** The flags that select the server. */
export interface ServerFlags extends HttpFlags, ConfigFlags {
  /** The words of the command before `--`; true if there are none. */
  readonly stdio?: readonly string[] | true;
  readonly timeout?: string;
}

/** The default time limit of an answer, in milliseconds. */
const TIMEOUT_MILLIS = 60_000;

/** An open connection. */
export interface ServerSession {
  readonly client: Client;
  readonly timeout: number;
}

/**
 * Connects to the server, runs a body, and closes the connection.
 *
 * @throws {CliError} If the server answers with a JSON-RPC error, cannot be reached (exit code 8), or the flags are invalid
 */
export async function withServer<Result>(
  flags: ServerFlags,
  rest: readonly string[],
  body: (session: ServerSession) => Promise<Result>,
): Promise<Result> {
  const timeout = timeoutOf(flags);
  const started = serverToStart(flags, rest);
  const transport = started?.transport ?? await httpTransport(flags);
  const client = new Client({ name: "gate-client", version: VERSION }, { versionNegotiation: { mode: "auto" } });
  try {
    await client.connect(transport, { timeout }).catch((error) => {
      throw isNoMcpServer(error) ? unreachable(NO_MCP_SERVER) : error;
    });
    return await body({ client, timeout });
  } catch (error) {
    const isGone = started !== null && started.end() !== null;
    // Closing first makes the whole standard error and the exit status of the server available.
    await client.close().catch(() => undefined);
    await started?.transport.close();
    const end = started && { isGone, status: started.end(), fault: started.fault(), log: started.log() };
    throw explain(error, { timeout, hasToken: flags.tokenFile !== undefined, end });
  } finally {
    await client.close().catch(() => undefined);
  }
}

function timeoutOf({ timeout }: ServerFlags): number {
  if (timeout === undefined) return TIMEOUT_MILLIS;
  const millis = /^\d{1,9}$/.test(timeout) ? Number(timeout) : 0;
  if (millis >= 1) return millis;
  throw new CliError("usage", `Cannot read --timeout "${timeout}": expected milliseconds, from 1 to 999999999`);
}

/** The flags that require `--url`. */
const URL_FLAGS = [["tokenFile", "--token-file"], ["clientCert", "--client-cert"], [
  "clientKey",
  "--client-key",
]] as const;

/** The server process to start for the connection; null with `--url`. */
function serverToStart(flags: ServerFlags, rest: readonly string[]): ServerProcess | null {
  const { url, stdio, config } = flags;
  if (url !== undefined) {
    if (stdio === undefined && config === undefined && rest.length === 0) return null;
    throw new CliError("usage", "Flag --url names a running server: omit --stdio, --config and the command");
  }
  for (const [name, flag] of URL_FLAGS) {
    if (flags[name] !== undefined) throw new CliError("usage", `Flag ${flag} needs --url`);
  }
  const [command, ...args] = [...stdio === true || stdio === undefined ? [] : stdio, ...rest];
  if (stdio !== undefined || command !== undefined) {
    if (stdio === undefined || command === undefined) {
      throw new CliError(
        "usage",
        "Cannot start a server: expected --stdio COMMAND, with the flags of the command after --",
        "see gate help client call",
      );
    }
    if (config !== undefined) throw new CliError("usage", "Flags --config and --stdio exclude each other");
    return serverProcess(command, args);
  }
  const named = config === undefined ? [] : ["--config", config];
  const gate = startCommand(["-P=serve"], ["serve", ...named, "--log-level", "error"]);
  return serverProcess(gate.command, gate.args);
}

/** How a started server ended. */
interface ServerEnd {
  /** Whether it ended by itself, before the connection was closed. */
  readonly isGone: boolean;
  readonly status: Deno.CommandStatus | null;
  /** Why an answer could not be read, or null. */
  readonly fault: string | null;
  /** The end of its standard error. */
  readonly log: string;
}

const NO_MCP_SERVER = "Cannot reach the server: it does not know the first message of MCP, so it is not an MCP server";

/** Whether the server, or an echo, rejected the first message as an unknown method. */
function isNoMcpServer(error: unknown): boolean {
  return error instanceof ProtocolError && error.code === ProtocolErrorCode.MethodNotFound;
}

/** The facts about a connection that explain its failure. */
interface ConnectionFacts {
  readonly timeout: number;
  readonly hasToken: boolean;
  readonly end: ServerEnd | null;
}

/** Converts an error of the protocol library to a {@link CliError}. */
function explain(error: unknown, { timeout, hasToken, end }: ConnectionFacts): unknown {
  if (error instanceof CliError) return error;
  if (error instanceof ProtocolError) return explainProtocolError(error, end);
  if ((end?.fault ?? null) !== null) return unreachable(`Cannot reach the server: its answer ${end?.fault}`);
  if (error instanceof SdkHttpError) {
    const { status, data } = error;
    if (status === 401) {
      return denied("The server did not authenticate the caller: HTTP 401", hasToken ? UNKNOWN_TOKEN : CREDENTIALS);
    }
    const answer = errorMessageIn(data["text"]);
    if (status === 403) {
      return denied(`The server denied access: HTTP 403${answer === null ? "" : `: ${answer}`}`, FORBIDDEN);
    }
    if (status === 413 && answer !== null) return new CliError("refused", answer);
    return unreachable(`Cannot reach the server: HTTP ${status ?? "without a status"}`, HINTS[status ?? 404] ?? null);
  }
  if (error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout) {
    return unreachable(`Cannot reach the server: no answer within ${timeout} ms`);
  }
  if (error instanceof Error && error.name === "UnauthorizedError") return denied("The server denied access");
  if (end?.isGone === true && end.status !== null) return explainEnd(end.status, end.log);
  const reason = rootOf(error).split("\n")[0] ?? "";
  const hint = REASON_HINTS.find(([part]) => reason.includes(part))?.[1] ?? null;
  return unreachable(`Cannot reach the server: ${reason}`, hint);
}

/** The error message in the body of an HTTP error; null if there is no message. */
function errorMessageIn(body: unknown): string | null {
  const parsed = parseJson(typeof body === "string" ? body : "");
  const answer = parsed.ok && isJsonObject(parsed.value) ? parsed.value : {};
  const error = member(answer, "error");
  const message = isJsonObject(error) ? member(error, "message") : undefined;
  return typeof message === "string" ? shown(message) : null;
}

/** The message of the innermost cause of an error. */
function rootOf(error: unknown): string {
  let root = error;
  for (let depth = 0; depth < 8 && root instanceof Error && root.cause instanceof Error; depth++) root = root.cause;
  return root instanceof Error ? root.message : String(root);
}

/** Converts a JSON-RPC error; an error because of the start's configuration becomes a usage error. */
function explainProtocolError({ message, data }: ProtocolError, end: ServerEnd | null): CliError {
  const exitCode = exitCodeOfEdge(data);
  const isMisconfigured = exitCode === EXIT.unreachable && end?.status?.code === EXIT.usage;
  if (isMisconfigured) return new CliError("usage", `The server did not start: ${message}`);
  const isUnexpected = exitCode === EXIT.unexpected && end !== null && end.log !== "";
  return new CliError("refused", isUnexpected ? `${message}:\n${end.log}` : message, null, exitCode);
}

/** Explains why a started server ended; its usage error is a usage error of this call. */
function explainEnd({ code, signal }: Deno.CommandStatus, log: string): CliError {
  const ended = signal === null ? `ended with exit code ${code}` : `was ended by ${signal}`;
  const lines = log === "" ? "" : `:\n${log}`;
  if (code === EXIT.usage) return new CliError("usage", `The server did not start: it ${ended}${lines}`);
  return unreachable(`Cannot reach the server: it ${ended}${lines}`);
}

function unreachable(message: string, hint: string | null = null): CliError {
  return new CliError("unreachable", message, hint, EXIT.unreachable);
}

const CREDENTIALS =
  "pass a bearer token with --token-file, or a client certificate with --client-cert and --client-key";

const UNKNOWN_TOKEN = "the server must list the token of --token-file in server.auth.bearer_tokens";

/** Hints for a failed connection, by a part of the runtime's message. */
const REASON_HINTS: readonly (readonly [part: string, hint: string])[] = [
  [
    "UnsupportedCertVersion",
    "the server's certificate must be X.509 version 3: openssl x509 -req -extfile creates one",
  ],
  ["not valid for name", "the server's certificate must name the host of --url in a subjectAltName"],
  ["invalid peer certificate", "set DENO_CERT=ca.pem to the authority that signed the server's certificate"],
  ["CertificateRequired", "the server requires a client certificate: pass --client-cert and --client-key"],
  // The end of a connection may overtake the alert that says why.
  [
    "without sending TLS close_notify",
    "the server ended the connection, as one that requires a client certificate: pass --client-cert and --client-key",
  ],
  ["invalid HTTP version parsed", "the server does not use plain HTTP: is the address https://?"],
];

/** The hint for HTTP 403: the caller is not listed, or the host of `--url` is not an allowed one. */
const FORBIDDEN =
  "the server must allow the host of --url (--allowed-host) and the caller; its audit log shows which one it rejected";

/** Hints for HTTP statuses other than 401, 403 and 413. */
const HINTS: Readonly<Record<number, string>> = {
  404: "is the path /mcp?",
  405: "is the path /mcp, and its server.transport http?",
  429: "rate limit exceeded: wait and retry",
  503: "the server is busy or not ready: wait and retry",
};

function denied(message: string, hint: string = CREDENTIALS): CliError {
  return new CliError("denied", message, hint, EXIT.denied);
}
