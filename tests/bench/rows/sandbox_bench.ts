/**
 * What the sandbox costs: a `json` check through the provider's worker against the same check in this isolate.
 *
 * @module
 */

import assert from "node:assert/strict";
import { canonicalize } from "../../../src/canonical/canonicalize.ts";
import type { JsonValue } from "../../../src/canonical/json.ts";
import { checkJsonFile, type JsonSetup } from "../../../src/evidence/builtin/json_file.ts";
import { answerOfFile } from "../../../src/evidence/builtin/json_provider.ts";
import { describeGrant } from "../../../src/evidence/builtin/permissions.ts";
import { createBuiltinProvider } from "../../../src/evidence/builtin/provider.ts";
import type { BuiltinProviderEntry } from "../../../src/config/types.ts";
import type { EvidenceContext, EvidenceQuery, Provider, ProviderAnswer } from "../../../src/evidence/types.ts";
import { type BenchRow, makeRow, median } from "../harness.ts";

/** Both sides run compiled code only after a thousand checks or so. */
const ROUNDS = { warmUp: 6, counted: 15 };
const ROOT_ID = "bench";
const CONTEXT: EvidenceContext = { namespace_id: 2, trigger_time: { kind: "unix_millis", value: 0 } };
const QUERY: EvidenceQuery = {
  provider_id: "json",
  check_id: "path",
  params: { file: "report.json", jsonpath: "$.suites[?@.failed > 0].name" },
};

/** A test report of so many suites, about 70 bytes each. */
function report(suites: number): JsonValue {
  const rows = Array.from({ length: suites }, (_, index) => ({
    name: `suite ${index}`,
    passed: index * 7,
    failed: index % 50 === 1 ? 1 : 0,
    seconds: index / 8,
  }));
  return { branch: "main", commit: "0".repeat(40), suites: rows };
}

function providerOf(root: string): Provider {
  const entry: BuiltinProviderEntry<"json"> = {
    name: "json",
    type: "builtin",
    url: null,
    command: [],
    allow_insecure_http: false,
    allow_raw: true,
    auth: null,
    capabilities_path: null,
    runtime_profile_path: null,
    typed_protocol: null,
    trust: null,
    timeouts: { connect_timeout_ms: 2000, request_timeout_ms: 10_000 },
    config: { root, root_id: ROOT_ID, allow_yaml: true, max_bytes: 1_048_576 },
  };
  return createBuiltinProvider(entry);
}

/** The check in this isolate, up to the same answer: what the provider would do if it had no worker. */
function inProcess(root: string): () => Promise<ProviderAnswer> {
  const setup: JsonSetup = { root, allow_yaml: true, max_bytes: 1_048_576 };
  const grant = describeGrant({ read: [ROOT_ID] });
  return async () => answerOfFile(await checkJsonFile(setup, QUERY), ROOT_ID, grant);
}

/** Microseconds until an answer with a value is there. */
async function time(check: () => Promise<ProviderAnswer>): Promise<number> {
  const started = performance.now();
  const answer = await check();
  const elapsed = performance.now() - started;
  if (!answer.ok || answer.result.value === null) throw new Error("The check found nothing");
  return elapsed * 1000;
}

/**
 * Rounds of single checks of the two sides in turns, so that both meet the same load. Each starts as a check in a
 * server does: on a thread that has just done something else. Each round counts with its middle check, not with the
 * mean, which the few checks during which the machine ran another program would make.
 */
async function inTurns(
  checks: number,
  ours: () => Promise<ProviderAnswer>,
  peer: () => Promise<ProviderAnswer>,
): Promise<BenchRow["samples"]> {
  const samples = { ours: [] as number[], peer: [] as number[] };
  for (let round = 0; round < ROUNDS.warmUp + ROUNDS.counted; round++) {
    const times = { ours: [] as number[], peer: [] as number[] };
    for (let check = 0; check < checks; check++) {
      times.ours.push(await time(ours));
      times.peer.push(await time(peer));
    }
    if (round < ROUNDS.warmUp) continue;
    samples.ours.push(median(times.ours));
    samples.peer.push(median(times.peer));
  }
  return samples;
}

async function measure(suites: number, checks: number, name: string): Promise<BenchRow> {
  const folder = await Deno.realPath(await Deno.makeTempDir({ prefix: "gate-bench-" }));
  const provider = providerOf(folder);
  const signal = new AbortController().signal;
  const ours = (): Promise<ProviderAnswer> => provider.query(QUERY, CONTEXT, signal);
  const peer = inProcess(folder);
  try {
    await Deno.writeTextFile(`${folder}/report.json`, canonicalize(report(suites)));
    assert.deepEqual({ ...await ours(), acquired_at: 0 }, { ...await peer(), acquired_at: 0 });
    return makeRow({
      row: "sandbox",
      name: `sandbox round trip, json check of ${name}`,
      peer_name: "the same check in process",
      unit: "us",
      must: 3,
      goal: 1.5,
      direction: "lower",
      ceiling: "a bare message there and back takes 10 us, or 45 us if an idle core has to be woken for it",
    }, await inTurns(checks, ours, peer));
  } finally {
    await provider.close();
    await Deno.remove(folder, { recursive: true });
  }
}

/** Runs the benchmark on a small report and a larger one. */
export async function run(): Promise<BenchRow[]> {
  return [await measure(6, 300, "0.5 kB"), await measure(700, 50, "50 kB")];
}
