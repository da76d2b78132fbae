/** JSON Schemas (2020-12) of messages in their JSON form (docs/reference/typed_grpc.md, "Mapping"). */

import { type DescEnum, type DescField, type DescMessage, type DescOneof, ScalarType } from "@bufbuild/protobuf";
import { FeatureSet_FieldPresence, FieldDescriptorProto_Type, FieldOptions_JSType } from "@bufbuild/protobuf/wkt";
import type { JsonObject } from "../../../canonical/json.ts";
import type { CandidateReasonCode } from "../import_result.ts";

/** What a schema is for: the params of a check, or its result. */
export type SchemaRole = "params" | "result";

/** Why a message has no schema. */
export interface SchemaObstacle {
  readonly code: CandidateReasonCode;
  /** Full name of the message or field. */
  readonly symbol: string;
  readonly detail: string;
}

/** A schema with the definitions that it refers to, and what keeps it from being used. */
export interface DescribedSchema {
  readonly schema: JsonObject;
  readonly obstacles: readonly SchemaObstacle[];
}

/** Numbers between these are exact in JSON; others of 64 bits are decimal text. */
const SAFE = { minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER };
const SIGNED_TEXT = { type: "string", format: "int64", pattern: "^-?(?:0|[1-9][0-9]{0,18})$" };
const UNSIGNED_TEXT = { type: "string", format: "uint64", pattern: "^(?:0|[1-9][0-9]{0,19})$" };
const FLOATING: JsonObject = { anyOf: [{ type: "number" }, { enum: ["NaN", "Infinity", "-Infinity"] }] };

interface Describing {
  readonly role: SchemaRole;
  readonly definitions: Map<string, JsonObject | null>;
  readonly waiting: DescMessage[];
  readonly obstacles: SchemaObstacle[];
  readonly spend: (steps: number) => void;
}

/** Describes the JSON form of a message. */
export function describeMessage(
  message: DescMessage,
  role: SchemaRole,
  spend: (steps: number) => void = () => {},
): DescribedSchema {
  return describe(role, spend, (describing) => messageSchema(describing, message));
}

/**
 * Describes the value that a result path selects. A path leads through messages; its last member may be any field.
 * Undefined where the path leads to no field.
 */
export function describePath(
  message: DescMessage,
  path: readonly string[],
  spend: (steps: number) => void = () => {},
): DescribedSchema & { readonly fields: readonly DescField[] } | undefined {
  const fields = resolvePath(message, path);
  const last = fields?.at(-1);
  if (fields === undefined || last === undefined) return undefined;
  const described = describe("result", spend, (describing) => {
    const schema = fieldSchema(describing, last);
    return fields.some(mayBeAbsent) ? { anyOf: [schema, { type: "null" }] } : schema;
  });
  return { ...described, fields };
}

/** The fields that a path names, by their JSON names; undefined where it leads to none. */
export function resolvePath(message: DescMessage, path: readonly string[]): readonly DescField[] | undefined {
  const fields: DescField[] = [];
  let at: DescMessage | undefined = message;
  for (const name of path) {
    const field: DescField | undefined = at?.fields.find((one) => one.jsonName === name);
    if (field === undefined) return undefined;
    fields.push(field);
    at = field.fieldKind === "message" && !hasOwnJsonForm(field.message) ? field.message : undefined;
  }
  return fields;
}

/** Whether a response can be without the field. Fields without presence have their default value then. */
export function mayBeAbsent(field: DescField): boolean {
  return field.presence === FeatureSet_FieldPresence.EXPLICIT;
}

function describe(
  role: SchemaRole,
  spend: (steps: number) => void,
  body: (describing: Describing) => JsonObject,
): DescribedSchema {
  const describing: Describing = { role, definitions: new Map(), waiting: [], obstacles: [], spend };
  const schema = body(describing);
  for (let next = describing.waiting.pop(); next !== undefined; next = describing.waiting.pop()) {
    describing.definitions.set(next.typeName, messageSchema(describing, next));
  }
  const { definitions, obstacles } = describing;
  if (definitions.size === 0) return { schema, obstacles };
  const sorted = [...definitions].sort(([a], [b]) => (a < b ? -1 : 1));
  return { schema: { ...schema, $defs: Object.fromEntries(sorted) as JsonObject }, obstacles };
}

/** The schema of a message in place, without a reference to itself. */
function messageSchema(describing: Describing, message: DescMessage): JsonObject {
  describing.spend(1 + message.fields.length);
  const own = wellKnownSchema(describing, message);
  if (own !== null) return own;
  checkNames(describing, message);
  const properties = message.fields.map((field) => [field.jsonName, fieldSchema(describing, field)] as const);
  const required = message.fields.filter((field) => isRequired(describing.role, field)).map(({ jsonName }) => jsonName);
  const choices = message.oneofs.map(choiceSchema);
  return {
    type: "object",
    // Names come from outside, and "__proto__" is an ordinary one.
    properties: Object.fromEntries(properties),
    ...required.length === 0 ? {} : { required },
    ...choices.length === 0 ? {} : { allOf: choices },
    additionalProperties: false,
  };
}

/** A name in JSON must mean one field. The library also accepts the name in the descriptor. */
function checkNames(describing: Describing, message: DescMessage): void {
  const known = new Map(message.fields.map((field) => [field.name, field]));
  for (const field of message.fields) {
    if ((known.get(field.jsonName) ?? field) !== field) {
      obstruct(describing, "field_name_conflict", field, field.jsonName);
    }
    known.set(field.jsonName, field);
  }
}

