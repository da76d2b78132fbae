/**
 * Tests a certificate and its key with one in-memory handshake. The runtime accepts keys and certificates that it
 * cannot serve, and then silently rejects every client.
 */

import type { KeyObject } from "node:crypto";
import { duplexPair } from "node:stream";
import { connect, createServer } from "node:tls";
import { delay } from "../process/log.ts";

/** How long the handshake may take, in milliseconds. */
const HANDSHAKE_MILLISECONDS = 5_000;

/** The keys that the runtime can serve, for the error message. */
const SERVED_KEYS = "RSA of 2048 to 8192 bits, EC on P-256, P-384 or P-521, and Ed25519";
const SERVED_CURVES: ReadonlySet<string> = new Set(["prime256v1", "secp384r1", "secp521r1"]);

/** A certificate with its key. */
export interface ServedPair {
  readonly cert: string;
  readonly key: string;
  readonly parsed: KeyObject;
}

/** Their paths, for errors. */
export interface ServedPaths {
  readonly cert_path: string;
  readonly key_path: string;
}

/**
 * Why no handshake succeeds with a certificate and its key, or null. Trust in the certificate is not checked.
 */
export async function servingFault(pair: ServedPair, paths: ServedPaths): Promise<string | null> {
  const failure = await failureOfHandshake(pair);
  if (failure === null) return null;
  const { text, isServed } = kindOf(pair.parsed);
  return isServed
    ? `Cannot use server.tls.cert_path "${paths.cert_path}": no TLS handshake succeeds with it and its key (${failure})`
    : `Cannot use server.tls.key_path "${paths.key_path}": no TLS handshake succeeds with a key of ${text}; ` +
      `those that can be served are ${SERVED_KEYS}`;
}

/** The error of a handshake, or null. */
async function failureOfHandshake({ cert, key }: ServedPair): Promise<string | null> {
  const { promise, resolve } = Promise.withResolvers<string | null>();
  const [ours, theirs] = duplexPair();
  using late = delay(HANDSHAKE_MILLISECONDS);
  try {
    const server = createServer({ cert, key }, (socket) => {
      // The client may disconnect now.
      socket.on("error", () => undefined);
      resolve(null);
    });
    server.on("tlsClientError", (error) => resolve(error.message));
    server.emit("connection", ours);
    const client = connect({ socket: theirs, ca: cert, rejectUnauthorized: false });
    client.on("error", (error) => resolve(error.message));
    const failure = await Promise.race([promise, late.passed.then(() => "it does not finish")]);
    client.destroy();
    return failure;
  } catch (error) {
    // The runtime rejects some keys at once.
    return error instanceof Error ? error.message : String(error);
  } finally {
    ours.destroy();
    theirs.destroy();
  }
}

/** The kind of a key in words, and whether the runtime serves such keys. */
function kindOf(key: KeyObject): { readonly text: string; readonly isServed: boolean } {
  const { namedCurve = "an unknown curve", modulusLength = 0 } = key.asymmetricKeyDetails ?? {};
  switch (key.asymmetricKeyType) {
    case "rsa":
      return { text: `RSA with ${modulusLength} bits`, isServed: modulusLength >= 2048 && modulusLength <= 8192 };
    case "ec":
      return { text: `EC on ${namedCurve}`, isServed: SERVED_CURVES.has(namedCurve) };
    case "ed25519":
      return { text: "Ed25519", isServed: true };
    default:
      return { text: `type "${key.asymmetricKeyType}"`, isServed: false };
  }
}
