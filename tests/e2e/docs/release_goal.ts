/**
 * The release gate of the documentation, while the endpoint that it asks is up.
 *
 * @module
 */

import { COMMIT, RELEASE_GATE, type Staged, withExample } from "./example_goals.ts";

/** Where the law of the example asks. */
const ENDPOINT = "http://127.0.0.1:4287/";

/** What the checks of a good release report. */
export const GOOD_RESULTS = {
  commit: COMMIT,
  format: { exit_code: 0 },
  lint: { exit_code: 0 },
  types: { exit_code: 0 },
  tests: { passed: 12, failed: 0 },
};

/** Runs a body in a folder of the release gate, with an endpoint of its own on a free port. */
export async function withRelease(body: (staged: Staged) => Promise<void>): Promise<void> {
  const answer = ({ url }: Request): Response =>
    new URL(url).pathname === "/releases/0.1.0"
      ? Response.json({ version: "0.1.0" })
      : new Response(null, { status: 404 });
  const endpoint = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, answer);
  try {
    await withExample(RELEASE_GATE, body, async (folder) => {
      const law = `${folder}/${RELEASE_GATE.file}`;
      const text = await Deno.readTextFile(law);
      await Deno.writeTextFile(law, text.replaceAll(ENDPOINT, `http://127.0.0.1:${endpoint.addr.port}/`));
      const config = `${folder}/gate.toml`;
      const toml = await Deno.readTextFile(config);
      // The branch is a variable of the job, which has none here.
      const branch = '{ allowlist = ["RELEASE_BRANCH"], overrides = { RELEASE_BRANCH = "main" } }';
      await Deno.writeTextFile(config, toml.replace('{ allowlist = ["RELEASE_BRANCH"] }', branch));
      await Deno.writeTextFile(`${folder}/evidence/results.json`, JSON.stringify(GOOD_RESULTS));
    });
  } finally {
    await endpoint.shutdown();
  }
}
