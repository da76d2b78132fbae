/**
 * Reads `.proto` texts to file descriptors. A library parses the grammar; names are resolved here, because the library's own
 * search also finds names that `protoc` does not see.
 *
 * @module
 */

import { create, fromJson, ScalarType } from "@bufbuild/protobuf";
import {
  type DescriptorProto,
  DescriptorProtoSchema,
  Edition,
  type EnumDescriptorProto,
  EnumDescriptorProtoSchema,
  type FeatureSet,
  FeatureSetSchema,
  type FieldDescriptorProto,
  FieldDescriptorProto_Label,
  FieldDescriptorProto_Type,
  FieldDescriptorProtoSchema,
  FieldOptions_JSType,
  type FileDescriptorProto,
  FileDescriptorProtoSchema,
  OneofDescriptorProtoSchema,
  type ServiceDescriptorProto,
  ServiceDescriptorProtoSchema,
} from "@bufbuild/protobuf/wkt";
import type { Enum, Field, MapField, ReflectionObject, Root, Service, Type } from "protobufjs";
import type { ImportWarningCode } from "../import_result.ts";
import { fullName, isWellKnownPackage, WELL_KNOWN_FILES } from "./descriptors.ts";

type Library = typeof import("protobufjs");

/** One `.proto` text and the path under which others import it. */
export interface ProtoText {
  readonly path: string;
  readonly text: string;
}

/** What an import has to say about its source. */
export interface SourceWarning {
  readonly code: ImportWarningCode;
  /** JSON pointer into the source. */
  readonly pointer: string;
  readonly message: string;
}

/** The descriptors of the texts that can be read. */
export interface SourceFiles {
  readonly files: readonly FileDescriptorProto[];
  readonly warnings: readonly SourceWarning[];
  /** Comments of methods, by `service/method`. */
  readonly comments: ReadonlyMap<string, string>;
}

interface ParsedFile {
  readonly proto: FileDescriptorProto;
  readonly imports: readonly string[];
}

/** Reads texts. A text that cannot be parsed becomes a warning, and the others are read. */
export async function readProtoTexts(texts: readonly ProtoText[]): Promise<SourceFiles> {
  // The package is CommonJS, so its exports are the default export.
  const { default: library } = await import("protobufjs") as unknown as { readonly default: Library };
  const warnings: SourceWarning[] = [];
  const comments = new Map<string, string>();
  const parsed = new Map<string, ParsedFile>();
  for (const [index, text] of texts.entries()) {
    const pointer = `/proto/${index}`;
    if (parsed.has(text.path)) {
      warnings.push({ code: "file_ignored", pointer, message: `A second file has the path "${text.path}"` });
      continue;
    }
    try {
      parsed.set(text.path, parse(library, text, comments));
    } catch (error) {
      const reason = error instanceof Error ? error.message.slice(0, 256) : "the text cannot be parsed";
      warnings.push({
        code: "file_ignored",
        pointer: `${pointer}/text`,
        message: `Cannot read "${text.path}": ${reason}`,
      });
    }
  }
  for (const known of WELL_KNOWN_FILES) parsed.set(known.name, { proto: known, imports: known.dependency });
  const own = [...parsed.values()].filter(({ proto }) => !WELL_KNOWN_FILES.includes(proto));
  const names = namesOf(parsed);
  for (const file of own) {
    warnings.push(...missingImports(parsed, file, texts.findIndex(({ path }) => path === file.proto.name)));
    resolveFile(file.proto, names, visibleFrom(parsed, file.proto.name));
  }
  return { files: own.map(({ proto }) => proto), warnings, comments };
}

function missingImports(parsed: ReadonlyMap<string, ParsedFile>, file: ParsedFile, index: number): SourceWarning[] {
  return file.imports.filter((path) => !parsed.has(path)).map((path) => ({
    code: "import_missing",
    pointer: `/proto/${index}/text`,
    message: `"${file.proto.name}" imports "${path}", which was not given`,
  }));
}

/** The files whose names a file can use: itself and what it imports, directly or not. */
function visibleFrom(parsed: ReadonlyMap<string, ParsedFile>, path: string): ReadonlySet<string> {
  const visible = new Set<string>();
  const waiting = [path];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const file = parsed.get(next);
    if (file === undefined || visible.has(next)) continue;
    visible.add(next);
    waiting.push(...file.imports);
  }
  return visible;
}

function parse(library: Library, { path, text }: ProtoText, comments: Map<string, string>): ParsedFile {
  // The parser drops what has this name without a word.
  if (text.includes("__proto__")) throw new Error('the name "__proto__" is not supported');
  const { package: packageName = "", imports = [], weakImports = [], root } = library.parse(text, {
    keepCase: true,
    alternateCommentMode: true,
  });
  const file = create(FileDescriptorProtoSchema, { name: path, package: packageName });
  const space = packageName === "" ? root : root.lookup(packageName);
  const objects = space === null ? [] : (space as Root).nestedArray;
  setSyntax(file, objects);
  if (isWellKnownPackage(file)) throw new Error(`package "${packageName}" belongs to the well-known types`);
  for (const object of objects) {
    if (isA(object, library.Type)) file.messageType.push(messageOf(library, object, packageName));
    else if (isA(object, library.Enum)) file.enumType.push(enumOf(object));
    else if (isA(object, library.Service)) {
      file.service.push(serviceOf(object));
      for (const method of object.methodsArray) {
        if (typeof method.comment !== "string") continue;
        comments.set(`${fullName(packageName, object.name)}/${method.name}`, method.comment);
      }
    }
  }
  return { proto: file, imports: [...imports, ...weakImports] };
}

