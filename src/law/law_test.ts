import assert from "node:assert/strict";
import { PARAMETERS } from "../../tests/simulation/kernel/law_parameter_rows.ts";
import { approved, PACKETS, REFERENCES, requires, SHAPE } from "../../tests/simulation/kernel/law_refusal_rows.ts";
import { BINDINGS, CONDITIONS, GRAPHS, REQUIREMENTS } from "../../tests/simulation/kernel/law_rule_rows.ts";
import {
  type Editable,
  environment,
  flag,
  fullSpec,
  leastSpec,
  stage,
} from "../../tests/simulation/kernel/law_specs.ts";
import type { JsonValue } from "../canonical/json.ts";
import { constructLaw, reproveLaw } from "./law.ts";
import { lawAsJson } from "./normal_form.ts";
import { classifySatisfiability } from "./proof/satisfiability.ts";
import { collector, REFUSALS_MAXIMUM } from "./refusals.ts";
import type { LawLimits, Refusal, Requirement } from "./types.ts";

/** Constructs a changed copy of a spec and returns the refusals as `code path`. */
function refusalsOf(
  change: (spec: Editable) => unknown,
  base: () => Editable = fullSpec,
  limits: Partial<LawLimits> = {},
): string[] {
  return reasonsOf(change, base, limits).map(({ code, path }) => `${code} ${path}`);
}

function reasonsOf(
  change: (spec: Editable) => unknown,
  base: () => Editable = fullSpec,
  limits: Partial<LawLimits> = {},
): readonly Refusal[] {
  const spec = base();
  change(spec);
  const result = constructLaw(spec, environment(limits));
  return result.ok ? [] : result.refusals;
}

const ROWS = [...SHAPE, ...PACKETS, ...REFERENCES, ...REQUIREMENTS, ...GRAPHS, ...CONDITIONS, ...BINDINGS];

Deno.test("constructLaw() accepts the minimal and the full spec", () => {
  assert.deepEqual(reasonsOf(() => {}, leastSpec), []);
  assert.deepEqual(reasonsOf(() => {}, fullSpec), []);
});

Deno.test("constructLaw() refuses exactly the rows of the table", () => {
  for (const [what, change, ...refusals] of ROWS) assert.deepEqual(refusalsOf(change), refusals, what);
});

Deno.test("constructLaw() refuses predicates that the operator has not enabled", () => {
  assert.deepEqual(refusalsOf(() => {}, fullSpec, { enable_deep_equals: false }), [
    "predicate_not_enabled $.conditions[5].predicate.predicate",
  ]);
});

Deno.test("constructLaw() refuses a requirement that it cannot prove within the budget", () => {
  const requirement = {
    Or: [{ And: [approved, { Condition: "frozen" }] }, { And: [{ Not: approved }, { Not: { Condition: "frozen" } }] }],
  };
  const change = (spec: Editable): unknown => spec.stages[0].completion_requirement = requirement;
  assert.deepEqual(refusalsOf(change, fullSpec), []);
  assert.deepEqual(refusalsOf(change, fullSpec, { proof_budget: 20 }), [
    "proof_budget_exceeded $.stages[0].completion_requirement",
  ]);
});

