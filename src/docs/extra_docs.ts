/**
 * The operator's own documents: files, and folders with everything in them. Their order does not depend on the file
 * system, and limits are checked before a file is read.
 */

import { basename, dirname, join } from "node:path";
import { sortedBy } from "../canonical/order.ts";
import { decodeUtf8Strict } from "../canonical/utf8.ts";
import { type FileReading, readBelow } from "../config/files.ts";
import type { ConfigProblem } from "../config/problems.ts";
import type { DocsConfig } from "../config/types.ts";
import { titleOf } from "./sections.ts";
import { type Doc, DOCS_PREFIX, type Documents } from "./types.ts";

/** Folder entries that are visited in all, and the depth of nested folders. */
export const EXTRA_ENTRIES_MAXIMUM = 4096;
const FOLDER_DEPTH_MAXIMUM = 16;

/** The type of a folder entry when it was visited. */
type Entry = Pick<Deno.FileInfo, "isFile" | "isDirectory" | "isSymlink">;

/** The folder of one path of `docs.extra_paths`: the path itself, or the parent folder of a file. */
interface Extra {
  /** The configured path, for warnings. */
  readonly folder: string;
  /** The real path of the folder; no file outside it is read. */
  readonly root: string;
}

/** The state of reading. */
interface Reading {
  readonly config: DocsConfig;
  readonly docs: Doc[];
  readonly warnings: string[];
  /** The ids that are in use. */
  readonly ids: Set<string>;
  /** Documents, bytes and entries until the limits. */
  docsLeft: number;
  bytesLeft: number;
  entriesLeft: number;
}

/** The operator's documents, and the paths of `docs.extra_paths` that cannot be read. */
export interface ExtraDocuments extends Documents {
  readonly problems: readonly ConfigProblem[];
}

/**
 * Reads the documents of `docs.extra_paths`.
 *
 * @param existing The documents before them in the catalogue; limits do not count these
 */
export async function readExtraDocs(config: DocsConfig, existing: readonly Doc[]): Promise<ExtraDocuments> {
  const reading: Reading = {
    config,
    docs: [],
    warnings: [],
    ids: new Set(existing.map(({ doc_id }) => doc_id)),
    docsLeft: config.max_docs,
    bytesLeft: config.max_total_bytes,
    entriesLeft: EXTRA_ENTRIES_MAXIMUM,
  };
  const problems: ConfigProblem[] = [];
  for (const [index, path] of config.extra_paths.entries()) {
    const entry = await Deno.lstat(path).catch((error: unknown) => {
      const why = error instanceof Deno.errors.NotFound ? "does not exist" : "cannot be read";
      problems.push({ path: `docs.extra_paths[${index}]`, message: `"${path}" ${why}` });
      return null;
    });
    if (entry === null) continue;
    const folder = entry.isDirectory ? path : dirname(path);
    const extra = { folder, root: await Deno.realPath(folder) };
    await readEntry(reading, extra, entry.isDirectory ? [] : [basename(path)], entry);
  }
  return { docs: reading.docs, warnings: reading.warnings, problems };
}

/** @param way The path below the root, as names */
async function readEntry(reading: Reading, extra: Extra, way: readonly string[], entry: Entry): Promise<void> {
  if (entry.isSymlink) return skip(reading, extra, way, "is a symbolic link");
  if (entry.isDirectory) return await readFolder(reading, extra, way);
  if (!entry.isFile) return skip(reading, extra, way, "is not a regular file");
  if (!way.at(-1)?.endsWith(".md")) return skip(reading, extra, way, "does not end in .md");
  await readFile(reading, extra, way);
}

async function readFolder(reading: Reading, extra: Extra, way: readonly string[]): Promise<void> {
  if (way.length > FOLDER_DEPTH_MAXIMUM) {
    return skip(reading, extra, way, `is more than ${FOLDER_DEPTH_MAXIMUM} folders deep`);
  }
  const entries: Deno.DirEntry[] = [];
  try {
    for await (const entry of Deno.readDir(join(extra.root, ...way))) {
      if (reading.entriesLeft-- <= 0) {
        return skip(reading, extra, way, `exceeds the limit of ${EXTRA_ENTRIES_MAXIMUM} entries in all`);
      }
      entries.push(entry);
    }
  } catch {
    return skip(reading, extra, way, "cannot be read");
  }
  for (const entry of sortedBy(entries, ({ name }) => name)) {
    await readEntry(reading, extra, [...way, entry.name], entry);
  }
}

async function readFile(reading: Reading, extra: Extra, way: readonly string[]): Promise<void> {
  const { max_doc_bytes, max_docs, max_total_bytes } = reading.config;
  if (reading.docsLeft <= 0) return skip(reading, extra, way, `exceeds the limit: docs.max_docs is ${max_docs}`);
  const most = Math.min(max_doc_bytes, reading.bytesLeft);
  const read = await readBelow(extra.root, way.join("/"), most).catch((): FileReading => ({ fault: "not_a_file" }));
  if ("fault" in read) {
    if (read.fault === "changed") return skip(reading, extra, way, "changed while it was read");
    if (read.fault === "not_a_file") return skip(reading, extra, way, "cannot be read");
    const limit = most === max_doc_bytes
      ? `docs.max_doc_bytes is ${max_doc_bytes}`
      : `docs.max_total_bytes is ${max_total_bytes}`;
    return skip(reading, extra, way, `is too large: ${limit}`);
  }
  const text = decodeUtf8Strict(read.bytes);
  if (text === null) return skip(reading, extra, way, "is not UTF-8");
  if (text.trim() === "") return skip(reading, extra, way, "is empty");
  reading.docs.push(extraDoc(reading.ids, way.at(-1) ?? "", text, read.bytes.length));
  reading.docsLeft -= 1;
  reading.bytesLeft -= read.bytes.length;
}

function extraDoc(ids: Set<string>, name: string, text: string, bytes: number): Doc {
  const stem = name.slice(0, -".md".length);
  const doc_id = freshId(ids, stem);
  return {
    doc_id,
    doc_role: "pattern",
    doc_title: titleOf(text) ?? stem,
    description: "Document of the operator",
    uri: `${DOCS_PREFIX}custom/${doc_id}`,
    text,
    bytes,
    pages: [],
  };
}

/** An unused id for a file name: `Runbook (EU).md` becomes `runbook__eu_`, the next file of that name `runbook__eu__2`. */
function freshId(ids: Set<string>, stem: string): string {
  const base = stem.toLowerCase().replace(/[^a-z0-9]/g, "_") || "_";
  let id = base;
  for (let count = 2; ids.has(id); count++) id = `${base}_${count}`;
  ids.add(id);
  return id;
}

function skip(reading: Reading, { folder }: Extra, way: readonly string[], why: string): void {
  // An operator needs to know that files are skipped, not the name of every file of a folder that was named by mistake.
  if (reading.warnings.length < WARNINGS_MAXIMUM) {
    reading.warnings.push(`docs.extra_paths: "${join(folder, ...way)}" is skipped: it ${why}`);
  }
}

/** Warnings that are kept. */
const WARNINGS_MAXIMUM = 64;
