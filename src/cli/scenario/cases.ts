/**
 * Cases files: given evidence and expected outcomes, read against the law they are about. Every name has to be one of the law,
 * because a case that tests nothing would pass.
 *
 * @module
 */

import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, member } from "../../canonical/json.ts";
import { nearest } from "../../canonical/nearest.ts";
import { formatPath } from "../../canonical/path.ts";
import type { Kleene } from "../../law/value/truth.ts";
import type { CompiledLaw, CompiledStage } from "../../run/compile.ts";
import type { Diagnostic } from "./law.ts";
import type { Source } from "./source.ts";

/** Most cases of a file. */
export const CASES_MAXIMUM = 4096;

/** What can become of a stage. */
export const STAGE_EXPECTATIONS = ["true", "false", "unknown", "blocked", "denied", "rejected"] as const;
/** One of {@link STAGE_EXPECTATIONS}. */
export type StageExpectation = typeof STAGE_EXPECTATIONS[number];
/** Those of them that come of judging conditions. */
const JUDGED: readonly StageExpectation[] = ["true", "false", "unknown"];
/** What a run can be. */
export const RUN_EXPECTATIONS = ["complete", "active"] as const;

/** An attempt at a stage. */
export interface StageCase {
  readonly stage_id: string;
  /** Values by condition: what the caller sends. */
  readonly sent: readonly { readonly condition_id: string; readonly value: JsonValue }[];
  /** Values by binding; null: nothing is found. */
  readonly acquired: readonly { readonly binding_id: string; readonly value: JsonValue }[];
  readonly signed: readonly string[];
  readonly expect: StageExpectation;
  readonly conditions: ReadonlyMap<string, Kleene>;
}

/** One run. */
export interface Case {
  readonly name: string;
  /** Finds the line that it starts at; only cases that fail are asked. */
  readonly line: () => number;
  readonly stages: readonly StageCase[];
  readonly expect: typeof RUN_EXPECTATIONS[number];
  readonly ready: readonly string[] | null;
}

/** A schema that a cases file brings, in itself or in a file that it names. */
export interface CaseSchema {
  readonly schema_id: string;
  readonly version: string;
  readonly schema: JsonValue;
  /** The path, as it is written, of the file that holds the schema; null where {@link schema} is it. */
  readonly file: string | null;
}

/** What a cases file holds. */
export interface Cases {
  readonly cases: readonly Case[];
  readonly schemas: readonly CaseSchema[];
}

type Steps = readonly (string | number)[];

/** Takes a fault at a place. */
type Refuse = (steps: Steps, message: string, part?: "name" | "value") => void;

/** Reads cases; with any diagnostic they are not to be run. */
export function readCases(
  source: Source,
  law: CompiledLaw,
): { readonly cases: Cases; readonly diagnostics: Diagnostic[] } {
  const diagnostics: Diagnostic[] = [];
  const refuse: Refuse = (steps, message, part = "value") => {
    const path = formatPath(steps);
    diagnostics.push({ severity: "error", ...source.locate(steps, part), code: "case_invalid", path, message });
  };
  const file = objectAt(refuse, source.value, [], ["cases", "schemas"]);
  const cases = listAt(refuse, file, [], "cases").slice(0, CASES_MAXIMUM + 1);
  if (cases.length === 0) refuse(["cases"], "Expected at least one case");
  if (cases.length > CASES_MAXIMUM) refuse(["cases"], `Expected at most ${CASES_MAXIMUM} cases`);
  const read = cases.map((one, index) => readCase(refuse, law, one, ["cases", index], source));
  refuseTwins(refuse, read);
  const schemas = listAt(refuse, file, [], "schemas").map((one, index) => readSchema(refuse, one, ["schemas", index]));
  schemasMissing(law, schemas).forEach((name) => refuse(["schemas"], `Expected schema ${name}, which conditions name`));
  return { cases: { cases: read, schemas }, diagnostics };
}

