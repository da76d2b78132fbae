/**
 * A small reader of TypeScript source for the project's own checks: it masks all but code, and lists what a file
 * imports. It knows the lexical grammar only, so it needs no compiler and reads the whole tree in milliseconds.
 *
 * @module
 */

/** One file of the tree: its path from the root, with forward slashes, and its text. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
}

/** One violation of a rule: its place, and what to do about it. */
export interface Violation {
  readonly rule: string;
  readonly path: string;
  /** Line number from 1; 0 where the whole file is meant. */
  readonly line: number;
  readonly message: string;
}

/** How a file imports another one. `type` does not exist at run time; `worker` starts in another isolate. */
export type ImportKind = "static" | "type" | "dynamic" | "worker";

/** One module that a file imports. */
export interface ImportEdge {
  readonly kind: ImportKind;
  /** The specifier as written, or null where a dynamic import computes it. */
  readonly specifier: string | null;
  readonly line: number;
}

/** Keywords after which a slash starts a regular expression. */
const REGEX_AFTER_WORD = new Set(
  "return typeof case in of new delete void throw else do await yield instanceof extends default".split(" "),
);

interface MaskState {
  readonly text: string;
  readonly out: string[];
  position: number;
  /** For each open `${`: the depth of braces inside it. */
  readonly substitutions: number[];
  lastWord: string;
  lastSignificant: string;
}

/**
 * The text with comments, and the contents of strings, templates and regular expressions, replaced by spaces. Every
 * offset and line stays where it was; quotes stay, and `${` and `}` of a template become plain braces.
 */
export function maskSource(text: string): string {
  const state: MaskState = { text, out: [], position: 0, substitutions: [], lastWord: "", lastSignificant: "" };
  while (state.position < text.length) maskNext(state);
  return state.out.join("");
}

function maskNext(state: MaskState): void {
  const { text, position, substitutions } = state;
  const char = text.charAt(position);
  const next = text.charAt(position + 1);
  if (char === "/" && next === "/") return blankTo(state, endOf(text, "\n", position));
  if (char === "/" && next === "*") return blankTo(state, endOf(text, "*/", position + 2) + 2);
  if (char === '"' || char === "'") return maskString(state, char);
  if (char === "`") {
    keep(state, "`");
    return maskTemplate(state);
  }
  if (char === "/" && startsRegex(state)) return maskRegex(state);
  const word = /^[\p{ID_Start}$_][\p{ID_Continue}$]*/u.exec(text.slice(position, position + 80))?.[0];
  if (word !== undefined) return keepWord(state, word);
  const depth = substitutions.at(-1);
  if (depth !== undefined && char === "{") substitutions[substitutions.length - 1] = depth + 1;
  if (depth !== undefined && char === "}") {
    keep(state, "}");
    if (depth > 0) {
      substitutions[substitutions.length - 1] = depth - 1;
      return;
    }
    substitutions.pop();
    return maskTemplate(state);
  }
  keep(state, char);
}

function keep(state: MaskState, char: string): void {
  state.out.push(char);
  state.position += 1;
  if (char.trim() === "") return;
  state.lastSignificant = char;
  state.lastWord = "";
}

function keepWord(state: MaskState, word: string): void {
  const member = state.lastSignificant === ".";
  state.out.push(word);
  state.position += word.length;
  state.lastSignificant = "a";
  state.lastWord = member ? "" : word;
}

function endOf(text: string, mark: string, from: number): number {
  const end = text.indexOf(mark, from);
  return end === -1 ? text.length : end;
}

function blankTo(state: MaskState, end: number): void {
  const stop = Math.min(end, state.text.length);
  state.out.push(state.text.slice(state.position, stop).replace(/[^\n]/g, " "));
  state.position = stop;
}

function maskString(state: MaskState, quote: string): void {
  keep(state, quote);
  let end = state.position;
  while (end < state.text.length && state.text[end] !== quote && state.text[end] !== "\n") {
    end += state.text[end] === "\\" ? 2 : 1;
  }
  blankTo(state, end);
  if (state.text[state.position] === quote) keep(state, quote);
}

