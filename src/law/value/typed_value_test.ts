import assert from "node:assert/strict";
import fc from "../../../tests/packages/fast_check.ts";
import providerVectors from "../../../tests/vectors/values/provider_results.json" with { type: "json" };
import vectors from "../../../tests/vectors/values/typed_values.json" with { type: "json" };
import type { JsonValue } from "../../canonical/json.ts";
import { canonicalize } from "../../canonical/canonicalize.ts";
import { jsonEqual } from "./json_equality.ts";
import {
  checkDomain,
  checkInDomain,
  checkTypedValue,
  domainEqual,
  type DomainFaultCode,
  fitProviderResult,
  scalarKey,
} from "./typed_value.ts";
import { type ObservationDomain, type TypedValue, VALUE_TYPES, type ValueType } from "./types.ts";

interface TypedValueVectors {
  readonly grammar: readonly { readonly value_type: ValueType; readonly value: JsonValue; readonly valid: boolean }[];
  readonly equality: readonly {
    readonly value_type: ValueType;
    readonly left: JsonValue;
    readonly right: JsonValue;
    readonly equal: boolean;
  }[];
  readonly domains: readonly {
    readonly domain: ObservationDomain;
    readonly value: JsonValue;
    readonly fault: DomainFaultCode | null;
  }[];
}

interface ProviderVectors {
  readonly cases: readonly {
    readonly domain: ObservationDomain;
    readonly result: JsonValue;
    readonly value: TypedValue | null;
  }[];
}

const { grammar, equality, domains } = vectors as unknown as TypedValueVectors;
const { cases: providerCases } = providerVectors as unknown as ProviderVectors;

const json = fc.jsonValue({ noUnicodeString: false }) as fc.Arbitrary<JsonValue>;

/** Typed values, many of them equal in different spellings. */
const typedValue: fc.Arbitrary<TypedValue> = fc.oneof(
  fc.constantFrom("0", "-0", "0.0", "1.5", "1.50", "-1.5", "x").map((value) => ({ value, value_type: "Decimal" })),
  fc.constantFrom("1.5", "1.50", "a").map((value) => ({ value, value_type: "String" })),
  fc.constantFrom(0, -0, 1).map((value) => ({ value, value_type: "Integer" })),
  fc.boolean().map((value) => ({ value, value_type: "Boolean" })),
  fc.constantFrom(
    "2024-06-01T10:00:00Z",
    "2024-06-01T12:00:00.0+02:00",
    "2024-06-01T10:00:00.1Z",
    "2024-06-01",
    "never",
  ).map((value) => ({ value, value_type: "Timestamp" })),
  fc.oneof(
    fc.constantFrom<JsonValue>([0], [-0], [[0]], { a: 1, b: 2 }, { b: 2, a: 1 }, null, "1.5", 0, -0, false),
    json,
  ).map((value) => ({ value, value_type: "Json" })),
) as fc.Arbitrary<TypedValue>;

Deno.test("checkTypedValue() agrees with the vectors", () => {
  for (const { value_type, value, valid } of grammar) {
    assert.equal(checkTypedValue(value, value_type) === null, valid, `${value_type} ${JSON.stringify(value)}`);
  }
});

Deno.test("checkTypedValue() has vectors of every JSON kind for every type", () => {
  const kinds = (type: ValueType): Set<string> =>
    new Set(
      grammar.filter((row) => row.value_type === type).map(({ value }) => value === null ? "null" : typeof value),
    );
  for (const type of VALUE_TYPES) {
    assert.ok(kinds(type).isSupersetOf(new Set(["null", "object", "number", "string"])), type);
  }
});

Deno.test("checkTypedValue() reports the expected and the given value", () => {
  const cases: readonly (readonly [value: JsonValue, type: ValueType, message: string])[] = [
    [null, "String", "Expected a string, got null"],
    ["\ud800", "String", "Expected a string of Unicode text, got a lone surrogate"],
    ["true", "Boolean", "Expected a boolean, got a string"],
    [0.5, "Integer", "Expected an integer within ±9007199254740991, got 0.5"],
    [[1], "Integer", "Expected an integer within ±9007199254740991, got an array"],
    ["01", "Decimal", 'Expected a decimal number such as "-12.50", got "01"'],
    [1, "Decimal", "Expected a decimal number as a string, got a number"],
    [{}, "Timestamp", "Expected an RFC 3339 date-time with offset or a full-date, got an object"],
    ["A", "Digest", "Expected 64 lower-case hex digits, got another text"],
  ];
  for (const [value, type, message] of cases) assert.equal(checkTypedValue(value, type), message);
});

Deno.test("checkInDomain() agrees with the vectors", () => {
  for (const { domain, value, fault } of domains) {
    const found = checkInDomain({ value, value_type: domain.domain }, domain);
    assert.equal(found?.code ?? null, fault, `${JSON.stringify(domain)} ${JSON.stringify(value)}`);
  }
});

Deno.test("checkInDomain() refuses a value of another type and one without a canonical form", () => {
  assert.deepEqual(checkInDomain({ value: "a", value_type: "Json" }, { domain: "Boolean" }), {
    code: "value_type_mismatch",
    message: 'Expected value type "Boolean", got "Json"',
  });
  const lone = checkInDomain({ value: ["\udc00"], value_type: "Json" }, { domain: "Json", maximum_bytes: 64 });
  assert.equal(lone?.code, "value_malformed");
});

