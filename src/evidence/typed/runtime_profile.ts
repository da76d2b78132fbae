/**
 * Checks a runtime profile.
 *
 * @module
 */

import { canonicalize } from "../../canonical/canonicalize.ts";
import type { Identity } from "../../canonical/identity.ts";
import { isJsonObject, type JsonObject, type JsonValue, member } from "../../canonical/json.ts";
import { below, type JsonPath } from "../../canonical/path.ts";
import {
  boolean,
  boundedText,
  closed,
  type FaultSink,
  integer,
  listOf,
  matching,
  oneOf,
  orNull,
  type Read,
  type Reader,
  variant,
} from "../../canonical/shape.ts";
import { isReservedHeader } from "../../config/request_headers.ts";
import { type ContractProblem, createProblemCollector, type ProblemCollector } from "../contract/problems.ts";
import { CHECKS_MAXIMUM } from "../contract/check.ts";
import type { LoadedContract, ProviderContract } from "../types.ts";

/** Limits of a runtime profile. */
export const PROFILE_LIMITS = {
  /** Bytes of a profile's file, and of its canonical text. */
  bytes: 4_194_304,
  operations: CHECKS_MAXIMUM,
  credentials: 8,
  parameters: 64,
  pathCharacters: 2048,
  urlCharacters: 2048,
  nameCharacters: 256,
  pointerBytes: 4096,
  resultPathItems: 32,
  timeoutMillis: 30_000,
  responseBytes: 16_777_216,
} as const;

/** The forms of texts; the published schema has the same patterns. All are ASCII, so characters are bytes. */
export const PROFILE_PATTERNS = {
  locator: "^(?:file://[A-Za-z0-9_][A-Za-z0-9._-]{0,127}|env://[A-Za-z_][A-Za-z0-9_]{0,127})$",
  baseUrl: '^https?://[!"$-.0->A-\\[\\]-~]+(?:/[!"$->@-\\[\\]-~]*)?$',
  pathTemplate: '^/[!"$->@-\\[\\]-~]*$',
  headerName: "^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,256}$",
  headerValue: "^[!-~](?:[ -~]*[!-~])?$",
  metadataName: "^[0-9a-z_.-]{1,256}$",
  pointer: "^(?:/(?:[^~/]|~[01])*)*$",
  endpoint: "^(?:[A-Za-z0-9._-]{1,253}|\\[[0-9A-Fa-f:.]{2,45}\\]):[1-9][0-9]{0,4}$",
  authority: "^(?:[A-Za-z0-9._-]{1,253}|\\[[0-9A-Fa-f:.]{2,45}\\])(?::[1-9][0-9]{0,4})?$",
  serviceName: "^[A-Za-z_][A-Za-z0-9_]*(?:\\.[A-Za-z_][A-Za-z0-9_]*)*$",
  methodName: "^[A-Za-z_][A-Za-z0-9_]*$",
  base64: "^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$",
} as const;

/** The methods of an HTTP operation. */
export const HTTP_METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const;

/** The styles that each place of a parameter may have. */
export const PARAMETER_STYLES = {
  path: ["simple", "label", "matrix"],
  query: ["form", "spaceDelimited", "pipeDelimited"],
  header: ["simple"],
} as const;

function pattern(expected: string, source: string, maximum: number = PROFILE_LIMITS.nameCharacters): Reader<string> {
  const form = new RegExp(source, "u");
  return matching(
    expected,
    (value): value is string => typeof value === "string" && value.length <= maximum && form.test(value),
  );
}

const LOCATOR = new RegExp(PROFILE_PATTERNS.locator, "u");

/** Whether a text is a locator: `file://NAME` or `env://NAME`. */
export function isLocator(text: string): boolean {
  return LOCATOR.test(text);
}

/** A reader whose faults do not repeat the value: a caller may have put a credential where its name belongs. */
function unshown<T>(read: Reader<T>): Reader<T> {
  return (faults, value, path) => {
    const add: FaultSink["add"] = (fault, at) =>
      faults.add("value" in fault && typeof fault.value === "string" ? { ...fault, value: "..." } : fault, at);
    return read({ add }, value, path);
  };
}

/** Names a credential or a file, never its content: `file://NAME` below the credentials folder, or `env://NAME`. */
export type Locator = string;

