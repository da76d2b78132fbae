import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import extensions from "../../tests/vectors/law/extensions.json" with { type: "json" };
import laws from "../../tests/vectors/law/laws.json" with { type: "json" };
import proofs from "../../tests/vectors/law/proofs.json" with { type: "json" };
import refusals from "../../tests/vectors/law/refusals.json" with { type: "json" };
import { environment } from "../../tests/simulation/kernel/law_specs.ts";
import { canonicalize } from "../canonical/canonicalize.ts";
import type { JsonValue } from "../canonical/json.ts";
import type { DraftSpec } from "./decode_spec.ts";
import { constructLaw, graphIdentity, graphOf, lawIdentity, reproveLaw } from "./law.ts";
import { lawAsJson, normalizeRequirement } from "./normal_form.ts";
import { classifySatisfiability } from "./proof/satisfiability.ts";
import { proveRequirements } from "./proof/proof_law.ts";
import { collector } from "./refusals.ts";
import type { Requirement } from "./types.ts";

const sha256 = (data: string | Uint8Array): string => createHash("sha256").update(data).digest("hex");

Deno.test("constructLaw(), lawIdentity() and graphIdentity() agree with the vectors", () => {
  assert.equal(laws.cases.length, 8);
  for (const vector of [...laws.cases, ...extensions.cases]) {
    const result = constructLaw(vector.spec as unknown as JsonValue, environment());
    assert.ok(result.ok, vector.name);
    assert.equal(canonicalize(lawAsJson(result.law)), vector.canonical, vector.name);
    assert.equal(canonicalize(vector.normal_form as unknown as JsonValue), vector.canonical, vector.name);
    assert.equal(lawIdentity(sha256, result.law), vector.scenario_law_identity, vector.name);
    assert.equal(canonicalize(graphOf(result.law)), vector.graph_canonical, vector.name);
    assert.equal(graphIdentity(sha256, result.law), vector.graph_identity, vector.name);
    assert.ok(reproveLaw(vector.normal_form as unknown as JsonValue, environment()).ok, vector.name);
  }
});

Deno.test("constructLaw() and reproveLaw() agree with the vectors of refusals", () => {
  assert.ok(refusals.cases.some((vector) => vector.refusals.length === 0));
  for (const { name, normal_form, refusals: expected } of refusals.cases) {
    const value = normal_form as unknown as JsonValue;
    const result = constructLaw(value, environment());
    assert.deepEqual(result.ok ? [] : result.refusals.map(({ code, path }) => ({ code, path })), expected, name);
    assert.equal(reproveLaw(value, environment()).ok, expected.length === 0, name);
  }
});

Deno.test("classifySatisfiability() agrees with the vectors, to the visit", () => {
  const verdicts = new Set(proofs.cases.map(({ verdict }) => verdict));
  assert.deepEqual([...verdicts].sort(), ["contradiction", "tautology", "varies"]);
  for (const { name, requirement, verdict, visits } of proofs.cases) {
    const given = requirement as unknown as Requirement;
    assert.deepEqual(normalizeRequirement(collector(), given, null), given, name);
    assert.deepEqual(classifySatisfiability(given, visits), { verdict, visits }, name);
    assert.equal(classifySatisfiability(given, visits - 1).verdict, "budget_exceeded", name);
  }
});

Deno.test("proveRequirements() agrees with the vectors on which stage finds the law's budget used up", () => {
  for (const { name, budget, stages, exceeded_by } of proofs.laws) {
    const collected = collector();
    const requirements = stages.map(({ completion_requirement }) => ({
      prerequisite: undefined,
      completion: completion_requirement as unknown as Requirement,
    }));
    const draft = { stages: stages.map(({ stage_id }) => ({ stage_id })) } as unknown as DraftSpec;
    proveRequirements(collected, draft, { stages: requirements, completion: undefined }, budget);
    const index = stages.findIndex(({ stage_id }) => stage_id === exceeded_by);
    const expected = index < 0 ? [] : [["proof_budget_exceeded", `$.stages[${index}].completion_requirement`]];
    assert.deepEqual(collected.report().map(({ code, path }) => [code, path]), expected, name);
  }
});