/** Of two cases with one name nobody could tell which failed. */
function refuseTwins(refuse: Refuse, cases: readonly Case[]): void {
  const seen = new Set<string>();
  cases.forEach(({ name }, index) => {
    if (name !== "" && seen.has(name)) refuse(["cases", index, "name"], `Expected another name: "${name}" is taken`);
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

function objectAt(refuse: Refuse, value: JsonValue | undefined, steps: Steps, names: readonly string[]): JsonObject {
  if (!isJsonObject(value)) {
    refuse(steps, `Expected an object with ${names.join(", ")}`);
    return {};
  }
  for (const name of Object.keys(value)) {
    if (names.includes(name)) continue;
    const meant = nearest(name, names);
    const hint = meant === null ? `known are ${names.join(", ")}` : `did you mean "${meant}"?`;
    refuse([...steps, name], `Unknown member "${name}": ${hint}`, "name");
  }
  return value;
}

/** A member that is a list; none where it is absent. */
function listAt(refuse: Refuse, object: JsonObject, steps: Steps, name: string): readonly JsonValue[] {
  const value = member(object, name) ?? [];
  if (isJsonArray(value)) return value;
  refuse([...steps, name], "Expected a list");
  return [];
}

/** A member that is an object of any names; empty where it is absent. */
function mapAt(
  refuse: Refuse,
  object: JsonObject,
  steps: Steps,
  name: string,
): readonly (readonly [string, JsonValue])[] {
  const value = member(object, name);
  if (value === undefined) return [];
  if (isJsonObject(value)) return Object.entries(value);
  refuse([...steps, name], "Expected an object");
  return [];
}

function textAt(refuse: Refuse, object: JsonObject, steps: Steps, name: string): string {
  const value = member(object, name);
  if (typeof value === "string" && value !== "") return value;
  refuse([...steps, name], value === undefined ? `Expected a member "${name}"` : `Expected "${name}" to be a text`);
  return "";
}

/** A member of a closed list; YAML's own true and false stand for the words. */
function wordAt<Word extends string>(
  refuse: Refuse,
  value: JsonValue | undefined,
  steps: Steps,
  words: readonly Word[],
): Word | null {
  const said = typeof value === "boolean" ? String(value) : value;
  const found = words.find((word) => word === said);
  if (found === undefined) {
    const among = `one of ${words.join(", ")}`;
    refuse(steps, value === undefined ? `Expected a member "${steps.at(-1)}": ${among}` : `Expected ${among}`);
  }
  return found ?? null;
}

function nameAmong(
  refuse: Refuse,
  value: JsonValue,
  steps: Steps,
  known: readonly string[],
  what: string,
): string | null {
  if (typeof value === "string" && known.includes(value)) return value;
  const meant = typeof value === "string" ? nearest(value, known) : null;
  const hint = meant === null ? "" : `: did you mean "${meant}"?`;
  refuse(steps, `Expected ${what}, got ${JSON.stringify(value)}${hint}`, "name");
  return null;
}

function readSchema(refuse: Refuse, value: JsonValue, steps: Steps): CaseSchema {
  const object = objectAt(refuse, value, steps, ["schema_id", "version", "schema", "file"]);
  const [schema_id, version] = [textAt(refuse, object, steps, "schema_id"), textAt(refuse, object, steps, "version")];
  const schema = member(object, "schema");
  const file = member(object, "file");
  if ((schema === undefined) === (file === undefined)) refuse(steps, 'Expected one of the members "schema" and "file"');
  if (file !== undefined && typeof file !== "string") refuse([...steps, "file"], 'Expected "file" to be a path');
  return typeof file === "string"
    ? { schema_id, version, file, schema: null }
    : { schema_id, version, file: null, schema: schema ?? false };
}

function readCase(refuse: Refuse, law: CompiledLaw, value: JsonValue, steps: Steps, source: Source): Case {
  const object = objectAt(refuse, value, steps, ["name", "stages", "expect", "ready"]);
  const stages = listAt(refuse, object, steps, "stages");
  if (stages.length === 0) refuse([...steps, "stages"], "Expected at least one stage");
  const known = law.stages.map(({ stage }) => stage.stage_id);
  const ready = member(object, "ready") === undefined
    ? null
    : listAt(refuse, object, steps, "ready").flatMap((one, index) =>
      nameAmong(refuse, one, [...steps, "ready", index], known, "a stage") ?? []
    );
  return {
    name: textAt(refuse, object, steps, "name"),
    line: () => source.locate(steps, "value").line,
    stages: stages.flatMap((one, index) => readStage(refuse, law, one, [...steps, "stages", index]) ?? []),
    expect: wordAt(refuse, member(object, "expect"), [...steps, "expect"], RUN_EXPECTATIONS) ?? "active",
    ready,
  };
}

const STAGE_MEMBERS = ["stage", "given", "items", "acquired", "signed", "expect", "conditions"];

function readStage(refuse: Refuse, law: CompiledLaw, value: JsonValue, steps: Steps): StageCase | null {
  const object = objectAt(refuse, value, steps, STAGE_MEMBERS);
  const expect = wordAt(refuse, member(object, "expect"), [...steps, "expect"], STAGE_EXPECTATIONS) ?? "unknown";
  const known = law.stages.map(({ stage }) => stage.stage_id);
  const stage_id = nameAmong(refuse, member(object, "stage") ?? null, [...steps, "stage"], known, "a stage of the law");
  const stage = law.stages[law.stageIndex.get(stage_id ?? "") ?? -1];
  if (stage === undefined || stage_id === null) return null;
  const [sent, acquired]: [StageCase["sent"][number][], StageCase["acquired"][number][]] = [[], []];
  const ids = stage.conditions.map(({ condition }) => condition.condition_id);
  const condition = (name: string, at: Steps): string | null =>
    nameAmong(refuse, name, at, ids, `a condition of stage "${stage_id}"`);
  for (const [name, given] of mapAt(refuse, object, steps, "given")) {
    const at = [...steps, "given", name];
    if (condition(name, at) !== null) give(refuse, stage, { name, given, at }, sent, acquired);
  }
  for (const [name, items] of mapAt(refuse, object, steps, "items")) {
    const at = [...steps, "items", name];
    if (condition(name, at) === null) continue;
    if (!isJsonArray(items)) refuse(at, "Expected a list of values");
    else items.forEach((item) => sent.push({ condition_id: name, value: item }));
  }
  const bindings = stage.bindings.map(({ binding_id }) => binding_id);
  for (const [name, found] of mapAt(refuse, object, steps, "acquired")) {
    const binding_id = nameAmong(refuse, name, [...steps, "acquired", name], bindings, "a binding of the stage");
    if (binding_id !== null) acquired.push({ binding_id, value: found });
  }
  const signed = listAt(refuse, object, steps, "signed").flatMap((one, index) => {
    const at = [...steps, "signed", index];
    const name = nameAmong(refuse, one, at, ids, `a condition of stage "${stage_id}"`);
    if (name !== null && !asksForSignature(stage, name)) refuse(at, `Condition "${name}" asks for no signature`);
    return name ?? [];
  });
  const conditions = new Map<string, Kleene>();
  const judgements = mapAt(refuse, object, steps, "conditions");
  if (judgements.length > 0 && !JUDGED.includes(expect)) {
    refuse([...steps, "conditions"], `No condition is judged at a stage that is ${expect}: leave them out`, "name");
  }
  for (const [name, judged] of judgements) {
    const word = wordAt(refuse, judged, [...steps, "conditions", name], ["true", "false", "unknown"] as const);
    if (condition(name, [...steps, "conditions", name]) !== null && word !== null) conditions.set(name, word);
  }
  return { stage_id, sent, acquired, signed, expect, conditions };
}

/** Whether a signature matters to the evidence of a condition. */
function asksForSignature({ conditions, slotOf }: CompiledStage, name: string): boolean {
  const policy = conditions[slotOf.get(name) ?? -1]?.condition.evidence_use_policy;
  if (policy === undefined) return false;
  const { authorization, integrity, required_assurance } = policy;
  const isSigned = authorization === "signature" || integrity === "signed_content";
  return isSigned || required_assurance.includes("source_signature");
}

/** A value for a condition goes the way that its evidence comes: from the caller, else by each of its bindings. */
function give(
  refuse: Refuse,
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
    refuse(at, `No evidence can come for "${name}": it has no binding, and callers may not send any`);
  }
  own.forEach(({ binding_id }) => acquired.push({ binding_id, value: given }));
}
