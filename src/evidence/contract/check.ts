/**
 * Checks a capability contract that an operator names in `capabilities_path`. Nothing of it is used unless all of it is
 * right.
 *
 * @module
 */

import { isJsonObject, type JsonObject, type JsonValue, member } from "../../canonical/json.ts";
import { COMPARATORS } from "../../law/value/predicates.ts";
import { type SchemaSandbox, SchemaSandboxError } from "../sandbox/schema_sandbox.ts";
import type { ProviderContract } from "../types.ts";
import type { ContractProblem } from "./problems.ts";
import { closedObject, flag, list, note, oneOf, type Place, type Report, text, textSet } from "./shape.ts";

/** Bytes of a contract file. */
export const CONTRACT_BYTES_MAXIMUM = 1_048_576;
/** Checks of one contract. */
export const CHECKS_MAXIMUM = 256;
const IDENTIFIER_BYTES_MAXIMUM = 256;
const TEXT_BYTES_MAXIMUM = 65_536;
const LIST_MAXIMUM = 64;

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
const DETERMINISM = ["deterministic", "time_dependent", "external"];
const CANONICAL_ORDER: readonly string[] = COMPARATORS;

/** Whose contract it should be. */
export interface ContractOwner {
  /** The name of the provider in the configuration. */
  readonly provider_id: string;
  readonly transport: "builtin" | "mcp" | "typed";
}

/** A contract, or all that is wrong with it. */
export type ContractCheck =
  | { readonly ok: true; readonly contract: ProviderContract }
  | { readonly ok: false; readonly problems: readonly ContractProblem[] };

/**
 * Checks a contract in full: its shape, its limits, whose it is, and that its schemas compile.
 *
 * @param value The contract as read by `parseJson`
 * @param owner The provider that names it
 * @param schemas Where its schemas are compiled
 */
export async function checkContract(
  value: JsonValue,
  owner: ContractOwner,
  schemas: SchemaSandbox,
): Promise<ContractCheck> {
  const report: Report = { problems: [] };
  const contract = closedObject(report, value, [], CONTRACT_MEMBERS);
  if (contract !== null) {
    checkOwner(report, contract, owner);
    text(report, contract, "name", [], { minimum: 1, maximum: IDENTIFIER_BYTES_MAXIMUM });
    text(report, contract, "description", [], { minimum: 0, maximum: TEXT_BYTES_MAXIMUM });
    checkTexts(report, contract, "notes", []);
    const checks = list(report, contract, "checks", [], CHECKS_MAXIMUM);
    if (checks?.length === 0) note(report, "value_invalid", ["checks"], "Expected at least one check");
    const seen = new Set<string>();
    checks?.forEach((check, index) => checkOne(report, check, ["checks", index], seen));
    await checkSchemas(report, contract, checks ?? [], schemas);
  }
  if (report.problems.length > 0) return { ok: false, problems: report.problems };
  return { ok: true, contract: inCanonicalOrder(value as unknown as ProviderContract) };
}

function checkOwner(report: Report, contract: JsonObject, owner: ContractOwner): void {
  const id = identifier(report, contract, "provider_id", []);
  if (id !== null && id !== owner.provider_id) {
    const message = `Expected the provider's name in the configuration, "${owner.provider_id}", got "${id}"`;
    note(report, "provider_mismatch", ["provider_id"], message);
  }
  const transport = oneOf(report, contract, "transport", [], ["builtin", "mcp", "typed"]);
  if (transport !== null && transport !== owner.transport) {
    note(report, "provider_mismatch", ["transport"], `Expected "${owner.transport}", got "${transport}"`);
  }
}

