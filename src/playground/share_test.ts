import assert from "node:assert/strict";
import { FRAGMENT_CHARACTERS_MAXIMUM, fragmentOf, type Held, heldIn } from "./share.ts";

const HELD: Held = {
  law: "scenario_id: release\n",
  changed: "",
  given: {
    evidence: new Map([["a", "1"], ["__proto__", "ä€😀"]]),
    parameters: new Map([["commit", "4f2a9c1"]]),
    signed: new Set(["a"]),
    at: "2026-03-01T09:00:00Z",
  },
};

Deno.test("heldIn() reads what fragmentOf() writes", () => {
  const fragment = fragmentOf(HELD);
  assert.match(fragment ?? "", /^[A-Za-z0-9_-]+$/);
  assert.deepEqual(heldIn(fragment ?? ""), HELD);
});

/** The fragment of a text, of any length. */
function encoded(text: string): string {
  return new TextEncoder().encode(text).toBase64({ alphabet: "base64url", omitPadding: true });
}

// Three bytes take four characters, so no text has one character more than the maximum.
for (const [more, characters, isShared] of [[-1, -1, true], [0, 0, true], [1, 2, false]] as const) {
  const bytes = FRAGMENT_CHARACTERS_MAXIMUM * 3 / 4 + more;
  Deno.test(`a text of ${bytes} bytes: ${isShared ? "a fragment" : "too long"}`, () => {
    const held: Held = { ...HELD, given: { ...HELD.given, evidence: new Map() } };
    const short = new TextDecoder().decode(Uint8Array.fromBase64(fragmentOf({ ...held, law: "" }) ?? "", {
      alphabet: "base64url",
    }));
    const law = "x".repeat(bytes - short.length);
    const fragment = encoded(short.replace('"law":""', `"law":"${law}"`));
    assert.equal(fragment.length, FRAGMENT_CHARACTERS_MAXIMUM + characters);
    assert.equal(fragmentOf({ ...held, law }), isShared ? fragment : null);
    assert.deepEqual(heldIn(fragment), isShared ? { ...held, law } : null);
  });
}
