import type { JsonObject, JsonValue } from "../../canonical/json.ts";
import { constructLaw } from "../../law/law.ts";
import { LAW_LIMITS } from "../../law/limits.ts";
import type { ScenarioLaw } from "../../law/types.ts";
import { permissiveEnvironment } from "../../runpack/verify/claims/scenario_law_construction.ts";
import { LEAST_POLICY } from "../../../tests/least_policy.ts";

/** A law drawn from a seed: every domain, predicate, channel and kind of requirement, and ids of any text. */
export function lawOfSeed(seed: number): ScenarioLaw {
  const random = new Random(seed);
  for (;;) {
    const spec = new Draw(random).spec();
    const built = constructLaw(spec, { limits: LAW_LIMITS, ...permissiveEnvironment(spec) });
    if (built.ok) return built.law;
  }
}

/** Mulberry32: a sequence that its seed determines. */
class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed | 0;
  }

  below(limit: number): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit;
  }

  one<T>(items: readonly T[]): T {
    return items[this.below(items.length)] as T;
  }

  some<T>(items: readonly T[]): T[] {
    return items.filter(() => this.below(2) === 0);
  }

  chance(of: number): boolean {
    return this.below(of) === 0;
  }
}

const ID_PARTS = [
  "a",
  "b",
  "tests_failed",
  "hand-over",
  "now",
  "in",
  "x y",
  "é",
  "#",
  ": ",
  "{c}",
  "1",
  "😀",
  '"',
  "'",
  "*",
  "yes",
  "caller",
];
const TEXTS = [
  "",
  "main",
  "a b",
  'q"',
  "it's",
  "\\",
  "{p}",
  "line\nline",
  "\u0000",
  "\u0085",
  "\u2028",
  "😀",
  " # no",
  "https://a.example/{p}",
  "null",
  "0x1",
];
const DURATIONS = [1, 999, 1000, 90_000, 3_600_000, 86_400_000, 172_800_000, 31_536_000_000];
const KEYS = ["alice", "bob", "keys/carol.pub", "a, b", "[x]", " spaced "];
const PROVIDERS = ["json", "rest", "http", "env", "time", "ci", "a.b", "x y"];
const CHECKS: Readonly<Record<string, readonly string[]>> = {
  json: ["path"],
  rest: ["json_path", "header"],
  http: ["status", "body_hash"],
  env: ["get"],
  time: ["after", "before", "now"],
};

class Draw {
  readonly #random: Random;
  readonly #ids = new Set<string>();
  readonly #parameters: JsonObject[] = [];

  constructor(random: Random) {
    this.#random = random;
  }

