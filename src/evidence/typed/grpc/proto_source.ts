/** Reads `.proto` texts that import each other to file descriptors. */

import {
  type DescriptorProto,
  type FieldDescriptorProto,
  FieldDescriptorProto_Type,
  type FileDescriptorProto,
} from "@bufbuild/protobuf/wkt";
import type { ImportWarningCode } from "../import_result.ts";
import {
  fullName,
  indexTypes,
  isWellKnownPackage,
  type TypeIndex,
  WELL_KNOWN_FILES,
  withoutDot,
} from "./descriptors.ts";
import { ProtoFault, readProtoText, type ReadText } from "./proto_text.ts";

/** One `.proto` text and the path under which others import it. */
export interface ProtoText {
  readonly path: string;
  /** Its UTF-8 form, or the text itself. */
  readonly text: Uint8Array<ArrayBuffer> | string;
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
  /** With the services of each; `types` has what they refer to. */
  readonly files: readonly FileDescriptorProto[];
  readonly types: TypeIndex;
  readonly warnings: readonly SourceWarning[];
  /** Comments of methods, by `service/method`. */
  readonly comments: ReadonlyMap<string, string>;
}

/** A package or declaration, and the files that have it. */
interface Symbol {
  readonly kind: "package" | "service" | "message" | "enum";
  readonly files: Set<string>;
}

interface Reading {
  readonly texts: Map<string, ReadText>;
  readonly symbols: Map<string, Symbol>;
  readonly warnings: SourceWarning[];
}

/** Reads texts. A text that cannot be parsed becomes a warning, and the others are read. */
export function readProtoTexts(texts: readonly ProtoText[], spend: (steps: number) => void): SourceFiles {
  const reading: Reading = { texts: new Map(), symbols: new Map(), warnings: [] };
  for (const file of WELL_KNOWN_FILES) {
    const imports = file.dependency.map((path) => ({ path, isPublic: false }));
    reading.texts.set(file.name, { file, imports, comments: new Map() });
    declare(reading, file);
  }
  const own = texts.flatMap((text, index) => {
    const read = readText(reading, text, index);
    return read === null ? [] : [{ read, index }];
  });
  for (const { read } of own) declare(reading, read.file);
  const comments = new Map<string, string>();
  for (const { read, index } of own) {
    for (const { path } of read.imports) {
      if (reading.texts.has(path)) continue;
      const message = `"${read.file.name}" imports "${path}", which was not given`;
      reading.warnings.push({ code: "import_missing", pointer: `/proto/${index}/text`, message });
    }
    resolveNames(reading, read, spend);
    for (const [name, comment] of read.comments) comments.set(fullName(read.file.package, name), comment);
  }
  const files = own.map(({ read }) => read.file);
  const types = indexTypes([...WELL_KNOWN_FILES, ...files], (file, name) => warnOfSecond(reading, file, name));
  return { files, types, warnings: reading.warnings, comments };
}

function warnOfSecond({ warnings }: Reading, file: FileDescriptorProto, name: string): void {
  const message = `Another file than "${file.name}" defines "${name}" already`;
  warnings.push({ code: "file_ignored", pointer: name, message });
}

function readText({ texts, warnings }: Reading, { path, text }: ProtoText, index: number): ReadText | null {
  const known = texts.get(path);
  if (known !== undefined && !isWellKnownPackage(known.file)) {
    warnings.push({
      code: "file_ignored",
      pointer: `/proto/${index}`,
      message: `A second file has the path "${path}"`,
    });
    return null;
  }
  try {
    const read = readProtoText(path, typeof text === "string" ? text : decode(text));
    if (isWellKnownPackage(read.file)) {
      throw new ProtoFault(`package "${read.file.package}" belongs to the well-known types`);
    }
    texts.set(path, read);
    return read;
  } catch (error) {
    if (!(error instanceof ProtoFault)) throw error;
    const message = `Cannot read "${path}": ${error.message.slice(0, 256)}`;
    warnings.push({ code: "file_ignored", pointer: `/proto/${index}/text`, message });
    return null;
  }
}

function decode(bytes: Uint8Array<ArrayBuffer>): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new ProtoFault("expected UTF-8");
  }
}

