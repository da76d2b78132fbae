import assert from "node:assert/strict";
import { SHA256 } from "../../tests/simulation/kernel/fixture.ts";
import { canonicalize } from "../canonical/canonicalize.ts";
import type { JsonObject, JsonValue } from "../canonical/json.ts";
import { invocationIdentity } from "./invocation.ts";

function over(tool: string, input: JsonValue): string {
  return SHA256(`gate:invocation:v1\0${canonicalize({ input, tool })}`);
}

const value = { value: 3, value_type: "Integer" };
const payload = { kind: "json", value: { note: "done" } };
const VALUE = SHA256(`gate:evidence-value:v1\0${canonicalize(value)}`);
const PAYLOAD = SHA256(`gate:payload:v1\0${canonicalize(payload)}`);

Deno.test("invocationIdentity() is over tool and input, with values and payloads replaced by their identities", () => {
  const rows: readonly [string, JsonObject, JsonValue][] = [
    ["scenario_open_stage", { stage_id: "s" }, { stage_id: "s" }],
    [
      "scenario_evaluate_stage",
      { stage_id: "s", caller_evidence: [{ condition_id: "c", value, observed_at: 5 }] },
      { stage_id: "s", caller_evidence: [{ condition_id: "c", value: VALUE, observed_at: 5 }] },
    ],
    ["scenario_submit", { payload, content_type: "application/json" }, {
      payload: PAYLOAD,
      content_type: "application/json",
    }],
    ["scenario_start", { genesis: { kind: "declared", payload } }, { genesis: { kind: "declared", payload: PAYLOAD } }],
    ["scenario_start", { genesis: { kind: "empty" } }, { genesis: { kind: "empty" } }],
    ["scenario_trigger", { trigger: { trigger_id: "a", payload } }, { trigger: { trigger_id: "a", payload: PAYLOAD } }],
    ["scenario_next", { caller_evidence: [], local_acquisition: [] }, { caller_evidence: [], local_acquisition: [] }],
    ["scenario_submit", { metadata: { payload } }, { metadata: { payload } }],
  ];
  for (const [tool, input, subject] of rows) {
    assert.equal(invocationIdentity(SHA256, tool, input), over(tool, subject), JSON.stringify(input));
  }
});

Deno.test("invocationIdentity() is the same for every spelling of the same arguments", () => {
  const one = invocationIdentity(SHA256, "scenario_submit", { a: 1, payload: { kind: "json", value: { x: 1, y: 2 } } });
  const same = invocationIdentity(SHA256, "scenario_submit", {
    payload: { value: { y: 2, x: 1 }, kind: "json" },
    a: 1,
  });
  assert.equal(one, same);
});

Deno.test("invocationIdentity() differs if tool, argument, value or payload differs", () => {
  const base: JsonObject = { stage_id: "s", caller_evidence: [{ condition_id: "c", value }] };
  const other = { ...value, value: 4 };
  const identities = [
    invocationIdentity(SHA256, "scenario_evaluate_stage", base),
    invocationIdentity(SHA256, "scenario_next", base),
    invocationIdentity(SHA256, "scenario_evaluate_stage", { ...base, stage_id: "t" }),
    invocationIdentity(SHA256, "scenario_evaluate_stage", { ...base, local_acquisition: [] }),
    invocationIdentity(SHA256, "scenario_evaluate_stage", {
      ...base,
      caller_evidence: [{ condition_id: "c", value: other }],
    }),
  ];
  assert.equal(new Set(identities).size, identities.length);
});

Deno.test("invocationIdentity() keeps a member named __proto__", () => {
  const input = JSON.parse('{"__proto__": {"a": 1}, "payload": {"kind": "json", "value": 1}}') as JsonObject;
  const bare = JSON.parse('{"payload": {"kind": "json", "value": 1}}') as JsonObject;
  assert.notEqual(invocationIdentity(SHA256, "t", input), invocationIdentity(SHA256, "t", bare));
});
