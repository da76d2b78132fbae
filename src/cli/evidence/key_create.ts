/**
 * `gate key create`: creates a key pair for approvals.
 *
 * @module
 */

import { dirname, resolve } from "node:path";
import { makeKeyPair } from "../../evidence/trust/signing_key.ts";
import { CliError } from "../terminal/cli_error.ts";
import { EXIT } from "../terminal/exit_codes.ts";
import { readPassphrase } from "./read_key.ts";
import { writeError, writeOut, writeResult } from "../terminal/output.ts";

/** The flags of `gate key create`. */
export interface KeyCreateOptions {
  readonly json?: boolean;
  readonly passphraseFile?: string;
}

/**
 * Runs `gate key create FILE`: writes the private key to the file, readable by its owner alone, and the public key to
 * `FILE.pub`.
 */
export async function runKeyCreate(file: string, options: KeyCreateOptions): Promise<number> {
  const path = resolve(file);
  const publicPath = `${path}.pub`;
  const { private_pem, public_text } = makeKeyPair(
    options.passphraseFile === undefined ? null : await readPassphrase(options.passphraseFile),
  );
  await Deno.mkdir(dirname(path), { recursive: true, mode: 0o700 }).catch((error) => fail(dirname(path), error));
  await writeNew(path, private_pem, 0o600);
  try {
    await writeNew(publicPath, public_text, 0o644);
  } catch (error) {
    // A private key beside the public key of another pair would sign what that key does not verify.
    await Deno.remove(path);
    throw error;
  }
  if (options.json === true) {
    writeResult("key create", { private_key: path, public_key: publicPath, public_key_base64: public_text.trim() });
  } else {
    writeOut(`${path}\n${publicPath}\n`);
    writeError(
      "Next: give the .pub file to the operator, who runs gate key trust FILE --name NAME\n",
    );
  }
  return EXIT.ok;
}

async function writeNew(path: string, text: string, mode: number): Promise<void> {
  try {
    await Deno.writeTextFile(path, text, { createNew: true, mode });
  } catch (error) {
    if (error instanceof Deno.errors.AlreadyExists) {
      throw new CliError("file_exists", `Cannot write "${path}": it exists already`, "gate never replaces a key");
    }
    fail(path, error);
  }
}

function fail(path: string, error: unknown): never {
  throw new CliError("usage", `Cannot write "${path}": ${error instanceof Error ? error.message : String(error)}`);
}
