/** Writes any law as the document of a law file. What has no words stands in the long form. */

import { canonicalize } from "../../canonical/canonicalize.ts";
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, member } from "../../canonical/json.ts";
import { sortedBy } from "../../canonical/order.ts";
import { readPlaceholder } from "../../law/placeholders.ts";
import { leavesOf } from "../../law/requirement_walk.ts";
import { layersOf } from "../../law/stage_layers.ts";
import type { AcquisitionBinding, Condition, Requirement, ScenarioLaw, Stage } from "../../law/types.ts";
import {
  bindingId,
  durationText,
  expressionText,
  type LawWords,
  lawWords,
  literalText,
  partText,
  schemaText,
  typeText,
} from "../../law/words.ts";
import { type Parameters, typedPredicate } from "./comparison.ts";
import { channelOf, policyOfWords } from "./evidence.ts";
import { readExpression } from "./expression.ts";
import { CHECK_LINES, contractType, readLine, withPlaceholders } from "./line.ts";

/** The document of a law file that compiles to a law. */
export function lawDocument(law: ScenarioLaw): JsonObject {
  return new Writer(law).write();
}

/** Characters of a completion requirement on one line; a longer conjunction is a list. */
const LINE_CHARACTERS = 80;

/** A name of a key that a line in brackets can hold. */
const LISTED_KEY = /^[^\s,[\]](?:[^,[\]\n]*[^\s,[\]])?$/;

class Writer {
  readonly #law: ScenarioLaw;
  readonly #words: LawWords;
  readonly #parameters: Parameters;
  readonly #idOfParameter: ReadonlyMap<string, string>;
  /** Ids of conditions that have no words. */
  readonly #long = new Set<string>();
  readonly #longBindings: AcquisitionBinding[] = [];
  readonly #people: Record<string, JsonValue> = {};

