import assert from "node:assert/strict";
import { readJson } from "../canonical/scan.ts";
import { type Editable, flag } from "../../tests/simulation/kernel/law_specs.ts";
import { forge } from "../../tests/simulation/forged_packs/forge.ts";
import { FORGERIES } from "../../tests/simulation/forged_packs/forgeries.ts";
import { type MemoryPack, memorySource, packOf, PRIMITIVES } from "../../tests/simulation/runpack/memory.ts";
import { parametersSpec, playParametersRun } from "../../tests/simulation/pack_vectors/parameters_run.ts";
import { playGoldenRun } from "../../tests/simulation/runpack/run.ts";
import { comparePacks, type PackRelation } from "./material_compare.ts";
import { type PackView, viewPack } from "./material_view.ts";
import { compileNextLaw, type Counterfactual, replayUnder } from "./replay.ts";

const RUN = playGoldenRun();
const PACK = await packOf(RUN);

async function viewed(pack: MemoryPack): Promise<PackView> {
  const view = await viewPack(memorySource(pack), PRIMITIVES);
  assert.ok(!("reason" in view), JSON.stringify(view));
  return view;
}

/** The golden run under its law after a change. */
async function replayed(change: (spec: Editable) => void, pack: MemoryPack = PACK): Promise<Counterfactual> {
  const spec: Editable = readJson(RUN.law.law);
  change(spec);
  const next = compileNextLaw(PRIMITIVES, spec);
  assert.ok(next.ok, JSON.stringify(next));
  return replayUnder(await viewed(pack), next.law, PRIMITIVES);
}

const stageOf = (spec: Editable, id: string): Editable => spec.stages.find(({ stage_id }: Editable) => stage_id === id);
const conditionOf = (spec: Editable, id: string): Editable =>
  spec.conditions.find(({ condition_id }: Editable) => condition_id === id);

/** The decisions that differ, as `revision before -> after standing`. */
function differing({ decisions }: Counterfactual): string[] {
  return decisions.filter(({ differs }) => differs).map(({ revision, before, after, standing }) =>
    `${revision} ${before} -> ${after} ${standing}`
  );
}

const AFTER_BUILD = [
  "7 opened -> null blocked",
  "8 true -> null blocked",
  "9 opened -> null blocked",
  "10 true -> null blocked",
];

/** Changes of the law, with the decisions that would have been others. */
const CHANGES: readonly [string, (spec: Editable) => void, readonly string[]][] = [
  ["nothing", () => {}, []],
  ["less is asked", (spec) => {
    stageOf(spec, "build").completion_requirement = { Condition: "built" };
  }, ["4 unknown -> true possible", "5 true -> null already_complete"]],
  ["a condition more is asked", (spec) => {
    spec.conditions.push(flag("reviewed_twice"));
    stageOf(spec, "build").completion_requirement.And.push({ Condition: "reviewed_twice" });
  }, ["5 true -> unknown possible", ...AFTER_BUILD]],
  ["another value is expected", (spec) => {
    conditionOf(spec, "built").predicate.expected.value = false;
  }, ["3 false -> unknown possible", "4 unknown -> false possible", "5 true -> false possible", ...AFTER_BUILD]],
  ["evidence has to be signed", (spec) => {
    conditionOf(spec, "built").evidence_use_policy.authorization = "signature";
  }, ["3 false -> unknown possible", "5 true -> unknown possible", ...AFTER_BUILD]],
  ["values have to be shorter", (spec) => {
    conditionOf(spec, "log").observation_domain.maximum_bytes = 10;
  }, ["5 true -> unknown possible", ...AFTER_BUILD]],
  [
    "a stage waits for another",
    (spec) => {
      stageOf(spec, "build").prerequisite = { kind: "requires", requirement: { Condition: "review" } };
      stageOf(spec, "review").prerequisite = { kind: "root" };
    },
    ["2 opened -> null blocked", "3 false -> null blocked", "4 unknown -> null blocked", "5 true -> null blocked"]
      .concat(["9 opened -> null blocked", "10 true -> null blocked"]),
  ],
  ["a stage has another name", (spec) => {
    stageOf(spec, "ship").stage_id = "deploy";
    spec.completion_requirement = { Condition: "deploy" };
  }, ["9 opened -> null stage_removed", "10 true -> null stage_removed"]],
  ["a condition whose value was never kept", (spec) => {
    conditionOf(spec, "ticket").observation_domain.maximum_bytes = 30;
  }, ["8 true -> unknown possible", "9 opened -> null blocked", "10 true -> null blocked"]],
];

for (const [what, change, expected] of CHANGES) {
  Deno.test(`replayUnder() ${what}: ${expected.length} decisions differ`, async () => {
    assert.deepEqual(differing(await replayed(change)), expected);
  });
}

Deno.test("replayUnder() reports where the run would have ended, and which leaves differ", async () => {
  const result = await replayed((spec) => {
    spec.conditions.push(flag("reviewed_twice"));
    stageOf(spec, "build").completion_requirement.And.push({ Condition: "reviewed_twice" });
  });
  assert.deepEqual([result.status_before, result.status_after], ["complete", "active"]);
  assert.deepEqual(result.incomplete_stages, ["build", "review", "ship"]);
  assert.deepEqual(result.decisions.find(({ revision }) => revision === 5)?.leaves, [
    { condition_id: "reviewed_twice", before: null, after: { value: "unknown", reason: "no_evidence" } },
  ]);
});

