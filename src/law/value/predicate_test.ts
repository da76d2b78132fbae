import assert from "node:assert/strict";
import fc from "../../../tests/packages/fast_check.ts";
import relativeTime from "../../../tests/vectors/values/relative_time.json" with { type: "json" };
import vectors from "../../../tests/vectors/values/predicates.json" with { type: "json" };
import type { JsonValue } from "../../canonical/json.ts";
import {
  checkPredicate,
  compilePredicate,
  isPredicateAllowed,
  MAXIMUM_SET_SIZE,
  predicateOnAbsence,
  type PredicateRefusal,
  type PredicateValidation,
} from "./predicate.ts";
import { checkInDomain, domainEqual } from "./typed_value.ts";
import { type ObservationDomain, type Predicate, type TypedValue, VALUE_TYPES, type ValueType } from "./types.ts";
import { type Kleene, triName } from "./truth.ts";
import { PREDICATE_NAMES, type PredicateName } from "./predicates.ts";

interface PredicateVectors {
  readonly cases: readonly {
    readonly domain: ObservationDomain;
    readonly predicate: Predicate;
    readonly values: readonly { readonly value: JsonValue; readonly outcome: Kleene }[];
  }[];
  readonly absence: readonly { readonly predicate: PredicateName; readonly outcome: Kleene }[];
  readonly fits: readonly {
    readonly domain: ObservationDomain;
    readonly predicate: Predicate;
    readonly validation: PredicateValidation;
    readonly refusals: readonly Pick<PredicateRefusal, "code" | "path">[];
  }[];
}

const { cases, absence, fits } = vectors as unknown as PredicateVectors;
const ALL_ENABLED: PredicateValidation = { enable_lexicographic: true, enable_deep_equals: true };

const DOMAINS: Readonly<Record<ValueType, ObservationDomain>> = {
  String: { domain: "String", minimum_bytes: 0, maximum_bytes: 64 },
  Boolean: { domain: "Boolean" },
  Integer: { domain: "Integer" },
  Decimal: { domain: "Decimal" },
  Timestamp: { domain: "Timestamp" },
  Digest: { domain: "Digest", algorithm: "sha256" },
  Json: { domain: "Json", maximum_bytes: 1024 },
};

/** The domains on which each predicate is defined (docs/format/values.md, "Predicates"). */
const ALLOWED: readonly (readonly [predicate: PredicateName, domains: string])[] = [
  ["Equals", "String Boolean Integer Decimal Timestamp Digest Json"],
  ["NotEquals", "String Boolean Integer Decimal Timestamp Digest Json"],
  ["GreaterThan", "Integer Decimal Timestamp Json"],
  ["GreaterThanOrEqual", "Integer Decimal Timestamp Json"],
  ["LessThan", "Integer Decimal Timestamp Json"],
  ["LessThanOrEqual", "Integer Decimal Timestamp Json"],
  ["LexGreaterThan", "String Json"],
  ["LexGreaterThanOrEqual", "String Json"],
  ["LexLessThan", "String Json"],
  ["LexLessThanOrEqual", "String Json"],
  ["Contains", "String Json"],
  ["InSet", "String Boolean Integer Decimal Timestamp Digest Json"],
  ["DeepEquals", "Json"],
  ["DeepNotEquals", "Json"],
  ["Exists", "String Boolean Integer Decimal Timestamp Digest Json"],
  ["NotExists", "String Boolean Integer Decimal Timestamp Digest Json"],
];

function kindOf(value: JsonValue): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

function predicateOf(name: PredicateName, expected: TypedValue): Predicate {
  if (name === "Exists" || name === "NotExists") return { predicate: name };
  return name === "InSet" ? { predicate: name, expected: [expected] } : { predicate: name, expected };
}

Deno.test("isPredicateAllowed() follows the table", () => {
  assert.deepEqual(ALLOWED.map(([predicate]) => predicate), PREDICATE_NAMES);
  for (const [predicate, domains] of ALLOWED) {
    assert.equal(VALUE_TYPES.filter((type) => isPredicateAllowed(predicate, type)).join(" "), domains, predicate);
  }
});

Deno.test("compilePredicate() agrees with the vectors", () => {
  for (const { domain, predicate, values } of cases) {
    assert.deepEqual(checkPredicate(predicate, domain, ALL_ENABLED), [], JSON.stringify(predicate));
    const test = compilePredicate(predicate, domain);
    for (const { value, outcome } of values) {
      const typed = { value, value_type: domain.domain };
      assert.equal(checkInDomain(typed, domain), null, JSON.stringify(typed));
      assert.equal(triName(test(typed, null)), outcome, `${JSON.stringify(value)} ${JSON.stringify(predicate)}`);
    }
  }
});

