/**
 * The grammar of `.proto` texts. A first pass reads a whole text and notes its types and services alone. A type is built
 * when a method needs it, by reading its part of the text again. So memory follows what is needed, not what was given.
 *
 * @module
 */

import { create, ScalarType } from "@bufbuild/protobuf";
import {
  type DescriptorProto,
  DescriptorProtoSchema,
  Edition,
  type EnumDescriptorProto,
  EnumDescriptorProtoSchema,
  type FieldDescriptorProto,
  FieldDescriptorProto_Label,
  FieldDescriptorProto_Type,
  FieldDescriptorProtoSchema,
  type FileDescriptorProto,
  FileDescriptorProtoSchema,
  OneofDescriptorProtoSchema,
  type ServiceDescriptorProto,
  ServiceDescriptorProtoSchema,
} from "@bufbuild/protobuf/wkt";
import { GRPC_LIMITS } from "./limits.ts";
import { featuresOf, fieldSettings, readBracketed, readOption, type Settings } from "./proto_options.ts";
import { addScope, createScope, fullNameOf, type Scope } from "./proto_scopes.ts";
import {
  advance,
  commentAbove,
  createCursor,
  expectSymbol,
  faultAt,
  isSymbol,
  isWord,
  type ProtoCursor,
  ProtoFault,
  readInteger,
  readName,
  readText,
  readWord,
  takeSymbol,
  takeWord,
} from "./proto_tokens.ts";

/** Counts what an import reads; each may throw to end it. */
export interface ProtoMeter {
  readonly countType: () => void;
  readonly countMethod: () => void;
  /** A statement was read. */
  readonly spend: () => void;
  /** A part of a descriptor was built. */
  readonly countBuilt: () => void;
}

/** What the first pass over a text found. */
export interface ScannedText {
  readonly bytes: Uint8Array;
  /** With its services, and without its types. The types of its methods are as written. */
  readonly file: FileDescriptorProto;
  /** Its declarations, until they get the scope of their package. */
  readonly declared: Scope;
  readonly imports: readonly { readonly path: string; readonly isPublic: boolean }[];
  /** Comments of methods, by `Service/Method`. */
  readonly comments: ReadonlyMap<string, string>;
}

/** The type that a written name stands for. */
export interface ResolvedType {
  /** With a leading dot. */
  readonly typeName: string;
  readonly isEnum: boolean;
}

/** Finds the type that a name stands for. */
type ResolveName = (written: string, scope: Scope) => ResolvedType;

interface Reading {
  readonly cursor: ProtoCursor;
  readonly file: FileDescriptorProto;
  readonly meter: ProtoMeter;
  /** Null in the first pass, which builds no types. */
  readonly resolve: ResolveName | null;
}

const NUMBER_MAXIMUM = 536_870_911;
const ENUM_MINIMUM = -2_147_483_648;
const ENUM_MAXIMUM = 2_147_483_647;

/**
 * Reads a whole text.
 *
 * @throws {ProtoFault} If the text is not in the language
 */
