/**
 * Reads credentials by locator, at the time of a call. Their content goes to the worker of that call, and nowhere else.
 */

import { join } from "node:path";
import { encodeBase64 } from "../../canonical/base64.ts";
import { decodeUtf8Strict } from "../../canonical/scan.ts";
import { readBelow } from "../../config/files.ts";
import { isHeaderValue } from "../../config/request_headers.ts";
import type { CallQuestion } from "./call.ts";
import { isReservedVariable, type TypedGrants, variableOf } from "./grants.ts";
import type { Locator, RuntimeProfile } from "./runtime_profile.ts";

/** Bytes of one credential, certificate or key. */
const CREDENTIAL_BYTES_MAXIMUM = 65_536;

/** A credential cannot be used. The message names its locator, never its content. */
export class CredentialError extends Error {
  override readonly name = "CredentialError";
}

/** Where credentials come from. */
export interface CredentialSource extends Pick<TypedGrants, "credentialsDir" | "allowEnvironment"> {
  readonly environment: (name: string) => string | undefined;
}

/** The credentials of one call. */
export type CallCredentials = Pick<CallQuestion, "credentials" | "authorities" | "client">;

/**
 * Reads every credential of a profile.
 *
 * @throws {CredentialError} Where one is missing, is not private, is too large, or has no form for its place
 */
export async function readCredentials(profile: RuntimeProfile, source: CredentialSource): Promise<CallCredentials> {
  const { tls } = profile;
  const credentials: (readonly [string, string])[] = [];
  for (const credential of profile.credentials) {
    const text = (await readText(credential.locator, source)).replace(/\r?\n$/, "");
    if (credential.kind === "basic" && !text.includes(":")) {
      throw refused(credential.locator, 'must be "user:password"');
    }
    if (credential.kind !== "basic" && !isHeaderValue(text) || text === "") {
      throw refused(credential.locator, "must be one line of printable ASCII");
    }
    credentials.push([nameOf(credential), valueOf(credential.kind, text)]);
  }
  return {
    credentials,
    authorities: tls.ca === null ? null : [await readText(tls.ca, source)],
    client: tls.client === null ? null : {
      certificate: await readText(tls.client.certificate, source),
      key: await readText(tls.client.key, source),
    },
  };
}

function nameOf(credential: RuntimeProfile["credentials"][number]): string {
  if (credential.kind === "api_key") return credential.header;
  return credential.kind === "metadata" ? credential.name : "authorization";
}

function valueOf(kind: RuntimeProfile["credentials"][number]["kind"], text: string): string {
  if (kind === "bearer") return `Bearer ${text}`;
  return kind === "basic" ? `Basic ${encodeBase64(new TextEncoder().encode(text))}` : text;
}

function refused(locator: Locator, reason: string): CredentialError {
  return new CredentialError(`Cannot use credential "${locator}": it ${reason}`);
}

async function readText(locator: Locator, source: CredentialSource): Promise<string> {
  const variable = variableOf(locator);
  const text = variable === null
    ? await readFile(locator, source.credentialsDir)
    : readVariable(locator, variable, source);
  if (text === null) throw refused(locator, "is not UTF-8");
  return text;
}

function readVariable(locator: Locator, name: string, source: CredentialSource): string {
  if (!source.allowEnvironment || isReservedVariable(name)) throw refused(locator, "may not be read");
  const value = source.environment(name);
  if (value === undefined || value === "") throw refused(locator, "is not set");
  if (new TextEncoder().encode(value).length > CREDENTIAL_BYTES_MAXIMUM) {
    throw refused(locator, `has more than ${CREDENTIAL_BYTES_MAXIMUM} bytes`);
  }
  return value;
}

async function readFile(locator: Locator, folder: string | null): Promise<string | null> {
  const name = locator.slice("file://".length);
  if (folder === null) throw refused(locator, "needs --credentials-dir");
  try {
    const { mode, isSymlink } = Deno.lstatSync(join(folder, name));
    if (isSymlink) throw refused(locator, "is a symbolic link");
    // Windows has no modes.
    if (mode !== null && (mode & 0o077) !== 0) {
      throw refused(locator, "is open to other users: chmod 600 restricts access");
    }
    const read = await readBelow(folder, name, CREDENTIAL_BYTES_MAXIMUM);
    if ("bytes" in read) return decodeUtf8Strict(read.bytes);
    if (read.fault === "too_large") throw refused(locator, `has more than ${CREDENTIAL_BYTES_MAXIMUM} bytes`);
    throw refused(locator, read.fault === "changed" ? "changed while it was read" : "is not a file");
  } catch (error) {
    if (error instanceof CredentialError) throw error;
    throw refused(locator, error instanceof Deno.errors.NotFound ? "does not exist" : "cannot be read");
  }
}
