/**
 * The result of importing a service description: a contract with its runtime profile, or the reason for the refusal.
 * Both come with a table of candidates, one row for each operation of the description.
 */

import { isJsonArray, isJsonObject, type JsonValue, member } from "../../canonical/json.ts";
import { utf8Length } from "../../canonical/utf8.ts";
import { resultTypes } from "../../law/result_types.ts";
import { COMPARATORS } from "../../law/value/predicates.ts";
import { CHECKS_MAXIMUM, CONTRACT_BYTES_MAXIMUM } from "../contract/check.ts";
import type { ProviderContract } from "../types.ts";
import type { RuntimeProfile } from "./runtime_profile.ts";

/** Limits of the calls of an imported profile: milliseconds and bytes. An operator may change them in the file. */
export const CALL_LIMITS = { timeout_ms: 10_000, max_response_bytes: 1_048_576 } as const;

/** Limits of an import. */
export const IMPORT_LIMITS = {
  /** Bytes of a description in JSON, in `.proto` texts together, or in a descriptor set. */
  documentBytes: 67_108_864,
  /** Bytes of a description in YAML. */
  yamlBytes: 8_388_608,
  /** Operations of a description. */
  operations: 20_000,
  /** Checks of one contract. */
  checks: CHECKS_MAXIMUM,
  /** Bytes of one contract. */
  contractBytes: CONTRACT_BYTES_MAXIMUM,
  /** Bytes of one params schema or result schema. */
  schemaBytes: 524_288,
  /** Bytes of a check id. */
  checkIdBytes: 256,
  /** Characters of a description that is copied from the document. */
  descriptionCharacters: 1024,
  /** Warnings of one import. */
  warnings: 1000,
  /** Steps of one import, such as schemas, references and members that it visits: the same on every machine. */
  steps: 60_000_000,
  /** Processor time of one import, in milliseconds. The largest document takes half of it. */
  processorMilliseconds: 15_000,
  /** Milliseconds after which the next import need not wait for this one. */
  milliseconds: 60_000,
} as const;

/** Why an operation cannot be a check, or not without a selection, with the sentence that its reason begins with. */
export const CANDIDATE_REASONS = {
  method_not_selected: "The operation may change something: only a selection by its name makes it a check",
  method_unsupported: "A check cannot use the method",
  path_invalid: "The path cannot be a template of a request",
  parameter_missing: "A placeholder of the path has no parameter",
  parameter_invalid: "The parameter is not valid",
  parameter_location: "The parameter is in a cookie, or in another place that a check cannot set",
  parameter_style: "The style of the parameter is not supported",
  parameter_content: "The parameter has a media type in place of a schema",
  parameter_schema: "The parameter is neither a scalar, nor a list of scalars, nor a flat object of scalars",
  parameter_reserved: "The parameter is a header that only the protocol, a credential or gate may set",
  parameter_count: "The operation has too many parameters",
  body_unsupported: "The required body is not JSON with a schema",
  response_missing: "No response with a status of 200 to 299 is declared",
  response_without_body: "The response has no body",
  response_not_json: "The response is not JSON",
  response_untyped: "The schema of the response accepts every value, or every object",
  reference_external: "A reference leaves the document",
  reference_unresolved: "A reference has no target in the document",
  reference_cycle: "References refer to each other without end",
  schema_invalid: "The schema cannot be enforced",
  schema_keyword: "The schema has a keyword that is not supported",
  schema_too_deep: "The schema is nested too deep",
  schema_too_large: "The schema is too large",
  server_differs: "The operation has another server than the document",
  streaming: "The method is not unary",
  field_any: "A field has the type google.protobuf.Any, whose content no descriptor declares",
  field_group: "A field is a group of proto2",
  field_name_conflict: "Two fields of a message have the same name in JSON",
  result_pointer_invalid: "The result pointer leads to no value that the schema of the response declares",
} as const;

/** Why an operation cannot be a check; closed list. */
export type CandidateReasonCode = keyof typeof CANDIDATE_REASONS;

