/**
 * Random laws, and random plays of them.
 *
 * @module
 */

import fc from "../../packages/fast_check.ts";
import { constructLaw, graphIdentity, lawIdentity } from "../../../src/law/law.ts";
import type { Requirement } from "../../../src/law/types.ts";
import { type CompiledLaw, compileLaw } from "../../../src/run/compile.ts";
import { OPEN_ENVIRONMENT, SHA256 } from "./fixture.ts";
import { type Editable, flag, policy } from "./law_specs.ts";

const CHANNELS = ["caller_submission", "local_acquisition", "provider_acquisition"];
const PROVIDERS = ["env", "env", "scanner", "ledger"];

/** Requirements over the given names; those of stages have no Not. */
export function requirementOver(names: readonly string[], allowNot: boolean): fc.Arbitrary<Requirement> {
  const leaf = fc.constantFrom(...names).map((Condition): Requirement => ({ Condition }));
  const { tree } = fc.letrec<{ tree: Requirement }>((tie) => {
    const operands = fc.uniqueArray(tie("tree"), {
      minLength: 1,
      maxLength: 4,
      selector: (one) => JSON.stringify(one),
    });
    const nodes: fc.Arbitrary<Requirement>[] = [
      operands.map((And) => ({ And })),
      operands.map((Or) => ({ Or })),
      operands.chain((reqs) =>
        fc.integer({ min: 1, max: reqs.length }).map((min) => ({ RequireGroup: { min, reqs } }))
      ),
    ];
    if (allowNot) nodes.push(tie("tree").map((Not) => ({ Not })));
    return { tree: fc.oneof({ maxDepth: 3, depthSize: "small" }, leaf, ...nodes) };
  });
  return tree;
}

const randomPolicy: fc.Arbitrary<Editable> = fc.record({
  combination: fc.oneof(
    fc.constant({ combination: "AllQualifyingAgree" }),
    fc.constant({ combination: "AnyQualifying" }),
    fc.integer({ min: 1, max: 3 }).map((minimum) => ({ combination: "Quorum", minimum })),
  ),
  independence: fc.constantFrom("distinct_acquisition", "distinct_provider", "not_required"),
  freshness: fc.constantFrom({ freshness: "NotRequired" }, { freshness: "MaximumAge", maximum_age_millis: 1000 }),
  required_assurance: fc.constantFrom([], ["content_integrity", "scope", "schema_compatibility"], ["source_anchor"]),
}).map((changes) => policy({ allowed_channels: CHANNELS, ...changes }));

/** Laws of one to five stages over two to six Boolean conditions, with bindings. Specs that are refused are skipped. */
export const randomLaw: fc.Arbitrary<CompiledLaw> = fc.record({
  conditions: fc.integer({ min: 2, max: 6 }),
  stages: fc.integer({ min: 1, max: 5 }),
  bindings: fc.integer({ min: 0, max: 12 }),
}).chain(({ conditions, stages, bindings }) => {
  const conditionIds = Array.from({ length: conditions }, (_, index) => `c${index}`);
  const stageIds = Array.from({ length: stages }, (_, index) => `s${index}`);
  const stageSpecs = stageIds.map((stage_id, index) => {
    const earlier = stageIds.slice(0, index);
    const root = fc.constant<Editable>({ kind: "root" });
    const requires = earlier.length === 0
      ? root
      : requirementOver(earlier, false).map((requirement): Editable => ({ kind: "requires", requirement }));
    return fc.record({
      stage_id: fc.constant(stage_id),
      prerequisite: fc.oneof(root, requires),
      completion_requirement: requirementOver(conditionIds, true),
    });
  });
  return fc.record({
    policies: fc.array(randomPolicy, { minLength: conditions, maxLength: conditions }),
    stages: fc.tuple(...stageSpecs),
    bound: fc.array(fc.tuple(fc.constantFrom(...conditionIds), fc.constantFrom(...PROVIDERS)), {
      minLength: bindings,
      maxLength: bindings,
    }),
    completion_requirement: requirementOver(stageIds, false),
  });
}).map(({ policies, stages, bound, completion_requirement }): CompiledLaw | null => {
  const spec: Editable = {
    spec_version: "dag-v3",
    scenario_id: "random",
    namespace_id: 3,
    conditions: policies.map((evidence_use_policy, index) => ({ ...flag(`c${index}`), evidence_use_policy })),
    acquisition_bindings: bound.map(([condition_id, provider_id], index) => ({
      binding_id: `b${index}`,
      condition_id,
      channel: provider_id === "env" ? "local_acquisition" : "provider_acquisition",
      provider_id,
      check_id: "read",
    })),
    stages,
    completion_requirement,
  };
  const result = constructLaw(spec, OPEN_ENVIRONMENT);
  if (!result.ok) return null;
  return compileLaw(result.law, lawIdentity(SHA256, result.law), graphIdentity(SHA256, result.law));
}).filter((law): law is CompiledLaw => law !== null);

/** One step of a play, as numbers that select from the state before it. */
export interface Step {
  readonly kind: "open" | "evaluate" | "submit" | "stale";
  readonly stage: number;
  readonly clock: number;
  /** Values of the stage's conditions: true, false, or no value. */
  readonly caller: readonly (boolean | null)[];
  /** The result of each binding of the stage; `skip` leaves it out. */
  readonly acquired: readonly ("true" | "false" | "nothing" | "error" | "asserted" | "skip")[];
}

/** Random steps. */
export const randomStep: fc.Arbitrary<Step> = fc.record({
  kind: fc.constantFrom("open", "open", "evaluate", "evaluate", "evaluate", "submit", "stale"),
  stage: fc.nat(4),
  clock: fc.integer({ min: -5000, max: 5000 }),
  caller: fc.array(fc.constantFrom(true, true, false, null), { minLength: 6, maxLength: 6 }),
  acquired: fc.array(fc.constantFrom("true", "true", "false", "nothing", "error", "asserted", "skip"), {
    minLength: 12,
    maxLength: 12,
  }),
});
