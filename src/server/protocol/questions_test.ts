import assert from "node:assert/strict";
import type { JsonObject } from "../../canonical/json.ts";
import { openQuestions, type QuestionOptions, type Questions, QUESTIONS_MAXIMUM } from "./questions.ts";

interface Bench {
  readonly questions: Questions;
  readonly sent: readonly JsonObject[];
  readonly ask: (signal?: AbortSignal) => Promise<JsonObject | null>;
}

function benchOf(options?: QuestionOptions): Bench {
  const sent: JsonObject[] = [];
  const questions = openQuestions((line) => sent.push(JSON.parse(line)), options);
  const ask = (signal = new AbortController().signal): Promise<JsonObject | null> =>
    questions.ask("elicitation/create", { message: "?" }, signal);
  return { questions, sent, ask };
}

/** The answers of a client to the only question, and what the question gives; undefined while it is open. */
const ANSWERS: readonly (readonly [response: JsonObject, given: JsonObject | null | undefined])[] = [
  [{ id: "gate-1", result: { action: "accept" } }, { action: "accept" }],
  [{ id: "gate-1", error: { code: -32601, message: "no" } }, null],
  [{ id: "gate-1", result: { action: "accept" }, error: { code: -32601, message: "no" } }, null],
  [{ id: "gate-1", result: 1 }, null],
  [{ id: "gate-2", result: { action: "accept" } }, undefined],
  [{ id: 1, result: { action: "accept" } }, undefined],
  [{ result: { action: "accept" } }, undefined],
];

for (const [response, given] of ANSWERS) {
  Deno.test(`a question answered with ${JSON.stringify(response)}: ${JSON.stringify(given) ?? "open"}`, async () => {
    const { questions, sent, ask } = benchOf();
    const asking = ask();
    assert.deepEqual(sent, [{ jsonrpc: "2.0", id: "gate-1", method: "elicitation/create", params: { message: "?" } }]);
    questions.answered({ jsonrpc: "2.0", ...response });
    const open = Promise.resolve(undefined);
    assert.deepEqual(await Promise.race([asking, open.then(() => open).then(() => open)]), given);
    questions.end();
    await asking;
  });
}

Deno.test("a cancelled question is cancelled at the client, and later answers count for nothing", async () => {
  const { questions, sent, ask } = benchOf();
  const gone = new AbortController();
  const asking = ask(gone.signal);
  gone.abort();
  assert.equal(await asking, null);
  assert.deepEqual(sent[1], { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: "gate-1" } });
  questions.answered({ jsonrpc: "2.0", id: "gate-1", result: {} });
  assert.equal(await ask(AbortSignal.abort()), null);
  assert.equal(sent.length, 2);
});

Deno.test("a question that waited too long is cancelled at the client, and makes room", async () => {
  const { questions, sent, ask } = benchOf({ patience: 0 });
  const asking = Array.from({ length: QUESTIONS_MAXIMUM }, () => ask());
  assert.deepEqual(await Promise.all(asking), Array(QUESTIONS_MAXIMUM).fill(null));
  const cancelled = sent.filter(({ method }) => method === "notifications/cancelled");
  assert.deepEqual(
    cancelled.map(({ params }) => params),
    asking.map((_, index) => ({ requestId: `gate-${index + 1}` })),
  );
  questions.answered({ jsonrpc: "2.0", id: "gate-1", result: {} });
  assert.equal(await ask(), null);
  assert.equal(sent.length, 2 * QUESTIONS_MAXIMUM + 2);
});

Deno.test("so many questions are open at one time; the end answers all", async () => {
  const { questions, sent, ask } = benchOf();
  const asking = Array.from({ length: QUESTIONS_MAXIMUM }, () => ask());
  assert.equal(await ask(), null);
  assert.equal(sent.length, QUESTIONS_MAXIMUM);
  questions.answered({ jsonrpc: "2.0", id: "gate-1", result: { action: "accept" } });
  assert.deepEqual(await asking[0], { action: "accept" });
  const again = ask();
  assert.equal(sent.length, QUESTIONS_MAXIMUM + 1);
  questions.end();
  assert.deepEqual(await Promise.all([...asking.slice(1), again]), Array(QUESTIONS_MAXIMUM).fill(null));
});