export function scanText(path: string, bytes: Uint8Array, meter: ProtoMeter): ScannedText {
  const file = create(FileDescriptorProtoSchema, { name: path });
  const cursor = createCursor(bytes);
  const reading: Reading = { cursor, file, meter, resolve: null };
  const declared = createScope("", "package");
  const imports: { readonly path: string; readonly isPublic: boolean }[] = [];
  const comments = new Map<string, string>();
  const settings: Settings = new Map();
  readSyntax(reading);
  while (cursor.kind !== "end") {
    meter.spend();
    if (takeSymbol(cursor, ";")) continue;
    if (takeWord(cursor, "import")) {
      const isPublic = takeWord(cursor, "public");
      const isOption = !isPublic && !takeWord(cursor, "weak") && takeWord(cursor, "option");
      const imported = readText(cursor, "the path of a file");
      if (!isOption) imports.push({ path: imported, isPublic });
      if (imports.length > GRPC_LIMITS.imports) throw faultAt(cursor, `at most ${GRPC_LIMITS.imports} imports`);
      expectSymbol(cursor, ";");
    } else if (takeWord(cursor, "package")) {
      if (file.package !== "") throw faultAt(cursor, "one package");
      file.package = readName(cursor, "the name of a package", false);
      if (file.package.split(".").length > GRPC_LIMITS.packageDepth) {
        throw faultAt(cursor, `at most ${GRPC_LIMITS.packageDepth} packages within each other`);
      }
      expectSymbol(cursor, ";");
    } else if (takeWord(cursor, "option")) readOption(cursor, settings);
    else if (takeWord(cursor, "service")) file.service.push(readService(reading, declared, comments));
    else if (takeWord(cursor, "extend")) readExtend(reading, declared, null, 0);
    else if (!takeTypeDeclaration(reading, declared, null, 0)) throw faultAt(cursor, "a declaration");
  }
  const features = featuresOf(cursor, settings);
  if (features !== null) file.options = create(FileDescriptorProtoSchema, { options: { features } }).options;
  return { bytes, file, declared, imports, comments };
}

/**
 * Builds a type at the top level of a text.
 *
 * @throws {ProtoFault} If the type contradicts itself
 */
export function buildType(
  { bytes, file }: ScannedText,
  scope: Scope,
  meter: ProtoMeter,
  resolve: ResolveName,
): DescriptorProto | EnumDescriptorProto {
  const reading: Reading = { cursor: createCursor(bytes, scope.body), file, meter, resolve };
  const built = scope.kind === "enum" ? readEnumBody(reading, scope.name) : readMessageBody(reading, scope, 1);
  if (built === null) throw new Error("Cannot build a type in the first pass");
  return built;
}

function readSyntax({ cursor, file }: Reading): void {
  const isEdition = isWord(cursor, "edition");
  if (!isEdition && !isWord(cursor, "syntax")) return;
  advance(cursor);
  expectSymbol(cursor, "=");
  const at = { ...cursor };
  const value = readText(cursor, isEdition ? "an edition" : "a syntax");
  expectSymbol(cursor, ";");
  if (!isEdition) {
    if (value !== "proto2" && value !== "proto3") throw faultAt(at, '"proto2" or "proto3"');
    file.syntax = value;
    return;
  }
  const edition = /^20[0-9]{2}$/.test(value) ? Edition[`EDITION_${value}` as keyof typeof Edition] : undefined;
  if (edition === undefined) throw faultAt(at, "an edition that is known");
  file.syntax = "editions";
  file.edition = edition;
}

/** Reads a declaration of a message or an enum, if one begins here. */
function takeTypeDeclaration(reading: Reading, scope: Scope, parent: DescriptorProto | null, depth: number): boolean {
  const { cursor, file } = reading;
  // Edition 2024 writes "export" or "local" before a type.
  const isMarked = file.edition >= Edition.EDITION_2024 && (takeWord(cursor, "export") || takeWord(cursor, "local"));
  if (takeWord(cursor, "message")) {
    const message = readMessage(reading, scope, readWord(cursor, "the name of a message"), depth);
    if (message !== null) parent?.nestedType.push(message);
  } else if (takeWord(cursor, "enum")) {
    const one = readEnum(reading, scope);
    if (one !== null) parent?.enumType.push(one);
  } else if (isMarked) throw faultAt(cursor, '"message" or "enum"');
  else return false;
  return true;
}

/** The scope of a declaration whose braces begin here: a new one in the first pass, the known one later. */
function declare({ cursor, file, resolve, meter }: Reading, parent: Scope, name: string, kind: Scope["kind"]): Scope {
  if (!isSymbol(cursor, "{")) throw faultAt(cursor, '"{"');
  const known = parent.children?.get(name);
  if (resolve !== null && known !== undefined) return known;
  meter.countType();
  const scope = createScope(name, kind, file.name, cursor.start);
  if (!addScope(parent, scope)) throw faultAt(cursor, `one declaration of "${name}"`);
  return scope;
}

