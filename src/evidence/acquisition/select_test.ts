import assert from "node:assert/strict";
import { oneConditionLaw } from "../../../tests/simulation/kernel/fixture.ts";
import { type RequestedBinding, selectBindings } from "./select.ts";

const LAW = oneConditionLaw();

/** Requested bindings of the stage; the binding ids selected, or the rejections. */
const SELECTIONS: readonly [string, readonly RequestedBinding[] | undefined, readonly string[]][] = [
  ["left out", undefined, ["env-1", "env-2", "ledger-1", "scan-1", "scan-2", "time-1"]],
  ["none", [], []],
  ["two of them in any order", [{ binding_id: "scan-1" }, { binding_id: "env-2" }], ["env-2", "scan-1"]],
  ["an unknown one", [{ binding_id: "x" }], ["binding_not_found $.local_acquisition[0].binding_id"]],
  [
    "one named twice",
    [{ binding_id: "env-1" }, { binding_id: "env-1" }],
    ["binding_repeated $.local_acquisition[1].binding_id"],
  ],
  [
    "every fault is reported",
    [{ binding_id: "x" }, { binding_id: "env-1" }, { binding_id: "y" }],
    ["binding_not_found $.local_acquisition[0].binding_id", "binding_not_found $.local_acquisition[2].binding_id"],
  ],
];

for (const [name, requested, expected] of SELECTIONS) {
  Deno.test(`selectBindings() ${name}`, () => {
    const [stage] = LAW.stages;
    assert.ok(stage !== undefined);
    const selection = selectBindings(stage, requested);
    const got = selection.ok
      ? selection.bindings.map(({ binding }) => binding.binding_id)
      : selection.rejections.map(({ code, path }) => `${code} ${path}`);
    assert.deepEqual(got, expected);
  });
}