  constructor(law: ScenarioLaw) {
    this.#law = law;
    this.#words = lawWords(law);
    const named = (law.parameters ?? []).map(({ parameter_id: id, domain }) =>
      [this.#words.parameters.get(id) ?? id, { id, domain }] as const
    );
    this.#parameters = new Map(named);
    this.#idOfParameter = new Map(named.map(([name, { id }]) => [name, id]));
  }

  write(): JsonObject {
    const { scenario_id, namespace_id, value_limits, policies, schemas } = this.#law;
    const evidence = this.#evidence();
    const stages = layersOf(this.#law.stages).flat().map((stage) =>
      [this.#words.stages.get(stage.stage_id) ?? "", this.#stage(stage)] as const
    );
    const unused = this.#unused();
    return {
      law: scenario_id,
      namespace: namespace_id,
      ...value_limits.selection === "InheritOperator" ? {} : {
        limits: { value_bytes: value_limits.maximum_value_bytes, payload_bytes: value_limits.maximum_payload_bytes },
      },
      ...schemas.length === 0 ? {} : {
        schemas: schemas.map((one) => schemaText(one.schema_id, one.version) ?? asJson(one)),
      },
      ...policies.length === 0 ? {} : { policies: asJson(policies) },
      ...this.#parameters.size === 0 ? {} : { parameters: this.#parameterTypes() },
      ...Object.keys(this.#people).length === 0 ? {} : { people: this.#people },
      ...Object.keys(evidence).length === 0 ? {} : { evidence },
      stages: Object.fromEntries(stages),
      ...this.#complete(),
      ...unused.length === 0 ? {} : { unused },
      ...this.#longForm(),
    };
  }

  #parameterTypes(): JsonObject {
    return Object.fromEntries((this.#law.parameters ?? []).map(({ parameter_id: id, domain, description }) => {
      const name = this.#words.parameters.get(id) ?? id;
      const type = typeText(domain) ?? "";
      if (id === name && description === undefined) return [name, type];
      return [name, { type, ...id === name ? {} : { id }, ...description === undefined ? {} : { description } }];
    }));
  }

  #evidence(): JsonObject {
    const groups = Map.groupBy(this.#law.conditions, ({ condition_id: id }) => this.#words.evidence.get(id) ?? id);
    const bindings = Map.groupBy(this.#law.acquisition_bindings, ({ condition_id }) => condition_id);
    const entries = [...groups].flatMap(([name, conditions]) => {
      const own = conditions.map(({ condition_id }) => bindings.get(condition_id) ?? []);
      const [first] = conditions;
      const type = first === undefined ? null : typeText(first.observation_domain);
      if (first === undefined || type === null || !conditions.every((one) => this.#readsBack(name, one))) {
        for (const { condition_id } of conditions) this.#long.add(condition_id);
        this.#longBindings.push(...own.flat());
        return [];
      }
      const sources = (own[0] ?? []).map((binding) => this.#source(binding));
      const written = sources.filter((source) => source !== null);
      const isWritten = written.length === sources.length;
      if (!isWritten) this.#longBindings.push(...own.flat());
      const bound = isWritten ? own[0] ?? [] : [];
      const isOne = conditions.length === 1;
      return [[name, this.#entry(name, type, first, bound, isWritten ? written : [], isOne)] as const];
    });
    return Object.fromEntries(entries);
  }

  /** Whether a law file can say the comparison of a condition. */
  #readsBack(name: string, { condition_id, predicate, observation_domain }: Condition): boolean {
    const text = this.#words.condition(condition_id);
    const scope = { ofStages: false, names: new Set([name]), parameters: new Set(this.#parameters.keys()) };
    const read = readExpression(text, scope, () => {});
    if (read?.kind !== "comparison") return false;
    const again = typedPredicate(read.comparison, observation_domain, this.#parameters, () => {});
    return again !== undefined && canonicalize(asJson(again)) === canonicalize(asJson(predicate));
  }

  /** A binding as a source; null if it has no words. */
  #source({ provider_id, check_id, channel, params }: AcquisitionBinding): JsonValue | null {
    if (channel !== channelOf(provider_id)) return null;
    const key = `${provider_id}.${check_id}`;
    const isNamed = /^.+\.[^.]+$/.test(key) && !check_id.includes(".");
    if (params === undefined) return this.#line(provider_id, check_id, undefined) ?? (isNamed ? { [key]: null } : null);
    const worded = this.#withNames(params);
    const given = [worded, params].find((one) => this.#isSame(one, params));
    if (given === undefined || params === null) return null;
    return this.#line(provider_id, check_id, given) ?? (isNamed ? { [key]: given } : null);
  }

  #isSame(written: JsonValue, params: JsonValue): boolean {
    const read = withPlaceholders(written, (name) => this.#idOfParameter.get(name) ?? "\0");
    return canonicalize(read) === canonicalize(params);
  }

  /** Params with the names of parameters in place of placeholders. */
  #withNames(params: JsonValue): JsonValue {
    if (isJsonArray(params)) return params.map((one) => this.#withNames(one));
    if (!isJsonObject(params)) return params;
    const placeholder = readPlaceholder(params);
    const nameOf = (id: string): string => `{${this.#words.parameters.get(id) ?? id}}`;
    if (placeholder !== null && typeof placeholder !== "string") {
      if (placeholder.kind === "parameter") return nameOf(placeholder.parameters[0]);
      const { literals, parameters } = placeholder.template;
      return literals.map((literal, at) => literal + (at in parameters ? nameOf(parameters[at] ?? "") : "")).join("");
    }
    return Object.fromEntries(Object.entries(params).map(([name, one]) => [name, this.#withNames(one)]));
  }

  /** The line of a built-in check; null if it has none. */
  #line(provider: string, check: string, params: JsonValue | undefined): string | null {
    const line = CHECK_LINES.find((one) => one.provider === provider && one.check === check);
    if (line === undefined) return null;
    const given = isJsonObject(params) ? params : {};
    const text = [line.word, ...line.params.flatMap((name) => member(given, name) ?? [])].join(" ");
    const source = readLine(text, () => {})?.source;
    const read = source === undefined ? null : asJson(source.params ?? null);
    return read !== null && canonicalize(read) === canonicalize(params ?? null) ||
        (params === undefined && source !== undefined && source.params === undefined)
      ? text
      : null;
  }

  #entry(
    name: string,
    type: string,
    condition: Condition,
    bound: readonly AcquisitionBinding[],
    sources: readonly JsonValue[],
    isOne: boolean,
  ): JsonValue {
    const { condition_id: id } = condition;
    const [source] = sources;
    const [binding] = bound;
    const own = bound.length === 1 && binding !== undefined
      ? contractType(binding.provider_id, binding.check_id)
      : undefined;
    const ids = bound.map(({ binding_id }) => binding_id);
    const isDerived = bound.every((one, index) => one.binding_id === bindingId(one, bound.slice(0, index)));
    const policy = this.#policy(name, condition, bound);
    const others = {
      ...!isOne || id === name ? {} : { id },
      ...isDerived ? {} : { bindings: ids },
    };
    if (Object.keys(others).length === 0) {
      const line = lineOf(type, own, sources, policy);
      if (line !== null) return line;
    }
    return {
      ...type === own ? {} : { type },
      ...others,
      ...source === undefined ? {} : { from: sources.length === 1 ? source : sources },
      ...policy,
    };
  }

  /** The members of an object that give the policy of a condition. */
  #policy(name: string, { evidence_use_policy }: Condition, bound: readonly AcquisitionBinding[]): PolicyMembers {
    const policy = asJson(evidence_use_policy) as JsonObject;
    const { freshness, combination, authorized_key_ids, allowed_channels, authorization } = evidence_use_policy;
    const isSigned = authorization === "signature";
    const keys = member(policy, "authorized_public_keys");
    if (isJsonObject(keys)) this.#people[name] = keys;
    const pinned = isJsonObject(keys) ? keys : null;
    const waits = isSigned && allowed_channels.includes("accepted_submission");
    const within = freshness.freshness === "MaximumAge" ? freshness.maximum_age_millis : undefined;
    const quorum = combination.combination === "Quorum" ? combination.minimum : undefined;
    const any = combination.combination === "AnyQualifying";
    const words = sortedSets(policyOfWords({
      acquired: [...new Set(bound.map(({ channel }) => channel))],
      waits,
      any,
      within,
      quorum,
      signers: authorized_key_ids === undefined ? undefined : { names: authorized_key_ids, keys: pinned },
    }));
    const rest = Object.keys({ ...words, ...policy }).filter((one) =>
      canonicalize(member(words, one) ?? null) !== canonicalize(member(policy, one) ?? null)
    ).map((one) => [one, member(policy, one) ?? false] as const);
    return {
      ...within === undefined ? {} : { within: durationText(within) },
      ...authorized_key_ids === undefined ? {} : { signed_by: pinned === null ? authorized_key_ids : name },
      ...waits ? { waits } : {},
      ...quorum === undefined ? {} : { quorum },
      ...any ? { any } : {},
      ...rest.length === 0 ? {} : { policy: Object.fromEntries(rest) },
    };
  }

  #leaf(id: string): string {
    return this.#long.has(id) ? `condition(${literalText(id)})` : this.#words.condition(id);
  }

  #stage({ stage_id: id, prerequisite, completion_requirement: needs, entry_packets: packets }: Stage): JsonValue {
    const leaf = (one: string): string => this.#leaf(one);
    const whole = expressionText(needs, leaf);
    const isList = whole.length > LINE_CHARACTERS && "And" in needs && needs.And.length > 1;
    const when = isList ? needs.And.map((one) => partText(one, leaf, "And")) : whole;
    const name = this.#words.stages.get(id) ?? id;
    if (name === id && prerequisite.kind === "root" && packets.length === 0) return when;
    return {
      ...name === id ? {} : { id },
      ...prerequisite.kind === "root" ? {} : { after: this.#words.stageRequirement(prerequisite.requirement) },
      when,
      ...packets.length === 0 ? {} : { packets: asJson(packets) },
    };
  }

  /** Left out where it is all stages. */
  #complete(): JsonObject {
    const { stages, completion_requirement: complete } = this.#law;
    const leaves = stages.map(({ stage_id }): Requirement => ({ Condition: stage_id }));
    const [only] = leaves;
    const all = leaves.length === 1 && only !== undefined
      ? only
      : { And: sortedBy(leaves, (one) => canonicalize(asJson(one))) };
    if (canonicalize(asJson(all)) === canonicalize(asJson(complete))) return {};
    return { complete: this.#words.stageRequirement(complete) };
  }

  #unused(): readonly string[] {
    const used = new Set(this.#law.stages.flatMap(({ completion_requirement }) => leavesOf(completion_requirement)));
    const ids = this.#law.conditions.map(({ condition_id }) => condition_id);
    return ids.filter((id) => !used.has(id) && !this.#long.has(id)).map((id) => this.#words.condition(id));
  }

  #longForm(): JsonObject {
    const conditions = this.#law.conditions.filter(({ condition_id }) => this.#long.has(condition_id));
    const bindings = this.#longBindings;
    if (conditions.length === 0 && bindings.length === 0) return {};
    return {
      long: {
        ...conditions.length === 0 ? {} : { conditions: asJson(conditions) },
        ...bindings.length === 0 ? {} : { acquisition_bindings: asJson(bindings) },
      },
    };
  }
}

interface PolicyMembers {
  readonly within?: string;
  readonly signed_by?: readonly string[] | string;
  readonly waits?: true | boolean;
  readonly quorum?: number;
  readonly any?: boolean;
  readonly policy?: JsonObject;
}

/** The line of evidence without an id of its own; null if it needs an object. */
function lineOf(
  type: string,
  own: string | undefined,
  sources: readonly JsonValue[],
  { within, signed_by: signers, waits, quorum, any, policy }: PolicyMembers,
): string | null {
  const [source] = sources;
  if (
    any === true || policy !== undefined || sources.length > 1 || (source !== undefined && typeof source !== "string")
  ) {
    return null;
  }
  const isPlain = waits === undefined && quorum === undefined;
  if (signers === undefined) {
    if (!isPlain || within !== undefined) return null;
    if (source === undefined) return type;
    return type === own ? source : `${type} from ${source}`;
  }
  const isListed = typeof signers === "string" || signers.every((one) => LISTED_KEY.test(one));
  if (source !== undefined || !isListed) return null;
  const group = typeof signers === "string" ? signers : `[${signers.join(", ")}]`;
  if (isPlain) return within === undefined ? `${type} signed by ${group}` : null;
  if (waits !== true || quorum === undefined || type !== "boolean") return null;
  return `${quorum} of ${group}${within === undefined ? "" : ` within ${within}`}`;
}

/** A policy whose sets are sorted as in the normal form. */
function sortedSets(policy: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(policy).map(([name, value]) => [name, isJsonArray(value) ? sortedBy(value, canonicalize) : value]),
  );
}

function asJson(value: unknown): JsonValue {
  return value as JsonValue;
}
