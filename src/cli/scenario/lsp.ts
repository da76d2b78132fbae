/** `gate lsp`: serves an editor over standard input and output (Language Server Protocol 3.17). */

import { isJsonObject, type JsonObject, type JsonValue, member } from "../../canonical/json.ts";
import { parseJson } from "../../canonical/scan.ts";
import type { Position } from "../../scenario/source_position.ts";
import { CliError } from "../terminal/cli_error.ts";
import { writeOut } from "../terminal/output.ts";
import { completionsAt, layOutText, nameAt, readLanguage } from "./law_language.ts";

/** Maximum bytes of the head of a message. */
export const HEAD_BYTES_MAXIMUM = 4096;
/** Maximum bytes of the body of a message. */
export const BODY_BYTES_MAXIMUM = 4 * 1024 * 1024;
/** Maximum documents that are open. */
const DOCUMENTS_MAXIMUM = 64;

const METHOD_NOT_FOUND = -32601;
const INVALID_PARAMS = -32602;

/** Runs `gate lsp` until the client ends it. Returns 0 after `shutdown`, else 1. */
export async function runLsp(): Promise<number> {
  const server = createLanguageServer((message) => writeOut(frame(message)));
  for await (const message of messagesOf(Deno.stdin.readable)) {
    if (server.receive(message)) break;
  }
  return server.isShutDown() ? 0 : 1;
}

/** A message with its head. */
function frame(message: JsonObject): string {
  const text = JSON.stringify({ jsonrpc: "2.0", ...message });
  return `Content-Length: ${new TextEncoder().encode(text).length}\r\n\r\n${text}`;
}

/**
 * Reads messages.
 *
 * @throws {CliError} `usage` for a head or a body that is no message, or too long
 */
export async function* messagesOf(input: AsyncIterable<Uint8Array>): AsyncGenerator<JsonObject> {
  let rest = new Uint8Array();
  for await (const chunk of input) {
    const joined = new Uint8Array(rest.length + chunk.length);
    joined.set(rest);
    joined.set(chunk, rest.length);
    rest = joined;
    for (let end = headEnd(rest); end >= 0; end = headEnd(rest)) {
      const length = lengthOf(rest.subarray(0, end));
      if (rest.length < end + length) break;
      const parsed = parseJson(new TextDecoder().decode(rest.subarray(end, end + length)));
      if (!parsed.ok || !isJsonObject(parsed.value)) throw invalid("the body is no JSON object");
      rest = rest.slice(end + length);
      yield parsed.value;
    }
    if (headEnd(rest) < 0 && rest.length > HEAD_BYTES_MAXIMUM) throw invalid("the head is too long");
  }
}

/** The offset after the head; -1 while it is not complete. */
function headEnd(bytes: Uint8Array): number {
  const head = new TextDecoder("latin1").decode(bytes.subarray(0, HEAD_BYTES_MAXIMUM));
  const end = head.indexOf("\r\n\r\n");
  return end < 0 ? -1 : end + 4;
}

function lengthOf(head: Uint8Array): number {
  const [, digits] = /(?:^|\r\n)Content-Length: *(\d{1,9})\r\n/i.exec(new TextDecoder("latin1").decode(head)) ?? [];
  const length = Number(digits ?? NaN);
  if (length <= BODY_BYTES_MAXIMUM) return length;
  throw invalid(`expected a Content-Length of at most ${BODY_BYTES_MAXIMUM} bytes`);
}

function invalid(reason: string): CliError {
  return new CliError("usage", `Cannot read the message of the editor: ${reason}`);
}

/** A server that answers messages. */
export interface LanguageServer {
  /** Answers a message; true for the last one. */
  readonly receive: (message: JsonObject) => boolean;
  readonly isShutDown: () => boolean;
}

