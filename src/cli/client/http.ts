/** Connects `gate client` to a server over HTTP, with the credentials of the caller. */

import { StreamableHTTPClientTransport, type Transport } from "@modelcontextprotocol/client";
import { CliError } from "../terminal/cli_error.ts";
import { boundedFetch } from "./fetch.ts";
import { readAtMost } from "../../config/files.ts";
import { reasonOf } from "../../store/file_reason.ts";

/** The flags for the address and the credentials. */
export interface HttpFlags {
  readonly url?: string;
  readonly tokenFile?: string;
  readonly clientCert?: string;
  readonly clientKey?: string;
}

/** Maximum bytes of a token file. */
const TOKEN_BYTES = 4096;
/** Maximum bytes of a file with certificates or a key. */
const PEM_BYTES = 1024 * 1024;

/** Creates a transport to the server of `--url`. */
export async function httpTransport(flags: HttpFlags): Promise<Transport> {
  const url = urlOf(flags.url ?? "");
  const client = await certifiedClient(flags, url);
  return new StreamableHTTPClientTransport(url, {
    fetch: boundedFetch(client),
    requestInit: { headers: await headersOf(flags.tokenFile) },
  });
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
  const bytes = await readAtMost(tokenFile, TOKEN_BYTES).catch((error: unknown) => {
    throw new CliError("usage", `Cannot read token file "${tokenFile}": ${reasonOf(error)}`);
  });
  const token = new TextDecoder().decode(bytes).trim();
  if (bytes.length <= TOKEN_BYTES && /^[\x21-\x7e]+$/.test(token)) return { authorization: `Bearer ${token}` };
  throw new CliError(
    "usage",
    `Cannot use token file "${tokenFile}": expected one line of at most ${TOKEN_BYTES} bytes`,
  );
}

/** Creates an HTTP client with the client certificate; null without the flags. */
async function certifiedClient({ clientCert, clientKey }: HttpFlags, url: URL): Promise<Deno.HttpClient | null> {
  if (clientCert === undefined && clientKey === undefined) return null;
  if (clientCert === undefined || clientKey === undefined) {
    throw new CliError("usage", "Flags --client-cert and --client-key need each other");
  }
  if (url.protocol !== "https:") throw new CliError("usage", "Flag --client-cert needs an address with https://");
  const cert = await readPem(clientCert, "--client-cert");
  const key = await readPem(clientKey, "--client-key");
  try {
    return Deno.createHttpClient({ cert, key });
  } catch (error) {
    const version = await unfitVersionIn(cert);
    if (version !== null) {
      throw new CliError(
        "usage",
        `Cannot use --client-cert "${clientCert}": expected X.509 version 3, got version ${version}`,
        "openssl x509 -req -extfile FILE creates version 3; FILE contains extendedKeyUsage=clientAuth",
      );
    }
    const reason = error instanceof Error ? error.message : String(error);
    throw new CliError("usage", `Cannot use --client-cert "${clientCert}" with --client-key "${clientKey}": ${reason}`);
  }
}

/** The version of the first certificate of a file, if TLS does not support it; null otherwise. */
async function unfitVersionIn(pem: string): Promise<number | null> {
  const [{ certificates }, { unfitVersion }] = await Promise.all([
    import("../../server/tls/material.ts"),
    import("../../server/tls/certificate_compatibility.ts"),
  ]);
  try {
    const [first] = certificates("server.tls.cert_path", pem);
    return first === undefined ? null : unfitVersion(first);
  } catch {
    return null;
  }
}

async function readPem(file: string, flag: string): Promise<string> {
  const bytes = await readAtMost(file, PEM_BYTES).catch((error: unknown) => {
    throw new CliError("usage", `Cannot read ${flag} "${file}": ${reasonOf(error)}`);
  });
  if (bytes.length <= PEM_BYTES) return new TextDecoder().decode(bytes);
  throw new CliError("usage", `Cannot use ${flag} "${file}": it has more than ${PEM_BYTES} bytes`);
}
