import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { Died, type GateProcess, startGate } from "../crash/gate_process.ts";
import { type LoadedRun, SCENARIO } from "../crash/load.ts";
import { identityOf, type Random, randomOf } from "../crash/random.ts";
import { readChain } from "../crash/round.ts";

/** Rounds, each with a seed; `deno task proof` makes 40. */
const ROUNDS = Number(Deno.env.get("GATE_APPLY_CRASHES") ?? 2);

/** Callers that send lists at the same time. */
const CALLERS = 4;

/** Runs that a list starts. */
const RUNS = 4;

/** A list that was sent; `answer` is null where the process died before it answered. */
interface Sent {
  readonly input: { readonly operations: readonly unknown[] };
  readonly answer: string | null;
}

/** A list that starts runs, and takes each through its first stage. */
function listOf(random: Random, scenario_law_identity: unknown): Sent["input"] {
  const operations = Array.from({ length: RUNS }, (_, index) => {
    const first = index * 4;
    const run = { namespace_id: 2, scenario_id: "crash", run_id: { operation: first } };
    const at = (operation: number): object => ({
      ...run,
      expected_head: { operation },
      operation_id: identityOf(random),
    });
    const caller_evidence = [{
      condition_id: "done",
      retention: { retention: "RetainCanonicalValue" },
      value: { value: true, value_type: "Boolean" },
    }];
    const start = {
      ...{ namespace_id: 2, scenario_id: "crash", scenario_law_identity, creation_request_id: identityOf(random) },
      ...{ correlation: { kind: "unset" }, genesis: { kind: "empty" } },
    };
    const content = { content_type: "application/json", payload: { kind: "json", value: "x".repeat(random() * 900) } };
    return [
      { tool: "scenario_start", arguments: start },
      { tool: "scenario_open_stage", arguments: { ...at(first), stage_id: "a" } },
      { tool: "scenario_submit", arguments: { ...at(first + 1), ...content, scope: { kind: "run_wide" } } },
      { tool: "scenario_evaluate_stage", arguments: { ...at(first + 2), stage_id: "a", caller_evidence } },
    ];
  });
  return { operations: operations.flat() };
}

async function sendUntilDeath(gate: GateProcess, random: Random, law: unknown, sent: Sent[]): Promise<void> {
  for (;;) {
    const input = listOf(random, law);
    try {
      sent.push({ input, answer: JSON.stringify(await gate.call("scenario_apply", input)) });
    } catch (error) {
      if (!(error instanceof Died)) throw error;
      sent.push({ input, answer: null });
      return;
    }
  }
}

/** Waits until so many lists were answered: the end comes at another moment of the load in each round. */
async function answered(sent: readonly Sent[], count: number): Promise<void> {
  while (sent.filter(({ answer }) => answer !== null).length < count) {
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

for (let seed = 1; seed <= ROUNDS; seed++) {
  Deno.test(`lists of a server that is killed, and sent again, do nothing twice and lose nothing, seed ${seed}`, async () => {
    const random = randomOf(34_000 + seed);
    const folder = await Deno.makeTempDir({ prefix: "gate-apply-" });
    const config = `${folder}/gate.toml`;
    await Deno.writeTextFile(
      config,
      `[server.audit]\nenabled = false\n[run_state_store]\ntype = "sqlite"\npath = "gate.db"\n`,
    );
    try {
      const first = await startGate(config);
      const { scenario_law_identity: law } = await first.call("scenario_define", { spec: SCENARIO });
      const sent: Sent[] = [];
      const callers = Array.from(
        { length: CALLERS },
        (_, index) => sendUntilDeath(first, randomOf(seed * 100 + index), law, sent),
      );
      await answered(sent, 1 + Math.floor(random() * 12));
      await first.kill();
      await Promise.all(callers);
      assert.ok(sent.some(({ answer }) => answer === null), "no list was cut off");
      const second = await startGate(config);
      const runs = new Set<string>();
      for (const { input, answer } of sent) {
        const again = await second.call("scenario_apply", input);
        if (answer !== null) assert.equal(JSON.stringify(again), answer, "an answered list answers the same");
        for (const { outcome } of again["results"] as { outcome: { outcome: string; result: never } }[]) {
          assert.equal(outcome.outcome, "accepted");
          const { run_key } = outcome.result as { run_key?: LoadedRun };
          if (run_key !== undefined) runs.add(run_key.run_id);
        }
      }
      assert.equal(runs.size, sent.length * RUNS);
      for (const run_id of runs) {
        const chain = await readChain(second, { namespace_id: 2, scenario_id: "crash", run_id });
        const kinds = chain.map(({ record }) => record.operation.family);
        assert.deepEqual(kinds, ["create_run", "open_stage", "submit", "evaluate_stage"]);
      }
      assert.equal(await second.close(), 0);
      using database = new DatabaseSync(`${folder}/gate.db`, { readOnly: true });
      const { count } = database.prepare("SELECT count(*) AS count FROM records").get() as { count: number };
      assert.equal(count, runs.size * 4, "nothing is there twice");
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  });
}
