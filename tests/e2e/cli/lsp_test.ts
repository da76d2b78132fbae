/** `gate lsp` as an editor drives it: JSON-RPC messages over standard input and output. */

import assert from "node:assert/strict";
import type { JsonObject } from "@/canonical/json.ts";
import { gateArgs, processOf } from "../gate_command.ts";

const URI = "file:///release.yaml";
const LAW = `law: release
evidence:
  tests_failed: count
  coverage:   percent # of lines
stages:
  ship: tests_failed == 0 && coverage >= 80
`;

function frame(message: JsonObject): string {
  const text = JSON.stringify({ jsonrpc: "2.0", ...message });
  return `Content-Length: ${new TextEncoder().encode(text).length}\r\n\r\n${text}`;
}

async function* messagesOf(input: ReadableStream<Uint8Array>): AsyncGenerator<JsonObject> {
  let text = "";
  // The messages of this test are ASCII, so characters are bytes.
  for await (const chunk of input.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>)) {
    text += chunk;
    for (;;) {
      const [head = "", length = ""] = /^Content-Length: (\d+)\r\n\r\n/.exec(text) ?? [];
      const end = head.length + Number(length);
      if (head === "" || text.length < end) break;
      yield JSON.parse(text.slice(head.length, end));
      text = text.slice(end);
    }
  }
}

/** An editor with a server in a process of its own. */
class Editor {
  readonly #process: Deno.ChildProcess;
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  readonly #messages: AsyncIterator<JsonObject>;
  #id = 0;

  constructor() {
    const { command, args } = processOf(gateArgs("lsp"));
    this.#process = new Deno.Command(command, { args: [...args], stdin: "piped", stdout: "piped", stderr: "inherit" })
      .spawn();
    this.#writer = this.#process.stdin.getWriter();
    this.#messages = messagesOf(this.#process.stdout);
  }

  async notify(method: string, params: JsonObject): Promise<void> {
    await this.#writer.write(new TextEncoder().encode(frame({ method, params })));
  }

  async next(): Promise<JsonObject> {
    const { value, done } = await this.#messages.next();
    assert.ok(done !== true, "the server has ended");
    return value;
  }

  async request(method: string, params: JsonObject = {}): Promise<JsonObject> {
    this.#id += 1;
    await this.#writer.write(new TextEncoder().encode(frame({ id: this.#id, method, params })));
    const answer = await this.next();
    assert.equal(answer["id"], this.#id);
    return answer;
  }

  async diagnostics(text: string, method = "didChange"): Promise<readonly JsonObject[]> {
    const textDocument = { uri: URI, version: 1, languageId: "yaml", ...method === "didOpen" ? { text } : {} };
    await this.notify(`textDocument/${method}`, { textDocument, contentChanges: [{ text }] });
    const { params } = await this.next();
    return (params as { readonly diagnostics: readonly JsonObject[] }).diagnostics;
  }

  async end(): Promise<number> {
    await this.request("shutdown");
    await this.notify("exit", {});
    const { code } = await this.#process.status;
    await this.#writer.close().catch(() => {});
    return code;
  }
}

Deno.test("an editor sees faults, sentences, completions and the layout of a law file", async () => {
  const editor = new Editor();
  const document = { textDocument: { uri: URI } };
  const { result } = await editor.request("initialize", { capabilities: {} });
  assert.equal((result as JsonObject)["capabilities"] !== undefined, true);
  assert.deepEqual((await editor.diagnostics(LAW, "didOpen")).filter(({ severity }) => severity === 1), []);
  const [fault] = await editor.diagnostics(LAW.replace("tests_failed == 0", "tests_faled == 0"));
  assert.deepEqual(fault, {
    range: { start: { line: 5, character: 8 }, end: { line: 5, character: 19 } },
    severity: 1,
    code: "name_unknown",
    source: "gate",
    message: 'Name "tests_faled" is not declared; did you mean "tests_failed"?',
  });
  await editor.diagnostics(LAW);
  const hover = (line: number, character: number): Promise<JsonObject> =>
    editor.request("textDocument/hover", { ...document, position: { line, character } });
  assert.deepEqual((await hover(5, 30))["result"], {
    contents: { kind: "plaintext", value: "Evidence: percent\ncoverage >= 80" },
  });
  assert.deepEqual((await hover(5, 3))["result"], {
    contents: { kind: "plaintext", value: "Stage: coverage >= 80 && tests_failed == 0" },
  });
  assert.equal((await hover(0, 1))["result"], null);
  const completed = (await editor.request("textDocument/completion", document))["result"] as unknown as readonly {
    readonly label: string;
  }[];
  const labels = completed.map(({ label }) => label);
  for (const label of ["tests_failed", "ship", "evidence", "percent", "window"]) {
    assert.ok(labels.includes(label), label);
  }
  const formatted = (await editor.request("textDocument/formatting", document))["result"] as unknown as readonly {
    readonly newText: string;
  }[];
  assert.match(formatted[0]?.newText ?? "", /^ {2}coverage: percent # of lines$/m);
  assert.equal(((await editor.request("workspace/symbol"))["error"] as JsonObject)["code"], -32601);
  assert.equal(await editor.end(), 0);
});
