/**
 * Reads cases files, with given evidence and expected outcomes, for a law. Every name must exist in the law: otherwise a
 * misspelt case would pass without a test.
 *
 * @module
 */

import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, member } from "../../canonical/json.ts";
import { nearest } from "../../canonical/nearest.ts";
import { formatPath } from "../../canonical/path.ts";
import type { Kleene } from "../../law/value/truth.ts";
import { SPEC_LIMITS } from "../../law/limits.ts";
import type { ParameterValue } from "../../law/types.ts";
import { exactMillis } from "../../law/value/timestamp.ts";
import { fitProviderResult } from "../../law/value/typed_value.ts";
import { usesEvaluationTime } from "../../law/value/types.ts";
import type { CompiledLaw, CompiledStage } from "../../run/compile.ts";
import { checkParameters } from "../../run/parameters.ts";
import { ATTEMPT_OUTCOMES, type AttemptOutcome, type StageAttempt } from "../../scenario/trial.ts";
import type { Diagnostic } from "./law.ts";
import type { Source } from "./source.ts";

/** Maximum cases of a file. */
export const CASES_MAXIMUM = 4096;

/** The outcomes that a case may expect of a stage. */
export const STAGE_EXPECTATIONS = ATTEMPT_OUTCOMES;
/** One of {@link STAGE_EXPECTATIONS}. */
export type StageExpectation = AttemptOutcome;
/** The outcomes with evaluated conditions. */
const EVALUATED: readonly StageExpectation[] = ["true", "false", "unknown"];
/** The possible statuses of a run. */
export const RUN_EXPECTATIONS = ["complete", "active"] as const;

/** An attempt at a stage, with its expected outcome. */
export interface StageCase extends StageAttempt {
  readonly expect: StageExpectation;
  readonly conditions: ReadonlyMap<string, Kleene>;
}

/** One run. */
export interface Case {
  readonly name: string;
  /** Finds the line of the case; called only for failed cases. */
  readonly line: () => number;
  /** The values of the parameters of the law; undefined for a law without parameters. */
  readonly parameters: readonly ParameterValue[] | undefined;
  readonly stages: readonly StageCase[];
  readonly expect: typeof RUN_EXPECTATIONS[number];
  readonly ready: readonly string[] | null;
}

/** A schema of a cases file, inline or in another file. */
export interface CaseSchema {
  readonly schema_id: string;
  readonly version: string;
  readonly schema: JsonValue;
  /** The path of the schema's file as written; null for an inline {@link schema}. */
  readonly file: string | null;
}

/** The contents of a cases file. */
export interface Cases {
  readonly cases: readonly Case[];
  readonly schemas: readonly CaseSchema[];
}

type Steps = readonly (string | number)[];

/** Reports a fault at a path. */
type Report = (steps: Steps, message: string, part?: "name" | "value") => void;

/** Reads cases. Cases with diagnostics must not be run. */
export function readCases(
  source: Source,
  law: CompiledLaw,
): { readonly cases: Cases; readonly diagnostics: Diagnostic[] } {
  const diagnostics: Diagnostic[] = [];
  const report: Report = (steps, message, part = "value") => {
    const path = formatPath(steps);
    diagnostics.push({ severity: "error", ...source.locate(steps, part), code: "case_invalid", path, message });
  };
  const file = objectAt(report, source.value, [], ["cases", "parameters", "schemas"]);
  const shared = givenAt(report, law, file, []);
  const cases = listAt(report, file, [], "cases").slice(0, CASES_MAXIMUM + 1);
  if (cases.length === 0) report(["cases"], "Expected at least one case");
  if (cases.length > CASES_MAXIMUM) report(["cases"], `Expected at most ${CASES_MAXIMUM} cases`);
  const read = cases.map((one, index) => readCase(report, law, one, ["cases", index], source, shared));
  reportRepeatedNames(report, read);
  const schemas = listAt(report, file, [], "schemas").map((one, index) => readSchema(report, one, ["schemas", index]));
  schemasMissing(law, schemas).forEach((name) => report(["schemas"], `Expected schema ${name}, which conditions name`));
  return { cases: { cases: read, schemas }, diagnostics };
}

/** Reports repeated names, because the name identifies a failed case. */
function reportRepeatedNames(report: Report, cases: readonly Case[]): void {
  const seen = new Set<string>();
  cases.forEach(({ name }, index) => {
    if (name !== "" && seen.has(name)) {
      report(["cases", index, "name"], `Expected a unique name: "${name}" is repeated`);
    }
    seen.add(name);
  });
}

