/** Signs packs with an Ed25519 key from a file. */

import { Buffer } from "node:buffer";
import { createPrivateKey, createPublicKey, type KeyObject, sign } from "node:crypto";

import { decodeBase64 } from "../../canonical/base64.ts";
import type { Identity, Sha256 } from "../../canonical/identity.ts";
import { encodeEnvelope, keyIdOf, PAYLOAD_TYPE, preAuthenticationEncoding, statementOf } from "../format/dsse.ts";
import type { Manifest } from "../format/types.ts";
import { readFileAtMost } from "../../config/files.ts";
import { reasonOf } from "../../store/file_reason.ts";
import { readPlainFile } from "./files.ts";
import type { SignatureFile } from "./repository.ts";

/** Maximum bytes of a key file: a PEM of a few lines. */
const KEY_FILE_BYTES = 4096;
const SEED_BYTES = 32;
/** The bytes before the 32 bytes of an Ed25519 key in PKCS #8 (RFC 8410, section 7). */
const PKCS8_PREFIX = Buffer.from("302e020100300506032b657004220420", "hex");

/** A key that signs packs. */
export interface PackSigner {
  readonly keyId: Identity;
  /** 32 bytes. */
  readonly publicKey: Uint8Array;
  /** The envelope of an in-toto statement, with its signature. */
  readonly signStatement: (statement: string) => string;
  /** The signature file of a pack. */
  readonly signPack: (manifestBytes: Uint8Array, manifest: Manifest) => SignatureFile;
}

const EXPECTED = "expected an Ed25519 private key in PEM (PKCS #8), or its 32 bytes, raw or base64";

/** A key file that cannot be read, or that does not hold a private key. */
export class KeyError extends Error {
  /** An error with the reason. */
  constructor(path: string, reason: string) {
    super(`Cannot use key "${path}": ${reason}`);
    this.name = "KeyError";
  }
}

/**
 * The 32 bytes of a key file that holds them raw or in base64. They do not show whether the key is private or public.
 */
export function bareKey(bytes: Uint8Array): Uint8Array | null {
  const found = bytes.length === SEED_BYTES ? bytes : decodeBase64(new TextDecoder().decode(bytes).trim());
  return found?.length === SEED_BYTES ? found : null;
}

/**
 * Why a key file for signing holds a public key; null where it does not, or where that cannot be decided. A signature
 * made with the bytes of a public key proves nothing: everyone who knows the key can make it.
 */
export async function publicKeyReason(path: string, keyFile: Uint8Array): Promise<string | null> {
  if (path.endsWith(".pub")) return "a file of that name holds a public key, and the private one signs";
  const bare = bareKey(keyFile);
  const beside = bare === null ? "missing" : await readPlainFile(`${path}.pub`, KEY_FILE_BYTES);
  const published = typeof beside === "string" ? null : bareKey(beside);
  const isPublished = bare !== null && published !== null && Buffer.from(bare).equals(published);
  return isPublished ? `it holds the public key of "${path}.pub", and the private one signs` : null;
}

function privateKey(bytes: Uint8Array): KeyObject | null {
  const text = new TextDecoder().decode(bytes).trim();
  const seed = bareKey(bytes);
  try {
    const key = text.startsWith("-----BEGIN PRIVATE KEY-----")
      ? createPrivateKey(text)
      : seed !== null
      ? createPrivateKey({ key: Buffer.concat([PKCS8_PREFIX, seed]), format: "der", type: "pkcs8" })
      : null;
    return key?.asymmetricKeyType === "ed25519" ? key : null;
  } catch {
    // OpenSSL cannot read it. Its message may contain parts of the file, so it is not shown.
    return null;
  }
}

/** A signer for the 32 bytes, or PEM, of a private key; null where they are invalid. */
export function packSigner(sha256: Sha256, keyFile: Uint8Array): PackSigner | null {
  const key = privateKey(keyFile);
  const { x } = key === null ? {} : createPublicKey(key).export({ format: "jwk" });
  if (key === null || x === undefined) return null;
  const publicKey = new Uint8Array(Buffer.from(x, "base64url"));
  const keyId = keyIdOf(sha256, publicKey);
  const signStatement = (statement: string): string => {
    const signature = sign(null, Buffer.from(preAuthenticationEncoding(PAYLOAD_TYPE, statement)), key);
    return encodeEnvelope(statement, keyId, signature);
  };
  return {
    keyId,
    publicKey,
    signStatement,
    signPack: (manifestBytes, manifest) => {
      const envelope = signStatement(statementOf(sha256, manifestBytes, manifest));
      return { keyId, bytes: new TextEncoder().encode(envelope) };
    },
  };
}

/**
 * Reads the key of `--signing-key`.
 *
 * @throws {KeyError} If the file cannot be read or does not hold a private key
 */
export async function readPackSigner(sha256: Sha256, path: string): Promise<PackSigner> {
  const bytes = await readFileAtMost(path, KEY_FILE_BYTES).catch((error) => {
    throw new KeyError(path, reasonOf(error));
  });
  const signer = bytes.length > KEY_FILE_BYTES ? null : packSigner(sha256, bytes);
  const reason = signer === null ? EXPECTED : await publicKeyReason(path, bytes);
  if (signer === null || reason !== null) throw new KeyError(path, reason ?? EXPECTED);
  return signer;
}
