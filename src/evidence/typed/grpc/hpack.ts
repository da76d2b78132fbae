/** Header compression of HTTP/2 (RFC 7541): a decoder with bounds, and an encoder that keeps no state. */

/** A header field. The text has one character for each byte. */
export type HeaderField = readonly [name: string, value: string];

/** Limits of the fields of one block; a field takes its bytes and 32 more (RFC 9113, 10.5.1). */
export interface HeaderLimits {
  readonly bytes: number;
  readonly fields: number;
}

/** The fields of a block, or why there are none. A decoder is of no use after a fault. */
export type DecodedHeaders = readonly HeaderField[] | "malformed" | "too_large" | "too_many";

/** Decodes the blocks of one connection, in their order. */
export type HeaderDecoder = (block: Uint8Array) => DecodedHeaders;

/** Bytes of the dynamic table of a decoder, the default of the protocol. */
const TABLE_BYTES = 4096;

/** Bytes that an entry takes beside its name and value (RFC 7541, 4.1). */
const FIELD_BYTES = 32;

/** The static table (RFC 7541, appendix A); names without `=` have no value. */
const STATIC_TABLE: readonly HeaderField[] = (":authority|:method=GET|:method=POST|:path=/|:path=/index.html|" +
  ":scheme=http|:scheme=https|:status=200|:status=204|:status=206|:status=304|:status=400|:status=404|:status=500|" +
  "accept-charset|accept-encoding=gzip, deflate|accept-language|accept-ranges|accept|access-control-allow-origin|age|" +
  "allow|authorization|cache-control|content-disposition|content-encoding|content-language|content-length|" +
  "content-location|content-range|content-type|cookie|date|etag|expect|expires|from|host|if-match|if-modified-since|" +
  "if-none-match|if-range|if-unmodified-since|last-modified|link|location|max-forwards|proxy-authenticate|" +
  "proxy-authorization|range|referer|refresh|retry-after|server|set-cookie|strict-transport-security|" +
  "transfer-encoding|user-agent|vary|via|www-authenticate").split("|").map((entry) => {
    const [name = "", value = ""] = entry.split("=");
    return [name, value];
  });

/** A block that breaks the format. */
class Malformed extends Error {}

/** A block while it is read. */
interface Cursor {
  readonly block: Uint8Array;
  at: number;
}

/**
 * Creates the decoder of a connection.
 *
 * @param limits Limits of each block
 * @param tableBytes Maximum size of the dynamic table
 */
export function createHeaderDecoder(limits: HeaderLimits, tableBytes = TABLE_BYTES): HeaderDecoder {
  const table = createTable(tableBytes);
  return (block) => {
    try {
      return decodeBlock({ block, at: 0 }, table, limits);
    } catch (error) {
      if (error instanceof Malformed) return "malformed";
      throw error;
    }
  };
}

function decodeBlock(cursor: Cursor, table: DynamicTable, limits: HeaderLimits): DecodedHeaders {
  const fields: HeaderField[] = [];
  let bytes = 0;
  while (cursor.at < cursor.block.length) {
    const first = cursor.block[cursor.at] ?? 0;
    if (first >> 5 === 1) {
      // Changes of the table's size precede the fields.
      if (fields.length > 0) throw new Malformed();
      table.resize(readInteger(cursor, 5));
      continue;
    }
    const field = first >> 7 === 1 ? table.find(readInteger(cursor, 7)) : readLiteral(cursor, table, first >> 6 === 1);
    bytes += sizeOf(field);
    if (bytes > limits.bytes) return "too_large";
    if (fields.length === limits.fields) return "too_many";
    fields.push(field);
  }
  return fields;
}

function readLiteral(cursor: Cursor, table: DynamicTable, isIndexed: boolean): HeaderField {
  const index = readInteger(cursor, isIndexed ? 6 : 4);
  const name = index === 0 ? readString(cursor) : table.find(index)[0];
  const field: HeaderField = [name, readString(cursor)];
  if (isIndexed) table.add(field);
  return field;
}

function sizeOf([name, value]: HeaderField): number {
  return name.length + value.length + FIELD_BYTES;
}

/** The dynamic table, the newest entry first. */
interface DynamicTable {
  readonly find: (index: number) => HeaderField;
  readonly add: (field: HeaderField) => void;
  readonly resize: (bytes: number) => void;
}

function createTable(maximumBytes: number): DynamicTable {
  const entries: HeaderField[] = [];
  let limit = maximumBytes;
  let bytes = 0;
  const evict = (): void => {
    while (bytes > limit) {
      const last = entries.pop();
      bytes -= last === undefined ? bytes : sizeOf(last);
    }
  };
  return {
    find: (index) => {
      const found = index <= STATIC_TABLE.length ? STATIC_TABLE[index - 1] : entries[index - STATIC_TABLE.length - 1];
      if (found === undefined) throw new Malformed();
      return found;
    },
    add: (field) => {
      entries.unshift(field);
      bytes += sizeOf(field);
      evict();
    },
    resize: (wanted) => {
      if (wanted > maximumBytes) throw new Malformed();
      limit = wanted;
      evict();
    },
  };
}

