/**
 * Typed providers: a check against one of `rest` that finds the same value, and the import of a public document against
 * its `JSON.parse`. The last rows are the start and memory of a server without typed providers.
 *
 * The peer of the last two is a copy of the program without the modules of typed providers. `GATE_BENCH_BEFORE` may name a checkout of
 * another commit, such as `e0496fd`, the last one without typed providers: its server is then a second peer, which is only reported.
 *
 * @module
 */

import assert from "node:assert/strict";
import { examineResult } from "../../../src/evidence/acquisition/examine.ts";
import { createSchemaSandbox } from "../../../src/evidence/sandbox/schema_sandbox.ts";
import type { Provider, ProviderAnswer } from "../../../src/evidence/types.ts";
import { askProvider, withProvider } from "../../e2e/providers/fixtures.ts";
import { withTyped } from "../../e2e/typed/fixture.ts";
import { httpProfile, typedCheck } from "../../simulation/typed_documents.ts";
import { readSource } from "../../../src/evidence/typed/openapi/read_source.ts";
import { importOpenApi } from "../../../src/evidence/typed/openapi/import.ts";
import { readResult, writeResult } from "../../../src/evidence/typed/import_protocol.ts";
import type { ImportResult } from "../../../src/evidence/typed/import_result.ts";
import { gateArgs, STORES } from "../../e2e/gate_command.ts";
import { DIRECTUS, fetchDocument } from "../../full/openapi/packages.ts";
import { firstAnswer, INITIALIZE, startAndAsk } from "./cold_start_bench.ts";
import { type BenchRow, compare, makeRow, median } from "../harness.ts";
import type { CommandLine } from "../server_everything.ts";

const CHECKS = 100;
const PARAMS = { id: "7" };

/** The value of an answer. */
function valueOf(answer: ProviderAnswer): unknown {
  return answer.ok ? answer.result.value : answer.code;
}

/** Microseconds of the middle check of many. */
async function timeChecks(check: () => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < CHECKS; round++) {
    const started = performance.now();
    await check();
    times.push((performance.now() - started) * 1000);
  }
  return median(times);
}

/** Runs all parts. */
export async function run(): Promise<BenchRow[]> {
  return [...await checkRows(), ...await importRows(), ...await startRows()];
}

/** Imports in one sample; the fastest counts, because what the machine does beside it only adds to the others. */
const IMPORTS = 60;

function fastest(work: () => unknown): number {
  let least = Infinity;
  for (let index = 0; index < IMPORTS; index++) {
    const started = performance.now();
    work();
    least = Math.min(least, performance.now() - started);
  }
  return least;
}

