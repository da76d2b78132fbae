import assert from "node:assert/strict";
import { identifyCanonical } from "../../canonical/identity.ts";
import { HOST_PRIMITIVES } from "../../evidence/host_primitives.ts";
import type { SegmentPart } from "./object_walker.ts";
import { openValues } from "./material_values.ts";

const { sha256 } = HOST_PRIMITIVES;

/** A segment whose values object holds one payload of so many characters. */
function segmentOf(characters: number): { readonly part: SegmentPart; readonly identity: string } {
  const frame = '{"kind":"json","value":""}';
  const body = frame.replace('""', `"${"x".repeat(characters - frame.length)}"`);
  const identity = identifyCanonical(sha256, "payload", body);
  const line = `{"body":${body},"identity":"${identity}","kind":"payload"}\n`;
  const part = { segment: { large_values: [] }, values: new TextEncoder().encode(line) } as unknown as SegmentPart;
  return { part, identity };
}

for (const [times, pauses] of [[15, 0], [16, 1], [17, 1], [32, 2]] as const) {
  Deno.test(`body() pauses after 256 Ki characters: ${times} times 16 Ki`, async () => {
    const { part, identity } = segmentOf(16 * 1024);
    let paused = 0;
    const values = openValues(sha256, part, () => Promise.resolve(void paused++));
    for (let time = 0; time < times; time++) {
      assert.equal((await values.body("payload", identity))?.length, 16 * 1024);
    }
    assert.equal(paused, pauses);
  });
}

Deno.test("finish() pauses, too", async () => {
  const { part, identity } = segmentOf(16 * 1024);
  let paused = 0;
  const values = openValues(sha256, part, () => Promise.resolve(void paused++));
  for (let time = 0; time < 15; time++) await values.body("payload", identity);
  const named = [{ kind: "payload", identity, conditions: [null] }] as const;
  assert.equal(await values.finish(named, new Set()), null);
  assert.equal(paused, 1);
});
