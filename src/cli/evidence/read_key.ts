/** Reads the private keys of people. */

import { readAtMost } from "../../config/files.ts";
import { KEY_FILE_BYTES_MAXIMUM, parseSigningKey, type SigningKey } from "../../evidence/trust/signing_key.ts";
import { publicKeyReason } from "../../runpack/host/signing.ts";
import { reasonOf } from "../../store/file_reason.ts";
import { CliError } from "../terminal/cli_error.ts";
import { writeError } from "../terminal/output.ts";

/** Most bytes of a passphrase. */
const PASSPHRASE_BYTES = 1024;

/**
 * Reads a key file.
 *
 * @param passphraseFile The file with the passphrase of an encrypted key; a line feed at its end does not belong to it
 * @throws {CliError} `usage`
 */
export async function readKey(path: string, passphraseFile: string | undefined): Promise<SigningKey> {
  const { bytes, isOpenToOthers } = await readKeyFile(path);
  const passphrase = passphraseFile === undefined ? null : await readPassphrase(passphraseFile);
  const key = parseSigningKey(bytes, passphrase);
  const isEncrypted = new TextDecoder().decode(bytes).includes("-----BEGIN ENCRYPTED PRIVATE KEY-----");
  const expected = isEncrypted
    ? "it is encrypted, and --passphrase-file has no passphrase that opens it"
    : "expected an Ed25519 private key: 32 raw bytes, their base64, or PKCS #8 PEM";
  const reason = key === null ? expected : await publicKeyReason(path, bytes);
  if (key === null || reason !== null) throw new CliError("usage", `Cannot use key "${path}": ${reason}`);
  if (isOpenToOthers) {
    writeError(`gate warn: other users of this machine can read "${path}": chmod 600 restricts access\n`);
  }
  return key;
}

/**
 * Reads a passphrase: the text of a file, without a line feed at its end.
 *
 * @throws {CliError} `usage`
 */
export async function readPassphrase(path: string): Promise<string> {
  const bytes = await readAtMost(path, PASSPHRASE_BYTES).catch((error) => {
    throw new CliError("usage", `Cannot read passphrase "${path}": ${reasonOf(error)}`);
  });
  const text = new TextDecoder().decode(bytes).replace(/\r?\n$/, "");
  if (text !== "" && bytes.length <= PASSPHRASE_BYTES) return text;
  throw new CliError("usage", `Cannot read passphrase "${path}": expected a file of 1 to ${PASSPHRASE_BYTES} bytes`);
}

async function readKeyFile(path: string): Promise<{ readonly bytes: Uint8Array; readonly isOpenToOthers: boolean }> {
  try {
    const { isFile, size, mode } = await Deno.stat(path);
    if (!isFile || size > KEY_FILE_BYTES_MAXIMUM) {
      throw new CliError("usage", `Cannot use key "${path}": it is not a key file`);
    }
    return { bytes: await Deno.readFile(path), isOpenToOthers: mode !== null && (mode & 0o077) !== 0 };
  } catch (error) {
    if (error instanceof CliError) throw error;
    throw new CliError("usage", `Cannot use key "${path}": ${reasonOf(error)}`, "gate key create FILE creates one");
  }
}
