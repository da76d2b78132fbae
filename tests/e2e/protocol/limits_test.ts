/** The limits of the edge, at one below, at, and one above. */

import assert from "node:assert/strict";
import { envelope, initializeParams, startFixture, type Wire } from "../client.ts";

const wait = (id: number, milliseconds: number): Wire => ({
  jsonrpc: "2.0",
  id,
  method: "tools/call",
  params: { name: "wait", arguments: { milliseconds }, _meta: envelope() },
});

const codeOf = (answer: Wire): number | "ok" => (answer["error"] as { code: number } | undefined)?.code ?? "ok";

for (const [sent, outcome] of [[2, "ok ok"], [3, "ok ok ok"], [4, "-32072 ok ok ok"]] as const) {
  Deno.test(`max_inflight 3, ${sent} requests at one time: ${outcome}`, async () => {
    await using server = startFixture({ server: { limits: { max_inflight: 3, rate_limit: null } } });
    const ids = Array.from({ length: sent }, (_, index) => index);
    await server.write(ids.map((id) => `${JSON.stringify(wait(id, 300))}\n`).join(""));
    const answers = await Promise.all(ids.map((id) => server.answer(id)));
    assert.equal(answers.map(codeOf).sort().join(" "), outcome);
    const refusal = answers.find((answer) => codeOf(answer) === -32072)?.["error"] as { data: Wire } | undefined;
    if (refusal !== undefined) {
      assert.deepEqual(refusal.data, { kind: "inflight_limit", retryable: true, request_id: sent - 1 });
    }
    await server.send(wait(100, 0));
    assert.equal(codeOf(await server.answer(100)), "ok", "there is room again");
  });
}

for (const [sent, outcome] of [[2, "ok ok"], [3, "ok ok ok"], [4, "ok ok ok -32071"]] as const) {
  Deno.test(`3 requests a window, ${sent} requests: ${outcome}`, async () => {
    const rate = { max_requests: 3, window_ms: 60_000, max_entries: 1 };
    await using server = startFixture({ server: { limits: { max_inflight: 9, rate_limit: rate } } });
    const answers = [await server.request("initialize", initializeParams())];
    while (answers.length < sent) answers.push(await server.request("ping"));
    assert.equal(answers.map(codeOf).join(" "), outcome);
    const last = answers.at(-1)?.["error"] as { data: Wire } | undefined;
    if (last !== undefined) {
      assert.equal(last.data["retryable"], true);
      const after = last.data["retry_after_ms"] as number;
      assert.ok(Number.isInteger(after) && after > 0 && after <= 60_000);
    }
  });
}

Deno.test("a window passes", async () => {
  const rate = { max_requests: 1, window_ms: 200, max_entries: 1 };
  await using server = startFixture({ server: { limits: { max_inflight: 9, rate_limit: rate } } });
  assert.equal(codeOf(await server.request("ping")), "ok");
  for (let round = 0;; round++) {
    const answer = await server.request("ping");
    if (codeOf(answer) === "ok") break;
    assert.ok(round < 10);
    const { data } = answer["error"] as { data: { retry_after_ms: number } };
    await new Promise((resolve) => setTimeout(resolve, data.retry_after_ms));
  }
});

Deno.test("cancelled and failed requests make room again", async () => {
  await using server = startFixture({ server: { limits: { max_inflight: 1, rate_limit: null } } });
  await server.request("initialize", initializeParams());
  for (let round = 0; round < 5; round++) {
    await server.send({ ...wait(round, 10_000), params: { name: "wait", arguments: { milliseconds: 10_000 } } });
    await server.send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: round } });
    assert.equal(codeOf(await server.request("tools/call", { name: 1 })), -32602);
    assert.equal(codeOf(await server.request("tools/call", { name: "throws" })), -32603);
    assert.equal(codeOf(await server.request("no/such")), -32601);
  }
});

Deno.test("an id that is in work is refused, and free again after its answer", async () => {
  await using server = startFixture();
  await server.send(wait(1, 300));
  await server.send(wait(1, 0));
  assert.equal(codeOf(await server.answer(1)), -32600);
  assert.equal(codeOf(await server.answer(1)), "ok");
  await server.send(wait(1, 0));
  assert.equal(codeOf(await server.answer(1)), "ok");
});

Deno.test("allowed_tools and server.tools hold on stdio", async () => {
  const auth = { mode: "local_only", bearer_tokens: [], mtls_subjects: [], principals: [], allowed_tools: ["echo"] };
  const tools = { mode: "filter", allowlist: ["echo", "names"], denylist: [] };
  await using server = startFixture({ server: { auth, tools } });
  const { result } = await server.request("tools/list") as { result: { tools: { name: string }[] } };
  assert.deepEqual(result.tools.map((tool) => tool.name), ["echo", "names"]);
  assert.equal(codeOf(await server.request("tools/call", { name: "echo" })), "ok");
  const refused = (await server.request("tools/call", { name: "names" }))["result"] as Wire;
  assert.deepEqual([refused["isError"], /tool_not_allowed/.test(JSON.stringify(refused))], [true, true]);
  assert.equal(codeOf(await server.request("tools/call", { name: "wait" })), -32602);
});