Deno.test("compilePredicate() compares with the evaluation time as the vectors say", () => {
  for (const { predicate, evaluated_at, values } of relativeTime.cases) {
    const given = predicate as Predicate;
    assert.deepEqual(checkPredicate(given, DOMAINS.Timestamp, ALL_ENABLED), [], JSON.stringify(given));
    const test = compilePredicate(given, DOMAINS.Timestamp);
    for (const { value, outcome } of values) {
      const typed = { value, value_type: "Timestamp" } as const;
      assert.equal(checkInDomain(typed, DOMAINS.Timestamp), null, value);
      assert.equal(triName(test(typed, evaluated_at)), outcome, `${value} ${evaluated_at} ${JSON.stringify(given)}`);
      assert.equal(triName(test({ ...typed, value_type: "String" }, evaluated_at)), "unknown");
    }
  }
});

Deno.test("checkPredicate() accepts a relative time for the order of a Timestamp alone, as the vectors say", () => {
  for (const { domain, predicate, refusals } of relativeTime.fits) {
    const found = checkPredicate(predicate as unknown as Predicate, domain as ObservationDomain, ALL_ENABLED);
    assert.deepEqual(found.map(({ code, path }) => ({ code, path })), refusals, JSON.stringify(predicate));
  }
});

Deno.test("an order relative to the evaluation time is that of the instant moved by the offset", () => {
  const latest = Date.parse("9999-12-31T23:59:59.999Z");
  const instant = fc.integer({ min: 0, max: latest });
  const offset = fc.integer({ min: -86_400_000, max: 86_400_000 });
  const order = fc.constantFrom("GreaterThan", "GreaterThanOrEqual", "LessThan", "LessThanOrEqual");
  fc.assert(fc.property(instant, offset, offset, order, (at, offset_milliseconds, apart, name) => {
    const expected = at + offset_milliseconds;
    fc.pre(expected >= 0 && expected <= latest && expected + apart >= 0 && expected + apart <= latest);
    const value = { value: new Date(expected + apart).toISOString(), value_type: "Timestamp" } as const;
    const relative = { predicate: name, expected: { relative_to: "evaluation_time", offset_milliseconds } } as const;
    const fixed: Predicate = {
      predicate: name,
      expected: { value: new Date(expected).toISOString(), value_type: "Timestamp" },
    };
    const [left, right] = [relative, fixed].map((one) => compilePredicate(one, DOMAINS.Timestamp)(value, at));
    assert.equal(left, right);
  }));
});

Deno.test("compilePredicate() is unknown for a value of another type, except for presence", () => {
  for (const { domain, predicate, values } of cases) {
    if (predicate.predicate === "Exists" || predicate.predicate === "NotExists") continue;
    const test = compilePredicate(predicate, domain);
    for (const value_type of VALUE_TYPES.filter((type) => type !== domain.domain)) {
      for (const { value } of values) {
        assert.equal(
          triName(test({ value, value_type }, null)),
          "unknown",
          `${value_type} ${JSON.stringify(predicate)}`,
        );
      }
    }
  }
});

Deno.test("compilePredicate() has vectors for every predicate on every domain, and every JSON kind in Json", () => {
  const kinds = ["array", "boolean", "null", "number", "object", "string"];
  for (const [name, domains] of ALLOWED) {
    for (const type of domains.split(" ")) {
      const rows = cases.filter(({ domain, predicate }) => predicate.predicate === name && domain.domain === type)
        .flatMap(({ values }) => values);
      assert.ok(rows.length > 0, `${name} on ${type}`);
      if (type !== "Json") continue;
      assert.deepEqual([...new Set(rows.map(({ value }) => kindOf(value)))].sort(), kinds, `${name} on ${type}`);
    }
  }
});

Deno.test("predicateOnAbsence() agrees with the vectors for all predicates", () => {
  assert.deepEqual(absence.map(({ predicate }) => predicate), PREDICATE_NAMES);
  for (const { predicate, outcome } of absence) {
    const made = predicateOf(predicate, { value: "a", value_type: "String" });
    assert.equal(triName(predicateOnAbsence(made)), outcome, predicate);
  }
});

Deno.test("checkPredicate() agrees with the vectors", () => {
  for (const { domain, predicate, validation, refusals } of fits) {
    const found = checkPredicate(predicate, domain, validation).map(({ code, path }) => ({ code, path }));
    assert.deepEqual(found, refusals, `${JSON.stringify(domain)} ${JSON.stringify(predicate)}`);
  }
});

