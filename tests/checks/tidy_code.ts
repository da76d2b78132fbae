/**
 * Rules on the code of single files: functions, exports, names, docstrings and the console.
 *
 * @module
 */

import { isTest } from "./layering.ts";
import { lineAt, maskSource, type SourceFile, type Violation } from "./source.ts";

/** A function is read on one screen. */
export const FUNCTION_LINES_MAX = 70;

/** Keywords that look like a call before a block. */
const CONTROL_WORDS = new Set(["if", "for", "while", "switch", "catch", "with", "return", "await", "super", "do"]);

/** The offsets at which a function starts and ends. */
interface FunctionSpan {
  readonly start: number;
  readonly end: number;
}

/** Finds every function with a body in braces in masked code: declarations, methods and arrow functions. */
export function findFunctions(code: string): FunctionSpan[] {
  const closing = matchBrackets(code);
  const spans: FunctionSpan[] = [];
  for (const match of code.matchAll(/=>\s*\{/g)) {
    const open = match.index + match[0].length - 1;
    const end = closing.get(open);
    if (end !== undefined) spans.push({ start: match.index, end });
  }
  for (const match of code.matchAll(/([\w$]+)\s*(?:<[^(){};]*>)?\s*\(/g)) {
    if (CONTROL_WORDS.has(match[1] ?? "")) continue;
    const close = closing.get(match.index + match[0].length - 1);
    const open = close === undefined ? undefined : bodyAfter(code, close + 1, closing);
    const end = open === undefined ? undefined : closing.get(open);
    if (end !== undefined) spans.push({ start: match.index, end });
  }
  return spans.sort((a, b) => a.start - b.start);
}

/** The offset of the closing bracket for each opening bracket of masked code. */
function matchBrackets(code: string): Map<number, number> {
  const pairs = new Map<number, number>();
  const open: number[] = [];
  for (let at = 0; at < code.length; at += 1) {
    const char = code.charAt(at);
    if ("([{".includes(char)) open.push(at);
    if (")]}".includes(char)) {
      const start = open.pop();
      if (start !== undefined) pairs.set(start, at);
    }
  }
  return pairs;
}

/**
 * Finds the opening brace of a function body after the parameters, or undefined. A return type may stand between them. A
 * brace after a token that expects a type opens an object type, not the body.
 */
function bodyAfter(code: string, from: number, closing: Map<number, number>): number | undefined {
  let at = skipSpace(code, from);
  if (code[at] === "{") return at;
  if (code[at] !== ":") return undefined;
  let waiting = true;
  at += 1;
  while (at < code.length) {
    at = skipSpace(code, at);
    const char = code.charAt(at);
    if (char === "{" && !waiting) return at;
    const word = /^[\w$.]+/.exec(code.slice(at, at + 80))?.[0];
    if (word !== undefined) {
      waiting = ["keyof", "typeof", "is", "asserts", "readonly", "extends", "infer", "unique"].includes(word);
      at += word.length;
    } else if ("([{".includes(char)) {
      at = (closing.get(at) ?? code.length) + 1;
      waiting = false;
    } else if ("|&<,?:".includes(char) || code.startsWith("=>", at)) {
      waiting = true;
      at += code.startsWith("=>", at) ? 2 : 1;
    } else if (">\"'`".includes(char)) {
      waiting = false;
      at += 1;
    } else return undefined;
  }
  return undefined;
}

function skipSpace(code: string, from: number): number {
  let at = from;
  while (/\s/.test(code.charAt(at))) at += 1;
  return at;
}

/** No function is longer than a screen. */
export function checkFunctionLength(files: readonly SourceFile[]): Violation[] {
  return files.filter((file) => file.path.endsWith(".ts")).flatMap((file) => {
    const code = maskSource(file.text);
    return findFunctions(code).flatMap(({ start, end }) => {
      const line = lineAt(code, start);
      const lines = lineAt(code, end) - line + 1;
      if (lines <= FUNCTION_LINES_MAX) return [];
      const message = `Cannot accept a function of ${lines} lines: ${FUNCTION_LINES_MAX} is the limit`;
      return [{ rule: "function length", path: file.path, line, message }];
    });
  });
}

/** One declaration that a module exports. */
interface ExportedDeclaration {
  readonly name: string;
  readonly offset: number;
  readonly typeOnly: boolean;
  readonly constant: boolean;
}

const EXPORT = new RegExp(
  String.raw`^export\s+(?:default\s+)?(?:declare\s+)?(?:abstract\s+)?(?:async\s+)?` +
    String.raw`(function\*?|class|const|let|interface|type|enum|namespace)\s+([\w$]+)`,
  "gm",
);

/** The declarations that masked code exports at its top level, without re-exports. */
export function findExports(code: string): ExportedDeclaration[] {
  return [...code.matchAll(EXPORT)].map((match) => ({
    name: match[2] ?? "",
    offset: match.index,
    typeOnly: match[1] === "interface" || match[1] === "type",
    constant: match[1] === "const" || match[1] === "let",
  }));
}

/** Exported functions, classes and types of `src` have a docstring above them. */
export function checkDocstrings(files: readonly SourceFile[]): Violation[] {
  return sourceModules(files).flatMap((file) => {
    const documented = new Set<string>();
    return findExports(maskSource(file.text)).filter(({ constant }) => !constant).flatMap(({ name, offset }) => {
      const above = file.text.slice(0, offset).replace(/(^|\n)\/\/ deno-lint-ignore[^\n]*\n$/, "$1");
      if (documented.has(name)) return [];
      documented.add(name);
      if (endsInDocstring(above)) return [];
      const message = `Cannot export "${name}" without a docstring: write what it is for in a block above it`;
      return [{ rule: "docstrings", path: file.path, line: lineAt(file.text, offset), message }];
    });
  });
}

function endsInDocstring(above: string): boolean {
  // A blank line stands between the docstring of a module and what follows.
  if (!above.endsWith("*/\n")) return false;
  const block = above.slice(above.lastIndexOf("/*"));
  return block.startsWith("/**") && !/@module\b/.test(block) && /[\p{L}]{2}/u.test(block);
}

/** The modules of the program in `src`, without tests. */
export function sourceModules(files: readonly SourceFile[]): SourceFile[] {
  return files.filter((file) => file.path.startsWith("src/") && file.path.endsWith(".ts") && !isTest(file.path));
}

/** Short forms of words that are written out in names. */
export const SHORT_FORMS = (
  "arr attr btn buf cb cfg cnt conf ctx curr desc elem err evt fn func helper helpers idx impl len mgr misc msg " +
  "num obj opts param pkg pos prev proc ptr repo req res resp ret sig srv str svc tmp util utils val var"
).split(" ");

/** The words of a name in any case style, in lower case. */
export function wordsOf(name: string): string[] {
  return name.replace(/([a-z0-9])([A-Z])/g, "$1_$2").toLowerCase().split(/[_$.\d-]+/).filter((word) => word !== "");
}

/** Exported names are written out. */
export function checkExportedNames(files: readonly SourceFile[]): Violation[] {
  return sourceModules(files).flatMap((file) =>
    findExports(maskSource(file.text)).flatMap(({ name, offset }) => {
      const short = wordsOf(name).find((word) => SHORT_FORMS.includes(word));
      if (short === undefined) return [];
      const message = `Cannot export "${name}": "${short}" is a short form, write the word out`;
      return [{ rule: "exported names", path: file.path, line: lineAt(file.text, offset), message }];
    })
  );
}

/** Another file or a documentation example uses each export. Any other export needs no `export`, or is dead. */
export function checkExportsUsed(files: readonly SourceFile[]): Violation[] {
  const namedBy = new Map<string, Set<string>>();
  for (const file of files) {
    const code = file.path.endsWith(".ts") ? maskSource(file.text) : file.path.endsWith(".md") ? file.text : "";
    for (const [name] of code.matchAll(/[\w$]+/g)) addTo(namedBy, name, file.path);
    for (const [line] of file.text.matchAll(/^ \* import \{[^}]*\} from "@\/.*$/gm)) {
      for (const [name] of line.matchAll(/[\w$]+/g)) addTo(namedBy, name, `an example of ${file.path}`);
    }
  }
  return sourceModules(files).flatMap((file) =>
    findExports(maskSource(file.text)).flatMap(({ name, offset, typeOnly }) => {
      if (typeOnly || (namedBy.get(name)?.size ?? 0) > 1) return [];
      const message = `Cannot export "${name}": no other file names it`;
      return [{ rule: "exports used", path: file.path, line: lineAt(file.text, offset), message }];
    })
  );
}

function addTo(sets: Map<string, Set<string>>, key: string, value: string): void {
  const set = sets.get(key);
  if (set === undefined) sets.set(key, new Set([value]));
  else set.add(value);
}

/** Only the command line writes to the console: elsewhere standard output belongs to the protocol. */
export function checkConsole(files: readonly SourceFile[]): Violation[] {
  return sourceModules(files).filter((file) => !file.path.startsWith("src/cli/")).flatMap((file) => {
    const code = maskSource(file.text);
    return [...code.matchAll(/(?<![.\w$])console\s*[.[]/g)].map((match) => ({
      rule: "console",
      path: file.path,
      line: lineAt(code, match.index),
      message: `Cannot use "console": only "src/cli" writes to the terminal`,
    }));
  });
}
