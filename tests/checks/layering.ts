/**
 * Re-derives from the source which room depends on which, and refuses what `layering_rules.ts` does not allow.
 *
 * @module
 */

import {
  DOORS,
  IMPURE_METHODS,
  IMPURE_NAMES,
  KERNEL_ROOMS,
  PACKAGES,
  ROOMS,
  TEST_ONLY_PACKAGES,
} from "./layering_rules.ts";
import {
  type ImportEdge,
  lineAt,
  maskSource,
  readImports,
  resolveSpecifier,
  type SourceFile,
  type Violation,
} from "./source.ts";

/** Whether a path is a test: those may use what the program may not. */
export function isTest(path: string): boolean {
  return path.startsWith("tests/") || /_(?:test|fixture)\.ts$/.test(path);
}

/** The room of a file of the program, or null where it lies in none. */
export function roomOf(path: string): string | null {
  if (path === "main.ts") return "main";
  const [top, room, sub] = path.split("/");
  if (top !== "src" || room === undefined || sub === undefined) return null;
  if (room === "runpack" && (sub === "host" || sub === "browser")) return `runpack/${sub}`;
  return Object.hasOwn(ROOMS, room) ? room : null;
}

/** The files that the rules speak of: `main.ts` and every TypeScript file of `src` that is no test. */
function programFiles(files: readonly SourceFile[]): SourceFile[] {
  return files.filter((file) => /^(main|src\/.*)\.ts$/.test(file.path) && !isTest(file.path));
}

/** Every file of the program lies in a room that the table names. */
export function checkRoomsKnown(files: readonly SourceFile[]): Violation[] {
  return programFiles(files).filter((file) => roomOf(file.path) === null).map((file) => ({
    rule: "rooms",
    path: file.path,
    line: 0,
    message: `Cannot place the file: rooms are ${Object.keys(ROOMS).map((room) => `"${room}"`).join(", ")}`,
  }));
}

/** Every arrow between two rooms is one that the table allows, and passes by the door where there is one. */
export function checkArrows(files: readonly SourceFile[]): Violation[] {
  return programFiles(files).flatMap((file) =>
    readImports(file).flatMap((edge) => {
      const message = arrowRefusal(file.path, edge);
      return message === null ? [] : [{ rule: "arrows", path: file.path, line: edge.line, message }];
    })
  );
}

function arrowRefusal(path: string, edge: ImportEdge): string | null {
  const specifier = edge.specifier;
  if (specifier === null) return "Cannot follow a dynamic import: its path is computed, not literal";
  if (specifier.startsWith("@/")) return `Cannot import "${specifier}": the program names its files by relative path`;
  const target = resolveSpecifier(path, specifier);
  const from = roomOf(path);
  if (target === null || target === "deno.json" || from === null) return null;
  if (isTest(target)) return `Cannot import "${specifier}": it is a test`;
  const to = roomOf(target);
  if (to === null) return `Cannot import "${specifier}": it lies in no room`;
  if (from === to) return null;
  if (!(ROOMS[from] ?? []).includes(to)) return `Cannot import "${specifier}": room "${from}" may not use room "${to}"`;
  const door = DOORS.find((entry) => entry.from === from && entry.to === to);
  if (door === undefined || door.files.includes(target)) return null;
  return `Cannot import "${specifier}": room "${from}" knows room "${to}" only by ${door.files.join(", ")}`;
}

function covers(name: string, specifier: string): boolean {
  return specifier === name || specifier.startsWith(name.endsWith(":") ? name : `${name}/`);
}

/** Every package that the program loads has a row in the table, and is loaded from a room of that row. */
export function checkPackages(files: readonly SourceFile[]): Violation[] {
  return programFiles(files).flatMap((file) =>
    readImports(file).flatMap((edge) => {
      const message = packageRefusal(file.path, edge.specifier);
      return message === null ? [] : [{ rule: "packages", path: file.path, line: edge.line, message }];
    })
  );
}

function packageRefusal(path: string, specifier: string | null): string | null {
  const room = roomOf(path);
  if (specifier === null || room === null || /^(\.|@\/)/.test(specifier)) return null;
  if (TEST_ONLY_PACKAGES.some((name) => covers(name, specifier))) {
    return `Cannot import "${specifier}": it serves tests only`;
  }
  if (isKernel(room)) return `Cannot import "${specifier}": kernel room "${room}" uses no package`;
  const row = PACKAGES.find((entry) => covers(entry.name, specifier));
  if (row === undefined) return `Cannot import "${specifier}": the package table has no row for it`;
  if (row.rooms.includes(room)) return null;
  return `Cannot import "${specifier}": only ${row.rooms.map((name) => `"${name}"`).join(", ")} may, not "${room}"`;
}

