import assert from "node:assert/strict";
import { environment, leastSpec } from "../../../tests/simulation/kernel/law_specs.ts";
import { canonicalize } from "../../canonical/canonicalize.ts";
import { identifyCanonical } from "../../canonical/identity.ts";
import type { JsonObject } from "../../canonical/json.ts";
import { constructLaw } from "../../law/law.ts";
import { lawAsJson } from "../../law/normal_form.ts";
import { foldState, sha256 } from "./fold_state.ts";

Deno.test("foldState() rebuilds the state of a run from its law and records", () => {
  const built = constructLaw(leastSpec(), environment());
  assert.ok(built.ok);
  const lawText = canonicalize(lawAsJson(built.law));
  const lawIdentity = identifyCanonical(sha256, "scenario-law", lawText);
  const runKey = { namespace_id: built.law.namespace_id, run_id: "0".repeat(32) };
  const recordOf = (
    revision: number,
    previous: string | null,
    rest: JsonObject,
  ): { record: string; record_id: string; revision: number } => {
    const record = canonicalize({
      revision,
      previous_record_id: previous,
      run_key: runKey,
      acceptance_time: { accepted_audit_instant: 1000 + revision },
      ...rest,
    });
    return { revision, record, record_id: identifyCanonical(sha256, "run-record", record) };
  };
  const stageId = built.law.stages[0]?.stage_id ?? "";
  const first = recordOf(1, null, {
    record_kind: "run_created",
    body: { scenario_id: built.law.scenario_id, scenario_law_identity: lawIdentity, genesis: { kind: "empty" } },
  });
  const second = recordOf(2, first.record_id, {
    record_kind: "stage_opened",
    body: { stage_id: stageId, intents: [] },
  });
  const state = JSON.parse(foldState(lawText, [first, second]));
  assert.deepEqual(state.head, { record_id: second.record_id, revision: 2 });
  assert.equal(state.stages[0].classification, "open_incomplete");
  assert.equal(canonicalize(state), foldState(lawText, [first, second]));
  assert.throws(() => foldState(lawText, [second]), /Cannot fold record/);
  assert.throws(() => foldState(lawText, []), /it has no records/);
});
