/**
 * The shape of a runtime profile, with its JSON Schema, and the checks that compare its members with each other and
 * with the contract.
 */

import { canonicalize } from "../../canonical/canonicalize.ts";
import type { Identity } from "../../canonical/identity.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../canonical/json.ts";
import { below, type JsonPath } from "../../canonical/path.ts";
import {
  annotated,
  boolean,
  boundedText,
  closed,
  type FaultSink,
  integer,
  listOf,
  matches,
  matching,
  named,
  oneOf,
  orNull,
  type Read,
  type Reader,
  schemaOf,
  shape,
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

/** Forms of texts that importers of documents share. */
export const PROFILE_PATTERNS = {
  baseUrl: '^https?://[!"$-.0->A-\\[\\]-~]+(?:/[!"$->@-\\[\\]-~]*)?$',
  pathTemplate: '^/[!"$->@-\\[\\]-~]*$',
  headerName: "^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,256}$",
} as const;

/** The styles that each place of a parameter may have. */
export const PARAMETER_STYLES = {
  path: ["simple", "label", "matrix"],
  query: ["form", "spaceDelimited", "pipeDelimited"],
  header: ["simple"],
} as const;

/** A text of a form. All forms are ASCII, so characters are bytes. */
function pattern(
  expected: string,
  source: string,
  description: string | null,
  maxLength: number = PROFILE_LIMITS.nameCharacters,
): Reader<string> {
  const form = new RegExp(source, "u");
  return matching(
    expected,
    (value): value is string => typeof value === "string" && value.length <= maxLength && form.test(value),
    { type: "string", pattern: source, maxLength, ...description === null ? {} : { description } },
  );
}

function described<T>(description: string, read: Reader<T>): Reader<T> {
  return annotated(read, { description });
}

/** A reader whose faults do not repeat the value: a caller may have put a credential where its name belongs. */
function unshown<T>(read: Reader<T>): Reader<T> {
  return shape<T, FaultSink>((faults, value, path) => {
    const add: FaultSink["add"] = (fault, at) =>
      faults.add("value" in fault && typeof fault.value === "string" ? { ...fault, value: "..." } : fault, at);
    return read({ add }, value, path);
  }, ({ of }) => of(read));
}

/** Names a credential or a file, never its content: `file://NAME` below the credentials folder, or `env://NAME`. */
export type Locator = string;

const L = PROFILE_LIMITS;
const locator = named(
  "locator",
  pattern(
    'a locator "file://NAME" or "env://NAME"',
    "^(?:file://[A-Za-z0-9_][A-Za-z0-9._-]{0,127}|env://[A-Za-z_][A-Za-z0-9_]{0,127})$",
    "file://NAME or env://NAME; never the credential itself.",
  ),
);
const name = boundedText(1, L.nameCharacters);
const pointer = pattern("a JSON pointer", "^(?:/(?:[^~/]|~[01])*)*$", null, L.pointerBytes);
const source = described(
  "Where in the imported document the operation comes from; for readers.",
  closed({ operation: boundedText(1, L.pointerBytes), pointer }),
);

/** Whether a text is a locator: `file://NAME` or `env://NAME`. */
export function isLocator(text: string): boolean {
  return matches(locator, text);
}

const BASE = {
  profile_version: oneOf("1"),
  tls: unshown(closed({
    ca: described("PEM certificates to trust in place of those of the system.", orNull(locator)),
    client: described(
      "PEM certificate and key of this client.",
      orNull(closed({ certificate: locator, key: locator })),
    ),
  })),
  limits: closed({
    timeout_ms: described("Milliseconds of one check.", integer(1, L.timeoutMillis)),
    max_response_bytes: described("Bytes of the body of one response.", integer(1, L.responseBytes)),
  }),
};

function headerName(description: string): Reader<string> {
  return pattern("a header name", PROFILE_PATTERNS.headerName, description);
}

/** How one value of a check's params, `param`, becomes a part of a request. */
export type OperationParameter = {
  /** The name in the request. */
  readonly name: string;
  readonly in: keyof typeof PARAMETER_STYLES;
  readonly param: string;
  readonly style: ParameterStyle;
  readonly explode: boolean;
};

/** The serialisation of an array or an object (OpenAPI 3, Parameter Object). */
export type ParameterStyle = typeof PARAMETER_STYLES[keyof typeof PARAMETER_STYLES][number];

function parameterIn(place: keyof typeof PARAMETER_STYLES): Reader<OperationParameter> {
  const styles = PARAMETER_STYLES[place];
  return closed({
    name: place === "header" ? headerName("Name of the header.") : described("Name in the request.", name),
    in: oneOf(place),
    param: described("The member of the check's params.", name),
    style: shape<ParameterStyle, FaultSink>(
      oneOf(...styles),
      () => ({ enum: styles, description: "How an array or object is written." }),
    ),
    explode: described("Whether each item or member is written by itself.", boolean),
  });
}

const parameter = variant("in", {
  path: parameterIn("path"),
  query: parameterIn("query"),
  header: parameterIn("header"),
});

/** One HTTP request of a check. */
export type HttpOperation = Read<typeof httpOperation>;

const httpOperation = closed({
  method: oneOf("GET", "POST", "PUT", "PATCH", "DELETE"),
  path_template: pattern(
    'a path that begins with "/"',
    PROFILE_PATTERNS.pathTemplate,
    "Path with {name} for each path parameter.",
    L.pathCharacters,
  ),
  parameters: described("Parts of the request that follow from params.", listOf(parameter, L.parameters)),
  body: described(
    "The member of params to send as the body; null without a body.",
    orNull(closed({ param: name, content_type: oneOf("application/json") })),
  ),
  accept: pattern("a header value", "^[!-~](?:[ -~]*[!-~])?$", "Value of the header Accept."),
  expected_status: annotated(listOf(integer(200, 599), 400, 1), {
    maxItems: 400,
    description: "Statuses that have a result; each once.",
    minItems: 1,
  }),
  result_pointer: described(
    "JSON pointer to the result in the response; null for the whole response.",
    orNull(pointer),
  ),
  source,
});

/** The credentials of a service: those of every protocol, and its own. The content of a `basic` one is `user:password`. */
function credentials<T>(kind: string, own: Reader<T>): Reader<readonly (T | Read<typeof sharedCredential>)[]> {
  const one = variant("kind", { bearer: sharedCredential, basic: sharedCredential, [kind]: own });
  const published = shape<T | Read<typeof sharedCredential>, FaultSink>(
    (faults, value, path) => one(faults, value, path),
    ({ of }) => ({ oneOf: [sharedCredential, own].map(of) }),
  );
  return unshown(described("Credentials to send; basic is user:password.", listOf(published, L.credentials)));
}

const sharedCredential = closed({ kind: oneOf("bearer", "basic"), locator });

/** One gRPC call of a check. */
export type GrpcOperation = Read<typeof grpcOperation>;

const grpcOperation = closed({
  service: pattern(
    "the full name of a service",
    "^[A-Za-z_][A-Za-z0-9_]*(?:\\.[A-Za-z_][A-Za-z0-9_]*)*$",
    "Full name of the service.",
  ),
  method: pattern("the name of a method", "^[A-Za-z_][A-Za-z0-9_]*$", "Name of the unary method."),
  result_path: described(
    "Members from the JSON form of the response to the result; null for the whole response.",
    orNull(listOf(name, L.resultPathItems, 1)),
  ),
  source,
});

/** A map from `check_id`; the ids are compared with the contract afterwards. */
function operationsOf<T>(read: Reader<T>): Reader<Readonly<Record<string, T>>> {
  return shape<Readonly<Record<string, T>>, FaultSink>((faults, value, path) => {
    if (!isJsonObject(value)) {
      faults.add({ kind: "object", required: [], value }, path);
      return undefined;
    }
    const names = Object.keys(value);
    if (names.length < 1 || names.length > L.operations) {
      faults.add({ kind: "items", minimum: 1, maximum: L.operations, count: names.length }, path);
      return undefined;
    }
    for (const id of names) read(faults, value[id] as JsonValue, below(path, id));
    return value as JsonValue & Readonly<Record<string, T>>;
  }, ({ of }) => ({
    type: "object",
    additionalProperties: of(read),
    minProperties: 1,
    maxProperties: L.operations,
    description: "One operation for each check of the contract, by check_id.",
  }));
}

/** The profile of an HTTP service. */
export type OpenApiHttpProfile = Read<typeof httpProfile>;

const httpProfile = closed({
  ...BASE,
  typed_protocol: oneOf("openapi_http"),
  base_url: unshown(pattern(
    "an http or https URL in ASCII without user information, query and fragment",
    PROFILE_PATTERNS.baseUrl,
    "Address of the service; no user information, query or fragment.",
    L.urlCharacters,
  )),
  credentials: credentials(
    "api_key",
    closed({ kind: oneOf("api_key"), header: headerName("Header of the key."), locator }),
  ),
  operations: operationsOf(httpOperation),
});

/** The profile of a gRPC service. */
export type GrpcProfile = Read<typeof grpcProfile>;

const grpcProfile = closed({
  ...BASE,
  typed_protocol: oneOf("grpc"),
  endpoint: pattern(
    '"host:port"',
    "^(?:[A-Za-z0-9._-]{1,253}|\\[[0-9A-Fa-f:.]{2,45}\\]):[1-9][0-9]{0,4}$",
    "host:port of the service.",
  ),
  plaintext: described("Whether to connect without TLS.", boolean),
  authority: described(
    "Replaces the endpoint's name; null for the endpoint.",
    orNull(pattern(
      '"host" or "host:port"',
      "^(?:[A-Za-z0-9._-]{1,253}|\\[[0-9A-Fa-f:.]{2,45}\\])(?::[1-9][0-9]{0,4})?$",
      "host or host:port.",
    )),
  ),
  credentials: credentials(
    "metadata",
    closed({
      kind: oneOf("metadata"),
      name: pattern("a metadata name", "^[0-9a-z_.-]{1,256}$", "Name of the metadata."),
      locator,
    }),
  ),
  descriptor_set_base64: pattern(
    "base64 text",
    "^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$",
    "FileDescriptorSet with the files that the operations need.",
    L.bytes,
  ),
  operations: operationsOf(grpcOperation),
});

/** A runtime profile. */
export type RuntimeProfile = OpenApiHttpProfile | GrpcProfile;

const profileShape = variant("typed_protocol", { openapi_http: httpProfile, grpc: grpcProfile });

/** The JSON Schema (2020-12) of a runtime profile, version 1. */
export function profileSchema(): JsonObject {
  const { schema, named: $defs } = schemaOf(profileShape, true);
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "gate runtime profile",
    description: "Runtime profile of a typed provider, version 1.",
    ...schema as JsonObject,
    $defs,
  };
}

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
 * Checks a runtime profile in full: its shape, its limits, and that it has one operation for each check of its
 * contract.
 *
 * @param value The profile as read by `parseJson`
 * @param contract The checked contract of the same provider
 */
export function checkRuntimeProfile(value: JsonValue, contract: ProviderContract): ProfileCheck {
  const problems = createProblemCollector();
  const profile = profileShape(problems, value, null);
  // The rules between members assume the shape.
  if (profile !== undefined && problems.problems.length === 0) checkRelations(problems, profile, contract);
  if (profile === undefined || problems.problems.length > 0) return { ok: false, problems: problems.problems };
  return { ok: true, profile };
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
  const bytes = new TextEncoder().encode(canonicalize(profile)).length;
  if (bytes <= L.bytes) return;
  problems.report("contract_too_large", null, `Expected at most ${L.bytes} bytes, got ${bytes}`);
}

function checkOperationIds(problems: ProblemCollector, profile: RuntimeProfile, contract: ProviderContract): void {
  const path = below(null, "operations");
  const { operations } = profile;
  const ids = new Set(contract.checks.map((check) => check.check_id));
  for (const id of Object.keys(operations)) {
    if (!ids.has(id)) mismatch(problems, below(path, id), "Expected an id of a check of the contract");
  }
  for (const id of ids) {
    if (!Object.hasOwn(operations, id)) mismatch(problems, path, `Expected an operation for check "${id}"`);
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