function isKernel(room: string | null): boolean {
  return KERNEL_ROOMS.some((kernel) => kernel === room);
}

/** No kernel file names the runtime, the clock, chance or the locale. */
export function checkPurity(files: readonly SourceFile[]): Violation[] {
  return programFiles(files).filter((file) => isKernel(roomOf(file.path))).flatMap((file) => {
    const code = maskSource(file.text);
    return impureNames(code).map(({ name, offset }) => ({
      rule: "purity",
      path: file.path,
      line: lineAt(code, offset),
      message: `Cannot use "${name}": kernel room "${roomOf(file.path)}" gets it handed in, or does without`,
    }));
  });
}

/** Names of the impure list that code uses: not as a member of something, nor as the name of a member. */
function impureNames(code: string): { name: string; offset: number }[] {
  const found: { name: string; offset: number }[] = [];
  for (const name of IMPURE_NAMES) {
    const pattern = new RegExp(`(?<![.\\w$])${name.replace(".", "\\s*\\.\\s*")}(?![\\w$])`, "g");
    for (const match of code.matchAll(pattern)) {
      if (!isMemberName(code, match.index, match[0].length)) found.push({ name, offset: match.index });
    }
  }
  // An instant that is handed in may be written as a date: only the clock is impure.
  for (const match of code.matchAll(/(?<![.\w$])(?<!\bnew\s+(?=Date\s*\(\s*[^\s)]))Date(?!\s*\.\s*UTC\b)(?![\w$])/g)) {
    if (!isMemberName(code, match.index, 4)) found.push({ name: "Date", offset: match.index });
  }
  for (const match of code.matchAll(new RegExp(`\\.\\s*(${IMPURE_METHODS.join("|")})\\b`, "g"))) {
    found.push({ name: match[1] ?? "", offset: match.index });
  }
  return found.sort((a, b) => a.offset - b.offset);
}

function isMemberName(code: string, offset: number, length: number): boolean {
  const before = code.slice(0, offset).trimEnd().at(-1) ?? "";
  return /[{,;]/.test(before) && /^\s*\??\s*:/.test(code.slice(offset + length));
}

/** No file of the program reaches itself by imports. Type imports do not count: nothing of them is left at run time. */
export function checkCycles(files: readonly SourceFile[]): Violation[] {
  const graph = new Map(programFiles(files).map((file) => [file.path, runtimeTargets(file)]));
  const done = new Set<string>();
  const violations: Violation[] = [];
  const visit = (path: string, trail: readonly string[]): void => {
    const start = trail.indexOf(path);
    if (start !== -1) {
      const loop = [...trail.slice(start), path].join(" -> ");
      violations.push({ rule: "cycles", path, line: 0, message: `Cannot import in a circle: ${loop}` });
      return;
    }
    if (done.has(path)) return;
    for (const target of graph.get(path) ?? []) visit(target, [...trail, path]);
    done.add(path);
  };
  for (const path of graph.keys()) visit(path, []);
  return violations;
}

function runtimeTargets(file: SourceFile): string[] {
  return readImports(file)
    .filter((edge) => edge.kind === "static" || edge.kind === "dynamic")
    .flatMap((edge) => resolveSpecifier(file.path, edge.specifier ?? "") ?? []);
}

/** Everything in the tree but `main.ts` and tests leaves the command line alone. Tests of `src/cli` lie beside it. */
export function checkNothingImportsCli(files: readonly SourceFile[]): Violation[] {
  return files.filter((file) => file.path.endsWith(".ts") && !/^(main\.ts$|src\/cli\/)/.test(file.path)).flatMap(
    (file) =>
      readImports(file)
        .filter((edge) => resolveSpecifier(file.path, edge.specifier ?? "")?.startsWith("src/cli/") === true)
        .map((edge) => ({
          rule: "cli",
          path: file.path,
          line: edge.line,
          message: `Cannot import "${edge.specifier}": nothing imports the command line but "main.ts"`,
        })),
  );
}

/** A rule by its name, for the tests that run each on the tree. */
export const LAYERING_CHECKS: readonly {
  readonly name: string;
  readonly check: (files: readonly SourceFile[]) => Violation[];
}[] = [
  { name: "every file lies in a known room", check: checkRoomsKnown },
  { name: "rooms import only rooms that the table allows", check: checkArrows },
  { name: "packages are loaded only from their rooms", check: checkPackages },
  { name: "kernel rooms are pure", check: checkPurity },
  { name: "no file imports itself in a circle", check: checkCycles },
  { name: "nothing imports the command line", check: checkNothingImportsCli },
];
