/** The inputs of `gate run`: the law file, the parameters and the evidence. */

import { isJsonArray, isJsonObject, type JsonObject, member } from "../../canonical/json.ts";
import { shown } from "../../canonical/shown.ts";
import { countOf } from "../../config/problems.ts";
import { eachLeaf } from "../../law/requirement_walk.ts";
import { didYouMean } from "../../law/suggest.ts";
import type { Parameter, ParameterValue, Refusal, ScenarioLaw } from "../../law/types.ts";
import { valueOfText } from "../../law/value/value_of_text.ts";
import type { GenesisFault } from "../../run/parameters.ts";
import { shownType } from "../../law/words.ts";
import { diagnosticsOf, refusalsAt } from "../scenario/law.ts";
import { inlineSpec, readSource, readSpec, type Source } from "../scenario/source.ts";
import { CliError } from "../terminal/cli_error.ts";
import { namedTexts } from "../terminal/named_values.ts";
import { parseNamespace } from "../terminal/namespace_flag.ts";
import { notLaw } from "../runpack/law_file.ts";

/** The law of a run: a file, or the expression of `--when`. */
export interface LawFlags {
  readonly when?: string;
  readonly namespace?: string;
}

/** Reads the law of a run; the error lists every fault of it. */
export async function readLawFile(given: string | undefined, { when, namespace }: LawFlags): Promise<Source> {
  if ((given === undefined) === (when === undefined)) {
    throw new CliError("usage", "Expected a law: either a file or --when EXPRESSION");
  }
  const namespaceId = namespace === undefined ? undefined : parseNamespace(namespace);
  const file = given ?? "--when";
  const read = when === undefined ? await readSpec(file, namespaceId) : await inlineSpec(when, namespaceId);
  if (!read.ok) throw notLaw(file, diagnosticsOf(read));
  if (isJsonObject(read.source.value)) return read.source;
  throw notLaw(file, [], "expected an object");
}

/** The error for a spec that `scenario_define` refuses, with the positions of its faults in the file. */
export function refusedSpec(source: Source, error: JsonObject): CliError {
  const details = member(error, "details") ?? null;
  const refusals = isJsonObject(details) ? member(details, "refusals") ?? null : null;
  if (!isJsonArray(refusals)) return notLaw(source.file, [], String(member(error, "message") ?? "it is refused"));
  return notLaw(source.file, refusalsAt(source, refusals as unknown as readonly Refusal[]));
}

/**
 * The genesis of a run with the values of `--parameter`, each read by the domain of the parameter.
 *
 * @param flag The flag of the values, for messages
 * @throws {CliError} `usage` for an unknown, missing or repeated parameter, and for a value outside the domain
 */
export function genesisOf(law: ScenarioLaw, pairs: readonly string[], flag = "--parameter"): JsonObject {
  const declared = law.parameters ?? [];
  const names = declared.map(({ parameter_id }) => parameter_id);
  const given = namedTexts(flag, pairs, names);
  for (const name of given.keys()) {
    if (names.includes(name)) continue;
    const hint = names.length === 0 ? "; it has no parameters" : didYouMean(name, names);
    throw new CliError("usage", `Cannot use ${flag} "${name}": the law has no such parameter${hint}`);
  }
  const missing = names.filter((name) => !given.has(name));
  if (missing.length > 0) {
    throw new CliError(
      "usage",
      `Cannot start a run: the law needs ${flag} ${missing.map((name) => `${name}=VALUE`).join(" ")}`,
    );
  }
  if (declared.length === 0) return { kind: "empty" };
  return { kind: "parameters", parameters: valuesOf(declared, given, flag) };
}

