/**
 * The parts of a provider's contract that a replay reads: its provider, and the parameters, results and comparators of
 * its checks.
 */

import { isJsonObject, type JsonObject, type JsonValue, member } from "../../canonical/json.ts";
import { resultTypes } from "../../law/result_types.ts";
import type { CheckFacts } from "../../law/types.ts";
import {
  anything,
  boolean,
  closed,
  listOf,
  matches,
  matching,
  object,
  oneOf,
  type Reader,
  text,
} from "../../canonical/shape.ts";

/** A check of a contract. */
export interface ContractCheck {
  readonly check_id: string;
  readonly params_required: boolean;
  readonly params_schema: JsonValue;
  readonly allowed_comparators: readonly string[];
  readonly anchor_types: readonly string[];
  /** Derived from the result schema once, however many bindings there are. */
  readonly result_types: CheckFacts["result_types"];
}

/** A contract, as far as replay reads it. */
export interface ContractFacts {
  readonly provider_id: string;
  readonly transport: "builtin" | "mcp" | "typed";
  /** By id; the first one where two have the same id. */
  readonly checks: ReadonlyMap<string, ContractCheck>;
}

/** A contract as its author wrote it. */
interface WrittenContract extends Pick<ContractFacts, "provider_id" | "transport"> {
  readonly checks: readonly (Omit<ContractCheck, "result_types"> & { readonly result_schema: JsonValue })[];
}

/** Checks of one contract. Each takes at least 100 bytes of a bounded text. */
const CHECKS = 65_536;
const NAMES = 4096;

/** An object with at least these members. */
function having(members: Readonly<Record<string, Reader<unknown>>>): Reader<JsonObject> {
  const entries = Object.entries(members);
  return matching(
    "an object with the members of a contract",
    (value): value is JsonObject =>
      isJsonObject(value) && entries.every(([name, read]) => matches(read, member(value, name))),
  );
}

const contractShape = having({
  provider_id: text,
  transport: oneOf("builtin", "mcp", "typed"),
  checks: listOf(
    having({
      check_id: text,
      params_required: boolean,
      params_schema: anything,
      result_schema: anything,
      allowed_comparators: listOf(text, NAMES),
      anchor_types: listOf(text, NAMES),
    }),
    CHECKS,
  ),
});

/** Reads a value as a contract; null where it has another form. */
export function readContract(value: JsonValue): ContractFacts | null {
  if (!matches(contractShape, value)) return null;
  const { provider_id, transport, checks } = value as unknown as WrittenContract;
  const byId = new Map<string, ContractCheck>();
  for (const { result_schema, ...check } of checks) {
    if (!byId.has(check.check_id)) byId.set(check.check_id, { ...check, result_types: resultTypes(result_schema) });
  }
  return { provider_id, transport, checks: byId };
}

const versionShape = closed({ contract: contractShape, profile: object });

/** Reads a value as a version of a typed provider and returns its contract; null where it has another form. */
export function contractOfVersion(value: JsonValue): JsonValue | null {
  return matches(versionShape, value) ? member(value as JsonObject, "contract") ?? null : null;
}

/** The channel on which a provider acquires. */
export function channelOf({ transport }: ContractFacts): CheckFacts["channel"] {
  return transport === "builtin" ? "local_acquisition" : "provider_acquisition";
}

/** The facts of a check that the checks of a law need; null where the contract has no such check. */
export function factsOf(
  contract: ContractFacts,
  checkId: string,
  judgeParams: (check: ContractCheck, params: JsonValue | undefined) => string | null,
): CheckFacts | null {
  const check = contract.checks.get(checkId);
  if (check === undefined) return null;
  return {
    provider_id: contract.provider_id,
    check_id: checkId,
    channel: channelOf(contract),
    allowed_comparators: check.allowed_comparators,
    result_types: check.result_types,
    params_schema: check.params_schema,
    checkParams: (params) => judgeParams(check, params),
  };
}
