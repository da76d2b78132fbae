import assert from "node:assert/strict";
import type { JsonValue } from "../canonical/json.ts";
import {
  type Editable,
  environment,
  flag,
  fullSpec,
  leastSpec,
  policy,
  stage,
} from "../../tests/simulation/kernel/law_specs.ts";
import { constructLaw } from "./law.ts";
import { lintLaw, type WarningCode } from "./lint.ts";

function warningsOf(change: (spec: Editable) => unknown, base: () => Editable): string[] {
  const spec = base();
  change(spec);
  const result = constructLaw(spec, environment());
  assert.ok(result.ok, JSON.stringify(result));
  return lintLaw(result.law).map(({ code, path }) => `${code} ${path}`);
}

/** Adds two bindings to the condition of the minimal spec. */
function twoBindings(spec: Editable, combination: Editable): void {
  const { condition_id } = spec.conditions[0];
  spec.conditions[0].observation_domain = { domain: "String", minimum_bytes: 0, maximum_bytes: 9 };
  spec.conditions[0].predicate = { predicate: "Exists" };
  spec.conditions[0].evidence_use_policy = policy({ allowed_channels: ["local_acquisition"], combination });
  const binding = {
    condition_id,
    channel: "local_acquisition",
    provider_id: "env",
    check_id: "get",
    params: { key: "A" },
  };
  spec.acquisition_bindings = [{ binding_id: "a", ...binding }, { binding_id: "b", ...binding }];
}

Deno.test("lintLaw() finds nothing in the minimal spec", () => {
  assert.deepEqual(warningsOf(() => {}, leastSpec), []);
});

/** The full spec, of which each call has to acquire every binding. */
function requiringSpec(): Editable {
  const spec = fullSpec();
  for (const { condition_id } of spec.acquisition_bindings) {
    const condition = spec.conditions.find((one: Editable) => one.condition_id === condition_id);
    condition.evidence_use_policy.requires_all_bindings = true;
  }
  return spec;
}

Deno.test("lintLaw() warns about probable mistakes", () => {
  const only = (...channels: string[]): Editable => policy({ allowed_channels: channels });
  const packet = { packet_id: "p", content_type: "text/plain", payload: { kind: "bytes", base64: "" } };
  type Row = readonly [change: (spec: Editable) => unknown, base: () => Editable, ...`${WarningCode} $${string}`[]];
  const rows: readonly Row[] = [
    [(s) => s.conditions.push(flag("b")), leastSpec, "condition_unused $.conditions[1]"],
    [
      (s) => s.conditions[0].evidence_use_policy = only("local_acquisition", "provider_acquisition"),
      leastSpec,
      "condition_without_evidence $.conditions[0]",
    ],
    [
      (s) => s.conditions[0].predicate = { predicate: "NotExists" },
      leastSpec,
      "absence_never_observed $.conditions[0]",
    ],
    // In normal form the conditions are sorted: "findings" is the fourth.
    [() => {}, requiringSpec, "quorum_out_of_reach $.conditions[3]"],
    [(s) => s.conditions[1].evidence_use_policy.combination.minimum = 1, requiringSpec],
    [
      (s) => {
        s.conditions[0].evidence_use_policy = { ...only("local_acquisition"), integrity: "signed_content" };
        s.conditions[1].evidence_use_policy.combination.minimum = 1;
      },
      requiringSpec,
      "signature_never_given $.conditions[7]",
    ],
    [(s) => s.stages.push(stage("a", "approved")), leastSpec, "stage_without_effect $.stages[0]"],
    [
      (s) => s.stages[0].entry_packets = [{ ...packet, schema_id: "release" }],
      leastSpec,
      "schema_undeclared $.stages[0].entry_packets[0].schema_id",
    ],
    [
      (s) => {
        s.conditions[1].evidence_use_policy.combination.minimum = 1;
        s.stages[0].entry_packets = [];
        s.schemas = [];
      },
      requiringSpec,
      "schema_undeclared $.conditions[6].observation_domain.schema",
    ],
  ];
  for (const [change, base, ...warnings] of rows) assert.deepEqual(warningsOf(change, base), warnings);
});

Deno.test("lintLaw() warns about evidence that callers can never send", () => {
  const age = { freshness: "MaximumAge", maximum_age_millis: 5 };
  const quorum = { combination: "Quorum", minimum: 2 };
  const signed = { combination: quorum, integrity: "signed_content", authorization: "signature" };
  const rows: readonly (readonly [changes: Editable, ...WarningCode[]])[] = [
    [{ freshness: age }, "age_never_known"],
    [{ freshness: age, integrity: "signed_content" }],
    [{ freshness: age, authorization: "signature" }],
    [{ combination: quorum }, "quorum_out_of_reach"],
    [{ combination: { ...quorum, minimum: 1 } }],
    [{ combination: quorum, independence: "not_required" }, "one_signer_suffices"],
    [{ combination: { ...quorum, minimum: 1 }, independence: "not_required" }],
    [{ ...signed, independence: "not_required", authorized_key_ids: ["a", "b"] }, "one_signer_suffices"],
    // Of evidence that waits only the newest statement of each key counts.
    [{ ...signed, independence: "not_required", allowed_channels: ["accepted_submission"] }],
    [{ combination: quorum, integrity: "signed_content" }],
    [{ ...signed, authorized_key_ids: ["a", "b"] }],
    [{ ...signed, allowed_channels: ["accepted_submission"], authorized_key_ids: ["a", "b"] }],
    [{ ...signed, allowed_channels: ["accepted_submission"], authorized_key_ids: ["a"] }, "quorum_out_of_reach"],
    [{ ...signed, authorized_key_ids: ["a"] }, "quorum_out_of_reach"],
  ];
  for (const [changes, ...codes] of rows) {
    const warnings = warningsOf((spec) => spec.conditions[0].evidence_use_policy = policy(changes), leastSpec);
    assert.deepEqual(warnings, codes.map((code) => `${code} $.conditions[0]`), JSON.stringify(changes));
  }
});