/** Reads the statements between braces; empty ones are allowed. */
function readBlock({ cursor, meter }: Reading, readStatement: () => void): void {
  expectSymbol(cursor, "{");
  while (!takeSymbol(cursor, "}")) {
    meter.spend();
    if (!takeSymbol(cursor, ";")) readStatement();
  }
}

function readMessage(reading: Reading, parent: Scope, name: string, depth: number): DescriptorProto | null {
  if (depth >= GRPC_LIMITS.declarationDepth) {
    throw faultAt(reading.cursor, `at most ${GRPC_LIMITS.declarationDepth} messages within each other`);
  }
  return readMessageBody(reading, declare(reading, parent, name, "message"), depth + 1);
}

/** Where a field stands. */
interface Place {
  readonly scope: Scope;
  /** Null in the first pass. */
  readonly message: DescriptorProto | null;
  /** Index of the `oneof`; null outside. */
  readonly oneof: number | null;
  readonly isExtension: boolean;
  readonly depth: number;
}

function readMessageBody(reading: Reading, scope: Scope, depth: number): DescriptorProto | null {
  const { cursor } = reading;
  const message = reading.resolve === null ? null : create(DescriptorProtoSchema, { name: scope.name });
  const settings: Settings = new Map();
  const place: Place = { scope, message, oneof: null, isExtension: false, depth };
  readBlock(reading, () => {
    if (takeWord(cursor, "oneof")) readOneof(reading, place);
    else if (takeWord(cursor, "option")) readOption(cursor, settings);
    else if (takeWord(cursor, "extend")) readExtend(reading, scope, message, depth);
    else if (takeWord(cursor, "reserved") || takeWord(cursor, "extensions")) skipRanges(reading);
    else if (!takeTypeDeclaration(reading, scope, message, depth)) readField(reading, place);
  });
  if (message === null) return null;
  const features = featuresOf(cursor, settings);
  if (features !== null) message.options = create(DescriptorProtoSchema, { options: { features } }).options;
  addOptionalOneofs(message);
  checkMessage(message);
  return message;
}

/** A field that is `optional` in proto3 is the only member of a `oneof` of its own, after the written ones. */
function addOptionalOneofs({ field, oneofDecl }: DescriptorProto): void {
  const optional = field.filter((one) => one.proto3Optional);
  if (optional.length === 0) return;
  const taken = new Set([...field, ...oneofDecl].map(({ name }) => name));
  for (const one of optional) {
    let name = `_${one.name}`;
    while (taken.has(name)) name = `X${name}`;
    taken.add(name);
    one.oneofIndex = oneofDecl.push(create(OneofDescriptorProtoSchema, { name })) - 1;
  }
}

function checkMessage({ name, field, oneofDecl, nestedType, enumType }: DescriptorProto): void {
  const names = new Set<string>();
  const enums = enumType.flatMap((one) => [one, ...one.value]);
  for (const part of [...field, ...oneofDecl, ...nestedType, ...enums]) {
    if (names.has(part.name)) throw new ProtoFault(`"${name}" declares "${part.name}" twice`);
    names.add(part.name);
  }
  if (new Set(field.map(({ number }) => number)).size < field.length) {
    throw new ProtoFault(`"${name}" uses a field number twice`);
  }
}

function readOneof(reading: Reading, place: Place): void {
  const { cursor, meter } = reading;
  const name = readWord(cursor, "the name of a oneof");
  const settings: Settings = new Map();
  const index = place.message === null
    ? 0
    : place.message.oneofDecl.push(create(OneofDescriptorProtoSchema, { name })) - 1;
  expectSymbol(cursor, "{");
  let fields = 0;
  for (; !takeSymbol(cursor, "}"); fields++) {
    meter.spend();
    if (takeWord(cursor, "option")) {
      readOption(cursor, settings);
      fields--;
    } else readField(reading, { ...place, oneof: index });
  }
  if (fields === 0) throw faultAt(cursor, `a field in "${name}"`);
  const features = featuresOf(cursor, settings);
  const made = place.message?.oneofDecl[index];
  if (features !== null && made !== undefined) {
    made.options = create(OneofDescriptorProtoSchema, { options: { features } }).options;
  }
}

