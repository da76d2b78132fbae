/**
 * Points of edwards25519 (RFC 8032, 5.1) in the language alone. Nothing here is secret, so nothing here has to take the same
 * time.
 *
 * @module
 */

const P = 2n ** 255n - 19n;

const mod = (value: bigint): bigint => {
  const rest = value % P;
  return rest < 0n ? rest + P : rest;
};

function power(base: bigint, exponent: bigint): bigint {
  let [result, square] = [1n, mod(base)];
  for (let left = exponent; left > 0n; left >>= 1n) {
    if ((left & 1n) === 1n) result = mod(result * square);
    square = mod(square * square);
  }
  return result;
}

const inverse = (value: bigint): bigint => power(value, P - 2n);

const D = mod(-121665n * inverse(121666n));
/** A square root of -1. */
const I = power(2n, (P - 1n) / 4n);

/** A point in extended coordinates: x = X/Z, y = Y/Z, xy = T/Z. */
export interface Point {
  readonly X: bigint;
  readonly Y: bigint;
  readonly Z: bigint;
  readonly T: bigint;
}

const NEUTRAL: Point = { X: 0n, Y: 1n, Z: 1n, T: 0n };

/** The sum of two points. */
export function add(a: Point, b: Point): Point {
  const [A, B] = [mod((a.Y - a.X) * (b.Y - b.X)), mod((a.Y + a.X) * (b.Y + b.X))];
  const [C, E] = [mod(2n * a.T * b.T * D), mod(2n * a.Z * b.Z)];
  const [e, f, g, h] = [B - A, E - C, E + C, B + A];
  return { X: mod(e * f), Y: mod(g * h), Z: mod(f * g), T: mod(e * h) };
}

/** A point added to itself so many times. */
export function multiply(scalar: bigint, point: Point): Point {
  let [result, doubled] = [NEUTRAL, point];
  for (let left = scalar; left > 0n; left >>= 1n) {
    if ((left & 1n) === 1n) result = add(result, doubled);
    doubled = add(doubled, doubled);
  }
  return result;
}

/** Bytes as a number, little end first. */
export function number(bytes: Uint8Array): bigint {
  return bytes.reduceRight((high, byte) => high << 8n | BigInt(byte), 0n);
}

/** The point of 32 bytes (RFC 8032, 5.1.3); null where they are of none. */
export function decode(bytes: Uint8Array): Point | null {
  const encoded = number(bytes);
  const [y, sign] = [encoded & ((1n << 255n) - 1n), encoded >> 255n];
  const square = mod((y * y - 1n) * inverse(mod(D * y * y + 1n)));
  let x = power(square, (P + 3n) / 8n);
  if (mod(x * x - square) !== 0n) x = mod(x * I);
  if (mod(x * x - square) !== 0n || (x === 0n && sign === 1n)) return null;
  if ((x & 1n) !== sign) x = P - x;
  return { X: x, Y: y, Z: 1n, T: mod(x * y) };
}

/** Whether two points are one. */
export function isSame(a: Point, b: Point): boolean {
  return mod(a.X * b.Z - b.X * a.Z) === 0n && mod(a.Y * b.Z - b.Y * a.Z) === 0n;
}

/** The base point. */
export const BASE: Point | null = decode(Uint8Array.from({ length: 32 }, (_, index) => index === 0 ? 0x58 : 0x66));

/** Whether bytes are those of a point, as every public key is and about half of all other 32 bytes are not. */
export function isPublicKey(bytes: Uint8Array): boolean {
  return bytes.length === 32 && decode(bytes) !== null;
}
