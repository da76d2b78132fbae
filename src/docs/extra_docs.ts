/**
 * The operator's own documents: files, and folders with all that is in them, in an order that does not depend on the
 * disk, and within limits that hold before anything is read.
 *
 * @module
 */

import { basename, dirname, join } from "node:path";
import { sortedBy } from "../canonical/order.ts";
import { decodeUtf8Strict } from "../canonical/utf8.ts";
import { type FileReading, readBelow } from "../config/files.ts";
import type { ConfigProblem } from "../config/problems.ts";
import type { DocsConfig } from "../config/types.ts";
import { titleOf } from "./sections.ts";
import { type Doc, DOCS_PREFIX, type Documents } from "./types.ts";

/** Entries of folders that are looked at, and how deep folders may lie in each other. */
export const EXTRA_ENTRIES_MAXIMUM = 4096;
const FOLDER_DEPTH_MAXIMUM = 16;

/** An entry of a folder, as it was when it was looked at. */
type Entry = Pick<Deno.FileInfo, "isFile" | "isDirectory" | "isSymlink">;

/** The folder of one path of `docs.extra_paths`: the path itself, or the folder around it if it is a file. */
interface Extra {
  /** As it is configured, for warnings. */
  readonly folder: string;
  /** Its real path; nothing is read out of it. */
  readonly root: string;
}

/** What was found so far. */
interface Reading {
  readonly config: DocsConfig;
  readonly docs: Doc[];
  readonly warnings: string[];
  /** The ids that are taken. */
  readonly ids: Set<string>;
  /** Documents and bytes that there still is room for. */
  docsLeft: number;
  bytesLeft: number;
  entriesLeft: number;
}

/** The operator's documents, and which paths of `docs.extra_paths` are not there. */
export interface ExtraDocuments extends Documents {
  readonly problems: readonly ConfigProblem[];
}

/**
 * Reads the documents of `docs.extra_paths`.
 *
 * @param taken The documents that stand before them in the catalogue; no limit counts these
 */
export async function readExtraDocs(config: DocsConfig, taken: readonly Doc[]): Promise<ExtraDocuments> {
  const reading: Reading = {
    config,
    docs: [],
    warnings: [],
    ids: new Set(taken.map(({ doc_id }) => doc_id)),
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

/** @param way From the root of the path, names that lie in each other */
async function readEntry(reading: Reading, extra: Extra, way: readonly string[], entry: Entry): Promise<void> {
  if (entry.isSymlink) return skip(reading, extra, way, "is a symbolic link");
  if (entry.isDirectory) return await readFolder(reading, extra, way);
  if (!entry.isFile) return skip(reading, extra, way, "is no regular file");
  if (!way.at(-1)?.endsWith(".md")) return skip(reading, extra, way, "does not end in .md");
  await readFile(reading, extra, way);
}

async function readFolder(reading: Reading, extra: Extra, way: readonly string[]): Promise<void> {
  if (way.length > FOLDER_DEPTH_MAXIMUM) {
    return skip(reading, extra, way, `lies more than ${FOLDER_DEPTH_MAXIMUM} folders deep`);
  }
  const entries: Deno.DirEntry[] = [];
  try {
    for await (const entry of Deno.readDir(join(extra.root, ...way))) {
      if (reading.entriesLeft-- <= 0) {
        const limit = `${EXTRA_ENTRIES_MAXIMUM} entries in all`;
        return skip(reading, extra, way, `holds more than is looked at: ${limit}`);
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
  if (reading.docsLeft <= 0) return skip(reading, extra, way, `is one too many: docs.max_docs is ${max_docs}`);
  const most = Math.min(max_doc_bytes, reading.bytesLeft);
  const read = await readBelow(extra.root, way.join("/"), most).catch((): FileReading => ({ fault: "not_a_file" }));
  if ("fault" in read) {
    if (read.fault === "changed") return skip(reading, extra, way, "changes while it is read");
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

/** An id made of a file's name: `Runbook (EU).md` is `runbook__eu_`, and the next of that name `runbook__eu__2`. */
function freshId(ids: Set<string>, stem: string): string {
  const base = stem.toLowerCase().replace(/[^a-z0-9]/g, "_") || "_";
  let id = base;
  for (let count = 2; ids.has(id); count++) id = `${base}_${count}`;
  ids.add(id);
  return id;
}

function skip(reading: Reading, { folder }: Extra, way: readonly string[], why: string): void {
  // An operator needs to know that something is left out, not every file of a tree that was meant to be another.
  if (reading.warnings.length < WARNINGS_MAXIMUM) {
    reading.warnings.push(`docs.extra_paths: "${join(folder, ...way)}" is left out: it ${why}`);
  }
}

/** Warnings that are kept. */
const WARNINGS_MAXIMUM = 64;
