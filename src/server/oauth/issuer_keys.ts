/** The keys of an issuer of access tokens: found through its metadata, cached, and replaced as a whole. */

import { createLocalJWKSet, errors, type JWTVerifyGetKey } from "jose";
import { isJsonArray, isJsonObject, type JsonObject, member } from "../../canonical/json.ts";
import { decodeUtf8Strict, parseJson } from "../../canonical/scan.ts";
import type { delay, Log } from "../process/log.ts";

/** Gets a document of an issuer. It never rejects. */
export type GetDocument = (
  url: string,
) => Promise<{ readonly status: number; readonly body: Uint8Array } | { readonly fault: string }>;

/** The options of {@link createIssuerKeys}. */
export interface IssuerKeysOptions {
  readonly issuer: string;
  readonly getDocument: GetDocument;
  /** A clock in milliseconds that never goes back. */
  readonly elapsed: () => number;
  readonly delay: typeof delay;
  readonly log: Log;
}

/** Milliseconds between fetches, whatever tokens arrive. */
const INTERVAL = 60_000;
/** The age in milliseconds at which keys are fetched again, so that a removed key ends. */
const REFRESH_AGE = 600_000;
/** The age in milliseconds from which on keys do not count, where no newer ones can be had. */
const EXPIRY_AGE = 3_600_000;
/** Milliseconds for which old keys wait for newer ones, where no call was there to fetch these in time. */
export const PATIENCE = 1_000;
/** Most keys of an issuer. */
export const KEYS = 64;

/** No keys of the issuer can be had now. */
export class KeysUnavailable extends Error {
  override readonly name = "KeysUnavailable";
}

/** Why a document is not accepted. */
class DocumentFault extends Error {
  override readonly name = "DocumentFault";
}

/** Makes the function that finds the key of a token. It rejects with errors of jose, or with {@link KeysUnavailable}. */
export function createIssuerKeys(options: IssuerKeysOptions): JWTVerifyGetKey {
  const { issuer, getDocument, elapsed, delay, log } = options;
  let keys: JWTVerifyGetKey | null = null;
  let keysFrom = -Infinity;
  let attempted = -Infinity;
  let pending: Promise<void> = Promise.resolve();
  let soon = pending;
  const fetchKeys = async (): Promise<void> => {
    const from = elapsed();
    try {
      keys = createLocalJWKSet(await readKeySet(issuer, getDocument));
      keysFrom = from;
    } catch (error) {
      const reason = error instanceof DocumentFault ? error.message : "its key set is malformed";
      log("warn", `Cannot get the keys of an issuer of access tokens: ${reason}`, { issuer });
    }
  };
  const bounded = async (fetching: Promise<void>): Promise<void> => {
    using late = delay(PATIENCE);
    await Promise.race([fetching, late.passed]);
  };
  const refresh = (): Promise<void> => {
    if (elapsed() - attempted >= INTERVAL) {
      attempted = elapsed();
      pending = fetchKeys();
      soon = bounded(pending);
    }
    return pending;
  };
  const current = (): JWTVerifyGetKey => {
    if (keys === null || elapsed() - keysFrom >= EXPIRY_AGE) throw new KeysUnavailable();
    return keys;
  };
  return async (header, token) => {
    const age = elapsed() - keysFrom;
    const refreshed = age >= REFRESH_AGE ? refresh() : null;
    // Keys that still count answer meanwhile, so a slow issuer hardly delays a caller; after an idle time they wait.
    if (age >= EXPIRY_AGE) await refreshed;
    else if (age >= REFRESH_AGE + INTERVAL) await soon;
    const known = current();
    try {
      return await known(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      await refresh();
      const newer = current();
      if (newer === known) throw error;
      return await newer(header, token);
    }
  };
}

async function readKeySet(issuer: string, getDocument: GetDocument): Promise<{ keys: JsonObject[] }> {
  const metadata = await readMetadata(issuer, getDocument);
  if (member(metadata, "issuer") !== issuer) throw new DocumentFault("its metadata names another issuer");
  const uri = member(metadata, "jwks_uri");
  if (typeof uri !== "string" || URL.parse(uri)?.origin !== new URL(issuer).origin) {
    throw new DocumentFault("its metadata names no jwks_uri of its own origin");
  }
  const set = await readDocument(uri, getDocument);
  if (typeof set === "string") throw new DocumentFault(`expected its key set, got ${set}`);
  const keys = member(set, "keys");
  if (isJsonArray(keys) && keys.length <= KEYS) return { keys: keys as JsonObject[] };
  throw new DocumentFault(`its key set has no list of at most ${KEYS} keys`);
}

/** The metadata of an authorization server (RFC 8414, 3.1), else of an OpenID provider. */
async function readMetadata(issuer: string, getDocument: GetDocument): Promise<JsonObject> {
  const { origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/$/, "");
  const first = await readDocument(`${origin}/.well-known/oauth-authorization-server${path}`, getDocument);
  if (typeof first !== "string") return first;
  const second = await readDocument(`${origin}${path}/.well-known/openid-configuration`, getDocument);
  if (typeof second !== "string") return second;
  throw new DocumentFault(`expected its metadata, got ${first}, then ${second}`);
}

/** A document, or what the issuer answers in its place. */
async function readDocument(url: string, getDocument: GetDocument): Promise<JsonObject | string> {
  const answer = await getDocument(url);
  if ("fault" in answer) throw new DocumentFault(answer.fault);
  if (answer.status !== 200) return `status ${answer.status}`;
  const text = decodeUtf8Strict(answer.body);
  const parsed = text === null ? null : parseJson(text);
  return parsed?.ok === true && isJsonObject(parsed.value) ? parsed.value : "no JSON object";
}