/** The values of all parameters, read as `gate runpack admit` reads them. */
function valuesOf(declared: readonly Parameter[], given: ReadonlyMap<string, string>, flag: string): JsonObject[] {
  const faults: string[] = [];
  const values = declared.flatMap(({ parameter_id, domain }) => {
    const text = given.get(parameter_id) ?? "";
    const value = valueOfText(text, domain);
    if (value !== null) return [{ parameter_id, value: { ...value } }];
    faults.push(
      `${flag} ${shown(`${parameter_id}=${text}`)}: expected ${shownType(domain)}${FORMS[domain.domain] ?? ""}`,
    );
    return [];
  });
  if (faults.length === 0) return values;
  throw wrongValues(faults);
}

function wrongValues(faults: readonly string[]): CliError {
  return new CliError("usage", `Cannot start a run: ${countOf(faults.length, "wrong value")}`, null, undefined, faults);
}

/** The error of values that the server rejects, each named as it was given; null for another refusal. */
export function rejectedParameters(outcome: JsonObject, genesis: JsonObject): CliError | null {
  const result = member(outcome, "result");
  if (member(outcome, "outcome") !== "genesis_rejected" || !isJsonObject(result)) return null;
  const faults = (member(result, "faults") ?? []) as unknown as readonly GenesisFault[];
  const given = (member(genesis, "parameters") ?? []) as unknown as readonly ParameterValue[];
  return wrongValues(faults.map(({ parameter_id, path, message }) => {
    const value = given.find((one) => one.parameter_id === parameter_id)?.value.value;
    return `${value === undefined ? path : `--parameter ${shown(`${parameter_id}=${value}`)}`}: ${shown(message)}`;
  }));
}

/** The texts of values that have one text only. */
const FORMS: Readonly<Record<string, string>> = {
  Boolean: ", true or false",
  Integer: ", in decimal digits without spaces or leading zeros",
};

/** Conditions by stage. */
export function conditionsByStage(law: ScenarioLaw): ReadonlyMap<string, ReadonlySet<string>> {
  return new Map(law.stages.map(({ stage_id, completion_requirement }) => {
    const named = new Set<string>();
    eachLeaf(completion_requirement, null, (id) => named.add(id));
    return [stage_id, named];
  }));
}

/**
 * Reads a file with evidence: an array of the items that `scenario_next` takes as `caller_evidence`.
 *
 * @throws {CliError} `usage` for a file that is not such an array, and for an item on a condition that the law does not have
 */
export async function readEvidence(file: string, law: ScenarioLaw): Promise<readonly JsonObject[]> {
  const read = await readSource(file);
  if (!read.ok) throw new CliError("usage", `Cannot use --evidence "${file}": ${read.fault.message}`);
  const { value } = read.source;
  if (!isJsonArray(value)) throw new CliError("usage", `Cannot use --evidence "${file}": expected an array of items`);
  const known = law.conditions.map(({ condition_id }) => condition_id);
  return value.map((item, index) => {
    const why = isJsonObject(item) ? faultOf(item, known) : `: ${ITEM_EXPECTED}`;
    if (isJsonObject(item) && why === null) return item;
    throw new CliError("usage", `Cannot use --evidence "${file}": $[${index}]${why}`);
  });
}

const ITEM_EXPECTED = "expected an object with condition_id, value and retention";

/** The fault of an item with its place in the file, or null. A call names items by their place in the part of one stage. */
function faultOf(item: JsonObject, known: readonly string[]): string | null {
  const condition = member(item, "condition_id");
  if (typeof condition !== "string") return `: ${ITEM_EXPECTED}`;
  if (!known.includes(condition)) {
    return `: the law has no condition ${JSON.stringify(condition)}${didYouMean(condition, known)}`;
  }
  const value = member(item, "value") ?? null;
  if (!isJsonObject(value) || member(value, "value_type") === undefined) {
    return `.value: expected an object such as {"value": 0, "value_type": "Integer"}`;
  }
  if (isJsonObject(member(item, "retention") ?? null)) return null;
  return `.retention: expected an object such as {"retention": "RetainCanonicalValue"}`;
}