/** Whether an object is of a class; the declarations of the library do not let the compiler see it. */
function isA<Kind>(object: unknown, kind: abstract new (...given: never[]) => Kind): object is Kind {
  return object instanceof kind;
}

/** The parser sets the syntax on each object at the top level; a file without objects needs none. */
function setSyntax(file: FileDescriptorProto, objects: readonly ReflectionObject[]): void {
  const syntax: unknown = objects.length === 0 ? "proto3" : Reflect.get(objects[0] ?? {}, "_edition");
  if (syntax === "proto2" || syntax === "proto3") file.syntax = syntax;
  else {
    const edition = Edition[`EDITION_${String(syntax)}` as keyof typeof Edition];
    if (edition === undefined) throw new Error(`syntax "${String(syntax)}" is not known`);
    file.syntax = "editions";
    file.edition = edition;
  }
}

function messageOf(library: Library, type: Type, scope: string): DescriptorProto {
  const name = fullName(scope, type.name);
  const message = create(DescriptorProtoSchema, { name: type.name, ...featuresOf(type) });
  const declared = type.oneofsArray.filter(({ fieldsArray }) => !fieldsArray.some(isProto3Optional));
  message.oneofDecl.push(...declared.map((one) => create(OneofDescriptorProtoSchema, { name: one.name })));
  const groups = new Set(type.nestedArray.filter((one) => Reflect.get(one, "group") === true).map((one) => one.name));
  for (const field of type.fieldsArray) {
    const proto = fieldOf(library, field);
    if (groups.has(field.type)) proto.type = FieldDescriptorProto_Type.GROUP;
    const oneof = declared.findIndex((one) => one.fieldsArray.includes(field));
    if (oneof >= 0) proto.oneofIndex = oneof;
    else if (isProto3Optional(field)) {
      proto.proto3Optional = true;
      proto.oneofIndex = message.oneofDecl.length;
      message.oneofDecl.push(create(OneofDescriptorProtoSchema, { name: `_${field.name}` }));
    }
    if (isA(field, library.MapField)) {
      const entry = entryOf(field);
      message.nestedType.push(entry);
      proto.typeName = `.${name}.${entry.name}`;
    }
    message.field.push(proto);
  }
  for (const nested of type.nestedArray) {
    if (isA(nested, library.Type)) message.nestedType.push(messageOf(library, nested, name));
    else if (isA(nested, library.Enum)) message.enumType.push(enumOf(nested));
  }
  return message;
}

function isProto3Optional(field: Field): boolean {
  return field.options?.["proto3_optional"] === true;
}

/** The message that stands for an entry of a map field, named as `protoc` names it. */
function entryOf(field: MapField): DescriptorProto {
  const camel = `_${field.name}`.replaceAll(/_+([^_])?/g, (_, next: string = "") => next.toUpperCase());
  const label = FieldDescriptorProto_Label.OPTIONAL;
  return create(DescriptorProtoSchema, {
    name: `${camel}Entry`,
    options: { mapEntry: true },
    field: [
      { name: "key", number: 1, label, ...typeOf(field.keyType) },
      { name: "value", number: 2, label, ...typeOf(field.type) },
    ],
  });
}

function fieldOf(library: Library, field: Field): FieldDescriptorProto {
  const isMap = isA(field, library.MapField);
  const label = isMap || field.rule === "repeated"
    ? FieldDescriptorProto_Label.REPEATED
    : field.rule === "required"
    ? FieldDescriptorProto_Label.REQUIRED
    : FieldDescriptorProto_Label.OPTIONAL;
  const jsonName = field.options?.["json_name"];
  const packed = field.options?.["packed"];
  const jstype = FieldOptions_JSType[String(field.options?.["jstype"]) as keyof typeof FieldOptions_JSType];
  const { options } = featuresOf(field);
  return create(FieldDescriptorProtoSchema, {
    name: field.name,
    number: field.id,
    label,
    ...isMap ? { type: FieldDescriptorProto_Type.MESSAGE } : typeOf(field.type),
    ...typeof jsonName === "string" ? { jsonName } : {},
    options: {
      ...options,
      ...typeof packed === "boolean" ? { packed } : {},
      ...jstype === undefined ? {} : { jstype },
    },
  });
}

/** The type of a field as written. A name is resolved when all files are known. */
function typeOf(written: string): { readonly type: FieldDescriptorProto_Type; readonly typeName?: string } {
  const scalar = ScalarType[written.toUpperCase() as keyof typeof ScalarType];
  if (scalar !== undefined && written === written.toLowerCase()) return { type: scalar as number };
  return { type: FieldDescriptorProto_Type.MESSAGE, typeName: written };
}

