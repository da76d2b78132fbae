/**
 * Reads `.proto` texts to file descriptors.
 *
 * @module
 */

import type { FileDescriptorProto } from "@bufbuild/protobuf/wkt";
import type { ImportWarningCode } from "../import_result.ts";
import {
  fullName,
  indexTypes,
  isWellKnownPackage,
  type TopLevelType,
  type TypeContent,
  type TypeIndex,
  WELL_KNOWN_FILES,
  withoutDot,
} from "./descriptors.ts";
import { GRPC_LIMITS } from "./limits.ts";
import { buildType, type ProtoMeter, type ResolvedType, type ScannedText, scanText } from "./proto_grammar.ts";
import { addScope, createScope, findScope, fullNameOf, openPackage, resolveType, type Scope } from "./proto_scopes.ts";
import { ProtoFault } from "./proto_tokens.ts";

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

/** The texts have too many parts. */
export class ProtoExcess extends Error {
  override readonly name = "ProtoExcess";
}

interface Reading {
  readonly root: Scope;
  readonly meter: ProtoMeter;
  readonly warnings: SourceWarning[];
  /** Texts and well-known files by their paths. */
  readonly texts: Map<string, ScannedText>;
  readonly wellKnown: TypeIndex;
  /** The types at the top level of packages that were asked for. */
  readonly types: Map<Scope, TopLevelType>;
  /** The files that have a package, or repeat a type. */
  readonly sharers: Map<Scope, Set<string>>;
}

/**
 * Reads texts. A text that cannot be parsed becomes a warning, and the others are read.
 *
 * @throws {ProtoExcess} If there are too many declarations
 */
export function readProtoTexts(texts: readonly ProtoText[], spend: (steps: number) => void): SourceFiles {
  const reading: Reading = {
    root: createScope("", "package"),
    meter: createMeter(spend),
    warnings: [],
    texts: new Map(),
    wellKnown: indexTypes(WELL_KNOWN_FILES, () => {}),
    types: new Map(),
    sharers: new Map(),
  };
  addWellKnown(reading);
  const own = texts.flatMap(({ path, text }, index) => {
    const scanned = scan(reading, path, typeof text === "string" ? new TextEncoder().encode(text) : text, index);
    return scanned === null ? [] : [{ scanned, index }];
  });
  for (const { scanned } of own) declareTypes(reading, scanned);
  const comments = new Map<string, string>();
  for (const { scanned, index } of own) {
    warnOfMissing(reading, scanned, index);
    resolveMethods(reading, scanned);
    for (const [name, comment] of scanned.comments) comments.set(fullName(scanned.file.package, name), comment);
  }
  const types: TypeIndex = { get: (name) => reading.wellKnown.get(name) ?? typeAt(reading, name) };
  return { files: own.map(({ scanned }) => scanned.file), types, warnings: reading.warnings, comments };
}

function createMeter(spend: (steps: number) => void): ProtoMeter {
  const counter = (maximum: number, what: string): () => void => {
    let left = maximum;
    return () => {
      if (--left < 0) throw new ProtoExcess(`expected at most ${maximum} ${what}`);
    };
  };
  return {
    spend: () => spend(1),
    countType: counter(GRPC_LIMITS.declaredTypes, "messages, enums and services"),
    countMethod: counter(GRPC_LIMITS.declaredMethods, "methods"),
    countBuilt: counter(GRPC_LIMITS.neededParts, "fields and enum values in what the methods need"),
  };
}

function addWellKnown({ root, texts, sharers }: Reading): void {
  for (const file of WELL_KNOWN_FILES) {
    const declared = openPackage(root, file.package);
    if (declared === null) continue;
    const imports = file.dependency.map((path) => ({ path, isPublic: false }));
    texts.set(file.name, { bytes: new Uint8Array(0), file, declared, imports, comments: new Map() });
    for (const { name } of file.messageType) addScope(declared, createScope(name, "message", file.name));
    for (const { name } of file.enumType) addScope(declared, createScope(name, "enum", file.name));
    noteSharer(sharers, declared, file.name);
  }
}

/** Notes that a file has a package, and so every package around it; or that it repeats a type. */
function noteSharer(sharers: Map<Scope, Set<string>>, scope: Scope, path: string): void {
  for (let at: Scope | null = scope; at !== null && (at === scope || at.kind === "package"); at = at.parent) {
    const known = sharers.get(at);
    if (known === undefined) sharers.set(at, new Set([path]));
    else known.add(path);
  }
}

function scan(reading: Reading, path: string, bytes: Uint8Array, index: number): ScannedText | null {
  const { meter, warnings, texts } = reading;
  const known = texts.get(path);
  if (known !== undefined && !isWellKnownPackage(known.file)) {
    const message = `A second file has the path "${path}"`;
    warnings.push({ code: "file_ignored", pointer: `/proto/${index}`, message });
    return null;
  }
  try {
    const scanned = scanText(path, bytes, meter);
    if (isWellKnownPackage(scanned.file)) {
      throw new ProtoFault(`package "${scanned.file.package}" belongs to the well-known types`);
    }
    texts.set(path, scanned);
    return scanned;
  } catch (error) {
    if (!(error instanceof ProtoFault)) throw error;
    const message = `Cannot read "${path}": ${error.message.slice(0, 256)}`;
    warnings.push({ code: "file_ignored", pointer: `/proto/${index}/text`, message });
    return null;
  }
}

