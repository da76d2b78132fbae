/** `gate lsp` as an editor drives it: the client package of VS Code, over standard input and output. */

import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import {
  createProtocolConnection,
  type Diagnostic,
  type ProtocolConnection,
  StreamMessageReader,
  StreamMessageWriter,
} from "../../packages/language_client.ts";
import { readLawText } from "@/scenario/law_file.ts";
import { gateArgs, processOf } from "../gate_command.ts";

const URI = "file:///release.yaml";
const DOCUMENT = { textDocument: { uri: URI } };
const LAW = `law: release
evidence:
  tests_failed: count
  coverage:   percent # of lines
stages:
  ship: tests_failed == 0 && coverage >= 80
`;

/** An editor with a server in a process of its own. */
class Editor {
  readonly #process: ChildProcess;
  readonly #connection: ProtocolConnection;
  #version = 0;
  #received: (diagnostics: readonly Diagnostic[]) => void = () => {};

  constructor() {
    const { command, args } = processOf(gateArgs("lsp"));
    const server = this.#process = spawn(command, [...args], { stdio: ["pipe", "pipe", "inherit"] });
    assert.ok(server.stdout !== null && server.stdin !== null);
    this.#connection = createProtocolConnection(
      new StreamMessageReader(server.stdout),
      new StreamMessageWriter(server.stdin),
    );
    this.#connection.onNotification(
      "textDocument/publishDiagnostics",
      ({ diagnostics }: { readonly diagnostics: readonly Diagnostic[] }) => this.#received(diagnostics),
    );
    this.#connection.listen();
  }

  async start(): Promise<Readonly<Record<string, unknown>>> {
    const params = { processId: null, rootUri: null, capabilities: {} };
    const { capabilities } = await this.request<{ capabilities: Record<string, unknown> }>("initialize", params);
    await this.#connection.sendNotification("initialized", {});
    return capabilities;
  }

  request<Result>(method: string, params: object = {}): Promise<Result> {
    return this.#connection.sendRequest<Result>(method, params);
  }

  /** What the server finds in a text, opened first and changed afterwards. */
  async diagnostics(text: string): Promise<readonly Diagnostic[]> {
    this.#version += 1;
    const textDocument = { uri: URI, version: this.#version, languageId: "yaml", text };
    const found = new Promise<readonly Diagnostic[]>((resolve) => this.#received = resolve);
    if (this.#version === 1) await this.#connection.sendNotification("textDocument/didOpen", { textDocument });
    else {
      const changed = { uri: URI, version: this.#version };
      const change = { textDocument: changed, contentChanges: [{ text }] };
      await this.#connection.sendNotification("textDocument/didChange", change);
    }
    return await found;
  }

  async completions(line: number, character: number): Promise<readonly string[]> {
    const position = { line, character };
    const items = await this.request<{ label: string }[]>("textDocument/completion", { ...DOCUMENT, position });
    return items.map(({ label }) => label);
  }

  async end(): Promise<number | null> {
    await this.#connection.sendRequest("shutdown");
    const ended = once(this.#process, "exit");
    await this.#connection.sendNotification("exit");
    const [code] = await ended;
    this.#connection.dispose();
    this.#process.stdin?.destroy();
    this.#process.stdout?.destroy();
    return code;
  }
}

async function withEditor(work: (editor: Editor) => Promise<void>): Promise<void> {
  const editor = new Editor();
  let code: number | null = null;
  try {
    const capabilities = await editor.start();
    assert.deepEqual(Object.keys(capabilities).sort(), [
      "completionProvider",
      "documentFormattingProvider",
      "hoverProvider",
      "textDocumentSync",
    ]);
    await work(editor);
  } finally {
    code = await editor.end();
  }
  assert.equal(code, 0);
}

Deno.test("an editor sees faults, sentences and the layout of a law file", () =>
  withEditor(async (editor) => {
    assert.deepEqual((await editor.diagnostics(LAW)).filter(({ severity }) => severity === 1), []);
    const [fault] = await editor.diagnostics(LAW.replace("tests_failed == 0", "tests_faled == 0"));
    assert.deepEqual(fault, {
      range: { start: { line: 5, character: 8 }, end: { line: 5, character: 19 } },
      severity: 1,
      code: "name_unknown",
      source: "gate",
      message: 'Name "tests_faled" is not declared; did you mean "tests_failed"?',
    });
    await editor.diagnostics(LAW);
    const hover = (line: number, character: number): Promise<unknown> =>
      editor.request("textDocument/hover", { ...DOCUMENT, position: { line, character } });
    assert.deepEqual(await hover(5, 30), {
      contents: { kind: "plaintext", value: "Evidence: percent\ncoverage >= 80" },
    });
    assert.deepEqual(await hover(5, 3), {
      contents: { kind: "plaintext", value: "Stage: coverage >= 80 && tests_failed == 0" },
    });
    assert.equal(await hover(0, 1), null);
    const options = { tabSize: 2, insertSpaces: true };
    const [edit] = await editor.request<{ newText: string }[]>("textDocument/formatting", { ...DOCUMENT, options });
    assert.match(edit?.newText ?? "", /^ {2}coverage: percent # of lines$/m);
    await assert.rejects(editor.request("workspace/symbol", { query: "" }), { code: -32601 });
  }));

const TYPES = ["text", "integer", "count", "decimal", "percent", "boolean", "time", "sha256", "json"];
const LINES = ["json", "rest", "header", "http", "body_hash", "env", "after", "before", "window", "trigger_time"];
const FUNCTIONS = ["at_least", "all", "any", "present", "absent", "lex", "deep", "timestamp", "json", "duration"];
const MEMBERS = ["type", "id", "bindings", "from", "within", "signed_by", "waits", "quorum", "any", "policy"];
const NAMES = ["a", "b", "c", "d", "e", "f", "g"];

/** Lines of a law that is being written, with what an editor offers at the mark. */
const TYPED: readonly (readonly [line: string, offered: readonly string[] | null])[] = [
  ["law: x", null],
  ["parameters:", null],
  ["  commit: te¦", TYPES],
  ["people:", null],
  ["  dbas: [alice]", null],
  ["evidence:", null],
  ["  a: ¦", [...new Set(["caller", ...TYPES, ...LINES])]],
  ["  b: count from ¦", LINES],
  ["  c: rest https://ci.example/{¦", ["commit"]],
  ["  d: 2 of ¦", ["dbas"]],
  ["  e: { type: count, ¦", MEMBERS],
  ["  f: { from: { rest.json_path: { ¦", ["url", "jsonpath"]],
  ["  g:", null],
  ["    ¦", MEMBERS],
  ["  ¦", []],
  ["stages:", null],
  ["  ship:", null],
  ["    - a == 0 && co¦", [...NAMES, "commit", "now", ...FUNCTIONS]],
  ["  go: { after: ¦", ["ship", "go", "last"]],
  ["  last:", null],
  ["    ¦", ["id", "after", "when", "packets"]],
  ["complete: ¦", ["ship", "go", "last"]],
  ["¦", [
    "law",
    "namespace",
    "question",
    "parameters",
    "people",
    "evidence",
    "stages",
    "complete",
    "limits",
    "schemas",
    "policies",
    "unused",
    "long",
  ]],
];

Deno.test("an editor offers what may stand at each place of a law that is being written", () =>
  withEditor(async (editor) => {
    const found = await editor.diagnostics(TYPED.map(([line]) => line.replace("¦", "")).join("\n"));
    assert.ok(found.some(({ severity }) => severity === 1), "it is no law yet");
    for (const [index, [line, offered]] of TYPED.entries()) {
      if (offered === null) continue;
      const labels = await editor.completions(index, line.indexOf("¦"));
      assert.deepEqual(labels.toSorted(), offered.toSorted(), line);
    }
  }));

/** A law of 500 lines, with a name that differs in each change. */
function longLaw(round: number): string {
  const names = Array.from({ length: 248 }, (_, at) => `name_${at}`);
  const evidence = names.map((name) => `  ${name}: count\n`).join("");
  return `law: long_${round}\nevidence:\n${evidence}stages:\n${
    names.map((name) => `  s_${name}: ${name} == ${round}\n`).join("")
  }`;
}

/** How often the time that the law takes to be read in this process: for the checks of a law, and the way to the server. */
const TIMES_READ = 10;

Deno.test("an editor has the diagnostics of a law of 500 lines in few times what reading it takes", () =>
  withEditor(async (editor) => {
    assert.equal(longLaw(0).split("\n").length, 500);
    const times: (readonly [number, number])[] = [];
    for (let round = 0; round < 12; round++) {
      const text = longLaw(round);
      const start = performance.now();
      assert.ok((await editor.diagnostics(text)).every(({ severity }) => severity === 2));
      const middle = performance.now();
      assert.ok(readLawText(text).ok);
      times.push([middle - start, performance.now() - middle]);
    }
    const best = (column: 0 | 1): number => Math.min(...times.map((one) => one[column]));
    const [shown, read] = [best(0), best(1)];
    console.log(`500 lines: diagnostics after ${shown.toFixed(0)} ms, read in ${read.toFixed(0)} ms`);
    assert.ok(shown <= TIMES_READ * read, `${shown} ms against ${read} ms`);
  }));
