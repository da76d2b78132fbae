/** Typed checks of a server that @grpc/grpc-js runs: what it sends is read as it means it. */

import assert from "node:assert/strict";
import fc from "../packages/fast_check.ts";
import type { JsonObject } from "../../src/canonical/json.ts";
import { decodeResponse, encodeRequest } from "../../src/evidence/typed/grpc/message_json.ts";
import type { GrpcProfile } from "../../src/evidence/typed/runtime_profile.ts";
import type { TypedProvider } from "../../src/evidence/typed/provider.ts";
import { askProvider, outcomeOf } from "../e2e/providers/fixtures.ts";
import { withTyped } from "../e2e/typed/fixture.ts";
import { EVERY_MESSAGE, everyKind, importEveryKind } from "../simulation/grpc_service.ts";

const LIBRARY = "npm:@grpc/grpc-js@1.14.7";
const SERVER = new URL("./grpc_library_server.js", import.meta.url);

/** Runs a server of the library, and a provider that asks it. */
async function withLibrary(
  behaviour: string,
  use: (provider: TypedProvider) => Promise<void>,
  timeout_ms = 10_000,
): Promise<void> {
  const args = ["run", "--quiet", "--no-lock", "--no-config", "-A", SERVER.pathname, LIBRARY, behaviour];
  const process = new Deno.Command(Deno.execPath(), { args, stdout: "piped", stderr: "null" }).spawn();
  const lines = process.stdout.pipeThrough(new TextDecoderStream()).getReader();
  try {
    const { value: port = "" } = await lines.read();
    const { contract, profile } = await importEveryKind();
    const limits = { timeout_ms, max_response_bytes: 1_048_576 };
    const endpoint = `127.0.0.1:${port.trim()}`;
    const own: GrpcProfile = { ...profile as GrpcProfile, endpoint, plaintext: true, limits };
    await withTyped({ profile: own, contract }, use);
  } finally {
    process.kill("SIGKILL");
    await lines.cancel();
    await process.status;
  }
}

Deno.test("@grpc/grpc-js: random messages come back as they were sent", async () => {
  const every = await everyKind();
  await withLibrary("echo", async (provider) => {
    await fc.assert(
      fc.asyncProperty(EVERY_MESSAGE, async (json: JsonObject) => {
        const encoded = encodeRequest(every, json);
        assert.ok(encoded.ok);
        const decoded = decodeResponse(every, encoded.bytes, null);
        assert.ok(decoded.ok);
        const answer = await askProvider(provider, "Reader.Echo", json);
        assert.ok(answer.ok && answer.result.value?.kind === "json", outcomeOf(answer));
        assert.deepEqual(answer.result.value.value, decoded.value);
      }),
      { numRuns: 100 },
    );
  });
});

/** What the server does, outcome, details. */
const ROWS: readonly (readonly [behaviour: string, outcome: string, details: unknown])[] = [
  ["deny", "observed: grpc_status", { status: "PERMISSION_DENIED", message: "no: ünicode 100%" }],
  ["unknown", "failed: provider_protocol_error", undefined],
  ["large", "failed: response_too_large", undefined],
];

for (const [behaviour, outcome, details] of ROWS) {
  Deno.test(`@grpc/grpc-js: a server with the behaviour "${behaviour}": ${outcome}`, async () => {
    await withLibrary(behaviour, async (provider) => {
      const answer = await askProvider(provider, "Reader.Echo", {});
      assert.equal(outcomeOf(answer), outcome);
      assert.deepEqual(answer.ok ? answer.result.error?.details : undefined, details);
    });
  });
}

Deno.test("@grpc/grpc-js: a call that the server keeps waiting ends at its deadline", async () => {
  await withLibrary("wait", async (provider) => {
    assert.equal(outcomeOf(await askProvider(provider, "Reader.Echo", {})), "failed: timeout");
  }, 300);
});