/** A response always has the fields without presence, since gate writes their default values. */
function isRequired(role: SchemaRole, field: DescField): boolean {
  if (field.presence === FeatureSet_FieldPresence.LEGACY_REQUIRED) return true;
  return role === "result" && !mayBeAbsent(field);
}

/** At most one field of a `oneof` is there. */
function choiceSchema(oneof: DescOneof): JsonObject {
  const each = oneof.fields.map((field) => ({ required: [field.jsonName] }));
  return { oneOf: [...each, { not: { anyOf: each } }] };
}

function fieldSchema(describing: Describing, field: DescField): JsonObject {
  switch (field.fieldKind) {
    case "list":
      return { type: "array", items: valueSchema(describing, field) };
    case "map":
      return { type: "object", additionalProperties: valueSchema(describing, field) };
    default:
      return valueSchema(describing, field);
  }
}

/** The schema of one value: the field itself, an item of a list, or a value of a map. */
function valueSchema(describing: Describing, field: DescField): JsonObject {
  if (field.enum !== undefined) return enumSchema(field.enum);
  if (field.scalar !== undefined) return scalarSchema(field.scalar, isLongText(field));
  if (field.message === undefined) return {};
  if (field.proto.type === FieldDescriptorProto_Type.GROUP) obstruct(describing, "field_group", field, "");
  return reference(describing, field.message);
}

function reference(describing: Describing, message: DescMessage): JsonObject {
  const own = wellKnownSchema(describing, message);
  if (own !== null) return own;
  if (!describing.definitions.has(message.typeName)) {
    describing.definitions.set(message.typeName, null);
    describing.waiting.push(message);
  }
  return { $ref: `#/$defs/${message.typeName}` };
}

function obstruct(describing: Describing, code: CandidateReasonCode, field: DescField, detail: string): void {
  describing.obstacles.push({ code, symbol: `${field.parent.typeName}.${field.name}`, detail });
}

/** Whether the field asks for its 64 bits as text (`[jstype = JS_STRING]`). */
export function isLongText(field: DescField): boolean {
  return field.proto.options?.jstype === FieldOptions_JSType.JS_STRING;
}

/** The schema of a scalar. */
function scalarSchema(scalar: ScalarType, isText: boolean): JsonObject {
  switch (scalar) {
    case ScalarType.STRING:
      return { type: "string" };
    case ScalarType.BOOL:
      return { type: "boolean" };
    case ScalarType.BYTES:
      return { type: "string", contentEncoding: "base64" };
    case ScalarType.DOUBLE:
    case ScalarType.FLOAT:
      return FLOATING;
    case ScalarType.UINT32:
    case ScalarType.FIXED32:
      return { type: "integer", minimum: 0, maximum: 4_294_967_295 };
    case ScalarType.INT32:
    case ScalarType.SINT32:
    case ScalarType.SFIXED32:
      return { type: "integer", minimum: -2_147_483_648, maximum: 2_147_483_647 };
    case ScalarType.UINT64:
    case ScalarType.FIXED64:
      return isText ? UNSIGNED_TEXT : { anyOf: [{ type: "integer", ...SAFE, minimum: 0 }, UNSIGNED_TEXT] };
    default:
      return isText ? SIGNED_TEXT : { anyOf: [{ type: "integer", ...SAFE }, SIGNED_TEXT] };
  }
}

/** An enum is the name of its value. A value that the descriptor does not know is its number. */
function enumSchema(descriptor: DescEnum): JsonObject {
  if (descriptor.typeName === "google.protobuf.NullValue") return { type: "null" };
  const names = [...new Set(descriptor.values.map(({ jsonName }) => jsonName))];
  const known: JsonObject = { type: "string", enum: names };
  return descriptor.open
    ? { anyOf: [known, { type: "integer", minimum: -2_147_483_648, maximum: 2_147_483_647 }] }
    : known;
}

/** Whether a message has a JSON form other than an object of its fields. */
function hasOwnJsonForm({ typeName }: DescMessage): boolean {
  return Object.hasOwn(WELL_KNOWN_SCHEMAS, typeName) || WRAPPERS.has(typeName) || typeName === "google.protobuf.Any";
}

const WRAPPERS = new Set(
  ["Double", "Float", "Int64", "UInt64", "Int32", "UInt32", "Bool", "String", "Bytes"].map((name) =>
    `google.protobuf.${name}Value`
  ),
);

/** Whether a message wraps one scalar, which is its JSON form. */
export function isWrapper({ typeName }: DescMessage): boolean {
  return WRAPPERS.has(typeName);
}

/** A `Value` can be anything, which a law reads at run time. */
const ANYTHING: JsonObject = { "x-gate": { dynamic_type: true } };

const WELL_KNOWN_SCHEMAS: Readonly<Record<string, JsonObject>> = {
  "google.protobuf.Timestamp": { type: "string", format: "date-time" },
  "google.protobuf.Duration": { type: "string", pattern: "^-?[0-9]{1,12}(?:\\.[0-9]{1,9})?s$" },
  "google.protobuf.FieldMask": { type: "string" },
  "google.protobuf.Struct": { type: "object" },
  "google.protobuf.ListValue": { type: "array" },
  "google.protobuf.Value": ANYTHING,
};

function wellKnownSchema(describing: Describing, message: DescMessage): JsonObject | null {
  const { typeName } = message;
  if (typeName === "google.protobuf.Any") {
    describing.obstacles.push({ code: "field_any", symbol: typeName, detail: "" });
    return {};
  }
  const [value] = message.fields;
  if (isWrapper(message) && value?.scalar !== undefined) return scalarSchema(value.scalar, false);
  return Object.hasOwn(WELL_KNOWN_SCHEMAS, typeName) ? WELL_KNOWN_SCHEMAS[typeName] ?? null : null;
}
