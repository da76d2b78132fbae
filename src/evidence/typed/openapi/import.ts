/**
 * Imports an OpenAPI 3.0 or 3.1 document: every operation that can be asked becomes a check of a contract, and its
 * request a part of the runtime profile.
 */

import { isJsonObject, type JsonValue, member } from "../../../canonical/json.ts";
import { utf8Length } from "../../../canonical/utf8.ts";
import { compileSchema } from "../../json_schema/compile.ts";
import type { CheckContract, ProviderContract } from "../../types.ts";
import {
  CALL_LIMITS,
  type CandidateReason,
  candidateReason,
  type CheckIds,
  comparatorsOf,
  createCheckIds,
  IMPORT_LIMITS,
  type ImportCandidate,
  type ImportOptions,
  type ImportRefusal,
  type ImportResult,
  type ImportSelection,
  refuseImport,
  shortDescription,
  stepsOf,
} from "../import_result.ts";
import type { HttpOperation, OpenApiHttpProfile } from "../runtime_profile.ts";
import { PROFILE_LIMITS, PROFILE_PATTERNS } from "../runtime_profile.ts";
import { CandidateFault, type OpenApiDocument, openDocument, pointerAt } from "./document.ts";
import { baseUrl, isRelative, type ListedOperation, listOperations, pathReason, serverOf } from "./operations.ts";
import { type OperationPlace, readRequest, type RequestContext, type RequestParts } from "./parameters.ts";
import { readResult, type ResultPart } from "./responses.ts";
import { createSchemaConverter, finishSchema, isDeeper, patternsAreLarge, sizeBound } from "./schema.ts";
import { createSchemaFacts, isUntyped, schemaAt, withTypes } from "./schema_facts.ts";
import { warnOfCredentials } from "./security.ts";

/** The methods that a check may use; `GET` alone without a selection by name. */
const USABLE_METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"];
const SAFE_METHODS = ["GET", "HEAD"];

/** A document while it is imported. */
interface Import {
  readonly document: OpenApiDocument;
  readonly options: ImportOptions;
  readonly request: Omit<RequestContext, "isSelected">;
  readonly result: Omit<RequestContext, "isSelected">;
  /** The server that the operations share; null where the document gives none. */
  readonly server: string | null;
}

/** One operation with what became of it. */
interface Row {
  readonly listed: ListedOperation;
  readonly parts: Parts | readonly CandidateReason[];
}

/** Request and response of an operation that can be a check. */
interface Parts {
  readonly place: OperationPlace;
  readonly request: RequestParts;
  readonly result: ResultPart;
}

/** A check to be: an operation, its id and the pointer to its result. */
interface Planned {
  readonly row: Row;
  readonly parts: Parts;
  readonly check_id: string;
  readonly result_pointer: string | null;
  /** Index in the selection; null without one. */
  readonly index: number | null;
}

/**
 * Imports an OpenAPI document. The result depends on the document and the options alone, and no document makes it
 * throw.
 *
 * @param document The document as read from JSON or YAML
 * @param options What to import; `spend` may throw to end the import
 */
export function importOpenApi(document: JsonValue, options: ImportOptions): ImportResult {
  const opened = openDocument(document, options.spend ?? ((): void => {}));
  if (opened === null) return refuseImport("document_unsupported", 'Expected "openapi" with a version 3.0.x or 3.1.x');
  const operations = listOperations(opened);
  if (operations === null) {
    return refuseImport("document_too_complex", `more than ${IMPORT_LIMITS.operations} operations`);
  }
  const requests = createSchemaConverter(opened, "request");
  const results = createSchemaConverter(opened, "response");
  const current: Import = {
    document: opened,
    options,
    request: { document: opened, converter: requests, facts: createSchemaFacts(requests), known: new Map() },
    result: { document: opened, converter: results, facts: createSchemaFacts(results), known: new Map() },
    server: serverOf(opened, opened.root, null),
  };
  const selected = new Set(options.selection?.map(({ operation }) => operation));
  return conclude(current, operations.map((listed) => readRow(current, listed, selected)));
}

