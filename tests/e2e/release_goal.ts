/**
 * The release gate of the documentation, in a world where its checks pass: gate fetches all of the evidence itself.
 *
 * @module
 */

import { releaseScenario } from "../../docs/examples/release_gate/scenario.ts";
import type { JsonObject } from "@/canonical/json.ts";
import { inFolder } from "./gate_command.ts";
import type { Staged } from "./example_goals.ts";

const REQUESTS = 'config = { allow_http = true, allow_private_networks = true, allowed_hosts = ["127.0.0.1"] }';

const CONFIG = `
[[providers]]
name = "json"
type = "builtin"
config = { root = "evidence", root_id = "checks" }

[[providers]]
name = "env"
type = "builtin"
config = { overrides = { RELEASE_BRANCH = "main" } }

[[providers]]
name = "http"
type = "builtin"
${REQUESTS}

[[providers]]
name = "rest"
type = "builtin"
${REQUESTS}

[[providers]]
name = "time"
type = "builtin"
`;

/** What the checks of a good release report. */
export const GOOD_RESULTS = {
  format: { exit_code: 0 },
  lint: { exit_code: 0 },
  types: { exit_code: 0 },
  tests: { passed: 12, failed: 0 },
};

/** Runs a body in a folder of the release gate, while the endpoint that it asks is up. */
export async function withRelease(body: (staged: Staged) => Promise<void>): Promise<void> {
  const answer = (): Response =>
    new Response('{"version":"1.2.3"}', { headers: { "content-type": "application/json" } });
  const endpoint = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, answer);
  try {
    await inFolder(async (folder) => {
      await Deno.writeTextFile(`${folder}/gate.toml`, CONFIG);
      await Deno.mkdir(`${folder}/evidence`);
      await Deno.writeTextFile(`${folder}/evidence/results.json`, JSON.stringify(GOOD_RESULTS));
      const spec = releaseScenario({
        version: "1.2.3",
        endpoint: `http://127.0.0.1:${endpoint.addr.port}/version`,
        windowOpens: "2026-01-01T00:00:00Z",
      });
      await body({ folder, goal: { spec: spec as JsonObject, facts: {} } });
    });
  } finally {
    await endpoint.shutdown();
  }
}
