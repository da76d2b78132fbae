/**
 * What the sandbox costs: a `json` check through the provider's worker against the same check in this isolate.
 *
 * @module
 */

import { canonicalize } from "../../src/canonical/canonicalize.ts";
import type { JsonValue } from "../../src/canonical/json.ts";
import { checkJsonFile, type JsonSetup } from "../../src/evidence/builtin/json_file.ts";
import { createBuiltinProvider } from "../../src/evidence/builtin/provider.ts";
import type { JsonProviderEntry } from "../../src/config/types.ts";
import type { EvidenceContext, EvidenceQuery, Provider } from "../../src/evidence/types.ts";
import { HOST_PRIMITIVES } from "../../src/evidence/host_primitives.ts";
import { type BenchRow, compare } from "./harness.ts";

const CHECKS = 300;
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
  const entry: JsonProviderEntry = {
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
    config: { root, root_id: "bench", allow_yaml: true, max_bytes: 1_048_576 },
  };
  return createBuiltinProvider(entry);
}

/** Microseconds a check in this isolate, its hash included. */
async function inProcess(setup: JsonSetup): Promise<number> {
  const started = performance.now();
  for (let check = 0; check < CHECKS; check++) {
    const { finding } = await checkJsonFile(setup, QUERY);
    if (!("found" in finding) || finding.found === null) throw new Error("The check found nothing");
    HOST_PRIMITIVES.sha256(finding.found);
  }
  return (performance.now() - started) * 1000 / CHECKS;
}

/** Microseconds a check through the provider. */
async function throughSandbox(provider: Provider, signal: AbortSignal): Promise<number> {
  const started = performance.now();
  for (let check = 0; check < CHECKS; check++) {
    const answer = await provider.query(QUERY, CONTEXT, signal);
    if (!answer.ok || answer.result.value === null) throw new Error("The check found nothing");
  }
  return (performance.now() - started) * 1000 / CHECKS;
}

async function measure(suites: number, name: string): Promise<BenchRow> {
  const folder = await Deno.realPath(await Deno.makeTempDir({ prefix: "gate-bench-" }));
  const provider = providerOf(folder);
  const signal = new AbortController().signal;
  try {
    await Deno.writeTextFile(`${folder}/report.json`, canonicalize(report(suites)));
    const setup: JsonSetup = { root: folder, allow_yaml: true, max_bytes: 1_048_576 };
    return await compare({
      row: "sandbox",
      name: `sandbox round trip, json check of ${name}`,
      peer_name: "the same check in process",
      unit: "us",
      must: 3,
      goal: 1.5,
      direction: "lower",
      ceiling: "a message there and back takes about 40 us",
      ours: () => throughSandbox(provider, signal),
      peer: () => inProcess(setup),
    });
  } finally {
    await provider.close();
    await Deno.remove(folder, { recursive: true });
  }
}

/** Runs the benchmark on a small report and a larger one. */
export async function run(): Promise<BenchRow[]> {
  return [await measure(6, "0.5 kB"), await measure(700, "50 kB")];
}
