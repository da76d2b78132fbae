import assert from "node:assert/strict";
import type { JsonObject } from "../../canonical/json.ts";
import { creationRequest } from "./run.ts";

const LAW = "a".repeat(64);

function genesis(...values: readonly string[]): JsonObject {
  if (values.length === 0) return { kind: "empty" };
  const parameters = values.map((value, index) => ({
    parameter_id: `p${index}`,
    value: { value, value_type: "String" },
  }));
  return { kind: "parameters", parameters };
}

/** Two calls, and whether they name the same run. */
const ROWS: readonly [Parameters<typeof creationRequest>, Parameters<typeof creationRequest>, boolean][] = [
  [["v1", LAW, genesis()], ["v1", LAW, genesis()], true],
  [["v1", LAW, genesis("a")], ["v1", LAW, genesis("a")], true],
  [["v1", LAW, genesis()], ["v2", LAW, genesis()], false],
  [["v1", LAW, genesis()], ["v1", "b".repeat(64), genesis()], false],
  [["v1", LAW, genesis("a")], ["v1", LAW, genesis("b")], false],
  [["v1", LAW, genesis("a")], ["v1", LAW, genesis("a", "b")], false],
  [[undefined, LAW, genesis()], [undefined, LAW, genesis()], false],
];

for (const [first, second, same] of ROWS) {
  Deno.test(`creationRequest() of ${JSON.stringify(first[0])} and ${JSON.stringify(second[0])}: ${same ? "one run" : "two runs"}`, () => {
    const [one, other] = [creationRequest(...first), creationRequest(...second)];
    assert.match(one, /^[0-9a-f]{32}$/);
    assert.equal(one === other, same);
  });
}