const L = PROFILE_LIMITS;
const P = PROFILE_PATTERNS;
const readLocator = pattern('a locator "file://NAME" or "env://NAME"', P.locator);
const readName = boundedText(1, L.nameCharacters);
const readPointer = pattern("a JSON pointer", P.pointer, L.pointerBytes);
const readSource = closed({ operation: boundedText(1, L.pointerBytes), pointer: readPointer });

const BASE = {
  profile_version: oneOf("1"),
  tls: unshown(closed({
    // PEM certificates to trust in place of the system's.
    ca: orNull(readLocator),
    client: orNull(closed({ certificate: readLocator, key: readLocator })),
  })),
  limits: closed({
    timeout_ms: integer(1, L.timeoutMillis),
    max_response_bytes: integer(1, L.responseBytes),
  }),
};

/** How one value of a check's params, `param`, becomes a part of a request. */
export interface OperationParameter {
  /** The name in the request. */
  readonly name: string;
  readonly in: keyof typeof PARAMETER_STYLES;
  readonly param: string;
  readonly style: ParameterStyle;
  readonly explode: boolean;
}

/** The serialisation of an array or an object (OpenAPI 3, Parameter Object). */
export type ParameterStyle = typeof PARAMETER_STYLES[keyof typeof PARAMETER_STYLES][number];

const readParameter = variant("in", {
  path: parameterIn("path"),
  query: parameterIn("query"),
  header: parameterIn("header"),
});

function parameterIn(place: keyof typeof PARAMETER_STYLES): Reader<OperationParameter> {
  return closed({
    name: place === "header" ? pattern("a header name", P.headerName) : readName,
    in: oneOf(place),
    param: readName,
    style: oneOf(...PARAMETER_STYLES[place]),
    explode: boolean,
  });
}

/** One HTTP request of a check. */
export type HttpOperation = Read<typeof readHttpOperation>;

const readHttpOperation = closed({
  method: oneOf(...HTTP_METHODS),
  path_template: pattern('a path that begins with "/"', P.pathTemplate, L.pathCharacters),
  parameters: listOf(readParameter, L.parameters),
  body: orNull(closed({ param: readName, content_type: oneOf("application/json") })),
  accept: pattern("a header value", P.headerValue),
  expected_status: listOf(integer(200, 599), 400, 1),
  result_pointer: orNull(readPointer),
  source: readSource,
});

// The content of a `basic` credential is `user:password`.
const SECRET = { locator: readLocator };

const readHttpCredential = variant("kind", {
  bearer: closed({ kind: oneOf("bearer"), ...SECRET }),
  basic: closed({ kind: oneOf("basic"), ...SECRET }),
  api_key: closed({ kind: oneOf("api_key"), header: pattern("a header name", P.headerName), ...SECRET }),
});

const readGrpcCredential = variant("kind", {
  bearer: closed({ kind: oneOf("bearer"), ...SECRET }),
  basic: closed({ kind: oneOf("basic"), ...SECRET }),
  metadata: closed({ kind: oneOf("metadata"), name: pattern("a metadata name", P.metadataName), ...SECRET }),
});

/** One gRPC call of a check. */
export type GrpcOperation = Read<typeof readGrpcOperation>;

const readGrpcOperation = closed({
  service: pattern("the full name of a service", P.serviceName),
  method: pattern("the name of a method", P.methodName),
  result_path: orNull(listOf(readName, L.resultPathItems, 1)),
  source: readSource,
});

/** A map from `check_id`; the ids are compared with the contract afterwards. */
function operationsOf<T>(read: Reader<T>): Reader<Readonly<Record<string, T>>> {
  return (faults, value, path) => {
    if (!isJsonObject(value)) {
      faults.add({ kind: "object", required: [], value }, path);
      return undefined;
    }
    const names = Object.keys(value);
    if (names.length < 1 || names.length > L.operations) {
      faults.add({ kind: "items", minimum: 1, maximum: L.operations, count: names.length }, path);
      return undefined;
    }
    for (const name of names) read(faults, value[name] as JsonValue, below(path, name));
    return value as unknown as Readonly<Record<string, T>>;
  };
}

/** The profile of an HTTP service. */
export type OpenApiHttpProfile = Read<typeof readHttpProfile>;

