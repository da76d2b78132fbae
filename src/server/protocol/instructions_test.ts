import assert from "node:assert/strict";
import { TOOL_NAMES } from "../../config/tool_names.ts";
import { instructionsFor } from "./offer.ts";

Deno.test("instructionsFor() names the tools in the order of their use", () => {
  const instructions = instructionsFor(() => true);
  const order = ["define", "start", "open_stage", "evaluate_stage", "submit"].map((name) =>
    instructions.indexOf(`scenario_${name}`)
  );
  assert.ok(order.every((at) => at >= 0) && instructions.indexOf("runpack_export") > Math.max(...order));
  assert.deepEqual(order, order.toSorted((a, b) => a - b));
  assert.match(instructions, /expected_head/);
  assert.match(instructions, /answer was lost, send the same call again, unchanged/);
});

for (const hidden of TOOL_NAMES) {
  Deno.test(`instructionsFor() does not name ${hidden} where it is not offered`, () => {
    const instructions = instructionsFor((tool) => tool !== hidden);
    assert.doesNotMatch(instructions, new RegExp(`\\b${hidden}\\b`));
    assert.match(instructions, /^gate decides .*\n[^]*expected_head[^]*never opens a gate/);
  });
}

Deno.test("instructionsFor() names no tool where none is offered", () => {
  assert.doesNotMatch(instructionsFor(() => false), /scenario_|runpack_|schemas_|gate_docs/);
});