Deno.test("constructLaw() proves all requirements of a law within one budget, and names the one that exhausts it", () => {
  const either = (a: string, b: string): JsonValue => ({
    Or: [
      { And: [{ Condition: a }, { Not: { Condition: b } }] },
      { And: [{ Condition: b }, { Not: { Condition: a } }] },
    ],
  });
  const spec = (): Editable => {
    const least = leastSpec();
    least.conditions = ["a", "b"].map(flag);
    least.stages = ["s3", "s1", "s2"].map((id) => ({ ...stage(id, "a"), completion_requirement: either("a", "b") }));
    least.completion_requirement = { Condition: "s1" };
    return least;
  };
  const { visits } = classifySatisfiability(either("a", "b") as unknown as Requirement, 2 ** 20);
  assert.deepEqual(reasonsOf(() => {}, spec, { proof_budget: 3 * visits }), []);
  assert.deepEqual(reasonsOf(() => {}, spec, { proof_budget: 3 * visits - 1 }), [{
    code: "proof_budget_exceeded",
    path: "$.stages[0].completion_requirement",
    message: 'Cannot decide whether the requirement of stage "s3" can be both true and false: the ' +
      `${3 * visits - 1} node visits of the law are used up, ${2 * visits} of them by the stages before it`,
  }]);
  assert.deepEqual(reasonsOf(() => {}, spec, { proof_budget: visits - 1 }).map(({ message }) => message), [
    'Cannot decide whether the requirement of stage "s1" can be both true and false: the ' +
    `${visits - 1} node visits of the law are used up`,
  ]);
});

Deno.test("constructLaw() reports the refusals of all parts together, sorted by path and code", () => {
  const found = refusalsOf((spec) => {
    spec.extra = 1;
    spec.scenario_id = "";
    spec.stages[2].completion_requirement = { Condition: "nope" };
    spec.stages[0].prerequisite = requires({ Condition: "ship" });
    spec.conditions[6].predicate.predicate = "Lex";
    delete spec.conditions[1].evidence_use_policy.scope;
    spec.acquisition_bindings[0].provider_id = "nope";
  });
  assert.deepEqual(found, [
    "provider_not_found $.acquisition_bindings[0].provider_id",
    "member_missing $.conditions[1].evidence_use_policy.scope",
    "value_invalid $.conditions[6].predicate.predicate",
    "member_unknown $.extra",
    "identifier_invalid $.scenario_id",
    "graph_cyclic $.stages[0].prerequisite",
    "stage_unreachable $.stages[0].prerequisite",
    "condition_not_found $.stages[2].completion_requirement.Condition",
  ]);
});

Deno.test("constructLaw() counts the refusals beyond those that it shows", () => {
  const count = (unknown: number): readonly Refusal[] =>
    reasonsOf((spec) => {
      for (let index = 0; index < unknown; index++) spec[`x${String(index).padStart(5, "0")}`] = 1;
    });
  assert.equal(count(REFUSALS_MAXIMUM - 1).length, REFUSALS_MAXIMUM - 1);
  assert.equal(count(REFUSALS_MAXIMUM).at(-1)?.code, "member_unknown");
  assert.equal(count(REFUSALS_MAXIMUM).length, REFUSALS_MAXIMUM);
  for (const [unknown, left] of [[REFUSALS_MAXIMUM + 1, 2], [10000, 9745]] as const) {
    const refusals = count(unknown);
    assert.equal(refusals.length, REFUSALS_MAXIMUM);
    assert.deepEqual(refusals.at(-1), {
      code: "more_refusals",
      path: "$",
      message: `The spec has ${left} more refusals; correct the ones above first`,
    });
  }
});

Deno.test("collector() words the refusals that it keeps, and compares a bounded number of names for hints", () => {
  const known = Array.from({ length: 1024 }, (_, index) => `stage_${index}`);
  const near = '; did you mean "stage_0", "stage_1" or "stage_2"?';
  const refusals = collector();
  let worded = 0;
  const fault = {
    kind: "unknown",
    known: [],
    get name(): string {
      worded++;
      return "x";
    },
  } as const;
  for (let index = 0; index < 60_000; index++) refusals.add(fault, null);
  assert.deepEqual([refusals.count(), worded], [60_000, 4096]);
  for (let hints = 0; hints < 20; hints++) {
    assert.equal(refusals.hint("stage_x", known), hints < 16 ? near : "", `${hints}`);
  }
});

