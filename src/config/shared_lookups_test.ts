import assert from "node:assert/strict";
import { shareLookups } from "./shared_lookups.ts";

const WAITS = new AbortController().signal;

/** Looks hosts up until they are answered; `begun` has each host whose lookup began. */
function slowLookups(): {
  readonly begun: string[];
  readonly answer: (host: string) => void;
  readonly lookUp: (host: string) => Promise<readonly string[]>;
} {
  const begun: string[] = [];
  const open = new Map<string, PromiseWithResolvers<readonly string[]>>();
  return {
    begun,
    answer: (host) => open.get(host)?.resolve([`address of ${host}`]),
    lookUp: (host) => {
      begun.push(host);
      const lookup = Promise.withResolvers<readonly string[]>();
      open.set(host, lookup);
      return lookup.promise;
    },
  };
}

for (const [hosts, expected] of [[1, "a"], [2, "a b"], [3, "a b"]] as const) {
  Deno.test(`shareLookups() of 2 with ${hosts} hosts begins ${expected}`, async () => {
    const { begun, answer, lookUp } = slowLookups();
    const resolve = shareLookups(lookUp, 2);
    const names = ["a", "b", "c"].slice(0, hosts);
    const asked = names.map((host) => resolve(host, WAITS));
    assert.equal(begun.join(" "), expected);
    for (const [index, host] of names.entries()) {
      answer(host);
      assert.deepEqual(await asked[index], [`address of ${host}`]);
    }
    assert.deepEqual(begun, names);
  });
}

Deno.test("shareLookups() shares the lookup of a host, and looks it up again later", async () => {
  const { begun, answer, lookUp } = slowLookups();
  const resolve = shareLookups(lookUp, 1);
  const asked = [resolve("a", WAITS), resolve("a", WAITS)];
  answer("a");
  assert.deepEqual(await Promise.all(asked), [["address of a"], ["address of a"]]);
  const again = resolve("a", WAITS);
  answer("a");
  await again;
  assert.deepEqual(begun, ["a", "a"]);
});

Deno.test("shareLookups() skips hosts whose callers gave up, and keeps the place of those that wait", async () => {
  const { begun, answer, lookUp } = slowLookups();
  const resolve = shareLookups(lookUp, 1);
  const first = resolve("a", WAITS);
  const gone = new AbortController();
  const lost = [resolve("b", gone.signal), resolve("c", gone.signal)];
  const kept = resolve("c", WAITS);
  gone.abort(new Error("too late"));
  for (const one of lost) await assert.rejects(one, /too late/);
  answer("a");
  await first;
  // The slot passes from "a" over "b" to "c" in turns of the event loop.
  while (!begun.includes("c")) await new Promise((turn) => setTimeout(turn));
  answer("c");
  assert.deepEqual(await kept, ["address of c"]);
  assert.deepEqual(begun, ["a", "c"]);
});