function maskTemplate(state: MaskState): void {
  let end = state.position;
  while (end < state.text.length && state.text[end] !== "`" && !state.text.startsWith("${", end)) {
    end += state.text[end] === "\\" ? 2 : 1;
  }
  blankTo(state, end);
  if (state.text[state.position] === "`") return keep(state, "`");
  if (state.position >= state.text.length) return;
  blankTo(state, state.position + 1);
  keep(state, "{");
  state.substitutions.push(0);
}

function startsRegex(state: MaskState): boolean {
  if (state.lastWord !== "") return REGEX_AFTER_WORD.has(state.lastWord);
  return !/[\w$)\]}"'`]/.test(state.lastSignificant);
}

function maskRegex(state: MaskState): void {
  keep(state, "/");
  let end = state.position;
  let inClass = false;
  while (end < state.text.length && state.text[end] !== "\n" && (inClass || state.text[end] !== "/")) {
    if (state.text[end] === "[") inClass = true;
    if (state.text[end] === "]") inClass = false;
    end += state.text[end] === "\\" ? 2 : 1;
  }
  blankTo(state, end);
  if (state.text[state.position] === "/") keep(state, "/");
  state.lastSignificant = ")";
}

/** The line number, from 1, of an offset. */
export function lineAt(text: string, offset: number): number {
  let line = 1;
  for (let at = text.indexOf("\n"); at !== -1 && at < offset; at = text.indexOf("\n", at + 1)) line += 1;
  return line;
}

/** The contents of the string literal that opens at an offset of the text. */
function literalAt(text: string, quoteOffset: number): string {
  const quote = text.charAt(quoteOffset);
  return text.slice(quoteOffset + 1, text.indexOf(quote, quoteOffset + 1));
}

const STATIC_IMPORT = /\b(?:import|export)\s+(type\s+(?!from\b))?(?:[\w$*\s{},]*?\bfrom\s*)?(["'])/g;
const DYNAMIC_IMPORT = /(?<![.\w$])import\s*\(\s*(["']?)/g;
const WORKER_URL = /\bnew\s+URL\s*\(\s*(["'])\s*\1\s*,\s*import\.meta\.url/g;

/** Every module that a file names, in order: imports, re-exports, dynamic imports and `new URL("./x.ts", import.meta.url)`. */
export function readImports(file: SourceFile): ImportEdge[] {
  const code = maskSource(file.text);
  const edges: { readonly offset: number; readonly edge: ImportEdge }[] = [];
  const add = (kind: ImportKind, offset: number, specifier: string | null): void => {
    edges.push({ offset, edge: { kind, specifier, line: lineAt(code, offset) } });
  };
  for (const match of code.matchAll(STATIC_IMPORT)) {
    const quote = match.index + match[0].length - 1;
    add(match[1] === undefined ? "static" : "type", match.index, literalAt(file.text, quote));
  }
  for (const match of code.matchAll(DYNAMIC_IMPORT)) {
    const quote = match.index + match[0].length - 1;
    add("dynamic", match.index, match[1] === "" ? null : literalAt(file.text, quote));
  }
  for (const match of code.matchAll(WORKER_URL)) {
    const specifier = literalAt(file.text, code.indexOf(match[1] ?? '"', match.index));
    if (specifier.endsWith(".ts")) add("worker", match.index, specifier);
  }
  return edges.sort((a, b) => a.offset - b.offset).map((entry) => entry.edge);
}

/**
 * The path from the root that a specifier of a file means. It is null for a specifier outside the tree (a package, a
 * built-in module).
 */
export function resolveSpecifier(fromPath: string, specifier: string): string | null {
  if (specifier.startsWith("@/")) return `src/${specifier.slice(2)}`;
  if (!specifier.startsWith(".")) return null;
  const parts = fromPath.split("/").slice(0, -1);
  for (const part of specifier.split("/")) {
    if (part === "..") parts.pop();
    else if (part !== ".") parts.push(part);
  }
  return parts.join("/");
}