/** Reads an integer whose first bits are the last ones of the next byte (RFC 7541, 5.1); at most 28 bits follow. */
function readInteger(cursor: Cursor, prefixBits: number): number {
  const most = 2 ** prefixBits - 1;
  const first = readByte(cursor) & most;
  if (first < most) return first;
  let value = most;
  for (let shift = 0; shift < 28; shift += 7) {
    const byte = readByte(cursor);
    value += (byte & 0x7f) * 2 ** shift;
    if (byte < 0x80) return value;
  }
  throw new Malformed();
}

function readByte(cursor: Cursor): number {
  const byte = cursor.block[cursor.at++];
  if (byte === undefined) throw new Malformed();
  return byte;
}

function readString(cursor: Cursor): string {
  const isCoded = (cursor.block[cursor.at] ?? 0) >> 7 === 1;
  const length = readInteger(cursor, 7);
  const bytes = cursor.block.subarray(cursor.at, cursor.at + length);
  if (bytes.length < length) throw new Malformed();
  cursor.at += length;
  if (isCoded) return decodeHuffman(bytes);
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return text;
}

/**
 * The symbols of the Huffman code (RFC 7541, appendix B) by the length of their code. Codes of one length follow each
 * other in the order of their symbols, so the lengths give the codes.
 */
const SYMBOLS: Readonly<Record<number, readonly number[]>> = {
  5: [48, 49, 50, 97, 99, 101, 105, 111, 115, 116],
  6: [
    32,
    37,
    ...span(45, 47),
    ...span(51, 57),
    61,
    65,
    95,
    98,
    100,
    ...span(102, 104),
    ...span(108, 110),
    112,
    114,
    117,
  ],
  7: [58, ...span(66, 87), 89, 106, 107, 113, ...span(118, 122)],
  8: [38, 42, 44, 59, 88, 90],
  10: [33, 34, 40, 41, 63],
  11: [39, 43, 124],
  12: [35, 62],
  13: [0, 36, 64, 91, 93, 126],
  14: [94, 125],
  15: [60, 96, 123],
  19: [92, 195, 208],
  20: [128, 130, 131, 162, 184, 194, 224, 226],
  21: [153, 161, 167, 172, 176, 177, 179, 209, 216, 217, 227, 229, 230],
  22: [
    ...[
      129,
      ...span(132, 134),
      136,
      146,
      154,
      156,
      160,
      163,
      164,
      169,
      170,
      173,
      178,
      181,
      ...span(185, 187),
      189,
      190,
    ],
    ...[196, 198, 228, 232, 233],
  ],
  23: [
    ...[1, 135, ...span(137, 139), 140, 141, 143, 147, ...span(149, 152), 155, 157, 158, 165, 166, 168, 174, 175, 180],
    ...[182, 183, 188, 191, 197, 231, 239],
  ],
  24: [9, 142, 144, 145, 148, 159, 171, 206, 215, 225, 236, 237],
  25: [199, 207, 234, 235],
  26: [192, 193, ...span(200, 202), 205, 210, 213, 218, 219, 238, 240, 242, 243, 255],
  27: [203, 204, 211, 212, 214, ...span(221, 223), 241, ...span(244, 248), ...span(250, 254)],
  28: [...span(2, 8), 11, 12, ...span(14, 21), ...span(23, 31), 127, 220, 249],
  30: [10, 13, 22, 256],
};

function span(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}

const LONGEST_CODE = 30;
const END_OF_STRING = 256;

function decodeHuffman(bytes: Uint8Array): string {
  let text = "";
  let code = 0;
  let length = 0;
  /** The first code of the present length. */
  let first = 0;
  for (const byte of bytes) {
    for (let bit = 7; bit >= 0; bit--) {
      code = code * 2 + (byte >> bit & 1);
      first = (first + (SYMBOLS[length]?.length ?? 0)) * 2;
      length++;
      const symbol = SYMBOLS[length]?.[code - first];
      if (symbol === undefined) {
        if (length === LONGEST_CODE) throw new Malformed();
        continue;
      }
      if (symbol === END_OF_STRING) throw new Malformed();
      text += String.fromCharCode(symbol);
      code = length = first = 0;
    }
  }
  // The last byte is filled with ones.
  if (length > 7 || code !== 2 ** length - 1) throw new Malformed();
  return text;
}

/** Encodes fields as literals that no intermediary may put into its table: they may be credentials. */
export function encodeHeaders(fields: readonly HeaderField[]): Uint8Array<ArrayBuffer> {
  const bytes: number[] = [];
  for (const [name, value] of fields) {
    bytes.push(0x10);
    for (const text of [name, value]) {
      writeLength(bytes, text.length);
      for (let index = 0; index < text.length; index++) bytes.push(text.charCodeAt(index));
    }
  }
  return new Uint8Array(bytes);
}

function writeLength(bytes: number[], length: number): void {
  if (length < 0x7f) return void bytes.push(length);
  bytes.push(0x7f);
  let rest = length - 0x7f;
  for (; rest >= 0x80; rest >>= 7) bytes.push(rest & 0x7f | 0x80);
  bytes.push(rest);
}
