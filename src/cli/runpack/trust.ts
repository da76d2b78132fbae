/**
 * Reads the trusted public keys of a command line. A private key has the same length as a public key; it is rejected
 * where it can be recognised, because a verifier must not have it.
 */

import { encodeBase64 } from "../../canonical/base64.ts";
import { sha256 } from "../../evidence/host_primitives.ts";
import { packSigner } from "../../runpack/host/signing.ts";
import { readPublicKey } from "../../tools/services/operator_profile.ts";
import { CliError } from "../terminal/cli_error.ts";
import { readAtMost } from "../../config/files.ts";
import { reasonOf } from "../../store/file_reason.ts";

/** Maximum bytes of a key file in any form. */
const KEY_FILE_BYTES = 4096;
const SEED_BYTES = 32;

/** A key with the path of its file. */
export interface TrustedKey {
  readonly path: string;
  readonly key: Uint8Array;
}

/**
 * Reads public keys that a command line names.
 *
 * @throws {CliError} `usage`
 */
export function readTrustedKeys(paths: readonly string[]): Promise<readonly TrustedKey[]> {
  return Promise.all(paths.map(async (path) => ({ path, key: await readTrustedKey(path) })));
}

/** A key whose owner the reader names. */
export interface NamedKey extends TrustedKey {
  readonly name: string;
  /** Base64 of the key. */
  readonly text: string;
}

/**
 * Reads keys by the names of their owners.
 *
 * @throws {CliError} `usage`, also for two names of one key: one person would be two
 */
export async function readNamedKeys(paths: ReadonlyMap<string, string>): Promise<readonly NamedKey[]> {
  const keys = await readTrustedKeys([...paths.values()]);
  const named = [...paths.keys()].flatMap((name, index): NamedKey[] => {
    const one = keys[index];
    return one === undefined ? [] : [{ ...one, name, text: encodeBase64(one.key) }];
  });
  for (const [index, { name, text }] of named.entries()) {
    const other = named.slice(0, index).find((one) => one.text === text);
    if (other === undefined) continue;
    throw new CliError("usage", `Cannot use --key "${name}": its key is that of "${other.name}"`);
  }
  return named;
}

/**
 * Rejects a trusted key that is in fact the private key of one of the runpack's signatures.
 *
 * @throws {CliError} `usage`
 */
export function rejectPrivateKeys(keys: readonly TrustedKey[], signatures: readonly Uint8Array[]): void {
  const signer = keys.find(({ key }) => isSignerOf(key, signatures));
  if (signer === undefined) return;
  const message = `Cannot trust key "${signer.path}": it is the private key of one of the signatures`;
  const hint = "name its public key; if the file is a public key, the runpack was signed with the wrong file";
  throw new CliError("usage", message, hint);
}

async function readTrustedKey(path: string): Promise<Uint8Array> {
  const file = await readAtMost(path, KEY_FILE_BYTES).catch((error: unknown) => {
    throw new CliError("usage", `Cannot read public key "${path}": ${reasonOf(error)}`);
  });
  // A private key of 32 raw bytes cannot be distinguished from a public key here.
  if (file.length !== SEED_BYTES && file.length <= KEY_FILE_BYTES && isPrivateKeyFile(file)) throw isPrivate(path);
  const key = await readPublicKey(path, () => Promise.resolve(file)).catch((error: Error) => {
    throw new CliError("usage", error.message);
  });
  if (!await isPublicKey(key)) {
    const hint = "it may be a private key of 32 bytes; name its public key";
    throw new CliError("usage", `Cannot trust key "${path}": its 32 bytes are not an Ed25519 public key`, hint);
  }
  return key;
}

/** Whether 32 bytes are a point of the curve. Every public key is, and about half of all other values are not. */
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
  return new CliError("usage", message, "name its public key, and keep the private key secret");
}

function isPrivateKeyFile(file: Uint8Array): boolean {
  return new TextDecoder().decode(file).includes("PRIVATE KEY-----");
}

/** Whether 32 bytes are the private key of a signature of the runpack. Public key bytes also work as a private key. */
function isSignerOf(bytes: Uint8Array, signatures: readonly Uint8Array[]): boolean {
  const signer = packSigner(sha256, bytes);
  return signer !== null &&
    signatures.some((envelope) => new TextDecoder().decode(envelope).includes(`"keyid":"${signer.keyId}"`));
}
