/**
 * Keys that sign what callers carry from one call to the next. All servers of a fleet have them: what one server
 * signed, any other one verifies.
 */

import { Buffer } from "node:buffer";
import { createCipheriv, createDecipheriv, createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { ConfigError } from "../../config/problems.ts";
import type { GateConfig } from "../../config/types.ts";
import { readPlainFile } from "../../runpack/host/files.ts";
import { bareKey } from "../../runpack/host/signing.ts";

/** Signs texts, and opens signed ones; seals texts that are also secret. */
export interface StateKeys {
  /** The text with its signature by the first key. */
  readonly sign: (purpose: string, text: string) => string;
  /** The text that any of the keys signed for this purpose, else null. */
  readonly open: (purpose: string, signed: string) => string | null;
  /** The text encrypted by the first key; each time another one. */
  readonly seal: (purpose: string, text: string) => string;
  /** The text that any of the keys sealed for this purpose, else null. */
  readonly unseal: (purpose: string, sealed: string) => string | null;
}

const CIPHER = "aes-256-gcm";
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Maximum bytes of a key file: base64 with line ends. */
const KEY_FILE_BYTES = 64;

/** Reads the keys of `server.state_keys`; null without one. */
export async function readStateKeys({ server, config_path }: GateConfig): Promise<StateKeys | null> {
  const read = await Promise.all(server.state_keys.map((path) => readPlainFile(path, KEY_FILE_BYTES)));
  const keys = read.map((bytes) => typeof bytes === "string" ? null : bareKey(bytes));
  const problems = keys.flatMap((key, index) =>
    key === null
      ? [{ path: `server.state_keys[${index}]`, message: "must name a file of 32 random bytes, raw or in base64" }]
      : []
  );
  if (problems.length > 0) throw new ConfigError(config_path ?? "built-in defaults", problems);
  return keys.length === 0 ? null : stateKeys(keys.filter((key) => key !== null));
}

/** Makes signatures of keys, at least one; the first one signs. A signed text is `TEXT.KEY_ID.HMAC`. */
export function stateKeys(keys: readonly Uint8Array[]): StateKeys {
  const byId = new Map(keys.map((key) => [idOf(key), key]));
  const [first = ""] = byId.keys();
  const codeOf = (key: Uint8Array, purpose: string, text: string): string =>
    createHmac("sha256", key).update(`gate:state:v1\0${purpose}\0${text}`).digest("base64url");
  return {
    sign: (purpose, text) => `${text}.${first}.${codeOf(byId.get(first) ?? new Uint8Array(), purpose, text)}`,
    open: (purpose, signed) => {
      const [, text = "", id = "", code = ""] = /^(.*)\.([0-9a-f]{16})\.([\w-]{43})$/s.exec(signed) ?? [];
      const key = byId.get(id);
      if (key === undefined) return null;
      return timingSafeEqual(Buffer.from(codeOf(key, purpose, text)), Buffer.from(code)) ? text : null;
    },
    seal: (purpose, text) => `${sealText(byId.get(first) ?? new Uint8Array(), purpose, text)}.${first}`,
    unseal: (purpose, sealed) => {
      const [, body = "", id = ""] = /^([\w-]+)\.([0-9a-f]{16})$/.exec(sealed) ?? [];
      const key = byId.get(id);
      const bytes = Buffer.from(body, "base64url");
      // One spelling: the last digit of another one may have bits that count for nothing.
      return key === undefined || bytes.toString("base64url") !== body ? null : unsealText(key, purpose, bytes);
    },
  };
}

/** A key for one purpose: no text that is sealed for one purpose opens for another. */
function sealingKey(key: Uint8Array, purpose: string): Uint8Array {
  return createHmac("sha256", key).update(`gate:seal:v1\0${purpose}`).digest();
}

function sealText(key: Uint8Array, purpose: string, text: string): string {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, sealingKey(key, purpose), nonce);
  const body = [nonce, cipher.update(text, "utf8"), cipher.final()];
  return Buffer.concat([...body, cipher.getAuthTag()]).toString("base64url");
}

function unsealText(key: Uint8Array, purpose: string, bytes: Buffer): string | null {
  if (bytes.length < NONCE_BYTES + TAG_BYTES) return null;
  const decipher = createDecipheriv(CIPHER, sealingKey(key, purpose), bytes.subarray(0, NONCE_BYTES), {
    authTagLength: TAG_BYTES,
  });
  decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
  const text = decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES), undefined, "utf8");
  try {
    return text + decipher.final("utf8");
  } catch {
    // The tag does not fit: another key, another purpose, or a changed text.
    return null;
  }
}

function idOf(key: Uint8Array): string {
  return createHash("sha256").update("gate:state-key:v1\0").update(key).digest("hex").slice(0, 16);
}
