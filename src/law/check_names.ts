/** Checks names: each is declared once, and every reference has a target. */

import { canonicalize } from "../canonical/canonicalize.ts";
import type { DraftSpec } from "./decode_spec.ts";
import { below, type JsonPath, pathAt, pathOf } from "../canonical/path.ts";
import type { Collector } from "./refusals.ts";
import { quote } from "./suggest.ts";
import { eachLeaf } from "./requirement_walk.ts";
import type { RefusalCode } from "./types.ts";

/** Refuses repeated names: ids, schemas, and packets across all stages. */
export function checkDuplicates(refusals: Collector, draft: DraftSpec): void {
  const ids = <Item>(
    list: string,
    member: string,
    items: readonly Item[] | undefined,
    id: (item: Item) => string | undefined,
  ) => checkDistinct(refusals, (items ?? []).map((item, index) => [id(item), pathAt(list, index, member)]), quote);
  ids("conditions", "condition_id", draft.conditions, (condition) => condition.condition_id);
  ids("parameters", "parameter_id", draft.parameters, (parameter) => parameter.parameter_id);
  ids("policies", "policy_id", draft.policies, (policy) => policy.policy_id);
  ids("acquisition_bindings", "binding_id", draft.acquisition_bindings, (binding) => binding.binding_id);
  ids("stages", "stage_id", draft.stages, (stage) => stage.stage_id);
  const schemas = (draft.schemas ?? []).map((schema, index) =>
    [
      schema === undefined ? undefined : canonicalize([schema.schema_id, schema.version]),
      pathAt("schemas", index),
    ] as const
  );
  checkDistinct(refusals, schemas, (name) => name);
  const packets = (draft.stages ?? []).flatMap((stage, index) =>
    (stage.entry_packets ?? []).map((packet, at) => ({ packet, path: pathAt("stages", index, "entry_packets", at) }))
  );
  checkDistinct(refusals, packets.map(({ packet, path }) => [packet.packet_id, below(path, "packet_id")]), quote);
}

/** Refuses each name that repeats an earlier one. Entries without a name are skipped. */
export function checkDistinct(
  refusals: Collector,
  named: readonly (readonly [name: string | undefined, path: JsonPath])[],
  show: (name: string) => string,
): void {
  const first = new Map<string, JsonPath>();
  for (const [name, path] of named) {
    if (name === undefined) continue;
    const earlier = first.get(name);
    if (earlier === undefined) first.set(name, path);
    else refusals.refuse("duplicate", path, `${show(name)} repeats ${pathOf(earlier)}`);
  }
}

/** The names of a draft that leaves and bindings may use; null if their array could not be read. */
export interface KnownNames {
  readonly conditions: ReadonlySet<string> | null;
  readonly stages: ReadonlySet<string> | null;
}

/** The names that a draft declares. */
export function knownNames(draft: DraftSpec): KnownNames {
  return {
    conditions: setOf(draft.conditions?.map((condition) => condition.condition_id)),
    stages: setOf(draft.stages?.map((stage) => stage.stage_id)),
  };
}

function setOf(names: readonly (string | undefined)[] | undefined): ReadonlySet<string> | null {
  return names === undefined ? null : new Set(names.filter((name) => name !== undefined));
}

/** Refuses leaves and bindings that name an unknown condition or stage. */
export function checkReferences(refusals: Collector, draft: DraftSpec, known: KnownNames): void {
  const stage = (inScenario: boolean) => (id: string, path: JsonPath): void => {
    if (known.stages === null || known.stages.has(id)) return;
    const condition = known.conditions?.has(id) === true;
    const code: RefusalCode = condition && inScenario ? "leaf_names_condition" : "stage_not_found";
    const rest = condition ? "; a condition has that id, but this leaf names a stage" : refusals.hint(id, known.stages);
    refusals.refuse(code, path, `Stage ${quote(id)} is not in the spec${rest}`);
  };
  const condition = (id: string, path: JsonPath): void => {
    if (known.conditions === null || known.conditions.has(id)) return;
    const isStage = known.stages?.has(id) === true;
    const rest = isStage ? "; a stage has that id, but a condition is named here" : refusals.hint(id, known.conditions);
    refusals.refuse("condition_not_found", path, `Condition ${quote(id)} is not in the spec${rest}`);
  };
  draft.stages?.forEach(({ prerequisite, completion_requirement }, index) => {
    if (prerequisite?.kind === "requires") {
      eachLeaf(prerequisite.requirement, pathAt("stages", index, "prerequisite", "requirement"), stage(false));
    }
    eachLeaf(completion_requirement, pathAt("stages", index, "completion_requirement"), condition);
  });
  eachLeaf(draft.completion_requirement, pathAt("completion_requirement"), stage(true));
  draft.acquisition_bindings?.forEach((binding, index) => {
    if (binding.condition_id !== undefined) {
      condition(binding.condition_id, pathAt("acquisition_bindings", index, "condition_id"));
    }
  });
}
