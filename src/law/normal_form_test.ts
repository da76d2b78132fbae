import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import fc from "../../tests/packages/fast_check.ts";
import { type Editable, environment, fullSpec, leastSpec } from "../../tests/simulation/kernel/law_specs.ts";
import { canonicalize } from "../canonical/canonicalize.ts";
import type { JsonValue } from "../canonical/json.ts";
import { constructLaw, graphIdentity, lawIdentity, reproveLaw } from "./law.ts";
import { lawAsJson, normalizeRequirement } from "./normal_form.ts";
import { collector } from "./refusals.ts";
import type { Requirement, ScenarioLaw } from "./types.ts";

const sha256 = (data: string | Uint8Array): string => createHash("sha256").update(data).digest("hex");

function lawOf(spec: JsonValue): ScenarioLaw {
  const result = constructLaw(spec, environment());
  assert.ok(result.ok, JSON.stringify(result));
  return result.law;
}

/** The arrays whose order is significant: those inside payloads, params and expected values. */
const ORDERED_INSIDE: ReadonlySet<string> = new Set(["payload", "params", "value"]);

/** The same spec with members, and items of arrays that are sets, in a random order. */
function shuffled(value: JsonValue, draw: () => number, ordered = false): JsonValue {
  const shuffle = <T>(items: T[]): T[] =>
    items.map((item) => ({ item, at: draw() })).sort((a, b) => a.at - b.at).map(({ item }) => item);
  if (Array.isArray(value)) {
    const items = value.map((item: JsonValue) => shuffled(item, draw, ordered));
    return ordered ? items : shuffle(items);
  }
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value as { [name: string]: JsonValue });
  return Object.fromEntries(
    shuffle(
      members.map(([name, inner]) => [name, shuffled(inner, draw, ordered || ORDERED_INSIDE.has(name))] as const),
    ),
  );
}

Deno.test("lawIdentity() and graphIdentity() do not depend on the order in a spec", () => {
  const law = lawOf(fullSpec());
  fc.assert(
    fc.property(fc.infiniteStream(fc.nat()), (draws) => {
      const spec = shuffled(fullSpec(), () => draws.next().value);
      const again = lawOf(spec);
      assert.equal(canonicalize(lawAsJson(again)), canonicalize(lawAsJson(law)));
      assert.equal(lawIdentity(sha256, again), lawIdentity(sha256, law));
      assert.equal(graphIdentity(sha256, again), graphIdentity(sha256, law));
      assert.ok(reproveLaw(JSON.parse(canonicalize(lawAsJson(again))), environment()).ok);
    }),
    { numRuns: 200 },
  );
});

Deno.test("constructLaw() refuses for the same reasons with any order in a spec", () => {
  const broken = fullSpec();
  broken.stages[0].completion_requirement = { Condition: "nope" };
  broken.conditions[0].evidence_use_policy.replay = "digest_only";
  broken.completion_requirement.Or.push({ And: [{ Condition: "build" }, { Condition: "scan" }] });
  const codes = (spec: JsonValue): string[] => {
    const result = constructLaw(spec, environment());
    return result.ok ? [] : result.refusals.map(({ code }) => code).sort();
  };
  assert.equal(codes(broken).length, 3);
  fc.assert(
    fc.property(fc.infiniteStream(fc.nat()), (draws) => {
      assert.deepEqual(codes(shuffled(broken, () => draws.next().value)), codes(broken));
    }),
  );
});

Deno.test("lawIdentity() depends on every value of a spec", () => {
  const identities = new Set<string>([lawIdentity(sha256, lawOf(fullSpec()))]);
  const changes: readonly ((spec: Editable) => unknown)[] = [
    (s) => s.scenario_id = "other",
    (s) => s.namespace_id = 3,
    (s) => s.value_limits.maximum_payload_bytes = 4095,
    (s) => s.policies.pop(),
    (s) => delete s.policies[0].description,
    (s) => s.schemas.pop(),
    (s) => s.conditions[6].predicate.expected.value = false,
    (s) => s.conditions[6].evidence_use_policy.required_assurance.pop(),
    (s) => s.acquisition_bindings[0].params.key = "ZONE",
    (s) => s.stages[0].entry_packets[0].payload.value.steps.reverse(),
    (s) => s.stages[0].entry_packets[0].expiry = null,
    (s) => s.stages[1].completion_requirement.RequireGroup.min = 1,
  ];
  for (const change of changes) {
    const spec = fullSpec();
    change(spec);
    identities.add(lawIdentity(sha256, lawOf(spec)));
  }
  assert.equal(identities.size, changes.length + 1);
});

