/** The causes of attempts, in one form for all answers. */

import { isJsonObject, type JsonObject, type JsonValue } from "../../canonical/json.ts";
import { readJson } from "../../canonical/scan.ts";
import type { ScenarioLaw } from "../../law/types.ts";
import type { TypedValue } from "../../law/value/types.ts";
import type { CompiledLaw, CompiledStage } from "../../run/compile.ts";
import {
  countsValues,
  type Findings,
  findingsOf,
  judgedFromRecord,
  type Showing,
  type UnmetCause,
} from "../../run/missing/causes.ts";
import { attemptSentences } from "../../run/missing/sentence.ts";
import { asJson } from "../../run/primitives.ts";
import type { Attempt, Head, StageEvaluatedBody } from "../../run/types.ts";
import { evaluationsBackwards } from "../../store/evaluations.ts";
import type { ProjectedRun } from "../../store/projection.ts";
import { mayDiscloseRaw } from "../../evidence/disclosure.ts";
import type { RecordedStep } from "../mutation/derived_mutation.ts";
import type { Services } from "../services/services.ts";
import type { StoredRecord } from "../../store/types.ts";

/** The stage of an attempt in its law. */
export function stageOfAttempt(law: CompiledLaw, stageId: string): CompiledStage | undefined {
  return law.stages[law.stageIndex.get(stageId) ?? -1];
}

/** The members `causes`, `met` and `not_needed` of an attempt, each entry with its sentence; no member for an empty list. */
export function causesMember(law: ScenarioLaw, findings: Findings): JsonObject {
  const withSentences = (list: readonly UnmetCause[]): JsonValue => {
    const sentences = attemptSentences(law, list);
    return asJson(list.map((one, index) => ({ ...one, sentence: sentences[index] })));
  };
  const lists = Object.entries(findings).filter(([, list]) => list.length > 0);
  return Object.fromEntries(lists.map(([name, list]) => [name, withSentences(list)]));
}

/** The members of a decision that say what is in the way: ids, and beside each what was found for it. */
export function unmetMembers(law: ScenarioLaw, { causes }: Pick<Findings, "causes">): JsonObject {
  const unmet = causes.map(({ condition_id }) => condition_id);
  return unmet.length === 0 ? { unmet } : { unmet, sentences: attemptSentences(law, causes) };
}

/** What the conditions of a recorded step were judged from; of an archived one its record is not here. */
export function findingsOfStep(
  services: Pick<Services, "config" | "providers">,
  law: CompiledLaw,
  { decided, kept }: Pick<RecordedStep, "decided" | "kept">,
): Findings {
  const stage = decided === null ? undefined : stageOfAttempt(law, decided.stage_id);
  if (decided === null || stage === undefined) return { causes: [], met: [], not_needed: [] };
  return kept?.record.record_kind === "stage_evaluated"
    ? findingsOfRecord(stage, kept.record.body, kept.material, (item) => showingOf(services, item))
    : findingsOf(stage, decided.trace, [], null);
}

/** Whether the value of an item may be shown to the reader of an answer. */
type ShowingOf = (item: { readonly provider_id?: string | undefined }) => Showing;

/** Values of callers need the setting of the operator; values of providers need that of the provider too. */
export function mayShowValue(
  { config, providers }: Pick<Services, "config" | "providers">,
  { provider_id }: { readonly provider_id?: string | undefined },
): boolean {
  const provider = provider_id === undefined ? { allow_raw: true } : providers.get(provider_id);
  return mayDiscloseRaw(config.evidence, provider ?? { allow_raw: false });
}

/** Whether the value of an item may be shown, else the rule of its provider if the server itself would show it. */
function showingOf(services: Pick<Services, "config" | "providers">, item: Parameters<ShowingOf>[0]): Showing {
  const isShown = mayShowValue(services, item);
  const isOfProvider = !isShown && services.config.evidence.allow_raw_values;
  return { isShown, ...isOfProvider ? { hiddenBy: `providers[].allow_raw of ${item.provider_id}` } : {} };
}

/** What the conditions of a recorded attempt were judged from, by the retained values of its record. */
export function findingsOfRecord(
  stage: CompiledStage,
  { trace, evidence, time_source }: Pick<StageEvaluatedBody, "trace" | "evidence" | "time_source">,
  material: StoredRecord["material"],
  showing: ShowingOf = () => ({}),
): Findings {
  const bodies = new Map(material.map(({ identity, body }) => [identity, body]));
  const valueOf = (identity: string): TypedValue | undefined => {
    const body = bodies.get(identity);
    const value = body === undefined ? undefined : readJson(body);
    return isJsonObject(value) ? value as TypedValue : undefined;
  };
  const reads = countsValues(stage);
  const items = evidence.map((item) => {
    const own = showing(item);
    return judgedFromRecord(item, reads || own.isShown ? valueOf : () => undefined, own);
  });
  return findingsOf(stage, trace, items, time_source.reading_unix_millis);
}

/**
 * The causes of attempts of a run, by record id. Records are read only where values are counted or may be shown.
 *
 * @param attempts Attempts of the state of the run
 * @param head The revision at which the search for their records begins; the head of the run unless given
 */
export async function causesOfAttempts(
  services: Pick<Services, "config" | "providers" | "runs">,
  { law, state: { run_key, head }, archived }: ProjectedRun,
  attempts: readonly Attempt[],
  from: Head = head,
): Promise<Map<string, JsonObject>> {
  const causes = new Map<string, JsonObject>();
  const wanted = new Map<string, CompiledStage>();
  const showing: ShowingOf = (item) => showingOf(services, item);
  for (const { record_id, stage_id, outcome, trace, evidence } of attempts) {
    const stage = stageOfAttempt(law, stage_id);
    const isShown = evidence.some((item) => showing(item).isShown);
    if (stage === undefined || (outcome === "true" && !isShown)) continue;
    if (countsValues(stage) || isShown) wanted.set(record_id, stage);
    else {
      const items = evidence.map((item) => ({ ...item, ...showing(item) }));
      causes.set(record_id, causesMember(law.law, findingsOf(stage, trace, items, null)));
    }
  }
  // The values that counts need are in the runpack of an archived run.
  if (wanted.size === 0 || archived !== undefined) return causes;
  for await (const { record, stored } of evaluationsBackwards(services.runs, run_key, from.revision)) {
    const stage = wanted.get(stored.record_id);
    if (stage === undefined) continue;
    wanted.delete(stored.record_id);
    const findings = findingsOfRecord(stage, record.body, stored.material, showing);
    causes.set(stored.record_id, causesMember(law.law, findings));
    if (wanted.size === 0) break;
  }
  return causes;
}
