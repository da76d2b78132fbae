/**
 * Reads cases files: what is given, and how the run ends (docs/reference/cli.md, "Cases"). Every name must exist in the
 * law: otherwise a misspelt case would pass without a test.
 */

import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, member } from "../../canonical/json.ts";
import { formatPath } from "../../canonical/path.ts";
import { SPEC_LIMITS } from "../../law/limits.ts";
import { didYouMean, quote } from "../../law/suggest.ts";
import type { ParameterValue } from "../../law/types.ts";
import { exactMillis } from "../../law/value/timestamp.ts";
import { fitProviderResult } from "../../law/value/typed_value.ts";
import { usesEvaluationTime } from "../../law/value/types.ts";
import type { LawNames } from "../../law/words.ts";
import type { CompiledLaw } from "../../run/compile.ts";
import { checkParameters } from "../../run/parameters.ts";
import { durationMillis } from "../../scenario/law_file/expression.ts";
import { readAnswers, readFiles } from "./case_services.ts";
import { readExpectations } from "./expectations.ts";
import type { Case, Cases, CaseSchema, CaseStep, Report, Signing } from "./case_types.ts";
import type { Steps } from "../../scenario/source_position.ts";
import { needsSignature } from "../../law/lint.ts";
import type { Diagnostic } from "./law.ts";
import type { Source } from "./source.ts";

/** Maximum cases of a file. */
export const CASES_MAXIMUM = 4096;

/** Members of a cases file that are no case. `given` holds for every case. */
const HEAD = ["given", "proves", "schemas"];
/** Members of a case that are no name of the law. */
const WORDS = ["now", "stage", "sign", "items", "files", "answers", "steps", "then"];

/** Members of a case by name, with their places. Those of a step stand over those of its case and of `given`. */
type Members = ReadonlyMap<string, { readonly value: JsonValue; readonly at: Steps }>;

/**
 * Reads cases. Cases with diagnostics must not be run.
 *
 * @param over Values that stand over those of every case, by name
 */
export function readCases(
  source: Source,
  law: CompiledLaw,
  names: LawNames,
  over: ReadonlyMap<string, JsonValue> = new Map(),
): { readonly cases: Cases; readonly diagnostics: Diagnostic[] } {
  const diagnostics: Diagnostic[] = [];
  const report: Report = (steps, message, part = "value") => {
    const path = formatPath(steps);
    diagnostics.push({ severity: "error", ...source.locate(steps, part), code: "case_invalid", path, message });
  };
  const file = objectAt(report, source.value, [], "cases by their names");
  const reader = new CaseReader(report, law, names, over);
  const shared = reader.members(member(file, "given"), ["given"], ["steps", "then", "stage"]);
  const own = Object.entries(file).filter(([name]) => !HEAD.includes(name));
  if (own.length === 0) report([], "Expected at least one case");
  if (own.length > CASES_MAXIMUM) report([], `Expected at most ${CASES_MAXIMUM} cases`);
  const cases = own.slice(0, CASES_MAXIMUM).map(([name, value]): Case => ({
    name,
    line: () => source.locate([name], "name").line,
    ...reader.read(value, [name], shared),
  }));
  const schemas = readSchemas(report, member(file, "schemas"), law);
  return { cases: { cases, schemas }, diagnostics };
}

function objectAt(report: Report, value: JsonValue | undefined, steps: Steps, expected: string): JsonObject {
  if (isJsonObject(value)) return value;
  if (value !== undefined) report(steps, `Expected an object with ${expected}`);
  return {};
}

/** Reads cases of one law. */
class CaseReader {
  readonly #report: Report;
  readonly #law: CompiledLaw;
  readonly #names: LawNames;
  readonly #over: Members;
  /** What each name of the law stands for. An id stands for itself where it is no name. */
  readonly #parameters: ReadonlyMap<string, string>;
  readonly #conditions: ReadonlyMap<string, readonly string[]>;
  readonly #bindings: ReadonlySet<string>;
  readonly #keys: ReadonlySet<string> | null;

