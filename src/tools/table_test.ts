import assert from "node:assert/strict";
import { LOCAL } from "./tests/tools_fixture.ts";
import { lazyTool } from "./table.ts";
import type { Tool, ToolAnswer } from "./framework/types.ts";

Deno.test("lazyTool() loads a module once for all calls, and again after a failure", async () => {
  const answer: ToolAnswer = { ok: true, result: {} };
  let loads = 0;
  const load = async (): Promise<Tool> => {
    loads++;
    await Promise.resolve();
    if (loads === 1) throw new Error("Disk is away");
    return { ...shown, hints, handle: () => Promise.resolve(answer) };
  };
  const shown = {
    name: "scenario_status",
    title: "A tool",
    description: "A tool of the suite",
    group: "Read",
    audit: "request" as const,
    inputSchema: {},
    outputSchema: {},
  } as const;
  const hints = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false };
  const tool = lazyTool({ ...shown, annotations: { title: "A tool", ...hints } }, load);
  const call = { principal: LOCAL, signal: new AbortController().signal, correlationId: null };
  await assert.rejects(tool.handle({}, call), /Disk is away/);
  assert.deepEqual(await Promise.all([tool.handle({}, call), tool.handle({}, call)]), [answer, answer]);
  assert.equal(await tool.handle({}, call), answer);
  assert.equal(loads, 2);
});
