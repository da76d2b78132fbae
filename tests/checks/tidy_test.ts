import assert from "node:assert/strict";
import type { SourceFile, Violation } from "./source.ts";
import { TIDY_CHECKS } from "./tidy.ts";
import {
  checkConsole,
  checkDocstrings,
  checkExportedNames,
  checkExportsUsed,
  checkFunctionLength,
  findFunctions,
  FUNCTION_LINES_MAX,
  wordsOf,
} from "./tidy_code.ts";
import {
  checkDeadFiles,
  checkFileNames,
  checkFolderSizes,
  checkKernelTested,
  checkLineLength,
  checkTopLevel,
  FOLDER_MODULES_MAX,
  LINE_CHARACTERS_MAX,
} from "./tidy_files.ts";
import { checkNativeJson, NATIVE_JSON } from "./tidy_json.ts";
import { checkWords, findWords } from "./tidy_words.ts";
import { formatViolations, isIgnored, readTree, ROOT_URL } from "./tree.ts";

const tree = await readTree();

for (const { name, check } of TIDY_CHECKS) {
  Deno.test(`the tree: ${name}`, () => {
    const violations = check(tree);
    assert.equal(violations.length, 0, formatViolations(violations));
  });
}

Deno.test("the history: no word speaks of how or where the project was written", async () => {
  if (!await Deno.stat(new URL(".git", ROOT_URL)).then(() => true, () => false)) return;
  const git = new Deno.Command("git", { args: ["log", "--format=%B"], cwd: ROOT_URL });
  const { success, stdout } = await git.output();
  assert.ok(success);
  const found = findWords(new TextDecoder().decode(stdout));
  assert.deepEqual(found.map(({ word, advice }) => `"${word}": ${advice}`), []);
});

const body = (lines: number): string => "{\n" + "  f();\n".repeat(lines - 2) + "}";
const lines = (count: number): string => "a\n".repeat(count);
const DOC = "/** What it is for. */\n";

type Check = (files: readonly SourceFile[]) => Violation[];
type Row = readonly [check: Check, what: string, path: string, text: string, outcome: "passes" | "refused"];

