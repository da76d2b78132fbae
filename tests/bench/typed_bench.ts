/**
 * A typed check, its result compared with the result schema, against a check of `rest` that finds the same value. A server
 * without typed providers loads nothing of them (`tests/e2e/typed_modules_test.ts`), so its start and memory need no row.
 *
 * @module
 */

import assert from "node:assert/strict";
import { examineResult } from "../../src/evidence/acquisition/examine.ts";
import { createSchemaSandbox } from "../../src/evidence/sandbox/schema_sandbox.ts";
import type { Provider, ProviderAnswer } from "../../src/evidence/types.ts";
import { askProvider, withProvider } from "../e2e/providers_fixtures.ts";
import { withTyped } from "../e2e/typed_fixture.ts";
import { httpProfile, typedCheck } from "../simulation/typed_documents.ts";
import { type BenchRow, compare, median } from "./harness.ts";

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

/** Runs the benchmark against one server of this process. */
export async function run(): Promise<BenchRow[]> {
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