function schemasMissing(law: CompiledLaw, schemas: readonly CaseSchema[]): string[] {
  const missing = new Set<string>();
  for (const { observation_domain: domain } of law.law.conditions) {
    if (domain.domain !== "Json" || domain.schema === undefined) continue;
    const { schema_id, version } = domain.schema;
    if (schemas.some((one) => one.schema_id === schema_id && one.version === version)) continue;
    missing.add(`"${schema_id}" version "${version}"`);
  }
  return [...missing];
}

function objectAt(report: Report, value: JsonValue | undefined, steps: Steps, names: readonly string[]): JsonObject {
  if (!isJsonObject(value)) {
    report(steps, `Expected an object with ${names.join(", ")}`);
    return {};
  }
  for (const name of Object.keys(value)) {
    if (names.includes(name)) continue;
    const meant = nearest(name, names);
    const hint = meant === null ? `expected one of ${names.join(", ")}` : `did you mean "${meant}"?`;
    report([...steps, name], `Unknown member "${name}": ${hint}`, "name");
  }
  return value;
}

/** Reads a list; a missing member is an empty list. */
function listAt(report: Report, object: JsonObject, steps: Steps, name: string): readonly JsonValue[] {
  const value = member(object, name) ?? [];
  if (isJsonArray(value)) return value;
  report([...steps, name], "Expected a list");
  return [];
}

/** Reads the entries of an object with any names; a missing member is empty. */
function mapAt(
  report: Report,
  object: JsonObject,
  steps: Steps,
  name: string,
): readonly (readonly [string, JsonValue])[] {
  const value = member(object, name);
  if (value === undefined) return [];
  if (isJsonObject(value)) return Object.entries(value);
  report([...steps, name], "Expected an object");
  return [];
}

function textAt(report: Report, object: JsonObject, steps: Steps, name: string): string {
  const value = member(object, name);
  if (typeof value === "string" && value !== "") return value;
  report(
    [...steps, name],
    value === undefined ? `Expected a member "${name}"` : `Expected "${name}" to be a string that is not empty`,
  );
  return "";
}

/** Reads one of several words. A boolean is the word `true` or `false`, because YAML reads these words as booleans. */
function wordAt<Word extends string>(
  report: Report,
  value: JsonValue | undefined,
  steps: Steps,
  words: readonly Word[],
): Word | null {
  const text = typeof value === "boolean" ? String(value) : value;
  const found = words.find((word) => word === text);
  if (found === undefined) {
    const among = `one of ${words.join(", ")}`;
    report(steps, value === undefined ? `Expected a member "${steps.at(-1)}": ${among}` : `Expected ${among}`);
  }
  return found ?? null;
}

function nameAmong(
  report: Report,
  value: JsonValue,
  steps: Steps,
  known: readonly string[],
  what: string,
): string | null {
  if (typeof value === "string" && known.includes(value)) return value;
  const meant = typeof value === "string" ? nearest(value, known) : null;
  const hint = meant === null ? "" : `: did you mean "${meant}"?`;
  report(steps, `Expected ${what}, got ${JSON.stringify(value)}${hint}`, "name");
  return null;
}

function readSchema(report: Report, value: JsonValue, steps: Steps): CaseSchema {
  const object = objectAt(report, value, steps, ["schema_id", "version", "schema", "file"]);
  const schema_id = textAt(report, object, steps, "schema_id");
  const version = textAt(report, object, steps, "version");
  const schema = member(object, "schema");
  const file = member(object, "file");
  if ((schema === undefined) === (file === undefined)) report(steps, 'Expected one of the members "schema" and "file"');
  if (file !== undefined && typeof file !== "string") report([...steps, "file"], 'Expected "file" to be a path');
  return typeof file === "string"
    ? { schema_id, version, file, schema: null }
    : { schema_id, version, file: null, schema: schema ?? false };
}

/** The values of parameters that a file or a case gives, by id. */
type GivenParameters = ReadonlyMap<string, { readonly value: JsonValue; readonly steps: Steps }>;

/** Reads `parameters`: a value for each id, without its type. */
function givenAt(report: Report, { law }: CompiledLaw, object: JsonObject, steps: Steps): GivenParameters {
  const known = law.parameters?.map(({ parameter_id }) => parameter_id) ?? [];
  const given = new Map<string, { readonly value: JsonValue; readonly steps: Steps }>();
  for (const [name, value] of mapAt(report, object, steps, "parameters")) {
    const at = [...steps, "parameters", name];
    if (nameAmong(report, name, at, known, "a parameter of the law") !== null) given.set(name, { value, steps: at });
  }
  return given;
}