Deno.test("replayUnder() reports a value that the pack does not hold", async () => {
  const { decisions, values_missing } = await replayed((spec) => {
    conditionOf(spec, "ticket").observation_domain.maximum_bytes = 30;
  });
  assert.equal(values_missing, 1);
  assert.deepEqual(decisions.find(({ revision }) => revision === 8)?.leaves, [
    { condition_id: "ticket", before: { value: "true" }, after: { value: "unknown", reason: "value_not_held" } },
  ]);
});

Deno.test("replayUnder() judges what is withheld as it was judged, unless its condition changed", async () => {
  const withheld = await packOf(RUN, RUN.records.length, { withheld_conditions: ["built"] });
  assert.deepEqual(differing(await replayed(() => {}, withheld)), []);
  const changed = await replayed((spec) => {
    conditionOf(spec, "built").predicate.expected.value = false;
  }, withheld);
  assert.equal(changed.values_missing, 3);
  assert.ok(changed.decisions.some(({ after }) => after === "unknown"));
});

Deno.test("compileNextLaw() rejects an invalid law", () => {
  const refused = compileNextLaw(PRIMITIVES, { spec_version: "dag-v3" });
  assert.ok(!refused.ok && refused.refusals.length > 0);
});

Deno.test("viewPack() shows the values that the pack shows, and no others", async () => {
  const view = await viewed(await packOf(RUN, RUN.records.length, { withheld_conditions: ["report"] }));
  const items = view.records.flatMap(({ record }) =>
    record.record_kind === "stage_evaluated" ? record.body.evidence : []
  );
  const shown = items.map((item) => [item.condition_id, view.valueOf(item) !== null]);
  assert.deepEqual(shown, [
    ["built", true],
    ["built", true],
    ["built", true],
    ["log", true],
    ["approved", true],
    ["ticket", false],
    ["report", false],
    ["region", true],
  ]);
});

Deno.test("viewPack() names the first thing in the way of a pack that is not whole", async () => {
  const broken: [MemoryPack, string][] = [
    [{ ...PACK, manifest: new Uint8Array() }, "manifest_not_canonical"],
    [{ ...PACK, objects: new Map() }, "object_missing"],
    [forge(RUN, FORGERIES[0]?.forge), "law_invalid"],
    [forge(RUN, (parts) => parts.recordLines = ([first = ""]) => [first, "{}"]), "record_invalid"],
  ];
  for (const [pack, code] of broken) {
    const view = await viewPack(memorySource(pack), PRIMITIVES);
    assert.ok("reason" in view && typeof view.reason === "object");
    assert.equal(view.reason.code, code);
  }
  const short = await viewPack(memorySource(PACK), PRIMITIVES, { objects: 1 });
  assert.ok("reason" in short && short.part !== null);
  assert.equal(short.reason, "budget_exhausted");
  assert.deepEqual([short.part.law.law.scenario_id, short.part.records], ["release", []]);
});

/** How packs belong together. */
const RELATIONS: readonly [string, () => Promise<MemoryPack>, PackRelation, number][] = [
  ["itself", () => Promise.resolve(PACK), "same", 11],
  ["a longer one", () => packOf(playGoldenRun(3)), "second_continues", 11],
  ["an earlier one", () => packOf(RUN, 4), "first_continues", 4],
  ["one that withholds", () => packOf(RUN, 11, { withheld_conditions: ["log"] }), "same_records", 11],
  [
    "one with another sixth record",
    () => Promise.resolve(forge(RUN, (parts) => parts.records[5].attribution.principal = "mallory")),
    "forked",
    5,
  ],
  [
    "another run",
    () =>
      Promise.resolve(forge(RUN, (parts) => {
        for (const record of parts.records) record.run_key.run_id = "f".repeat(32);
      })),
    "other_run",
    0,
  ],
];

for (const [what, other, relation, shared] of RELATIONS) {
  Deno.test(`comparePacks() ${what}: ${relation}`, async () => {
    const comparison = comparePacks(await viewed(PACK), await viewed(await other()));
    assert.deepEqual([comparison.relation, comparison.shared_records], [relation, shared]);
  });
}

Deno.test("replayUnder() judges by the parameters of the run, and leaves unknown what it does not give", async () => {
  const pack = await packOf(playParametersRun());
  const under = async (change: (spec: Editable) => unknown): Promise<string[]> => {
    const spec = parametersSpec();
    change(spec);
    const next = compileNextLaw(PRIMITIVES, spec);
    assert.ok(next.ok, JSON.stringify(next));
    return differing(replayUnder(await viewed(pack), next.law, PRIMITIVES));
  };
  assert.deepEqual(await under(() => {}), []);
  assert.deepEqual(await under((spec) => conditionOf(spec, "findings").predicate.predicate = "GreaterThan"), [
    "4 true -> false possible",
  ]);
  const added = await under((spec) => {
    spec.parameters.push({ parameter_id: "zone", domain: { domain: "String", minimum_bytes: 0, maximum_bytes: 64 } });
    conditionOf(spec, "tag").predicate.expected.push({ parameter: "zone" });
  });
  assert.deepEqual(added, ["3 false -> unknown possible", "4 true -> unknown possible"]);
});