/** Reads one operation; what the import does not support becomes a reason. */
function readRow(current: Import, listed: ListedOperation, selected: ReadonlySet<string>): Row {
  const isSelected = selected.has(listed.name) || selected.has(listed.methodAndPath);
  const { place } = listed;
  if ("code" in place) return { listed, parts: [place] };
  const method = methodReason(place, isSelected);
  // The rest of an operation that only a selection makes a check is read once it is selected.
  if (method !== null) return { listed, parts: [method] };
  const reasons = [...placeReasons(current, place)];
  const attempt = <T>(read: () => T): T | null => {
    try {
      return read();
    } catch (error) {
      if (error instanceof CandidateFault) reasons.push(error.reason);
      // A stack overflow: references in place can be chained as long as the document is.
      else if (error instanceof RangeError) {
        reasons.push(candidateReason("schema_too_deep", pointerAt(place.operation.path)));
      } else throw error;
      return null;
    }
  };
  const request = attempt(() => readRequest({ ...current.request, isSelected }, place));
  const result = attempt(() => readResult({ ...current.result, isSelected }, place));
  if (result !== null) attempt(() => finishSchema(current.result.converter, result.schema, result.path));
  if (request === null || result === null || reasons.length > 0) return { listed, parts: reasons };
  return { listed, parts: { place, request, result } };
}

function methodReason({ method, operation: { path } }: OperationPlace, isSelected: boolean): CandidateReason | null {
  if (!USABLE_METHODS.includes(method)) return candidateReason("method_unsupported", pointerAt(path), method);
  if (isSelected || SAFE_METHODS.includes(method)) return null;
  return candidateReason("method_not_selected", pointerAt(path));
}

function placeReasons(current: Import, place: OperationPlace): readonly CandidateReason[] {
  const { pathItem, operation } = place;
  const pointer = pointerAt(operation.path);
  const reasons: CandidateReason[] = [];
  const path = pathReason(place, isTemplate);
  if (path !== null || pointer.length > PROFILE_LIMITS.pointerBytes) {
    reasons.push(path ?? candidateReason("path_invalid", pointer.slice(0, PROFILE_LIMITS.pointerBytes), "too long"));
  }
  for (const { value, path: at } of [operation, pathItem]) {
    const own = serverOf(current.document, value, at);
    if (own === null) continue;
    if (own !== current.server) reasons.push(candidateReason("server_differs", pointerAt(at), own));
    break;
  }
  return reasons;
}

const PATH_TEMPLATE = new RegExp(PROFILE_PATTERNS.pathTemplate, "u");

function isTemplate(template: string): boolean {
  return template.length <= PROFILE_LIMITS.pathCharacters && PATH_TEMPLATE.test(template);
}

/** Makes the contract, or the refusal, and adds what was found on the way. */
function conclude(current: Import, rows: readonly Row[]): ImportResult {
  const planned = planOf(current, rows);
  const made = "code" in planned ? planned : assemble(current, rows, planned);
  const warnings = current.document.warnings.warnings;
  if ("code" in made) return { ...made, candidates: rows.map((row) => candidateOf(row)), warnings };
  const { contract, profile, faults } = made;
  const ids = new Map(made.planned.toReversed().map(({ row, check_id }) => [row, check_id] as const));
  return { ok: true, contract, profile, candidates: rows.map((row) => candidateOf(row, ids, faults)), warnings };
}

/** The checks to make, or the refusal. */
function planOf(current: Import, rows: readonly Row[]): readonly Planned[] | ImportRefusal {
  const { selection } = current.options;
  const planned = selection === undefined ? planAll(rows) : planSelection(current, rows, selection);
  if ("code" in planned) return planned;
  if (planned.length === 0) return refuseImport("no_usable_operation", `${rows.length} operations`);
  if (planned.length <= IMPORT_LIMITS.checks) return planned;
  return refuseImport("selection_required", `${planned.length} are usable, and ${IMPORT_LIMITS.checks} fit`);
}

function baseOf({ document, options, server }: Import): ImportRefusal | { readonly url: string } {
  const given = options.server_url ?? server;
  if (given === null || (options.server_url === undefined && isRelative(given))) {
    const detail = given === null ? 'Expected "servers", or a server URL' : `Expected a server URL, got "${given}"`;
    return refuseImport("server_url_required", detail, { pointer: "/servers/0/url" });
  }
  const url = baseUrl(given);
  const expected = "an http or https URL in ASCII without user information, query and fragment";
  // The address may have a password in it, so the message does not repeat it.
  if (url === null) return refuseImport("server_url_invalid", `Expected ${expected}`);
  if (url.startsWith("http:")) {
    document.warnings.warn("server_cleartext", "/servers/0/url", `"${url}" is not encrypted`);
  }
  return { url };
}

function planAll(rows: readonly Row[]): readonly Planned[] {
  const ids = createCheckIds();
  return rows.map((row) => plan(row, ids, null, null)).filter((one) => one !== null);
}

function plan(row: Row, ids: CheckIds, result_pointer: string | null, index: number | null): Planned | null {
  const { parts } = row;
  if (!("place" in parts)) return null;
  return { row, parts, check_id: ids.take(row.listed.name), result_pointer, index };
}

