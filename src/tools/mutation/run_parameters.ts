/**
 * Binds a law to the parameters of a genesis: the values are checked against the law, and the params that they make
 * against the schemas of the checks.
 */

import { judgeParams } from "../../evidence/acquisition/params.ts";
import { checkCalendar } from "../../evidence/builtin/calendar_provider.ts";
import { checkTime } from "../../evidence/builtin/time.ts";
import type { LoadedContract } from "../../evidence/types.ts";
import { eachPlaceholder } from "../../law/placeholders.ts";
import type { AcquisitionBinding } from "../../law/types.ts";
import type { Genesis } from "../../run/command.ts";
import type { CompiledLaw } from "../../run/compile.ts";
import { maximumValueBytes } from "../../run/evidence.ts";
import { bindLaw, checkParameters, checkPinnedKeys, type GenesisFault } from "../../run/parameters.ts";
import { DomainError, faultsSentence } from "../framework/errors.ts";
import { asJson } from "../../run/primitives.ts";
import { findProvider } from "../services/provider_discovery.ts";
import type { Services } from "../services/services.ts";

/** Maximum faults of params in one answer. */
const FAULTS_MAXIMUM = 64;

/** The law of a run, or every reason why the genesis is rejected. */
export type BoundLaw =
  | { readonly ok: true; readonly law: CompiledLaw }
  | { readonly ok: false; readonly faults: readonly GenesisFault[] };

/** Finds the contract that a run is bound to, or would be. */
type FindContract = (providerId: string) => Promise<LoadedContract | undefined> | LoadedContract | undefined;

/**
 * Binds a law to a genesis.
 *
 * @throws {SchemaSandboxError} Where a schema of params gave no verdict
 */
export async function bindGenesis(
  services: Pick<Services, "environment" | "schemaSandbox">,
  law: CompiledLaw,
  genesis: Genesis,
  find: FindContract,
): Promise<BoundLaw> {
  const { keys, profile } = services.environment;
  const differing = checkPinnedKeys(law, keys);
  if (differing.length > 0) return { ok: false, faults: differing };
  const checked = checkParameters(law, genesis, maximumValueBytes(law, profile));
  if (!checked.ok) return checked;
  const bound = bindLaw(law, checked.parameters);
  const faults = await judgeResolved(services, law, bound, find);
  return faults.length === 0 ? { ok: true, law: bound } : { ok: false, faults };
}

/**
 * The law of a precheck, bound to a genesis if there is one.
 *
 * @throws {DomainError} `genesis_rejected`
 */
export async function lawUnder(
  services: Pick<Services, "environment" | "providers" | "schemaSandbox" | "typed">,
  law: CompiledLaw,
  genesis: Genesis | undefined,
): Promise<CompiledLaw> {
  if (genesis === undefined) return law;
  const bound = await bindGenesis(services, law, genesis, async (providerId) => {
    const found = await findProvider(services, law.law.namespace_id, providerId);
    return found === null || found === "inactive" ? undefined : found.loaded;
  });
  if (bound.ok) return bound.law;
  const { faults } = bound;
  throw new DomainError("genesis_rejected", faultsSentence("Cannot precheck", faults), { faults: asJson(faults) });
}

/** Validates resolved params. A provider that is not configured any more answers no query of the run. */
async function judgeResolved(
  { schemaSandbox }: Pick<Services, "schemaSandbox">,
  law: CompiledLaw,
  bound: CompiledLaw,
  find: FindContract,
): Promise<GenesisFault[]> {
  const faults: GenesisFault[] = [];
  for (const bindingId of bound.resolvedBindings) {
    const binding = bound.bindingIndex.get(bindingId);
    const loaded = await find(binding?.provider_id ?? "");
    const check = loaded?.contract.checks.find(({ check_id }) => check_id === binding?.check_id);
    if (binding === undefined || loaded === undefined || check === undefined) continue;
    const misfit = await judgeParams(schemaSandbox, loaded, check, binding.params) ?? neverAnswered(binding, loaded);
    if (misfit === null) continue;
    const [only, ...more] = parametersIn(law, bindingId);
    faults.push({
      code: "params_invalid",
      path: "$.genesis.parameters",
      ...only === undefined || more.length > 0 ? {} : { parameter_id: only },
      message: `Binding ${JSON.stringify(bindingId)}: ${misfit}`,
    });
    if (faults.length === FAULTS_MAXIMUM) break;
  }
  return faults;
}

/** Why a built-in check never answers params that its schema takes: an instant or a schedule that is none. */
function neverAnswered(binding: AcquisitionBinding, { source }: LoadedContract): string | null {
  const at = { kind: "unix_millis", value: 0 } as const;
  const { provider_id: provider } = source === "builtin" ? binding : { provider_id: "" };
  const found = provider === "time"
    ? checkTime({ allow_logical: false }, { query: binding, trigger_time: at })
    : provider === "calendar"
    ? checkCalendar(binding, at)
    : null;
  return found !== null && "error" in found ? found.error.message : null;
}

/** The parameters that the params of a binding hold. */
function parametersIn(law: CompiledLaw, bindingId: string): readonly string[] {
  const found = new Set<string>();
  eachPlaceholder(law.bindingIndex.get(bindingId)?.params ?? null, null, (placeholder) => {
    if (typeof placeholder !== "string") placeholder.parameters.forEach((parameter) => found.add(parameter));
  });
  return [...found];
}
