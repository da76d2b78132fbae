/**
 * Which files import which, read from the source as the project checks read it.
 *
 * @module
 */

import { readImports, resolveSpecifier, type SourceFile } from "./checks/source.ts";

/** Every file that imports some files, at any distance, and these files themselves: the nearest first. */
export function importersOf(files: readonly SourceFile[], imported: readonly string[]): string[] {
  const importers = new Map<string, string[]>();
  for (const file of files.filter(({ path }) => path.endsWith(".ts"))) {
    for (const { kind, specifier } of readImports(file)) {
      const target = specifier === null || kind === "type" ? null : resolveSpecifier(file.path, specifier);
      if (target !== null) importers.set(target, [...importers.get(target) ?? [], file.path]);
    }
  }
  const found = new Set(imported);
  // A set hands out what is added while it is read.
  for (const path of found) for (const importer of importers.get(path) ?? []) found.add(importer);
  return [...found];
}
