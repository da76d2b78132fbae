/**
 * Protobuf descriptors: an index over files, the closure of a method's types, the files that a profile carries, and the
 * registry that encodes and decodes messages.
 */

import { create, createFileRegistry, type FileRegistry, fromBinary, isFieldSet } from "@bufbuild/protobuf";
import {
  type DescriptorProto,
  DescriptorProtoSchema,
  type EnumDescriptorProto,
  EnumDescriptorProtoSchema,
  type FeatureSet,
  type FieldDescriptorProto,
  FieldDescriptorProto_Type,
  FieldDescriptorProtoSchema,
  FieldOptionsSchema,
  file_google_protobuf_any,
  file_google_protobuf_api,
  file_google_protobuf_descriptor,
  file_google_protobuf_duration,
  file_google_protobuf_empty,
  file_google_protobuf_field_mask,
  file_google_protobuf_source_context,
  file_google_protobuf_struct,
  file_google_protobuf_timestamp,
  file_google_protobuf_type,
  file_google_protobuf_wrappers,
  type FileDescriptorProto,
  FileDescriptorProtoSchema,
  type FileDescriptorSet,
  FileDescriptorSetSchema,
  type ServiceDescriptorProto,
} from "@bufbuild/protobuf/wkt";
import { decodeBase64 } from "../../../canonical/base64.ts";
import { GRPC_LIMITS } from "./limits.ts";
import { checkWire } from "./wire_check.ts";

/** The package of the well-known types. They are always those of the library, whose JSON mapping depends on their fields. */
const WELL_KNOWN_PACKAGE = "google.protobuf";