/** Creates a server. */
export function createLanguageServer(send: (message: JsonObject) => void): LanguageServer {
  const texts = new Map<string, string>();
  let isShutDown = false;
  const open = (uri: string, text: string): void => {
    if (!texts.has(uri) && texts.size >= DOCUMENTS_MAXIMUM) return;
    texts.set(uri, text);
    send({ method: "textDocument/publishDiagnostics", params: { uri, diagnostics: diagnosticsOf(text) } });
  };
  const receive = (message: JsonObject): boolean => {
    const { id, method, params } = message;
    const uri = textAt(params, "textDocument", "uri") ?? "";
    const text = texts.get(uri);
    if (method === "textDocument/didOpen") open(uri, textAt(params, "textDocument", "text") ?? "");
    else if (method === "textDocument/didChange") {
      const [last] = [at(params, "contentChanges")].flat().slice(-1);
      open(uri, textAt(last, "text") ?? "");
    } else if (method === "textDocument/didClose") texts.delete(uri);
    else if (method === "shutdown") isShutDown = true;
    if (id !== undefined && typeof method === "string") send({ id, ...answer(method, params, text) });
    return method === "exit";
  };
  return { receive, isShutDown: () => isShutDown };
}

/** The answer to a request about a text. */
function answer(method: string, params: JsonValue | undefined, text: string | undefined): JsonObject {
  const refuse = (code: number, message: string): JsonObject => ({ error: { code, message } });
  if (method === "initialize") return { result: { capabilities: CAPABILITIES, serverInfo: { name: "gate" } } };
  if (method === "shutdown") return { result: null };
  if (!METHODS.includes(method)) return refuse(METHOD_NOT_FOUND, `Method "${method}" is unknown`);
  if (text === undefined) return refuse(INVALID_PARAMS, "The document is not open");
  if (method === "textDocument/formatting") {
    const formatted = layOutText(text);
    const end = { line: text.split("\n").length, character: 0 };
    const edit = { range: { start: { line: 0, character: 0 }, end }, newText: formatted ?? "" };
    return { result: formatted === null || formatted === text ? [] : [edit] };
  }
  // Lines and columns of editors count from 0.
  const [line, column] = ["line", "character"].map((name) => Number(at(params, "position", name)) + 1);
  const position = { line: line ?? 1, column: column ?? 1 };
  const { names } = readLanguage(text);
  if (method === "textDocument/completion") {
    return {
      result: completionsAt(text, position).map((label) => {
        const sentence = names.get(label)?.split("\n")[0];
        return { label, ...sentence === undefined ? {} : { detail: sentence } };
      }),
    };
  }
  const sentence = names.get(nameAt(text, position));
  return { result: sentence === undefined ? null : { contents: { kind: "plaintext", value: sentence } } };
}

const METHODS = ["textDocument/formatting", "textDocument/completion", "textDocument/hover"];
/** Documents are sent whole with each change. */
const WHOLE = 1;
const CAPABILITIES: JsonObject = {
  textDocumentSync: WHOLE,
  hoverProvider: true,
  completionProvider: { triggerCharacters: [" ", "{"] },
  documentFormattingProvider: true,
};

/** Faults as an editor shows them; none of a text that is empty. */
function diagnosticsOf(text: string): readonly JsonObject[] {
  const lines = text.split("\n");
  return readLanguage(text).problems.map(({ severity, code, message, position }) => ({
    range: rangeAt(lines, position),
    severity: severity === "error" ? 1 : 2,
    code,
    source: "gate",
    message,
  }));
}

/** The word at a position, which counts from 1 there and from 0 in an editor. */
function rangeAt(lines: readonly string[], { line, column }: Position): JsonObject {
  const length = /^(?:[\w.-]+|.)/u.exec((lines[line - 1] ?? "").slice(column - 1))?.[0].length ?? 0;
  const start = { line: line - 1, character: column - 1 };
  return { start, end: { line: line - 1, character: column - 1 + length } };
}

function at(value: JsonValue | undefined, ...names: readonly string[]): JsonValue | undefined {
  return names.reduce<JsonValue | undefined>((one, name) => isJsonObject(one) ? member(one, name) : undefined, value);
}

function textAt(value: JsonValue | undefined, ...names: readonly string[]): string | undefined {
  const found = at(value, ...names);
  return typeof found === "string" ? found : undefined;
}