  constructor(report: Report, law: CompiledLaw, names: LawNames, over: ReadonlyMap<string, JsonValue>) {
    const { parameters = [], conditions, acquisition_bindings, stages: _ } = law.law;
    this.#report = report;
    this.#law = law;
    this.#names = names;
    this.#over = new Map([...over].map(([name, value]) => [name, { value, at: [] }]));
    this.#parameters = new Map(parameters.flatMap(({ parameter_id: id }) => [
      [id, id],
      [names.parameters.get(id) ?? id, id],
    ]));
    const ids = conditions.map(({ condition_id }) => condition_id);
    this.#conditions = new Map<string, readonly string[]>([
      ...ids.map((id): [string, readonly string[]] => [id, [id]]),
      ...Map.groupBy(ids, (id) => names.evidence.get(id) ?? id),
    ]);
    this.#bindings = new Set(acquisition_bindings.map(({ binding_id }) => binding_id));
    const signed = conditions.map(({ evidence_use_policy: policy }) => policy).filter(needsSignature);
    const keys = signed.flatMap(({ authorized_key_ids = [] }) => authorized_key_ids);
    this.#keys = signed.some((policy) => policy.authorized_key_ids === undefined) ? null : new Set(keys);
  }

  /** The members of a case, each a word of cases or a name of the law. */
  members(value: JsonValue | undefined, at: Steps, without: readonly string[] = []): Members {
    const words = WORDS.filter((word) => !without.includes(word));
    const members = new Map<string, { readonly value: JsonValue; readonly at: Steps }>();
    for (const [name, given] of Object.entries(objectAt(this.#report, value, at, "names of the law"))) {
      const isKnown = words.includes(name) || this.#parameters.has(name) || this.#conditions.has(name) ||
        this.#bindings.has(name);
      if (isKnown) members.set(name, { value: given, at: [...at, name] });
      else {this.#unknown([...at, name], "Name", name, [
          ...words,
          ...this.#parameters.keys(),
          ...this.#conditions.keys(),
        ]);}
    }
    return members;
  }

  #unknown(at: Steps, what: string, name: string, known: Iterable<string>): void {
    this.#report(at, `${what} ${quote(name)} is not in the law${didYouMean(name, known)}`, "name");
  }

  read(value: JsonValue, at: Steps, shared: Members): Pick<Case, "parameters" | "steps"> {
    const own = this.members(value, at);
    const listed = own.get("steps")?.value;
    if (listed !== undefined && (!isJsonArray(listed) || listed.length === 0)) {
      this.#report([...at, "steps"], "Expected a list of at least one step");
    }
    const base = over(shared, new Map([...own].filter(([name]) => name !== "steps")), this.#over);
    const steps = isJsonArray(listed) && listed.length > 0
      ? listed.map((one, index) => this.members(one, [...at, "steps", index], ["steps"]))
      : [new Map() as Members];
    const last = steps.length - 1;
    const read = steps.map((step, index) => {
      // The people of the case sign in its first step, and its end is that of the last one.
      const inherited = new Map(
        [...base].filter(([name]) => (name !== "sign" || index === 0) && (name !== "then" || index === last)),
      );
      return this.#step(over(inherited, step, this.#over), at);
    });
    if (![base, ...steps].some((one) => one.has("then"))) {
      this.#report(at, 'Expected a member "then": how the run ends');
    }
    return { parameters: this.#readParameters(base, at), steps: read };
  }

  #step(members: Members, at: Steps): CaseStep {
    const get = (name: string): JsonValue | undefined => members.get(name)?.value;
    const place = (name: string): Steps => members.get(name)?.at ?? at;
    const now = this.#instant(get("now"), place("now"));
    const stage = get("stage") === undefined ? null : this.#stage(get("stage") ?? null, place("stage"));
    const values = new Map<string, JsonValue>();
    const found = new Map<string, JsonValue>();
    // Values of --set come last, since they stand over those by the ids of bindings too.
    for (const [name, { value, at: where }] of [...this.#byReach(members), ...this.#byReach(this.#over)]) {
      if (WORDS.includes(name) || this.#parameters.has(name)) continue;
      if (!this.#conditions.has(name)) found.set(name, value);
      for (const id of this.#conditions.get(name) ?? []) {
        this.#give(id, this.#relative(id, value, now), where, values, found);
      }
    }
    this.#checkTime(now, stage, at);
    const report = this.#report;
    return {
      now,
      stage,
      values,
      found,
      items: this.#items(get("items"), place("items")),
      sign: this.#signers(get("sign"), place("sign")),
      files: readFiles(report, get("files"), place("files")),
      answers: readAnswers(report, get("answers"), place("answers")),
      then: readExpectations(report, this.#law, this.#names, get("then"), place("then")),
    };
  }

  /** Members in the order in which they apply: the id of one condition or binding stands over the name of several. */
  #byReach(members: Members): readonly (readonly [string, { readonly value: JsonValue; readonly at: Steps }])[] {
    const reach = ([name]: readonly [string, unknown]): number => this.#conditions.get(name)?.length ?? 0;
    return [...members].sort((one, other) => reach(other) - reach(one));
  }

  /** A value of a condition: of the caller or of those who sign if the law allows that, else what its bindings find. */
  #give(id: string, value: JsonValue, at: Steps, values: Map<string, JsonValue>, found: Map<string, JsonValue>): void {
    const channels = this.#law.conditionIndex.get(id)?.condition.evidence_use_policy.allowed_channels ?? [];
    const bindings = this.#law.law.acquisition_bindings.filter(({ condition_id }) => condition_id === id);
    // Null takes back a value that is given for every case; of a source it is that it finds nothing.
    if (channels.includes("caller_submission") || bindings.length === 0) {
      value === null ? values.delete(id) : values.set(id, value);
    } else bindings.forEach(({ binding_id }) => found.set(binding_id, value));
    if (channels.includes("caller_submission") || bindings.length > 0) return;
    if (channels.includes("accepted_submission")) return;
    this.#report(at, `No evidence is possible for ${quote(id)}: it has no source, and callers may not send any`);
  }

  /** `now - 1h` as an instant, where the condition compares instants. */
  #relative(id: string, value: JsonValue, now: number | null): JsonValue {
    const domain = this.#law.conditionIndex.get(id)?.condition.observation_domain;
    const match = domain?.domain === "Timestamp" && typeof value === "string" ? RELATIVE.exec(value) : null;
    const millis = match?.[2] === undefined ? 0 : durationMillis(match[2]);
    if (match === null || millis === null || now === null) return value;
    return new Date(now + (match[1] === "-" ? -millis : millis)).toISOString();
  }

  #instant(value: JsonValue | undefined, at: Steps): number | null {
    if (value === undefined) return null;
    const millis = typeof value === "string" ? exactMillis(value) : null;
    if (millis === null) this.#report(at, "Expected an RFC 3339 date-time with offset, exact to the millisecond");
    return millis;
  }

  #checkTime(now: number | null, stage: string | null, at: Steps): void {
    const stages = this.#law.stages.filter((one) => stage === null || one.stage.stage_id === stage);
    const timed = stages.flatMap(({ conditions }) => conditions)
      .find(({ condition }) => usesEvaluationTime(condition.predicate))?.condition.condition_id;
    if (now !== null || timed === undefined) return;
    this.#report(at, `Expected a member "now": ${quote(timed)} is relative to the evaluation time`);
  }

  #stage(value: JsonValue, at: Steps): string | null {
    const ids = this.#law.stages.map(({ stage }) => stage.stage_id);
    const named = new Map(ids.flatMap((id) => [[id, id], [this.#names.stages.get(id) ?? id, id]]));
    const id = typeof value === "string" ? named.get(value) : undefined;
    if (id === undefined) this.#unknown(at, "Stage", String(value), named.keys());
    return id ?? null;
  }

  #items(value: JsonValue | undefined, at: Steps): CaseStep["items"] {
    const items = new Map<string, readonly JsonValue[]>();
    for (const [name, list] of Object.entries(objectAt(this.#report, value, at, "a list of values for each name"))) {
      const ids = this.#conditions.get(name);
      if (ids === undefined) this.#unknown([...at, name], "Name", name, this.#conditions.keys());
      else if (!isJsonArray(list)) this.#report([...at, name], "Expected a list of values");
      else ids.forEach((id) => items.set(id, list));
    }
    return items;
  }

  /** People, each as NAME, as `{NAME: VALUE}`, or as `{NAME: {EVIDENCE: VALUE}}`. */
  #signers(value: JsonValue | undefined, at: Steps): readonly Signing[] {
    if (value === undefined) return [];
    if (!isJsonArray(value)) {
      this.#report(at, "Expected a list of people, as [alice, {bob: false}]");
      return [];
    }
    return value.flatMap((one, index) => {
      const people: readonly (readonly [string, JsonValue?])[] = typeof one === "string"
        ? [[one]]
        : Object.entries(objectAt(this.#report, one, [...at, index], "a value for each name"));
      return people.map(([key_id, value]): Signing => {
        if (this.#keys?.has(key_id) === false) this.#unknown([...at, index], "Person", key_id, this.#keys);
        const named = isJsonObject(value) ? Object.entries(value) : [];
        const isByName = named.length > 0 && named.every(([name]) => this.#conditions.has(name));
        if (!isByName) return { key_id, values: new Map(), ...value === undefined ? {} : { value } };
        const values = named.flatMap(([name, given]) =>
          (this.#conditions.get(name) ?? []).map((id) => [id, given] as const)
        );
        return { key_id, values: new Map(values) };
      });
    });
  }

  #readParameters(members: Members, at: Steps): Case["parameters"] {
    const { parameters } = this.#law.law;
    if (parameters === undefined) return undefined;
    const places = new Map<string, Steps>();
    const values = parameters.flatMap(({ parameter_id, domain }): ParameterValue[] => {
      const name = this.#names.parameters.get(parameter_id) ?? parameter_id;
      const given = members.get(name) ?? members.get(parameter_id);
      if (given === undefined) {
        this.#report(at, `Expected a value of parameter ${quote(name)}`);
        return [];
      }
      places.set(parameter_id, given.at);
      const value = fitProviderResult(given.value, domain);
      if (value !== null) return [{ parameter_id, value }];
      this.#report(given.at, `Expected a value of domain "${domain.domain}", within its bounds`);
      return [];
    });
    if (values.length < parameters.length) return values;
    const checked = checkParameters(this.#law, { kind: "parameters", parameters: values }, SPEC_LIMITS.parametersBytes);
    if (checked.ok) return checked.parameters;
    for (const { message, parameter_id } of checked.faults) this.#report(places.get(parameter_id ?? "") ?? at, message);
    return values;
  }
}

const RELATIVE = /^now(?:\s*([+-])\s*(\S+))?$/;

/** Members over others. Those of `files`, `answers` and `items` are joined. */
function over(...layers: readonly Members[]): Members {
  const members = new Map<string, { readonly value: JsonValue; readonly at: Steps }>();
  for (const [name, one] of layers.flatMap((layer) => [...layer])) {
    const below = members.get(name)?.value;
    const isJoined = ["files", "answers", "items"].includes(name) && isJsonObject(below) && isJsonObject(one.value);
    members.set(name, isJoined ? { ...one, value: { ...below, ...one.value as JsonObject } } : one);
  }
  return members;
}

function readSchemas(report: Report, value: JsonValue | undefined, { law }: CompiledLaw): readonly CaseSchema[] {
  if (value !== undefined && !isJsonArray(value)) report(["schemas"], "Expected a list of schemas");
  const schemas = isJsonArray(value) ? value.map((one, index) => readSchema(report, one, ["schemas", index])) : [];
  const missing = new Set<string>();
  for (const { observation_domain: domain } of law.conditions) {
    if (domain.domain !== "Json" || domain.schema === undefined) continue;
    const { schema_id, version } = domain.schema;
    if (schemas.some((one) => one.schema_id === schema_id && one.version === version)) continue;
    missing.add(`"${schema_id}" version "${version}"`);
  }
  missing.forEach((name) => report(["schemas"], `Expected schema ${name}, which conditions name`));
  return schemas;
}

function readSchema(report: Report, value: JsonValue, at: Steps): CaseSchema {
  const object = objectAt(report, value, at, "schema_id, version, and schema or file");
  const text = (name: string): string => {
    const one = member(object, name);
    if (typeof one !== "string" || one === "") report([...at, name], `Expected a member "${name}" that is a text`);
    return String(one);
  };
  const { schema, file = null } = object;
  if ((schema === undefined) === (file === null)) report(at, 'Expected one of the members "schema" and "file"');
  return {
    schema_id: text("schema_id"),
    version: text("version"),
    schema: schema ?? false,
    file: file === null ? null : text("file"),
  };
}
