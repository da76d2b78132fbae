/** The keys of people: public keys in a folder, one file `NAME.pub` for the key `NAME`. */

import { encodeBase64 } from "../../canonical/base64.ts";
import { compareCodePoints } from "../../canonical/order.ts";
import { createLimiter } from "../../canonical/limiter.ts";
import { utf8Length } from "../../canonical/utf8.ts";
import { readFileAtMost } from "../../config/files.ts";
import type { KeysFolder } from "../../config/load.ts";
import { ConfigError, type ConfigProblem } from "../../config/problems.ts";
import { SPEC_LIMITS } from "../../law/limits.ts";
import type { TrustedKey } from "../../run/profile.ts";
import { parsePublicKey, PUBLIC_KEY_FILE_BYTES } from "./public_key.ts";

/** Most keys of a folder. */
const EVIDENCE_KEYS_MAXIMUM = 4096;

/** Files that are read at the same time: each start of a run waits for them. */
const READS_AT_ONCE = 64;

const SUFFIX = ".pub";

/**
 * Reads the keys of a folder, by key id. Other files of the folder are left alone.
 *
 * @throws {ConfigError} If the folder or a key cannot be read
 */
export async function readEvidenceKeys(folder: KeysFolder): Promise<readonly TrustedKey[]> {
  const { path: place, setting: path } = folder;
  const names = (await namesIn(folder)).sort(compareCodePoints);
  const problems: ConfigProblem[] = [];
  if (names.length > EVIDENCE_KEYS_MAXIMUM) {
    problems.push({ path, message: `expected at most ${EVIDENCE_KEYS_MAXIMUM} keys, got ${names.length}` });
  }
  const keys: TrustedKey[] = [];
  const limited = createLimiter(READS_AT_ONCE);
  const files = names.slice(0, EVIDENCE_KEYS_MAXIMUM).map(async (name) => {
    const bytes = await limited(() => readFileAtMost(`${place}/${name}`, PUBLIC_KEY_FILE_BYTES)).catch(() => null);
    return { name, bytes };
  });
  for (const { name, bytes } of await Promise.all(files)) {
    const key_id = name.slice(0, -SUFFIX.length);
    const key = bytes === null ? null : parsePublicKey(bytes);
    // A control character in a file name would make an id that no law can name.
    // deno-lint-ignore no-control-regex
    const isId = utf8Length(key_id) <= SPEC_LIMITS.identifierBytes && !/[\u0000-\u001f\u007f]/.test(key_id);
    if (key === null || !isId) {
      const message = isId
        ? `cannot read public key "${name}": expected 32 raw bytes or their base64`
        : `cannot use "${name}": its name is no key id`;
      problems.push({ path, message });
    } else keys.push({ key_id, public_key: encodeBase64(key) });
  }
  if (problems.length > 0) throw new ConfigError(place, problems);
  return keys;
}

async function namesIn({ path, setting }: KeysFolder): Promise<string[]> {
  const names: string[] = [];
  try {
    for await (const { name, isDirectory } of Deno.readDir(path)) {
      if (!isDirectory && name.endsWith(SUFFIX) && name.length > SUFFIX.length) names.push(name);
    }
  } catch {
    throw new ConfigError(path, [{ path: setting, message: "it is not a folder that can be read" }]);
  }
  return names;
}

/**
 * Every problem of a folder of keys, alone and beside the keys of a configuration.
 *
 * @param configured Base64 of the keys of the configuration that could be read, by id
 */
export async function evidenceKeyProblems(
  folder: KeysFolder,
  configured: ReadonlyMap<string, string>,
): Promise<readonly ConfigProblem[]> {
  try {
    const keys = new Map([...configured].map(([key_id, public_key]) => [key_id, { key_id, public_key }]));
    return repeatedEvidenceKeys(await readEvidenceKeys(folder), keys, folder.setting);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}

/**
 * Reports evidence keys whose bytes or id another key has: a person would have two signatures, or an id two keys.
 *
 * @param configured The keys of the configuration, by id
 * @param path The setting that names the folder
 */
export function repeatedEvidenceKeys(
  evidenceKeys: readonly TrustedKey[],
  configured: ReadonlyMap<string, TrustedKey>,
  path: string,
): readonly ConfigProblem[] {
  const problems: ConfigProblem[] = [];
  const idOf = new Map([...configured.values()].map(({ key_id, public_key }) => [public_key, key_id]));
  for (const { key_id, public_key } of evidenceKeys) {
    const other = idOf.get(public_key);
    if (other !== undefined && other !== key_id) {
      const message = `"${key_id}" and "${other}" are the same public key: one key must have one id`;
      problems.push({ path, message });
    }
    const same = configured.get(key_id);
    if (same !== undefined && same.public_key !== public_key) {
      problems.push({ path, message: `"${key_id}" is the id of another public key in the configuration` });
    }
    idOf.set(public_key, key_id);
  }
  return problems;
}
