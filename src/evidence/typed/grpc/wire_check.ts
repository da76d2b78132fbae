/**
 * Checks the wire form of a message against its descriptor before a library decodes it.
 *
 * Decoders differ on a field with another wire type than its descriptor says: some skip it, some read its bytes as
 * another value. An empty message of two bytes can decode to an object of hundreds. So the check refuses what does not
 * fit the descriptor, and counts the values that decoding would create.
 */

import { type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";
import { decodeUtf8Strict } from "../../../canonical/utf8.ts";

const VARINT = 0;
const FIXED_64 = 1;
const DELIMITED = 2;
const GROUP_START = 3;
const GROUP_END = 4;
const FIXED_32 = 5;

/** Limits of one check. */
export interface WireLimits {
  /** Fields and items of packed fields. */
  readonly values: number;
  /** Messages, the outermost included; each decodes to an object of hundreds of bytes, although it may have two. */
  readonly messages: number;
  /** Messages within each other. */
  readonly depth: number;
}

/** Ends the check with a reason. */
class WireFault extends Error {}

interface Reading {
  readonly bytes: Uint8Array;
  at: number;
  values: number;
  messages: number;
  readonly maximumDepth: number;
}

/**
 * Why the bytes are not the wire form of a message; null where they are.
 *
 * @param descriptor The message
 * @param bytes Its wire form
 * @param limits Limits of the decoded message
 */
export function checkWire(descriptor: DescMessage, bytes: Uint8Array, limits: WireLimits): string | null {
  const reading: Reading = {
    bytes,
    at: 0,
    values: limits.values,
    messages: limits.messages,
    maximumDepth: limits.depth,
  };
  try {
    readMessage(reading, descriptor, bytes.length, null, 1);
    return null;
  } catch (error) {
    if (error instanceof WireFault) return error.message;
    throw error;
  }
}

/** Reads the fields of a message up to `end`, or up to the end of the group `group`. Null reads a message that is not known. */
function readMessage(
  reading: Reading,
  descriptor: DescMessage | null,
  end: number,
  group: number | null,
  depth: number,
): void {
  if (depth > reading.maximumDepth) throw new WireFault(`messages are nested deeper than ${reading.maximumDepth}`);
  const fields = descriptor === null ? null : fieldsOf(descriptor);
  if (fields !== null && --reading.messages < 0) throw new WireFault("the message has too many messages");
  while (reading.at < end) {
    const tag = readVarint(reading, end);
    const number = Number(tag >> 3n);
    const wireType = Number(tag & 7n);
    if (number < 1 || number > 536_870_911) throw new WireFault("a field has a number that cannot be");
    if (wireType === GROUP_END) {
      if (number === group) return;
      throw new WireFault("a group ends that did not begin");
    }
    count(reading, 1);
    readField(reading, fields?.get(number) ?? null, { number, wireType, end, depth });
  }
  if (group !== null) throw new WireFault("a group does not end");
  if (reading.at > end) throw new WireFault("a field ends after its message");
}

interface Place {
  readonly number: number;
  readonly wireType: number;
  readonly end: number;
  readonly depth: number;
}

function readField(reading: Reading, field: DescField | null, { number, wireType, end, depth }: Place): void {
  const isPacked = field !== null && wireType === DELIMITED && field.fieldKind === "list" &&
    field.message === undefined && wireTypeOf(field) !== DELIMITED;
  if (field !== null && !isPacked && wireType !== wireTypeOf(field)) {
    throw new WireFault(
      `field "${field.name}" of "${field.parent.typeName}" has another type than its descriptor says`,
    );
  }
  switch (wireType) {
    case VARINT:
      readVarint(reading, end);
      return;
    case FIXED_64:
      return skip(reading, 8, end);
    case FIXED_32:
      return skip(reading, 4, end);
    case GROUP_START:
      return readMessage(reading, field?.message ?? null, end, number, depth + 1);
    case DELIMITED: {
      const length = Number(readVarint(reading, end));
      if (length > end - reading.at) throw new WireFault("a field is longer than its message");
      return readDelimited(reading, field, reading.at + length, depth, isPacked);
    }
    default:
      throw new WireFault(`a field has the wire type ${wireType}, which does not exist`);
  }
}

function readDelimited(reading: Reading, field: DescField | null, end: number, depth: number, isPacked: boolean): void {
  if (field === null) reading.at = end;
  else if (field.fieldKind === "map") readMapEntry(reading, field, end, depth);
  else if (isPacked) readPacked(reading, field, end);
  else if (field.message !== undefined) readMessage(reading, field.message, end, null, depth + 1);
  else {
    if (field.scalar === ScalarType.STRING) checkText(reading, field, end);
    reading.at = end;
  }
}

/**
 * The entry of a map is a message with the key as field 1 and the value as field 2. A third field is refused: the
 * library would read its bytes as another field.
 */
function readMapEntry(reading: Reading, field: DescField & { fieldKind: "map" }, end: number, depth: number): void {
  while (reading.at < end) {
    const tag = readVarint(reading, end);
    count(reading, 1);
    const isKey = tag >> 3n === 1n;
    if (!isKey && tag >> 3n !== 2n) throw new WireFault(`an entry of map "${field.name}" has more than key and value`);
    const scalar = isKey ? field.mapKey : field.mapKind === "scalar" ? field.scalar : undefined;
    const isMessage = !isKey && field.mapKind === "message";
    const wireType = isMessage ? DELIMITED : scalar === undefined ? VARINT : wireTypeOfScalar(scalar);
    if (Number(tag & 7n) !== wireType) {
      throw new WireFault(`an entry of map "${field.name}" has another type than its descriptor says`);
    }
    if (wireType !== DELIMITED) {
      readField(reading, null, { number: 1, wireType, end, depth });
      continue;
    }
    const length = Number(readVarint(reading, end));
    if (length > end - reading.at) throw new WireFault("a field is longer than its message");
    const inner = reading.at + length;
    if (isMessage) readMessage(reading, field.message, inner, null, depth + 2);
    else {
      if (scalar === ScalarType.STRING) checkText(reading, field, inner);
      reading.at = inner;
    }
  }
}

function readPacked(reading: Reading, field: DescField, end: number): void {
  const wireType = wireTypeOf(field);
  if (wireType !== VARINT) {
    const size = wireType === FIXED_64 ? 8 : 4;
    if ((end - reading.at) % size !== 0) throw new WireFault("the items of a packed field do not fill it");
    count(reading, (end - reading.at) / size);
    reading.at = end;
    return;
  }
  while (reading.at < end) {
    count(reading, 1);
    readVarint(reading, end);
  }
}

function checkText(reading: Reading, field: DescField, end: number): void {
  if (decodeUtf8Strict(reading.bytes.subarray(reading.at, end)) !== null) return;
  throw new WireFault(`string "${field.name}" of "${field.parent.typeName}" is not UTF-8`);
}

function count(reading: Reading, values: number): void {
  reading.values -= values;
  if (reading.values < 0) throw new WireFault("the message has too many values");
}

function skip(reading: Reading, length: number, end: number): void {
  reading.at += length;
  if (reading.at > end) throw new WireFault("a field ends after its message");
}

/** Reads a varint of at most 10 bytes, the longest that the wire form has. */
function readVarint(reading: Reading, end: number): bigint {
  let low = 0;
  for (let index = 0; index < 4; index++) {
    const byte = nextByte(reading, end);
    low |= (byte & 0x7f) << (index * 7);
    if (byte < 0x80) return BigInt(low);
  }
  let value = BigInt(low);
  for (let index = 4n; index < 10n; index++) {
    const byte = nextByte(reading, end);
    value |= BigInt(byte & 0x7f) << (index * 7n);
    if (byte < 0x80) return value;
  }
  throw new WireFault("a number has more than 10 bytes");
}

function nextByte(reading: Reading, end: number): number {
  const byte = reading.at < end ? reading.bytes[reading.at] : undefined;
  if (byte === undefined) throw new WireFault("a field ends after its message");
  reading.at++;
  return byte;
}

const FIELDS = new WeakMap<DescMessage, ReadonlyMap<number, DescField>>();

function fieldsOf(descriptor: DescMessage): ReadonlyMap<number, DescField> {
  const known = FIELDS.get(descriptor);
  if (known !== undefined) return known;
  const fields = new Map(descriptor.fields.map((field) => [field.number, field]));
  FIELDS.set(descriptor, fields);
  return fields;
}

function wireTypeOf(field: DescField): number {
  if (field.fieldKind === "map") return DELIMITED;
  if (field.message !== undefined) return field.delimitedEncoding ? GROUP_START : DELIMITED;
  return field.scalar === undefined ? VARINT : wireTypeOfScalar(field.scalar);
}

function wireTypeOfScalar(scalar: ScalarType): number {
  switch (scalar) {
    case ScalarType.DOUBLE:
    case ScalarType.FIXED64:
    case ScalarType.SFIXED64:
      return FIXED_64;
    case ScalarType.FLOAT:
    case ScalarType.FIXED32:
    case ScalarType.SFIXED32:
      return FIXED_32;
    case ScalarType.STRING:
    case ScalarType.BYTES:
      return DELIMITED;
    default:
      return VARINT;
  }
}
