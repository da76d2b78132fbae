import assert from "node:assert/strict";
import { packOf, statusesOf, verifyWhole } from "../../../tests/simulation/runpack/memory.ts";
import { playGoldenRun, storeRun } from "../../../tests/simulation/runpack/run.ts";
import type { JsonObject } from "../../canonical/json.ts";
import { readJson } from "../../canonical/scan.ts";
import { envelope, id, STORES, withTools } from "./tools_fixture.ts";

for (const store of STORES) {
  Deno.test(`a run of a ${store} store with records of gate-kernel-1 goes on by gate-kernel-2, and its runpack verifies`, () =>
    withTools(async ({ services, call }) => {
      const played = playGoldenRun(0, () => "gate-kernel-1");
      await storeRun(services.runs, played);
      const { run_key, scenario_id, head } = played.state;
      const submitted = await call("scenario_submit", {
        ...run_key,
        scenario_id,
        expected_head: { ...head },
        operation_id: id(99),
        content_type: "application/json",
        payload: { kind: "json", value: {} },
        scope: { kind: "run_wide" },
      });
      assert.equal(envelope(submitted).outcome, "accepted");
      const records = await services.runs.listRecords(run_key, 0, 50);
      const procedures = records.map(({ record }) => (readJson(record) as JsonObject)["procedure"]);
      assert.deepEqual(procedures, [...played.records.map(() => "gate-kernel-1"), "gate-kernel-2"]);
      const { profile_identity: identity } = services.environment;
      const artifact = await services.runs.artifacts.get(identity);
      assert.ok(artifact !== null);
      const pack = await packOf({ ...played, records, artifacts: [...played.artifacts, artifact] });
      const violated = Object.values(statusesOf(await verifyWhole(pack))).filter((status) => /^violated/.test(status));
      assert.deepEqual(violated, []);
    }, { store }));
}