const ROWS: readonly Row[] = [
  [checkTopLevel, "source", "src/law/a.ts", "", "passes"],
  [checkTopLevel, "readme", "README.md", "", "passes"],
  [checkTopLevel, "licence", "LICENSE", "", "passes"],
  [checkTopLevel, "another folder", "lib/a.ts", "", "refused"],
  [checkTopLevel, "another file", "package.json", "", "refused"],

  [checkLineLength, "at the limit", "src/a.ts", "a".repeat(LINE_CHARACTERS_MAX), "passes"],
  [checkLineLength, "one above", "src/a.ts", "a".repeat(LINE_CHARACTERS_MAX + 1), "refused"],

  [checkFunctionLength, "at the limit", "src/a.ts", `function f(): void ${body(FUNCTION_LINES_MAX)}`, "passes"],
  [checkFunctionLength, "one above", "src/a.ts", `function f(): void ${body(FUNCTION_LINES_MAX + 1)}`, "refused"],
  [checkFunctionLength, "a method", "src/a.ts", `class A { f(): void ${body(FUNCTION_LINES_MAX + 1)} }`, "refused"],
  [checkFunctionLength, "an arrow", "src/a.ts", `const f = () => ${body(FUNCTION_LINES_MAX + 1)};`, "refused"],
  [checkFunctionLength, "a long object", "src/a.ts", `const a = ${body(FUNCTION_LINES_MAX + 1)};`, "passes"],
  [checkFunctionLength, "a long interface", "src/a.ts", `interface A ${body(FUNCTION_LINES_MAX + 1)}`, "passes"],
  [checkFunctionLength, "a long text", "src/a.ts", "const a = `() => {" + lines(90) + "}`;", "passes"],

  [checkFileNames, "snake case", "src/law/normal_form.ts", "", "passes"],
  [checkFileNames, "a test", "src/law/normal_form_test.ts", "", "passes"],
  [checkFileNames, "two dots", "tests/vectors/a.snap.json", "", "passes"],
  [checkFileNames, "readme", "docs/README.md", "", "passes"],
  [checkFileNames, "camel case", "src/law/normalForm.ts", "", "refused"],
  [checkFileNames, "dashes", "docs/normal-form.md", "", "refused"],
  [checkFileNames, "a folder with dashes", "docs/the-form/a.md", "", "refused"],
  [checkFileNames, "a short form", "src/law/ctx.ts", "", "refused"],
  [checkFileNames, "a short form inside", "src/law/string_utils.ts", "", "refused"],
  [checkFileNames, "an empty name", "src/law/common.ts", "", "refused"],

  [checkExportedNames, "written out", "src/law/a.ts", "export function contextOf() {}", "passes"],
  [checkExportedNames, "a short form", "src/law/a.ts", "export function makeCtx() {}", "refused"],
  [checkExportedNames, "a short form in capitals", "src/law/a.ts", "export const MSG_MAX = 1;", "refused"],
  [checkExportedNames, "a short form of a type", "src/law/a.ts", "export interface StoreCfg {}", "refused"],
  [checkExportedNames, "a short form kept inside", "src/law/a.ts", "const idx = 1;", "passes"],
  [checkExportedNames, "a word that begins like one", "src/law/a.ts", "export const errors = 1;", "passes"],

  [checkDocstrings, "documented", "src/law/a.ts", `${DOC}export const a = 1;`, "passes"],
  [
    checkDocstrings,
    "after a lint directive",
    "src/law/a.ts",
    `${DOC}// deno-lint-ignore x\nexport const a = 1;`,
    "passes",
  ],
  [checkDocstrings, "a bare constant", "src/law/a.ts", "export const a = 1;", "passes"],
  [checkDocstrings, "a bare function", "src/law/a.ts", "export function a() {}", "refused"],
  [checkDocstrings, "a bare interface", "src/law/a.ts", `${DOC}const b = 1;\nexport interface A {}`, "refused"],
  [checkDocstrings, "a bare async function", "src/law/a.ts", "export async function a() {}", "refused"],
  [checkDocstrings, "a plain comment", "src/law/a.ts", "/* What it is for. */\nexport function a() {}", "refused"],
  [checkDocstrings, "an empty block", "src/law/a.ts", "/** */\nexport function a() {}", "refused"],
  [
    checkDocstrings,
    "only the module's own",
    "src/law/a.ts",
    "/** Rules. */\n\nexport function a() {}",
    "refused",
  ],
  [checkDocstrings, "a re-export", "src/law/a.ts", `export { a } from "./b.ts";`, "passes"],
  [checkDocstrings, "overloads", "src/law/a.ts", `${DOC}export function a(b: 1): 1;\nexport function a() {}`, "passes"],
  [checkDocstrings, "a fixture", "src/law/a_fixture.ts", "export function a() {}", "passes"],
  [checkDocstrings, "a test", "src/law/a_test.ts", "export const a = 1;", "passes"],

  [checkConsole, "in the kernel", "src/law/a.ts", `console.log("a");`, "refused"],
  [checkConsole, "by index", "src/law/a.ts", `console["log"]("a");`, "refused"],
  [checkConsole, "in a comment", "src/law/a.ts", `// console.log("a");`, "passes"],
  [checkConsole, "in the command line", "src/cli/a.ts", `console.log("a");`, "passes"],

  [checkNativeJson, "a parse", "src/tools/a.ts", "const a = JSON.parse(b);", "refused"],
  [checkNativeJson, "a parse handed on", "src/tools/a.ts", "const a = b.map(JSON.parse);", "refused"],
  [checkNativeJson, "a parse in pieces", "src/tools/a.ts", "const a = JSON\n  .parse(b);", "refused"],
  [checkNativeJson, "a parse by index", "src/tools/a.ts", `const a = JSON["parse"](b);`, "refused"],
  [checkNativeJson, "a parse taken out", "src/tools/a.ts", "const { parse } = JSON;", "refused"],
  [checkNativeJson, "a body", "src/evidence/a.ts", "const a = await response.json();", "refused"],
  [checkNativeJson, "a parse in the kernel", "src/run/a.ts", "const a = JSON.parse(b);", "refused"],
  [checkNativeJson, "the readers", "src/canonical/a.ts", "const a = JSON.parse(b);", "passes"],
  [checkNativeJson, "a text", "src/tools/a.ts", "const a = JSON.stringify(b);", "passes"],
  [checkNativeJson, "a comment", "src/tools/a.ts", "// JSON.parse(a)\nconst JSONRPC = a.JSON;", "passes"],
  [checkNativeJson, "a test", "src/tools/a_test.ts", "const a = JSON.parse(b);", "passes"],
  [checkNativeJson, "as listed", "src/scenario/source_position.ts", "JSON.parse(a);", "passes"],
  [
    checkNativeJson,
    "one more than listed",
    "src/scenario/source_position.ts",
    "JSON.parse(a); JSON.parse(b);",
    "refused",
  ],
  [checkNativeJson, "one less than listed", "src/scenario/source_position.ts", "readJson(a);", "refused"],
];

