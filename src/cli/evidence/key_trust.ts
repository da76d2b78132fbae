/** `gate key trust`: puts a public key into the folder of the keys that a server trusts. */

import { defaultKeysFolder, loadConfig } from "../../config/load.ts";
import { join, resolve } from "node:path";
import { encodeBase64 } from "../../canonical/base64.ts";
import { readAtMost } from "../../config/files.ts";
import { readEvidenceKeys } from "../../evidence/trust/evidence_keys.ts";
import { parsePublicKey, PUBLIC_KEY_FILE_BYTES } from "../../evidence/trust/public_key.ts";
import { reasonOf } from "../../store/file_reason.ts";
import { CliError } from "../terminal/cli_error.ts";
import { cannotWrite, writeNewFile } from "../terminal/new_file.ts";
import { type ConfigFlags, writeAnswer } from "../terminal/output.ts";

/** The flags of `gate key trust`. */
export interface KeyTrustOptions extends ConfigFlags {
  readonly name?: string;
  readonly evidenceKeys?: string;
}

/** Runs `gate key trust FILE --name NAME`. A key that is there already is never replaced. */
export async function runKeyTrust(file: string, options: KeyTrustOptions): Promise<number> {
  const name = options.name ?? "";
  // The name is a file name, a key id in laws, and part of command lines.
  if (!/^[A-Za-z0-9][A-Za-z0-9._@+-]{0,127}$/.test(name)) {
    throw new CliError("usage", `Cannot use --name "${name}": expected 1 to 128 letters, digits, or . _ @ + -`);
  }
  const public_key = await readKeyText(file);
  const { evidenceKeys } = options;
  const config = evidenceKeys === undefined ? await loadConfig(options) : null;
  const folder = config === null
    ? resolve(evidenceKeys ?? "")
    : config.trust.evidence_keys ?? defaultKeysFolder(config);
  await Deno.mkdir(folder, { recursive: true }).catch((error) => {
    throw cannotWrite(folder, error);
  });
  const path = join(folder, `${name}.pub`);
  const setting = config === null ? "--evidence-keys" : "trust.evidence_keys";
  const other = (await readEvidenceKeys({ path: folder, setting })).find((key) => key.public_key === public_key);
  if (other !== undefined && other.key_id !== name) {
    throw new CliError("usage", `Cannot trust "${file}" as "${name}": it is trusted as "${other.key_id}" already`);
  }
  if (other === undefined) {
    await writeNewFile(path, `${public_key}\n`, { mode: 0o644, exists: "it is the key of that name already" });
  }
  // Every command reads the folder of its configuration without a flag.
  const where = config === null || config.config_path === null ? ` on a server with --evidence-keys ${folder}` : "";
  const note = `It counts from the next start of a run${where}; a law names the key as "${name}"\n`;
  return writeAnswer("key trust", options, { key_id: name, public_key, path }, `${path}\n`, { note });
}

async function readKeyText(file: string): Promise<string> {
  const unreadable = (why: string): CliError => {
    const hint = "give the .pub file, which gate key create writes beside the private key";
    return new CliError("usage", `Cannot read public key "${file}": ${why}`, hint);
  };
  const bytes = await readAtMost(file, PUBLIC_KEY_FILE_BYTES).catch((error) => {
    throw unreadable(reasonOf(error));
  });
  const key = parsePublicKey(bytes);
  if (key === null) throw unreadable("expected 32 raw bytes or their base64");
  return encodeBase64(key);
}
