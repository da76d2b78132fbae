import assert from "node:assert/strict";
import type { JsonObject, JsonValue } from "../../canonical/json.ts";
import { decodeReply, oneLine, REPLY_LIMITS } from "./reply.ts";

const HASH = { algorithm: "sha256", value: "0".repeat(64) };
const SIGNATURE = { scheme: "ed25519", key_id: "k", signature: "AAAA" };
const ANCHOR = { anchor_type: "t", anchor_value: "{}" };

/** A reply, and its fault. */
const ROWS: readonly [JsonValue, string | null][] = [
  [{}, "$.value: must be present; null states that nothing was found"],
  [{ lane: "verified", error: null }, "$.value: must be present; null states that nothing was found"],
  [{ value: null }, null],
  [
    {
      value: { kind: "bytes", base64: "AAEC" },
      lane: "asserted",
      error: null,
      evidence_hash: HASH,
      evidence_ref: { uri: "a:b" },
      evidence_anchor: ANCHOR,
      signature: SIGNATURE,
      content_type: "application/json; charset=utf-8",
      observed_at: 0,
    },
    null,
  ],
  [null, "$: must be an object"],
  [[], "$: must be an object"],
  [{ x: 1 }, '$: member "x" is unknown'],
  [{ value: 1 }, "$.value: must be an object"],
  [{ value: {} }, "$.value.kind: is missing"],
  [{ value: { kind: "text" } }, '$.value.kind: must be "json" or "bytes"'],
  [{ value: { kind: "json" } }, "$.value.value: is missing"],
  [{ value: { kind: "json", value: 1, base64: "" } }, '$.value: member "base64" is unknown'],
  [{ value: { kind: "bytes", value: [0] } }, '$.value: member "value" is unknown'],
  [{ value: { kind: "bytes", base64: "A" } }, "$.value.base64: must be the base64 of some bytes"],
  [{ lane: "sure" }, '$.lane: must be "verified" or "asserted"'],
  [{ error: { code: "a" } }, "$.error.message: is missing"],
  [{ error: { code: "", message: "m" } }, "$.error.code: must be a string that is not empty"],
  [{ error: { code: "a b", message: "m" } }, "$.error.code: must be of visible ASCII characters"],
  [{ error: { code: "a", message: "m", at: 1 } }, '$.error: member "at" is unknown'],
  [
    { error: { code: "a", message: "m" }, value: { kind: "json", value: null } },
    "$.value: must be null where there is an error",
  ],
  [
    { error: { code: "a", message: "m" }, evidence_hash: HASH },
    "$.evidence_hash: must be null where there is an error",
  ],
  [{ error: { code: "a", message: "m" }, content_type: "a/b" }, "$.content_type: must be null where there is an error"],
  [{ error: { code: "a", message: "m" }, evidence_anchor: ANCHOR, lane: "verified" }, null],
  [{ evidence_hash: { ...HASH, algorithm: "md5" } }, '$.evidence_hash.algorithm: must be "sha256"'],
  [{ evidence_hash: { ...HASH, value: "0" } }, "$.evidence_hash.value: must be 64 lower-case hex digits"],
  [{ evidence_ref: "a:b" }, "$.evidence_ref: must be an object"],
  [
    { evidence_anchor: { ...ANCHOR, anchor_value: {} } },
    "$.evidence_anchor.anchor_value: must be a string",
  ],
  [{ signature: { ...SIGNATURE, scheme: "rsa" } }, '$.signature.scheme: must be "ed25519"'],
  [{ signature: { ...SIGNATURE, signature: [0] } }, "$.signature.signature: must be a string"],
  [{ content_type: "json" }, "$.content_type: must be a media type"],
  [{ observed_at: -1 }, "$.observed_at: must be Unix milliseconds"],
  [{ observed_at: 0.5 }, "$.observed_at: must be Unix milliseconds"],
];

for (const [reply, fault] of ROWS) {
  Deno.test(`decodeReply() ${JSON.stringify(reply).slice(0, 80)}: ${fault ?? "ok"}`, () => {
    const decoded = decodeReply(reply);
    assert.equal(decoded.ok ? null : decoded.message, fault);
  });
}

const LIMITED: readonly [string, number, (text: string) => JsonObject][] = [
  ["error.code", REPLY_LIMITS.errorCode, (code) => ({ error: { code, message: "m" } })],
  ["error.message", REPLY_LIMITS.errorMessage, (message) => ({ error: { code: "c", message } })],
  ["error.details", REPLY_LIMITS.errorDetails - 2, (details) => ({ error: { code: "c", message: "m", details } })],
  ["evidence_ref.uri", REPLY_LIMITS.uri, (uri) => ({ value: null, evidence_ref: { uri } })],
  [
    "anchor_type",
    REPLY_LIMITS.anchorType,
    (anchor_type) => ({ value: null, evidence_anchor: { ...ANCHOR, anchor_type } }),
  ],
  [
    "anchor_value",
    REPLY_LIMITS.anchorValue,
    (anchor_value) => ({ value: null, evidence_anchor: { ...ANCHOR, anchor_value } }),
  ],
  ["key_id", REPLY_LIMITS.keyId, (key_id) => ({ value: null, signature: { ...SIGNATURE, key_id } })],
  ["signature", REPLY_LIMITS.signature, (signature) => ({ value: null, signature: { ...SIGNATURE, signature } })],
];

for (const [name, limit, reply] of LIMITED) {
  Deno.test(`decodeReply() accepts ${limit} bytes of ${name} and no more`, () => {
    const accepted = [limit - 1, limit, limit + 1].map((length) => decodeReply(reply("a".repeat(length))).ok);
    assert.deepEqual(accepted, [true, true, false]);
  });
}

Deno.test("oneLine() quotes a text from outside as one short line", () => {
  assert.equal(oneLine(" a\n\u001b[31mb\u202e\ud800 "), "a [31mb \ufffd");
  assert.equal(oneLine("x".repeat(5000)), `${"x".repeat(200)}…`);
});
