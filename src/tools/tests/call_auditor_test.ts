import assert from "node:assert/strict";
import type { JsonObject } from "../../canonical/json.ts";
import { type Bench, envelope, id, LOCAL, startRun, withTools } from "./tools_fixture.ts";
import { SCANNED, scanner } from "./step_fixture.ts";
import type { CallAcquisition, CallDecision } from "../framework/types.ts";

/** The events of an auditor, in order. */
type WitnessEvent = CallDecision | CallAcquisition | "begin";

async function callWith(bench: Bench, tool: string, input: JsonObject, events: WitnessEvent[]): Promise<JsonObject> {
  const answer = await bench.tools.get(tool)?.handle(input, {
    principal: LOCAL,
    signal: new AbortController().signal,
    correlationId: null,
    auditor: {
      decided: (decision) => events.push(decision),
      acquired: (acquisition) => events.push(acquisition),
      begin: () => {
        events.push("begin");
        return Promise.resolve(true);
      },
    },
  });
  assert.ok(answer?.ok, JSON.stringify(answer));
  return answer.result;
}

const ROWS: readonly (readonly [what: string, answers: boolean | "unreachable", reason: string, failed: boolean])[] = [
  ["answers", true, "answered", false],
  ["cannot be reached", "unreachable", "timeout", true],
];

for (const [what, answers, reason, failed] of ROWS) {
  Deno.test(`an auditor records access, the beginning, and that a provider ${what}: ${reason}`, () =>
    withTools(async (bench) => {
      const { run, head } = await startRun(bench, SCANNED);
      const events: WitnessEvent[] = [];
      const stage = { ...run, stage_id: "build" };
      const opened = await callWith(bench, "scenario_open_stage", {
        ...stage,
        expected_head: head,
        operation_id: id(1),
      }, []);
      const expected_head = envelope(opened).result["accepted_head"] as JsonObject;
      await callWith(bench, "scenario_evaluate_stage", { ...stage, expected_head, operation_id: id(2) }, events);
      assert.deepEqual(events, [
        { decision: "namespace", allowed: true, reason: "namespace_open", namespace_id: 2 },
        "begin",
        { binding_id: "scan-built", provider_id: "scanner", check_id: "read", reason, failed },
      ]);
    }, scanner(answers)));
}
