import assert from "node:assert/strict";
import type { JsonObject } from "../../canonical/json.ts";
import { asCompletion, type Ask, completeArgument, VALUES_MAXIMUM } from "./prompt_completion.ts";

interface Asked {
  readonly name: string;
  readonly input: JsonObject;
}

/** Pages of scenario ids, and what was asked for them, by a caller that may use namespaces 2 and 21. */
function pagesOf(...pages: string[][]): { asked: Asked[]; ask: Ask } {
  const asked: Asked[] = [];
  const tool: Ask["tool"] = (name, input) => {
    const page = pages[asked.length] ?? [];
    asked.push({ name, input });
    const items = page.map((scenario_id) => ({ namespace_id: 2, scenario_id, scenario_law_identity: "0" }));
    const next_token = asked.length < pages.length ? `page ${asked.length}` : null;
    return Promise.resolve({ ok: true, answer: { ok: true, result: { items, next_token } } });
  };
  return { asked, ask: { tool, namespaces: namespaces([2, 21]) } };
}

function namespaces(ids: readonly number[], isWhole = true): Ask["namespaces"] {
  return (begun) => Promise.resolve({ ids: ids.filter((id) => String(id).startsWith(begun)), isWhole });
}

const DRIVE = { prompt: "drive_run", argument: "scenario_id", begun: "", given: new Map([["namespace_id", "2"]]) };
const NOTHING = { values: [], total: 0, hasMore: false };

Deno.test("completeArgument() completes scenarios page by page, each once", async () => {
  const { asked, ask } = pagesOf(["a1", "a2", "b"], ["a2", "a3"]);
  const completion = await completeArgument({ ...DRIVE, begun: "a" }, ask);
  assert.deepEqual(completion, { values: ["a1", "a2", "a3"], total: 3, hasMore: false });
  assert.deepEqual(asked.map(({ name, input }) => [name, input["namespace_id"], input["cursor"]]), [
    ["scenarios_list", 2, undefined],
    ["scenarios_list", 2, "page 1"],
  ]);
});

Deno.test("completeArgument() says that there may be more where there are too many pages", async () => {
  const { asked, ask } = pagesOf(...Array.from({ length: 6 }, (_, page) => [`s${page}`]));
  assert.deepEqual(await completeArgument(DRIVE, ask), { values: ["s0", "s1", "s2", "s3", "s4"], hasMore: true });
  assert.equal(asked.length, 5);
});

Deno.test("completeArgument() calls no tool for an unknown argument", async () => {
  const { asked, ask } = pagesOf(["a"]);
  for (const namespace of ["0", "-1", "1.5", "x", "9007199254740992"]) {
    assert.deepEqual(await completeArgument({ ...DRIVE, given: new Map([["namespace_id", namespace]]) }, ask), NOTHING);
  }
  assert.deepEqual(await completeArgument({ ...DRIVE, argument: "run_id" }, ask), NOTHING);
  assert.deepEqual(await completeArgument({ ...DRIVE, prompt: "no" }, ask), NOTHING);
  assert.deepEqual(asked, []);
});

function asking(outcome: Awaited<ReturnType<Ask["tool"]>>): Ask {
  return { tool: () => Promise.resolve(outcome), namespaces: namespaces([2]) };
}

Deno.test("completeArgument() gives nothing to a caller that may not list", async () => {
  const refused = {
    ok: false,
    error: { code: "namespace_refused", kind: "unauthorized", message: "", retryable: false },
  } as const;
  assert.deepEqual(await completeArgument(DRIVE, asking({ ok: true, answer: refused })), NOTHING);
  const edge = { ok: false, error: { kind: "unauthorized", message: "" } } as const;
  assert.deepEqual(await completeArgument(DRIVE, asking(edge)), NOTHING);
  const unseen = { ...DRIVE, given: new Map() };
  assert.deepEqual(await completeArgument(unseen, { ...asking(edge), namespaces: namespaces([]) }), NOTHING);
});

Deno.test("completeArgument() completes the namespaces that the caller may use, for both prompts that take one", async () => {
  const { asked, ask } = pagesOf(["a"]);
  for (const prompt of ["drive_run", "author_scenario"]) {
    const question = { prompt, argument: "namespace_id", given: new Map<string, string>() };
    const whole = { values: ["2", "21"], total: 2, hasMore: false };
    assert.deepEqual(await completeArgument({ ...question, begun: "" }, ask), whole);
    const one = { values: ["21"], total: 1, hasMore: false };
    assert.deepEqual(await completeArgument({ ...question, begun: "21" }, ask), one);
    const cut = { ...ask, namespaces: namespaces([2], false) };
    assert.deepEqual(await completeArgument({ ...question, begun: "" }, cut), { values: ["2"], hasMore: true });
  }
  assert.deepEqual(asked, []);
});

Deno.test("completeArgument() looks for scenarios in every namespace that the caller may use where none is given", async () => {
  for (const given of [new Map<string, string>(), new Map([["namespace_id", ""]])]) {
    const { asked, ask } = pagesOf(["a", "b"]);
    const completion = await completeArgument({ ...DRIVE, given }, ask);
    assert.deepEqual(completion.values, ["a", "b"]);
    assert.deepEqual(asked.map(({ input }) => input["namespace_id"]), [2, 21]);
  }
  for (const [count, asks, hasMore] of [[4, 4, false], [5, 5, false], [6, 5, true]] as const) {
    const { asked, ask } = pagesOf(["a"]);
    const many = { ...ask, namespaces: namespaces(Array.from({ length: count }, (_, index) => index + 1)) };
    const completion = await completeArgument({ ...DRIVE, given: new Map() }, many);
    assert.deepEqual([asked.length, completion.hasMore], [asks, hasMore]);
  }
});

Deno.test("completeArgument() completes what is fixed", async () => {
  const { ask } = pagesOf();
  const complete = async (prompt: string, argument: string, begun: string): Promise<readonly string[]> =>
    (await completeArgument({ prompt, argument, begun, given: new Map() }, ask)).values;
  assert.deepEqual(await complete("audit_runpack", "profile", ""), ["integrity_only_v1", "full_replay_v1"]);
  assert.deepEqual(await complete("audit_runpack", "profile", "full"), ["full_replay_v1"]);
  assert.deepEqual(await complete("author_scenario", "kind", "ch"), ["change_approval"]);
});

Deno.test("asCompletion() gives at most so many values", () => {
  for (const [count, given, hasMore] of [[99, 99, false], [100, 100, false], [101, 100, true]] as const) {
    const completion = asCompletion(Array.from({ length: count }, String), true);
    assert.deepEqual([completion.values.length, completion.total, completion.hasMore], [given, count, hasMore]);
  }
  assert.equal(VALUES_MAXIMUM, 100);
});
