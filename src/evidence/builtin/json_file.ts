/** The check of the provider `json`, as its worker runs it: reads one file below the root by its real path. */

import { isAbsolute, join, relative, resolve, sep } from "node:path";
import { type JsonObject, member } from "../../canonical/json.ts";
import { readBelow } from "../../config/files.ts";
import type { ObservedError } from "../../run/types.ts";
import type { EvidenceQuery } from "../types.ts";
import type { GivenSources } from "./engine.ts";
import { readJsonDocument } from "./json_document.ts";
import { selectJson, selectWhole } from "../json_path/json_path.ts";
import { type Finding, observed, paramsOf, readText } from "./result.ts";
// Loaded at once: the worker has no permission to read the program's modules later.
import { readYamlDocument } from "./yaml_document.ts";

/** The setup of the worker. */
export interface JsonSetup {
  /** Real path of the root: the worker may read below it only. */
  readonly root: string;
  readonly allow_yaml: boolean;
  readonly max_bytes: number;
}

/** The finding of a check, and the path from the root if the file exists. */
export interface JsonAnswer {
  readonly finding: Finding;
  readonly path: string | null;
}

/** UTF-16 code units of a path, and of one part of it. */
const PATH_CHARACTERS_MAXIMUM = 4096;
const PART_CHARACTERS_MAXIMUM = 255;

interface RootedFile {
  /** Relative to the root, links resolved. */
  readonly path: string;
}

type Failing = { readonly error: ObservedError };

/**
 * Answers a json check.
 *
 * @param source The files in place of those below the root
 */
export async function checkJsonFile(
  setup: JsonSetup,
  query: EvidenceQuery,
  source?: GivenSources["file"],
): Promise<JsonAnswer> {
  const given = paramsOf(query, ["file", "jsonpath"], true);
  if ("error" in given) return { finding: given, path: null };
  const file = readText(given.params, "file");
  const jsonpath = member(given.params, "jsonpath") === undefined ? null : readText(given.params, "jsonpath");
  if (typeof file !== "string") return { finding: file, path: null };
  if (jsonpath !== null && typeof jsonpath !== "string") return { finding: jsonpath, path: null };
  const found = source === undefined ? findFile(setup.root, file) : refusePath(file) ?? { path: file };
  if ("error" in found) return { finding: found, path: null };
  const { path } = found;
  const read = source === undefined ? readFile : givenFile(source);
  return { finding: await readAndSelect(setup, { path, read }, file, jsonpath), path };
}

/** Reads files that are given, within the same limit. */
function givenFile(source: GivenSources["file"]): typeof readFile {
  return ({ max_bytes }, path, file) => {
    const bytes = source(path);
    if (bytes === undefined) return Promise.resolve(absent(file));
    return Promise.resolve(bytes.length > max_bytes ? fileTooLarge(file, max_bytes, bytes.length) : bytes);
  };
}

async function readAndSelect(
  setup: JsonSetup,
  { path, read: readBytes }: RootedFile & { readonly read: typeof readFile },
  file: string,
  jsonpath: string | null,
): Promise<Finding> {
  const isYaml = /\.ya?ml$/i.test(path);
  if (isYaml && !setup.allow_yaml) {
    return observed("yaml_disabled", "YAML files are not read (allow_yaml)", { file });
  }
  const bytes = await readBytes(setup, path, file);
  if ("error" in bytes) return bytes;
  const read = isYaml ? readYamlDocument(bytes, { file }) : readJsonDocument(bytes, { file });
  if ("error" in read) return read;
  const selection = jsonpath === null ? selectWhole(read.document) : selectJson(read.document, jsonpath);
  if ("error" in selection) return selection;
  return { found: selection.found, content_type: isYaml ? "application/yaml" : "application/json" };
}

/** The path of a file with every link resolved; the runtime denies links that lead out of the root. */
function findFile(root: string, file: string): RootedFile | Failing {
  const refusal = refusePath(file);
  if (refusal !== null) return refusal;
  try {
    const path = below(root, Deno.realPathSync(join(root, file)));
    return path === null ? outside(file) : { path };
  } catch (error) {
    // Who may make links in the root must not learn which files exist outside.
    return isAbsent(error) && leadsOutside(root, join(root, file)) ? outside(file) : accessError(error, file);
  }
}

