/**
 * Checks a capability contract that an operator names in `capabilities_path`. A contract with any problem is not used.
 */

import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, member } from "../../canonical/json.ts";
import { below, type JsonPath } from "../../canonical/path.ts";
import {
  accepted,
  annotated,
  anything,
  boolean,
  boundedText,
  closed,
  type FaultSink,
  listOf,
  oneOf,
  type Read,
  type Reader,
  schemaOf,
  setOf,
  shape,
} from "../../canonical/shape.ts";
import { COMPARATORS } from "../../law/value/predicates.ts";
import { type SchemaSandbox, SchemaSandboxError } from "../sandbox/schema_sandbox.ts";
import { type ContractProblem, createProblemCollector, type ProblemCollector } from "./problems.ts";

/** Bytes of a contract file. */
export const CONTRACT_BYTES_MAXIMUM = 1_048_576;
/** Checks of one contract. */
export const CHECKS_MAXIMUM = 256;
const IDENTIFIER_BYTES_MAXIMUM = 256;
const TEXT_BYTES_MAXIMUM = 65_536;
const LIST_MAXIMUM = 64;

const CANONICAL_ORDER: readonly string[] = COMPARATORS;

function described<T>(description: string, read: Reader<T>): Reader<T> {
  return annotated(read, { description });
}

const name = boundedText(1, IDENTIFIER_BYTES_MAXIMUM);
const identifier = annotated(
  shape<string, FaultSink>((faults, value, path) => {
    const id = name(faults, value, path);
    if (id === undefined || !/\p{Cc}/u.test(id)) return id;
    faults.add({ kind: "form", expected: "no control characters", value }, path);
    return undefined;
  }, ({ of }) => of(name)),
  { pattern: "^[^\\u0000-\\u001f\\u007f-\\u009f]*$" },
);
const text = boundedText(0, TEXT_BYTES_MAXIMUM);
const types = setOf(boundedText(1, TEXT_BYTES_MAXIMUM), LIST_MAXIMUM);
/** A JSON Schema; the sandbox compiles it. */
const schema = shape<JsonValue, FaultSink>((_, value) => value, () => ({ type: ["object", "boolean"] }));

/** One check of a provider's contract. */
export type CheckContract = Read<typeof checkShape>;
const checkShape = closed({
  check_id: described("Names the check within the contract; unique.", identifier),
  description: described("What the check finds.", text),
  determinism: described(
    "What the result depends on; for readers.",
    oneOf("deterministic", "time_dependent", "external"),
  ),
  params_required: described("Whether a binding must have params.", boolean),
  params_schema: described("JSON Schema 2020-12 of params.", schema),
  result_schema: described("JSON Schema 2020-12 of the value.", schema),
  allowed_comparators: described(
    "The comparators that a law may use, in any order.",
    setOf(oneOf(...CANONICAL_ORDER), CANONICAL_ORDER.length, 1),
  ),
  anchor_types: described("Types of anchor that a reply may carry; empty for any.", types),
  content_types: described("Media types that a reply may name; empty for any.", types),
  examples: described(
    "For readers.",
    listOf(
      closed({
        description: described("What the example shows.", text),
        params: described("Params of a query.", anything),
        result: described("The value that the query finds.", anything),
      }),
      LIST_MAXIMUM,
    ),
  ),
});

/** A capability contract: the file at `capabilities_path`, or built in. Its comparators are in canonical order. */
export type ProviderContract = Read<typeof contractShape>;
const contractShape = closed({
  provider_id: described("The name of the provider in the configuration.", identifier),
  name: described("The name for people.", name),
  description: described("What the provider knows.", text),
  transport: described("The type of the provider in the configuration.", oneOf("builtin", "mcp", "typed")),
  config_schema: described("JSON Schema of the provider's settings; for readers.", schema),
  checks: listOf(checkShape, CHECKS_MAXIMUM, 1),
  notes: described("Texts for readers.", setOf(text, LIST_MAXIMUM)),
});

/** The JSON Schema (2020-12) of a capability contract, version 1. */
export function contractSchema(): JsonObject {
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "gate provider contract",
    description: "Capability contract of a provider, version 1.",
    ...schemaOf(contractShape, true).schema as JsonObject,
  };
}

/** The provider that a contract has to belong to. */
export interface ContractOwner {
  /** The name of the provider in the configuration. */
  readonly provider_id: string;
  readonly transport: "builtin" | "mcp" | "typed";
}