  spec(): JsonObject {
    const random = this.#random;
    for (let left = random.below(4); left > 0; left--) {
      const parameter_id = this.#id();
      this.#parameters.push({
        parameter_id,
        domain: this.#scalar(),
        ...random.chance(3) ? { description: random.one(TEXTS) } : {},
      });
    }
    this.#ids.clear();
    const conditions = Array.from({ length: 1 + random.below(5) }, () => this.#condition());
    if (random.chance(4)) this.#compareTwice(conditions);
    const bindings = conditions.flatMap((one) => this.#bindings(one));
    const ids = conditions.map((one) => String(one["condition_id"]));
    const stages: JsonObject[] = [];
    for (let left = 1 + random.below(4); left > 0; left--) {
      stages.push(this.#stage(ids, stages.map((one) => String(one["stage_id"]))));
    }
    const schemas = random.some([["data", "1"], ["a@b", "2"], ["c", "3@4"]]).map(([schema_id, version]) => ({
      schema_id,
      version,
    }));
    return {
      spec_version: "dag-v3",
      scenario_id: this.#id(),
      namespace_id: 1 + random.below(9),
      ...random.chance(4)
        ? {
          value_limits: { selection: "Explicit", maximum_value_bytes: 1 + random.below(9), maximum_payload_bytes: 99 },
        }
        : {},
      parameters: this.#parameters,
      conditions,
      policies: random.chance(4) ? [{ policy_id: "p", description: random.one(TEXTS) }] : [],
      schemas: schemas as unknown as JsonValue,
      acquisition_bindings: bindings,
      stages,
      completion_requirement: this.#requirement(stages.map((one) => String(one["stage_id"])), 3, false),
    };
  }

  #id(): string {
    for (;;) {
      const id = Array.from({ length: 1 + this.#random.below(3) }, () => this.#random.one(ID_PARTS)).join("");
      if (!this.#ids.has(id)) {
        this.#ids.add(id);
        return id;
      }
    }
  }

  #scalar(): JsonObject {
    const random = this.#random;
    return random.one<JsonObject>([
      { domain: "Boolean" },
      { domain: "Timestamp" },
      { domain: "Digest", algorithm: "sha256" },
      { domain: "String", minimum_bytes: 0, maximum_bytes: random.one([40, 4096]) },
      { domain: "Integer", ...random.chance(2) ? { minimum: random.one([0, -5]) } : {} },
      { domain: "Decimal", ...random.chance(2) ? { minimum: "0", maximum: random.one(["100", "100.0"]) } : {} },
    ]);
  }

  #domain(): JsonObject {
    if (!this.#random.chance(5)) return this.#scalar();
    const schema = this.#random.one([{}, { schema: { schema_id: "data", version: "1" } }, {
      schema: { schema_id: "a b", version: "1" },
    }]);
    return { domain: "Json", maximum_bytes: 4096, ...schema };
  }

  #value(domain: string): JsonValue {
    const random = this.#random;
    switch (domain) {
      case "Boolean":
        return random.chance(2);
      case "Timestamp":
        return random.one(["2026-01-31", "2026-01-31T00:00:00Z", "2026-01-31T00:00:00.5+01:00"]);
      case "Digest":
        return random.one(["a", "0"]).repeat(64);
      case "String":
        return random.one(TEXTS);
      case "Integer":
        return random.one([0, 5, -3, 9007199254740991]);
      case "Decimal":
        return random.one(["0", "12.50", "99", `${"9".repeat(400)}.5`]);
      default:
        return random.one<JsonValue>([null, { a: [1, "x"] }, "text", 1.5, []]);
    }
  }

  #expected(domain: string): JsonValue {
    const fitting = this.#parameters.filter((one) => (one["domain"] as JsonObject)["domain"] === domain);
    if (fitting.length > 0 && this.#random.chance(2)) {
      return { parameter: this.#random.one(fitting)["parameter_id"] as string };
    }
    return { value: this.#value(domain), value_type: domain };
  }

  #predicate(domain: string): JsonObject {
    const random = this.#random;
    const names = [
      "Equals",
      "NotEquals",
      "InSet",
      "Exists",
      "NotExists",
      "GreaterThan",
      "LessThanOrEqual",
      "Contains",
      "LexLessThan",
      "DeepEquals",
      "DeepNotEquals",
    ];
    const predicate = random.one(names);
    if (predicate === "Exists" || predicate === "NotExists") return { predicate };
    if (predicate === "InSet") {
      return { predicate, expected: Array.from({ length: 1 + random.below(3) }, () => this.#expected(domain)) };
    }
    if (domain === "Timestamp" && random.chance(2)) {
      return {
        predicate,
        expected: {
          relative_to: "evaluation_time",
          offset_milliseconds: random.one([-1, 1, 0]) * random.one(DURATIONS),
        },
      };
    }
    return { predicate, expected: this.#expected(domain) };
  }

  #condition(): JsonObject {
    const observation_domain = this.#domain();
    const predicate = this.#predicate(String(observation_domain["domain"]));
    return { condition_id: this.#id(), observation_domain, predicate, evidence_use_policy: this.#policy() };
  }

  /** A second comparison of the first condition, with the ids that a law file would give both. */
  #compareTwice(conditions: JsonObject[]): void {
    const shared = { observation_domain: { domain: "Integer" }, evidence_use_policy: this.#policy() };
    for (const [index, value] of [3, 7].entries()) {
      const predicate = { predicate: "GreaterThan", expected: { value, value_type: "Integer" } };
      conditions[index] = { condition_id: `n > ${value}`, predicate, ...shared };
    }
  }

  #policy(): JsonObject {
    const random = this.#random;
    const isSigned = random.chance(2);
    return {
      ...LEAST_POLICY as unknown as JsonObject,
      allowed_channels: random.one<JsonValue>([
        ["caller_submission"],
        ["local_acquisition"],
        ["provider_acquisition", "local_acquisition"],
        ["caller_submission", "provider_acquisition"],
        ...isSigned ? [["accepted_submission"], ["accepted_submission", "caller_submission"]] : [],
      ]),
      authorization: isSigned ? "signature" : "embedding_authority",
      ...isSigned && random.chance(2)
        ? { authorized_key_ids: [random.one(KEYS), ...random.some(["dave", "erin"])] }
        : {},
      combination: random.one<JsonValue>([{ combination: "AllQualifyingAgree" }, { combination: "AnyQualifying" }, {
        combination: "Quorum",
        minimum: 2,
      }]),
      freshness: random.one<JsonValue>([{ freshness: "NotRequired" }, {
        freshness: "MaximumAge",
        maximum_age_millis: random.one(DURATIONS),
      }]),
      independence: random.one(["distinct_acquisition", "distinct_provider", "not_required"]),
      integrity: random.one(["canonical_content_only", "signed_content", "anchored_content"]),
      required_assurance: random.some([
        "content_integrity",
        "scope",
        "schema_compatibility",
        "source_anchor",
        "source_signature",
      ]),
      ...random.chance(3) ? { requires_all_bindings: true } : {},
    };
  }

  #bindings(condition: JsonObject): JsonObject[] {
    const random = this.#random;
    const policy = condition["evidence_use_policy"] as JsonObject;
    const channels = policy["allowed_channels"] as readonly string[];
    return Array.from({ length: random.below(3) }, (_, index) => {
      const provider_id = random.one(PROVIDERS);
      const channel = provider_id in CHECKS !== random.chance(9) ? "local_acquisition" : "provider_acquisition";
      const check_id = random.one(CHECKS[provider_id] ?? ["status", "a.b"]);
      const id = `${provider_id}.${condition["condition_id"]}`;
      const binding_id = random.chance(3) ? this.#id() : index === 0 ? id : `${id}.${index + 1}`;
      const params = random.chance(6) ? {} : { params: this.#params() };
      return {
        binding_id,
        condition_id: condition["condition_id"] as string,
        channel,
        provider_id,
        check_id,
        ...params,
      };
    }).filter(({ channel }) => channels.includes(channel));
  }

  #params(): JsonValue {
    const random = this.#random;
    const text = (): JsonValue =>
      random.one<JsonValue>(["a.json", "$.a b", "", " x", ...TEXTS, 5, null, ...this.#placeholders()]);
    const names = random.one([["file", "jsonpath"], ["url", "jsonpath"], ["key"], ["timestamp"], ["url"], [
      "url",
      "header_name",
    ], ["x"]]);
    return Object.fromEntries(names.map((name) => [name, text()]));
  }

  #placeholders(): JsonValue[] {
    const [first] = this.#parameters;
    const id = first?.["parameter_id"];
    if (typeof id !== "string") return [];
    return [{ $parameter: id }, ...(/^\w+$/.test(id) ? [{ $template: `https://a.example/{${id}}/x` }] : [])];
  }

  #requirement(ids: readonly string[], depth: number, negates: boolean): JsonValue {
    const random = this.#random;
    if (depth === 0 || random.chance(3)) return { Condition: random.one(ids) };
    const operands = (): JsonValue[] =>
      Array.from({ length: 1 + random.below(3) }, () => this.#requirement(ids, depth - 1, negates));
    switch (random.below(negates ? 4 : 3)) {
      case 0:
        return { And: operands() };
      case 1:
        return { Or: operands() };
      case 2: {
        const reqs = operands();
        return { RequireGroup: { min: 1 + random.below(reqs.length), reqs } };
      }
      default:
        return { Not: this.#requirement(ids, depth - 1, negates) };
    }
  }

  #stage(conditions: readonly string[], before: readonly string[]): JsonObject {
    const random = this.#random;
    const isRoot = before.length === 0 || random.chance(3);
    return {
      stage_id: this.#id(),
      prerequisite: isRoot ? { kind: "root" } : { kind: "requires", requirement: this.#requirement(before, 2, false) },
      completion_requirement: this.#requirement(conditions, 3, true),
      ...random.chance(4) ? { entry_packets: [this.#packet()] } : {},
    };
  }

  #packet(): JsonObject {
    return {
      packet_id: this.#id(),
      schema_id: "data",
      content_type: "application/json",
      visibility_labels: this.#random.some(["internal", "x y"]),
      policy_tags: [],
      targets: [{ kind: "agent", agent_id: this.#id() }],
      expiry: null,
      payload: { kind: "json", value: { text: this.#random.one(TEXTS), n: null } },
    };
  }
}
