/**
 * The two lists of a release folder: `SHA256SUMS`, and the signed provenance (in-toto statement v1 with a SLSA
 * provenance v1 predicate). Both name every file of the release by its SHA-256.
 */

import { isIdentity } from "../../canonical/identity.ts";
import { isJsonArray, isJsonObject, type JsonValue, member } from "../../canonical/json.ts";
import { parseJson } from "../../canonical/scan.ts";
import { STATEMENT_TYPE } from "./dsse.ts";
import { PACK_DEPTH } from "./types.ts";

/** The list of digests, in the form of `sha256sum`. */
export const SUMS_FILE = "SHA256SUMS";

/** The signed provenance: a DSSE envelope. */
export const PROVENANCE_FILE = "provenance.dsse.json";

/** The type of the predicate (https://slsa.dev/spec/v1.0/provenance). */
export const PROVENANCE_TYPE = "https://slsa.dev/provenance/v1";

/** Maximum files of a release. */
export const RELEASE_FILES = 64;

/** SHA-256 in hex of each file, by its name. */
export type Digests = ReadonlyMap<string, string>;

/** A name without a folder, and without characters that a terminal or a shell interprets. */
const FILE_NAME = /^[A-Za-z0-9_][A-Za-z0-9._+~-]{0,127}$/;

/**
 * Decodes `SHA256SUMS`: lines of a digest, two spaces and a file name, each name once.
 *
 * @returns The digests, or the first line that breaks the form
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { decodeSums } from "@/runpack/format/release_provenance.ts";
 *
 * const line = `${"0".repeat(64)}  gate.deb\n`;
 * assert.deepEqual(decodeSums(line), new Map([["gate.deb", "0".repeat(64)]]));
 * assert.equal(decodeSums(line + line), "line 2 names gate.deb again");
 * ```
 */
export function decodeSums(text: string): Digests | string {
  const digests = new Map<string, string>();
  const lines = text.split("\n");
  if (lines.pop() !== "") return "its last line has no end";
  if (lines.length > RELEASE_FILES) return `it has more than ${RELEASE_FILES} lines`;
  for (const [index, line] of lines.entries()) {
    const [, digest = "", name = ""] = /^([0-9a-f]{64}) {2}(.*)$/.exec(line) ?? [];
    if (!FILE_NAME.test(name)) return `line ${index + 1} is not a digest, two spaces and a file name`;
    if (digests.has(name)) return `line ${index + 1} names ${name} again`;
    digests.set(name, digest);
  }
  return digests;
}

/**
 * The subjects of a provenance statement, and what was built from which commit; or what is wrong with it.
 *
 * @param text The payload of the envelope
 */
export function decodeProvenance(text: string): { readonly digests: Digests; readonly commit: string | null } | string {
  const parsed = parseJson(text, { maximumDepth: PACK_DEPTH });
  if (!parsed.ok || !isJsonObject(parsed.value)) return "its payload is not a JSON object";
  const statement = parsed.value;
  if (member(statement, "_type") !== STATEMENT_TYPE) return "its payload is not an in-toto statement v1";
  if (member(statement, "predicateType") !== PROVENANCE_TYPE) return "its predicate is not a SLSA provenance v1";
  const subjects = member(statement, "subject");
  if (!isJsonArray(subjects) || subjects.length === 0 || subjects.length > RELEASE_FILES) {
    return `it does not have 1 to ${RELEASE_FILES} subjects`;
  }
  const digests = new Map<string, string>();
  for (const [index, subject] of subjects.entries()) {
    const [name, digest] = [path(subject, "name"), path(subject, "digest", "sha256")];
    if (typeof name !== "string" || !FILE_NAME.test(name) || typeof digest !== "string" || !isIdentity(digest)) {
      return `subject ${index} is not a file name with a sha256`;
    }
    if (digests.has(name)) return `subject ${index} names ${name} again`;
    digests.set(name, digest);
  }
  const dependencies = path(statement, "predicate", "buildDefinition", "resolvedDependencies");
  const commit = isJsonArray(dependencies) ? path(dependencies[0], "digest", "gitCommit") : undefined;
  return { digests, commit: typeof commit === "string" ? commit : null };
}

function path(value: JsonValue | undefined, ...names: readonly string[]): JsonValue | undefined {
  return names.reduce<JsonValue | undefined>((at, name) => isJsonObject(at) ? member(at, name) : undefined, value);
}