/** Why an operation is not usable. */
export interface CandidateReason {
  readonly code: CandidateReasonCode;
  /** JSON pointer into the document; for gRPC the full name of the symbol. */
  readonly pointer: string;
  readonly message: string;
}

/** One operation of the description. */
export interface ImportCandidate {
  /**
   * The name that a selection uses: the operation id where it is unique, else `METHOD /path`; for gRPC
   * `package.Service/Method`.
   */
  readonly operation: string;
  /** The HTTP method in upper case, or the name of the gRPC method. */
  readonly method: string;
  /** Whether the operation can be a check. */
  readonly usable: boolean;
  /** The check of the contract; null where the contract has none for it. The first one where it has several. */
  readonly check_id: string | null;
  /** Empty for a usable operation. */
  readonly reasons: readonly CandidateReason[];
}

/** Something in the description that the import left out or changed. */
export interface ImportWarning {
  readonly code: ImportWarningCode;
  readonly pointer: string;
  readonly message: string;
}

/** What an import left out or changed; closed list. */
export type ImportWarningCode =
  /** A keyword of a schema that cannot be enforced was left out. */
  | "keyword_ignored"
  /** An optional parameter that a check cannot set was left out of an operation that was selected by name. */
  | "parameter_left_out"
  /** A parameter that the specification says to ignore, or that no placeholder names. */
  | "parameter_ignored"
  /** The characters of a parameter are percent-encoded although the document allows them as they are. */
  | "parameter_encoded"
  /** The operation asks for a credential; the profile's `credentials` do not name it yet. */
  | "credential_required"
  /** A scheme of credentials that a profile cannot express. */
  | "credential_unsupported"
  /** The address of the service is cleartext; the operator has to allow it. */
  | "server_cleartext"
  /** A variable in the address of the service was replaced by its default. */
  | "server_variable"
  /** The id of an operation is not unique, or not usable as a check id. */
  | "operation_id_ignored"
  /** A number that no double keeps exactly was rounded to the nearest one. */
  | "number_rounded"
  /** A file cannot be read, or repeats what another one defines. */
  | "file_ignored"
  /** A file imports another one that was not given. */
  | "import_missing"
  /** The result is a field without presence: a response without it counts as its default value. */
  | "presence_implicit";

/** Why an import gave no contract, with the sentence that its message begins with. */
export const IMPORT_REFUSALS = {
  document_invalid: "The document cannot be read",
  document_unsupported: "The document has another format or version",
  document_too_large: "The document is too large",
  document_too_complex: "The document has too many parts",
  server_url_required: "The document has no absolute address of the service",
  server_url_invalid: "The address of the service is not valid",
  selection_required: "The operations do not fit one contract: select some",
  selection_invalid: "The selection does not fit the document",
  no_usable_operation: "No operation of the document can be a check",
  import_timeout: "The import took too long",
  import_failed: "The import ended without a result",
} as const;

/** Why an import gave no contract; closed list. */
export type ImportRefusalCode = keyof typeof IMPORT_REFUSALS;

/** A contract with its profile. */
export interface ImportedProvider {
  readonly ok: true;
  /** With transport `typed`. */
  readonly contract: ProviderContract;
  readonly profile: RuntimeProfile;
  readonly candidates: readonly ImportCandidate[];
  readonly warnings: readonly ImportWarning[];
}

/** No contract, and why. The candidates are there where the document could be read. */
export interface ImportRefusal {
  readonly ok: false;
  readonly code: ImportRefusalCode;
  readonly message: string;
  /** JSON pointer into the document or the selection (`/selection/0/operation`); empty for the whole. */
  readonly pointer: string;
  readonly candidates: readonly ImportCandidate[];
  readonly warnings: readonly ImportWarning[];
}

/** What an import gives. No document makes an import throw. */
export type ImportResult = ImportedProvider | ImportRefusal;

/** One operation to make a check of. */
export interface ImportSelection {
  /** `operation` of a candidate, or `METHOD /path`. */
  readonly operation: string;
  /** The id of the check; by default it follows from the operation. */
  readonly check_id?: string;
  /** JSON pointer to the result in the response; by default the whole response. */
  readonly result_pointer?: string;
}

