/**
 * A process that publishes one run at one head after the other into a folder until it is killed; each published identity is one line.
 *
 * @module
 */

import { openLocalRepository } from "../../../src/runpack/host/local_repository.ts";
import { createPublisher } from "../../../src/runpack/host/publish.ts";
import { goldenSigner } from "./packs.ts";
import { type PlayedRun, playGoldenRun } from "./run.ts";
import { SHA256 } from "../kernel/fixture.ts";

/** Records beyond the golden run: enough for a full segment and some. */
export const MORE_RECORDS = 300;

/** What a publisher reads of a played run, as if a revision were its head. */
export function runsAt(run: PlayedRun, revision: number): Parameters<typeof createPublisher>[0]["runs"] {
  const { law, records, artifacts, state: { run_key } } = run;
  const { scenario_id, scenario_law_identity } = law;
  const head = { record_id: records[revision - 1]?.record_id ?? "", revision };
  return {
    getHead: () => Promise.resolve({ run_key, scenario_id, scenario_law_identity, head }),
    laws: { get: () => Promise.resolve(law) },
    listRecords: (_runKey, after, limit) => Promise.resolve(records.slice(after, after + limit)),
    artifacts: {
      get: (identity) => Promise.resolve(artifacts.find((artifact) => artifact.identity === identity) ?? null),
    },
  };
}

if (import.meta.main) {
  const [root = "", from = "1"] = Deno.args;
  const run = playGoldenRun(MORE_RECORDS);
  for (let revision = Number(from);; revision = revision % run.records.length + 1) {
    const publisher = createPublisher({
      sha256: SHA256,
      runs: runsAt(run, revision),
      local: openLocalRepository(root),
      mirror: null,
      signer: goldenSigner(),
    });
    const published = await publisher.publish(run.state.run_key);
    if (published.outcome !== "published") throw new Error(JSON.stringify(published));
    console.log(published.runpack_identity);
  }
}