Deno.test("graphIdentity() covers stage ids, prerequisites and the scenario's requirement, and nothing else", () => {
  const graph = (change: (spec: Editable) => unknown): string => {
    const spec = fullSpec();
    change(spec);
    return graphIdentity(sha256, lawOf(spec));
  };
  const base = graph(() => {});
  assert.equal(graph((s) => s.scenario_id = "other"), base);
  assert.equal(graph((s) => s.stages[0].entry_packets = []), base);
  assert.equal(graph((s) => s.stages[2].completion_requirement = { Condition: "manifest" }), base);
  assert.notEqual(graph((s) => s.stages[0].prerequisite.requirement.RequireGroup.min = 1), base);
  assert.notEqual(graph((s) => s.completion_requirement = { Condition: "ship" }), base);
});

Deno.test("constructLaw() fills in defaults", () => {
  const spec = leastSpec();
  spec.stages[0].entry_packets = [{
    packet_id: "p",
    schema_id: "s",
    content_type: "application/json",
    payload: { kind: "json", value: null },
  }];
  const law = lawOf(spec);
  assert.deepEqual(law.value_limits, { selection: "InheritOperator" });
  assert.deepEqual([law.policies, law.schemas, law.acquisition_bindings], [[], [], []]);
  const packet = law.stages[0]?.entry_packets[0];
  assert.deepEqual([packet?.visibility_labels, packet?.policy_tags, packet?.targets], [[], [], []]);
  assert.equal(packet?.expiry, null);
  spec.stages[0].entry_packets[0].expiry = null;
  assert.equal(lawIdentity(sha256, lawOf(spec)), lawIdentity(sha256, law));
  const written = { ...leastSpec(), value_limits: { selection: "InheritOperator" }, policies: [], schemas: [] };
  assert.equal(lawIdentity(sha256, lawOf(written)), lawIdentity(sha256, lawOf(leastSpec())));
});

Deno.test("constructLaw() sorts ids by code point and sets by canonical bytes", () => {
  const spec = leastSpec();
  const astral = "\u{10000}";
  spec.policies = [astral, "\uffff", "a!", "a", "Z"].map((policy_id) => ({ policy_id }));
  spec.stages[0].entry_packets = [{
    packet_id: "p",
    schema_id: "s",
    content_type: "application/json",
    policy_tags: [astral, "\uffff", "a", "a!", 'a"', "Z"],
    payload: { kind: "json", value: null },
  }];
  const law = lawOf(spec);
  assert.deepEqual(law.policies.map(({ policy_id }) => policy_id), ["Z", "a", "a!", "\uffff", astral]);
  // Canonical bytes include the closing quote and the escape of a quote.
  assert.deepEqual(law.stages[0]?.entry_packets[0]?.policy_tags, ["Z", "a!", "a", 'a"', "\uffff", astral]);
});

Deno.test("normalizeRequirement() writes the text of canonicalize() for any order of operands", () => {
  const [a, b, c] = ["a", 'b"', "c\u2028"].map((id): Requirement => ({ Condition: id })) as [
    Requirement,
    Requirement,
    Requirement,
  ];
  const one: Requirement = { Or: [{ RequireGroup: { min: 2, reqs: [c, { Not: b }, a] } }, { And: [b, a] }] };
  const other: Requirement = { Or: [{ And: [a, b] }, { RequireGroup: { min: 2, reqs: [a, c, { Not: b }] } }] };
  const refusals = collector();
  const normal = normalizeRequirement(refusals, one, null);
  assert.deepEqual(normal, normalizeRequirement(refusals, other, null));
  assert.deepEqual(normal, { Or: [{ And: [a, b] }, { RequireGroup: { min: 2, reqs: [a, c, { Not: b }] } }] });
  assert.deepEqual(refusals.report(), []);
  // Operands are compared after their own operands are sorted.
  normalizeRequirement(refusals, { Or: [{ And: [a, b] }, { And: [b, a] }, { And: [a, b] }] }, null);
  assert.deepEqual(refusals.report(), [
    { code: "operand_duplicate", path: "$.Or[1]", message: "Operand repeats the one at $.Or[0]" },
    { code: "operand_duplicate", path: "$.Or[2]", message: "Operand repeats the one at $.Or[0]" },
  ]);
});
