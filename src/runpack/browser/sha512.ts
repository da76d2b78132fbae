/**
 * SHA-512 (FIPS 180-4) in the language alone, for the few hundred bytes that a signature is over.
 *
 * @module
 */

const BLOCK = 128;
const MASK = (1n << 64n) - 1n;

const rotate = (word: bigint, by: bigint): bigint => ((word >> by) | (word << (64n - by))) & MASK;

/** The integer root of a number, rounded down, by Newton's method. */
function integerRoot(value: bigint, degree: bigint): bigint {
  let root = 1n << BigInt(Math.ceil(value.toString(2).length / Number(degree)));
  for (;;) {
    const next = ((degree - 1n) * root + value / root ** (degree - 1n)) / degree;
    if (next >= root) return root;
    root = next;
  }
}

function primes(count: number): readonly bigint[] {
  const found: number[] = [];
  for (let candidate = 2; found.length < count; candidate++) {
    if (found.every((prime) => candidate % prime !== 0)) found.push(candidate);
  }
  return found.map(BigInt);
}

const PRIMES = primes(80);
const INITIAL = PRIMES.slice(0, 8).map((prime) => integerRoot(prime << 128n, 2n) & MASK);
const ROUNDS = PRIMES.map((prime) => integerRoot(prime << 192n, 3n) & MASK);

function mix(state: readonly bigint[], view: DataView, at: number): bigint[] {
  const words: bigint[] = [];
  const word = (index: number): bigint => words[index] ?? 0n;
  for (let index = 0; index < 16; index++) words.push(view.getBigUint64(at + 8 * index));
  for (let index = 16; index < 80; index++) {
    const [a, b] = [word(index - 15), word(index - 2)];
    const s0 = rotate(a, 1n) ^ rotate(a, 8n) ^ (a >> 7n);
    const s1 = rotate(b, 19n) ^ rotate(b, 61n) ^ (b >> 6n);
    words.push((word(index - 16) + s0 + word(index - 7) + s1) & MASK);
  }
  let [a = 0n, b = 0n, c = 0n, d = 0n, e = 0n, f = 0n, g = 0n, h = 0n] = state;
  ROUNDS.forEach((constant, index) => {
    const s1 = rotate(e, 14n) ^ rotate(e, 18n) ^ rotate(e, 41n);
    const t1 = h + s1 + ((e & f) ^ (~e & MASK & g)) + constant + word(index);
    const s0 = rotate(a, 28n) ^ rotate(a, 34n) ^ rotate(a, 39n);
    const t2 = s0 + ((a & b) ^ (a & c) ^ (b & c));
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + t1) & MASK, c, b, a, (t1 + t2) & MASK];
  });
  return [a, b, c, d, e, f, g, h].map((value, index) => ((state[index] ?? 0n) + value) & MASK);
}

/** SHA-512 of bytes: 64 bytes. */
export function sha512(data: Uint8Array): Uint8Array {
  const blocks = Math.ceil((data.length + 17) / BLOCK);
  const padded = new Uint8Array(blocks * BLOCK);
  padded.set(data);
  padded[data.length] = 0x80;
  const view = new DataView(padded.buffer);
  view.setBigUint64(padded.length - 8, BigInt(data.length) * 8n);
  let state: readonly bigint[] = INITIAL;
  for (let at = 0; at < padded.length; at += BLOCK) state = mix(state, view, at);
  const bytes = new Uint8Array(64);
  state.forEach((word, index) => new DataView(bytes.buffer).setBigUint64(8 * index, word));
  return bytes;
}