/** The import of Directus' document as the worker does it, after the runtime has compiled it. */
async function importRows(): Promise<BenchRow[]> {
  const folder = await Deno.makeTempDir({ prefix: "gate_typed_" });
  try {
    const bytes = await fetchDocument(DIRECTUS, folder);
    const text = new TextDecoder().decode(bytes);
    const options = { provider_id: "directus", server_url: "https://service.example" };
    const imported = (): ImportResult => {
      const read = readSource(bytes);
      return "code" in read ? read : importOpenApi(read.document, options);
    };
    const written = (): string => writeResult(imported());
    assert.deepEqual(readResult(written()), imported());
    const row = (name: string, must: number | null, ours: () => unknown): Promise<BenchRow> =>
      compare({
        row: "typed",
        name,
        peer_name: "JSON.parse of its text",
        unit: "ms",
        must,
        goal: null,
        direction: "lower",
        ours: () => fastest(ours),
        peer: () => fastest(() => JSON.parse(text)),
        rounds: { counted: 9, warmUp: 8 },
      });
    return [
      await row("strict reading of the bytes of Directus' OpenAPI document", null, () => readSource(bytes)),
      await row("import of Directus' OpenAPI document from its bytes", 5, imported),
      await row("the same, and the result as text for the server", null, written),
      await row("the same, and the server's reading of that text", null, () => readResult(written())),
    ];
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

const IDLE_MILLIS = 500;

const ROOT = new URL("../../..", import.meta.url).pathname.replace(/\/$/, "");
/** What a server needs, and the modules of typed providers in it. */
const PARTS = ["main.ts", "deno.json", "deno.lock", "src", "docs"];
const TYPED_MODULES = ["src/evidence/typed", "src/tools/typed_providers"];

/** Start and idle memory of a server without typed providers, beside a copy that has no module of them. */
async function startRows(): Promise<BenchRow[]> {
  const folder = await Deno.makeTempDir({ prefix: "gate_typed_" });
  try {
    await Deno.writeTextFile(`${folder}/plain.toml`, STORES);
    const [whole, without] = [`${folder}/whole`, `${folder}/without`];
    for (const copy of [whole, without]) {
      await Deno.mkdir(copy);
      const args = ["-r", ...PARTS.map((part) => `${ROOT}/${part}`), copy];
      assert.ok((await new Deno.Command("cp", { args }).output()).success);
    }
    for (const path of TYPED_MODULES) await Deno.remove(`${without}/${path}`, { recursive: true });
    const args = gateArgs("serve", "--config", `${folder}/plain.toml`);
    const serverIn = (copy: string): CommandLine => ({
      command: Deno.execPath(),
      args: args.map((word) => word.replace(ROOT, copy)),
    });
    const before = Deno.env.get("GATE_BENCH_BEFORE") ?? "";
    const rows = await startComparison(
      serverIn(whole),
      serverIn(without),
      "the same server without their modules",
      1.02,
    );
    if (before === "") return rows;
    // Everything that came since is in the difference.
    const others = await startComparison(serverIn(whole), serverIn(before), "the server before typed providers", null);
    return [...rows, ...others];
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function startComparison(
  ours: CommandLine,
  peer: CommandLine,
  peer_name: string,
  must: number | null,
): Promise<BenchRow[]> {
  for (const server of [ours, peer]) await firstAnswer(server, INITIALIZE, true);
  const memory = { ours: [] as number[], peer: [] as number[] };
  const measure = async (side: "ours" | "peer"): Promise<number> => {
    const started = await startAndAsk(side === "ours" ? ours : peer, INITIALIZE, { idleMillis: IDLE_MILLIS });
    memory[side].push(started.mebibytes);
    return started.milliseconds;
  };
  const shared = { row: "typed", peer_name, must, goal: null, direction: "lower" } as const;
  const cold = await compare({
    ...shared,
    name: "cold start without typed providers",
    unit: "ms",
    ours: () => measure("ours"),
    peer: () => measure("peer"),
    rounds: { counted: 20 },
  });
  return [cold, makeRow({ ...shared, name: "idle memory without typed providers", unit: "MiB" }, memory)];
}

/** A typed check against one of `rest`, both of one server of this process. */
async function checkRows(): Promise<BenchRow[]> {
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    () => Response.json({ id: "7", failed: 3, passed: 120, names: ["unit", "e2e"] }),
  );
  const base = `http://127.0.0.1:${server.addr.port}`;
  const schemas = createSchemaSandbox();
  const typedCheckOf = (provider: Provider) => async (): Promise<ProviderAnswer> => {
    const answer = await askProvider(provider, "failed", PARAMS);
    const error = answer.ok ? await examineResult(schemas, provider.loaded, typedCheck("failed"), answer.result) : null;
    if (error !== null) throw new Error(error.message);
    return answer;
  };
  const config = { allow_http: true, allow_private_networks: true };
  try {
    return await withProvider(
      { name: "rest", config },
      (rest) =>
        withTyped({ profile: httpProfile({ base_url: base }) }, async (provider) => {
          const ours = typedCheckOf(provider);
          const peer = (): Promise<ProviderAnswer> =>
            askProvider(rest, "json_path", { url: `${base}/builds/7`, jsonpath: "$.failed" });
          assert.deepEqual(valueOf(await ours()), { kind: "json", value: 3 });
          assert.deepEqual(valueOf(await peer()), { kind: "json", value: 3 });
          return [
            await compare({
              row: "typed",
              name: "typed check of an HTTP service",
              peer_name: "a check of rest that finds the same value",
              unit: "us",
              must: 1.5,
              goal: 1,
              direction: "lower",
              ours: () => timeChecks(ours),
              peer: () => timeChecks(peer),
              rounds: { counted: 9 },
            }),
          ];
        }),
    );
  } finally {
    schemas.close();
    await server.shutdown();
  }
}
