/** Imports a gRPC service: a contract and a profile from `.proto` texts or a descriptor set. */

import { type DescMethod, type FileRegistry, toBinary } from "@bufbuild/protobuf";
import { type FileDescriptorProto, type FileDescriptorSet, FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { encodeBase64 } from "../../../canonical/base64.ts";
import { canonicalize } from "../../../canonical/canonicalize.ts";
import type { JsonObject } from "../../../canonical/json.ts";
import { utf8Length } from "../../../canonical/utf8.ts";
import type { CheckContract, ProviderContract } from "../../types.ts";
import {
  CALL_LIMITS,
  type CandidateReason,
  candidateReason,
  type CheckIds,
  comparatorsOf,
  createCheckIds,
  createWarningCollector,
  IMPORT_LIMITS,
  type ImportCandidate,
  type ImportOptions,
  type ImportRefusal,
  type ImportResult,
  type ImportSelection,
  refuseImport,
  shortDescription,
  stepsOf,
  type WarningCollector,
} from "../import_result.ts";
import type { GrpcOperation, GrpcProfile } from "../runtime_profile.ts";
import {
  closureOf,
  fullName,
  indexTypes,
  isWellKnownPackage,
  keepNeeded,
  type KeptMethod,
  openSet,
  readDescriptorSet,
  type TypeIndex,
  WELL_KNOWN_FILES,
  withoutDot,
} from "./descriptors.ts";
import { GRPC_LIMITS } from "./limits.ts";
import { describeMessage, describePath, mayBeAbsent, type SchemaObstacle } from "./message_schema.ts";
import { type ProtoText, readProtoTexts, type SourceFiles, type SourceWarning } from "./proto_source.ts";

/** What to import: texts that import each other by their paths, or the wire form of a `FileDescriptorSet`. */
export type GrpcSource =
  | { readonly proto: readonly ProtoText[] }
  | { readonly descriptor_set: Uint8Array<ArrayBuffer> };

interface Importing {
  readonly options: ImportOptions;
  readonly warnings: WarningCollector;
  readonly comments: ReadonlyMap<string, string>;
  readonly index: TypeIndex;
  readonly spend: (steps: number) => void;
}

/** A method of the source, what keeps it from being a check, and its descriptor where nothing does. */
interface FoundMethod extends KeptMethod {
  readonly operation: string;
  readonly reasons: CandidateReason[];
  descriptor: DescMethod | null;
}

/** A visit takes the time of so many steps of an OpenAPI document: their limit comes well before that of the time. */
const STEPS_OF_VISIT = 4;

/**
 * Imports a service. Throws nothing but what `options.spend` throws.
 *
 * @param source The description
 * @param options Names, selection, and the address of the service as `server_url`
 */
export function importGrpc(source: GrpcSource, options: ImportOptions): ImportResult {
  const warnings = createWarningCollector();
  const spend = (visits: number): void => options.spend?.(STEPS_OF_VISIT * visits);
  const read = "proto" in source ? readTexts(source.proto, spend) : readSet(source.descriptor_set, (file, name) => {
    warnings.warn("file_ignored", name, `Another file than "${file.name}" defines "${name}" already`);
  });
  if ("code" in read) return read;
  for (const { code, pointer, message } of read.warnings) warnings.warn(code, pointer, message);
  const importing: Importing = { options, warnings, comments: read.comments, index: read.types, spend };
  const methods = findMethods(importing, read.files);
  if (methods.length > IMPORT_LIMITS.operations) {
    return refuseImport("document_too_complex", `expected at most ${IMPORT_LIMITS.operations} methods`);
  }
  describeMethods(importing, methods);
  return build(importing, methods);
}

interface Endpoint {
  readonly endpoint: string;
  readonly plaintext: boolean;
}

/** Reads `host:port`, with TLS unless it begins with `http://`. */
function readEndpoint(
  given: string | undefined,
  warnings: WarningCollector,
): Endpoint | "server_url_required" | "server_url_invalid" {
  if (given === undefined) return "server_url_required";
  const match = /^(https?:\/\/)?((?:[A-Za-z0-9._-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\]):([1-9][0-9]{0,4}))$/.exec(given);
  if (match === null || Number(match[3]) > 65_535) return "server_url_invalid";
  const plaintext = match[1] === "http://";
  if (plaintext) warnings.warn("server_cleartext", "", `Calls to "${match[2]}" are not encrypted`);
  return { endpoint: match[2] ?? "", plaintext };
}

function readTexts(texts: readonly ProtoText[], spend: (steps: number) => void): SourceFiles | ImportRefusal {
  if (texts.length === 0) return refuseImport("document_invalid", "expected at least one file");
  if (texts.length > GRPC_LIMITS.files) {
    return refuseImport("document_too_complex", `expected at most ${GRPC_LIMITS.files} files, got ${texts.length}`);
  }
  const bytesOf = (text: ProtoText["text"]): number => typeof text === "string" ? utf8Length(text) : text.length;
  const bytes = texts.reduce((sum, { text }) => sum + bytesOf(text), 0);
  if (bytes > GRPC_LIMITS.textBytes) {
    const hint = "a descriptor set may have more";
    return refuseImport("document_too_large", `expected at most ${GRPC_LIMITS.textBytes} bytes, got ${bytes}; ${hint}`);
  }
  const read = readProtoTexts(texts, spend);
  if (read.files.length > 0) return read;
  return refuseImport("document_invalid", read.warnings[0]?.message ?? "no file can be read");
}

function readSet(
  bytes: Uint8Array,
  onDuplicate: (file: FileDescriptorProto, name: string) => void,
): SourceFiles | ImportRefusal {
  const read = readDescriptorSet(bytes, IMPORT_LIMITS.documentBytes);
  if (!read.ok) {
    const isLarge = bytes.length > IMPORT_LIMITS.documentBytes;
    return refuseImport(isLarge ? "document_too_large" : "document_invalid", read.message);
  }
  const warnings: SourceWarning[] = [];
  const files = read.set.file.filter((file) => {
    if (!isWellKnownPackage(file)) return true;
    if (!WELL_KNOWN_FILES.some(({ name }) => name === file.name)) {
      const message = `The package of "${file.name}" belongs to the well-known types`;
      warnings.push({ code: "file_ignored", pointer: "", message });
    }
    return false;
  });
  const types = indexTypes([...WELL_KNOWN_FILES, ...files], onDuplicate);
  return { files, types, warnings, comments: commentsOf(files) };
}

/** The comments of methods in a descriptor set. A path names a file's 6th field, a service, its 2nd field and a method. */
function commentsOf(files: readonly FileDescriptorProto[]): ReadonlyMap<string, string> {
  const comments = new Map<string, string>();
  for (const file of files) {
    for (const { path, leadingComments } of file.sourceCodeInfo?.location ?? []) {
      const [six, service = -1, two, method = -1] = path;
      if (path.length !== 4 || six !== 6 || two !== 2 || leadingComments === "") continue;
      const found = file.service[service];
      const name = found?.method[method]?.name;
      if (found === undefined || name === undefined) continue;
      comments.set(`${fullName(file.package, found.name)}/${name}`, leadingComments);
    }
  }
  return comments;
}

function findMethods({ index, spend }: Importing, files: readonly FileDescriptorProto[]): FoundMethod[] {
  return files.flatMap((file) =>
    file.service.flatMap((service) =>
      service.method.map((method) => {
        const name = fullName(file.package, service.name);
        const operation = `${name}/${method.name}`;
        const reasons: CandidateReason[] = [];
        if (method.clientStreaming || method.serverStreaming) reasons.push(candidateReason("streaming", operation));
        const needed = [withoutDot(method.inputType), withoutDot(method.outputType)];
        const { types, missing, faults } = closureOf(index, needed);
        spend(1 + types.size);
        for (const type of missing.slice(0, REASONS_MAXIMUM)) {
          reasons.push(candidateReason("reference_unresolved", type, `"${type}"`));
        }
        for (const { name, message } of faults.slice(0, REASONS_MAXIMUM)) {
          reasons.push(candidateReason("schema_invalid", name, message));
        }
        return { file, service: name, method, operation, reasons, descriptor: null };
      })
    )
  );
}

/** Sets the descriptors of the methods that have no reason yet. */
function describeMethods(importing: Importing, methods: readonly FoundMethod[]): void {
  const open = methods.filter(({ reasons }) => reasons.length === 0);
  const opened = openNeeded(importing, open);
  if (typeof opened === "string") {
    for (const found of open) found.reasons.push(candidateReason("schema_invalid", found.operation, opened));
    return;
  }
  for (const found of open) {
    const service = opened.getService(found.service);
    found.descriptor = service?.methods.find(({ name }) => name === found.method.name) ?? null;
    if (found.descriptor === null) {
      found.reasons.push(candidateReason("reference_unresolved", found.operation));
      continue;
    }
    found.reasons.push(...reasonsOf(describeMessage(found.descriptor.input, "params", importing.spend).obstacles));
  }
}

function openNeeded({ index }: Importing, methods: readonly KeptMethod[]): FileRegistry | string {
  try {
    const opened = openSet(keepNeeded(index, methods));
    return opened.ok ? opened.registry : opened.message;
  } catch (error) {
    return error instanceof Error ? error.message : "the files cannot be read";
  }
}

/** Reasons of one kind against one method. */
const REASONS_MAXIMUM = 16;

function reasonsOf(obstacles: readonly SchemaObstacle[]): CandidateReason[] {
  return obstacles.slice(0, REASONS_MAXIMUM).map(({ code, symbol, detail }) =>
    candidateReason(code, symbol, detail || `"${symbol}"`)
  );
}

/** The result of one check: its schema, and what keeps it from being used. */
interface DescribedResult {
  readonly schema: JsonObject;
  readonly path: readonly string[] | null;
  readonly reasons: readonly CandidateReason[];
}

function describeResult(
  importing: Importing,
  { operation }: FoundMethod,
  descriptor: DescMethod,
  pointer: string,
): DescribedResult {
  const { spend, warnings } = importing;
  if (pointer === "") {
    const { schema, obstacles } = describeMessage(descriptor.output, "result", spend);
    return { schema, path: null, reasons: [...reasonsOf(obstacles), ...sizeReasons(operation, schema)] };
  }
  const path = stepsOf(pointer) ?? [];
  const described = describePath(descriptor.output, path, spend);
  if (described === undefined) {
    const reason = candidateReason("result_pointer_invalid", descriptor.output.typeName, `"${pointer}"`);
    return { schema: {}, path, reasons: [reason] };
  }
  const last = described.fields.at(-1);
  if (last !== undefined && !mayBeAbsent(last)) {
    const message =
      `A response without "${last.name}" counts as its default value; declare it "optional" to tell them apart`;
    warnings.warn("presence_implicit", `${last.parent.typeName}.${last.name}`, message);
  }
  const reasons = [...reasonsOf(described.obstacles), ...sizeReasons(operation, described.schema)];
  return { schema: described.schema, path, reasons };
}

function sizeReasons(operation: string, schema: JsonObject): readonly CandidateReason[] {
  const bytes = utf8Length(canonicalize(schema));
  if (bytes <= IMPORT_LIMITS.schemaBytes) return [];
  return [candidateReason("schema_too_large", operation, `${bytes} bytes, at most ${IMPORT_LIMITS.schemaBytes}`)];
}

interface MadeCheck {
  readonly found: FoundMethod;
  readonly check: CheckContract;
  readonly operation: GrpcOperation;
}

function build(importing: Importing, methods: readonly FoundMethod[]): ImportResult {
  const { options, warnings } = importing;
  const ids = createCheckIds();
  // Without the schemas, which are as large as the source for each method.
  const results = new Map(methods.map((found) => [found, reasonsOfResult(importing, found)]));
  const candidates = (made: readonly MadeCheck[]): ImportCandidate[] =>
    methods.map((found) => candidateOf(found, results.get(found) ?? [], made));
  const context = (pointer = ""): Partial<ImportRefusal> => ({
    pointer,
    candidates: candidates([]),
    warnings: warnings.warnings,
  });
  const endpoint = readEndpoint(options.server_url, warnings);
  if (typeof endpoint === "string") {
    return refuseImport(endpoint, options.server_url ?? 'name it as "host:port"', context());
  }
  const made = options.selection === undefined
    ? makeAll(importing, methods.filter((found) => found.reasons.length === 0 && results.get(found)?.length === 0), ids)
    : makeSelected(importing, methods, options.selection, ids);
  if (typeof made === "string") return refuseImport("selection_required", made, context());
  if ("detail" in made) return refuseImport("selection_invalid", made.detail, context(made.pointer));
  if (made.length === 0) return refuseImport("no_usable_operation", "", context());
  if (made.length > IMPORT_LIMITS.checks) {
    return refuseImport("selection_required", `${made.length} checks, at most ${IMPORT_LIMITS.checks}`, context());
  }
  const contract = contractOf(options.provider_id, made);
  if (bytesOf(contract) > IMPORT_LIMITS.contractBytes) return refuseImport("selection_required", TOO_LARGE, context());
  const set = keepNeeded(importing.index, [...new Set(made.map(({ found }) => found))]);
  const profile = profileOf(endpoint, made, set);
  if (profile === null) {
    return refuseImport("selection_required", `descriptors of more than ${GRPC_LIMITS.profileBytes} bytes`, context());
  }
  return { ok: true, contract, profile, candidates: candidates(made), warnings: warnings.warnings };
}

/** What a contract has that is larger than one may be. */
const TOO_LARGE = `more than ${IMPORT_LIMITS.contractBytes} bytes`;

function bytesOf(part: ProviderContract | CheckContract): number {
  return utf8Length(canonicalize(part as JsonObject));
}

function reasonsOfResult(importing: Importing, found: FoundMethod): readonly CandidateReason[] {
  return found.descriptor === null ? [] : describeResult(importing, found, found.descriptor, "").reasons;
}

function candidateOf(
  { operation, method, reasons }: FoundMethod,
  ofResult: readonly CandidateReason[],
  made: readonly MadeCheck[],
): ImportCandidate {
  const check = made.find(({ found }) => found.operation === operation)?.check;
  const every = check === undefined ? [...reasons, ...ofResult] : [];
  const all = every.filter((one, index) =>
    every.findIndex(({ code, pointer }) => code === one.code && pointer === one.pointer) === index
  );
  return {
    operation,
    method: method.name,
    usable: all.length === 0,
    check_id: check?.check_id ?? null,
    reasons: all,
  };
}

/** The checks of the usable methods, or why one contract cannot have them all. */
function makeAll(importing: Importing, usable: readonly FoundMethod[], ids: CheckIds): MadeCheck[] | string {
  if (usable.length > IMPORT_LIMITS.checks) return `${usable.length} checks, at most ${IMPORT_LIMITS.checks}`;
  const made: MadeCheck[] = [];
  let bytes = 0;
  for (const found of usable) {
    if (found.descriptor === null) continue;
    const result = describeResult(importing, found, found.descriptor, "");
    const one = makeCheck(importing, found, found.descriptor, result, ids.take(defaultId(found)));
    bytes += bytesOf(one.check);
    if (bytes > IMPORT_LIMITS.contractBytes) return TOO_LARGE;
    made.push(one);
  }
  return made;
}

function defaultId({ service, method }: FoundMethod): string {
  return `${service.slice(service.lastIndexOf(".") + 1)}.${method.name}`;
}

function makeSelected(
  importing: Importing,
  methods: readonly FoundMethod[],
  selection: readonly ImportSelection[],
  ids: CheckIds,
): MadeCheck[] | { readonly pointer: string; readonly detail: string } {
  const made: MadeCheck[] = [];
  for (const [index, selected] of selection.entries()) {
    const pointer = `/selection/${index}`;
    const found = methods.find(({ operation }) => operation === selected.operation.replace(/^\//, ""));
    if (found === undefined) return { pointer: `${pointer}/operation`, detail: `no method "${selected.operation}"` };
    const [reason] = found.reasons;
    if (found.descriptor === null || reason !== undefined) {
      return { pointer: `${pointer}/operation`, detail: reason?.message ?? "the method cannot be a check" };
    }
    const result = describeResult(importing, found, found.descriptor, selected.result_pointer ?? "");
    const [obstacle] = result.reasons;
    if (obstacle !== undefined) return { pointer: `${pointer}/result_pointer`, detail: obstacle.message };
    if (selected.check_id !== undefined && !ids.takeExactly(selected.check_id)) {
      return { pointer: `${pointer}/check_id`, detail: "expected an id of 1 to 256 bytes that no other check has" };
    }
    made.push(makeCheck(importing, found, found.descriptor, result, selected.check_id ?? ids.take(defaultId(found))));
  }
  return made;
}

function makeCheck(
  importing: Importing,
  found: FoundMethod,
  descriptor: DescMethod,
  result: DescribedResult,
  check_id: string,
): MadeCheck {
  const { operation, service, method } = found;
  const params = describeMessage(descriptor.input, "params", importing.spend).schema;
  const check: CheckContract = {
    check_id,
    description: shortDescription(importing.comments.get(operation), `The response of ${operation}.`),
    determinism: "external",
    params_required: Object.hasOwn(params, "required"),
    params_schema: params,
    result_schema: result.schema,
    allowed_comparators: comparatorsOf(result.schema),
    anchor_types: ["grpc_request"],
    content_types: ["application/json"],
    examples: [],
  };
  const source = { operation, pointer: "" };
  return { found, check, operation: { service, method: method.name, result_path: result.path, source } };
}

function contractOf(providerId: string, made: readonly MadeCheck[]): ProviderContract {
  const services = [...new Set(made.map(({ found }) => found.service))];
  return {
    provider_id: providerId,
    name: providerId,
    description: shortDescription(`gRPC: ${services.join(", ")}`, "gRPC"),
    transport: "typed",
    config_schema: { type: "object", additionalProperties: false },
    checks: made.map(({ check }) => check),
    notes: [],
  };
}

function profileOf(
  { endpoint, plaintext }: Endpoint,
  made: readonly MadeCheck[],
  set: FileDescriptorSet,
): GrpcProfile | null {
  const descriptors = toBinary(FileDescriptorSetSchema, set);
  if (descriptors.length > GRPC_LIMITS.profileBytes) return null;
  return {
    profile_version: "1",
    typed_protocol: "grpc",
    endpoint,
    plaintext,
    authority: null,
    tls: { ca: null, client: null },
    credentials: [],
    descriptor_set_base64: encodeBase64(descriptors),
    operations: Object.fromEntries(made.map(({ check, operation }) => [check.check_id, operation])),
    limits: CALL_LIMITS,
  };
}