/** Extensions are no part of the JSON form here; their groups declare types. */
function readExtend(reading: Reading, scope: Scope, message: DescriptorProto | null, depth: number): void {
  const { cursor } = reading;
  readName(cursor, "the name of a message");
  readBlock(reading, () => readField(reading, { scope, message, oneof: null, isExtension: true, depth }));
}

type Label = "optional" | "required" | "repeated" | null;

function readLabel({ cursor, file }: Reading, place: Place): Label {
  const at = { ...cursor };
  const label = (["optional", "required", "repeated"] as const).find((word) => takeWord(cursor, word)) ?? null;
  if (label === null) return null;
  if (place.oneof !== null) throw faultAt(at, "a field of a oneof, without a label");
  if (file.syntax === "editions" && label !== "repeated") throw faultAt(at, "a field without this label");
  if (file.syntax === "proto3" && label === "required") throw faultAt(at, 'a field without "required"');
  return label;
}

function readField(reading: Reading, place: Place): void {
  const { cursor, file } = reading;
  const label = readLabel(reading, place);
  if (takeWord(cursor, "group")) return readGroup(reading, place, label);
  const isMap = label === null && isWord(cursor, "map");
  const written = readName(cursor, "the type of a field");
  if (isMap && isSymbol(cursor, "<")) return readMap(reading, place);
  const isProto2 = file.syntax === "" || file.syntax === "proto2";
  if (isProto2 && label === null && place.oneof === null) throw faultAt(cursor, `a label before "${written}"`);
  const field = readFieldEnd(reading, place, label, typeOf(reading, written, place.scope));
  expectSymbol(cursor, ";");
  if (field !== null) place.message?.field.push(field);
}

/** Reads name, number and options of a field; null in the first pass, and for an extension. */
function readFieldEnd(
  reading: Reading,
  place: Place,
  label: Label,
  type: FieldType,
  name = readWord(reading.cursor, "the name of a field"),
): FieldDescriptorProto | null {
  const { cursor, file, meter } = reading;
  expectSymbol(cursor, "=");
  const at = { ...cursor };
  const number = readInteger(cursor, `a field number from 1 to ${NUMBER_MAXIMUM}`, 1, NUMBER_MAXIMUM);
  if (number >= 19_000 && number <= 19_999) throw faultAt(at, "a field number outside of 19000 to 19999");
  const settings = readBracketed(cursor, reading.meter.spend);
  if (place.message === null || place.isExtension) return null;
  meter.countBuilt();
  const { oneof } = place;
  return create(FieldDescriptorProtoSchema, {
    name,
    number,
    label: LABELS[label ?? "optional"],
    ...type,
    ...oneof === null ? {} : { oneofIndex: oneof },
    ...label === "optional" && file.syntax === "proto3" ? { proto3Optional: true } : {},
    ...fieldSettings(cursor, settings),
  });
}

const LABELS = {
  optional: FieldDescriptorProto_Label.OPTIONAL,
  required: FieldDescriptorProto_Label.REQUIRED,
  repeated: FieldDescriptorProto_Label.REPEATED,
} as const;

interface FieldType {
  readonly type: FieldDescriptorProto_Type;
  readonly typeName?: string;
}

function typeOf({ resolve }: Reading, written: string, scope: Scope): FieldType {
  const scalar = SCALARS.get(written);
  if (scalar !== undefined) return { type: scalar };
  if (resolve === null) return { type: FieldDescriptorProto_Type.MESSAGE };
  const { typeName, isEnum } = resolve(written, scope);
  return { type: isEnum ? FieldDescriptorProto_Type.ENUM : FieldDescriptorProto_Type.MESSAGE, typeName };
}

