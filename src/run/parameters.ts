/** The parameters of a run: checks the genesis against the law, and binds the law to their values. */

import type { WordOf } from "../canonical/words.ts";
import { canonicalize } from "../canonical/canonicalize.ts";
import { sortedBy } from "../canonical/order.ts";
import { formatPath } from "../canonical/path.ts";
import { utf8Length } from "../canonical/utf8.ts";
import { expandedBytes, expandLaw, type ParameterValues, templateText } from "../law/expand.ts";
import { SPEC_LIMITS } from "../law/limits.ts";
import { eachPlaceholder, hasPlaceholder } from "../law/placeholders.ts";
import { didYouMean } from "../law/suggest.ts";
import type { AcquisitionBinding, Parameter, ParameterValue } from "../law/types.ts";
import { checkInDomain } from "../law/value/typed_value.ts";
import { bindCompiled, type CompiledLaw } from "./compile.ts";
import type { TrustedKey } from "./profile.ts";
import { DOMAIN_CODES } from "./evidence.ts";

/** Why the genesis of a run is rejected (docs/format/records.md, "Genesis"). */
export type GenesisFaultCode =
  | WordOf<"genesis_kind_invalid key_differs parameter_unknown parameter_repeated parameter_missing">
  | WordOf<"value_type_mismatch value_invalid value_outside_domain value_too_large parameters_too_large">
  | WordOf<"template_value_invalid params_too_large params_invalid">;

/** One reason for the rejection of a genesis. */
export interface GenesisFault {
  readonly code: GenesisFaultCode;
  /** JSON path into the arguments of the call. */
  readonly path: string;
  readonly parameter_id?: string;
  readonly message: string;
}

/** The genesis of a run as far as its parameters are concerned. */
export type GenesisParameters =
  | { readonly kind: "empty" | "declared" }
  | { readonly kind: "parameters"; readonly parameters: readonly ParameterValue[] };

/** The values of a run, sorted, or the faults of its genesis. */
export type CheckedParameters =
  | { readonly ok: true; readonly parameters: readonly ParameterValue[] | undefined }
  | { readonly ok: false; readonly faults: readonly GenesisFault[] };

const PARAMETERS_PATH = "$.genesis.parameters";
/** Values that change the path of a URL or leave it open. */
const PATH_VALUES: readonly string[] = ["", ".", ".."];

function pathOf(index: number, ...members: readonly string[]): string {
  return formatPath(["genesis", "parameters", index, ...members]);
}

function checkGiven(
  declared: readonly Parameter[],
  { parameter_id, value }: ParameterValue,
  index: number,
  maximumBytes: number,
): GenesisFault | null {
  const own = declared.find((one) => one.parameter_id === parameter_id);
  if (own === undefined) {
    const hint = didYouMean(parameter_id, declared.map((one) => one.parameter_id));
    const message = `Parameter ${JSON.stringify(parameter_id)} is not declared by the law${hint}`;
    return { code: "parameter_unknown", path: pathOf(index, "parameter_id"), parameter_id, message };
  }
  const fault = checkInDomain(value, own.domain);
  if (fault !== null) {
    const [code, member] = DOMAIN_CODES[fault.code];
    return { code, path: pathOf(index, "value", member), parameter_id, message: fault.message };
  }
  const bytes = utf8Length(canonicalize(value.value));
  if (bytes <= maximumBytes) return null;
  const message = `Expected a value of at most ${maximumBytes} canonical bytes, got ${bytes}`;
  return { code: "value_too_large", path: pathOf(index, "value", "value"), parameter_id, message };
}

/** Checks that exactly the declared parameters are given, each with a value of its domain. */
function checkSet(
  declared: readonly Parameter[],
  given: readonly ParameterValue[],
  maximumBytes: number,
): GenesisFault[] {
  const faults: GenesisFault[] = [];
  const seen = new Set<string>();
  given.forEach((one, index) => {
    const { parameter_id } = one;
    if (seen.has(parameter_id)) {
      const message = `Parameter ${JSON.stringify(parameter_id)} is given twice`;
      faults.push({ code: "parameter_repeated", path: pathOf(index, "parameter_id"), parameter_id, message });
      return;
    }
    seen.add(parameter_id);
    const fault = checkGiven(declared, one, index, maximumBytes);
    if (fault !== null) faults.push(fault);
  });
  for (const { parameter_id } of declared) {
    if (seen.has(parameter_id)) continue;
    const message = `Parameter ${JSON.stringify(parameter_id)} has no value`;
    faults.push({ code: "parameter_missing", path: PARAMETERS_PATH, parameter_id, message });
  }
  if (faults.length > 0) return faults;
  const bytes = utf8Length(canonicalize(given.map(({ parameter_id, value: { value, value_type } }) => ({
    parameter_id,
    value: { value, value_type },
  }))));
  if (bytes <= SPEC_LIMITS.parametersBytes) return [];
  const message = `Expected parameters of at most ${SPEC_LIMITS.parametersBytes} canonical bytes, got ${bytes}`;
  return [{ code: "parameters_too_large", path: PARAMETERS_PATH, message }];
}

