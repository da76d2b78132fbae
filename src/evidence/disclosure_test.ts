import assert from "node:assert/strict";
import { canonicalize } from "../canonical/canonicalize.ts";
import type { JsonObject } from "../canonical/json.ts";
import { discloseResult } from "./disclosure.ts";
import type { EvidenceResult } from "./types.ts";

const HASH = "a1".repeat(32);
const REQUEST: JsonObject = { method: "GET", url: "https://example.com/", headers: {}, status: 200 };

function resultWith(anchor_type: string, anchor: JsonObject): EvidenceResult {
  return {
    value: { kind: "json", value: true },
    lane: "verified",
    error: null,
    evidence_hash: { algorithm: "sha256", value: HASH },
    evidence_ref: null,
    evidence_anchor: { anchor_type, anchor_value: canonicalize(anchor) },
    signature: { scheme: "ed25519", key_id: "k", signature: HASH },
    content_type: "application/json",
  };
}

/** Type and value of an anchor, and its value without raw disclosure. */
const ANCHORS: readonly (readonly [type: string, anchor: JsonObject, disclosed: JsonObject])[] = [
  ["rest_request", { ...REQUEST, body_hash: HASH }, { ...REQUEST, body_hash: "<redacted>" }],
  ["rest_request", REQUEST, REQUEST],
  ["url", { url: "https://example.com/" }, { url: "https://example.com/" }],
];

for (const [type, anchor, disclosed] of ANCHORS) {
  Deno.test(`discloseResult() removes every hash of the value: ${type} ${canonicalize(anchor)}`, () => {
    const result = resultWith(type, anchor);
    const shown = discloseResult(result, false);
    assert.equal(shown.evidence_anchor?.anchor_value, canonicalize(disclosed));
    assert.ok(!JSON.stringify(shown).includes(HASH));
    assert.equal(discloseResult(result, true), result);
  });
}

Deno.test("discloseResult() does not change an anchor that is not JSON", () => {
  const anchor = { anchor_type: "rest_request", anchor_value: "{" };
  assert.deepEqual(
    discloseResult({ ...resultWith("url", {}), evidence_anchor: anchor }, false).evidence_anchor,
    anchor,
  );
});