Deno.test("lintLaw() warns if a caller can send a value in place of the only binding", () => {
  for (
    const [channels, required, expected] of [
      [["caller_submission", "local_acquisition"], false, ["bindings_may_be_left_out"]],
      [["caller_submission", "local_acquisition"], true, []],
      [["local_acquisition"], false, []],
    ] as const
  ) {
    const found = warningsOf((spec) => {
      twoBindings(spec, { combination: "AllQualifyingAgree" });
      spec.acquisition_bindings.length = 1;
      spec.conditions[0].evidence_use_policy.allowed_channels = [...channels];
      spec.conditions[0].evidence_use_policy.requires_all_bindings = required;
    }, leastSpec);
    assert.deepEqual(found.map((warning) => warning.split(" ")[0]), expected, JSON.stringify([channels, required]));
  }
});

for (const [independence, warns] of [["distinct_acquisition", false], ["distinct_provider", true]] as const) {
  Deno.test(`lintLaw() two bindings of one provider, AnyQualifying, ${independence}: warns is ${warns}`, () => {
    const found = warningsOf((spec) => {
      twoBindings(spec, { combination: "AnyQualifying" });
      spec.conditions[0].evidence_use_policy.independence = independence;
    }, leastSpec);
    assert.equal(found.some((warning) => warning.startsWith("bindings_may_be_left_out ")), warns);
  });
}

Deno.test("lintLaw() warns about a predicate that no value of the domain satisfies", () => {
  const integers = { minimum: 0, maximum: 10 };
  const decimals = { minimum: "0", maximum: "10" };
  const rows:
    readonly (readonly [type: string, bounds: Editable, predicate: string, value: JsonValue, never: boolean])[] = [
      ["Integer", integers, "GreaterThan", 10, true],
      ["Integer", integers, "GreaterThan", 9, false],
      ["Integer", integers, "GreaterThanOrEqual", 10, false],
      ["Integer", integers, "LessThan", 0, true],
      ["Integer", integers, "LessThan", 1, false],
      ["Integer", integers, "LessThanOrEqual", 0, false],
      ["Integer", {}, "GreaterThan", Number.MAX_SAFE_INTEGER, true],
      ["Decimal", decimals, "GreaterThan", "10.0", true],
      ["Decimal", decimals, "GreaterThan", "9.99", false],
      ["Decimal", decimals, "LessThan", "0", true],
      ["Decimal", {}, "GreaterThan", "10", false],
    ];
  for (const [domain, bounds, predicate, value, never] of rows) {
    const warnings = warningsOf((spec) => {
      spec.conditions[0].observation_domain = { domain, ...bounds };
      spec.conditions[0].predicate = { predicate, expected: { value, value_type: domain } };
    }, leastSpec);
    assert.deepEqual(
      warnings,
      never ? ["predicate_never_true $.conditions[0].predicate"] : [],
      `${predicate} ${value}`,
    );
  }
});

Deno.test("lintLaw() warns if a call gains by leaving out one of several bindings", () => {
  const warning = "bindings_may_be_left_out $.conditions[0].evidence_use_policy";
  const rows: readonly [combination: Editable, negated: boolean, required: boolean, ...warnings: string[]][] = [
    [{ combination: "AllQualifyingAgree" }, false, false, warning],
    [{ combination: "Quorum", minimum: 1 }, false, false, warning],
    [{ combination: "Quorum", minimum: 2 }, false, false],
    [{ combination: "Quorum", minimum: 2 }, true, false, warning],
    [{ combination: "AnyQualifying" }, false, false],
    [{ combination: "AnyQualifying" }, true, false, warning],
    [{ combination: "AllQualifyingAgree" }, false, true],
  ];
  for (const [combination, negated, requires_all_bindings, ...expected] of rows) {
    const found = warningsOf((spec) => {
      twoBindings(spec, combination);
      spec.conditions[0].evidence_use_policy.requires_all_bindings = requires_all_bindings;
      const [stage] = spec.stages;
      if (negated) stage.completion_requirement = { Not: stage.completion_requirement };
    }, leastSpec);
    assert.deepEqual(found, expected, JSON.stringify([combination, negated, requires_all_bindings]));
  }
});

/**
 * Bindings, the minimum of their quorum, whether callers may bring evidence too, and whether a call gains by leaving
 * one out.
 */
const QUORUMS: readonly [bindings: number, minimum: number, submitted: boolean, warns: boolean][] = [
  [2, 1, false, true],
  [3, 2, false, false],
  [4, 2, false, true],
  [5, 3, false, false],
  [3, 2, true, true],
  [2, 2, true, false],
];

for (const [bindings, minimum, submitted, warns] of QUORUMS) {
  const callers = submitted ? " and callers" : "";
  Deno.test(`lintLaw() of a quorum of ${minimum} over ${bindings} bindings${callers}: ${warns ? "warns" : "silent"}`, () => {
    const found = warningsOf((spec) => {
      twoBindings(spec, { combination: "Quorum", minimum });
      const [binding] = spec.acquisition_bindings;
      spec.acquisition_bindings = Array.from({ length: bindings }, (_, at) => ({ ...binding, binding_id: `b${at}` }));
      const channels = submitted ? ["caller_submission", "local_acquisition"] : ["local_acquisition"];
      spec.conditions[0].evidence_use_policy.allowed_channels = channels;
    }, leastSpec);
    assert.equal(found.some((warning) => warning.startsWith("bindings_may_be_left_out ")), warns, found.join());
  });
}