Deno.test("constructLaw() has a test for every refusal code", () => {
  const listed = Deno.readTextFileSync(new URL("types.ts", import.meta.url));
  const union = listed.slice(listed.indexOf("export type RefusalCode"), listed.indexOf("export interface LawLimits"));
  const codes = [...union.matchAll(/"([a-z_ ]+)"/g)].flatMap(([, words = ""]) => words.split(" "));
  const tested = new Set<string>(
    [...ROWS, ...PARAMETERS].flatMap(([, , ...refusals]) => refusals).map((refusal) => refusal.split(" ")[0] ?? ""),
  );
  // These have a test of their own.
  for (
    const code of [
      "predicate_not_enabled",
      "proof_budget_exceeded",
      "too_many",
      "payload_too_large",
      "requirement_too_deep",
      "requirement_too_large",
      "more_refusals",
      "packet_schema_not_found",
    ]
  ) {
    tested.add(code);
  }
  assert.ok(codes.length > 40);
  assert.deepEqual(codes.filter((code) => !tested.has(code)), []);
});

Deno.test("constructLaw() continues after a fault, and adds no refusal that follows from it", () => {
  const twice = [{ Condition: "scan" }, { Condition: "scan" }];
  assert.deepEqual(refusalsOf((s) => s.completion_requirement = { RequireGroup: { min: 3, reqs: twice } }), [
    "group_minimum_invalid $.completion_requirement.RequireGroup.min",
    "operand_duplicate $.completion_requirement.RequireGroup.reqs[1]",
  ]);
  const session = { kind: "session", session_id: "a" };
  assert.deepEqual(refusalsOf((s) => s.stages[0].entry_packets[0].targets = [{ kind: "agent" }, session, session]), [
    "member_missing $.stages[0].entry_packets[0].targets[0].agent_id",
    "duplicate $.stages[0].entry_packets[0].targets[2]",
  ]);
  assert.deepEqual(refusalsOf((s) => s.stages[1].prerequisite = { kind: "Root" }), [
    "value_invalid $.stages[1].prerequisite.kind",
  ]);
  assert.deepEqual(refusalsOf((s) => s.stages[1].prerequisite = { kind: "needs", requirement: { any: [] } }), [
    "value_invalid $.stages[1].prerequisite.kind",
    "member_unknown $.stages[1].prerequisite.requirement.any",
  ]);
});

Deno.test("constructLaw() suggests the nearest names", () => {
  const messages: readonly (readonly [(spec: Editable) => unknown, string])[] = [
    [(s) => s.stage = [], 'Member "stage" is unknown; did you mean "stages"?'],
    [(s) => s.conditions[6].predicate.predicate = "equals", 'Value "equals" is unknown; did you mean "Equals"?'],
    [
      (s) => s.completion_requirement = { Condition: "shipp" },
      'Stage "shipp" is not in the spec; did you mean "ship"?',
    ],
    [
      (s) => s.completion_requirement = { RequiredGroup: {} },
      'Member "RequiredGroup" is unknown; did you mean "RequireGroup"?',
    ],
    ...([["any", "Or"], ["one-of", "Or"], ["allOf", "And"], ["none", "Not"], ["at_least", "RequireGroup"]] as const)
      .map((
        [name, kind],
      ) =>
        [
          (s: Editable) => s.completion_requirement = { [name]: [] },
          `Member "${name}" is unknown; did you mean "${kind}"?`,
        ] as const
      ),
    [
      (s) => s.completion_requirement = { xyzzy: [] },
      'Member "xyzzy" is unknown; expected one of "Condition", "And", "Or", "Not", "RequireGroup"',
    ],
    [(s) => s.conditions[6].evidence_use_policy.scope = "any", 'Value "any" is unknown; expected "exact_condition"'],
    [
      (s) => s.stages[0].prerequisite = requires({ Condition: "ship" }),
      'Stages require each other: "ship" requires "ship"',
    ],
  ];
  for (const [change, message] of messages) assert.equal(reasonsOf(change)[0]?.message, message);
});