function enumOf(one: Enum): EnumDescriptorProto {
  const aliased = one.options?.["allow_alias"] === true;
  const { options } = featuresOf(one);
  return create(EnumDescriptorProtoSchema, {
    name: one.name,
    value: Object.entries(one.values).map(([name, number]) => ({ name, number })),
    options: { ...options, ...aliased ? { allowAlias: true } : {} },
  });
}

function serviceOf(service: Service): ServiceDescriptorProto {
  return create(ServiceDescriptorProtoSchema, {
    name: service.name,
    method: service.methodsArray.map((method) => ({
      name: method.name,
      inputType: method.requestType,
      outputType: method.responseType,
      clientStreaming: method.requestStream === true,
      serverStreaming: method.responseStream === true,
    })),
  });
}

/** The features of editions that an object sets, such as `features.field_presence = IMPLICIT`. */
function featuresOf({ options }: ReflectionObject): { options?: { features: FeatureSet } } {
  const given: unknown = options?.["features"];
  if (typeof given !== "object" || given === null) return {};
  // Features of other languages have names in parentheses.
  const set = Object.entries(given).filter(([name]) => /^[a-z_]+$/.test(name)).map((
    [name, one],
  ) => [name, String(one)]);
  return set.length === 0 ? {} : { options: { features: fromJson(FeatureSetSchema, Object.fromEntries(set)) } };
}

/** Every message, enum and package by full name: what it is, and the files that define it. */
type Names = ReadonlyMap<string, { readonly kind: "message" | "enum" | "package"; readonly paths: Set<string> }>;

function namesOf(parsed: ReadonlyMap<string, ParsedFile>): Names {
  const names = new Map<string, { kind: "message" | "enum" | "package"; paths: Set<string> }>();
  const add = (name: string, kind: "message" | "enum" | "package", path: string): void => {
    const known = names.get(name);
    if (known === undefined) names.set(name, { kind, paths: new Set([path]) });
    else known.paths.add(path);
  };
  const addMessage = (message: DescriptorProto, scope: string, path: string): void => {
    const name = fullName(scope, message.name);
    add(name, "message", path);
    for (const one of message.enumType) add(fullName(name, one.name), "enum", path);
    for (const nested of message.nestedType) addMessage(nested, name, path);
  };
  for (const [path, { proto }] of parsed) {
    const parts = proto.package === "" ? [] : proto.package.split(".");
    parts.forEach((_, index) => add(parts.slice(0, index + 1).join("."), "package", path));
    for (const message of proto.messageType) addMessage(message, proto.package, path);
    for (const one of proto.enumType) add(fullName(proto.package, one.name), "enum", path);
  }
  return names;
}

/** Replaces written names by full names. A name that is not found stays, and its methods become candidates with a reason. */
function resolveFile(file: FileDescriptorProto, names: Names, visible: ReadonlySet<string>): void {
  const find = (name: string, scope: string): string => {
    const found = resolveName(name, scope, (full) => {
      const known = names.get(full);
      return known !== undefined && [...known.paths].some((path) => visible.has(path)) ? known.kind : null;
    });
    if (found !== null) return `.${found}`;
    const full = name.replace(/^\./, "");
    // A name that only another file knows must not be found later.
    return names.has(full) ? `.${full} (not imported)` : `.${full}`;
  };
  const resolveMessage = (message: DescriptorProto, scope: string): void => {
    const name = fullName(scope, message.name);
    for (const field of message.field) {
      if (field.typeName === "") continue;
      field.typeName = find(field.typeName, name);
      const kind = names.get(field.typeName.slice(1))?.kind;
      if (kind === "enum") field.type = FieldDescriptorProto_Type.ENUM;
    }
    for (const nested of message.nestedType) resolveMessage(nested, name);
  };
  for (const message of file.messageType) resolveMessage(message, file.package);
  for (const service of file.service) {
    for (const method of service.method) {
      method.inputType = find(method.inputType, fullName(file.package, service.name));
      method.outputType = find(method.outputType, fullName(file.package, service.name));
    }
  }
}

/**
 * The full name that a written name stands for, by the rule of `protoc`: the innermost scope that knows the first part of
 * the name decides.
 */
function resolveName(
  written: string,
  scope: string,
  kindOf: (full: string) => "message" | "enum" | "package" | null,
): string | null {
  const isType = (full: string): boolean => ["message", "enum"].includes(kindOf(full) ?? "");
  if (written.startsWith(".")) return isType(written.slice(1)) ? written.slice(1) : null;
  const first = written.split(".")[0] ?? written;
  for (let at = scope;; at = at.slice(0, Math.max(0, at.lastIndexOf(".")))) {
    const kind = kindOf(fullName(at, first));
    const full = fullName(at, written);
    if (first === written ? isType(full) : kind === "message" || kind === "package") return isType(full) ? full : null;
    if (at === "") return null;
  }
}
