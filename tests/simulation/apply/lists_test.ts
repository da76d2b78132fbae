import assert from "node:assert/strict";
import { randomOf } from "../crash/random.ts";
import { generateList, type Known } from "./generated_lists.ts";
import { callSingly } from "./single_calls.ts";
import { ADMIN, CALLERS, OFFERS, type Operation, recordsOf, withWorld, type World } from "./world.ts";

/** Lists in all; `deno task proof` makes 5,000. */
const LISTS = Number(Deno.env.get("GATE_APPLY_LISTS") ?? 240);

/** The results of a list as texts, cut out of its answer. */
async function applied(
  world: World,
  caller: typeof CALLERS[number],
  operations: readonly Operation[],
): Promise<string> {
  return await world.call(caller, "scenario_apply", { operations: operations as unknown as readonly [] });
}

/** The values of the provider, by turns. */
const VALUES = [true, false, true, "unreachable", "not a boolean"] as const;

async function compare(
  lists: number,
  seed: number,
  offer: typeof OFFERS[number],
  counts: Map<string, number>,
): Promise<void> {
  const random = randomOf(seed);
  await withWorld("memory", offer, (listed) =>
    withWorld("memory", offer, async (single) => {
      assert.equal(listed.law, single.law);
      const known: Known = { law: single.law, runs: [], used: {} };
      const sent: Operation[][] = [];
      for (let index = 0; index < lists; index++) {
        const value = VALUES[Math.floor(random() * VALUES.length)] ?? true;
        for (const world of [listed, single]) world.at(1_700_000_000_000 + index * 400, value);
        const caller = CALLERS[Math.max(0, Math.floor(random() * 12) - 8)] ?? ADMIN;
        // A list that is sent again answers from its receipts, and tries again what has none.
        const again = random() < 0.1 ? sent[Math.floor(random() * sent.length)] : undefined;
        const operations = again ?? generateList(known, random);
        sent.push(operations);
        const texts = await callSingly(single, caller, operations, known.runs);
        const answer = await applied(listed, caller, operations);
        // A caller without any role that counts may not even send a list, nor one whose rate is used up.
        if (caller.subject === "nobody" || !answer.startsWith('{"results":')) {
          assert.match(answer, /role_refused|rate_limited/);
          assert.ok(
            texts.every((text) => /role_refused|rate_limited|not_attempted|tool_not_allowed|Unknown tool/.test(text)),
            texts.join("\n"),
          );
          [listed, single].forEach((world) => world.takeEvents());
          continue;
        }
        assert.equal(answer, `{"results":[${texts.join(",")}]}`, `list ${index} of seed ${seed}`);
        for (const text of texts) count(counts, text);
        assert.deepEqual(byOperation(listed.takeEvents()), byOperation(single.takeEvents()));
      }
      assert.deepEqual(await recordsOf(listed), await recordsOf(single));
    }));
}

/** The audit lines of a list come in another order: what began together ends together. */
function byOperation(events: readonly string[]): readonly string[] {
  return [...events].sort();
}

function count(counts: Map<string, number>, text: string): void {
  const { outcome, error, not_attempted } = JSON.parse(text);
  const name = outcome?.outcome ?? error?.code ?? not_attempted?.reason;
  counts.set(String(name), (counts.get(String(name)) ?? 0) + 1);
}

Deno.test(`${LISTS} random lists answer as their operations alone, byte for byte, and record the same`, async () => {
  const counts = new Map<string, number>();
  // A world is used for so many lists, so that its records are read in little time.
  const worlds = Math.max(OFFERS.length, Math.ceil(LISTS / 100));
  for (let world = 0; world < worlds; world++) {
    const lists = Math.ceil(LISTS / worlds);
    await compare(lists, 34_000 + world, OFFERS[world % OFFERS.length] ?? OFFERS[0], counts);
  }
  for (
    const name of [
      "accepted",
      "stale",
      "earlier_refusal",
      "operation_conflict",
      "creation_conflict",
      "invalid_input",
      "role_refused",
    ]
  ) {
    assert.ok((counts.get(name) ?? 0) > 0, `no operation came to ${name}: ${JSON.stringify([...counts])}`);
  }
});