function checkOne(report: Report, value: JsonValue, place: Place, seen: Set<string>): void {
  const check = closedObject(report, value, place, CHECK_MEMBERS);
  if (check === null) return;
  const id = identifier(report, check, "check_id", place);
  if (id !== null && seen.has(id)) note(report, "duplicate", [...place, "check_id"], `Check "${id}" stands twice`);
  if (id !== null) seen.add(id);
  text(report, check, "description", place, { minimum: 0, maximum: TEXT_BYTES_MAXIMUM });
  oneOf(report, check, "determinism", place, DETERMINISM);
  flag(report, check, "params_required", place);
  checkComparators(report, check, place);
  checkTexts(report, check, "anchor_types", place, 1);
  checkTexts(report, check, "content_types", place, 1);
  const examples = list(report, check, "examples", place, LIST_MAXIMUM);
  examples?.forEach((one, index) => {
    const at = [...place, "examples", index];
    const example = closedObject(report, one, at, ["description", "params", "result"]);
    if (example !== null) text(report, example, "description", at, { minimum: 0, maximum: TEXT_BYTES_MAXIMUM });
  });
}

function identifier(report: Report, object: JsonObject, name: string, place: Place): string | null {
  const value = text(report, object, name, place, { minimum: 1, maximum: IDENTIFIER_BYTES_MAXIMUM });
  if (value === null || !/\p{Cc}/u.test(value)) return value;
  note(report, "value_invalid", [...place, name], "Expected no control characters");
  return null;
}

function checkTexts(report: Report, object: JsonObject, name: string, place: Place, minimum = 0): void {
  textSet(report, object, name, place, { items: LIST_MAXIMUM, minimum, maximum: TEXT_BYTES_MAXIMUM });
}

/** At least one comparator, each once, in any order. */
function checkComparators(report: Report, check: JsonObject, place: Place): void {
  const name = "allowed_comparators";
  const items = list(report, check, name, place, CANONICAL_ORDER.length);
  if (items?.length === 0) note(report, "value_invalid", [...place, name], "Expected at least one comparator");
  const seen = new Set<string>();
  items?.forEach((item, index) => {
    const at = [...place, name, index];
    if (typeof item !== "string" || !CANONICAL_ORDER.includes(item)) {
      note(report, "value_invalid", at, `Expected one of ${CANONICAL_ORDER.map((one) => `"${one}"`).join(", ")}`);
    } else if (seen.has(item)) note(report, "duplicate", at, `"${item}" stands twice`);
    else seen.add(item);
  });
}

/** The contract with its comparators in canonical order, so that its identity does not depend on the order in which they are written. */
function inCanonicalOrder(contract: ProviderContract): ProviderContract {
  const checks = contract.checks.map((check) => ({
    ...check,
    allowed_comparators: CANONICAL_ORDER.filter((one) => check.allowed_comparators.includes(one)),
  }));
  return { ...contract, checks };
}

/** Compiles every schema of the contract apart from the server. */
async function checkSchemas(
  report: Report,
  contract: JsonObject,
  checks: readonly JsonValue[],
  schemas: SchemaSandbox,
): Promise<void> {
  const found: { readonly place: Place; readonly schema: JsonValue }[] = [];
  const add = (object: JsonObject, name: string, place: Place): void => {
    const schema = member(object, name);
    if (schema !== undefined) found.push({ place: [...place, name], schema });
  };
  add(contract, "config_schema", []);
  checks.forEach((check, index) => {
    if (!isJsonObject(check)) return;
    add(check, "params_schema", ["checks", index]);
    add(check, "result_schema", ["checks", index]);
  });
  for (const { place, schema } of found) {
    const refusal = await refusalOf(schema, schemas);
    if (refusal !== null) note(report, "schema_invalid", place, `Expected a schema that can be enforced: ${refusal}`);
  }
}

async function refusalOf(schema: JsonValue, schemas: SchemaSandbox): Promise<string | null> {
  try {
    const verdict = await schemas.check(schema);
    return verdict.ok ? null : verdict.message;
  } catch (error) {
    // No verdict is no permission: a schema that cannot be judged at start-up cannot be used later either.
    if (error instanceof SchemaSandboxError) return error.message;
    throw error;
  }
}