/** Adds a file's packages and declarations. A second service of one name is left out; second types are left to the index. */
function declare(reading: Reading, file: FileDescriptorProto): void {
  const add = (name: string, kind: Symbol["kind"]): boolean => {
    const known = reading.symbols.get(name);
    if (known === undefined) reading.symbols.set(name, { kind, files: new Set([file.name]) });
    else known.files.add(file.name);
    return known === undefined;
  };
  const parts = file.package === "" ? [] : file.package.split(".");
  parts.forEach((_, index) => add(parts.slice(0, index + 1).join("."), "package"));
  const addMessage = (message: DescriptorProto, scope: string): void => {
    const name = fullName(scope, message.name);
    add(name, "message");
    for (const one of message.enumType) add(fullName(name, one.name), "enum");
    for (const one of message.nestedType) addMessage(one, name);
  };
  for (const one of file.messageType) addMessage(one, file.package);
  for (const one of file.enumType) add(fullName(file.package, one.name), "enum");
  file.service = file.service.filter((one) => {
    const name = fullName(file.package, one.name);
    const isFirst = add(name, "service");
    if (!isFirst) warnOfSecond(reading, file, name);
    return isFirst;
  });
}

/**
 * Puts full names in the place of written ones. A name that is not found stays, and its methods become candidates with
 * a reason.
 */
function resolveNames(reading: Reading, read: ReadText, spend: (steps: number) => void): void {
  const { file } = read;
  const visible = visibleFrom(reading, read);
  const resolve = (written: string, scope: string): { name: string; isEnum: boolean } => {
    spend(1);
    const found = resolveType(reading.symbols, visible, written, scope);
    if (found !== undefined) return { name: `.${found}`, isEnum: reading.symbols.get(found)?.kind === "enum" };
    const name = withoutDot(written);
    // A name that only another file knows must not be found later.
    return { name: reading.symbols.has(name) ? `.${name} (not imported)` : `.${name}`, isEnum: false };
  };
  const resolveField = (field: FieldDescriptorProto, scope: string): void => {
    spend(1);
    if (field.typeName === "") return;
    const { name, isEnum } = resolve(field.typeName, scope);
    field.typeName = name;
    if (isEnum) field.type = FieldDescriptorProto_Type.ENUM;
  };
  const visit = (message: DescriptorProto, scope: string): void => {
    const name = fullName(scope, message.name);
    for (const field of message.field) resolveField(field, name);
    for (const one of message.nestedType) visit(one, name);
  };
  for (const message of file.messageType) visit(message, file.package);
  for (const service of file.service) {
    for (const method of service.method) {
      method.inputType = resolve(method.inputType, fullName(file.package, service.name)).name;
      method.outputType = resolve(method.outputType, fullName(file.package, service.name)).name;
    }
  }
}

/**
 * The full name of the type that a written name stands for, by the rule of `protoc`: the innermost scope that knows the
 * first part of the name decides, and of a name without dots only types count.
 */
function resolveType(
  symbols: ReadonlyMap<string, Symbol>,
  visible: ReadonlySet<string>,
  written: string,
  scope: string,
): string | undefined {
  const find = (name: string): Symbol | undefined => {
    const symbol = symbols.get(name);
    return symbol !== undefined && !visible.isDisjointFrom(symbol.files) ? symbol : undefined;
  };
  const typeAt = (name: string): string | undefined => {
    const kind = find(name)?.kind;
    return kind === "message" || kind === "enum" ? name : undefined;
  };
  if (written.startsWith(".")) return typeAt(written.slice(1));
  const [first = ""] = written.split(".", 1);
  for (let at = scope;; at = at.slice(0, Math.max(0, at.lastIndexOf(".")))) {
    const isKnown = find(fullName(at, first)) !== undefined;
    if (isKnown && first !== written) return typeAt(fullName(at, written));
    const found = isKnown ? typeAt(fullName(at, first)) : undefined;
    if (found !== undefined || at === "") return found;
  }
}

/** The files whose names a file can use: itself, what it imports, and what these import publicly. */
function visibleFrom({ texts }: Reading, { file, imports }: ReadText): ReadonlySet<string> {
  const visible = new Set<string>([file.name]);
  const waiting = imports.map(({ path }) => path);
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (visible.has(path)) continue;
    visible.add(path);
    for (const one of texts.get(path)?.imports ?? []) if (one.isPublic) waiting.push(one.path);
  }
  return visible;
}
