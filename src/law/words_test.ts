import assert from "node:assert/strict";
import type { Requirement } from "./types.ts";
import type { Predicate } from "./value/types.ts";
import { comparisonText, durationText, expressionText, isName, lawWords, typeText } from "./words.ts";

const NAMES = [
  ["coverage", true],
  ["_a1", true],
  ["1a", false],
  ["hand-over", false],
  ["", false],
  ["now", false],
  ["caller", false],
  ["in", false],
  ["namespace", false],
] as const;

for (const [text, expected] of NAMES) {
  Deno.test(`isName() ${JSON.stringify(text)}: ${expected}`, () => assert.equal(isName(text), expected));
}

const COMPARISONS: readonly (readonly [Predicate, string])[] = [
  [{ predicate: "GreaterThanOrEqual", expected: { value: 80, value_type: "Integer" } }, "x >= 80"],
  [{ predicate: "LessThan", expected: { value: "91.50", value_type: "Decimal" } }, "x < 91.50"],
  [{ predicate: "Equals", expected: { value: true, value_type: "Boolean" } }, "x == true"],
  [{ predicate: "NotEquals", expected: { value: 'a"\u0085', value_type: "String" } }, 'x != "a\\"\\u0085"'],
  [{ predicate: "Equals", expected: { parameter: "commit-id" } }, "x == commit_id"],
  [
    { predicate: "LessThanOrEqual", expected: { relative_to: "evaluation_time", offset_milliseconds: -1_800_000 } },
    'x <= now - duration("30m")',
  ],
  [
    { predicate: "GreaterThan", expected: { relative_to: "evaluation_time", offset_milliseconds: 1 } },
    'x > now + duration("1ms")',
  ],
  [{ predicate: "LessThan", expected: { relative_to: "evaluation_time", offset_milliseconds: 0 } }, "x < now"],
  [
    { predicate: "LessThan", expected: { value: "2026-01-01", value_type: "Timestamp" } },
    'x < timestamp("2026-01-01")',
  ],
  [{ predicate: "LexLessThan", expected: { value: "b", value_type: "String" } }, 'lex(x) < "b"'],
  [
    { predicate: "DeepEquals", expected: { value: { b: [1], a: "é" }, value_type: "Json" } },
    'deep(x) == json("{\\"a\\":\\"é\\",\\"b\\":[1]}")',
  ],
  [
    { predicate: "InSet", expected: [{ value: "b", value_type: "String" }, { value: "a", value_type: "String" }] },
    'x in ["a", "b"]',
  ],
  [{ predicate: "Contains", expected: { value: "Tested:", value_type: "String" } }, 'x.contains("Tested:")'],
  [{ predicate: "Exists" }, "present(x)"],
  [{ predicate: "NotExists" }, "absent(x)"],
];

for (const [predicate, expected] of COMPARISONS) {
  Deno.test(`comparisonText() ${expected}`, () => {
    assert.equal(comparisonText("x", predicate, (id) => id.replaceAll("-", "_")), expected);
  });
}

const [A, B, C] = [{ Condition: "a" }, { Condition: "b" }, { Condition: "c > 1" }];
const REQUIREMENTS: readonly (readonly [Requirement, string])[] = [
  [A, "a"],
  [{ And: [A, { Or: [B, C] }] }, "a && (b || c > 1)"],
  [{ Or: [{ And: [A, B] }, C] }, "(a && b) || c > 1"],
  [{ And: [A, { And: [B, C] }] }, "a && all(b, c > 1)"],
  [{ Or: [{ Or: [A] }, B] }, "any(a) || b"],
  [{ And: [A] }, "all(a)"],
  [{ Not: A }, "!a"],
  [{ Not: C }, "!(c > 1)"],
  [{ Not: { Not: { And: [A, B] } } }, "!(!(a && b))"],
  [{ RequireGroup: { min: 2, reqs: [A, { And: [A, B] }, C] } }, "at_least(2, a, a && b, c > 1)"],
];

for (const [requirement, expected] of REQUIREMENTS) {
  Deno.test(`expressionText() ${expected}`, () => assert.equal(expressionText(requirement, (id) => id), expected));
}

Deno.test("typeText() writes every domain that has words", () => {
  const rows: readonly (readonly [Parameters<typeof typeText>[0], string | null])[] = [
    [{ domain: "String", minimum_bytes: 0, maximum_bytes: 4096 }, "text"],
    [{ domain: "String", minimum_bytes: 0, maximum_bytes: 64 }, "text(..64)"],
    [{ domain: "String", minimum_bytes: 7, maximum_bytes: 40 }, "text(7..40)"],
    [{ domain: "Integer" }, "integer"],
    [{ domain: "Integer", minimum: 0 }, "count"],
    [{ domain: "Integer", maximum: -1 }, "integer(..-1)"],
    [{ domain: "Decimal", minimum: "0", maximum: "100" }, "percent"],
    [{ domain: "Decimal", minimum: "0.0" }, "decimal(0.0..)"],
    [{ domain: "Boolean" }, "boolean"],
    [{ domain: "Timestamp" }, "time"],
    [{ domain: "Digest", algorithm: "sha256" }, "sha256"],
    [{ domain: "Json", maximum_bytes: 9 }, "json(9)"],
    [{ domain: "Json", maximum_bytes: 9, schema: { schema_id: "a", version: "1" } }, "json(9 a@1)"],
    [{ domain: "Json", maximum_bytes: 9, schema: { schema_id: "a b", version: "1" } }, null],
    [{ domain: "Json", maximum_bytes: 9, schema: { schema_id: "a", version: "@" } }, null],
  ];
  for (const [domain, expected] of rows) assert.equal(typeText(domain), expected);
});

Deno.test("durationText() writes the greatest unit, and a single day in hours", () => {
  const rows = [[90_000, "90s"], [600_000, "10m"], [86_400_000, "24h"], [604_800_000, "7d"], [1500, "1500ms"]] as const;
  for (const [millis, expected] of rows) assert.equal(durationText(millis), expected);
});

Deno.test("lawWords() gives each condition the name of its evidence, and different names to different evidence", () => {
  const condition = (condition_id: string, value: number): unknown => ({
    condition_id,
    observation_domain: { domain: "Integer" },
    predicate: { predicate: "GreaterThan", expected: { value, value_type: "Integer" } },
    evidence_use_policy: {},
  });
  const law = {
    parameters: [{ parameter_id: "commit", domain: { domain: "Boolean" } }],
    conditions: [
      condition("commit", 1),
      condition("a > 1", 1),
      condition("a > 2", 2),
      condition("b > 1", 1),
      condition("c-d", 1),
      condition("c_d", 1),
      condition("d > 2", 1),
    ],
    stages: [{ stage_id: "hand-over" }, { stage_id: "hand_over" }],
    acquisition_bindings: [],
  };
  const words = lawWords(law as never);
  assert.deepEqual(Object.fromEntries(words.evidence), {
    commit: "commit_2",
    "a > 1": "a",
    "a > 2": "a",
    "b > 1": "b",
    "c-d": "c_d_2",
    c_d: "c_d",
    "d > 2": "d_2",
  });
  assert.equal(words.condition("a > 2"), "a > 2");
  assert.equal(words.condition("c-d"), "c_d_2 > 1");
  assert.deepEqual(Object.fromEntries(words.stages), { "hand-over": "hand_over_2", hand_over: "hand_over" });
});