Deno.test("checkPredicate() refuses every predicate that is not defined on a domain", () => {
  const expected = { value: "a", value_type: "String" } as const;
  for (const [name, domains] of ALLOWED) {
    for (const type of VALUE_TYPES.filter((type) => !domains.split(" ").includes(type))) {
      const [found] = checkPredicate(predicateOf(name, expected), DOMAINS[type], ALL_ENABLED);
      assert.equal(found?.code, "predicate_not_allowed");
      assert.equal(found?.message, `Cannot use "${name}" on domain "${type}"`);
    }
  }
});

Deno.test("checkPredicate() accepts sets of up to 4096 values", () => {
  const setOf = (size: number): Predicate => ({
    predicate: "InSet",
    expected: Array.from({ length: size }, (_, value) => ({ value, value_type: "Integer" as const })),
  });
  const check = (size: number): readonly PredicateRefusal[] =>
    checkPredicate(setOf(size), DOMAINS.Integer, ALL_ENABLED);
  assert.deepEqual(check(MAXIMUM_SET_SIZE - 1), []);
  assert.deepEqual(check(MAXIMUM_SET_SIZE), []);
  assert.deepEqual(check(MAXIMUM_SET_SIZE + 1), [
    { code: "too_many", path: ["expected"], message: "Expected at most 4096 values, got 4097" },
  ]);
});

const json = fc.jsonValue() as fc.Arbitrary<JsonValue>;
const scalar: fc.Arbitrary<JsonValue> = fc.oneof(
  fc.constantFrom<JsonValue>(null, true, 0, -0, 1.5, "", "\ud800", "1.5", "2024-06-01", "2024-06-01T10:00:00Z"),
  fc.constantFrom("a".repeat(64), "b".repeat(64)),
  json,
);
const typedValue: fc.Arbitrary<TypedValue> = fc.record({ value: scalar, value_type: fc.constantFrom(...VALUE_TYPES) });

Deno.test("compilePredicate() never throws on any value", () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...PREDICATE_NAMES),
      fc.constantFrom(...VALUE_TYPES),
      typedValue,
      typedValue,
      (name, type, expected, value) => {
        const outcome = triName(compilePredicate(predicateOf(name, expected), DOMAINS[type])(value, null));
        const typeFits = value.value_type === type || name === "Exists" || name === "NotExists";
        if (!typeFits) assert.equal(outcome, "unknown");
      },
    ),
    { numRuns: 5000 },
  );
});

Deno.test("compilePredicate() obeys the laws between predicates", () => {
  const not: Readonly<Record<Kleene, Kleene>> = { true: "false", false: "true", unknown: "unknown" };
  const opposites: readonly (readonly [PredicateName, PredicateName])[] = [
    ["Equals", "NotEquals"],
    ["GreaterThan", "LessThanOrEqual"],
    ["LessThan", "GreaterThanOrEqual"],
    ["LexGreaterThan", "LexLessThanOrEqual"],
    ["LexLessThan", "LexGreaterThanOrEqual"],
    ["DeepEquals", "DeepNotEquals"],
    ["Exists", "NotExists"],
  ];
  fc.assert(
    fc.property(fc.constantFrom(...VALUE_TYPES), scalar, scalar, (type, left, right) => {
      const value: TypedValue = { value: left, value_type: type };
      const expected: TypedValue = { value: right, value_type: type };
      const domain = DOMAINS[type];
      fc.pre(checkInDomain(value, domain) === null && checkInDomain(expected, domain) === null);
      const ask = (name: PredicateName): Kleene =>
        triName(compilePredicate(predicateOf(name, expected), domain)(value, null));
      for (const [name, opposite] of opposites) assert.equal(ask(name), not[ask(opposite)], name);
      if (ask("Equals") !== "unknown") assert.equal(ask("Equals") === "true", domainEqual(value, expected));
      if (ask("GreaterThan") !== "unknown") {
        const held = (["GreaterThan", "LessThan"] as const).filter((name) => ask(name) === "true").length;
        assert.equal(held, ask("GreaterThanOrEqual") === ask("LessThanOrEqual") ? 0 : 1);
      }
      if (ask("InSet") !== "unknown") assert.equal(ask("InSet"), ask("Equals"));
    }),
    { numRuns: 3000 },
  );
});

Deno.test("compilePredicate() is unknown for a value without a canonical form in Contains", () => {
  const expected: TypedValue = { value: [{ a: 1 }], value_type: "Json" };
  const test = compilePredicate({ predicate: "Contains", expected }, DOMAINS.Json);
  assert.equal(triName(test({ value: [{ a: 1 }], value_type: "Json" }, null)), "true");
  assert.equal(triName(test({ value: [{ a: 1 }, { a: "\ud800" }], value_type: "Json" }, null)), "unknown");
});
