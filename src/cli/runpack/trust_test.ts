import assert from "node:assert/strict";
import { join } from "node:path";
import { sha256 } from "../../evidence/host_primitives.ts";
import { packSigner } from "../../runpack/host/signing.ts";
import { CliError } from "../terminal/cli_error.ts";
import { readTrustedKeys, rejectPrivateKeys } from "./trust.ts";

/** Private keys whose bytes could be those of a public one, and could not. */
const [LIKELY, UNLIKELY] = [1, 4].map((byte) => new Uint8Array(32).fill(byte));
const encoder = new TextEncoder();

function signerOf(seed: Uint8Array | undefined): { publicKey: Uint8Array; envelope: Uint8Array } {
  const signer = packSigner(sha256, seed ?? new Uint8Array());
  assert.ok(signer !== null);
  return { publicKey: signer.publicKey, envelope: encoder.encode(`{"keyid":"${signer.keyId}"}`) };
}

const { publicKey, envelope } = signerOf(LIKELY);
const PEM = `-----BEGIN PRIVATE KEY-----\n${"M".repeat(64)}\n-----END PRIVATE KEY-----\n`;

// What a key file holds, whether the key has signed the runpack, and what is said against it; null: it is trusted.
const KEYS: readonly [string, Uint8Array | undefined, RegExp | null][] = [
  ["a public key", publicKey, null],
  ["a public key in base64", encoder.encode(`${publicKey.toBase64()}\n`), null],
  ["a private key in PEM", encoder.encode(PEM), /it is a private key/],
  [
    "the private key that signed the runpack",
    LIKELY,
    /a signature beside the runpack was made with it as the private key/,
  ],
  ["the same in base64", encoder.encode(LIKELY?.toBase64()), /with it as the private key/],
  ["a private key that can be no public one", UNLIKELY, /its 32 bytes are no Ed25519 public key/],
  ["31 bytes", new Uint8Array(31), /expected 32 raw bytes or their base64/],
  ["a file that is too long", new Uint8Array(5000), /expected 32 raw bytes or their base64/],
];

for (const [what, bytes, refused] of KEYS) {
  Deno.test(`readTrustedKeys() of ${what}: ${refused === null ? "trusted" : "refused"}`, async () => {
    const folder = await Deno.makeTempDir();
    try {
      const path = join(folder, "key");
      await Deno.writeFile(path, bytes ?? new Uint8Array());
      const read = readTrustedKeys([path]).then((keys) => {
        rejectPrivateKeys(keys, [envelope]);
        return keys;
      });
      if (refused === null) assert.deepEqual((await read).map(({ key }) => key.toHex()), [publicKey.toHex()]);
      else await assert.rejects(read, (error) => error instanceof CliError && refused.test(error.message));
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  });
}

Deno.test("readTrustedKeys() names a file that cannot be read", async () => {
  await assert.rejects(readTrustedKeys(["/nonexistent/key"]), /Cannot read public key "\/nonexistent\/key": /);
});
