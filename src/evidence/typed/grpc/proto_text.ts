/** One `.proto` text as a file descriptor, parsed by protobufjs. Names of types stay as they are written. */

import { create, fromJson, type MessageInitShape } from "@bufbuild/protobuf";
import {
  type DescriptorProtoSchema,
  Edition,
  type EnumDescriptorProtoSchema,
  type FeatureSet,
  FeatureSetSchema,
  FieldDescriptorProto_Label as Label,
  FieldDescriptorProto_Type as FieldType,
  type FieldDescriptorProtoSchema,
  FieldOptions_JSType,
  type FileDescriptorProto,
  FileDescriptorProtoSchema,
  type ServiceDescriptorProtoSchema,
} from "@bufbuild/protobuf/wkt";
import {
  Enum,
  type Field,
  MapField,
  Namespace,
  parse,
  type ReflectionObject,
  Root,
  Service,
  tokenize,
  Type,
} from "protobufjs";
import { fullName } from "./descriptors.ts";
import { GRPC_LIMITS } from "./limits.ts";

/** What is wrong with a text. */
export class ProtoFault extends Error {
  override readonly name = "ProtoFault";
}

/** A text that was read. */
export interface ReadText {
  readonly file: FileDescriptorProto;
  readonly imports: readonly { readonly path: string; readonly isPublic: boolean }[];
  /** Comments of methods, by `service/method` without the package. */
  readonly comments: ReadonlyMap<string, string>;
}

/** What the statements at the top of a text say that the library's result lacks. */
interface Head {
  readonly syntax: string;
  readonly imports: { path: string; isPublic: boolean }[];
}

/** The library copies the features of the file to each of its types. This message, put after the text, shows them. */
const PROBE = "__gate_features_of_the_file";

/** The library drops members of this name. */
const LOST_NAME = "__proto__";

/** @throws {ProtoFault} If the text is not one that `protoc` accepts, or has what the library reads differently */
export function readProtoText(path: string, text: string): ReadText {
  try {
    return readParsed(path, text);
  } catch (error) {
    if (error instanceof ProtoFault) throw error;
    // The library throws errors of many classes, and overflows the stack on deep nesting.
    throw new ProtoFault(error instanceof Error ? error.message : String(error));
  }
}

function readParsed(path: string, text: string): ReadText {
  const { syntax, imports } = readHead(text);
  const root = new Root();
  const options = { keepCase: true, alternateCommentMode: true };
  const { package: space = "" } = parse(`${text}\nmessage ${PROBE} {}`, root, options);
  const scope = space === "" ? root : space.split(".").reduce<Namespace>(innerNamespace, root);
  const probe = scope.get(PROBE);
  if (probe !== null) scope.remove(probe);
  const features = featuresOf(probe);
  const builder: Builder = { syntax, ofFile: features };
  const comments = new Map<string, string>();
  const isEdition = syntax.startsWith("2");
  const file = create(FileDescriptorProtoSchema, {
    name: path,
    package: space,
    dependency: imports.map((one) => one.path),
    syntax: isEdition ? "editions" : syntax === "proto2" ? "" : syntax,
    ...isEdition ? { edition: Edition[`EDITION_${syntax}` as keyof typeof Edition] } : {},
    ...withFeatures(features, {}),
    ...membersOf(scope, builder, space),
    service: scope.nestedArray.filter((one) => one instanceof Service).map((one) => serviceOf(one, comments)),
  });
  return { file, imports, comments };
}

function innerNamespace(outer: Namespace, name: string): Namespace {
  const inner = outer.get(name);
  if (!(inner instanceof Namespace)) throw new ProtoFault(`"${name}" is no package`);
  return inner;
}

/** Visits every token once, and collects the statements outside of braces that say what the file is. */
function readHead(text: string): Head {
  const imports: Head["imports"] = [];
  let syntax = "proto2";
  let depth = 0;
  let statement: string[] = [];
  const countField = fieldCounter();
  const { next } = tokenize(text, false);
  for (let token = next(); token !== null; token = next()) {
    if (token === LOST_NAME) throw new ProtoFault(`the name "${LOST_NAME}" cannot be read`);
    countField(token);
    if (token === "{") depth++;
    else if (token === "}") {
      depth--;
      statement = [];
    } else if (depth > 0) continue;
    else if (token !== ";") statement.push(token);
    else {
      // A text in quotes is three tokens: quote, content, quote.
      const [keyword, second, third, fourth] = statement;
      if (keyword === "import") {
        const isQuoted = second === '"' || second === "'";
        if (second !== "option") {
          imports.push({ path: (isQuoted ? third : fourth) ?? "", isPublic: second === "public" });
        }
      } else if (keyword === "syntax" || keyword === "edition") syntax = fourth ?? "";
      statement = [];
    }
  }
  if (!/^(?:proto2|proto3|20(?:23|24|26))$/.test(syntax)) throw new ProtoFault(`syntax "${syntax}" is not known`);
  if (imports.length > GRPC_LIMITS.imports) throw new ProtoFault(`expected at most ${GRPC_LIMITS.imports} imports`);
  return { syntax, imports };
}

