/**
 * Derives from the source which layer depends on which, and reports what `layering_rules.ts` does not allow.
 *
 * @module
 */

import {
  IMPURE_METHODS,
  IMPURE_NAMES,
  KERNEL_LAYERS,
  LAYERS,
  PACKAGES,
  PUBLIC_FILES,
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

/** Whether a path is a test or a fixture, which may use what the program may not. */
export function isTest(path: string): boolean {
  return path.startsWith("tests/") || /_(?:test|fixture)\.ts$/.test(path);
}

/** The layer of a file of the program, or null for a file outside all layers. */
export function layerOf(path: string): string | null {
  if (path === "main.ts") return "main";
  const [top, layer, sub] = path.split("/");
  if (top !== "src" || layer === undefined || sub === undefined) return null;
  if (layer === "runpack" && (sub === "host" || sub === "browser")) return `runpack/${sub}`;
  return Object.hasOwn(LAYERS, layer) ? layer : null;
}

/** The files that the rules apply to: `main.ts` and every TypeScript file of `src` that is not a test. */
function programFiles(files: readonly SourceFile[]): SourceFile[] {
  return files.filter((file) => /^(main|src\/.*)\.ts$/.test(file.path) && !isTest(file.path));
}

/** Every file of the program lies in a layer that the table names. */
export function checkLayersKnown(files: readonly SourceFile[]): Violation[] {
  return programFiles(files).filter((file) => layerOf(file.path) === null).map((file) => ({
    rule: "layers",
    path: file.path,
    line: 0,
    message: `Cannot find the layer of the file: move it into ${
      Object.keys(LAYERS).map((layer) => `"${layer}"`).join(", ")
    }, or add a layer to "tests/checks/layering_rules.ts"`,
  }));
}

/** Every import between two layers is one that the table allows, and names a public file where the table lists them. */
export function checkDependencies(files: readonly SourceFile[]): Violation[] {
  return programFiles(files).flatMap((file) =>
    readImports(file).flatMap((edge) => {
      const message = dependencyRefusal(file.path, edge);
      return message === null ? [] : [{ rule: "dependencies", path: file.path, line: edge.line, message }];
    })
  );
}

function dependencyRefusal(path: string, edge: ImportEdge): string | null {
  const specifier = edge.specifier;
  if (specifier === null) return "Cannot follow a dynamic import with a computed path: write the path as a literal";
  if (specifier.startsWith("@/")) return `Cannot import "${specifier}": name files of the program by relative path`;
  const target = resolveSpecifier(path, specifier);
  const from = layerOf(path);
  if (target === null || target === "deno.json" || from === null) return null;
  if (isTest(target)) return `Cannot import "${specifier}" from the program: it is a test`;
  const to = layerOf(target);
  if (to === null) return `Cannot import "${specifier}": it lies outside all layers`;
  if (from === to) return null;
  if (!(LAYERS[from] ?? []).includes(to)) {
    return `Cannot import "${specifier}": layer "${from}" may not use layer "${to}", hand it in as an argument`;
  }
  const row = PUBLIC_FILES.find((entry) => entry.from === from && entry.to === to);
  if (row === undefined || row.files.includes(target)) return null;
  return `Cannot import "${specifier}": layer "${from}" imports of layer "${to}" only ${row.files.join(", ")}`;
}

function covers(name: string, specifier: string): boolean {
  return specifier === name || specifier.startsWith(name.endsWith(":") ? name : `${name}/`);
}

/** Every package that the program loads has a row in the table, and the importing layer stands in that row. */
export function checkPackages(files: readonly SourceFile[]): Violation[] {
  return programFiles(files).flatMap((file) =>
    readImports(file).flatMap((edge) => {
      const message = packageRefusal(file.path, edge);
      return message === null ? [] : [{ rule: "packages", path: file.path, line: edge.line, message }];
    })
  );
}

function packageRefusal(path: string, { specifier, kind }: ImportEdge): string | null {
  const layer = layerOf(path);
  if (specifier === null || layer === null || /^(\.|@\/)/.test(specifier)) return null;
  if (TEST_ONLY_PACKAGES.some((name) => covers(name, specifier))) {
    return `Cannot import "${specifier}" from the program: it is a package for tests`;
  }
  if (isKernel(layer)) {
    return `Cannot import "${specifier}": kernel layer "${layer}" uses no package, hand it in as an argument`;
  }
  const row = PACKAGES.find((entry) => covers(entry.name, specifier));
  if (row === undefined) {
    return `Cannot import "${specifier}": add it to PACKAGES in "tests/checks/layering_rules.ts", with a decision page`;
  }
  if (row.typesOnly === true && kind !== "type") return `Cannot import "${specifier}": only its types may be imported`;
  if (row.layers.includes(layer)) return null;
  return `Cannot import "${specifier}" from "${layer}": only ${row.layers.map((name) => `"${name}"`).join(", ")} may`;
}

function isKernel(layer: string | null): boolean {
  return KERNEL_LAYERS.some((kernel) => kernel === layer);
}

/** No kernel file uses the runtime, the clock, chance or the locale. */
export function checkPurity(files: readonly SourceFile[]): Violation[] {
  return programFiles(files).filter((file) => isKernel(layerOf(file.path))).flatMap((file) => {
    const code = maskSource(file.text);
    return impureNames(code).map(({ name, offset }) => ({
      rule: "purity",
      path: file.path,
      line: lineAt(code, offset),
      message: `Cannot use "${name}" in kernel layer "${layerOf(file.path)}": hand it in as an argument`,
    }));
  });
}

/** The impure names that code uses, other than as members of an object. */
function impureNames(code: string): { name: string; offset: number }[] {
  const found: { name: string; offset: number }[] = [];
  for (const name of IMPURE_NAMES) {
    const pattern = new RegExp(`(?<![.\\w$])${name.replace(".", "\\s*\\.\\s*")}(?![\\w$])`, "g");
    for (const match of code.matchAll(pattern)) {
      if (!isMemberName(code, match.index, match[0].length)) found.push({ name, offset: match.index });
    }
  }
  // `new Date(instant)` is pure. Only reading the clock is not.
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

/** No file of the program reaches itself by imports. Type imports do not count, because they do not exist at run time. */
export function checkCycles(files: readonly SourceFile[]): Violation[] {
  const graph = new Map(programFiles(files).map((file) => [file.path, runtimeTargets(file)]));
  const done = new Set<string>();
  const violations: Violation[] = [];
  const visit = (path: string, trail: readonly string[]): void => {
    const start = trail.indexOf(path);
    if (start !== -1) {
      const loop = [...trail.slice(start), path].join(" -> ");
      violations.push({ rule: "cycles", path, line: 0, message: `Cannot import in a cycle: ${loop}` });
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

/** Only `main.ts` and files of `src/cli` import the command line. */
export function checkNothingImportsCli(files: readonly SourceFile[]): Violation[] {
  return files.filter((file) => file.path.endsWith(".ts") && !/^(main\.ts$|src\/cli\/)/.test(file.path)).flatMap(
    (file) =>
      readImports(file)
        .filter((edge) => resolveSpecifier(file.path, edge.specifier ?? "")?.startsWith("src/cli/") === true)
        .map((edge) => ({
          rule: "cli",
          path: file.path,
          line: edge.line,
          message: `Cannot import "${edge.specifier}": only "main.ts" and "src/cli" import the command line`,
        })),
  );
}

/** Each rule with the name under which it is tested on the tree. */
export const LAYERING_CHECKS: readonly {
  readonly name: string;
  readonly check: (files: readonly SourceFile[]) => Violation[];
}[] = [
  { name: "every file lies in a known layer", check: checkLayersKnown },
  { name: "layers import only layers that the table allows", check: checkDependencies },
  { name: "packages are loaded only from their layers", check: checkPackages },
  { name: "kernel layers are pure", check: checkPurity },
  { name: "no file imports itself in a cycle", check: checkCycles },
  { name: "only main.ts imports the command line", check: checkNothingImportsCli },
];
