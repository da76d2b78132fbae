import { formatPath } from "../../canonical/path.ts";
import { didYouMean } from "../../law/suggest.ts";
import type { AcquisitionBinding, Timestamp } from "../../law/types.ts";
import type { CompiledStage } from "../../run/compile.ts";
import { type EvidenceRejection, HINTS_MAXIMUM, rejectLeftOut } from "../../run/evidence.ts";

/** A binding that a call names, with an optional trigger time. */
export interface RequestedBinding {
  readonly binding_id: string;
  readonly trigger_time?: Timestamp;
}

/** A binding to acquire. */
export interface SelectedBinding {
  readonly binding: AcquisitionBinding;
  /** Absent where the time authority's stamp applies. */
  readonly trigger_time?: Timestamp;
}

/** The bindings in binding id order, or the reasons for their rejection. */
export type Selection =
  | { readonly ok: true; readonly bindings: readonly SelectedBinding[] }
  | { readonly ok: false; readonly rejections: readonly EvidenceRejection[] };

/**
 * Selects the bindings of one evaluation: the named ones, or all of the stage if the call has no `local_acquisition`.
 *
 * @param requested `local_acquisition` of the call; undefined where it is absent
 */
export function selectBindings(stage: CompiledStage, requested: readonly RequestedBinding[] | undefined): Selection {
  if (requested === undefined) return { ok: true, bindings: stage.bindings.map((binding) => ({ binding })) };
  const known = new Set(stage.bindings.map(({ binding_id }) => binding_id));
  const named = new Map<string, RequestedBinding>();
  const rejections: EvidenceRejection[] = [];
  requested.forEach((one, index) => {
    const path = formatPath(["local_acquisition", index, "binding_id"]);
    const quoted = JSON.stringify(one.binding_id);
    if (!known.has(one.binding_id)) {
      const hint = rejections.length < HINTS_MAXIMUM ? didYouMean(one.binding_id, known) : "";
      const message = `Binding ${quoted} does not serve stage ${JSON.stringify(stage.stage.stage_id)}${hint}`;
      rejections.push({ code: "binding_not_found", path, message });
    } else if (named.has(one.binding_id)) {
      rejections.push({ code: "binding_repeated", path, message: `Binding ${quoted} is named twice` });
    } else named.set(one.binding_id, one);
  });
  rejections.push(...rejectLeftOut(stage, (bindingId) => named.has(bindingId)));
  if (rejections.length > 0) return { ok: false, rejections };
  const bindings = stage.bindings.flatMap((binding) => {
    const one = named.get(binding.binding_id);
    if (one === undefined) return [];
    return [one.trigger_time === undefined ? { binding } : { binding, trigger_time: one.trigger_time }];
  });
  return { ok: true, bindings };
}
