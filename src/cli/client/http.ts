/**
 * The way of `gate client` to a server over HTTP: its address, and who calls.
 *
 * @module
 */

import { StreamableHTTPClientTransport, type Transport } from "@modelcontextprotocol/client";
import { CliError } from "../terminal/cli_error.ts";
import { boundedFetch } from "./fetch.ts";
import { readAtMost } from "../../config/files.ts";

/** The flags that say where a server is, and who calls. */
export interface HttpFlags {
  readonly url?: string;
  readonly tokenFile?: string;
  readonly clientCert?: string;
  readonly clientKey?: string;
}

/** Bytes of a file that holds a token. */
const TOKEN_BYTES = 4096;
/** Bytes of a file that holds certificates or a key. */
const PEM_BYTES = 1024 * 1024;

/** A transport to the server of `--url`. */
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
  const bytes = await readAtMost(tokenFile, TOKEN_BYTES).catch(() => {
    throw new CliError("usage", `Cannot read token file "${tokenFile}"`);
  });
  const token = new TextDecoder().decode(bytes).trim();
  if (bytes.length <= TOKEN_BYTES && /^[\x21-\x7e]+$/.test(token)) return { authorization: `Bearer ${token}` };
  throw new CliError(
    "usage",
    `Cannot use token file "${tokenFile}": expected one line of at most ${TOKEN_BYTES} bytes`,
  );
}

/** What presents a client certificate; null where none is named. */
async function certifiedClient({ clientCert, clientKey }: HttpFlags, url: URL): Promise<Deno.HttpClient | null> {
  if (clientCert === undefined && clientKey === undefined) return null;
  if (clientCert === undefined || clientKey === undefined) {
    throw new CliError("usage", "Flags --client-cert and --client-key need each other");
  }
  if (url.protocol !== "https:") throw new CliError("usage", "Flag --client-cert needs an address with https://");
  const [cert, key] = [await readPem(clientCert, "--client-cert"), await readPem(clientKey, "--client-key")];
  try {
    return Deno.createHttpClient({ cert, key });
  } catch (error) {
    const version = await unfitVersionIn(cert);
    if (version !== null) {
      throw new CliError(
        "usage",
        `Cannot use --client-cert "${clientCert}": it is of X.509 version ${version}, and has to be of version 3`,
        "openssl x509 -req -extfile FILE, in it extendedKeyUsage=clientAuth, makes one of version 3",
      );
    }
    const reason = error instanceof Error ? error.message : String(error);
    throw new CliError("usage", `Cannot use --client-cert "${clientCert}" with --client-key "${clientKey}": ${reason}`);
  }
}

/** The version of the first certificate of a file, where no TLS is done with it; null where that is not what is wrong. */
async function unfitVersionIn(pem: string): Promise<number | null> {
  const [{ certificates }, { unfitVersion }] = await Promise.all([
    import("../../server/tls/material.ts"),
    import("../../server/tls/certificate_compatibility.ts"),
  ]);
  try {
    const [first] = certificates("cert_path", pem);
    return first === undefined ? null : unfitVersion(first);
  } catch {
    return null;
  }
}

async function readPem(file: string, flag: string): Promise<string> {
  const bytes = await readAtMost(file, PEM_BYTES).catch(() => {
    throw new CliError("usage", `Cannot read ${flag} "${file}"`);
  });
  if (bytes.length <= PEM_BYTES) return new TextDecoder().decode(bytes);
  throw new CliError("usage", `Cannot use ${flag} "${file}": it has more than ${PEM_BYTES} bytes`);
}
