/// <reference lib="dom" />
/**
 * The approver's key. A key of this browser is made by WebCrypto, cannot be read out, and is kept in IndexedDB of this
 * origin. A key file is read into memory for the time that the page is open.
 *
 * @module
 */

import { decodeBase64, encodeBase64 } from "../canonical/base64.ts";

/** A key that signs. */
export interface ApproverKey {
  /** Base64 of the 32 bytes of the public key, as `gate key trust` reads it. */
  readonly public_key: string;
  readonly origin: "browser" | "file";
  readonly sign: (text: string) => Promise<string>;
}

interface StoredKey {
  readonly id: string;
  readonly public_key: string;
  readonly private_key: CryptoKey;
}

const DATABASE = "gate-console";
const STORE = "keys";
const OWN = "approver";
/** Bytes of a key file, as for the command line. */
const KEY_FILE_BYTES = 8192;

let ofFile: ApproverKey | null = null;

function asPromise<Result>(request: IDBRequest<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    request.onsuccess = (): void => resolve(request.result);
    request.onerror = (): void => reject(request.error);
  });
}

async function withStore<Result>(
  mode: IDBTransactionMode,
  use: (store: IDBObjectStore) => IDBRequest<Result>,
): Promise<Result> {
  const opening = indexedDB.open(DATABASE, 1);
  opening.onupgradeneeded = (): void => void opening.result.createObjectStore(STORE, { keyPath: "id" });
  const database = await asPromise(opening);
  try {
    return await asPromise(use(database.transaction(STORE, mode).objectStore(STORE)));
  } finally {
    database.close();
  }
}

function subtle(): SubtleCrypto {
  const found: SubtleCrypto | undefined = globalThis.crypto.subtle;
  if (found === undefined) throw new Error("This browser signs only on pages of https or of this machine");
  return found;
}

async function signWith(key: CryptoKey, text: string): Promise<string> {
  return encodeBase64(new Uint8Array(await subtle().sign("Ed25519", key, new TextEncoder().encode(text))));
}

/** The key in use: of a file, else of this browser; null without one. */
export async function currentKey(): Promise<ApproverKey | null> {
  if (ofFile !== null) return ofFile;
  const stored = await withStore<StoredKey | undefined>("readonly", (store) => store.get(OWN));
  return stored === undefined ? null : browserKey(stored);
}

function browserKey({ public_key, private_key }: StoredKey): ApproverKey {
  return { public_key, origin: "browser", sign: (text) => signWith(private_key, text) };
}

/** Makes a key that cannot be read out, and keeps it in this browser. */
export async function createKey(): Promise<ApproverKey> {
  const pair = await subtle().generateKey("Ed25519", false, ["sign", "verify"]) as CryptoKeyPair;
  const public_key = encodeBase64(new Uint8Array(await subtle().exportKey("raw", pair.publicKey)));
  const stored: StoredKey = { id: OWN, public_key, private_key: pair.privateKey };
  // An existing key is never replaced: the operator trusts its public half.
  await withStore("readwrite", (store) => store.add(stored));
  return browserKey(stored);
}

/** Removes the key of this browser. */
export async function removeKey(): Promise<void> {
  await withStore("readwrite", (store) => store.delete(OWN));
}

/** Stops using the key of a file. */
export function forgetFileKey(): void {
  ofFile = null;
}

/**
 * Uses the key of a file that `gate key create` wrote, until the page is closed.
 *
 * @throws {Error} Where the file holds no Ed25519 private key, or an encrypted one
 */
export async function useKeyFile(file: Blob): Promise<ApproverKey> {
  if (file.size > KEY_FILE_BYTES) throw new Error("This is not a key file: it is too large");
  const der = derOf((await file.text()).trim());
  // The public half is read from an extractable copy, which is dropped here.
  const copy = await subtle().importKey("pkcs8", der, "Ed25519", true, ["sign"]).catch(() => null);
  const own = await subtle().importKey("pkcs8", der, "Ed25519", false, ["sign"]).catch(() => null);
  if (copy === null || own === null) throw new Error("This file holds no Ed25519 private key");
  const { x = "" } = await subtle().exportKey("jwk", copy);
  const raw = decodeBase64(`${x.replaceAll("-", "+").replaceAll("_", "/")}=`);
  if (raw?.length !== 32) throw new Error("This file holds no Ed25519 private key");
  return ofFile = { public_key: encodeBase64(raw), origin: "file", sign: (text) => signWith(own, text) };
}

/** Bare bytes are refused: those of a public key are as many, and everyone could sign with them. */
function derOf(text: string): Uint8Array<ArrayBuffer> {
  if (text.startsWith("-----BEGIN ENCRYPTED PRIVATE KEY-----")) {
    throw new Error("This key file is encrypted: gate approve opens it with --passphrase-file");
  }
  const body = /^-----BEGIN PRIVATE KEY-----([\sA-Za-z0-9+/=]+)-----END PRIVATE KEY-----$/.exec(text)?.[1];
  const der = body === undefined ? null : decodeBase64(body.replace(/\s/g, ""));
  if (der === null) throw new Error("This file holds no Ed25519 private key in PEM");
  return der;
}