/** The values of the parameters of a case: its own, else those of the file. */
function readParameters(
  report: Report,
  law: CompiledLaw,
  object: JsonObject,
  steps: Steps,
  shared: GivenParameters,
): Case["parameters"] {
  const { parameters } = law.law;
  const own = givenAt(report, law, object, steps);
  if (parameters === undefined) return undefined;
  const values: ParameterValue[] = [];
  for (const { parameter_id, domain } of parameters) {
    const given = own.get(parameter_id) ?? shared.get(parameter_id);
    if (given === undefined) {
      report(steps, `Expected a value of parameter "${parameter_id}" in "parameters"`);
      continue;
    }
    const value = fitProviderResult(given.value, domain);
    if (value === null) report(given.steps, `Expected a value of domain "${domain.domain}", within its bounds`);
    else values.push({ parameter_id, value });
  }
  if (values.length < parameters.length) return values;
  const checked = checkParameters(law, { kind: "parameters", parameters: values }, SPEC_LIMITS.parametersBytes);
  if (checked.ok) return checked.parameters;
  for (const { message, parameter_id } of checked.faults) {
    report(own.get(parameter_id ?? "")?.steps ?? shared.get(parameter_id ?? "")?.steps ?? steps, message);
  }
  return values;
}

function readCase(
  report: Report,
  law: CompiledLaw,
  value: JsonValue,
  steps: Steps,
  source: Source,
  shared: GivenParameters,
): Case {
  const object = objectAt(report, value, steps, ["name", "parameters", "evaluated_at", "stages", "expect", "ready"]);
  const evaluatedAt = instantAt(report, object, steps, "evaluated_at");
  const stages = listAt(report, object, steps, "stages");
  if (stages.length === 0) report([...steps, "stages"], "Expected at least one stage");
  const known = law.stages.map(({ stage }) => stage.stage_id);
  const ready = member(object, "ready") === undefined
    ? null
    : listAt(report, object, steps, "ready").flatMap((one, index) =>
      nameAmong(report, one, [...steps, "ready", index], known, "a stage") ?? []
    );
  return {
    name: textAt(report, object, steps, "name"),
    line: () => source.locate(steps, "value").line,
    parameters: readParameters(report, law, object, steps, shared),
    stages: stages.flatMap((one, index) => readStage(report, law, one, [...steps, "stages", index], evaluatedAt) ?? []),
    expect: wordAt(report, member(object, "expect"), [...steps, "expect"], RUN_EXPECTATIONS) ?? "active",
    ready,
  };
}

const STAGE_MEMBERS = [
  "stage",
  "evaluated_at",
  "given",
  "items",
  "acquired",
  "signed",
  "submitted",
  "expect",
  "conditions",
];

function readStage(
  report: Report,
  law: CompiledLaw,
  value: JsonValue,
  steps: Steps,
  evaluatedAt: number | null,
): StageCase | null {
  const object = objectAt(report, value, steps, STAGE_MEMBERS);
  const expect = wordAt(report, member(object, "expect"), [...steps, "expect"], STAGE_EXPECTATIONS) ?? "unknown";
  const known = law.stages.map(({ stage }) => stage.stage_id);
  const stage_id = nameAmong(report, member(object, "stage") ?? null, [...steps, "stage"], known, "a stage of the law");
  const stage = law.stages[law.stageIndex.get(stage_id ?? "") ?? -1];
  if (stage === undefined || stage_id === null) return null;
  const sent: StageCase["sent"][number][] = [];
  const acquired: StageCase["acquired"][number][] = [];
  const ids = stage.conditions.map(({ condition }) => condition.condition_id);
  const condition = (name: string, at: Steps): string | null =>
    nameAmong(report, name, at, ids, `a condition of stage "${stage_id}"`);
  for (const [name, given] of mapAt(report, object, steps, "given")) {
    const at = [...steps, "given", name];
    if (condition(name, at) !== null) addGiven(report, stage, { name, given, at }, sent, acquired);
  }
  for (const [name, items] of mapAt(report, object, steps, "items")) {
    const at = [...steps, "items", name];
    if (condition(name, at) === null) continue;
    if (!isJsonArray(items)) report(at, "Expected a list of values");
    else items.forEach((item) => sent.push({ condition_id: name, value: item }));
  }
  const bindings = stage.bindings.map(({ binding_id }) => binding_id);
  for (const [name, found] of mapAt(report, object, steps, "acquired")) {
    const binding_id = nameAmong(report, name, [...steps, "acquired", name], bindings, "a binding of the stage");
    if (binding_id !== null) acquired.push({ binding_id, value: found });
  }
  const signed = listAt(report, object, steps, "signed").flatMap((one, index) => {
    const at = [...steps, "signed", index];
    const name = nameAmong(report, one, at, ids, `a condition of stage "${stage_id}"`);
    if (name !== null && !usesSignature(stage, name)) report(at, `Condition "${name}" does not require a signature`);
    return name ?? [];
  });
  const submitted = readSubmitted(report, stage, object, steps, condition);
  const conditions = new Map<string, Kleene>();
  const judgements = mapAt(report, object, steps, "conditions");
  if (judgements.length > 0 && !EVALUATED.includes(expect)) {
    report(
      [...steps, "conditions"],
      `No condition is evaluated at a stage that is ${expect}: omit "conditions"`,
      "name",
    );
  }
  for (const [name, judged] of judgements) {
    const word = wordAt(report, judged, [...steps, "conditions", name], ["true", "false", "unknown"] as const);
    if (condition(name, [...steps, "conditions", name]) !== null && word !== null) conditions.set(name, word);
  }
  const evaluated_at = instantAt(report, object, steps, "evaluated_at") ?? evaluatedAt;
  const timed = stage.conditions.find(({ condition }) => usesEvaluationTime(condition.predicate));
  if (evaluated_at === null && timed !== undefined && EVALUATED.includes(expect)) {
    const name = timed.condition.condition_id;
    report(steps, `Expected a member "evaluated_at": condition "${name}" is relative to the evaluation time`);
  }
  return { stage_id, sent, acquired, signed, submitted, evaluated_at, expect, conditions };
}