Deno.test("checkInDomain() holds its limits at n-1, n, n+1 bytes", () => {
  const domain = { domain: "String", minimum_bytes: 0, maximum_bytes: 64 } as const;
  const check = (bytes: number): string | undefined =>
    checkInDomain({ value: "x".repeat(bytes), value_type: "String" }, domain)?.message;
  assert.equal(check(63), undefined);
  assert.equal(check(64), undefined);
  assert.equal(check(65), "Expected at most 64 bytes, got 65");
});

Deno.test("checkDomain() refuses inconsistent bounds", () => {
  const cases: readonly (readonly [domain: ObservationDomain, paths: readonly string[]])[] = [
    [{ domain: "String", minimum_bytes: 0, maximum_bytes: 0 }, []],
    [{ domain: "String", minimum_bytes: 2, maximum_bytes: 1 }, ["minimum_bytes"]],
    [{ domain: "String", minimum_bytes: -1, maximum_bytes: 1.5 }, ["minimum_bytes", "maximum_bytes"]],
    [{ domain: "Boolean" }, []],
    [{ domain: "Integer" }, []],
    [{ domain: "Integer", minimum: 1, maximum: 1 }, []],
    [{ domain: "Integer", minimum: 2, maximum: 1 }, ["minimum"]],
    [{ domain: "Integer", minimum: 0.5, maximum: 2 ** 53 }, ["minimum", "maximum"]],
    [{ domain: "Decimal", minimum: "-0", maximum: "0.0" }, []],
    [{ domain: "Decimal", minimum: "1.01", maximum: "1.0" }, ["minimum"]],
    [{ domain: "Decimal", maximum: "1e3" }, ["maximum"]],
    [{ domain: "Timestamp" }, []],
    [{ domain: "Digest", algorithm: "sha256" }, []],
    [{ domain: "Json", maximum_bytes: 1 }, []],
    [{ domain: "Json", maximum_bytes: 0 }, ["maximum_bytes"]],
  ];
  for (const [domain, paths] of cases) {
    assert.deepEqual(checkDomain(domain).map((fault) => fault.path.join(".")), paths, JSON.stringify(domain));
  }
});

Deno.test("domainEqual() agrees with the vectors in both directions", () => {
  for (const { value_type, left, right, equal } of equality) {
    const label = `${value_type} ${JSON.stringify(left)} ${JSON.stringify(right)}`;
    assert.equal(domainEqual({ value: left, value_type }, { value: right, value_type }), equal, label);
    assert.equal(domainEqual({ value: right, value_type }, { value: left, value_type }), equal, label);
  }
});

Deno.test("domainEqual() is an equivalence", () => {
  fc.assert(
    fc.property(typedValue, typedValue, typedValue, (a, b, c) => {
      assert.ok(domainEqual(a, a));
      assert.equal(domainEqual(a, b), domainEqual(b, a));
      if (domainEqual(a, b) && domainEqual(b, c)) assert.ok(domainEqual(a, c));
    }),
    { numRuns: 2000 },
  );
});

Deno.test("scalarKey() is shared exactly by equal values of a type", () => {
  fc.assert(
    fc.property(typedValue, typedValue, (a, b) => {
      fc.pre(a.value_type === b.value_type);
      const left = scalarKey(a);
      const right = scalarKey(b);
      if (left !== undefined && right !== undefined) assert.equal(new Set([left, right]).size === 1, domainEqual(a, b));
    }),
    { numRuns: 2000 },
  );
});

Deno.test("jsonEqual() is equality of canonical text", () => {
  fc.assert(fc.property(json, json, (a, b) => {
    assert.equal(jsonEqual(a, b), canonicalize(a) === canonicalize(b));
    assert.ok(jsonEqual(a, JSON.parse(canonicalize(a))));
  }));
});

Deno.test("jsonEqual() compares own members only", () => {
  // Deno has no accessor `__proto__`, unlike other hosts of the kernel; any inherited member takes its part.
  const inherits: JsonValue = Object.assign(Object.create({ a: {} }), { b: {} });
  assert.ok(!jsonEqual({ a: {} }, inherits));
  assert.ok(!jsonEqual(inherits, { a: {} }));
});

Deno.test("jsonEqual() compares values of any depth", () => {
  const nested = (depth: number): JsonValue => {
    let value: JsonValue = 0;
    for (let level = 0; level < depth; level += 1) value = level % 2 === 0 ? [value] : { __proto__: null, a: value };
    return value;
  };
  assert.ok(jsonEqual(nested(100_000), nested(100_000)));
  assert.ok(!jsonEqual(nested(100_000), nested(99_998)));
});

Deno.test("fitProviderResult() agrees with the vectors", () => {
  for (const { domain, result, value } of providerCases) {
    assert.deepEqual(fitProviderResult(result, domain), value, `${domain.domain} ${JSON.stringify(result)}`);
  }
});

Deno.test("fitProviderResult() yields values of the domain only", () => {
  const samples: readonly ObservationDomain[] = [
    { domain: "String", minimum_bytes: 1, maximum_bytes: 4 },
    { domain: "Boolean" },
    { domain: "Integer", minimum: 0 },
    { domain: "Decimal", maximum: "10" },
    { domain: "Timestamp" },
    { domain: "Digest", algorithm: "sha256" },
    { domain: "Json", maximum_bytes: 16 },
  ];
  fc.assert(fc.property(json, fc.constantFrom(...samples), (value, domain) => {
    const typed = fitProviderResult(value, domain);
    if (typed !== null) assert.equal(checkInDomain(typed, domain), null);
  }));
});
