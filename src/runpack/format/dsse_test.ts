import assert from "node:assert/strict";

import { encodeBase64 } from "../../canonical/base64.ts";
import type { JsonValue } from "../../canonical/json.ts";
import { SHA256 } from "../../../tests/simulation/kernel/fixture.ts";
import { decodeEnvelope, encodeEnvelope, keyIdOf, PAYLOAD_TYPE, preAuthenticationEncoding } from "./dsse.ts";
import { ENVELOPE_SIGNATURES, SIGNATURE_BYTES } from "./types.ts";

const KEY_ID = SHA256("key");
const SIGNATURE = new Uint8Array(64).fill(7);
const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
const base64 = (text: string): string => encodeBase64(bytesOf(text));

Deno.test("decodeEnvelope() reads what encodeEnvelope() wrote", () => {
  const bytes = bytesOf(encodeEnvelope('{"a":"é"}', KEY_ID, SIGNATURE));
  assert.deepEqual(decodeEnvelope(bytes), { signatures: [SIGNATURE], payload: '{"a":"é"}' });
});

Deno.test("preAuthenticationEncoding() counts bytes, as the protocol does", () => {
  assert.equal(preAuthenticationEncoding("t", "é€"), "DSSEv1 1 t 5 é€");
  assert.equal(preAuthenticationEncoding("", ""), "DSSEv1 0  0 ");
});

Deno.test("keyIdOf() is the plain hash of the key", () => {
  assert.equal(keyIdOf(SHA256, new Uint8Array(32)), SHA256(new Uint8Array(32)));
});

const SIGNED = { keyid: KEY_ID, sig: encodeBase64(SIGNATURE) };
const ENVELOPE = { payload: base64("{}"), payloadType: PAYLOAD_TYPE, signatures: [SIGNED] };
// 0xfb bytes are "+" and "/" in base64, "-" and "_" in its URL alphabet.
const URL_BYTES = new Uint8Array(64).fill(0xfb);
const URL_TEXT = URL_BYTES.toBase64({ alphabet: "base64url" });

const signedTimes = (count: number): JsonValue => ({ ...ENVELOPE, signatures: Array(count).fill(SIGNED) });

// Envelopes, and how many signatures are read; null where the envelope is not decoded.
const ROWS: readonly [string, JsonValue, number | null][] = [
  ["an array", [], null],
  ["another member", { ...ENVELOPE, other: 1 }, 1],
  ["another payload type", { ...ENVELOPE, payloadType: "application/json" }, null],
  ["no payload type", { payload: ENVELOPE.payload, signatures: [SIGNED] }, null],
  ["a payload without its padding", { ...ENVELOPE, payload: "e30" }, null],
  ["a payload that is not UTF-8", { ...ENVELOPE, payload: "/w==" }, null],
  ["no signature", { ...ENVELOPE, signatures: [] }, null],
  ["two signatures", signedTimes(2), 2],
  ["one signature below the limit", signedTimes(ENVELOPE_SIGNATURES - 1), ENVELOPE_SIGNATURES - 1],
  ["as many signatures as the limit", signedTimes(ENVELOPE_SIGNATURES), ENVELOPE_SIGNATURES],
  ["one signature above the limit", signedTimes(ENVELOPE_SIGNATURES + 1), null],
  ["a signature with a certificate", { ...ENVELOPE, signatures: [{ ...SIGNED, cert: "" }] }, 1],
  ["a key id of another form", { ...ENVELOPE, signatures: [{ ...SIGNED, keyid: "ci-1" }] }, 1],
  ["no key id", { ...ENVELOPE, signatures: [{ sig: SIGNED.sig }] }, 1],
  ["a signature of another algorithm", { ...ENVELOPE, signatures: [{ sig: "AAAA" }, SIGNED] }, 2],
  ["a signature in the URL alphabet", { ...ENVELOPE, signatures: [{ sig: URL_TEXT }] }, 1],
  ["a signature in both alphabets", { ...ENVELOPE, signatures: [{ sig: `+${URL_TEXT.slice(1)}` }] }, null],
  ["a signature that is not text", { ...ENVELOPE, signatures: [{ sig: 1 }] }, null],
  ["a signature that is not an object", { ...ENVELOPE, signatures: ["AAAA"] }, null],
];

for (const [what, value, count] of ROWS) {
  Deno.test(`decodeEnvelope() reads ${count ?? "nothing"} of an envelope with ${what}`, () => {
    const decoded = decodeEnvelope(bytesOf(JSON.stringify(value, null, 2)));
    assert.equal(decoded?.signatures.length ?? null, count);
  });
}

for (const [over, isRead] of [[-1, true], [0, true], [1, false]] as const) {
  Deno.test(`decodeEnvelope() reads an envelope of ${SIGNATURE_BYTES + over} bytes: ${isRead}`, () => {
    const text = JSON.stringify(ENVELOPE);
    const bytes = bytesOf(text.padEnd(SIGNATURE_BYTES + over, " "));
    assert.equal(decodeEnvelope(bytes) !== null, isRead);
  });
}

Deno.test("decodeEnvelope() decodes both alphabets of base64 to the same bytes", () => {
  const sig = encodeBase64(URL_BYTES);
  for (const text of [sig, URL_TEXT]) {
    const decoded = decodeEnvelope(bytesOf(JSON.stringify({ ...ENVELOPE, signatures: [{ sig: text }] })));
    assert.deepEqual(decoded?.signatures, [URL_BYTES]);
  }
});

Deno.test("decodeEnvelope() rejects a repeated member, of which others read the last one", () => {
  const text = JSON.stringify(ENVELOPE).replace("{", `{"payload":"e30=",`);
  assert.equal(decodeEnvelope(bytesOf(text)), null);
});