/** The library checks all names but those of packages. */
const PACKAGE = /^(?:[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*)?$/;

/** The files of the well-known types. */
export const WELL_KNOWN_FILES: readonly FileDescriptorProto[] = [
  file_google_protobuf_any,
  file_google_protobuf_source_context,
  file_google_protobuf_type,
  file_google_protobuf_api,
  file_google_protobuf_descriptor,
  file_google_protobuf_duration,
  file_google_protobuf_empty,
  file_google_protobuf_field_mask,
  file_google_protobuf_struct,
  file_google_protobuf_timestamp,
  file_google_protobuf_wrappers,
].map(({ proto }) => proto);

/** Whether types of a file are reserved for the well-known ones. */
export function isWellKnownPackage(file: FileDescriptorProto): boolean {
  return file.package === WELL_KNOWN_PACKAGE;
}

/** A message or enum at the top level of a file: the smallest part that a profile keeps or drops. */
export interface TopLevelType {
  readonly file: FileDescriptorProto;
  /** Types of one file stand in the profile in this order. */
  readonly order: number;
  /** Its descriptor, which may be built at the first call. */
  readonly content: () => TypeContent;
}

/** The descriptor of a type, or the reason why it has none. */
export type TypeContent =
  | {
    readonly ok: true;
    readonly proto: DescriptorProto | EnumDescriptorProto;
    /** Full names of the types that its fields have. */
    readonly references: readonly string[];
  }
  | { readonly ok: false; readonly message: string };

/** Finds types by full name, nested ones included. */
export interface TypeIndex {
  readonly get: (name: string) => TopLevelType | undefined;
}

/** Indexes the types of the files; the first file that defines a name wins, and `onDuplicate` receives the others. */
export function indexTypes(
  files: readonly FileDescriptorProto[],
  onDuplicate: (file: FileDescriptorProto, name: string) => void,
): TypeIndex {
  const index = new Map<string, TopLevelType>();
  for (const file of files) {
    let order = 0;
    for (const proto of [...file.messageType, ...file.enumType]) {
      const names = namesIn(proto, file.package);
      const known = names.find((name) => index.has(name));
      if (known !== undefined) {
        onDuplicate(file, known);
        continue;
      }
      const content: TypeContent = { ok: true, proto, references: referencesOf(proto) };
      const type: TopLevelType = { file, order: order++, content: () => content };
      for (const name of names) index.set(name, type);
    }
  }
  return index;
}

function isMessage(proto: DescriptorProto | EnumDescriptorProto): proto is DescriptorProto {
  return proto.$typeName === DescriptorProtoSchema.typeName;
}

/** The full names of a type and of those in it. */
function namesIn(proto: DescriptorProto | EnumDescriptorProto, scope: string): string[] {
  const name = fullName(scope, proto.name);
  if (!isMessage(proto)) return [name];
  return [name, ...[...proto.enumType, ...proto.nestedType].flatMap((one) => namesIn(one, name))];
}

/** Full names of the types that the fields of a type have, with those of the types in it. */
function referencesOf(proto: DescriptorProto | EnumDescriptorProto): readonly string[] {
  const references = new Set<string>();
  const visit = ({ field, nestedType }: DescriptorProto): void => {
    for (const one of field) if (isReference(one)) references.add(withoutDot(one.typeName));
    nestedType.forEach(visit);
  };
  if (isMessage(proto)) visit(proto);
  return [...references];
}

/** A name within a package or message. */
export function fullName(scope: string, name: string): string {
  return scope === "" ? name : `${scope}.${name}`;
}

function isReference({ type }: FieldDescriptorProto): boolean {
  return type === FieldDescriptorProto_Type.MESSAGE || type === FieldDescriptorProto_Type.GROUP ||
    type === FieldDescriptorProto_Type.ENUM;
}

/** A type's name as descriptors write it, without its leading dot. */
export function withoutDot(name: string): string {
  return name.startsWith(".") ? name.slice(1) : name;
}

/** Everything that some types refer to, and the names that no file defines. */
export interface Closure {
  readonly types: ReadonlySet<TopLevelType>;
  readonly missing: readonly string[];
  /** Types without a descriptor, and why. */
  readonly faults: readonly { readonly name: string; readonly message: string }[];
}

/** Finds all types that the named ones need. */
export function closureOf(index: TypeIndex, names: Iterable<string>): Closure {
  const types = new Set<TopLevelType>();
  const missing = new Set<string>();
  const faults: { readonly name: string; readonly message: string }[] = [];
  const waiting = [...names];
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    const type = index.get(name);
    if (type === undefined) missing.add(name);
    else if (!types.has(type)) {
      types.add(type);
      const content = type.content();
      if (content.ok) { for (const reference of content.references) waiting.push(reference); }
      else faults.push({ name, message: content.message });
    }
  }
  return { types, missing: [...missing].sort(), faults };
}

/** A method to keep, with its service. */
export interface KeptMethod {
  readonly file: FileDescriptorProto;
  readonly service: string;
  readonly method: ServiceDescriptorProto["method"][number];
}

/**
 * The files with only the types and methods that are needed, in an order in which each follows the files that it
 * depends on. Comments, source positions, extensions and all options without meaning for encoding and JSON are left
 * out.
 *
 * @throws {Error} If the files depend on each other in a circle
 */
export function keepNeeded(index: TypeIndex, methods: readonly KeptMethod[]): FileDescriptorSet {
  const names = methods.flatMap(({ method }) => [withoutDot(method.inputType), withoutDot(method.outputType)]);
  const { types } = closureOf(index, names);
  const files = new Map<FileDescriptorProto, KeptParts>();
  const partsOf = (file: FileDescriptorProto): KeptParts => {
    const known = files.get(file) ?? { types: [], methods: [] };
    files.set(file, known);
    return known;
  };
  for (const one of methods) partsOf(one.file).methods.push(one);
  for (const type of types) partsOf(type.file).types.push(type);
  const dependencies = new Map([...files].map(([file, kept]) => {
    const own = kept.methods.flatMap(({ method }) => [method.inputType, method.outputType]);
    const needed = new Set([...kept.types.flatMap(referencesOfType), ...own.map(withoutDot)]);
    return [file, new Set([...needed].flatMap((name) => index.get(name)?.file ?? []).filter((one) => one !== file))];
  }));
  const file = inOrder(dependencies).map((one) => stripFile(one, partsOf(one), dependencies.get(one) ?? new Set()));
  return create(FileDescriptorSetSchema, { file });
}

