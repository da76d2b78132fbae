/** Constructs a scenario law from a spec: decodes, checks, proves and normalizes it. */

import { canonicalize } from "../canonical/canonicalize.ts";
import { identify, type Identity, type Sha256 } from "../canonical/identity.ts";
import { isJsonObject, type JsonValue } from "../canonical/json.ts";
import { checkBindings } from "./check_bindings.ts";
import { checkConditions } from "./check_conditions.ts";
import { checkParameters, parametersOf } from "./check_parameters.ts";
import { checkDuplicates, checkReferences, knownNames } from "./check_names.ts";
import { type DraftSpec, readSpec } from "./decode_spec.ts";
import { LAW_LIMITS, SPEC_LIMITS } from "./limits.ts";
import { lawAsJson, normalForm, normalizeRequirements } from "./normal_form.ts";
import { proveMonotone, proveRequirements, proveStageGraph } from "./proof/proof_law.ts";
import { type Collector, collector } from "./refusals.ts";
import type { LawEnvironment, Refusal, ScenarioLaw } from "./types.ts";
import { utf8Length } from "../canonical/utf8.ts";
import type { DraftStage } from "./decode_stage.ts";
import { pathAt } from "../canonical/path.ts";

/** Bytes of an intent without the members of its packet. */
const INTENT_BYTES = 512;

/** Refuses stages whose opening would return more than {@link SPEC_LIMITS.openingBytes}: targets multiply payloads. */
function checkOpenings(refusals: Collector, draft: DraftSpec): void {
  (draft.stages ?? []).forEach((stage, index) => {
    const bytes = openingBytes(stage);
    if (bytes <= SPEC_LIMITS.openingBytes) return;
    const message = `Expected packets of at most ${SPEC_LIMITS.openingBytes} bytes, each counted once a target, got ` +
      `${bytes}`;
    refusals.refuse("payload_too_large", pathAt("stages", index, "entry_packets"), message);
  });
}

/** The bytes of a stage's intents. A packet that could not be read has a refusal of its own. */
function openingBytes(stage: DraftStage): number {
  let bytes = 0;
  for (const { targets = [], ...packet } of stage.entry_packets ?? []) {
    const read = Object.fromEntries(Object.entries(packet).filter(([, value]) => value !== undefined));
    const shown = read as JsonValue;
    if (!isJsonObject(shown)) continue;
    bytes += (utf8Length(canonicalize(shown)) + INTENT_BYTES) * Math.max(1, targets.length);
  }
  return bytes;
}

/** A law, or every reason why the spec is refused. */
export type LawResult =
  | {
    readonly ok: true;
    readonly law: ScenarioLaw;
    /** The ids of conditions that left out their policy and have no binding, for {@link lintLaw}. */
    readonly caller_asserted: readonly string[];
  }
  | { readonly ok: false; readonly refusals: readonly Refusal[] };

/**
 * Constructs the scenario law that a spec describes.
 *
 * @param spec The spec, from JSON text that the scanner has accepted
 * @param environment The operator's limits, the registered schemas and the checks of providers
 * @returns The law in normal form, or all refusals together, sorted by path and then code
 */
export function constructLaw(spec: JsonValue, environment: LawEnvironment): LawResult {
  const refusals = collector();
  const draft = readSpec(refusals, spec, environment.limits);
  const known = knownNames(draft);
  const requirements = normalizeRequirements(refusals, draft);
  checkDuplicates(refusals, draft);
  checkReferences(refusals, draft, known);
  const parameters = parametersOf(draft);
  checkParameters(refusals, draft);
  checkConditions(refusals, draft, parameters, environment);
  checkBindings(refusals, draft, parameters, environment);
  checkOpenings(refusals, draft);
  proveMonotone(refusals, draft);
  proveRequirements(refusals, draft, requirements, environment.limits.proof_budget);
  proveStageGraph(refusals, draft, known);
  if (refusals.count() > 0) return { ok: false, refusals: refusals.report() };
  return { ok: true, law: normalForm(draft, requirements), caller_asserted: draft.caller_asserted };
}

/**
 * Checks the bindings of a law again, under the contracts that a run would be bound to. They may differ from those
 * under which the law was defined.
 *
 * @param law A law, so that everything else in it holds
 * @param findCheck The checks of those contracts
 * @returns The refusals, sorted by path and then code; empty if a runpack of the run can prove the law
 */
export function recheckBindings(law: ScenarioLaw, findCheck: LawEnvironment["findCheck"]): readonly Refusal[] {
  const refusals = collector();
  const draft = readSpec(refusals, lawAsJson(law), LAW_LIMITS);
  checkBindings(refusals, draft, parametersOf(draft), { limits: LAW_LIMITS, hasSchema: () => true, findCheck });
  return refusals.count() === 0 ? [] : refusals.report();
}

/** The identity of a law: kind `scenario-law` over its whole normal form. */
export function lawIdentity(sha256: Sha256, law: ScenarioLaw): Identity {
  return identify(sha256, "scenario-law", lawAsJson(law));
}

/**
 * The identity of a law's stage graph: kind `scenario-graph` over the stages' ids and prerequisites and the
 * scenario's requirement. Laws that differ in conditions, evidence or packets alone share it.
 */
export function graphIdentity(sha256: Sha256, law: ScenarioLaw): Identity {
  return identify(sha256, "scenario-graph", graphOf(law));
}

/** The value that the graph identity is over. */
export function graphOf(law: ScenarioLaw): JsonValue {
  return {
    stages: law.stages.map(({ stage_id, prerequisite }) => ({
      stage_id,
      prerequisite: prerequisite as JsonValue,
    })),
    completion_requirement: law.completion_requirement as JsonValue,
  };
}

/**
 * Proves a stored law again: construction from its own normal form must give the same canonical bytes.
 *
 * @param law The stored law
 * @param environment The operator's rules and the facts under which it was defined
 * @returns The law, or the reasons for its refusal; a law that is not in normal form is refused as a whole
 */
export function reproveLaw(law: JsonValue, environment: LawEnvironment): LawResult {
  const result = constructLaw(law, environment);
  if (!result.ok || canonicalize(lawAsJson(result.law)) === canonicalize(law)) return result;
  const message = "Expected a law in normal form: sets sorted, defaults written out";
  return { ok: false, refusals: [{ code: "value_invalid", path: "$", message }] };
}