Deno.test("constructLaw() never throws on any JSON", () => {
  const values: readonly JsonValue[] = [null, true, 1, "x", [], {}, [[]], { stages: [null, 1, "a", [], {}] }];
  for (const value of values) assert.equal(constructLaw(value, environment()).ok, false);
  for (const member of Object.keys(fullSpec())) {
    for (const value of values) {
      const expectsArray = Array.isArray(fullSpec()[member]) && member !== "stages";
      const ok = expectsArray && Array.isArray(value) && value.length === 0 && member === "policies";
      assert.equal(
        refusalsOf((spec) => spec[member] = value).length === 0,
        ok || isHarmless(member, value),
        `${member} ${JSON.stringify(value)}`,
      );
    }
  }
});

/** Values that a member of the full spec may have without another fault. */
function isHarmless(member: string, value: JsonValue): boolean {
  if (member === "scenario_id") return value === "x";
  if (member === "namespace_id") return value === 1;
  return Array.isArray(value) && value.length === 0 && ["schemas", "acquisition_bindings"].includes(member);
}

Deno.test("reproveLaw() accepts a law in normal form and nothing else", () => {
  const result = constructLaw(fullSpec(), environment());
  assert.ok(result.ok);
  const law = JSON.parse(JSON.stringify(lawAsJson(result.law)));
  assert.deepEqual(reproveLaw(law, environment()), result);
  law.stages.reverse();
  assert.equal(reproveLaw(law, environment()).ok, false);
  assert.equal(reproveLaw(fullSpec(), environment()).ok, false);
  assert.equal(reproveLaw({}, environment()).ok, false);
});

/** `schema_id` of the packet, the schemas of the spec, and the refusal of a new law where schema `known` is registered. */
const PACKET_SCHEMAS: readonly [string, readonly string[], string | null][] = [
  ["known", [], null],
  ["brief", [], 'No version of schema "brief" is registered'],
  ["known", ["report"], 'Schema "known" is not among the schemas of the spec'],
  ["brief", ["brief"], null],
  ["brief", ["report", "brief"], null],
  ["brief", ["report"], 'Schema "brief" is not among the schemas of the spec'],
  ["reprot", ["report"], 'Schema "reprot" is not among the schemas of the spec; did you mean "report"?'],
];

Deno.test("constructLaw() requires packets of a new law to name a schema of the spec, or a registered one where it declares none", () => {
  for (const [schema_id, declared, message] of PACKET_SCHEMAS) {
    const spec = leastSpec();
    spec.schemas = declared.map((id) => ({ schema_id: id, version: "1" }));
    const packet = { packet_id: "p", schema_id, content_type: "application/json", payload: { kind: "json", value: 1 } };
    spec.stages[0].entry_packets = [packet];
    const open = { ...environment({}), hasSchema: (): boolean => true };
    const refused = constructLaw(spec, { ...open, hasPacketSchema: (id) => id === "known" });
    assert.deepEqual(
      refused.ok ? [] : refused.refusals,
      message === null
        ? []
        : [{ code: "packet_schema_not_found", path: "$.stages[0].entry_packets[0].schema_id", message }],
    );
    const stored = constructLaw(spec, open);
    assert.ok(stored.ok && reproveLaw(lawAsJson(stored.law), open).ok, "a stored law stays a law");
  }
});

Deno.test("constructLaw() suggests the member names of a packet for a target with those of the policy", () => {
  const reasons = reasonsOf((s) => s.stages[0].entry_packets[0].targets[0] = { target_kind: "agent", target_id: "a" });
  assert.deepEqual(reasons.map(({ code, path }) => `${code} ${path}`), [
    "member_missing $.stages[0].entry_packets[0].targets[0].kind",
  ]);
  assert.match(reasons[0]?.message ?? "", /"target_kind" is what a rule of the policy has.*"agent_id": ID/);
  const [other] = reasonsOf((s) => s.stages[0].entry_packets[0].targets[0] = { agent_id: "a" });
  assert.doesNotMatch(other?.message ?? "", /target_kind/);
});