/** The path from the root, null for a path that is not below it. */
function below(root: string, path: string): string | null {
  const found = relative(root, path).replaceAll(sep, "/");
  return found === ".." || found.startsWith("../") || isAbsolute(found) ? null : found;
}

/** Links that are followed before a path counts as missing, as on Linux. */
const LINKS_MAXIMUM = 40;

/** Whether a path to a missing file leaves the root, by a link or in itself. */
function leadsOutside(root: string, missing: string): boolean {
  let path = below(root, missing);
  for (let links = 0; path !== null && links < LINKS_MAXIMUM; links++) {
    const parts: string[] = path.split("/");
    const at = parts.findIndex((_, index) => isLink(join(root, ...parts.slice(0, index + 1))));
    if (at < 0) return false;
    const link = join(root, ...parts.slice(0, at + 1));
    path = below(root, resolve(link, "..", Deno.readLinkSync(link), ...parts.slice(at + 1)));
  }
  return path === null;
}

function isLink(path: string): boolean {
  try {
    return Deno.lstatSync(path).isSymlink;
  } catch {
    return false;
  }
}

function isAbsent(error: unknown): boolean {
  return error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory;
}

/** The error for a path that cannot be relative to the root; null where it can. */
export function refusePath(file: string): Failing | null {
  const details: JsonObject = { file: file.slice(0, 256) };
  if (file === "") return observed("path_missing", "Expected the path of a file");
  if (isAbsolute(file) || /^([A-Za-z]:|\\)/.test(file)) {
    return observed("absolute_path_forbidden", "Expected a path from the root, not an absolute one", details);
  }
  const parts = file.split("/");
  const isTooLong = file.length > PATH_CHARACTERS_MAXIMUM ||
    parts.some((part) => part.length > PART_CHARACTERS_MAXIMUM);
  if (isTooLong || file.includes("\0")) {
    const limits = `${PATH_CHARACTERS_MAXIMUM} characters, ${PART_CHARACTERS_MAXIMUM} in each part`;
    return observed("path_invalid", `Expected a path of at most ${limits} and without zero characters`, details);
  }
  return climbsOut(parts) ? outside(file) : null;
}

/**
 * Whether ".." leads above the root, even if the path comes back: an answer would show which names the root and the
 * folders above it have.
 */
function climbsOut(parts: readonly string[]): boolean {
  let depth = 0;
  return parts.some((part) => {
    if (part === "..") depth--;
    else if (part !== "" && part !== ".") depth++;
    return depth < 0;
  });
}

/** Reads a file. A link that replaced part of the path since {@link findFile} is not followed. */
async function readFile({ root, max_bytes }: JsonSetup, path: string, file: string): Promise<Uint8Array | Failing> {
  try {
    const read = await readBelow(root, path, max_bytes);
    if ("bytes" in read) return read.bytes;
    return read.fault === "too_large" ? fileTooLarge(file, max_bytes, read.size) : unreadable(file);
  } catch (error) {
    return accessError(error, file);
  }
}

function accessError(error: unknown, file: string): Failing {
  if (error instanceof Deno.errors.NotCapable) return outside(file);
  return isAbsent(error) ? absent(file) : unreadable(file);
}

function absent(file: string): Failing {
  return observed("file_not_found", `File "${file}" does not exist`, { file });
}

function outside(file: string): Failing {
  return observed("path_outside_root", `File "${file}" lies outside the root`, { file });
}

function unreadable(file: string): Failing {
  return observed("file_read_failed", `Cannot read "${file}": it is not a regular file, changes, or is not readable`, {
    file,
  });
}

function fileTooLarge(file: string, maximum: number, actual: number): Failing {
  const message = `Expected a file of at most ${maximum} bytes, got ${actual}`;
  return observed("size_limit_exceeded", message, { file, max_bytes: maximum, actual_bytes: actual });
}