/** The checks of a selection, in its order. */
function planSelection(
  { document }: Import,
  rows: readonly Row[],
  selection: readonly ImportSelection[],
): readonly Planned[] | ImportRefusal {
  const refuse = (pointer: string, detail: string): ImportRefusal =>
    refuseImport("selection_invalid", detail, { pointer: `/selection${pointer}` });
  if (selection.length === 0 || selection.length > IMPORT_LIMITS.checks) {
    return refuse("", `Expected 1 to ${IMPORT_LIMITS.checks} operations, got ${selection.length}`);
  }
  const byName = new Map(rows.flatMap((row) => [[row.listed.methodAndPath, row], [row.listed.name, row]] as const));
  const ids = createCheckIds();
  const exact = new Set<number>();
  for (const [index, { check_id }] of selection.entries()) {
    if (check_id === undefined) continue;
    if (!ids.takeExactly(check_id)) {
      return refuse(`/${index}/check_id`, `"${check_id}" is repeated or not an identifier`);
    }
    exact.add(index);
  }
  const planned: Planned[] = [];
  for (const [index, { operation, check_id, result_pointer }] of selection.entries()) {
    document.spend(1);
    const row = byName.get(operation);
    if (row === undefined) return refuse(`/${index}/operation`, `The document has no operation "${operation}"`);
    const { parts } = row;
    if (!("place" in parts)) {
      return refuse(`/${index}/operation`, `"${operation}" cannot be a check: ${parts[0]?.message ?? ""}`);
    }
    const pointer = result_pointer === undefined || result_pointer === "" ? null : result_pointer;
    const id = check_id !== undefined && exact.has(index) ? check_id : ids.take(row.listed.name);
    planned.push({ row, parts, check_id: id, result_pointer: pointer, index });
  }
  return planned;
}

/** A contract and its profile, the checks in them, and the operations that could not be checks after all. */
interface Assembled {
  readonly contract: ProviderContract;
  readonly profile: OpenApiHttpProfile;
  readonly planned: readonly Planned[];
  readonly faults: ReadonlyMap<Row, CandidateReason>;
}

/** Puts contract and profile together. */
function assemble(current: Import, rows: readonly Row[], planned: readonly Planned[]): Assembled | ImportRefusal {
  const { document, options } = current;
  const base = baseOf(current);
  if ("code" in base) return base;
  const checks: CheckContract[] = [];
  const operations: [string, HttpOperation][] = [];
  const faults = new Map<Row, CandidateReason>();
  const size = createSizeLimit(current);
  for (const one of planned.toSorted((a, b) => a.check_id < b.check_id ? -1 : 1)) {
    const made = makeCheck(current, one);
    if ("code" in made) {
      if (one.index !== null) return selectionFault(one.index, made);
      faults.set(one.row, made);
      continue;
    }
    if (!size.admits(made)) {
      const detail = `the contract of ${planned.length} checks has more than ${IMPORT_LIMITS.contractBytes} bytes`;
      return refuseImport("selection_required", detail);
    }
    warnOfCredentials(document, one.parts.place.operation.value);
    checks.push(made);
    operations.push([one.check_id, operationOf(one)]);
  }
  if (checks.length === 0) return refuseImport("no_usable_operation", `${rows.length} operations`);
  const profile: OpenApiHttpProfile = {
    profile_version: "1",
    typed_protocol: "openapi_http",
    base_url: base.url,
    tls: { ca: null, client: null },
    credentials: [],
    operations: Object.fromEntries(operations),
    limits: CALL_LIMITS,
  };
  return { contract: contractOf(document, options, checks), profile, planned, faults };
}

/** Admits checks while they fit one contract. Bounds of their sizes decide most contracts without writing them. */
function createSizeLimit({ request, result }: Import): { readonly admits: (check: CheckContract) => boolean } {
  const most = IMPORT_LIMITS.contractBytes - HEAD_BYTES;
  const checks: CheckContract[] = [];
  const exact = (check: CheckContract): number => utf8Length(JSON.stringify(check)) + 1;
  let bytes = 0;
  let isExact = false;
  const admits = (check: CheckContract): boolean => {
    checks.push(check);
    const { params_schema, result_schema, ...others } = check;
    bytes += isExact ? exact(check) : exact({ ...others, params_schema: 0, result_schema: 0 }) +
      sizeBound(request.converter, params_schema) + sizeBound(result.converter, result_schema);
    if (bytes > most && !isExact) {
      isExact = true;
      bytes = checks.reduce((sum, one) => sum + exact(one), 0);
    }
    return bytes <= most;
  };
  return { admits };
}

/** Bytes of a contract that are not those of its checks. */
const HEAD_BYTES = 16_384;

