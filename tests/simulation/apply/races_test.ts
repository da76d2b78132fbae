import assert from "node:assert/strict";
import { runKeyOf } from "@/run/command.ts";
import type { JsonObject } from "@/canonical/json.ts";
import { identityOf, type Random, randomOf } from "../crash/random.ts";
import { ADMIN, OFFERS, withWorld, type World } from "./world.ts";

/** Callers that change the same runs at the same time, and what each sends. */
const CALLERS = 6;
const SENT = 20;
const RUNS = 3;

interface Head {
  readonly record_id: string;
  readonly revision: number;
}

type Outcome = { readonly outcome: string; readonly result: { readonly accepted_head: Head } & Head };

/** The accepted operations of each run, by revision. */
type Accepted = Map<string, Map<number, string>>;

function submission(run_id: string, expected_head: unknown, operation_id: string): JsonObject {
  const run = { namespace_id: 2, scenario_id: "release", run_id, operation_id };
  const content = { content_type: "application/json", payload: { kind: "json", value: operation_id } };
  return { ...run, ...content, expected_head: expected_head as JsonObject, scope: { kind: "run_wide" } };
}

async function startRuns({ call, law }: World): Promise<Map<string, Head>> {
  const heads = new Map<string, Head>();
  for (let index = 0; index < RUNS; index++) {
    const text = await call(ADMIN, "scenario_start", {
      ...{ namespace_id: 2, scenario_id: "release", scenario_law_identity: law },
      ...{
        creation_request_id: String(index).padStart(32, "a"),
        correlation: { kind: "unset" },
        genesis: { kind: "empty" },
      },
    }, false);
    const { result } = JSON.parse(text).outcome as { result: { run_key: { run_id: string }; head: Head } };
    heads.set(result.run_key.run_id, result.head);
  }
  return heads;
}

/** Sends a list with two operations on each run, or one call, at the heads that were seen last. */
async function send(world: World, heads: Map<string, Head>, random: Random, accepted: Accepted): Promise<void> {
  const learn = (run: string, operation: string, { outcome, result }: Outcome): void => {
    if (outcome !== "accepted" && outcome !== "stale") return;
    const head = outcome === "accepted"
      ? result.accepted_head
      : { record_id: result.record_id, revision: result.revision };
    if (head.revision > (heads.get(run)?.revision ?? 0)) heads.set(run, head);
    if (outcome !== "accepted") return;
    assert.ok(!accepted.get(run)?.has(head.revision), "one revision has one operation");
    accepted.get(run)?.set(head.revision, operation);
  };
  const runs = [...heads.keys()].filter(() => random() < 0.7);
  if (random() < 0.4) {
    const [run = [...heads.keys()][0] ?? ""] = runs;
    const operation = identityOf(random);
    const text = await world.call(ADMIN, "scenario_submit", submission(run, heads.get(run), operation), false);
    return learn(run, operation, JSON.parse(text).outcome);
  }
  const made = runs.flatMap((run, index) => {
    const [first, second] = [identityOf(random), identityOf(random)];
    return [
      { run, operation: first, input: submission(run, heads.get(run), first) },
      { run, operation: second, input: submission(run, { operation: 2 * index }, second) },
    ];
  });
  if (made.length === 0) return;
  const operations = made.map(({ input }) => ({ tool: "scenario_submit", arguments: input }));
  const { results } = JSON.parse(await world.call(ADMIN, "scenario_apply", { operations }, false)) as {
    results: { outcome?: Outcome }[];
  };
  for (const [index, { outcome }] of results.entries()) {
    const { run = "", operation = "" } = made[index] ?? {};
    if (outcome !== undefined) learn(run, operation, outcome);
  }
}

for (const store of ["memory", "sqlite"] as const) {
  Deno.test(`lists and calls that race for the heads of runs are each accepted once or not at all (${store})`, () =>
    withWorld(store, OFFERS[0], async (world) => {
      const heads = await startRuns(world);
      const accepted: Accepted = new Map([...heads.keys()].map((run) => [run, new Map()]));
      await Promise.all(Array.from({ length: CALLERS }, async (_, index) => {
        const random = randomOf(35_000 + index);
        for (let sent = 0; sent < SENT; sent++) {
          await send(world, heads, random, accepted);
          if (random() < 0.5) await new Promise((resolve) => setTimeout(resolve, random() * 8));
        }
      }));
      for (const [run, operations] of accepted) {
        const records = await world.bench.services.runs.listRecords(runKeyOf(2, run), 1, 1000);
        const told = [...operations].sort(([a], [b]) => a - b).map(([, operation]) => operation);
        assert.deepEqual(records.map(({ receipt }) => receipt.operation.identity), told);
        assert.ok(told.length > 0, "the first to commit is accepted");
      }
    }));
}
