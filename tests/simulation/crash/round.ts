/**
 * One crash round: load a server, kill it, start another on the same file, and hold it to every answer that was given.
 *
 * @module
 */

import assert from "node:assert/strict";
import { canonicalize } from "../../../src/canonical/canonicalize.ts";
import { identify } from "../../../src/canonical/identity.ts";
import type { JsonObject, JsonValue } from "../../../src/canonical/json.ts";
import { sha256 } from "../../../src/evidence/host_primitives.ts";
import { invocationIdentity } from "../../../src/run/invocation.ts";
import { type Answer, type GateProcess, startGate } from "./gate_process.ts";
import { callUntilDeath, type LoadedRun, type Sent, startRuns } from "./load.ts";
import { randomOf } from "./random.ts";

/** What a round did. */
export interface RoundReport {
  readonly accepted: number;
  readonly unanswered: number;
  readonly unansweredAccepted: number;
  readonly records: number;
}

/** A record of a run, with its identity. */
export interface Chained {
  readonly record_id: string;
  readonly record: JsonObject & { readonly operation: { readonly family: string; readonly identity: string } };
}

/** Reads every record of a run, and throws where they are no chain. */
export async function readChain(gate: GateProcess, run: LoadedRun): Promise<readonly Chained[]> {
  const records: Chained[] = [];
  let after: number | null = 0;
  while (after !== null) {
    const page: Answer = await gate.call("scenario_history", { ...run, after_revision: after, limit: 1000 });
    records.push(...page["records"] as Chained[]);
    after = page["next_after_revision"] as number | null;
  }
  checkChain(records);
  return records;
}

function checkChain(records: readonly Chained[]): void {
  let previous: string | null = null;
  records.forEach(({ record_id, record }, index) => {
    assert.equal(record["revision"], index + 1);
    assert.equal(record["previous_record_id"], previous);
    assert.equal(identify(sha256, "run-record", record), record_id);
    previous = record_id;
  });
}

function keyOf(runId: string, family: string, operation: string): string {
  return `${runId}/${family}/${operation}`;
}

/** Asks what became of a mutation that was never answered: accepted and there, or unknown and not there. */
async function settle(gate: GateProcess, mutation: Sent): Promise<boolean> {
  const { namespace_id, run_id, operation_id } = mutation.input;
  const resolved = await gate.decide("scenario_resolve_mutation", {
    namespace_id,
    run_id,
    operation_id: { family: mutation.family, identity: operation_id },
    invocation_identity: invocationIdentity(sha256, mutation.tool, mutation.input as unknown as JsonObject),
  });
  if (resolved["outcome"] === "accepted") {
    const again = await gate.decide(mutation.tool, mutation.input);
    assert.equal(again["outcome"], "accepted");
    assert.equal(canonicalize(again["result"] as JsonValue), canonicalize(resolved["result"] as JsonValue));
    return true;
  }
  assert.equal(resolved["outcome"], "known_unaccepted");
  assert.deepEqual((resolved["result"] as JsonObject)["reason"], "no_accepted_receipt");
  return false;
}

/**
 * Holds a server to every answer that was given before: an accepted call answers again as it did, and each record belongs to a call.
 */
export async function checkAnswers(
  gate: GateProcess,
  runs: readonly LoadedRun[],
  sent: readonly Sent[],
): Promise<RoundReport> {
  const expected = new Set<string>();
  let unansweredAccepted = 0;
  for (const mutation of sent) {
    const key = keyOf(mutation.input.run_id, mutation.family, mutation.input.operation_id);
    if (mutation.answer === null) {
      if (!await settle(gate, mutation)) continue;
      unansweredAccepted++;
      expected.add(key);
    } else if (mutation.answer["outcome"] === "accepted") {
      const again = await gate.decide(mutation.tool, mutation.input);
      const [now, before] = [JSON.stringify(again), JSON.stringify(mutation.answer)];
      assert.ok(now === before, `An accepted call answers ${now}, before ${before}`);
      expected.add(key);
    }
  }
  let records = 0;
  for (const run of runs) {
    const history = await readChain(gate, run);
    records += history.length;
    for (const { record } of history.slice(1)) {
      const { family, identity } = record.operation;
      assert.ok(expected.delete(keyOf(run.run_id, family, identity)), "a record is there that nobody was told of");
    }
  }
  assert.equal(expected.size, 0, "an accepted answer has no record");
  const accepted = sent.filter(({ answer }) => answer?.["outcome"] === "accepted").length;
  return { accepted, unanswered: sent.filter(({ answer }) => answer === null).length, unansweredAccepted, records };
}

/** Waits for an accepted answer: on a slow machine the end would otherwise come before the load. */
async function firstAcceptance(sent: readonly Sent[]): Promise<void> {
  const deadline = performance.now() + 30_000;
  while (!sent.some(({ answer }) => answer?.["outcome"] === "accepted")) {
    assert.ok(performance.now() < deadline, "no call was accepted in 30 s");
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

/** Runs one round; throws where the server that comes after does not keep what the one before has answered. */
export async function crashRound(seed: number): Promise<RoundReport> {
  const random = randomOf(seed);
  const folder = await Deno.makeTempDir({ prefix: "gate-crash-" });
  const configPath = `${folder}/gate.toml`;
  await Deno.writeTextFile(
    configPath,
    `[server.audit]\nenabled = false\n[run_state_store]\ntype = "sqlite"\npath = "gate.db"\n`,
  );
  try {
    const first = await startGate(configPath);
    const { runs, heads } = await startRuns(first, random);
    const sent: Sent[] = [];
    const callers = runs.map((run, index) => {
      // Every eighth caller works on its neighbour's run, so that heads race.
      const at = index % 8 === 7 ? index - 1 : index;
      const own = randomOf(seed * 1000 + index);
      return callUntilDeath(first, runs[at] ?? run, heads[at] ?? { record_id: "", revision: 0 }, own, sent);
    });
    await firstAcceptance(sent);
    await new Promise((resolve) => setTimeout(resolve, random() * 380));
    await first.kill();
    await Promise.all(callers);
    const second = await startGate(configPath);
    const report = await checkAnswers(second, runs, sent);
    assert.equal(await second.close(), 0);
    return report;
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}