/** Puts the declarations of a text into its package. What another text declared before is left out with a warning. */
function declareTypes(reading: Reading, scanned: ScannedText): void {
  const { root, sharers, warnings } = reading;
  const { file, declared } = scanned;
  const scope = openPackage(root, file.package);
  if (scope !== null) noteSharer(sharers, scope, file.name);
  for (const child of declared.children?.values() ?? []) {
    const name = fullName(file.package, child.name);
    if (scope !== null && addScope(scope, child)) continue;
    const known = scope?.children?.get(child.name);
    if (known?.kind === child.kind) noteSharer(sharers, known, file.name);
    file.service = file.service.filter((one) => child.kind !== "service" || one.name !== child.name);
    // The scope of its methods and of its types.
    child.parent = scope ?? root;
    const message = `Another file than "${file.name}" defines "${name}" already`;
    warnings.push({ code: "file_ignored", pointer: name, message });
  }
}

function warnOfMissing({ texts, warnings }: Reading, { file, imports }: ScannedText, index: number): void {
  for (const { path } of imports) {
    if (texts.has(path)) continue;
    const message = `"${file.name}" imports "${path}", which was not given`;
    warnings.push({ code: "import_missing", pointer: `/proto/${index}/text`, message });
  }
}

/** A type that is built when it is needed first. */
function lazyType(reading: Reading, scanned: ScannedText, scope: Scope): TopLevelType {
  let content: TypeContent | null = null;
  return {
    file: scanned.file,
    order: scope.body,
    content: () => content ??= buildContent(reading, scanned, scope),
  };
}

function buildContent(reading: Reading, scanned: ScannedText, scope: Scope): TypeContent {
  try {
    const resolve = resolverOf(reading, scanned);
    /** Without the entries of maps and the groups, which are parts of the type. */
    const references = new Set<string>();
    const proto = buildType(scanned, scope, reading.meter, (written, from) => {
      const resolved = resolve(written, from);
      references.add(withoutDot(resolved.typeName));
      return resolved;
    });
    return { ok: true, proto, references: [...references] };
  } catch (error) {
    if (!(error instanceof ProtoFault)) throw error;
    return { ok: false, message: error.message };
  }
}

function resolveMethods(reading: Reading, scanned: ScannedText): void {
  const resolve = resolverOf(reading, scanned);
  const { file: { service }, declared } = scanned;
  for (const one of service) {
    const scope = declared.children?.get(one.name) ?? declared;
    for (const method of one.method) {
      method.inputType = resolve(method.inputType, scope).typeName;
      method.outputType = resolve(method.outputType, scope).typeName;
    }
  }
}

/** Resolves the names in a text. A name that is not found stays, and its methods become candidates with a reason. */
function resolverOf(reading: Reading, scanned: ScannedText): (written: string, scope: Scope) => ResolvedType {
  const { root, sharers } = reading;
  const visible = visibleFrom(reading, scanned);
  const seen = new Map<Scope, boolean>();
  const sees = (scope: Scope): boolean => {
    let top = scope;
    while (top.kind !== "package" && top.parent !== null && top.parent.kind !== "package") top = top.parent;
    if (visible.has(top.path)) return true;
    const known = seen.get(top);
    if (known !== undefined) return known;
    const found = [...sharers.get(top) ?? []].some((path) => visible.has(path));
    seen.set(top, found);
    return found;
  };
  /** Texts use the same names again and again. */
  const known = new Map<Scope, Map<string, ResolvedType>>();
  return (written, scope) => {
    const inScope = known.get(scope) ?? new Map<string, ResolvedType>();
    known.set(scope, inScope);
    const type = inScope.get(written) ?? resolve(written, scope);
    inScope.set(written, type);
    return type;
  };
  function resolve(written: string, scope: Scope): ResolvedType {
    const found = resolveType(written, scope, root, sees);
    if (found !== undefined) return { typeName: `.${fullNameOf(found)}`, isEnum: found.kind === "enum" };
    const name = withoutDot(written);
    // A name that only another file knows must not be found later.
    return { typeName: findScope(root, name) === undefined ? `.${name}` : `.${name} (not imported)`, isEnum: false };
  }
}

/** The files whose names a file can use: itself, what it imports, and what these import publicly. */
function visibleFrom({ texts }: Reading, { file, imports }: ScannedText): ReadonlySet<string> {
  const visible = new Set<string>();
  const waiting = imports.map(({ path }) => path);
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (visible.has(path)) continue;
    visible.add(path);
    for (const one of texts.get(path)?.imports ?? []) if (one.isPublic) waiting.push(one.path);
  }
  return visible.add(file.name);
}

/** The type at the top level of a package to which a type with this full name belongs. */
function typeAt(reading: Reading, name: string): TopLevelType | undefined {
  const { root, texts, types } = reading;
  let scope: Scope | undefined = root;
  let top: Scope | undefined;
  for (const part of name.split(".")) {
    scope = scope.children?.get(part);
    if (scope === undefined || scope.kind === "service") return undefined;
    if (scope.kind !== "package") top ??= scope;
  }
  const scanned = texts.get(top?.path ?? "");
  if (top === undefined || scanned === undefined) return undefined;
  const type = types.get(top) ?? lazyType(reading, scanned, top);
  types.set(top, type);
  return type;
}