/** Both enums have the numbers of the specification. */
const SCALARS: ReadonlyMap<string, FieldDescriptorProto_Type> = new Map(
  Object.entries(ScalarType).flatMap(([name, number]) =>
    typeof number === "number" ? [[name.toLowerCase(), number as number as FieldDescriptorProto_Type]] : []
  ),
);

function readGroup(reading: Reading, place: Place, label: Label): void {
  const { cursor, file } = reading;
  if (file.syntax === "proto3" || file.syntax === "editions") throw faultAt(cursor, 'a field without "group"');
  if (label === null && place.oneof === null) throw faultAt(cursor, 'a label before "group"');
  const name = readWord(cursor, "the name of a group");
  const typeName = `.${fullNameOf(place.scope)}.${name}`;
  const type = { type: FieldDescriptorProto_Type.GROUP, typeName };
  const field = readFieldEnd(reading, place, label, type, name.toLowerCase());
  const group = readMessage(reading, place.scope, name, place.depth);
  if (field !== null) place.message?.field.push(field);
  if (group !== null) place.message?.nestedType.push(group);
}

function readMap(reading: Reading, place: Place): void {
  const { cursor, resolve } = reading;
  if (place.oneof !== null || place.isExtension) throw faultAt(cursor, "a field that is not a map");
  expectSymbol(cursor, "<");
  const at = { ...cursor };
  const key = SCALARS.get(readWord(cursor, "a type of keys"));
  if (key === undefined || !MAP_KEYS.has(key)) throw faultAt(at, "an integer, bool or string");
  expectSymbol(cursor, ",");
  const value = typeOf(reading, readName(cursor, "a type of values"), place.scope);
  expectSymbol(cursor, ">");
  const name = readWord(cursor, "the name of a field");
  const entry = `${`_${name}`.replaceAll(/_+([^_])?/g, (_, next: string = "") => next.toUpperCase())}Entry`;
  const typeName = resolve === null ? "" : `.${fullNameOf(place.scope)}.${entry}`;
  const type = { type: FieldDescriptorProto_Type.MESSAGE, typeName };
  const field = readFieldEnd(reading, place, "repeated", type, name);
  expectSymbol(cursor, ";");
  if (field === null) return;
  place.message?.field.push(field);
  const label = FieldDescriptorProto_Label.OPTIONAL;
  place.message?.nestedType.push(create(DescriptorProtoSchema, {
    name: entry,
    options: { mapEntry: true },
    field: [{ name: "key", number: 1, label, type: key }, { name: "value", number: 2, label, ...value }],
  }));
}

const MAP_KEYS: ReadonlySet<FieldDescriptorProto_Type> = new Set(
  [
    "int32",
    "int64",
    "uint32",
    "uint64",
    "sint32",
    "sint64",
    "fixed32",
    "fixed64",
    "sfixed32",
    "sfixed64",
    "bool",
    "string",
  ]
    .flatMap((name) => SCALARS.get(name) ?? []),
);

function readEnum(reading: Reading, parent: Scope): EnumDescriptorProto | null {
  const name = readWord(reading.cursor, "the name of an enum");
  declare(reading, parent, name, "enum");
  return readEnumBody(reading, name);
}

function readEnumBody(reading: Reading, name: string): EnumDescriptorProto | null {
  const { cursor, resolve, meter } = reading;
  const one = resolve === null ? null : create(EnumDescriptorProtoSchema, { name });
  const settings: Settings = new Map();
  let values = 0;
  readBlock(reading, () => {
    if (takeWord(cursor, "option")) readOption(cursor, settings);
    else if (takeWord(cursor, "reserved")) skipRanges(reading);
    else {
      const value = readWord(cursor, "the name of a value");
      expectSymbol(cursor, "=");
      const number = readInteger(cursor, "a number of 32 bits", ENUM_MINIMUM, ENUM_MAXIMUM);
      readBracketed(cursor, reading.meter.spend);
      expectSymbol(cursor, ";");
      values++;
      if (one === null) return;
      meter.countBuilt();
      one.value.push({ $typeName: "google.protobuf.EnumValueDescriptorProto", name: value, number });
    }
  });
  if (values === 0) throw faultAt(cursor, `a value in "${name}"`);
  if (one !== null) finishEnum(reading, one, settings);
  return one;
}