/** Checks the values that templates take, then the sizes of the params that result. */
function checkParams(
  bindings: readonly AcquisitionBinding[],
  given: readonly ParameterValue[],
  values: ParameterValues,
): GenesisFault[] {
  const inTemplates = new Set<string>();
  for (const { params = null } of bindings) {
    eachPlaceholder(params, null, (placeholder) => {
      if (typeof placeholder === "string" || placeholder.kind !== "template") return;
      for (const parameter of placeholder.parameters) inTemplates.add(parameter);
    });
  }
  const faults = given.flatMap(({ parameter_id, value }, index): GenesisFault[] => {
    if (!inTemplates.has(parameter_id) || !PATH_VALUES.includes(templateText(value))) return [];
    const message = `Cannot put ${JSON.stringify(value.value)} into a URL: it would change the path`;
    return [{ code: "template_value_invalid", path: pathOf(index, "value", "value"), parameter_id, message }];
  });
  return faults.length > 0 ? faults : checkSizes(bindings, values);
}

function checkSizes(bindings: readonly AcquisitionBinding[], values: ParameterValues): GenesisFault[] {
  let sum = 0;
  for (const { binding_id, params } of bindings) {
    if (params === undefined || !hasPlaceholder(params)) continue;
    const bytes = expandedBytes(params, values, SPEC_LIMITS.paramsBytes);
    sum += bytes;
    const own = bytes > SPEC_LIMITS.paramsBytes;
    if (!own && sum <= SPEC_LIMITS.resolvedParamsBytes) continue;
    const message = own
      ? `Params of binding ${JSON.stringify(binding_id)} become more than ${SPEC_LIMITS.paramsBytes} canonical bytes`
      : `Params of all bindings become more than ${SPEC_LIMITS.resolvedParamsBytes} canonical bytes`;
    return [{ code: "params_too_large", path: PARAMETERS_PATH, message }];
  }
  return [];
}

/**
 * Checks that a genesis gives what the law declares.
 *
 * @param maximumBytes Canonical bytes of one value
 * @returns The values in the order of their ids, undefined for a law without parameters; or every fault
 */
export function checkParameters(
  { law }: Pick<CompiledLaw, "law">,
  genesis: GenesisParameters,
  maximumBytes: number,
): CheckedParameters {
  const { parameters: declared } = law;
  if ((genesis.kind === "parameters") !== (declared !== undefined)) {
    const message = declared === undefined
      ? 'The law has no parameters, so its runs have no genesis of kind "parameters"'
      : `The law has parameters, so a genesis is of kind "parameters" and gives ` +
        declared.map(({ parameter_id }) => JSON.stringify(parameter_id)).join(", ");
    return { ok: false, faults: [{ code: "genesis_kind_invalid", path: "$.genesis.kind", message }] };
  }
  if (genesis.kind !== "parameters" || declared === undefined) return { ok: true, parameters: undefined };
  const given = genesis.parameters;
  const faults = checkSet(declared, given, maximumBytes);
  if (faults.length > 0) return { ok: false, faults };
  const values = new Map(given.map(({ parameter_id, value }) => [parameter_id, value]));
  const inParams = checkParams(law.acquisition_bindings, given, values);
  if (inParams.length > 0) return { ok: false, faults: inParams };
  return { ok: true, parameters: sortedBy(given, ({ parameter_id }) => parameter_id) };
}

/** Checks that the operator has no other key under an id that the law pins: one id would name two people. */
export function checkPinnedKeys(
  { conditionIndex }: Pick<CompiledLaw, "conditionIndex">,
  keys: ReadonlyMap<string, TrustedKey>,
): readonly GenesisFault[] {
  const faults = new Map<string, GenesisFault>();
  for (const { pinned, condition: { condition_id } } of conditionIndex.values()) {
    for (const { key_id, public_key } of pinned?.values() ?? []) {
      const own = keys.get(key_id);
      if (own === undefined || own.public_key === public_key || faults.has(key_id)) continue;
      const message = `The operator has another key under ${JSON.stringify(key_id)} than condition ` +
        `${JSON.stringify(condition_id)} of the law pins`;
      faults.set(key_id, { code: "key_differs", path: "$.scenario_law_identity", message });
    }
  }
  return [...faults.values()];
}

/**
 * The law of a run: the same identities, every expected value and all params with the values of the run.
 *
 * @param parameters The values of every parameter of the law; undefined for a law without parameters
 */
export function bindLaw(law: CompiledLaw, parameters: readonly ParameterValue[] | undefined): CompiledLaw {
  if (parameters === undefined) return law;
  return bindCompiled(
    law,
    expandLaw(law.law, new Map(parameters.map(({ parameter_id, value }) => [parameter_id, value]))),
  );
}
