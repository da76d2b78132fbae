import assert from "node:assert/strict";

import { examineWhole, packOf } from "../../../tests/simulation/runpack/memory.ts";
import {
  bool,
  callerItem,
  createCommand,
  environmentWith,
  evaluateCommand,
  lawOf,
  openCommand,
} from "../../../tests/simulation/kernel/fixture.ts";
import { flag, policy, stage } from "../../../tests/simulation/kernel/law_specs.ts";
import { playRun } from "../../../tests/simulation/runpack/run.ts";
import type { JsonValue } from "../../canonical/json.ts";
import type { TypedValue } from "../../law/value/types.ts";
import type { ScenarioLaw } from "../../law/types.ts";
import { subjectsOf } from "./run_result.ts";

const GOOD = "11".repeat(32);
const OTHER = "22".repeat(32);
const digest = (value: string): TypedValue => ({ value, value_type: "Digest" });
const EQUALS: JsonValue = { predicate: "Equals", expected: { value: GOOD, value_type: "Digest" } };
const ANY = policy({ combination: { combination: "AnyQualifying" }, independence: "not_required" });

/** The digests of a run of one stage with the conditions `image`, which has these items, and `done`, which is true. */
async function digestsOf(requirement: JsonValue, items: readonly string[], predicate = EQUALS): Promise<unknown> {
  const law = lawOf({
    spec_version: "dag-v3",
    scenario_id: "digests",
    namespace_id: 2,
    conditions: [
      flag("done"),
      {
        condition_id: "image",
        observation_domain: { domain: "Digest", algorithm: "sha256" },
        predicate,
        evidence_use_policy: ANY,
      },
    ],
    stages: [{ ...stage("gate", "done"), completion_requirement: requirement }],
    completion_requirement: { Condition: "gate" },
  });
  const run = playRun({
    law,
    environment: environmentWith(),
    start: createCommand(),
    moves: [
      (_law, state, operation) => openCommand(operation, state.head, "gate"),
      (_law, state, operation) =>
        evaluateCommand(operation, state.head, "gate", {
          caller_evidence: [
            callerItem("done", bool(true)),
            ...items.map((value) => callerItem("image", digest(value))),
          ],
        }),
    ],
    clock: (move) => move,
    artifacts: [],
  });
  const { run: result } = await examineWhole(await packOf(run));
  return result?.stages.map(({ classification, digests }) => [classification, digests]);
}

const DONE: JsonValue = { Condition: "done" };
const IMAGE: JsonValue = { Condition: "image" };
const BOTH: JsonValue = { And: [DONE, IMAGE] };
const EITHER: JsonValue = { Or: [DONE, IMAGE] };

// The requirement, the items of the Digest condition, its predicate, and what the completed stage decided on.
const ROWS: readonly (readonly [string, JsonValue, readonly string[], JsonValue, readonly string[]])[] = [
  ["a value that holds", BOTH, [GOOD], EQUALS, [GOOD]],
  ["no value that was not compared", BOTH, [OTHER], { predicate: "Exists" }, []],
  ["one of two values that holds", BOTH, [GOOD, OTHER], EQUALS, [GOOD]],
  ["no value of a condition that is False", EITHER, [OTHER], EQUALS, []],
  ["no value of a condition below Not", { Or: [DONE, { Not: IMAGE }] }, [GOOD], EQUALS, []],
];

for (const [what, requirement, items, predicate, digests] of ROWS) {
  Deno.test(`a completed stage decided on ${what}`, async () => {
    assert.deepEqual(await digestsOf(requirement, items, predicate), [["complete", digests]]);
  });
}

Deno.test("a stage that is not complete decided on no digest", async () => {
  assert.deepEqual(await digestsOf(BOTH, [OTHER]), [["open_incomplete", []]]);
});

Deno.test("subjectsOf() takes the digests that were compared, and the parameters that what counted uses", () => {
  const names = ["compared", "bound", "unused", "elsewhere"];
  const byName = Object.fromEntries(names.map((name, index) => [name, `${index + 3}`.repeat(64)]));
  const parameters = names.map((parameter_id) => ({ parameter_id, value: digest(byName[parameter_id] ?? "") }));
  const conditionOf = (condition_id: string, parameter: string): unknown => ({
    condition_id,
    predicate: { predicate: "Equals", expected: { parameter } },
  });
  const law = {
    conditions: [conditionOf("image", "compared"), conditionOf("other", "elsewhere")],
    acquisition_bindings: [
      { binding_id: "read", params: { of: { $parameter: "bound" } } },
      { binding_id: "left", params: { of: { $parameter: "elsewhere" } } },
    ],
  } as unknown as ScenarioLaw;
  const stages = [
    { stage_id: "gate", classification: "complete" as const, completed_at: 1, digests: [GOOD] },
    { stage_id: "late", classification: "complete" as const, completed_at: 2, digests: [OTHER] },
  ].map((one, index) => ({ ...one, conditions: index === 0 ? ["image"] : [], bindings: index === 0 ? ["read"] : [] }));
  const sources = { signatures: [], unsigned: 0, providers: [], procedures: [] };
  const run = {
    status: "complete",
    completed_at: 2,
    stages,
    is_permissive: false,
    is_head_signed: true,
    sources,
  } as const;
  const rows = [
    [null, [GOOD, OTHER, byName["compared"], byName["bound"]]],
    ["gate", [GOOD, byName["compared"], byName["bound"]]],
    ["late", [OTHER]],
  ] as const;
  for (const [stage, expected] of rows) assert.deepEqual([...subjectsOf(run, law, parameters, stage)], expected);
});
