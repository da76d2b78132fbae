/** Compiles the document of a law file to the long form of its spec. */

import { canonicalize } from "../../canonical/canonicalize.ts";
import {
  isJsonArray,
  isJsonObject,
  type JsonArray,
  type JsonObject,
  type JsonValue,
  member,
} from "../../canonical/json.ts";
import { utf8Length } from "../../canonical/utf8.ts";
import { SPEC_LIMITS } from "../../law/limits.ts";
import { quote } from "../../law/suggest.ts";
import type { AcquisitionBinding, ParameterDomain, Requirement } from "../../law/types.ts";
import type { ObservationDomain, Predicate } from "../../law/value/types.ts";
import { bindingId, comparisonText, isName, type LawNames, typeText } from "../../law/words.ts";
import { impliedDomain, type NamedParameter, typedPredicate } from "./comparison.ts";
import { channelOf, type Evidence, readEvidence, readPeople } from "./evidence.ts";
import { type Comparison, eachComparison, type Expression, readExpression, type Scope } from "./expression.ts";
import type { Origin } from "./origin.ts";
import { type LawFault, Place, Report } from "./report.ts";
import { readType } from "./type.ts";

/** The long form of a law file. */
export interface CompiledFile {
  /** The spec; it must not be used if there are faults. */
  readonly spec: JsonObject;
  readonly faults: readonly LawFault[];
  readonly warnings: readonly LawFault[];
  /** Where the parts of the spec stand in the file. */
  readonly origin: Origin;
  /** The question that the file asks; it is no part of the law. */
  readonly question: string | null;
  /** The names of the file, by the ids that they stand for. */
  readonly names: LawNames;
}

const MEMBERS = [
  "law",
  "namespace",
  "question",
  "parameters",
  "people",
  "evidence",
  "stages",
  "complete",
  "limits",
  "schemas",
  "policies",
  "unused",
  "long",
];

const LONG_MEMBERS = ["conditions", "acquisition_bindings", "stages"];

/** Compiles a law file. Its root has the member `law`. */
export function compileFile(document: JsonObject, namespaceId: number): CompiledFile {
  return new Compiler(document, namespaceId).compile();
}

/** An expression with its place. */
interface PlacedExpression {
  readonly expression: Expression;
  readonly place: Place;
}

interface NamedStage {
  readonly name: string;
  readonly id: string;
  readonly place: Place;
  readonly after: PlacedExpression | null;
  readonly when: readonly PlacedExpression[];
  readonly packets: JsonValue | undefined;
}

/** A condition that an expression asks for. */
interface NamedCondition {
  readonly evidence: Evidence;
  readonly domain: ObservationDomain;
  readonly predicate: Predicate;
  readonly place: Place;
  readonly comparison: Comparison;
  id: string;
}

/** A requirement with its origin, and a key that equal requirements share. */
interface Node {
  readonly requirement: Requirement;
  readonly origin: Origin;
  readonly key: string;
  /** The operands of a list that is part of a list of its kind around it. */
  readonly list?: { readonly kind: "And" | "Or"; readonly operands: readonly Node[] };
}

class Compiler {
  readonly #report = new Report();
  readonly #warnings: LawFault[] = [];
  readonly #root = new Place([]);
  readonly #document: JsonObject;
  readonly #namespaceId: number;
  readonly #parameters = new Map<string, NamedParameter & { readonly description?: string }>();
  readonly #evidence = new Map<string, Evidence>();
  readonly #stages = new Map<string, NamedStage>();
  /** The conditions of each evidence by the key of their predicates. */
  readonly #conditions = new Map<string, Map<string, NamedCondition>>();
  readonly #ofComparison = new Map<Comparison, NamedCondition>();
  readonly #scopes = new Map<boolean, Scope>();

  constructor(document: JsonObject, namespaceId: number) {
    this.#document = document;
    this.#namespaceId = namespaceId;
  }

