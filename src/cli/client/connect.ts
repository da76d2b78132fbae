/**
 * A conversation of `gate client` with a running server, by the official client.
 *
 * @module
 */

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
import { serveCommand } from "./block.ts";
import { type HttpFlags, httpTransport } from "./http.ts";
import { type ServerProcess, serverProcess } from "./process.ts";
import { EXIT } from "../terminal/exit_codes.ts";
import { shown } from "../terminal/text.ts";

/** The flags that say which server. */
export interface ServerFlags extends HttpFlags {
  /** The command as far as it stands before `--`; true where it all stands behind. */
  readonly stdio?: readonly string[] | true;
  readonly config?: string;
  readonly timeout?: string;
}

/** Milliseconds that an answer may take unless told. */
const TIMEOUT_MILLIS = 60_000;

/** A conversation that is open. */
export interface ServerSession {
  readonly client: Client;
  readonly timeout: number;
}

/**
 * Runs a body with a conversation, and closes it.
 *
 * @throws {CliError} Where the server answers with a JSON-RPC error, cannot be reached (exit code 8), or the flags are wrong
 */
export async function withServer<Result>(
  flags: ServerFlags,
  rest: readonly string[],
  body: (session: ServerSession) => Promise<Result>,
): Promise<Result> {
  const timeout = timeoutOf(flags);
  const started = startedBy(flags, rest);
  const transport = started?.transport ?? await httpTransport(flags);
  const client = new Client({ name: "gate-client", version: VERSION }, { versionNegotiation: { mode: "auto" } });
  try {
    await client.connect(transport, { timeout }).catch((error) => {
      throw speaksOtherwise(error) ? unreachable(NO_MCP_SERVER) : error;
    });
    return await body({ client, timeout });
  } catch (error) {
    const isGone = started !== null && started.end() !== null;
    // Once it is closed, all that the server said is read, and it is known how it ended.
    await client.close().catch(() => undefined);
    await started?.transport.close();
    const end = started && { isGone, status: started.end(), fault: started.fault(), said: started.said() };
    throw explain(error, { timeout, hasToken: flags.tokenFile !== undefined, end });
  } finally {
    await client.close().catch(() => undefined);
  }
}

function timeoutOf({ timeout }: ServerFlags): number {
  if (timeout === undefined) return TIMEOUT_MILLIS;
  const millis = /^\d{1,9}$/.test(timeout) ? Number(timeout) : 0;
  if (millis >= 1) return millis;
  throw new CliError("usage", `Cannot read --timeout "${timeout}": expected milliseconds, at least 1`);
}

/** The flags that mean nothing to a server that is started. */
const OF_URL = [["tokenFile", "--token-file"], ["clientCert", "--client-cert"], ["clientKey", "--client-key"]] as const;

/** The server that has to be started for the conversation; null where one runs. */
function startedBy(flags: ServerFlags, rest: readonly string[]): ServerProcess | null {
  const { url, stdio, config } = flags;
  if (url !== undefined) {
    if (stdio === undefined && config === undefined && rest.length === 0) return null;
    throw new CliError("usage", "Flag --url names a server that runs: leave out --stdio, --config and the command");
  }
  for (const [name, flag] of OF_URL) {
    if (flags[name] !== undefined) throw new CliError("usage", `Flag ${flag} needs --url`);
  }
  const [command, ...args] = [...stdio === true || stdio === undefined ? [] : stdio, ...rest];
  if (stdio !== undefined || command !== undefined) {
    if (stdio === undefined || command === undefined) {
      throw new CliError(
        "usage",
        "A command is started with --stdio COMMAND, its own flags after --",
        "gate help client call shows it",
      );
    }
    if (config !== undefined) throw new CliError("usage", "Flags --config and --stdio exclude each other");
    return serverProcess(command, args);
  }
  const gate = serveCommand(config ?? null);
  return serverProcess(gate.command, [...gate.args, "--log-level", "error"]);
}

/** How a server that was started came to its end. */
interface StartedEnd {
  /** It ended by itself, before the conversation was closed. */
  readonly isGone: boolean;
  readonly status: Deno.CommandStatus | null;
  /** What kept an answer from being read. */
  readonly fault: string | null;
  readonly said: string;
}

const NO_MCP_SERVER =
  "Cannot reach the server: it knows no message that a conversation begins with, so it is no MCP server";

/** Whether the first message was answered as one that is not known, by whoever hears it or by an echo. */
function speaksOtherwise(error: unknown): boolean {
  return error instanceof ProtocolError && error.code === ProtocolErrorCode.MethodNotFound;
}

/** What of a conversation says more about why it failed. */
interface Conversation {
  readonly timeout: number;
  readonly hasToken: boolean;
  readonly end: StartedEnd | null;
}