function finishEnum({ cursor, file }: Reading, one: EnumDescriptorProto, settings: Settings): void {
  const { name, value } = one;
  const features = featuresOf(cursor, settings);
  const allowAlias = settings.get("allow_alias") === "true";
  const options = { ...features === null ? {} : { features }, ...allowAlias ? { allowAlias } : {} };
  if (Object.keys(options).length > 0) one.options = create(EnumDescriptorProtoSchema, { options }).options;
  if (new Set(value.map((each) => each.name)).size < value.length) {
    throw new ProtoFault(`"${name}" declares a value twice`);
  }
  if (!allowAlias && new Set(value.map(({ number }) => number)).size < value.length) {
    throw new ProtoFault(`"${name}" uses a number twice, without "allow_alias"`);
  }
  if (file.syntax === "proto3" && value[0]?.number !== 0) {
    throw new ProtoFault(`the first value of "${name}" is not zero`);
  }
}

function readService(reading: Reading, declared: Scope, comments: Map<string, string>): ServiceDescriptorProto {
  const { cursor, meter } = reading;
  const name = readWord(cursor, "the name of a service");
  declare(reading, declared, name, "service");
  const service = create(ServiceDescriptorProtoSchema, { name });
  const names = new Set<string>();
  readBlock(reading, () => {
    if (takeWord(cursor, "option")) return readOption(cursor, new Map());
    if (!isWord(cursor, "rpc")) throw faultAt(cursor, 'a method, which begins with "rpc"');
    meter.countMethod();
    const comment = commentAbove(cursor);
    const method = readMethod(reading);
    if (names.has(method.name)) throw faultAt(cursor, `one method "${method.name}"`);
    names.add(method.name);
    service.method.push(method);
    if (comment !== null) comments.set(`${name}/${method.name}`, comment);
  });
  return service;
}

function readMethod(reading: Reading): ServiceDescriptorProto["method"][number] {
  const { cursor } = reading;
  advance(cursor);
  const name = readWord(cursor, "the name of a method");
  const [inputType, clientStreaming] = readMethodType(cursor);
  if (!takeWord(cursor, "returns")) throw faultAt(cursor, '"returns"');
  const [outputType, serverStreaming] = readMethodType(cursor);
  if (takeSymbol(cursor, "{")) {
    while (!takeSymbol(cursor, "}")) {
      if (takeSymbol(cursor, ";")) continue;
      if (!takeWord(cursor, "option")) throw faultAt(cursor, "an option");
      readOption(cursor, new Map());
    }
  } else expectSymbol(cursor, ";");
  const made = { name, inputType, outputType, clientStreaming, serverStreaming };
  const [method] = create(ServiceDescriptorProtoSchema, { method: [made] }).method;
  if (method === undefined) throw new Error("Cannot create a method");
  return method;
}

function readMethodType(cursor: ProtoCursor): readonly [type: string, isStream: boolean] {
  expectSymbol(cursor, "(");
  const isStream = takeWord(cursor, "stream");
  const type = readName(cursor, "the type of a message");
  expectSymbol(cursor, ")");
  return [type, isStream];
}

/** Skips `1, 3 to 5, "name", name [options];`. */
function skipRanges(reading: Reading): void {
  const { cursor, meter } = reading;
  for (;;) {
    meter.spend();
    takeSymbol(cursor, "-");
    if (cursor.kind === "end" || cursor.kind === "symbol") throw faultAt(cursor, "a number or a name");
    advance(cursor);
    if (takeWord(cursor, "to")) {
      takeSymbol(cursor, "-");
      if (cursor.kind !== "number" && !isWord(cursor, "max")) throw faultAt(cursor, "a number");
      advance(cursor);
    }
    if (!takeSymbol(cursor, ",")) break;
  }
  readBracketed(cursor, reading.meter.spend);
  expectSymbol(cursor, ";");
}