/** The keywords of blocks whose statements are no fields. */
const FIELDLESS: ReadonlySet<string> = new Set(["enum", "service", "rpc", "option"]);

/**
 * Counts the fields of each message, those of its `oneof` included, token by token: the library's time grows with their
 * square.
 *
 * @returns Throws {@link ProtoFault} above the limit
 */
function fieldCounter(): (token: string) => void {
  const blocks: ({ fields: number } | null)[] = [];
  let first = "";
  return (token) => {
    if (token === "{") {
      const block = first === "oneof" ? blocks.at(-1) ?? null : FIELDLESS.has(first) ? null : { fields: 0 };
      blocks.push(block);
    } else if (token === "}") blocks.pop();
    else if (token === ";") {
      const block = blocks.at(-1) ?? null;
      if (block !== null && ++block.fields > GRPC_LIMITS.fields) {
        throw new ProtoFault(`expected at most ${GRPC_LIMITS.fields} fields of a message`);
      }
    } else {
      // Editions say before a declaration who may use it.
      if (first === "" || first === "export" || first === "local") first = token;
      return;
    }
    first = "";
  };
}

/** What the parts of a file depend on. */
interface Builder {
  readonly syntax: string;
  readonly ofFile: FeatureSet | null;
}

type MessageInit = MessageInitShape<typeof DescriptorProtoSchema>;
type EnumInit = MessageInitShape<typeof EnumDescriptorProtoSchema>;
type FieldInit = MessageInitShape<typeof FieldDescriptorProtoSchema>;
type ServiceInit = MessageInitShape<typeof ServiceDescriptorProtoSchema>;

/** The messages and enums of a package. */
function membersOf(
  scope: Namespace,
  builder: Builder,
  name: string,
): { messageType: MessageInit[]; enumType: EnumInit[] } {
  const nested = scope.nestedArray;
  return {
    messageType: nested.filter((one) => one instanceof Type).map((one) => messageOf(one, builder, name)),
    enumType: nested.filter((one) => one instanceof Enum).map((one) => enumOf(one, builder)),
  };
}

function messageOf(type: Type, builder: Builder, scope: string): MessageInit {
  const name = fullName(scope, checkName(type.name));
  const { messageType, enumType } = membersOf(type, builder, name);
  // Where a text extends one of its own messages, the library adds the extension to the fields of the message.
  const fields = type.fieldsArray.filter(({ declaringField }) => declaringField === null);
  const isSynthetic = (oneof: string): boolean => fields.some((one) => one.partOf?.name === oneof && isOptional(one));
  const declared = type.oneofsArray.map((one) => one.name);
  // protoc puts the oneofs of optional fields behind all that the text declares.
  const oneofs = [...declared.filter((one) => !isSynthetic(one)), ...declared.filter(isSynthetic)];
  const empty = type.oneofsArray.find((one) => one.fieldsArray.length === 0);
  if (empty !== undefined) throw new ProtoFault(`expected a field in "${empty.name}"`);
  if (isGroup(type) && builder.syntax !== "proto2") {
    throw new ProtoFault(`expected no group in ${builder.syntax}`);
  }
  return {
    name: type.name,
    field: fields.map((one) => fieldOf(one, oneofs, name)),
    nestedType: [...messageType, ...fields.flatMap((one) => one instanceof MapField ? entryOf(one) : [])],
    enumType,
    oneofDecl: oneofs.map((one) => {
      const found = type.oneofs[one];
      return { name: one, ...withFeatures(found === undefined ? null : featuresOf(found), {}) };
    }),
    ...withFeatures(ownFeatures(type, builder), {}),
  };
}

/** The library's declarations lack the mark of a group. */
function isGroup(one: ReflectionObject | null | undefined): one is Type {
  return one instanceof Type && "group" in one && one.group === true;
}

function isOptional({ options }: Field): boolean {
  return options?.["proto3_optional"] === true;
}

/** The field numbers of protocol buffers: 1 to 2^29 - 1, without a range that belongs to the implementation. */
function checkNumber({ name, id }: Field): number {
  if (id >= 1 && id <= 536_870_911 && !(id >= 19_000 && id <= 19_999)) return id;
  throw new ProtoFault(`expected a number from 1 to 536870911 outside of 19000 to 19999 for "${name}", got ${id}`);
}

function checkName(name: string): string {
  if (name.length > GRPC_LIMITS.nameBytes) {
    throw new ProtoFault(`expected names of at most ${GRPC_LIMITS.nameBytes} characters`);
  }
  return name;
}