for (
  const [path, modules, violations] of [
    ["src/law/a", FOLDER_MODULES_MAX, 0],
    ["src/law/a", FOLDER_MODULES_MAX + 1, 1],
    ["tests/e2e/a", FOLDER_MODULES_MAX, 0],
    ["tests/e2e/a", FOLDER_MODULES_MAX + 1, 1],
  ] as const
) {
  Deno.test(`checkFolderSizes() ${modules} modules as ${path}: ${violations} violations`, () => {
    const files = Array.from({ length: modules }, (_, index) => ({ path: `${path}${index}.ts`, text: "" }));
    const tests = files.map(({ path, text }) => ({ path: path.replace(".ts", "_test.ts"), text }));
    assert.equal(checkFolderSizes(path.startsWith("src/") ? [...files, ...tests] : files).length, violations);
  });
}

for (const [check, what, path, text, outcome] of ROWS) {
  Deno.test(`${check.name}() ${what}: ${outcome}`, () => {
    assert.equal(check([{ path, text }]).length > 0 ? "refused" : "passes", outcome);
  });
}

Deno.test("every module that is listed as parsing JSON natively is there", () => {
  const paths = new Set(tree.map(({ path }) => path));
  assert.deepEqual(NATIVE_JSON.filter(({ path }) => !paths.has(path)), []);
  for (const { path, reason } of NATIVE_JSON) assert.ok(reason !== "", path);
});

const FUNCTIONS: readonly (readonly [code: string, count: number])[] = [
  ["function f() {}", 1],
  ["function f(a: { b: 1 }): { c: 1 } { return a; }", 1],
  ["function f(a: A): a is B | { c: 1 } {}", 1],
  ["async function* f<T>(a: T): AsyncGenerator<{ a: T }> {}", 1],
  ["class A { get a(): number { return 1; } set(b: B) {} constructor() { super(); } }", 3],
  ["const f = async (a) => { g(() => {}); };", 2],
  ["if (a) {} for (const b of c) {} while (d) {} switch (e) {} try {} catch (f) {}", 0],
  ["const a = b ? c(d) : { e: 1 };", 0],
  ["declare function f(): void;", 0],
];

for (const [code, count] of FUNCTIONS) {
  Deno.test(`findFunctions() finds ${count} in ${code}`, () => assert.equal(findFunctions(code).length, count));
}

Deno.test("wordsOf() splits names of every case style", () => {
  assert.deepEqual(["storeCfg", "MSG_MAX", "string_utils", "Ed25519Key"].map(wordsOf), [
    ["store", "cfg"],
    ["msg", "max"],
    ["string", "utils"],
    ["ed", "key"],
  ]);
});

Deno.test("checkExportsUsed() refuses what no other file names, and takes tests, examples and pages for users", () => {
  const names = ["used", "tested", "shown", "paged", "commented", "alone"];
  const text = names.map((name) => `export const ${name} = 1;\nuse(${name});`).join("\n");
  const violations = checkExportsUsed([
    {
      path: "src/law/a.ts",
      text: `/**\n * import { shown } from "@/law/a.ts";\n */\n${text}\nexport interface Alone {}`,
    },
    { path: "src/law/b.ts", text: `import { used } from "./a.ts";\n// commented\nuse("commented");` },
    { path: "src/law/a_test.ts", text: `const { tested } = await import("./a.ts");` },
    { path: "docs/page.md", text: "`paged` is there" },
  ]);
  assert.deepEqual(violations.map((entry) => entry.message), [
    'Cannot export "commented": no other file names it',
    'Cannot export "alone": no other file names it',
  ]);
});

