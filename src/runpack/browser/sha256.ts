/** Synchronous SHA-256 for the page: the verifier hashes as it reads, and browsers hash asynchronously. */

import { sha256 as hash } from "@noble/hashes/sha2.js";
import { encodeHex } from "../../canonical/hex.ts";
import type { HashStream } from "../format/types.ts";

const encoder = new TextEncoder();

/** An incremental hash. */
export function hashStream(): HashStream {
  const state = hash.create();
  return { update: (chunk) => void state.update(chunk), digest: () => encodeHex(state.digest()) };
}

/** SHA-256 of bytes, or of the UTF-8 form of a string, as 64 lower-case hex digits. */
export function sha256(data: string | Uint8Array): string {
  return encodeHex(hash(typeof data === "string" ? encoder.encode(data) : data));
}