/** What to import, and as what. */
export interface ImportOptions {
  /** `provider_id` of the contract. */
  readonly provider_id: string;
  /** The operations to make checks of; without it every usable one. One operation may be selected several times. */
  readonly selection?: readonly ImportSelection[];
  /** Replaces the address in the document: a base URL, or `host:port` for gRPC. */
  readonly server_url?: string;
  /**
   * Counts work: one step for each value that the import visits. It may throw to end the import.
   *
   * @param steps Number of steps
   */
  readonly spend?: (steps: number) => void;
}

/** The comparators of each JSON type, after the domains that take a value of it (docs/format/values.md). */
const EQUALITY = ["equals", "not_equals", "in_set", "exists", "not_exists"];
const ORDER = ["greater_than", "greater_than_or_equal", "less_than", "less_than_or_equal"];
const LEXICOGRAPHIC = [
  "lex_greater_than",
  "lex_greater_than_or_equal",
  "lex_less_than",
  "lex_less_than_or_equal",
];
const DEEP = ["equals", "not_equals", "deep_equals", "deep_not_equals", "exists", "not_exists"];
const COMPARATORS_BY_TYPE: Readonly<Record<string, readonly string[]>> = {
  null: EQUALITY,
  boolean: EQUALITY,
  integer: [...EQUALITY, ...ORDER],
  number: [...EQUALITY, ...ORDER],
  string: [...EQUALITY, ...LEXICOGRAPHIC, "contains"],
  array: [...DEEP, "contains"],
  object: DEEP,
  any: COMPARATORS,
};

/** Formats whose strings have an order beside that of their characters: timestamps, and decimal numbers as text. */
const ORDERED_FORMATS = new Set(["date-time", "date", "decimal", "int64", "uint64"]);

/**
 * The comparators that can hold for a value of a result schema, in canonical order.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { comparatorsOf } from "@/evidence/typed/import_result.ts";
 *
 * assert.deepEqual(comparatorsOf({ type: "boolean" }), ["equals", "not_equals", "in_set", "exists", "not_exists"]);
 * assert.ok(comparatorsOf({ type: "string", format: "date-time" }).includes("greater_than"));
 * assert.ok(!comparatorsOf({ type: "string" }).includes("greater_than"));
 * ```
 */
export function comparatorsOf(resultSchema: JsonValue): readonly string[] {
  const allowed = new Set(resultTypes(resultSchema).flatMap((type) => COMPARATORS_BY_TYPE[type] ?? []));
  if (hasOrderedFormat(resultSchema, 0)) { for (const comparator of ORDER) allowed.add(comparator); }
  return COMPARATORS.filter((comparator) => allowed.has(comparator));
}

function hasOrderedFormat(schema: JsonValue, depth: number): boolean {
  if (!isJsonObject(schema) || depth > 16) return false;
  const format = member(schema, "format");
  if (typeof format === "string" && ORDERED_FORMATS.has(format)) return true;
  const branches = member(schema, "anyOf") ?? member(schema, "oneOf");
  return isJsonArray(branches) && branches.some((branch) => hasOrderedFormat(branch, depth + 1));
}

/** Gives each operation a check id that no other one has. */
export interface CheckIds {
  /**
   * Takes an id of its own for an operation: the given text without control characters and within
   * {@link IMPORT_LIMITS}, with `_2`, `_3` ... where another check has it.
   */
  readonly take: (text: string) => string;
  /** Takes exactly this id; false where it is taken, empty, too long, or has control characters. */
  readonly takeExactly: (id: string) => boolean;
}

