/**
 * The law of a precheck: a registered one, by scenario or identity, or an inline spec that passes every proof of a
 * definition.
 */

import { graphIdentity, lawIdentity } from "../../law/law.ts";
import { type JsonObject, member } from "../../canonical/json.ts";
import { type CompiledLaw, compileLaw } from "../../run/compile.ts";
import { DomainError } from "../framework/errors.ts";
import { proveSpec } from "../services/prove_spec.ts";
import type { Services } from "../services/services.ts";

/** The members that name the law; at least one of the three. */
export interface NamedLaw {
  readonly namespace_id: number;
  readonly scenario_id?: string;
  readonly scenario_law_identity?: string;
  readonly spec?: JsonObject;
}

/** Most laws that an error names. */
const NAMED_LAWS = 16;

function invalid(path: string, message: string, expected: string): DomainError {
  return new DomainError("invalid_input", `Cannot read arguments: ${path}: ${message}`, {
    issues: [{ path, message, expected }],
  });
}

async function inlineLaw(services: Services, named: NamedLaw, spec: JsonObject): Promise<CompiledLaw> {
  const given = member(spec, "namespace_id");
  if (typeof given === "number" && given !== named.namespace_id) {
    const expected = `${named.namespace_id}, as namespace_id`;
    throw invalid("$.spec.namespace_id", `Expected ${expected}, got ${given}`, expected);
  }
  const law = await proveSpec(services, spec);
  const { sha256 } = services.environment.primitives;
  return compileLaw(law, lawIdentity(sha256, law), graphIdentity(sha256, law));
}

async function registeredLaw(services: Services, named: NamedLaw): Promise<CompiledLaw> {
  const { namespace_id, scenario_id, scenario_law_identity } = named;
  if (scenario_law_identity !== undefined) {
    const law = await services.projections.law(namespace_id, scenario_law_identity);
    if (law !== null) return law;
    const message = `Cannot find law "${scenario_law_identity}" in namespace ${namespace_id}`;
    throw new DomainError("law_not_found", message, { namespace_id, scenario_law_identity });
  }
  const after = { scenario_id: scenario_id ?? "", scenario_law_identity: "" };
  const listed = await services.runs.laws.list(namespace_id, after, NAMED_LAWS);
  const laws = listed.filter((one) => one.scenario_id === scenario_id).map((one) => one.scenario_law_identity);
  const [first] = laws;
  const law = first === undefined ? null : await services.projections.law(namespace_id, first);
  if (law === null) {
    const message = `Cannot find scenario ${JSON.stringify(scenario_id)} in namespace ${namespace_id}`;
    throw new DomainError("scenario_not_found", message, { namespace_id, scenario_id: scenario_id ?? "" });
  }
  if (laws.length === 1) return law;
  const expected = `one of ${laws.map((one) => `"${one}"`).join(", ")}`;
  const message = "The scenario has several laws: name one";
  throw invalid("$.scenario_law_identity", message, expected);
}

/**
 * Finds the law; every given member has to agree with it.
 *
 * @throws {DomainError} `invalid_input`, `invalid_spec`, `law_not_found`, `scenario_not_found`
 */
export async function findNamedLaw(services: Services, named: NamedLaw): Promise<CompiledLaw> {
  const { scenario_id, scenario_law_identity, spec } = named;
  if (spec === undefined && scenario_id === undefined && scenario_law_identity === undefined) {
    throw invalid("$", "Nothing names a scenario", "scenario_id, scenario_law_identity or spec");
  }
  const law = spec === undefined ? await registeredLaw(services, named) : await inlineLaw(services, named, spec);
  if (scenario_id !== undefined && law.law.scenario_id !== scenario_id) {
    const expected = `${JSON.stringify(law.law.scenario_id)}, the scenario of the law`;
    throw invalid("$.scenario_id", `Expected ${expected}`, expected);
  }
  if (scenario_law_identity !== undefined && law.scenario_law_identity !== scenario_law_identity) {
    const expected = `"${law.scenario_law_identity}", the identity of the spec`;
    throw invalid("$.scenario_law_identity", `Expected ${expected}`, expected);
  }
  return law;
}