Deno.test("checkDeadFiles() refuses what only a test reaches, and keeps workers, types and lazy modules", () => {
  const violations = checkDeadFiles([
    { path: "main.ts", text: `import { main } from "./src/cli/main.ts";` },
    {
      path: "src/cli/main.ts",
      text: `const a = await import("../law/lazy.ts");\nimport type { B } from "../law/b.ts";`,
    },
    { path: "src/law/lazy.ts", text: `new Worker(new URL("./worker.ts", import.meta.url));` },
    { path: "src/law/worker.ts", text: "" },
    { path: "src/law/b.ts", text: "" },
    { path: "src/law/dead.ts", text: "" },
    { path: "src/law/dead_test.ts", text: `import { a } from "./dead.ts";` },
  ]);
  assert.deepEqual(violations.map((entry) => entry.path), ["src/law/dead.ts"]);
});

Deno.test("checkKernelTested() wants a test, an example, or a tested module that it is a part of", () => {
  const code = "export const a = 1;";
  const violations = checkKernelTested([
    { path: "src/law/tested.ts", text: `import { a } from "./part.ts";\n${code}` },
    { path: "src/law/tested_test.ts", text: `import { a } from "./tested.ts";` },
    { path: "src/law/part.ts", text: `import { a } from "./part_of_part.ts";\n${code}` },
    { path: "src/law/part_of_part.ts", text: `import { a } from "../canonical/other_room.ts";\n${code}` },
    { path: "src/canonical/other_room.ts", text: code },
    { path: "src/law/untested.ts", text: `import { a } from "./part.ts";\n${code}` },
    { path: "src/law/example.ts", text: `/**\n * import { a } from "@/law/example.ts";\n */\n${code}` },
    { path: "src/law/types.ts", text: "export interface A {}" },
    { path: "src/store/not_kernel.ts", text: code },
  ]);
  assert.deepEqual(violations.map((entry) => entry.path), ["src/canonical/other_room.ts", "src/law/untested.ts"]);
});

/** An example without its "~", which keeps it from being found in this file. */
const whole = (text: string): string => text.replaceAll("~", "");

const WORDS: readonly (readonly [text: string, found: readonly string[]])[] = [
  ["An agent asks gate through its MCP client.", []],
  ["Co-auth~ored-by: somebody", ["Co-auth~ored-by"]],
  ["Signed-~off-by: somebody", ["Signed-~off-by"]],
  ["// TO~DO: later", ["TO~DO"]],
  ["a to-do list of hacks", []],
  ["this comes in a la~ter issue", ["a la~ter issue"]],
  ["cd /ho~me/me/gate", ["/ho~me/"]],
  ["cd /opt/gate; a home/page", []],
];

for (const [text, found] of WORDS) {
  Deno.test(`findWords() in: ${text}`, () =>
    assert.deepEqual(findWords(whole(text)).map(({ word }) => word), found.map(whole)));
}

Deno.test("findWords() rejects a private dialect in product code and pages alone", () => {
  const text = "// Whoever asks is told.";
  for (const path of ["src/law/a.ts", "docs/guide/a.md", "README.md"]) {
    assert.deepEqual(findWords(text, path).map(({ word }) => word), ["Whoever", "told"]);
  }
  for (const path of ["", "src/law/a_test.ts", "tests/checks/a.ts"]) assert.deepEqual(findWords(text, path), []);
});

Deno.test("findWords() gives the line and what to do", () => {
  assert.deepEqual(findWords(whole("a\nb\nTO~DO")), [
    { word: whole("TO~DO"), line: 3, advice: "Open an issue and remove the remark" },
  ]);
});

Deno.test("checkWords() reads its own rules and tests, and not the lock", () => {
  const text = whole("TO~DO");
  for (const path of ["tests/checks/tidy_words.ts", "tests/checks/tidy_test.ts", ".gitignore", "README.md"]) {
    assert.deepEqual(checkWords([{ path, text }]).map((entry) => entry.path), [path]);
  }
  assert.deepEqual(checkWords([{ path: "deno.lock", text }]), []);
});

const IGNORED_PATHS: readonly [string, boolean][] = [
  [".gate", true],
  ["gate.toml", true],
  ["release.runpack", true],
  ["src/.gate", false],
  ["docs/examples/pipelines/.gate", true],
  ["docs/examples/pipelines/summary.md", true],
  ["docs/examples/pipelines/README.md", false],
  ["docs/examples/agent_hooks/reports", true],
  ["docs/examples/pipelines/x/release.runpack", false],
];

for (const [path, expected] of IGNORED_PATHS) {
  Deno.test(`isIgnored(): what the commands of the pages write is no part of the tree, ${path}: ${expected}`, async () => {
    assert.equal(isIgnored(await Deno.readTextFile(new URL(".gitignore", ROOT_URL)), path), expected);
  });
}