/** What an error of the protocol library amounts to; one of this program stays what it is. */
function explain(error: unknown, { timeout, hasToken, end }: Conversation): unknown {
  if (error instanceof CliError) return error;
  if (error instanceof ProtocolError) return explainRefusal(error, end);
  if ((end?.fault ?? null) !== null) return unreachable(`Cannot reach the server: its answer ${end?.fault}`);
  if (error instanceof SdkHttpError) {
    const { status, data } = error;
    if (status === 401) {
      return denied("The server does not know the caller: HTTP 401", hasToken ? UNKNOWN_TOKEN : TOKEN);
    }
    const answer = answerIn(data["text"]);
    if (status === 403) {
      return denied(`The server refuses the caller: HTTP 403${answer === null ? "" : `: ${answer}`}`, FORBIDDEN);
    }
    if (status === 413 && answer !== null) return new CliError("refused", answer);
    return unreachable(`Cannot reach the server: HTTP ${status ?? "without a status"}`, HINTS[status ?? 404] ?? null);
  }
  if (error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout) {
    return unreachable(`Cannot reach the server: no answer within ${timeout} ms`);
  }
  if (error instanceof Error && error.name === "UnauthorizedError") return denied("The server refuses the caller");
  if (end?.isGone === true && end.status !== null) return explainEnd(end.status, end.said);
  const reason = rootOf(error).split("\n")[0] ?? "";
  const hint = REASON_HINTS.find(([part]) => reason.includes(part))?.[1] ?? null;
  return unreachable(`Cannot reach the server: ${reason}`, hint);
}

/** The message of the error in the body of an answer that is no 200; null where there is none. */
function answerIn(body: unknown): string | null {
  const parsed = parseJson(typeof body === "string" ? body : "");
  const answer = parsed.ok && isJsonObject(parsed.value) ? parsed.value : {};
  const error = member(answer, "error");
  const message = isJsonObject(error) ? member(error, "message") : undefined;
  return typeof message === "string" ? shown(message) : null;
}

/** The message of what lies at the bottom of an error. */
function rootOf(error: unknown): string {
  let root = error;
  for (let depth = 0; depth < 8 && root instanceof Error && root.cause instanceof Error; depth++) root = root.cause;
  return root instanceof Error ? root.message : String(root);
}

/** Why a server answered with an error; one that cannot work as it was started ends with the exit code for that. */
function explainRefusal({ message, data }: ProtocolError, end: StartedEnd | null): CliError {
  const exitCode = exitCodeOfEdge(data);
  const isMisconfigured = exitCode === EXIT.unreachable && end?.status?.code === EXIT.usage;
  if (isMisconfigured) return new CliError("usage", `The server refused to start: ${message}`);
  const isUnexpected = exitCode === EXIT.unexpected && end !== null && end.said !== "";
  return new CliError("refused", isUnexpected ? `${message}:\n${end.said}` : message, null, exitCode);
}

/** Why a server that was started is gone: where it says that it was started wrongly, that is a mistake in the call. */
function explainEnd({ code, signal }: Deno.CommandStatus, said: string): CliError {
  const ended = signal === null ? `ended with exit code ${code}` : `was ended by ${signal}`;
  const words = said === "" ? "" : `:\n${said}`;
  if (code === EXIT.usage) return new CliError("usage", `The server refused to start: it ${ended}${words}`);
  return unreachable(`Cannot reach the server: it ${ended}${words}`);
}

function unreachable(message: string, hint: string | null = null): CliError {
  return new CliError("unreachable", message, hint, EXIT.unreachable);
}

const TOKEN = "--token-file names a file with a bearer token, --client-cert and --client-key a client certificate";

const UNKNOWN_TOKEN = "it does not take the token of --token-file: its server.auth.bearer_tokens has to list it";

/** What to do where a connection does not come about, by what the runtime says of it. */
const REASON_HINTS: readonly (readonly [part: string, hint: string])[] = [
  [
    "UnsupportedCertVersion",
    "its certificate has to be of X.509 version 3: openssl x509 -req makes that with -extfile",
  ],
  ["not valid for name", "its certificate has to name the host of --url in a subjectAltName"],
  ["invalid peer certificate", "DENO_CERT=ca.pem in the environment names the authority that signed its certificate"],
  ["CertificateRequired", "it asks for a client certificate: --client-cert and --client-key name yours"],
  ["invalid HTTP version parsed", "it does not speak plain HTTP: is the address https://?"],
];

/** After HTTP 403 to whoever calls, whatever for: who is known may lack a listing, or have come by a name that is not the server's. */
const FORBIDDEN =
  "its --allowed-host has to name the host of --url, and its settings the caller: its audit log says which does not";

/** What to do after a status that is no answer of gate's tools. */
const HINTS: Readonly<Record<number, string>> = {
  404: "is the path /mcp?",
  405: "is the path /mcp, and its server.transport http?",
  429: "it takes so many requests and no more for now: wait, and call again",
  503: "it is busy or not ready: wait, and call again",
};

function denied(message: string, hint: string = TOKEN): CliError {
  return new CliError("denied", message, hint, EXIT.denied);
}
