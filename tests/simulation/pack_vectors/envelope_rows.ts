/**
 * Signatures beside a pack: envelopes that verify, and envelopes that say nothing.
 *
 * @module
 */

import { decodeBase64, encodeBase64 } from "../../../src/canonical/base64.ts";
import { canonicalize } from "../../../src/canonical/canonicalize.ts";
import {
  encodeEnvelope,
  keyIdOf,
  PAYLOAD_TYPE,
  preAuthenticationEncoding,
  statementOf,
} from "../../../src/runpack/format/dsse.ts";
import { decodeManifest } from "../../../src/runpack/format/manifest.ts";
import { ENVELOPE_SIGNATURES, SIGNATURES } from "../../../src/runpack/format/types.ts";
import { KEY_1, KEY_2, SHA256, type TestKey } from "../kernel/fixture.ts";
import type { Editable } from "../kernel/law_specs.ts";
import type { MemoryPack } from "../runpack/memory.ts";
import { withManifest } from "./reshape.ts";

/** Envelopes beside a pack, the keys that are trusted, and which of them signed it. */
export interface EnvelopeRow {
  readonly name: string;
  readonly envelopes: (pack: MemoryPack) => readonly string[];
  readonly keys: readonly TestKey[] | null;
  readonly signers: readonly TestKey[];
}

const bytesOf = (key: TestKey): Uint8Array => decodeBase64(key.public_key) ?? new Uint8Array();
const keyId = (key: TestKey): string => keyIdOf(SHA256, bytesOf(key));

function statement({ manifest: bytes }: MemoryPack): string {
  const decoded = decodeManifest(bytes);
  if (!decoded.ok) throw new TypeError("Cannot sign: the manifest is invalid");
  return statementOf(SHA256, bytes, decoded.manifest);
}

/** An envelope over a text, signed by a key. */
function envelope(text: string, key: TestKey, over = preAuthenticationEncoding(PAYLOAD_TYPE, text)): string {
  return encodeEnvelope(text, keyId(key), decodeBase64(key.sign(over)) ?? new Uint8Array());
}

/** The envelope of a pack, signed by a key. */
export function signedBy(pack: MemoryPack, key: TestKey): string {
  return envelope(statement(pack), key);
}

const good = (pack: MemoryPack): string => signedBy(pack, KEY_1);

const row = (
  name: string,
  envelopes: EnvelopeRow["envelopes"],
  signers: readonly TestKey[] = [],
  keys: EnvelopeRow["keys"] = [KEY_1, KEY_2],
): EnvelopeRow => ({ name, envelopes, keys, signers });

/** The good envelope with one change to its JSON. */
const changed = (
  name: string,
  change: (envelope: Editable, pack: MemoryPack) => void,
  signers: readonly TestKey[] = [],
): EnvelopeRow =>
  row(name, (pack) => {
    const value = JSON.parse(good(pack));
    change(value, pack);
    return [canonicalize(value)];
  }, signers);

/** An envelope over a changed statement, its signature good. */
const restated = (name: string, change: (statement: Editable) => void): EnvelopeRow =>
  row(name, (pack) => {
    const value = JSON.parse(statement(pack));
    change(value);
    return [envelope(canonicalize(value), KEY_1)];
  });

/** A text in the URL alphabet of base64. */
const urlAlphabet = (text: string): string => text.replaceAll("+", "-").replaceAll("/", "_");

/** The members of an object, the last one first. */
const reversed = (value: Editable): Editable => Object.fromEntries(Object.entries(value).reverse());

/** A signature of an envelope by another key, under a key id of its own form. */
const second = (pack: MemoryPack): Editable => ({
  keyid: "release-2026",
  sig: JSON.parse(envelope(statement(pack), KEY_2)).signatures[0].sig,
});

/** The same signature with the group's order added to S: it verifies wherever S is not bounded. */
function malleable(sig: string): string {
  const order = 2n ** 252n + 27742317777372353535851937790883648493n;
  const bytes = decodeBase64(sig) ?? new Uint8Array();
  const s = [...bytes.subarray(32)].reduceRight((sum, byte) => sum * 256n + BigInt(byte), 0n) + order;
  return encodeBase64(bytes.map((byte, at) => at < 32 ? byte : Number(s >> BigInt(8 * (at - 32)) & 0xffn)));
}