/** A contract, or all of its problems. */
export type ContractCheck =
  | { readonly ok: true; readonly contract: ProviderContract }
  | { readonly ok: false; readonly problems: readonly ContractProblem[] };

/** A schema of the contract and its path. */
interface FoundSchema {
  readonly path: JsonPath;
  readonly schema: JsonValue;
}

/**
 * Checks a contract in full: its shape, its limits, its owner, and that its schemas compile.
 *
 * @param value The contract as read by `parseJson`
 * @param owner The provider that names it
 * @param schemas Compiles its schemas
 */
export async function checkContract(
  value: JsonValue,
  owner: ContractOwner,
  schemas: SchemaSandbox,
): Promise<ContractCheck> {
  const collector = createProblemCollector();
  if (isJsonObject(value)) checkOwner(collector, value, owner);
  const contract = contractShape(collector, value, null);
  if (isJsonObject(value)) {
    const { checks = null } = value;
    const written = (isJsonArray(checks) ? checks : []).slice(0, CHECKS_MAXIMUM);
    const places = written.map((check, index) => ({ check, path: below(below(null, "checks"), index) }));
    checkDistinctIds(collector, places);
    const found = places.flatMap(({ check, path }) => schemasOf(check, path, ["params_schema", "result_schema"]));
    await compileSchemas(collector, [...schemasOf(value, null, ["config_schema"]), ...found], schemas);
  }
  const { problems } = collector;
  if (contract === undefined || problems.length > 0) return { ok: false, problems };
  return { ok: true, contract: inCanonicalOrder(contract) };
}

function checkOwner(problems: ProblemCollector, contract: JsonObject, owner: ContractOwner): void {
  const id = accepted(identifier, member(contract, "provider_id"));
  if (id !== null && id !== owner.provider_id) {
    const message = `Expected the provider's name in the configuration, "${owner.provider_id}", got "${id}"`;
    problems.report("provider_mismatch", below(null, "provider_id"), message);
  }
  const transport = accepted(oneOf("builtin", "mcp", "typed"), member(contract, "transport"));
  if (transport !== null && transport !== owner.transport) {
    const message = `Expected "${owner.transport}", got "${transport}"`;
    problems.report("provider_mismatch", below(null, "transport"), message);
  }
}

/** A check of the contract as it is written, and its path. */
interface WrittenCheck {
  readonly check: JsonValue;
  readonly path: JsonPath;
}

function checkDistinctIds(problems: ProblemCollector, checks: readonly WrittenCheck[]): void {
  const seen = new Set<string>();
  for (const { check, path } of checks) {
    const id = isJsonObject(check) ? accepted(identifier, member(check, "check_id")) : null;
    if (id === null) continue;
    if (seen.has(id)) problems.report("duplicate", below(path, "check_id"), `Check "${id}" is repeated`);
    seen.add(id);
  }
}

function schemasOf(object: JsonValue, path: JsonPath, names: readonly string[]): FoundSchema[] {
  return names.flatMap((name) => {
    const found = isJsonObject(object) ? member(object, name) : undefined;
    return found === undefined ? [] : [{ path: below(path, name), schema: found }];
  });
}

/** The contract with its comparators in canonical order, so that its identity does not depend on their order in the file. */
function inCanonicalOrder(contract: ProviderContract): ProviderContract {
  const checks = contract.checks.map((check) => ({
    ...check,
    allowed_comparators: CANONICAL_ORDER.filter((one) => check.allowed_comparators.includes(one)),
  }));
  return { ...contract, checks };
}

/** Compiles every schema of the contract, in the schema sandbox. */
async function compileSchemas(
  problems: ProblemCollector,
  found: readonly FoundSchema[],
  schemas: SchemaSandbox,
): Promise<void> {
  for (const { path, schema } of found) {
    const refusal = await refusalOf(schema, schemas);
    if (refusal !== null) problems.report("schema_invalid", path, `Expected a schema that can be enforced: ${refusal}`);
  }
}

async function refusalOf(schema: JsonValue, schemas: SchemaSandbox): Promise<string | null> {
  try {
    const verdict = await schemas.check(schema);
    return verdict.ok ? null : verdict.message;
  } catch (error) {
    // Without a verdict the contract is rejected: a schema that fails at start-up would fail later too.
    if (error instanceof SchemaSandboxError) return error.message;
    throw error;
  }
}
