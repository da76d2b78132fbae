/** `gate key create`: creates a key pair for approvals. */

import { dirname, resolve } from "node:path";
import { makeKeyPair } from "../../evidence/trust/signing_key.ts";
import { removedUnlessDone } from "../../store/unfinished.ts";
import { CliError } from "../terminal/cli_error.ts";
import { readPassphrase } from "./read_key.ts";
import { cannotWrite, writeNewFile } from "../terminal/new_file.ts";
import { type JsonFlag, writeAnswer } from "../terminal/output.ts";

/** The flags of `gate key create`. */
export interface KeyCreateOptions extends JsonFlag {
  readonly passphraseFile?: string;
}

/**
 * Runs `gate key create FILE`: writes the private key to the file, readable by its owner alone, and the public key to
 * `FILE.pub`.
 */
export async function runKeyCreate(file: string, options: KeyCreateOptions): Promise<number> {
  const path = resolve(file);
  const publicPath = `${path}.pub`;
  const hint = "gate never replaces a key";
  const { private_pem, public_text } = makeKeyPair(await newPassphrase(options.passphraseFile));
  await Deno.mkdir(dirname(path), { recursive: true, mode: 0o700 }).catch((error) => {
    throw cannotWrite(dirname(path), error);
  });
  await writeNewFile(path, private_pem, { mode: 0o600, hint });
  // A private key beside the public key of another pair would sign what that key does not verify.
  await removedUnlessDone([path], () => writeNewFile(publicPath, public_text, { mode: 0o644, hint }));
  const result = { private_key: path, public_key: publicPath, public_key_base64: public_text.trim() };
  const note = "Next: give the .pub file to the operator, who runs gate key trust FILE --name NAME\n";
  return writeAnswer("key create", options, result, `${path}\n${publicPath}\n`, { note });
}

/**
 * A byte that is not UTF-8 would be read as U+FFFD, so that other bytes and other programs would make another
 * passphrase of the file.
 */
async function newPassphrase(file: string | undefined): Promise<string | null> {
  if (file === undefined) return null;
  const passphrase = await readPassphrase(file);
  if (!passphrase.includes("\ufffd")) return passphrase;
  throw new CliError("usage", `Cannot use passphrase "${file}": expected text in UTF-8`);
}