function selectionFault(index: number, { code, message }: CandidateReason): ImportRefusal {
  const name = code === "result_pointer_invalid" ? "result_pointer" : "operation";
  return refuseImport("selection_invalid", message, { pointer: `/selection/${index}/${name}` });
}

function candidateOf(
  row: Row,
  ids: ReadonlyMap<Row, string> = new Map(),
  faults: ReadonlyMap<Row, CandidateReason> = new Map(),
): ImportCandidate {
  const { listed: { name: operation, method }, parts } = row;
  const fault = faults.get(row);
  const reasons = "place" in parts ? fault === undefined ? [] : [fault] : parts;
  const usable = reasons.length === 0;
  const check_id = usable ? ids.get(row) ?? null : null;
  return { operation, method, usable, check_id, reasons };
}

function makeCheck(current: Import, planned: Planned): CheckContract | CandidateReason {
  const { parts: { place, request, result }, check_id, result_pointer } = planned;
  const found = resultSchema(current, result, result_pointer);
  if ("code" in found) return found;
  const result_schema = found.schema;
  const fault = schemaFault(current, request.params_schema, result_schema, result_pointer);
  if (fault !== null) return candidateReason("schema_invalid", pointerAt(place.operation.path), fault);
  const { value } = place.operation;
  const given = member(value, "summary") ?? member(value, "description");
  return {
    check_id,
    description: shortDescription(given, `${place.method} ${place.template}`),
    determinism: "external",
    params_required: request.params_required,
    params_schema: request.params_schema,
    result_schema,
    allowed_comparators: comparatorsOf(result_schema),
    anchor_types: ["openapi_request"],
    content_types: ["application/json"],
    examples: [],
  };
}

/**
 * Why the schema engine refuses the schemas of a check. Their form follows from the conversion. So they are compiled
 * only where patterns of the document may be too large together, or where a pointer joined several schemas.
 */
function schemaFault(current: Import, params: JsonValue, result: JsonValue, pointer: string | null): string | null {
  const compiled: JsonValue[] = [];
  if (patternsAreLarge(current.request.converter)) compiled.push(params);
  if (pointer !== null || patternsAreLarge(current.result.converter)) compiled.push(result);
  for (const schema of compiled) {
    if (isDeeper(schema, DEPTH_MAXIMUM)) return "it is nested too deep";
    const compilation = compileSchema(schema, current.document.spend);
    if ("refusal" in compilation) return compilation.refusal;
  }
  return null;
}

/** Containers of a schema; with those of the contract around it they are within the limit of the reader of contracts. */
const DEPTH_MAXIMUM = 58;

/** The schema of the whole response, or of the value at the pointer. */
function resultSchema(
  { result: { converter, facts } }: Import,
  { schema, path }: ResultPart,
  pointer: string | null,
): { readonly schema: JsonValue } | CandidateReason {
  const steps = pointer === null ? [] : stepsOf(pointer);
  const isShort = pointer === null || pointer.length <= PROFILE_LIMITS.pointerBytes;
  const part = steps === null || !isShort ? undefined : schemaAt(facts, schema, steps);
  if (part === undefined || part === false || isUntyped(facts, part)) {
    return candidateReason("result_pointer_invalid", pointerAt(path), pointer ?? "");
  }
  try {
    return { schema: withTypes(facts, finishSchema(converter, part, path)) };
  } catch (error) {
    if (error instanceof CandidateFault) return error.reason;
    throw error;
  }
}

function operationOf({ row, parts: { place, request, result }, result_pointer }: Planned): HttpOperation {
  return {
    method: place.method as HttpOperation["method"],
    path_template: place.template,
    parameters: request.parameters,
    body: request.body,
    accept: result.accept,
    expected_status: result.expected_status,
    result_pointer,
    source: { operation: row.listed.name, pointer: pointerAt(place.operation.path) },
  };
}

function contractOf(
  document: OpenApiDocument,
  options: ImportOptions,
  checks: readonly CheckContract[],
): ProviderContract {
  const info = member(document.root, "info");
  const text = (name: string): JsonValue | undefined => isJsonObject(info) ? member(info, name) : undefined;
  const title = shortDescription(text("title"), options.provider_id).slice(0, NAME_CHARACTERS).toWellFormed();
  const version = shortDescription(text("version"), "unknown").slice(0, NAME_CHARACTERS).toWellFormed();
  return {
    provider_id: options.provider_id,
    name: title,
    description: shortDescription(text("description"), title),
    transport: "typed",
    config_schema: { type: "object" },
    checks,
    notes: [`Imported from an OpenAPI ${document.version} document, version ${version} of the service.`],
  };
}

/** Characters of the name of a service; in UTF-8 at most 256 bytes. */
const NAME_CHARACTERS = 64;
