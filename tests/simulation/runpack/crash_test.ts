import assert from "node:assert/strict";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { openContents } from "../../../src/runpack/host/contents.ts";
import { openLocalRepository } from "../../../src/runpack/host/local_repository.ts";
import { createPublisher } from "../../../src/runpack/host/publish.ts";
import { SHA256 } from "../kernel/fixture.ts";
import { MORE_RECORDS, runsAt } from "./exporter.ts";
import { goldenSigner } from "./packs.ts";
import { playGoldenRun } from "./run.ts";

const EXPORTER = fileURLToPath(new URL("./exporter.ts", import.meta.url));
const CONFIG = fileURLToPath(new URL("../../../deno.json", import.meta.url));

/** Rounds of killing two exporters; each goes on where the last one ended. */
const ROUNDS = 6;
/** The longest that exporters run after their first pack, milliseconds. */
const LONGEST_MILLIS = 120;

/** Starts an exporter, kills it so long after its first pack, and gives the packs that it said it published. */
async function killedExporter(root: string, from: number, millis: number): Promise<string[]> {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "--no-prompt", "--quiet", "--allow-all", "--config", CONFIG, EXPORTER, root, String(from)],
    env: { NO_COLOR: "1", RUST_BACKTRACE: "0" },
    stdin: "null",
    stdout: "piped",
    stderr: "null",
  }).spawn();
  let text = "";
  let isStarted = false;
  for await (const chunk of child.stdout.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    if (!isStarted) setTimeout(() => child.kill("SIGKILL"), millis);
    isStarted = true;
  }
  const { signal } = await child.status;
  assert.equal(signal, "SIGKILL", "the exporter ended by itself");
  return text.split("\n").slice(0, -1);
}

async function publishedIn(root: string): Promise<string[]> {
  const names: string[] = [];
  for await (const { name } of Deno.readDir(join(root, "manifests"))) {
    if (name.endsWith(".json")) names.push(name.slice(0, -".json".length));
  }
  return names;
}

Deno.test("a repository whose exporters are killed holds whole packs and nothing else by their names", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const root = join(folder, "runpacks");
    const repository = openLocalRepository(root);
    const seen = new Set<string>();
    for (let round = 0; round < ROUNDS; round++) {
      const millis = (round + 1) / ROUNDS * LONGEST_MILLIS;
      // Two at once on the same heads: they race for every object.
      const from = 1 + round * 50;
      const said = await Promise.all([killedExporter(root, from, millis), killedExporter(root, from, millis)]);
      const published = await publishedIn(root);
      for (const identity of said.flat()) assert.ok(published.includes(identity), `${identity} was published`);
      for (const identity of published) {
        if (seen.has(identity)) continue;
        seen.add(identity);
        const contents = await openContents(SHA256, repository, identity);
        assert.ok(contents !== null);
        for await (const object of contents.objects()) await object.bytes();
      }
    }
    // Each round goes on until something is published; how much more is the machine's.
    assert.ok(seen.size >= ROUNDS, `${seen.size} packs were published`);
    const run = playGoldenRun(MORE_RECORDS);
    const parts = { sha256: SHA256, local: repository, mirror: null, signer: goldenSigner() };
    for (const revision of [50, 256, run.records.length]) {
      const published = await createPublisher({ ...parts, runs: runsAt(run, revision) }).publish(run.state.run_key);
      assert.equal(published.outcome, "published");
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
