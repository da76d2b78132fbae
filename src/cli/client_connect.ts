/**
 * A conversation of `gate client` with a running server, by the official client.
 *
 * @module
 */

import {
  Client,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  StreamableHTTPClientTransport,
  type Transport,
} from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { VERSION } from "../server/identity.ts";
import { exitCodeOfEdge } from "./client_exit_code.ts";
import { CliError } from "./cli_error.ts";
import { clientBlock } from "./client_block.ts";
import { EXIT } from "./exit_codes.ts";
import { writeError } from "./output.ts";
import { readBounded } from "./runpack_keys.ts";

/** The flags that say which server. */
export interface ServerFlags {
  readonly url?: string;
  /** The command as far as it stands before `--`; true where it all stands behind. */
  readonly stdio?: readonly string[] | true;
  readonly config?: string;
  readonly tokenFile?: string;
  readonly timeout?: string;
}

/** Bytes of a file that holds a token. */
const TOKEN_BYTES = 4096;
/** Characters of a server's standard error that are kept. */
const SAID_CHARACTERS = 4096;
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
  const transport = await transportOf(flags, rest);
  const said = transport instanceof StdioClientTransport ? listenTo(transport) : null;
  const client = new Client({ name: "gate-client", version: VERSION }, { versionNegotiation: { mode: "auto" } });
  try {
    await client.connect(transport, { timeout });
    return await body({ client, timeout });
  } catch (error) {
    const explained = explain(error, timeout);
    if (said !== null && explained instanceof CliError && explained.code === "unreachable") writeError(said());
    throw explained;
  } finally {
    await client.close().catch(() => undefined);
  }
}

/** Collects the end of what a server says on standard error; it is shown only where the server cannot be reached. */
function listenTo({ stderr }: StdioClientTransport): () => string {
  let text = "";
  const decoder = new TextDecoder();
  stderr?.on(
    "data",
    (chunk: Uint8Array) => text = (text + decoder.decode(chunk, { stream: true })).slice(-SAID_CHARACTERS),
  );
  return () => text;
}

function timeoutOf({ timeout }: ServerFlags): number {
  if (timeout === undefined) return TIMEOUT_MILLIS;
  const millis = /^\d{1,9}$/.test(timeout) ? Number(timeout) : 0;
  if (millis >= 1) return millis;
  throw new CliError("usage", `Cannot read --timeout "${timeout}": expected milliseconds, at least 1`);
}

async function transportOf(flags: ServerFlags, rest: readonly string[]): Promise<Transport> {
  const { url, stdio, config, tokenFile } = flags;
  if (url !== undefined) {
    if (stdio !== undefined || config !== undefined || rest.length > 0) {
      throw new CliError("usage", "Flag --url names a server that runs: leave out --stdio, --config and the command");
    }
    return new StreamableHTTPClientTransport(urlOf(url), { requestInit: { headers: await headersOf(tokenFile) } });
  }
  if (tokenFile !== undefined) throw new CliError("usage", "Flag --token-file needs --url");
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
    return new StdioClientTransport({ command, args, env: environment(), stderr: "pipe" });
  }
  const { mcpServers: { gate } } = clientBlock(config ?? null);
  const serve = [...gate.args, "--log-level", "error"];
  return new StdioClientTransport({ command: gate.command, args: serve, env: environment(), stderr: "pipe" });
}

function environment(): Record<string, string> {
  return Deno.env.toObject();
}

function urlOf(text: string): URL {
  const url = URL.parse(text);
  if (url !== null && (url.protocol === "http:" || url.protocol === "https:")) {
    if (url.pathname === "/") url.pathname = "/mcp";
    return url;
  }
  throw new CliError("usage", `Cannot use --url "${text}": expected http:// or https://`);
}

async function headersOf(tokenFile: string | undefined): Promise<Record<string, string>> {
  if (tokenFile === undefined) return {};
  const bytes = await readBounded(tokenFile, TOKEN_BYTES).catch(() => {
    throw new CliError("usage", `Cannot read token file "${tokenFile}"`);
  });
  const token = new TextDecoder().decode(bytes).trim();
  if (bytes.length <= TOKEN_BYTES && /^[\x21-\x7e]+$/.test(token)) return { authorization: `Bearer ${token}` };
  throw new CliError(
    "usage",
    `Cannot use token file "${tokenFile}": expected one line of at most ${TOKEN_BYTES} bytes`,
  );
}

/** What an error of the protocol library amounts to; one of this program stays what it is. */
function explain(error: unknown, timeout: number): unknown {
  if (error instanceof CliError) return error;
  if (error instanceof ProtocolError) return new CliError("refused", error.message, null, exitCodeOfEdge(error.data));
  const unreachable = (message: string, hint: string | null = null): CliError =>
    new CliError("unreachable", message, hint, EXIT.unreachable);
  if (error instanceof SdkHttpError) {
    const { status } = error;
    if (status === 401 || status === 403) {
      const hint = "--token-file names a file with a bearer token";
      return new CliError("denied", `The server refuses the caller: HTTP ${status}`, hint, EXIT.denied);
    }
    return unreachable(`Cannot reach the server: HTTP ${status ?? "without a status"}`, "is the path /mcp?");
  }
  if (error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout) {
    return unreachable(`Cannot reach the server: no answer within ${timeout} ms`);
  }
  if (error instanceof Error && error.name === "UnauthorizedError") {
    const hint = "--token-file names a file with a bearer token";
    return new CliError("denied", "The server refuses the caller", hint, EXIT.denied);
  }
  const reason = error instanceof Error ? error.message.split("\n")[0] : String(error);
  return unreachable(`Cannot reach the server: ${reason}`);
}
