/**
 * The public keys that a command line trusts. A private key is as long as a public one, and is refused wherever it can be
 * told: whoever verifies has no business with it.
 *
 * @module
 */

import { sha256 } from "../../evidence/host_primitives.ts";
import { packSigner } from "../../runpack/host/signing.ts";
import { readPublicKey } from "../../tools/services/operator_profile.ts";
import { CliError } from "../terminal/cli_error.ts";
import { readAtMost } from "../../config/files.ts";

/** A key file of any form is a few lines, or less. */
const KEY_FILE_BYTES = 4096;
const SEED_BYTES = 32;

/** A key with the path that named it. */
export interface TrustedKey {
  readonly path: string;
  readonly key: Uint8Array;
}

/**
 * Reads the keys of `--trusted-key`.
 *
 * @throws {CliError} `usage`
 */
export function readTrustedKeys(paths: readonly string[]): Promise<readonly TrustedKey[]> {
  return Promise.all(paths.map(async (path) => ({ path, key: await readTrustedKey(path) })));
}

/**
 * Refuses a key with which, as the private one, a signature beside the runpack was made.
 *
 * @throws {CliError} `usage`
 */
export function refuseSigners(keys: readonly TrustedKey[], signatures: readonly Uint8Array[]): void {
  const signer = keys.find(({ key }) => isSignerOf(key, signatures));
  if (signer === undefined) return;
  const message =
    `Cannot trust key "${signer.path}": a signature beside the runpack was made with it as the private key`;
  const hint = "name the public key that belongs to it; where it is one, somebody signed with the wrong file";
  throw new CliError("usage", message, hint);
}

async function readTrustedKey(path: string): Promise<Uint8Array> {
  const file = await readAtMost(path, KEY_FILE_BYTES).catch((error: unknown) => {
    // What the file system says names neither the flag nor what was wanted of the file.
    const why = error instanceof Error ? error.message : String(error);
    throw new CliError("usage", `Cannot read public key "${path}": ${why}`);
  });
  // In any form but that of 32 bytes, which may be those of a public key.
  if (file.length !== SEED_BYTES && file.length <= KEY_FILE_BYTES && isPrivateKeyFile(file)) throw isPrivate(path);
  const key = await readPublicKey(path, () => Promise.resolve(file)).catch((error: Error) => {
    throw new CliError("usage", error.message);
  });
  if (!await isPublicKey(key)) {
    const hint = "a private key of 32 bytes looks like that; name the public key that belongs to it";
    throw new CliError("usage", `Cannot trust key "${path}": its 32 bytes are no Ed25519 public key`, hint);
  }
  return key;
}

/** Whether 32 bytes are a point of the curve, as each public key is and about half of all other bytes are not. */
async function isPublicKey(bytes: Uint8Array): Promise<boolean> {
  const { Point } = await import("@noble/ed25519");
  try {
    Point.fromBytes(bytes);
    return true;
  } catch {
    return false;
  }
}

function isPrivate(path: string): CliError {
  const message = `Cannot trust key "${path}": it is a private key`;
  return new CliError("usage", message, "name the public key that belongs to it, and keep this one to yourself");
}

function isPrivateKeyFile(file: Uint8Array): boolean {
  return new TextDecoder().decode(file).includes("PRIVATE KEY-----");
}

/** Whether 32 bytes are the private key of a signature beside the runpack; anybody can sign with those of a public key, too. */
function isSignerOf(bytes: Uint8Array, signatures: readonly Uint8Array[]): boolean {
  const signer = packSigner(sha256, bytes);
  return signer !== null &&
    signatures.some((envelope) => new TextDecoder().decode(envelope).includes(`"keyid":"${signer.keyId}"`));
}
