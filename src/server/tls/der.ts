/**
 * Reads the DER (X.690) of certificates. The input is not trusted: lengths must be definite, minimal and within bounds.
 */

/** One element: its tag and content. */
export interface DerElement {
  readonly tag: number;
  readonly content: Uint8Array;
  /** The element with its tag and length. */
  readonly whole: Uint8Array;
}

/** Tags that certificates use; `EXPLICIT_0` wraps the version, `EXPLICIT_3` the extensions. */
export const DER_TAGS = {
  INTEGER: 0x02,
  OCTET_STRING: 0x04,
  OBJECT_IDENTIFIER: 0x06,
  UTF8_STRING: 0x0c,
  NUMERIC_STRING: 0x12,
  PRINTABLE_STRING: 0x13,
  IA5_STRING: 0x16,
  UNIVERSAL_STRING: 0x1c,
  BMP_STRING: 0x1e,
  SEQUENCE: 0x30,
  SET: 0x31,
  EXPLICIT_0: 0xa0,
  EXPLICIT_3: 0xa3,
} as const;

/** The input is not DER, or has an unexpected element. */
export class DerError extends Error {
  override name = "DerError";
}

/** The elements of some bytes. */
export function readElements(bytes: Uint8Array): DerElement[] {
  const elements: DerElement[] = [];
  let at = 0;
  while (at < bytes.length) {
    const start = at;
    const tag = byteAt(bytes, at++);
    if ((tag & 0x1f) === 0x1f) throw new DerError("Cannot read certificate: tag is too long");
    const { length, next } = readLength(bytes, at);
    at = next + length;
    if (at > bytes.length) throw new DerError("Cannot read certificate: element is cut off");
    elements.push({ tag, content: bytes.subarray(next, at), whole: bytes.subarray(start, at) });
  }
  return elements;
}

/** The elements inside an element of an expected tag. */
export function readInside(element: DerElement | undefined, tag: number): DerElement[] {
  if (element?.tag !== tag) throw new DerError(`Cannot read certificate: element does not have the tag ${tag}`);
  return readElements(element.content);
}

function readLength(bytes: Uint8Array, at: number): { readonly length: number; readonly next: number } {
  const first = byteAt(bytes, at);
  if (first < 0x80) return { length: first, next: at + 1 };
  const count = first & 0x7f;
  if (count === 0 || count > 4) throw new DerError("Cannot read certificate: length is not definite");
  let length = 0;
  for (let offset = 1; offset <= count; offset++) length = length * 256 + byteAt(bytes, at + offset);
  if (length < 0x80 || length < 256 ** (count - 1)) {
    throw new DerError("Cannot read certificate: length is not minimal");
  }
  return { length, next: at + 1 + count };
}

function byteAt(bytes: Uint8Array, at: number): number {
  const byte = bytes[at];
  if (byte === undefined) throw new DerError("Cannot read certificate: element is cut off");
  return byte;
}

/** An object identifier in dotted form. */
export function dottedIdentifier(content: Uint8Array): string {
  const parts: number[] = [];
  let value = 0;
  for (const [at, byte] of content.entries()) {
    if (byte === 0x80 && ((content[at - 1] ?? 0) & 0x80) === 0) {
      throw new DerError("Cannot read certificate: identifier is not minimal");
    }
    value = value * 128 + (byte & 0x7f);
    if (value > Number.MAX_SAFE_INTEGER / 128) throw new DerError("Cannot read certificate: identifier is too long");
    if ((byte & 0x80) !== 0) continue;
    if (parts.length === 0) {
      const first = Math.min(2, Math.floor(value / 40));
      parts.push(first, value - 40 * first);
    } else parts.push(value);
    value = 0;
  }
  if (content.length === 0 || ((content.at(-1) ?? 0) & 0x80) !== 0) {
    throw new DerError("Cannot read certificate: identifier is cut off");
  }
  return parts.join(".");
}

/** The text of a string element, or null for an unsupported type. */
export function stringOf(element: DerElement): string | null {
  const { tag, content } = element;
  switch (tag) {
    case DER_TAGS.UTF8_STRING:
      return decode("utf-8", content);
    case DER_TAGS.NUMERIC_STRING:
    case DER_TAGS.PRINTABLE_STRING:
    case DER_TAGS.IA5_STRING:
      if (content.some((byte) => byte > 0x7f)) throw new DerError("Cannot read certificate: string is not ASCII");
      return decode("utf-8", content);
    case DER_TAGS.BMP_STRING:
      return decode("utf-16be", content);
    case DER_TAGS.UNIVERSAL_STRING:
      return fromUtf32(content);
    default:
      return null;
  }
}

function decode(encoding: string, bytes: Uint8Array): string {
  try {
    return new TextDecoder(encoding, { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new DerError(`Cannot read certificate: string is not ${encoding}`);
  }
}

function fromUtf32(bytes: Uint8Array): string {
  if (bytes.length % 4 !== 0) throw new DerError("Cannot read certificate: string is cut off");
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let text = "";
  for (let at = 0; at < bytes.length; at += 4) {
    const point = view.getUint32(at);
    if (point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff)) {
      throw new DerError("Cannot read certificate: string is not UTF-32");
    }
    text += String.fromCodePoint(point);
  }
  return text;
}