const readHttpProfile = closed({
  ...BASE,
  typed_protocol: oneOf("openapi_http"),
  base_url: unshown(pattern(
    "an http or https URL in ASCII without user information, query and fragment",
    P.baseUrl,
    L.urlCharacters,
  )),
  credentials: unshown(listOf(readHttpCredential, L.credentials)),
  operations: operationsOf(readHttpOperation),
});

/** The profile of a gRPC service. */
export type GrpcProfile = Read<typeof readGrpcProfile>;

const readGrpcProfile = closed({
  ...BASE,
  typed_protocol: oneOf("grpc"),
  endpoint: pattern('"host:port"', P.endpoint),
  plaintext: boolean,
  authority: orNull(pattern('"host" or "host:port"', P.authority)),
  credentials: unshown(listOf(readGrpcCredential, L.credentials)),
  descriptor_set_base64: pattern("base64 text", P.base64, L.bytes),
  operations: operationsOf(readGrpcOperation),
});

/** A runtime profile. The published schema (`profile_schema.ts`) describes each member. */
export type RuntimeProfile = OpenApiHttpProfile | GrpcProfile;

const readProfile = variant("typed_protocol", { openapi_http: readHttpProfile, grpc: readGrpcProfile });

/** A contract and its profile with their identities: one version of a typed provider. */
export interface TypedVersion {
  readonly loaded: LoadedContract;
  readonly profile: RuntimeProfile;
  /** Kind `runtime-profile`. */
  readonly profile_identity: Identity;
  /** Kind `provider-version`, over `{contract, profile}`. */
  readonly provider_version_identity: Identity;
}

/** A profile, or all of its problems. */
export type ProfileCheck =
  | { readonly ok: true; readonly profile: RuntimeProfile }
  | { readonly ok: false; readonly problems: readonly ContractProblem[] };

/**
 * Checks a runtime profile in full: its shape, its limits, and that it has one operation for each check of its contract.
 *
 * @param value The profile as read by `parseJson`
 * @param contract The checked contract of the same provider
 */
export function checkRuntimeProfile(value: JsonValue, contract: ProviderContract): ProfileCheck {
  const problems = createProblemCollector();
  readProfile(problems, value, null);
  // The rules between members assume the shape.
  if (problems.problems.length === 0) checkRelations(problems, value as unknown as RuntimeProfile, contract);
  if (problems.problems.length > 0) return { ok: false, problems: problems.problems };
  return { ok: true, profile: value as unknown as RuntimeProfile };
}

function checkRelations(problems: ProblemCollector, profile: RuntimeProfile, contract: ProviderContract): void {
  checkSize(problems, profile);
  checkOperationIds(problems, profile, contract);
  checkCredentials(problems, profile);
  checkTls(problems, profile);
  if (profile.typed_protocol === "grpc") return checkPort(problems, profile.endpoint);
  if (!URL.canParse(profile.base_url)) mismatch(problems, below(null, "base_url"), "Expected a URL that can be parsed");
  for (const [id, operation] of Object.entries(profile.operations)) {
    checkHttpOperation(problems, operation, below(below(null, "operations"), id), profile);
  }
}

function mismatch(problems: ProblemCollector, path: JsonPath, message: string): void {
  problems.report("profile_mismatch", path, message);
}

function checkSize(problems: ProblemCollector, profile: RuntimeProfile): void {
  const bytes = new TextEncoder().encode(canonicalize(profile as unknown as JsonValue)).length;
  if (bytes <= L.bytes) return;
  problems.report("contract_too_large", null, `Expected at most ${L.bytes} bytes, got ${bytes}`);
}

function checkOperationIds(problems: ProblemCollector, profile: RuntimeProfile, contract: ProviderContract): void {
  const path = below(null, "operations");
  const operations = profile.operations as unknown as JsonObject;
  const ids = new Set(contract.checks.map((check) => check.check_id));
  for (const id of Object.keys(operations)) {
    if (!ids.has(id)) mismatch(problems, below(path, id), "Expected an id of a check of the contract");
  }
  for (const id of ids) {
    if (member(operations, id) === undefined) mismatch(problems, path, `Expected an operation for check "${id}"`);
  }
}

