import assert from "node:assert/strict";
import { join } from "node:path";
import { sha256 } from "../../evidence/host_primitives.ts";
import { packSigner } from "../../runpack/host/signing.ts";
import { CliError } from "../terminal/cli_error.ts";
import { readTrustedKeys, rejectPrivateKeys } from "./trust.ts";

/** A private key whose bytes are also a valid public key. */
const AMBIGUOUS = new Uint8Array(32).fill(1);
/** A private key whose bytes are not a valid public key. */
const UNAMBIGUOUS = new Uint8Array(32).fill(4);
const encoder = new TextEncoder();

function signerOf(seed: Uint8Array): { publicKey: Uint8Array; envelope: Uint8Array } {
  const signer = packSigner(sha256, seed);
  assert.ok(signer !== null);
  return { publicKey: signer.publicKey, envelope: encoder.encode(`{"keyid":"${signer.keyId}"}`) };
}

const { publicKey, envelope } = signerOf(AMBIGUOUS);
const PEM = `-----BEGIN PRIVATE KEY-----\n${"M".repeat(64)}\n-----END PRIVATE KEY-----\n`;

/** The contents of a key file, and the error; null if the key is trusted. */
const KEYS: readonly [string, Uint8Array, RegExp | null][] = [
  ["a public key", publicKey, null],
  ["a public key in base64", encoder.encode(`${publicKey.toBase64()}\n`), null],
  ["a private key in PEM", encoder.encode(PEM), /it is a private key/],
  [
    "the private key that signed the runpack",
    AMBIGUOUS,
    /it is the private key of one of the signatures/,
  ],
  ["the same in base64", encoder.encode(AMBIGUOUS.toBase64()), /it is the private key of/],
  ["a private key that is not a valid public key", UNAMBIGUOUS, /its 32 bytes are not an Ed25519 public key/],
  ["31 bytes", new Uint8Array(31), /expected 32 raw bytes or their base64/],
  ["a file that is too long", new Uint8Array(5000), /expected 32 raw bytes or their base64/],
];

for (const [what, bytes, error] of KEYS) {
  Deno.test(`readTrustedKeys() of ${what}: ${error === null ? "trusted" : "rejected"}`, async () => {
    const folder = await Deno.makeTempDir();
    try {
      const path = join(folder, "key");
      await Deno.writeFile(path, bytes);
      const read = readTrustedKeys([path]).then((keys) => {
        rejectPrivateKeys(keys, [envelope]);
        return keys;
      });
      if (error === null) assert.deepEqual((await read).map(({ key }) => key.toHex()), [publicKey.toHex()]);
      else await assert.rejects(read, (thrown) => thrown instanceof CliError && error.test(thrown.message));
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  });
}

Deno.test("readTrustedKeys() names a file that cannot be read", async () => {
  await assert.rejects(
    readTrustedKeys(["/nonexistent/key"]),
    /Cannot read public key "\/nonexistent\/key": it does not exist$/,
  );
});
