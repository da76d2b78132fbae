/**
 * The operator's own documents: files, and folders with all that is in them, in an order that does not depend on the
 * disk, and within limits that hold before anything is read.
 *
 * @module
 */

import { sortedBy } from "../canonical/order.ts";
import { decodeUtf8Strict } from "../canonical/utf8.ts";
import type { DocsConfig } from "../config/types.ts";
import { titleOf } from "./sections.ts";
import { type Doc, DOCS_PREFIX, DocsError, type Documents } from "./types.ts";

/** Entries of folders that are looked at, and how deep folders may lie in each other. */
export const EXTRA_ENTRIES_MAXIMUM = 4096;
const FOLDER_DEPTH_MAXIMUM = 16;

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

/**
 * Reads the documents of `docs.extra_paths`.
 *
 * @param taken The documents that stand before them in the catalogue
 * @throws {DocsError} When a path is not there
 */
export async function readExtraDocs(config: DocsConfig, taken: readonly Doc[]): Promise<Documents> {
  const reading: Reading = {
    config,
    docs: [],
    warnings: [],
    ids: new Set(taken.map(({ doc_id }) => doc_id)),
    docsLeft: config.max_docs - taken.length,
    bytesLeft: config.max_total_bytes - taken.reduce((sum, { bytes }) => sum + bytes, 0),
    entriesLeft: EXTRA_ENTRIES_MAXIMUM,
  };
  for (const [index, path] of config.extra_paths.entries()) {
    const info = await Deno.lstat(path).catch((error: unknown) => {
      const why = error instanceof Deno.errors.NotFound ? "does not exist" : "cannot be read";
      throw new DocsError(`docs.extra_paths[${index}]: "${path}" ${why}`);
    });
    await readEntry(reading, path, info, 0);
  }
  return reading;
}

async function readEntry(
  reading: Reading,
  path: string,
  entry: Pick<Deno.FileInfo, "isFile" | "isDirectory" | "isSymlink">,
  depth: number,
): Promise<void> {
  if (entry.isSymlink) return skip(reading, path, "is a symbolic link");
  if (entry.isDirectory) return await readFolder(reading, path, depth);
  if (!entry.isFile) return skip(reading, path, "is no regular file");
  if (!path.endsWith(".md")) return skip(reading, path, "does not end in .md");
  await readFile(reading, path);
}

async function readFolder(reading: Reading, path: string, depth: number): Promise<void> {
  if (depth > FOLDER_DEPTH_MAXIMUM) return skip(reading, path, `lies more than ${FOLDER_DEPTH_MAXIMUM} folders deep`);
  const entries: Deno.DirEntry[] = [];
  for await (const entry of Deno.readDir(path)) {
    if (reading.entriesLeft-- <= 0) {
      return skip(reading, path, `holds more than is looked at: ${EXTRA_ENTRIES_MAXIMUM} entries in all`);
    }
    entries.push(entry);
  }
  for (const entry of sortedBy(entries, ({ name }) => name)) {
    await readEntry(reading, `${path}/${entry.name}`, entry, depth + 1);
  }
}

async function readFile(reading: Reading, path: string): Promise<void> {
  const { max_doc_bytes, max_docs, max_total_bytes } = reading.config;
  if (reading.docsLeft <= 0) return skip(reading, path, `is one too many: docs.max_docs is ${max_docs}`);
  const most = Math.min(max_doc_bytes, reading.bytesLeft);
  const bytes = await readAtMost(path, most).catch(() => undefined);
  if (bytes === undefined) return skip(reading, path, "cannot be read");
  if (bytes === null) {
    const limit = most === max_doc_bytes
      ? `docs.max_doc_bytes is ${max_doc_bytes}`
      : `docs.max_total_bytes is ${max_total_bytes}`;
    return skip(reading, path, `is too large: ${limit}`);
  }
  const text = decodeUtf8Strict(bytes);
  if (text === null) return skip(reading, path, "is not UTF-8");
  if (text.trim() === "") return skip(reading, path, "is empty");
  reading.docs.push(extraDoc(reading.ids, path, text, bytes.length));
  reading.docsLeft -= 1;
  reading.bytesLeft -= bytes.length;
}

/** The bytes of a file, or null where there are more than so many; no more than that is read. */
async function readAtMost(path: string, most: number): Promise<Uint8Array | null> {
  using file = await Deno.open(path);
  if ((await file.stat()).size > most) return null;
  const buffer = new Uint8Array(most + 1);
  let filled = 0;
  for (let read = await file.read(buffer); read !== null; read = await file.read(buffer.subarray(filled))) {
    filled += read;
    if (filled > most) return null;
  }
  return buffer.slice(0, filled);
}

function extraDoc(ids: Set<string>, path: string, text: string, bytes: number): Doc {
  const stem = path.slice(path.lastIndexOf("/") + 1, -".md".length);
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

function skip(reading: Reading, path: string, why: string): void {
  // An operator needs to know that something is left out, not every file of a tree that was meant to be another.
  if (reading.warnings.length < WARNINGS_MAXIMUM) {
    reading.warnings.push(`docs.extra_paths: "${path}" is left out: it ${why}`);
  }
}

/** Warnings that are kept. */
const WARNINGS_MAXIMUM = 64;
