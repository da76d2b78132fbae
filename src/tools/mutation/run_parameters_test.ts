import assert from "node:assert/strict";
import { lawOf } from "../../../tests/simulation/kernel/fixture.ts";
import { type Editable, flag, stage } from "../../../tests/simulation/kernel/law_specs.ts";
import type { JsonValue } from "../../canonical/json.ts";
import { builtinContract } from "../../evidence/contract/builtin.ts";
import { createSchemaSandbox } from "../../evidence/sandbox/schema_sandbox.ts";
import type { Services } from "../services/services.ts";
import { bindGenesis } from "./run_parameters.ts";

const SCHEDULE = { schedule: { $parameter: "p" }, time_zone: "Europe/Berlin" };

/** Provider and check, params, the value of the parameter, and the fault of the genesis or none. */
const ROWS: readonly (readonly ["time" | "calendar", string, JsonValue, string, string | null])[] = [
  ["time", "after", { timestamp: { $parameter: "p" } }, "2026-11-24T21:00:00Z", null],
  ["time", "after", { timestamp: { $parameter: "p" } }, "2026-11-24", "params_invalid p"],
  ["time", "before", { timestamp: { $parameter: "p" } }, "2026-02-30T00:00:00Z", "params_invalid p"],
  ["time", "before", { timestamp: { $parameter: "p" } }, "tomorrow", "params_invalid p"],
  ["calendar", "open", SCHEDULE, "Tue-Thu 22:00-02:00", null],
  ["calendar", "open", SCHEDULE, "Tue-Thu 25:00-02:00", "params_invalid p"],
  ["calendar", "open", { schedule: "Mon 09:00-10:00", time_zone: { $parameter: "p" } }, "UTC", null],
  ["calendar", "open", { schedule: "Mon 09:00-10:00", time_zone: { $parameter: "p" } }, "Mars", "params_invalid p"],
];

for (const [provider, check_id, params, value, fault] of ROWS) {
  Deno.test(`bindGenesis() of ${provider}.${check_id} with ${value}: ${fault ?? "bound"}`, async () => {
    const condition: Editable = flag("a");
    // The fixture knows the channel of some providers only.
    const channel = provider === "time" ? "local_acquisition" : "provider_acquisition";
    condition.evidence_use_policy.allowed_channels = [channel];
    const law = lawOf({
      spec_version: "dag-v3",
      scenario_id: "window",
      namespace_id: 2,
      parameters: [{ parameter_id: "p", domain: { domain: "String", minimum_bytes: 0, maximum_bytes: 100 } }],
      conditions: [condition],
      acquisition_bindings: [
        { binding_id: "b", condition_id: "a", channel, provider_id: provider, check_id, params },
      ],
      stages: [stage("one", "a")],
      completion_requirement: { Condition: "one" },
    });
    const schemaSandbox = createSchemaSandbox();
    const profile = { value_limits: { maximum_value_bytes: 1000 } };
    const services = { schemaSandbox, environment: { keys: new Map(), profile } } as unknown as Services;
    const parameters = [{ parameter_id: "p", value: { value, value_type: "String" } as const }];
    try {
      const genesis = { kind: "parameters", parameters } as const;
      const bound = await bindGenesis(services, law, genesis, () => builtinContract(provider));
      const faults = bound.ok ? [] : bound.faults.map(({ code, parameter_id }) => `${code} ${parameter_id}`);
      assert.deepEqual(faults, fault === null ? [] : [fault]);
    } finally {
      schemaSandbox.close();
    }
  });
}