/** What a profile keeps of one file. */
interface KeptParts {
  readonly types: TopLevelType[];
  readonly methods: KeptMethod[];
}

function referencesOfType({ content }: TopLevelType): readonly string[] {
  const read = content();
  return read.ok ? read.references : [];
}

type Dependencies = ReadonlyMap<FileDescriptorProto, ReadonlySet<FileDescriptorProto>>;

/** Files by name, each after those that it depends on. */
function inOrder(dependencies: Dependencies): FileDescriptorProto[] {
  const ordered = new Set<FileDescriptorProto>();
  const left = [...dependencies.keys()].sort((a, b) => (a.name < b.name ? -1 : 1));
  while (ordered.size < dependencies.size) {
    const ready = left.find((file) =>
      !ordered.has(file) && [...dependencies.get(file) ?? []].every((one) => ordered.has(one))
    );
    if (ready === undefined) throw new Error("the files import each other in a circle");
    ordered.add(ready);
  }
  return [...ordered];
}

function stripFile(
  file: FileDescriptorProto,
  { types, methods }: KeptParts,
  dependencies: ReadonlySet<FileDescriptorProto>,
): FileDescriptorProto {
  const ordered = types.toSorted((a, b) => a.order - b.order).flatMap(({ content }) => {
    const read = content();
    return read.ok ? [read.proto] : [];
  });
  const byService = Map.groupBy(methods, ({ service }) => service);
  const service = file.service.flatMap(({ name }) => {
    const own = byService.get(fullName(file.package, name)) ?? [];
    const method = own.map(({ method: { name, inputType, outputType } }) => ({ name, inputType, outputType }));
    return method.length === 0 ? [] : [{ name, method }];
  });
  return create(FileDescriptorProtoSchema, {
    name: file.name,
    package: file.package,
    dependency: [...dependencies].map(({ name }) => name).sort(),
    messageType: ordered.filter(isMessage).map(stripMessage),
    enumType: ordered.flatMap((one) => isMessage(one) ? [] : [stripEnum(one)]),
    service,
    syntax: file.syntax,
    ...file.syntax === "editions" ? { edition: file.edition } : {},
    ...withFeatures(file.options),
  });
}

function stripMessage(message: DescriptorProto): DescriptorProto {
  const { name, field, nestedType, enumType, oneofDecl, options } = message;
  return create(DescriptorProtoSchema, {
    name,
    field: field.map(stripField),
    nestedType: nestedType.map(stripMessage),
    enumType: enumType.map(stripEnum),
    oneofDecl: oneofDecl.map((one) => ({ name: one.name, ...withFeatures(one.options) })),
    ...withFeatures(options, options?.mapEntry === true ? { mapEntry: true } : {}),
  });
}

function stripField(field: FieldDescriptorProto): FieldDescriptorProto {
  const { name, number, label, type, typeName, options } = field;
  return create(FieldDescriptorProtoSchema, {
    name,
    number,
    label,
    type,
    jsonName: jsonNameOf(field),
    ...typeName === "" ? {} : { typeName },
    ...isFieldSet(field, FieldDescriptorProtoSchema.field.oneofIndex) ? { oneofIndex: field.oneofIndex } : {},
    ...field.proto3Optional ? { proto3Optional: true } : {},
    ...withFeatures(options, {
      ...options !== undefined && isFieldSet(options, FieldOptionsSchema.field.packed)
        ? { packed: options.packed }
        : {},
      ...options !== undefined && options.jstype !== 0 ? { jstype: options.jstype } : {},
    }),
  });
}

/** The name of a field in JSON. Not every tool that writes descriptors sets it. */
function jsonNameOf({ name, jsonName }: FieldDescriptorProto): string {
  if (jsonName !== "") return jsonName;
  return name.replaceAll(/_+([^_])?/g, (_, next: string = "") => next.toUpperCase());
}