/** Reads the statements that wait: for each condition a value by key id. */
function readSubmitted(
  report: Report,
  { conditions, slotOf }: CompiledStage,
  object: JsonObject,
  steps: Steps,
  condition: (name: string, at: Steps) => string | null,
): StageCase["submitted"] {
  return mapAt(report, object, steps, "submitted").flatMap(([condition_id, byKey]) => {
    const at = [...steps, "submitted", condition_id];
    if (condition(condition_id, at) === null) return [];
    const policy = conditions[slotOf.get(condition_id) ?? -1]?.condition.evidence_use_policy;
    if (policy?.allowed_channels.includes("accepted_submission") !== true) {
      report(at, `Condition "${condition_id}" does not allow channel "accepted_submission"`);
      return [];
    }
    if (!isJsonObject(byKey)) {
      report(at, "Expected an object with a value for each key id");
      return [];
    }
    return Object.entries(byKey).map(([key_id, value]) => ({ condition_id, key_id, value }));
  });
}

/** Reads an optional instant as Unix milliseconds. */
function instantAt(report: Report, object: JsonObject, steps: Steps, name: string): number | null {
  const value = member(object, name);
  if (value === undefined) return null;
  const millis = typeof value === "string" ? exactMillis(value) : null;
  if (millis !== null) return millis;
  report([...steps, name], `Expected "${name}" to be an RFC 3339 date-time with offset, exact to the millisecond`);
  return null;
}

/** Whether a condition requires signed evidence. */
function usesSignature({ conditions, slotOf }: CompiledStage, name: string): boolean {
  const policy = conditions[slotOf.get(name) ?? -1]?.condition.evidence_use_policy;
  if (policy === undefined) return false;
  const { authorization, integrity, required_assurance } = policy;
  const isSigned = authorization === "signature" || integrity === "signed_content";
  return isSigned || required_assurance.includes("source_signature");
}

/** Adds a value of `given`: as an item from the caller if the condition allows that, else as the result of each binding. */
function addGiven(
  report: Report,
  { conditions, slotOf, bindings }: CompiledStage,
  { name, given, at }: { readonly name: string; readonly given: JsonValue; readonly at: Steps },
  sent: { condition_id: string; value: JsonValue }[],
  acquired: { binding_id: string; value: JsonValue }[],
): void {
  const policy = conditions[slotOf.get(name) ?? -1]?.condition.evidence_use_policy;
  if (policy?.allowed_channels.includes("caller_submission") === true) {
    sent.push({ condition_id: name, value: given });
    return;
  }
  const own = bindings.filter(({ condition_id }) => condition_id === name);
  if (own.length === 0) {
    report(at, `No evidence is possible for "${name}": it has no binding, and callers may not send any`);
  }
  own.forEach(({ binding_id }) => acquired.push({ binding_id, value: given }));
}