/** Creates the ids of one contract; the same calls in the same order give the same ids. */
export function createCheckIds(): CheckIds {
  const taken = new Set<string>();
  /** The number to try next by text, so that many equal names take linear time. */
  const next = new Map<string, number>();
  const takeExactly = (id: string): boolean => {
    const bytes = utf8Length(id);
    const isUsable = bytes >= 1 && bytes <= IMPORT_LIMITS.checkIdBytes && !/\p{Cc}/u.test(id) && id.isWellFormed();
    if (!isUsable || taken.has(id)) return false;
    taken.add(id);
    return true;
  };
  const take = (text: string): string => {
    const base = cutToBytes(text.toWellFormed().replaceAll(/\p{Cc}+/gu, "_"), IMPORT_LIMITS.checkIdBytes - 8) ||
      "check";
    for (let number = next.get(base) ?? 1;; number++) {
      const id = number === 1 ? base : `${base}_${number}`;
      if (!takeExactly(id)) continue;
      next.set(base, number + 1);
      return id;
    }
  };
  return { take, takeExactly };
}

/** Cuts a text so that its UTF-8 form has at most so many bytes; a character is kept whole. */
function cutToBytes(text: string, maximum: number): string {
  let bytes = 0;
  let end = 0;
  for (const character of text) {
    bytes += utf8Length(character);
    if (bytes > maximum) break;
    end += character.length;
  }
  return text.slice(0, end);
}

/** A description from the document as one bounded text for a contract. */
export function shortDescription(text: JsonValue | undefined, otherwise: string): string {
  const given = typeof text === "string" ? text.trim() : "";
  if (given === "") return otherwise;
  return cut(given, IMPORT_LIMITS.descriptionCharacters);
}

/** A reason with its sentence; `detail` names the part of the document. */
export function candidateReason(code: CandidateReasonCode, pointer: string, detail = ""): CandidateReason {
  return { code, pointer, message: withDetail(CANDIDATE_REASONS[code], detail) };
}

/** A refusal with its sentence. */
export function refuseImport(
  code: ImportRefusalCode,
  detail: string,
  found: Partial<Pick<ImportRefusal, "pointer" | "candidates" | "warnings">> = {},
): ImportRefusal {
  const message = withDetail(IMPORT_REFUSALS[code], detail);
  return { ok: false, code, message, pointer: "", candidates: [], warnings: [], ...found };
}

function withDetail(sentence: string, detail: string): string {
  return detail === "" ? sentence : `${sentence}: ${cut(detail)}`;
}

/** Characters of a detail in a message: names and patterns from outside may be as long as the document. */
const DETAIL_CHARACTERS = 512;

function cut(text: string, maximum = DETAIL_CHARACTERS): string {
  return (text.length <= maximum ? text : `${text.slice(0, maximum - 3)}...`).toWellFormed();
}

/** Collects the warnings of one import, each once. */
export interface WarningCollector {
  /** The first {@link IMPORT_LIMITS}.warnings by pointer and code. */
  readonly warnings: readonly ImportWarning[];
  readonly warn: (code: ImportWarningCode, pointer: string, message: string) => void;
}

/** Warnings that are kept until the import ends. */
const COLLECTED_WARNINGS = 20_000;

/** Creates an empty collector. */
export function createWarningCollector(): WarningCollector {
  const found = new Map<string, ImportWarning>();
  const warn: WarningCollector["warn"] = (code, pointer, message) => {
    const key = `${pointer} ${code}`;
    if (found.size < COLLECTED_WARNINGS && !found.has(key)) found.set(key, { code, pointer, message: cut(message) });
  };
  return {
    warn,
    get warnings(): readonly ImportWarning[] {
      const sorted = [...found].sort(([a], [b]) => a < b ? -1 : 1).map(([, warning]) => warning);
      return sorted.slice(0, IMPORT_LIMITS.warnings);
    },
  };
}

/** The JSON pointer (RFC 6901) of a path. */
export function pointerOf(steps: readonly (string | number)[]): string {
  let pointer = "";
  for (const step of steps) pointer += `/${typeof step === "string" ? escaped(step) : step}`;
  return pointer;
}

function escaped(step: string): string {
  return step.includes("/") || step.includes("~") ? step.replaceAll("~", "~0").replaceAll("/", "~1") : step;
}

/** The steps of a JSON pointer; null for another text. */
export function stepsOf(pointer: string): readonly string[] | null {
  if (!/^(?:\/(?:[^~/]|~[01])*)*$/.test(pointer)) return null;
  return pointer.split("/").slice(1).map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
}