function stripEnum({ name, value, options }: EnumDescriptorProto): EnumDescriptorProto {
  return create(EnumDescriptorProtoSchema, {
    name,
    value: value.map((one) => ({ name: one.name, number: one.number })),
    ...withFeatures(options, options?.allowAlias === true ? { allowAlias: true } : {}),
  });
}

/** The options that decide the encoding: `own` ones and the features of editions. */
function withFeatures<Own extends object>(
  options: { readonly features?: FeatureSet | undefined } | undefined,
  own?: Own,
): { readonly options?: Own & { readonly features?: FeatureSet } } {
  const features = options?.features === undefined ? {} : { features: options.features };
  const kept = { ...own, ...features };
  return Object.keys(kept).length === 0 ? {} : { options: kept as Own };
}

/** A descriptor set, or the reason why it cannot be read. */
export type ReadSet =
  | { readonly ok: true; readonly set: FileDescriptorSet }
  | { readonly ok: false; readonly message: string };

/** Reads the wire form of a descriptor set from outside. Bytes above `maximumBytes` are not read. */
export function readDescriptorSet(bytes: Uint8Array, maximumBytes: number): ReadSet {
  if (bytes.length > maximumBytes) return refused(`expected at most ${maximumBytes} bytes, got ${bytes.length}`);
  const { descriptorValues: values, descriptorMessages: messages, messageDepth: depth } = GRPC_LIMITS;
  const fault = checkWire(FileDescriptorSetSchema, bytes, { values, messages, depth });
  if (fault !== null) return refused(`expected the wire form of a FileDescriptorSet: ${fault}`);
  const set = fromBinary(FileDescriptorSetSchema, bytes, { readUnknownFields: false });
  if (set.file.length > GRPC_LIMITS.files) {
    return refused(`expected at most ${GRPC_LIMITS.files} files, got ${set.file.length}`);
  }
  return { ok: true, set };
}

function refused(message: string): ReadSet {
  return { ok: false, message };
}

/** The descriptors of a profile, ready for calls, or the reason why they cannot be used. */
export type OpenedDescriptors =
  | { readonly ok: true; readonly registry: FileRegistry }
  | { readonly ok: false; readonly message: string };

/** Opens the descriptors that a profile carries. The well-known types become those of the library. */
export function openDescriptors(base64: string): OpenedDescriptors {
  const bytes = decodeBase64(base64);
  if (bytes === null) return { ok: false, message: "expected base64" };
  const read = readDescriptorSet(bytes, GRPC_LIMITS.profileBytes);
  if (!read.ok) return read;
  return openSet(read.set);
}

/** Builds the registry of a set. */
export function openSet(set: FileDescriptorSet): OpenedDescriptors {
  const own = set.file.filter((file) => !isWellKnownPackage(file));
  if (own.some(definesWellKnownName)) return { ok: false, message: `expected no own type in ${WELL_KNOWN_PACKAGE}` };
  const strange = own.find((file) => !PACKAGE.test(file.package));
  if (strange !== undefined) return { ok: false, message: "expected names of packages of letters, digits, _ and ." };
  for (const file of own) file.messageType.forEach(setJsonNames);
  try {
    const file = [...WELL_KNOWN_FILES, ...own];
    return { ok: true, registry: createFileRegistry(create(FileDescriptorSetSchema, { file })) };
  } catch (error) {
    return { ok: false, message: error instanceof Error ? error.message.slice(0, 512) : "the files cannot be read" };
  }
}

/** A message `protobuf` of package `google` has nested types whose full names are those of the well-known types. */
function definesWellKnownName(file: FileDescriptorProto): boolean {
  return file.messageType.some(({ name }) => fullName(file.package, name) === WELL_KNOWN_PACKAGE);
}

function setJsonNames(message: DescriptorProto): void {
  for (const field of message.field) field.jsonName = jsonNameOf(field);
  message.nestedType.forEach(setJsonNames);
}
