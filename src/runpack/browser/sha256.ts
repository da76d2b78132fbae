/**
 * SHA-256 (FIPS 180-4) in the language alone. Pages from disk have no synchronous hash of their own, and the verifier hashes as it reads.
 *
 * @module
 */

import { encodeHex } from "../../canonical/hex.ts";
import type { HashStream } from "../format/types.ts";

const BLOCK = 64;

/** The first 32 bits of the fractional parts of roots of the first primes: square roots to begin with, cube roots per round. */
const [INITIAL, ROUNDS] = constants();

function constants(): readonly [Uint32Array, Uint32Array] {
  const primes: number[] = [];
  for (let candidate = 2; primes.length < 64; candidate++) {
    if (primes.every((prime) => candidate % prime !== 0)) primes.push(candidate);
  }
  // Fractions of doubles are exact to 52 bits here, well beyond the 32 that are taken.
  const bits = (root: number): number => Math.floor((root - Math.floor(root)) * 2 ** 32);
  return [
    Uint32Array.from(primes.slice(0, 8), (prime) => bits(Math.sqrt(prime))),
    Uint32Array.from(primes, (prime) => bits(Math.cbrt(prime))),
  ];
}

const rotate = (word: number, by: number): number => (word >>> by) | (word << (32 - by));

/** Mixes one block into the state. */
function mix(state: Uint32Array, view: DataView, at: number, schedule: Uint32Array): void {
  const word = (index: number): number => schedule[index] ?? 0;
  for (let index = 0; index < 16; index++) schedule[index] = view.getUint32(at + 4 * index);
  for (let index = 16; index < 64; index++) {
    const [a, b] = [word(index - 15), word(index - 2)];
    const s0 = rotate(a, 7) ^ rotate(a, 18) ^ (a >>> 3);
    const s1 = rotate(b, 17) ^ rotate(b, 19) ^ (b >>> 10);
    schedule[index] = word(index - 16) + s0 + word(index - 7) + s1;
  }
  let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = state;
  for (let index = 0; index < 64; index++) {
    const s1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
    const t1 = (h + s1 + ((e & f) ^ (~e & g)) + (ROUNDS[index] ?? 0) + word(index)) | 0;
    const s0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
    const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + t1) | 0, c, b, a, (t1 + t2) | 0];
  }
  [a, b, c, d, e, f, g, h].forEach((value, index) => state[index] = (state[index] ?? 0) + value);
}

/** A hash that is fed in pieces. */
export function hashStream(): HashStream {
  const state = INITIAL.slice();
  const schedule = new Uint32Array(64);
  const rest = new Uint8Array(BLOCK);
  let [held, length] = [0, 0];

  const update = (chunk: Uint8Array): void => {
    length += chunk.length;
    let at = 0;
    if (held > 0) {
      at = Math.min(BLOCK - held, chunk.length);
      rest.set(chunk.subarray(0, at), held);
      held += at;
      if (held < BLOCK) return;
      mix(state, new DataView(rest.buffer), 0, schedule);
    }
    const view = new DataView(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    for (; at + BLOCK <= chunk.length; at += BLOCK) mix(state, view, at, schedule);
    rest.set(chunk.subarray(at));
    held = chunk.length - at;
  };
  const digest = (): string => {
    const bits = length * 8;
    const end = new Uint8Array(held < 56 ? BLOCK - held : 2 * BLOCK - held);
    end[0] = 0x80;
    const view = new DataView(end.buffer);
    view.setUint32(end.length - 8, Math.floor(bits / 2 ** 32));
    view.setUint32(end.length - 4, bits >>> 0);
    update(end);
    const bytes = new Uint8Array(32);
    state.forEach((word, index) => new DataView(bytes.buffer).setUint32(4 * index, word));
    return encodeHex(bytes);
  };
  return { update, digest };
}

const encoder = new TextEncoder();

/** SHA-256 of bytes, or of the UTF-8 form of a string, as 64 lower-case hex digits. */
export function sha256(data: string | Uint8Array): string {
  const hash = hashStream();
  hash.update(typeof data === "string" ? encoder.encode(data) : data);
  return hash.digest();
}
