/**
 * Rules on the files of the tree: names, places, line lengths, and whether the program reaches them.
 *
 * @module
 */

import { isTest, layerOf } from "./layering.ts";
import { KERNEL_LAYERS } from "./layering_rules.ts";
import { maskSource, readImports, resolveSpecifier, type SourceFile, type Violation } from "./source.ts";
import { findExports, SHORT_FORMS, sourceModules, wordsOf } from "./tidy_code.ts";

/** Readers see a line of code without scrolling. `deno fmt` breaks lines at 120 where it can. */
export const LINE_CHARACTERS_MAX = 140;

/** Readers see the modules of a folder at a glance. Tests beside the modules of src do not count. */
export const FOLDER_MODULES_MAX = 30;

/** Everything that may stand at the top of the tree. */
export const TOP_LEVEL = [
  ".ci",
  // Code hosts look for issue templates only here.
  ".github",
  ".gitignore",
  "LICENSE",
  "README.md",
  "config",
  "deno.json",
  "deno.lock",
  "docs",
  "main.ts",
  "src",
  "tests",
];

/** Pages that hosts of code find by these names. */
const PAGES_BY_CUSTOM = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"];

/** Names that do not describe the contents of a file. */
const EMPTY_NAMES = ["common", "helper", "helpers", "lib", "misc", "shared", "stuff", "temp", "util", "utils"];

/** The top of the tree holds only listed entries. */
export function checkTopLevel(files: readonly SourceFile[]): Violation[] {
  const entries = new Set(files.map((file) => file.path.split("/")[0] ?? ""));
  return [...entries].filter((entry) => !TOP_LEVEL.includes(entry)).map((entry) => ({
    rule: "top level",
    path: entry,
    line: 0,
    message: `Cannot keep "${entry}" at the top: move it into one of ${TOP_LEVEL.join(", ")}`,
  }));
}

/** Lines of code are short. */
export function checkLineLength(files: readonly SourceFile[]): Violation[] {
  return files.filter((file) => file.path.endsWith(".ts")).flatMap((file) =>
    file.text.split("\n").flatMap((text, index) => {
      if (text.length <= LINE_CHARACTERS_MAX) return [];
      const message = `Cannot accept ${text.length} characters: break the line before ${LINE_CHARACTERS_MAX}`;
      return [{ rule: "line length", path: file.path, line: index + 1, message }];
    })
  );
}

/** Folders hold few modules. */
export function checkFolderSizes(files: readonly SourceFile[]): Violation[] {
  const modules = files.filter(({ path }) => path.endsWith(".ts") && !(path.startsWith("src/") && isTest(path)));
  const folders = Map.groupBy(modules, ({ path }) => path.slice(0, path.lastIndexOf("/") + 1));
  return [...folders].filter(([, inside]) => inside.length > FOLDER_MODULES_MAX).map(([path, inside]) => ({
    rule: "folder size",
    path,
    line: 0,
    message:
      `Cannot keep ${inside.length} modules in one folder: sort them into folders of at most ${FOLDER_MODULES_MAX}`,
  }));
}

/** Files and folders are named in snake_case, with written-out words that describe the contents. */
export function checkFileNames(files: readonly SourceFile[]): Violation[] {
  return files.filter((file) => /^(src|tests|docs|config)\//.test(file.path)).flatMap((file) => {
    const reason = nameRefusal(file.path.split("/"));
    return reason === null ? [] : [{ rule: "file names", path: file.path, line: 0, message: reason }];
  });
}

function nameRefusal(parts: readonly string[]): string | null {
  for (const part of parts) {
    if (PAGES_BY_CUSTOM.includes(part)) continue;
    if (!/^[a-z0-9]+(_[a-z0-9]+)*(\.[a-z0-9]+(_[a-z0-9]+)*)*$/.test(part)) {
      return `Cannot accept name "${part}": rename it in snake_case`;
    }
    const stem = part.replace(/\..*$/, "");
    const short = wordsOf(stem).find((word) => SHORT_FORMS.includes(word));
    if (short !== undefined) return `Cannot accept name "${part}": "${short}" is a short form, write the word out`;
    if (EMPTY_NAMES.includes(stem)) return `Cannot accept name "${part}": name it after what is inside`;
  }
  return null;
}

/** Modules that are started other than by an import, and how. */
export const ENTRY_POINTS: readonly { readonly path: string; readonly startedBy: string }[] = [
  { path: "main.ts", startedBy: "the command line" },
  { path: "src/runpack/browser/build.ts", startedBy: "deno task verifier:page, which bundles page.ts" },
  { path: "src/playground/page.ts", startedBy: "deno task site, which bundles it" },
  { path: "src/playground/search.ts", startedBy: "deno task site, which bundles it" },
];

/** Every module of `src` is reached from an entry point. A module that only tests use is dead. */
export function checkDeadFiles(files: readonly SourceFile[]): Violation[] {
  const byPath = new Map(files.map((file) => [file.path, file]));
  const reached = new Set<string>();
  const visit = (path: string): void => {
    const file = byPath.get(path);
    if (file === undefined || reached.has(path)) return;
    reached.add(path);
    for (const edge of readImports(file)) visit(resolveSpecifier(path, edge.specifier ?? "") ?? "");
  };
  for (const entry of ENTRY_POINTS) visit(entry.path);
  return sourceModules(files).filter((file) => !reached.has(file.path)).map((file) => ({
    rule: "dead files",
    path: file.path,
    line: 0,
    message:
      `Cannot keep a module that "main.ts" does not reach: import it, remove it, or name a fixture "*_fixture.ts"`,
  }));
}

/**
 * Every kernel module with code is tested: a test or a documentation example imports it, or a tested module of its layer
 * does.
 */
export function checkKernelTested(files: readonly SourceFile[]): Violation[] {
  const modules = sourceModules(files).filter((file) => KERNEL_LAYERS.some((layer) => layer === layerOf(file.path)));
  const byPath = new Map(modules.map((file) => [file.path, file]));
  const tests = files.filter((file) => file.path.endsWith(".ts") && isTest(file.path));
  const tested = new Set<string>();
  const visit = (path: string): void => {
    const file = byPath.get(path);
    if (file === undefined || tested.has(path)) return;
    tested.add(path);
    for (const target of targetsOf(file)) if (layerOf(target) === layerOf(path)) visit(target);
  };
  for (const path of [...tests.flatMap(targetsOf), ...modules.flatMap(exampleTargets)]) visit(path);
  return modules
    .filter((file) => findExports(maskSource(file.text)).some((entry) => !entry.typeOnly))
    .filter((file) => !tested.has(file.path))
    .map((file) => ({
      rule: "kernel tested",
      path: file.path,
      line: 0,
      message: `Cannot keep a kernel module that no test imports: add "${file.path.replace(/\.ts$/, "_test.ts")}"`,
    }));
}

function targetsOf(file: SourceFile): string[] {
  return readImports(file).flatMap((edge) => resolveSpecifier(file.path, edge.specifier ?? "") ?? []);
}

/** The modules that the documentation examples of a file import; a test file runs them. */
function exampleTargets(file: SourceFile): string[] {
  return [...file.text.matchAll(/^ \* import .* from "(@\/[^"]+)";$/gm)].flatMap((match) =>
    resolveSpecifier(file.path, match[1] ?? "") ?? []
  );
}