/** The rows. */
export const ENVELOPE_ROWS: readonly EnvelopeRow[] = [
  row("no envelope", () => []),
  row("a signature by a trusted key", (pack) => [good(pack)], [KEY_1]),
  row("signatures by two trusted keys", (pack) => [good(pack), envelope(statement(pack), KEY_2)], [KEY_1, KEY_2]),
  row("a signature by a key that is not trusted", (pack) => [good(pack)], [], [KEY_2]),
  row("no keys", (pack) => [good(pack)], [], null),
  row("a good envelope behind one that is not JSON", (pack) => ["{", good(pack)], [KEY_1]),
  row(`a good envelope behind ${SIGNATURES - 1} others`, (pack) => [...others(), good(pack)], [KEY_1]),
  row(`a good envelope behind ${SIGNATURES} others`, (pack) => [...others(), "{}", good(pack)]),
  row("an envelope with a line feed behind it", (pack) => [`${good(pack)}\n`], [KEY_1]),
  row("an envelope that is not canonical", (pack) => [good(pack).replace(":", ": ")], [KEY_1]),
  row("an envelope with its members in another order", (pack) => {
    const value = reversed(JSON.parse(good(pack)));
    return [JSON.stringify({ ...value, signatures: value.signatures.map(reversed) }, null, 2)];
  }, [KEY_1]),
  row("a statement with its members in another order, and white space", (pack) => [
    envelope(JSON.stringify(reversed(JSON.parse(statement(pack))), null, 1), KEY_1),
  ], [KEY_1]),
  row("an envelope with a repeated member", (pack) => [good(pack).replace("{", `{"payload":"e30=",`)]),
  changed("an envelope with a member more", (value) => value.note = "", [KEY_1]),
  changed("an envelope of another payload type", (value) => value.payloadType = "application/json"),
  changed("an envelope with one signature twice", (value) => value.signatures.push(value.signatures[0]), [KEY_1]),
  changed("an envelope of two signers", (value, pack) => value.signatures.push(second(pack)), [KEY_1, KEY_2]),
  changed("a good signature behind one of another algorithm", (value) => value.signatures.unshift({ sig: "AAAA" }), [
    KEY_1,
  ]),
  changed(`${ENVELOPE_SIGNATURES} signatures, the last one good`, (value) => {
    value.signatures.unshift(...Array(ENVELOPE_SIGNATURES - 1).fill({ sig: "AAAA" }));
  }, [KEY_1]),
  changed(`${ENVELOPE_SIGNATURES + 1} signatures, the last one good`, (value) => {
    value.signatures.unshift(...Array(ENVELOPE_SIGNATURES).fill({ sig: "AAAA" }));
  }),
  changed("an envelope without a signature", (value) => value.signatures = []),
  changed("a signature under another key id", (value) => value.signatures[0].keyid = keyId(KEY_2), [KEY_1]),
  changed("a signature under a key id of another form", (value) => value.signatures[0].keyid = "ci", [KEY_1]),
  changed("a signature without a key id", (value) => delete value.signatures[0].keyid, [KEY_1]),
  changed("a signature with a member more", (value) => value.signatures[0].cert = "", [KEY_1]),
  changed("payload and signature in the URL alphabet of base64", (value) => {
    value.payload = urlAlphabet(value.payload);
    value.signatures[0].sig = urlAlphabet(value.signatures[0].sig);
  }, [KEY_1]),
  changed("a signature whose S is not below the order", (value) => {
    value.signatures[0].sig = malleable(value.signatures[0].sig);
  }),
  changed("a signature of 63 bytes", (value) => {
    value.signatures[0].sig = encodeBase64((decodeBase64(value.signatures[0].sig) ?? new Uint8Array()).subarray(1));
  }),
  changed("a signature without its padding", (value) => {
    value.signatures[0].sig = value.signatures[0].sig.replace(/=+$/, "");
  }),
  changed("another payload, in the other alphabet of base64", (value) => {
    value.payload = `${value.payload.slice(0, -4)}_-==`;
  }),
  row("a signature over the payload alone", (pack) => [envelope(statement(pack), KEY_1, statement(pack))]),
  row("a signature over the payload in base64", (pack) => {
    const text = statement(pack);
    const over = preAuthenticationEncoding(PAYLOAD_TYPE, encodeBase64(new TextEncoder().encode(text)));
    return [envelope(text, KEY_1, over)];
  }),
  row("a signature of another pack", (pack) => [
    envelope(statement(withManifest(pack, (manifest) => manifest.withheld_conditions = ["log"])), KEY_1),
  ]),
  restated("a statement with a member more", (value) => value.note = ""),
  restated("a statement about another file name", (value) => value.subject[0].name = "manifest"),
  restated("a statement of another predicate type", (value) => value.predicateType = "urn:gate:runpack-checkpoint:v2"),
  restated("a statement of another run", (value) => value.predicate.run_key.namespace_id += 1),
];

function others(): string[] {
  return Array.from({ length: SIGNATURES - 1 }, () => "{}");
}