const SCALARS: Readonly<Record<string, FieldType>> = Object.fromEntries(
  ["double", "float", "int64", "uint64", "int32", "fixed64", "fixed32", "bool", "string", "bytes", "uint32"]
    .concat(["sfixed32", "sfixed64", "sint32", "sint64"])
    .map((name) => [name, FieldType[name.toUpperCase() as keyof typeof FieldType]]),
);

/** A type as written: that of a name is a message, until its name is found. */
function typeOf(written: string): { type: FieldType; typeName?: string } {
  const scalar = Object.hasOwn(SCALARS, written) ? SCALARS[written] : undefined;
  return scalar === undefined ? { type: FieldType.MESSAGE, typeName: checkName(written) } : { type: scalar };
}

function fieldOf(field: Field, oneofs: readonly string[], scope: string): FieldInit {
  const group = field.parent?.get(field.type);
  const isMap = field instanceof MapField;
  const { options } = field;
  const jsonName = options?.["json_name"];
  const jstype = FieldOptions_JSType[String(options?.["jstype"]) as keyof typeof FieldOptions_JSType];
  const packed = options?.["packed"];
  const own = { ...typeof packed === "boolean" ? { packed } : {}, ...jstype === undefined ? {} : { jstype } };
  return {
    name: isGroup(group) ? group.name.toLowerCase() : checkName(field.name),
    number: checkNumber(field),
    label: field.rule === "required"
      ? Label.REQUIRED
      : isMap || field.rule === "repeated"
      ? Label.REPEATED
      : Label.OPTIONAL,
    ...isMap ? { type: FieldType.MESSAGE, typeName: `.${scope}.${entryName(field)}` } : typeOf(field.type),
    ...isGroup(group) ? { type: FieldType.GROUP } : {},
    ...typeof jsonName === "string" ? { jsonName } : {},
    ...field.partOf === null ? {} : { oneofIndex: oneofs.indexOf(field.partOf.name) },
    ...isOptional(field) ? { proto3Optional: true } : {},
    ...withFeatures(featuresOf(field), own),
  };
}

/** The message that stands for the entries of a map, as `protoc` names and builds it. */
function entryOf(field: MapField): MessageInit {
  const label = Label.OPTIONAL;
  return {
    name: entryName(field),
    field: [
      { name: "key", number: 1, label, ...typeOf(field.keyType) },
      { name: "value", number: 2, label, ...typeOf(field.type) },
    ],
    options: { mapEntry: true },
  };
}

function entryName({ name }: ReflectionObject): string {
  return `${name.replaceAll(/(?:^|_)([^_]?)/g, (_, next: string) => next.toUpperCase())}Entry`;
}

function enumOf(one: Enum, builder: Builder): EnumInit {
  const value = Object.entries(one.values).map(([name, number]) => ({ name: checkName(name), number }));
  if (value.length === 0) throw new ProtoFault(`expected a value in "${one.name}"`);
  if (builder.syntax === "proto3" && value[0]?.number !== 0) {
    throw new ProtoFault(`the first value of "${one.name}" is not zero`);
  }
  const allowAlias = one.options?.["allow_alias"] === true;
  return {
    name: checkName(one.name),
    value,
    ...withFeatures(ownFeatures(one, builder), allowAlias ? { allowAlias } : {}),
  };
}

function serviceOf({ name, methodsArray }: Service, comments: Map<string, string>): ServiceInit {
  const method = methodsArray.map((one) => {
    if (one.comment !== null) comments.set(`${name}/${one.name}`, one.comment);
    return {
      name: checkName(one.name),
      inputType: checkName(one.requestType),
      outputType: checkName(one.responseType),
      clientStreaming: one.requestStream === true,
      serverStreaming: one.responseStream === true,
    };
  });
  return { name: checkName(name), method };
}

/** The features of editions that options set, without those of other languages. */
function featuresOf(one: ReflectionObject | null): FeatureSet | null {
  const given = Object.entries(one?.options?.["features"] ?? {}).filter(([name, value]) =>
    /^[a-z_]+$/.test(name) && typeof value === "string"
  );
  return given.length === 0 ? null : fromJson(FeatureSetSchema, Object.fromEntries(given) as Record<string, string>);
}

/** The features of a type, where they differ from those that the library copied from the file. */
function ownFeatures(one: ReflectionObject, { ofFile }: Builder): FeatureSet | null {
  const features = featuresOf(one);
  return JSON.stringify(features) === JSON.stringify(ofFile) ? null : features;
}

function withFeatures<Own extends object>(
  features: FeatureSet | null,
  own: Own,
): { options?: Own & { features?: FeatureSet } } {
  const options = { ...own, ...features === null ? {} : { features } };
  return Object.keys(options).length === 0 ? {} : { options };
}
