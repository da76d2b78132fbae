import assert from "node:assert/strict";

import { encodeBase64 } from "../../canonical/base64.ts";
import { canonicalBytes } from "../../canonical/canonicalize.ts";
import type { JsonValue } from "../../canonical/json.ts";
import { SHA256 } from "../../../tests/simulation/kernel_fixture.ts";
import { decodeEnvelope, encodeEnvelope, keyIdOf, PAYLOAD_TYPE, preAuthenticationEncoding } from "./dsse.ts";
import { SIGNATURE_BYTES } from "./types.ts";

const KEY_ID = SHA256("key");
const SIGNATURE = new Uint8Array(64).fill(7);
const base64 = (text: string): string => encodeBase64(new TextEncoder().encode(text));

Deno.test("decodeEnvelope() reads what encodeEnvelope() wrote", () => {
  const bytes = new TextEncoder().encode(encodeEnvelope('{"a":"é"}', KEY_ID, SIGNATURE));
  assert.deepEqual(decodeEnvelope(bytes), {
    ok: true,
    value: { keyId: KEY_ID, signature: SIGNATURE, statement: '{"a":"é"}' },
  });
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

// Invalid envelopes, and the path of the fault.
const REFUSED: readonly [string, JsonValue, string][] = [
  ["an array", [], "$"],
  ["a member more", { ...ENVELOPE, other: 1 }, "$"],
  ["another payload type", { ...ENVELOPE, payloadType: "application/json" }, "$.payloadType"],
  ["a payload that is no base64", { ...ENVELOPE, payload: "e30" }, "$.payload"],
  ["a payload that is no UTF-8", { ...ENVELOPE, payload: "/w==" }, "$.payload"],
  ["no signature", { ...ENVELOPE, signatures: [] }, "$.signatures"],
  ["two signatures", { ...ENVELOPE, signatures: [SIGNED, SIGNED] }, "$.signatures"],
  ["a signature with a certificate", { ...ENVELOPE, signatures: [{ ...SIGNED, cert: "" }] }, "$.signatures[0]"],
  ["a key id of another form", { ...ENVELOPE, signatures: [{ ...SIGNED, keyid: "ci-1" }] }, "$.signatures[0].keyid"],
  ["a signature of 63 bytes", {
    ...ENVELOPE,
    signatures: [{ ...SIGNED, sig: encodeBase64(SIGNATURE.subarray(1)) }],
  }, "$.signatures[0].sig"],
  ["too many bytes", { ...ENVELOPE, payload: "A".repeat(SIGNATURE_BYTES) }, "$"],
];

for (const [what, value, path] of REFUSED) {
  Deno.test(`decodeEnvelope() rejects ${what} at ${path}`, () => {
    const result = decodeEnvelope(canonicalBytes(value));
    assert.equal(result.ok ? null : result.fault.path, path);
  });
}

Deno.test("decodeEnvelope() accepts canonical JSON alone", () => {
  const bytes = new TextEncoder().encode(JSON.stringify(ENVELOPE, null, 2));
  const result = decodeEnvelope(bytes);
  assert.equal(result.ok ? null : result.fault.code, "not_canonical");
});
