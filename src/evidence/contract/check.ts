/**
 * Checks a capability contract that an operator names in `capabilities_path`. A contract with any problem is not used.
 *
 * @module
 */

import { type JsonObject, type JsonValue, member } from "../../canonical/json.ts";
import { below, type JsonPath } from "../../canonical/path.ts";
import {
  boolean,
  boundedText,
  type Bounds,
  oneOf,
  readArray,
  type Reader,
  readMember,
  readObject,
} from "../../canonical/shape.ts";
import { COMPARATORS } from "../../law/value/predicates.ts";
import { type SchemaSandbox, SchemaSandboxError } from "../sandbox/schema_sandbox.ts";
import type { ProviderContract } from "../types.ts";
import { type ContractProblem, createProblemCollector, type ProblemCollector } from "./problems.ts";

/** Bytes of a contract file. */
export const CONTRACT_BYTES_MAXIMUM = 1_048_576;
/** Checks of one contract. */
export const CHECKS_MAXIMUM = 256;
/** Further limits of a contract. */
export const CONTRACT_LIMITS = { identifierBytes: 256, textBytes: 65_536, listItems: 64 } as const;
const { identifierBytes: IDENTIFIER_BYTES_MAXIMUM, textBytes: TEXT_BYTES_MAXIMUM } = CONTRACT_LIMITS;
const LIST_MAXIMUM = CONTRACT_LIMITS.listItems;

const CONTRACT_MEMBERS = ["provider_id", "name", "description", "transport", "config_schema", "checks", "notes"];
const CHECK_MEMBERS = [
  "check_id",
  "description",
  "determinism",
  "params_required",
  "params_schema",
  "result_schema",
  "allowed_comparators",
  "anchor_types",
  "content_types",
  "examples",
];
const CANONICAL_ORDER: readonly string[] = COMPARATORS;

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

type ContractReader<T> = Reader<T, ProblemCollector>;

const readName = boundedText(1, IDENTIFIER_BYTES_MAXIMUM);
const readDescription = boundedText(0, TEXT_BYTES_MAXIMUM);
const readTransport = oneOf("builtin", "mcp", "typed");
const readDeterminism = oneOf("deterministic", "time_dependent", "external");
const readNotes = setOf({ minimum: 0, maximum: LIST_MAXIMUM }, readDescription);
const readTypes = setOf({ minimum: 0, maximum: LIST_MAXIMUM }, boundedText(1, TEXT_BYTES_MAXIMUM));
const readComparators = setOf({ minimum: 1, maximum: CANONICAL_ORDER.length }, oneOf(...CANONICAL_ORDER));

const readIdentifier: ContractReader<string> = (problems, value, path) => {
  const name = readName(problems, value, path);
  if (name === undefined || !/\p{Cc}/u.test(name)) return name;
  problems.report("value_invalid", path, "Expected no control characters");
  return undefined;
};

/** An array of distinct strings. */
function setOf(bounds: Bounds, read: Reader<string>): ContractReader<readonly string[]> {
  return (problems, value, path) => {
    const seen = new Set<string>();
    readArray(problems, value, path, bounds, (_, item, at) => {
      const text = read(problems, item, at);
      if (text !== undefined && seen.has(text)) problems.report("duplicate", at, `"${text}" is repeated`);
      if (text !== undefined) seen.add(text);
    });
    return [...seen];
  };
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
  const contract = readObject(collector, value, null, CONTRACT_MEMBERS);
  if (contract !== undefined) {
    checkOwner(collector, contract, owner);
    readMember(collector, contract, null, "name", readName);
    readMember(collector, contract, null, "description", readDescription);
    readMember(collector, contract, null, "notes", readNotes);
    const found = schemasOf(contract, null, ["config_schema"]);
    readMember(collector, contract, null, "checks", readChecks(found));
    await compileSchemas(collector, found, schemas);
  }
  const { problems } = collector;
  if (problems.length > 0) return { ok: false, problems };
  return { ok: true, contract: inCanonicalOrder(value as unknown as ProviderContract) };
}

function checkOwner(problems: ProblemCollector, contract: JsonObject, owner: ContractOwner): void {
  const id = readMember(problems, contract, null, "provider_id", readIdentifier);
  if (id !== undefined && id !== owner.provider_id) {
    const message = `Expected the provider's name in the configuration, "${owner.provider_id}", got "${id}"`;
    problems.report("provider_mismatch", below(null, "provider_id"), message);
  }
  const transport = readMember(problems, contract, null, "transport", readTransport);
  if (transport !== undefined && transport !== owner.transport) {
    const message = `Expected "${owner.transport}", got "${transport}"`;
    problems.report("provider_mismatch", below(null, "transport"), message);
  }
}

/** @param found Receives the schemas of the checks */
function readChecks(found: FoundSchema[]): ContractReader<unknown> {
  return (problems, value, path) => {
    const seen = new Set<string>();
    return readArray(problems, value, path, { minimum: 1, maximum: CHECKS_MAXIMUM }, (_, item, at) => {
      const check = readObject(problems, item, at, CHECK_MEMBERS);
      if (check === undefined) return;
      readCheck(problems, check, at, seen);
      found.push(...schemasOf(check, at, ["params_schema", "result_schema"]));
    });
  };
}

/** @param seen Ids of the checks before it */
function readCheck(problems: ProblemCollector, check: JsonObject, path: JsonPath, seen: Set<string>): void {
  const id = readMember(problems, check, path, "check_id", readIdentifier);
  if (id !== undefined && seen.has(id)) {
    problems.report("duplicate", below(path, "check_id"), `Check "${id}" is repeated`);
  }
  if (id !== undefined) seen.add(id);
  readMember(problems, check, path, "description", readDescription);
  readMember(problems, check, path, "determinism", readDeterminism);
  readMember(problems, check, path, "params_required", boolean);
  readMember(problems, check, path, "allowed_comparators", readComparators);
  readMember(problems, check, path, "anchor_types", readTypes);
  readMember(problems, check, path, "content_types", readTypes);
  readMember(problems, check, path, "examples", readExamples);
}

const readExamples: ContractReader<unknown> = (problems, value, path) =>
  readArray(problems, value, path, { minimum: 0, maximum: LIST_MAXIMUM }, (_, item, at) => {
    const example = readObject(problems, item, at, ["description", "params", "result"]);
    if (example !== undefined) readMember(problems, example, at, "description", readDescription);
  });

function schemasOf(object: JsonObject, path: JsonPath, names: readonly string[]): FoundSchema[] {
  return names.flatMap((name) => {
    const schema = member(object, name);
    return schema === undefined ? [] : [{ path: below(path, name), schema }];
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