/** The header or metadata name that carries each credential, in lower case. */
function credentialNames(profile: RuntimeProfile): readonly string[] {
  return profile.credentials.map((credential) => {
    if (credential.kind === "api_key") return credential.header.toLowerCase();
    return credential.kind === "metadata" ? credential.name : "authorization";
  });
}

function checkCredentials(problems: ProblemCollector, profile: RuntimeProfile): void {
  const path = below(null, "credentials");
  const names = credentialNames(profile);
  names.forEach((name, index) => {
    const at = below(path, index);
    if (names.indexOf(name) !== index) problems.report("duplicate", at, `"${name}" is repeated`);
    const { kind } = profile.credentials[index] ?? {};
    if (kind !== "api_key" && kind !== "metadata") return;
    const isReserved = isReservedHeader(name) || name === "accept" || name.startsWith("grpc-") || name.endsWith("-bin");
    if (isReserved) mismatch(problems, at, `Expected a name that is not reserved, got "${name}"`);
  });
}

function checkTls(problems: ProblemCollector, profile: RuntimeProfile): void {
  const isSecure = profile.typed_protocol === "grpc" ? !profile.plaintext : profile.base_url.startsWith("https:");
  const path = below(null, "tls");
  for (const name of ["ca", "client"] as const) {
    if (!isSecure && profile.tls[name] !== null) mismatch(problems, below(path, name), "Expected null without TLS");
  }
}

function checkPort(problems: ProblemCollector, endpoint: string): void {
  if (Number(/[0-9]+$/.exec(endpoint)?.[0]) <= 65_535) return;
  mismatch(problems, below(null, "endpoint"), "Expected a port of 1 to 65535");
}

function checkHttpOperation(
  problems: ProblemCollector,
  operation: HttpOperation,
  path: JsonPath,
  profile: OpenApiHttpProfile,
): void {
  checkPathTemplate(problems, operation, path);
  checkParameters(problems, operation, path, credentialNames(profile));
  const { body, expected_status: statuses } = operation;
  if (body !== null && operation.method === "GET") mismatch(problems, below(path, "body"), "Expected null with GET");
  statuses.forEach((status, index) => {
    if (statuses.indexOf(status) === index) return;
    problems.report("duplicate", below(below(path, "expected_status"), index), `${status} is repeated`);
  });
}

/** The names between braces in a path template, in order; null where a brace has no partner. */
function placeholdersOf(template: string): readonly string[] | null {
  const names = [...template.matchAll(/\{([^{}]+)\}/g)].map(([, name = ""]) => name);
  return /[{}]/.test(template.replaceAll(/\{[^{}]+\}/g, "")) ? null : names;
}

function checkPathTemplate(problems: ProblemCollector, operation: HttpOperation, path: JsonPath): void {
  const at = below(path, "path_template");
  const names = placeholdersOf(operation.path_template);
  if (names === null) return mismatch(problems, at, 'Expected a "}" for each "{"');
  const given = operation.parameters.filter((parameter) => parameter.in === "path").map(({ name }) => name);
  const segments = operation.path_template.split("/");
  if (segments.some((segment) => /^(?:\.|%2e){1,2}$/i.test(segment))) {
    mismatch(problems, at, 'Expected no segment "." or ".."');
  }
  for (const name of names) {
    if (!given.includes(name)) mismatch(problems, at, `Expected a path parameter "${name}"`);
  }
  if (new Set(names).size !== names.length) problems.report("duplicate", at, "A placeholder is repeated");
  for (const name of given) {
    if (!names.includes(name)) mismatch(problems, at, `Expected "{${name}}" for the path parameter`);
  }
}

function checkParameters(
  problems: ProblemCollector,
  { parameters }: HttpOperation,
  path: JsonPath,
  credentials: readonly string[],
): void {
  const seen = new Set<string>();
  parameters.forEach((parameter, index) => {
    const at = below(below(path, "parameters"), index);
    const isHeader = parameter.in === "header";
    const name = isHeader ? parameter.name.toLowerCase() : parameter.name;
    const key = `${parameter.in} ${name}`;
    if (seen.has(key)) problems.report("duplicate", at, `"${name}" is repeated`);
    seen.add(key);
    if (isHeader && (isReservedHeader(name) || name === "accept" || credentials.includes(name))) {
      mismatch(problems, below(at, "name"), `Expected a header that is not reserved, got "${name}"`);
    }
  });
}
