/** Messages between their wire form and JSON (docs/reference/typed_grpc.md, "Mapping"). */

import {
  clearField,
  type DescField,
  type DescMessage,
  fromBinary,
  fromJson,
  isFieldSet,
  type JsonValue as ProtoJson,
  type Message,
  ScalarType,
  toBinary,
  toJson,
} from "@bufbuild/protobuf";
import { reflect } from "@bufbuild/protobuf/reflect";
import { FeatureSet_FieldPresence } from "@bufbuild/protobuf/wkt";
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from "../../../canonical/json.ts";
import { GRPC_LIMITS } from "./limits.ts";
import { isLongText, isWrapper, mayBeAbsent, resolvePath } from "./message_schema.ts";
import { checkWire } from "./wire_check.ts";

/** The wire form of a request, or the reason why the params are not a request. */
export type EncodedRequest =
  | { readonly ok: true; readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly ok: false; readonly message: string };

/** Encodes the params of a check as a request. */
export function encodeRequest(descriptor: DescMessage, params: JsonObject): EncodedRequest {
  try {
    const message = fromJson(descriptor, params as ProtoJson, { ignoreUnknownFields: false });
    const bytes = toBinary(descriptor, message);
    if (bytes.length <= GRPC_LIMITS.requestBytes) return { ok: true, bytes: new Uint8Array(bytes) };
    return { ok: false, message: `the request has more than ${GRPC_LIMITS.requestBytes} bytes` };
  } catch (error) {
    return { ok: false, message: messageOf(error) };
  }
}

/** The value of a response, undefined where the response lacks it, or the reason why it cannot be read. */
export type DecodedResponse =
  | { readonly ok: true; readonly value: JsonValue | undefined }
  | { readonly ok: false; readonly message: string };

/**
 * Decodes a response.
 *
 * @param path Members to the value in the JSON form; null for the whole response
 */
export function decodeResponse(
  descriptor: DescMessage,
  bytes: Uint8Array,
  path: readonly string[] | null,
): DecodedResponse {
  const { messageValues: values, responseMessages: messages, messageDepth: depth } = GRPC_LIMITS;
  const fault = checkWire(descriptor, bytes, { values, messages, depth });
  if (fault !== null) return { ok: false, message: fault };
  try {
    const message = fromBinary(descriptor, bytes, { readUnknownFields: false, recursionLimit: depth });
    const value = path === null ? jsonOf(descriptor, message) : selectPath(descriptor, message, path);
    return { ok: true, value };
  } catch (error) {
    return { ok: false, message: messageOf(error) };
  }
}

function messageOf(error: unknown): string {
  // A message nested too deep for the stack is refused like any other.
  return error instanceof Error ? error.message.slice(0, 512) : "the message cannot be converted";
}

/** The JSON form of a message: fields without presence are written with their default values. */
function jsonOf(descriptor: DescMessage, message: Message): JsonValue {
  return withNumbers(descriptor, toJson(descriptor, message, { alwaysEmitImplicit: true }) as JsonValue);
}

/** The value at a path; undefined where a field on it is not set. */
function selectPath(descriptor: DescMessage, message: Message, path: readonly string[]): JsonValue | undefined {
  const fields = resolvePath(descriptor, path);
  if (fields === undefined) throw new Error("the result path leads to no field of the response");
  let at = message;
  for (const [index, field] of fields.entries()) {
    if (mayBeAbsent(field) && !isFieldSet(at, field)) return undefined;
    if (index === fields.length - 1) return fieldJson(field, at);
    at = reflect(field.parent, at).get(field as DescField & { fieldKind: "message" }).message;
  }
  return undefined;
}

/** The JSON form of one field. The others are cleared first: they may have no JSON form. */
function fieldJson(field: DescField, message: Message): JsonValue | undefined {
  for (const other of field.parent.fields) {
    if (other !== field && other.presence !== FeatureSet_FieldPresence.LEGACY_REQUIRED) clearField(message, other);
  }
  const json = jsonOf(field.parent, message);
  return isJsonObject(json) && Object.hasOwn(json, field.jsonName) ? json[field.jsonName] : undefined;
}

/** Replaces the text of each 64-bit integer that JSON can hold exactly by the number. */
function withNumbers(descriptor: DescMessage, json: JsonValue): JsonValue {
  const [value] = descriptor.fields;
  if (isWrapper(descriptor)) return value === undefined ? json : longAsNumber(value, json);
  // Every other well-known type with a JSON form of its own holds no such integer.
  if (!isJsonObject(json) || descriptor.typeName.startsWith("google.protobuf.")) return json;
  const byName = new Map(descriptor.fields.map((field) => [field.jsonName, field]));
  const members = Object.entries(json).map(([name, inner]) => {
    const field = byName.get(name);
    return [name, field === undefined ? inner : fieldWithNumbers(field, inner)] as const;
  });
  return Object.fromEntries(members) as JsonObject;
}

function fieldWithNumbers(field: DescField, json: JsonValue): JsonValue {
  const convert = (one: JsonValue): JsonValue =>
    field.message === undefined ? longAsNumber(field, one) : withNumbers(field.message, one);
  if (field.fieldKind === "list") return isJsonArray(json) ? json.map(convert) : json;
  if (field.fieldKind === "map") {
    return isJsonObject(json)
      ? Object.fromEntries(Object.entries(json).map(([key, one]) => [key, convert(one)]))
      : json;
  }
  return convert(json);
}

function longAsNumber(field: DescField, json: JsonValue): JsonValue {
  if (typeof json !== "string" || field.scalar === undefined || !LONG.has(field.scalar) || isLongText(field)) {
    return json;
  }
  const number = Number(json);
  return Number.isSafeInteger(number) ? number : json;
}

const LONG: ReadonlySet<ScalarType> = new Set([
  ScalarType.INT64,
  ScalarType.UINT64,
  ScalarType.SINT64,
  ScalarType.FIXED64,
  ScalarType.SFIXED64,
]);