  compile(): CompiledFile {
    const report = this.#report;
    report.closed(this.#document, this.#root, MEMBERS, "a law file");
    report.optional(this.#document, this.#root, "long", (one, at) => report.closed(one, at, LONG_MEMBERS, "an object"));
    const question = report.optional(this.#document, this.#root, "question", (one, at) => report.text(one, at)) ?? null;
    this.#readParameters();
    this.#readEvidence();
    const stages = this.#readStages();
    const complete = this.#readComplete();
    const unused = this.#placedList("unused", member(this.#document, "unused") ?? []);
    const all = [...stages.flatMap(({ when }) => when), ...unused];
    for (const { expression, place } of all) {
      eachComparison(expression, (comparison) => this.#compare(comparison, place));
    }
    this.#nameConditions();
    this.#checkUnused();
    if (report.faults.length > 0) {
      return { spec: {}, faults: report.all(), warnings: [], origin: { steps: [] }, question, names: this.#names() };
    }
    const { spec, origin } = this.#build(stages, complete);
    return { spec, faults: report.all(), warnings: this.#warnings, origin, question, names: this.#names() };
  }

  #names(): LawNames {
    const conditions = [...this.#conditions.values()].flatMap((some) => [...some.values()]);
    return {
      evidence: new Map(conditions.map(({ id, evidence }) => [id, evidence.name])),
      parameters: new Map([...this.#parameters].map(([name, { id }]) => [id, name])),
      stages: new Map([...this.#stages.values()].map(({ id, name }) => [id, name])),
    };
  }

  #get(name: string): JsonValue | undefined {
    return member(this.#document, name);
  }

  #checkName(name: string, place: Place): void {
    if (isName(name)) return;
    const message = `Expected a name of letters, digits and "_" that is not reserved, got ${quote(name)}; ` +
      'give any other id by "id"';
    this.#report.fault("name_invalid", message, place, { isName: true });
  }

  #readParameters(): void {
    const place = this.#root.below("parameters");
    for (const [name, value] of this.#report.members(this.#get("parameters"), place, "parameters, as NAME: TYPE")) {
      const at = place.below(name);
      this.#checkName(name, at);
      const object = isJsonObject(value) ? value : {};
      if (isJsonObject(value)) this.#report.closed(value, at, ["type", "id", "description"], "a type or an object");
      const typeAt = isJsonObject(value) ? at.below("type") : at;
      const type = this.#report.text(member(object, "type") ?? (isJsonObject(value) ? null : value), typeAt, "a type");
      const read = type === undefined
        ? undefined
        : readType(type, { start: 0, end: type.length }, this.#report.inside(typeAt));
      if (read?.domain === "Json") this.#report.fault("type_invalid", "A parameter is one value, not JSON", typeAt);
      const id = this.#report.optional(object, at, "id", (one, where) => this.#report.text(one, where)) ?? name;
      const text = this.#report.optional(object, at, "description", (one, where) => this.#report.text(one, where));
      const domain = read as ParameterDomain | undefined;
      this.#parameters.set(name, { id, domain, ...text === undefined ? {} : { description: text } });
    }
  }

  #readEvidence(): void {
    const people = readPeople(this.#report, this.#get("people"), this.#root.below("people"));
    const idOfParameter = new Map([...this.#parameters].map(([name, { id }]) => [name, id]));
    const place = this.#root.below("evidence");
    for (const [name, value] of this.#report.members(this.#get("evidence"), place, "evidence, as NAME: LINE")) {
      const at = place.below(name);
      this.#checkName(name, at);
      if (this.#parameters.has(name)) {
        this.#report.fault("duplicate", `Name ${quote(name)} is that of a parameter`, at, { isName: true });
      }
      this.#evidence.set(name, readEvidence(this.#report, name, value, at, { people, idOfParameter }));
    }
  }

  /** All names are known before the first expression, so each kind of expression has one scope. */
  #scope(ofStages: boolean): Scope {
    const scope = this.#scopes.get(ofStages) ?? {
      ofStages,
      names: new Set(ofStages ? this.#stages.keys() : this.#evidence.keys()),
      parameters: new Set(ofStages ? [] : this.#parameters.keys()),
      calls: new Map([[ofStages ? "stage" : "condition", true]]),
      hint: (name: string, known: Iterable<string>) => this.#report.hint(name, known),
    };
    this.#scopes.set(ofStages, scope);
    return scope;
  }

  #expression(value: JsonValue, place: Place, scope: Scope): PlacedExpression | null {
    const text = this.#report.text(value, place, "an expression");
    const expression = text === undefined ? undefined : readExpression(text, scope, this.#report.inside(place));
    return expression === undefined ? null : { expression, place };
  }

  #placedList(name: string, value: JsonValue, place = this.#root.below(name)): readonly PlacedExpression[] {
    const scope = this.#scope(false);
    if (!isJsonArray(value)) {
      this.#report.fault("type_invalid", "Expected a list of expressions", place);
      return [];
    }
    return value.flatMap((one, index) => this.#expression(one, place.below(index), scope) ?? []);
  }

  #readStages(): readonly NamedStage[] {
    const place = this.#root.below("stages");
    const given = this.#get("stages");
    if (given === undefined && this.#longList("stages").length === 0) this.#report.missing("stages", this.#root);
    const members = this.#report.members(given, place, "stages, as NAME: EXPRESSION");
    // Stages may name later ones, so all names are known before the first expression is read.
    for (const [name, value] of members) {
      const at = place.below(name);
      this.#checkName(name, at);
      const object = isJsonObject(value) ? value : {};
      const id = this.#report.optional(object, at, "id", (one, where) => this.#report.text(one, where)) ?? name;
      this.#stages.set(name, { name, id, place: at, after: null, when: [], packets: undefined });
    }
    return members.map(([name, value]) => this.#readStage(name, value, place.below(name)));
  }

  #readStage(name: string, value: JsonValue, place: Place): NamedStage {
    const isObject = isJsonObject(value);
    if (isObject) this.#report.closed(value, place, ["id", "after", "when", "packets"], "a stage");
    const object = isObject ? value : { when: value };
    const after = member(object, "after");
    const when = member(object, "when");
    const at = isObject ? place.below("when") : place;
    const { id } = this.#stages.get(name) as NamedStage;
    if (when === undefined) this.#report.missing("when", place);
    if (isJsonArray(when) && when.length === 0) this.#report.fault("too_few", "Expected at least one expression", at);
    return {
      name,
      id,
      place,
      after: after === undefined ? null : this.#expression(after, place.below("after"), this.#scope(true)),
      when: when === undefined
        ? []
        : isJsonArray(when)
        ? this.#placedList("when", when, at)
        : [this.#expression(when, at, this.#scope(false)) ?? []].flat(),
      packets: member(object, "packets"),
    };
  }

  #readComplete(): PlacedExpression | null {
    const value = this.#get("complete");
    return value === undefined ? null : this.#expression(value, this.#root.below("complete"), this.#scope(true));
  }

  #compare(comparison: Comparison, place: Place): void {
    const evidence = this.#evidence.get(comparison.name);
    if (evidence === undefined) return;
    const known = this.#conditions.get(evidence.name) ?? new Map<string, NamedCondition>();
    this.#conditions.set(evidence.name, known);
    const domain = this.#domainOf(evidence, comparison, [...known.values()], place);
    const fault = this.#report.inside(place);
    const predicate = domain && typedPredicate(comparison, domain, this.#parameters, fault);
    if (domain === undefined || predicate === undefined) return;
    const key = canonicalize(predicate as JsonValue);
    const condition = known.get(key) ?? { evidence, domain, predicate, place, comparison, id: "" };
    known.set(key, condition);
    this.#ofComparison.set(comparison, condition);
  }

  /** The domain of evidence: as it is declared, else as its comparisons imply, which have to agree. */
  #domainOf(
    evidence: Evidence,
    comparison: Comparison,
    others: readonly NamedCondition[],
    place: Place,
  ): ObservationDomain | undefined {
    if (evidence.domain !== undefined) return evidence.domain;
    // A fault of the type has been reported.
    if (this.#report.faults.some(({ steps }) => isBelow(steps, evidence.place.steps))) return undefined;
    const implied = impliedDomain(comparison, this.#parameters);
    const earlier = others.find((one) => impliedDomain(one.comparison, this.#parameters) !== null)?.domain;
    const domain = implied ?? earlier;
    const span = comparison.named;
    if (domain === undefined) {
      const message = `Type of ${quote(evidence.name)} is unknown: declare it, as ${evidence.name}: integer`;
      return this.#report.fault("type_unknown", message, place, { span });
    }
    if (
      earlier === undefined ||
      canonicalize(earlier as JsonValue) === canonicalize(domain as JsonValue)
    ) {
      return domain;
    }
    const message = `Evidence ${quote(evidence.name)} is compared as ${quote(typeText(earlier) ?? "")} and as ` +
      `${quote(typeText(domain) ?? "")}: declare its type`;
    return this.#report.fault("types_differ", message, place, { span });
  }

  #nameConditions(): void {
    const parameterName = (id: string): string => [...this.#parameters].find(([, one]) => one.id === id)?.[0] ?? id;
    for (const conditions of this.#conditions.values()) {
      const list = [...conditions.values()];
      const isOne = list.length === 1;
      for (const condition of list) {
        const { evidence, predicate, place, comparison } = condition;
        condition.id = isOne ? evidence.id ?? evidence.name : comparisonText(evidence.name, predicate, parameterName);
        const bytes = utf8Length(condition.id);
        if (isOne || bytes <= SPEC_LIMITS.identifierBytes) continue;
        const message =
          `Comparison is the id of its condition, at most ${SPEC_LIMITS.identifierBytes} bytes, got ${bytes}: ` +
          "give it evidence of its own";
        this.#report.fault("identifier_invalid", message, place, { span: comparison });
      }
      if (!isOne) this.#checkSeveral(list);
    }
  }

  /** Rules for evidence that the law compares in several ways. */
  #checkSeveral(conditions: readonly NamedCondition[]): void {
    const [first, second] = conditions;
    if (first === undefined || second === undefined) return;
    const { evidence } = first;
    for (const name of ["id", "bindings"] as const) {
      if (evidence[name] === undefined) continue;
      const message = `Member "${name}" is of one condition, and ${quote(evidence.name)} is compared in ` +
        `${conditions.length} ways`;
      this.#report.fault("value_invalid", message, evidence.place.below(name));
    }
    const ids = conditions.map(({ id }) => quote(id)).join(" and ");
    const name = quote(evidence.name);
    const message = `${name} is compared in ${conditions.length} ways: its conditions are ${ids}, so runs name these ` +
      `in place of ${name}; name these where a program names the condition, while --set and cases still take ${name}`;
    this.#warnings.push({
      code: "condition_renamed",
      message,
      steps: second.place.steps,
      span: second.comparison,
    });
  }

  #checkUnused(): void {
    // A fault of an expression may be why evidence is not compared.
    if (this.#report.faults.length > 0) return;
    for (const { name, place } of this.#evidence.values()) {
      if (this.#conditions.has(name)) continue;
      const message = `Evidence ${quote(name)} is not compared by any stage: compare it, or list it under "unused"`;
      this.#report.fault("evidence_unused", message, place, { isName: true });
    }
  }

  #build(stages: readonly NamedStage[], complete: PlacedExpression | null): { spec: JsonObject; origin: Origin } {
    const below: Record<string, Origin> = {};
    const list = (name: typeof LONG_MEMBERS[number], own: readonly (readonly [JsonObject, Origin])[]): JsonObject => {
      const long = this.#longList(name);
      const place = this.#root.below("long", name);
      const origins = [
        ...own.map(([, origin]) => origin),
        ...long.map((_, index): Origin => ({ steps: place.below(index).steps, isSame: true })),
      ];
      below[name] = { steps: [NAMES_IN_FILE[name] ?? name], below: origins };
      return origins.length === 0 && name !== "stages" ? {} : { [name]: [...own.map(([value]) => value), ...long] };
    };
    const conditions = [...this.#conditions.values()].flatMap((some) => [...some.values()]);
    const spec: Record<string, JsonValue> = {
      spec_version: "dag-v3",
      namespace_id: this.#get("namespace") ?? this.#namespaceId,
      scenario_id: this.#get("law") ?? null,
      ...this.#limits(below),
      ...this.#same("policies", below),
      ...this.#schemas(below),
      ...this.#buildParameters(below),
      ...list("conditions", conditions.map(buildCondition)),
      ...list("acquisition_bindings", conditions.flatMap(buildBindings)),
      ...list("stages", stages.map((stage) => this.#buildStage(stage))),
    };
    const completion = complete === null ? this.#allStages(spec["stages"] as JsonArray) : this.#nodeOf(complete);
    spec["completion_requirement"] = completion.requirement as JsonValue;
    Object.assign(below, {
      scenario_id: { steps: ["law"] },
      namespace_id: { steps: ["namespace"] },
      completion_requirement: completion.origin,
    });
    return { spec, origin: { steps: [], below } };
  }

  #longList(name: string): JsonArray {
    const long = this.#get("long");
    if (long === undefined) return [];
    const place = this.#root.below("long");
    const value = isJsonObject(long) ? member(long, name) ?? [] : [];
    if (isJsonArray(value)) return value;
    this.#report.fault("type_invalid", "Expected a list", place.below(name));
    return [];
  }

  #same(name: string, below: Record<string, Origin>): JsonObject {
    const value = this.#get(name);
    if (value === undefined) return {};
    below[name] = { steps: [name], isSame: true };
    return { [name]: value };
  }

  #limits(below: Record<string, Origin>): JsonObject {
    const limits = this.#get("limits");
    if (limits === undefined) return {};
    const place = this.#root.below("limits");
    this.#report.closed(limits, place, ["value_bytes", "payload_bytes"], "an object");
    const object = isJsonObject(limits) ? limits : {};
    below["value_limits"] = {
      steps: ["limits"],
      below: {
        maximum_value_bytes: { steps: ["limits", "value_bytes"] },
        maximum_payload_bytes: { steps: ["limits", "payload_bytes"] },
      },
    };
    return {
      value_limits: {
        selection: "Explicit",
        maximum_value_bytes: member(object, "value_bytes") ?? null,
        maximum_payload_bytes: member(object, "payload_bytes") ?? null,
      },
    };
  }

  /** Schemas, each as `ID@VERSION` or in the long form. */
  #schemas(below: Record<string, Origin>): JsonObject {
    const schemas = this.#get("schemas");
    if (!isJsonArray(schemas)) return this.#same("schemas", below);
    below["schemas"] = { steps: ["schemas"], isSame: true };
    const long = schemas.map((one, index) => {
      if (typeof one !== "string") return one;
      const at = one.lastIndexOf("@");
      if (at > 0 && at < one.length - 1) return { schema_id: one.slice(0, at), version: one.slice(at + 1) };
      this.#report.fault(
        "value_invalid",
        `Expected a schema as ID@VERSION, got ${quote(one)}`,
        this.#root.below("schemas", index),
      );
      return one;
    });
    return { schemas: long };
  }

  #buildParameters(below: Record<string, Origin>): JsonObject {
    if (this.#parameters.size === 0) return {};
    const names = [...this.#parameters.keys()];
    below["parameters"] = { steps: ["parameters"], below: names.map((name) => ({ steps: ["parameters", name] })) };
    const parameters = [...this.#parameters.values()].map(({ id, domain, description }) => ({
      parameter_id: id,
      domain: domain as JsonValue,
      ...description === undefined ? {} : { description },
    }));
    return { parameters };
  }

  #buildStage({ id, place, after, when, packets }: NamedStage): readonly [JsonObject, Origin] {
    const [first] = when;
    const needs = when.length === 1 && first !== undefined
      ? this.#nodeOf(first)
      : listNode("And", when.map((one) => this.#nodeOf(one)), { steps: place.steps }, false);
    const opens = after === null ? null : this.#nodeOf(after);
    const stage = {
      stage_id: id,
      prerequisite: opens === null
        ? { kind: "root" }
        : { kind: "requires", requirement: opens.requirement as JsonValue },
      completion_requirement: needs.requirement as JsonValue,
      ...packets === undefined ? {} : { entry_packets: packets },
    };
    const afterSteps = place.below("after").steps;
    const origin: Origin = {
      steps: place.steps,
      below: {
        prerequisite: { steps: afterSteps, below: opens === null ? {} : { requirement: opens.origin } },
        completion_requirement: needs.origin,
        entry_packets: { steps: place.below("packets").steps, isSame: true },
      },
    };
    return [stage, origin];
  }

  #allStages(stages: JsonArray): Node {
    const nodes = stages.map((stage): Node => {
      const id = String(isJsonObject(stage) ? member(stage, "stage_id") : "");
      return leafNode(id, { steps: ["stages"] });
    });
    return listNode("And", nodes, { steps: ["stages"] }, false);
  }

  #nodeOf({ expression, place }: PlacedExpression): Node {
    const { start, end } = expression;
    const origin: Origin = { steps: place.steps, span: { start, end } };
    const inner = (one: Expression): Node => this.#nodeOf({ expression: one, place });
    switch (expression.kind) {
      case "And":
      case "Or":
        return listNode(expression.kind, expression.operands.map(inner), origin, expression.isExact);
      case "Not": {
        const operand = inner(expression.operand);
        return {
          requirement: { Not: operand.requirement },
          origin: { ...origin, below: { Not: operand.origin } },
          key: `!${operand.key}`,
        };
      }
      case "RequireGroup": {
        const operands = expression.operands.map(inner);
        const reqs = { ...origin, below: operands.map((one) => one.origin) };
        return {
          requirement: { RequireGroup: { min: expression.min, reqs: operands.map((one) => one.requirement) } },
          origin: { ...origin, below: { RequireGroup: { ...origin, below: { reqs } } } },
          key: `${expression.min} of ${keyOf(operands)}`,
        };
      }
      case "stage":
        return leafNode(this.#stages.get(expression.name)?.id ?? expression.name, origin);
      case "call":
        return leafNode(expression.call.argument ?? "", origin);
      case "comparison":
        return leafNode(this.#ofComparison.get(expression.comparison)?.id ?? "", origin);
    }
  }
}

const NAMES_IN_FILE: Readonly<Record<string, string>> = { conditions: "evidence", acquisition_bindings: "evidence" };

function isBelow(steps: Place["steps"], above: Place["steps"]): boolean {
  return above.every((step, index) => steps[index] === step);
}

function leafNode(id: string, origin: Origin): Node {
  return { requirement: { Condition: id }, origin, key: JSON.stringify(id) };
}

function keyOf(nodes: readonly Node[]): string {
  return `(${nodes.map(({ key }) => key).sort().join(",")})`;
}

/** A list of operands. In one that is not exact, inner lists of its kind are part of it, and equal operands are one. */
function listNode(kind: "And" | "Or", operands: readonly Node[], origin: Origin, isExact: boolean): Node {
  const flat = operands.flatMap((one) => one.list?.kind === kind ? one.list.operands : [one]);
  const nodes = isExact ? operands : [...new Map(flat.map((one) => [one.key, one])).values()];
  const [only] = nodes;
  if (!isExact && nodes.length === 1 && only !== undefined) return only;
  const list = nodes.map((one) => one.requirement);
  return {
    requirement: kind === "And" ? { And: list } : { Or: list },
    origin: { ...origin, below: { [kind]: { ...origin, below: nodes.map((one) => one.origin) } } },
    key: `${kind}${keyOf(nodes)}`,
    ...isExact ? {} : { list: { kind, operands: nodes } },
  };
}

function buildCondition(
  { id, evidence, domain, predicate, place, comparison }: NamedCondition,
): readonly [JsonObject, Origin] {
  const { steps } = evidence.place;
  const value = {
    condition_id: id,
    observation_domain: domain as JsonValue,
    predicate: predicate as JsonValue,
    evidence_use_policy: evidence.policy,
  };
  const compared: Origin = { steps: place.steps, span: comparison };
  const operands = comparison.operands.map((one): Origin => ({ steps: place.steps, span: one }));
  const expected = predicate.predicate === "InSet" ? { ...compared, below: operands } : operands[0] ?? compared;
  return [value, { steps, below: { predicate: { ...compared, below: { expected } } } }];
}

function buildBindings({ id, evidence }: NamedCondition): readonly (readonly [JsonObject, Origin])[] {
  const bindings: AcquisitionBinding[] = [];
  return evidence.sources.map(({ provider, check, params, place }, index) => {
    const named = { provider_id: provider, condition_id: id };
    const binding = {
      binding_id: evidence.bindings?.[index] ?? bindingId(named, bindings),
      condition_id: id,
      channel: channelOf(provider),
      provider_id: provider,
      check_id: check,
      ...params === undefined ? {} : { params },
    };
    bindings.push(binding);
    return [binding, { steps: place.steps }];
  });
}
