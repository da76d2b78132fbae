/** What a caller is told of a value that it may not see: a real MCP client, with the rule of each provider. */

import assert from "node:assert/strict";
import type { JsonObject } from "@/canonical/json.ts";
import { withServerIn } from "../docs/example_goals.ts";
import { inFolder, STORES } from "../gate_command.ts";

const LAW = `law: release
evidence:
  failed: count from json report.json $.failed
stages:
  ship: failed == 0
`;

const PROVIDER = '[[providers]]\nname = "json"\ntype = "builtin"\nconfig = { root = "reports", root_id = "reports" }\n';

const RULE = "found a value that is hidden from callers of the server";

/** The members of `[evidence]`, and what the answer says of the attempt. */
const ROWS: readonly (readonly [evidence: string, secret: string, rules: readonly string[] | undefined])[] = [
  ["", `${RULE} (evidence.allow_raw_values)`, undefined],
  ["allow_raw_values = true\n", `${RULE} (providers[].allow_raw of json)`, ["providers[].allow_raw of json"]],
  ["allow_raw_values = true\nrequire_provider_opt_in = false\n", "found 2", undefined],
];

for (const [evidence, secret, rules] of ROWS) {
  Deno.test(`a client is told ${secret}`, () =>
    inFolder(async (folder) => {
      await Deno.mkdir(`${folder}/reports`);
      await Deno.writeTextFile(`${folder}/reports/report.json`, '{"failed":2}');
      const config = `${STORES}[evidence]\n${evidence}${PROVIDER}`;
      await Deno.writeTextFile(`${folder}/gate.toml`, config);
      await withServerIn(folder, async (server) => {
        const { scenario_law_identity } = await server.call("scenario_define", { law_text: LAW });
        const scenario = { namespace_id: 2, scenario_id: "release" };
        const { outcome } = await server.call("scenario_start", {
          ...scenario,
          scenario_law_identity: scenario_law_identity ?? null,
          creation_request_id: "1".padStart(32, "0"),
          correlation: { kind: "unset" },
          genesis: { kind: "empty" },
        });
        const { run_key, head } = (outcome as JsonObject)["result"] as JsonObject;
        const { run_id = null } = run_key as JsonObject;
        const run = { ...scenario, run_id };
        const step = { ...run, expected_head: head ?? null, request_id: "2".padStart(32, "0") };
        const next = await server.call("scenario_next", step);
        const { decision } = (next["outcome"] as JsonObject)["result"] as JsonObject;
        const sentences = [`failed == 0: ${secret} ✗`];
        assert.deepEqual(decision, { kind: "hold", stage_id: "ship", unmet: ["failed"], sentences });
        const { recent_attempts } = await server.call("scenario_status", run);
        const [cause] = (recent_attempts as JsonObject[])[0]?.["causes"] as JsonObject[];
        assert.deepEqual([cause?.["hidden_by"], cause?.["sentence"]], [rules, sentences[0]]);
      });
    }));
}
