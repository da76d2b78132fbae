/** Runs the published vectors of this module, which other implementations run too. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import peerCanonicalize from "../../tests/packages/canonicalize.ts";
import peerJsonCanon from "../../tests/packages/json_canon.ts";
import canonicalization from "../../tests/vectors/canonical/canonicalization.json" with { type: "json" };
import identities from "../../tests/vectors/canonical/identities.json" with { type: "json" };
import numbers from "../../tests/vectors/canonical/numbers.json" with { type: "json" };
import order from "../../tests/vectors/canonical/order.json" with { type: "json" };
import scanner from "../../tests/vectors/canonical/scanner.json" with { type: "json" };
import { canonicalBytes, canonicalize } from "./canonicalize.ts";
import { decodeHex, encodeHex } from "./hex.ts";
import {
  contentHash,
  identify,
  identifyBytes,
  identifyCanonical,
  IDENTITY_KINDS,
  type IdentityKind,
  isOperationIdentity,
} from "./identity.ts";
import type { JsonValue } from "./json.ts";
import { sortedBy } from "./order.ts";
import { parseScanned } from "./reader.ts";
import { decodeUtf8Strict, parseJson, scanJson } from "./scan.ts";

function sha256(data: string | Uint8Array): string {
  return createHash("sha256").update(data).digest("hex");
}

/** Reads a text without a scan: some values with a canonical form are rejected by the scan of an input. */
function read(text: string): JsonValue {
  return parseScanned(text, { fault: null, escapedNames: true });
}

function bytesOf(hex: string): Uint8Array {
  const bytes = decodeHex(hex);
  assert.ok(bytes !== null, hex);
  return bytes;
}

function doubleOf(bits: bigint): number {
  return new Float64Array(new BigUint64Array([bits]).buffer)[0] ?? NaN;
}

for (const vector of canonicalization.vectors) {
  Deno.test(`canonicalize() vector: ${vector.name}`, () => {
    const value = read(vector.input);
    assert.equal(canonicalize(value), vector.canonical);
    assert.equal(sha256(canonicalBytes(value)), vector.sha256);
    assert.equal(peerCanonicalize(value), vector.canonical);
    assert.equal(peerJsonCanon(value), vector.canonical);
    assert.equal(canonicalize(read(vector.canonical)), vector.canonical);
  });
}

Deno.test("canonicalize() vectors: numbers of RFC 8785 appendix B", () => {
  for (const { bits, canonical } of numbers.samples) {
    const number = doubleOf(BigInt(`0x${bits}`));
    if (canonical === null) {
      assert.throws(() => canonicalize(number), TypeError, bits);
      continue;
    }
    assert.equal(canonicalize(number), canonical, bits);
    assert.equal(scanJson(canonical), null, canonical);
  }
});

Deno.test("canonicalize() vectors: the number sequence of RFC 8785 up to its published checkpoints", () => {
  const { static_bits: fixed, serial_first_bits, serial_count, checkpoints } = numbers.sequence;
  const sequence = numberSequence(
    fixed.map((bits) => BigInt(`0x${bits}`)),
    BigInt(`0x${serial_first_bits}`),
    serial_count,
  );
  const hash = createHash("sha256");
  let lines = 0;
  for (const checkpoint of checkpoints) {
    while (lines < checkpoint.lines) {
      const bits = sequence.next().value ?? 0n;
      hash.update(`${bits.toString(16)},${canonicalize(doubleOf(bits))}\n`);
      lines++;
    }
    assert.equal(hash.copy().digest("hex"), checkpoint.sha256, `${lines} lines`);
  }
});

/** The fixed doubles, then a run of neighbours, then the finite non-zero doubles in a chain of SHA-256 blocks. */
function* numberSequence(fixed: readonly bigint[], serial: bigint, count: number): Generator<bigint> {
  yield* fixed;
  for (let index = 0; index < count; index++) yield serial + BigInt(index);
  let block = new Uint8Array(32);
  for (;;) {
    block = new Uint8Array(createHash("sha256").update(block).digest());
    const view = new DataView(block.buffer);
    for (let offset = 0; offset < 32; offset += 8) {
      const bits = view.getBigUint64(offset, true);
      const double = doubleOf(bits);
      if (double !== 0 && Number.isFinite(double)) yield bits;
    }
  }
}

Deno.test("order vectors: canonical JSON by code units, everything else by code points", () => {
  const names = order.code_points;
  const object = Object.fromEntries(names.map((name) => [name, null]));
  const members = order.utf16_code_units.map((name) => `${JSON.stringify(name)}:null`);
  assert.equal(canonicalize(object), `{${members.join(",")}}`);
  assert.deepEqual(sortedBy(order.utf16_code_units, (name) => name), names);
  assert.notDeepEqual(names, order.utf16_code_units);
});

Deno.test("scanJson() vectors: accepted", () => {
  for (const { name, text } of scanner.accepted) {
    assert.equal(scanJson(text), null, name);
    assert.equal(parseJson(text).ok, true, name);
  }
});

Deno.test("scanJson() vectors: rejected with code, path and offset", () => {
  const texts = scanner.rejected_utf16.map((vector) => ({
    ...vector,
    text: String.fromCharCode(...vector.code_units),
  }));
  for (const { name, text, code, path, offset } of [...scanner.rejected, ...texts]) {
    const fault = scanJson(text);
    assert.deepEqual([fault?.code, fault?.path, fault?.offset], [code, path, offset], name);
    assert.equal(parseJson(text).ok, false, name);
  }
});

Deno.test("decodeUtf8Strict() vectors: bytes that are not UTF-8", () => {
  for (const { name, bytes } of scanner.not_utf8) assert.equal(decodeUtf8Strict(bytesOf(bytes)), null, name);
});

Deno.test("identify() vectors: every kind, label and content", () => {
  assert.deepEqual(identities.kinds, [...IDENTITY_KINDS]);
  for (const { kind, input, canonical, preimage, identity } of identities.values) {
    const value = read(input);
    assert.equal(encodeHex(new TextEncoder().encode(`gate:${kind}:v1\0${canonical}`)), preimage, kind);
    assert.equal(sha256(bytesOf(preimage)), identity, kind);
    assert.equal(identify(sha256, kind as IdentityKind, value), identity, kind);
    assert.equal(identifyCanonical(sha256, kind as IdentityKind, canonical), identity, kind);
  }
});

Deno.test("identifyBytes() vectors", () => {
  for (const { kind, bytes, preimage, identity } of identities.bytes) {
    assert.equal(identifyBytes(sha256, kind as IdentityKind, bytesOf(bytes)), identity);
    assert.equal(sha256(bytesOf(preimage)), identity);
  }
});

Deno.test("contentHash() vectors", () => {
  for (const { input, canonical, sha256: value } of identities.content_hashes) {
    assert.equal(canonicalize(read(input)), canonical);
    assert.deepEqual(contentHash(sha256, canonical), { algorithm: "sha256", value });
  }
  for (const { bytes, sha256: value } of identities.content_hashes_of_bytes) {
    assert.equal(contentHash(sha256, bytesOf(bytes)).value, value);
  }
});

Deno.test("isOperationIdentity() vectors", () => {
  for (const { text, valid } of identities.operation_identities) assert.equal(isOperationIdentity(text), valid, text);
});
