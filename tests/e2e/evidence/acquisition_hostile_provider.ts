/**
 * A provider that misbehaves on request. `query.params.behave` names the behaviour, or `query.params.raw` is the raw text of the
 * `result` member of its reply. It uses standard input and output, or HTTP with the argument `http`, and then writes its port to
 * standard output.
 *
 * @module
 */

const FINE = '{"content":[],"structuredContent":{"value":{"kind":"json","value":7},"content_type":"application/json"}}';

interface Request {
  readonly id?: number | string;
  /** Absent in a response. */
  readonly method?: string;
  readonly params?: {
    readonly protocolVersion?: string;
    readonly arguments?: { readonly query: { readonly params?: { readonly behave?: string; readonly raw?: string } } };
  };
}

/** The response to a request as text, and how it is sent. */
interface Answer {
  readonly text: string | null;
  readonly how: string;
}

function answer(request: Request): Answer {
  if (request.id === undefined || request.method === undefined) return { text: null, how: "fine" };
  const id = JSON.stringify(request.id);
  const result = (text: string): string => `{"jsonrpc":"2.0","id":${id},"result":${text}}`;
  if (request.method === "initialize") {
    const version = JSON.stringify(request.params?.protocolVersion);
    return {
      text: result(
        `{"protocolVersion":${version},"capabilities":{"tools":{}},"serverInfo":{"name":"hostile","version":"1"}}`,
      ),
      how: "fine",
    };
  }
  if (request.method !== "tools/call") {
    return { text: `{"jsonrpc":"2.0","id":${id},"error":{"code":-32601,"message":"Method not found"}}`, how: "fine" };
  }
  const params = request.params?.arguments?.query.params ?? {};
  if (params.raw !== undefined) return { text: result(params.raw), how: "fine" };
  const how = params.behave ?? "fine";
  if (how === "error") {
    return { text: `{"jsonrpc":"2.0","id":${id},"error":{"code":-32000,"message":"down for\\nmaintenance"}}`, how };
  }
  if (how === "bare_error") return { text: `{"jsonrpc":"2.0","id":${id},"error":"no"}`, how: "fine" };
  if (how === "bare") return { text: `{"jsonrpc":"2.0","id":${id}}`, how: "fine" };
  if (how === "both") {
    return { text: `{"jsonrpc":"2.0","id":${id},"result":${FINE},"error":{"code":1,"message":"no"}}`, how: "fine" };
  }
  if (how === "no_version") return { text: `{"id":${id},"result":${FINE}}`, how: "fine" };
  if (how === "text_id") return { text: `{"jsonrpc":"2.0","id":"${request.id}","result":${FINE}}`, how: "fine" };
  if (how === "next_id") return { text: `{"jsonrpc":"2.0","id":${Number(id) + 1},"result":${FINE}}`, how: "fine" };
  if (how === "unfinished") return { text: result(FINE.replace("{", '{"resultType":"input_required",')), how: "fine" };
  if (how === "duplicate") return { text: `{"jsonrpc":"2.0","id":${id},"id":${id},"result":${FINE}}`, how: "fine" };
  if (how === "echo_environment") {
    const names = JSON.stringify(JSON.stringify(Object.keys(Deno.env.toObject()).sort()));
    return { text: result(`{"structuredContent":{"value":{"kind":"json","value":${names}}}}`), how: "fine" };
  }
  if (how === "process") {
    return { text: result(`{"structuredContent":{"value":{"kind":"json","value":${Deno.pid}}}}`), how: "fine" };
  }
  if (how === "family" || how === "family_silent") {
    const pids = `[${Deno.pid},${startStubborn()}]`;
    const value = `{"value":{"kind":"json","value":${pids}},"content_type":"application/json"}`;
    if (how === "family_silent") Deno.writeTextFileSync("family.json", pids);
    return { text: result(`{"structuredContent":${value}}`), how: how === "family" ? "fine" : "silent" };
  }
  return { text: result(FINE), how };
}

/** Starts a process that ignores every signal except SIGKILL; returns its id. */
function startStubborn(): number {
  const script = 'trap "" TERM INT HUP; while :; do sleep 1; done';
  return new Deno.Command("/bin/sh", { args: ["-c", script], stdin: "null", stdout: "null" }).spawn().pid;
}

const encoder = new TextEncoder();

function print(text: string): void {
  let rest = encoder.encode(text);
  while (rest.length > 0) rest = rest.subarray(Deno.stdout.writeSync(rest));
}

async function say({ text, how }: Answer): Promise<void> {
  switch (how) {
    case "silent":
      return;
    case "stuck":
      // The process reads and answers nothing more.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
      return;
    case "exit":
      return Deno.exit(3);
    case "garbage":
      return print("Listening on port 8080\n");
    case "array":
      return print(`[${text}]\n`);
    case "other_id":
      return print(`{"jsonrpc":"2.0","id":987654321,"result":${FINE}}\n`);
    case "endless":
      for (;;) print("x".repeat(65536));
    case "large":
      return print(`${" ".repeat(1024 * 1024)}${text}\n`);
    case "not_utf8":
      Deno.stdout.writeSync(Uint8Array.of(0xff, 0x0a));
      return;
    case "half":
      print(text?.slice(0, 20) ?? "");
      return Deno.exit(0);
    case "noisy":
      for (let line = 0; line < 20_000; line++) console.error("noise ".repeat(20));
      return print(`${text}\n`);
    case "slow":
      await new Promise((resolve) => setTimeout(resolve, 150));
      return print(`${text}\n`);
    case "asks":
      print('{"jsonrpc":"2.0","id":"s1","method":"sampling/createMessage","params":{"messages":[],"maxTokens":1}}\n');
      for (let id = 0; id < 99; id++) print(`{"jsonrpc":"2.0","id":${id},"method":"ping"}\n`);
      print('{"jsonrpc":"2.0","id":"p1","method":"ping"}\n{"jsonrpc":"2.0","method":"notifications/progress"}\n\n');
      return print(`${text}\n`);
    default:
      if (text !== null) print(`${text}\n`);
  }
}

async function overStdio(): Promise<void> {
  const lines = Deno.stdin.readable.pipeThrough(new TextDecoderStream());
  let rest = "";
  for await (const chunk of lines) {
    rest += chunk;
    for (let end = rest.indexOf("\n"); end >= 0; end = rest.indexOf("\n")) {
      const request = JSON.parse(rest.slice(0, end)) as Request;
      rest = rest.slice(end + 1);
      say(answer(request));
    }
  }
}

function json(text: string | null): Response {
  return new Response(text, { headers: { "content-type": "application/json" } });
}

function stream(chunks: Iterable<string>, close: boolean): ReadableStream<Uint8Array> {
  const iterator = chunks[Symbol.iterator]();
  return new ReadableStream({
    pull: async (controller) => {
      const next = iterator.next();
      if (!next.done) controller.enqueue(encoder.encode(next.value));
      else if (close) controller.close();
      else await new Promise(() => {});
    },
  });
}

function* forever(text: string): Generator<string> {
  for (;;) yield text;
}

let lost = false;

async function reply(request: Request): Promise<Response> {
  const { text, how } = answer(request);
  if (text === null) return new Response(null, { status: 202 });
  const events = { "content-type": "text/event-stream" };
  switch (how) {
    case "silent":
      return await new Promise(() => {});
    case "redirect":
      return new Response(null, { status: 307, headers: { location: "http://127.0.0.1:1/" } });
    case "html":
      return new Response("<html>", { headers: { "content-type": "text/html" } });
    case "large":
      return json(" ".repeat(1024 * 1024) + text);
    case "endless":
      return new Response(stream(forever(" ".repeat(65536)), true), {
        headers: { "content-type": "application/json" },
      });
    case "drip":
      return new Response(stream([text.slice(0, 9)], false), { headers: { "content-type": "application/json" } });
    case "not_utf8":
      return new Response(Uint8Array.of(0xff), { headers: { "content-type": "application/json" } });
    case "gzip":
      return new Response(text, { headers: { "content-type": "application/json", "content-encoding": "gzip" } });
    case "events":
      return new Response(stream([`event: message\nid: 7\nretry: 1\ndata: ${text}\n\n`], false), { headers: events });
    case "events_other":
      return new Response(
        stream(['data: {"jsonrpc":"2.0","id":"s1","method":"ping"}\r\n\r\n', `data:${text}\r\n\r\n`], true),
        { headers: events },
      );
    case "events_none":
      return new Response(stream([": nothing\n\n"], true), { headers: events });
    case "events_endless":
      return new Response(stream(forever(`: ${"x".repeat(65536)}\n`), true), { headers: events });
    case "lost_once":
      lost = !lost;
      return lost ? new Response("gone", { status: 404 }) : json(text);
    case "lost":
      return new Response("gone", { status: 404 });
    default:
      return /^status_/.test(how) ? new Response("no", { status: Number(how.slice(7)) }) : json(text);
  }
}

function overHttp(): void {
  Deno.serve({
    hostname: "127.0.0.1",
    port: 0,
    onListen: ({ port }) => print(`${port}\n`),
  }, async (request) => {
    if (request.method !== "POST") return new Response(null, { status: 405 });
    const authorization = request.headers.get("authorization");
    if (Deno.args.includes("secured") && authorization !== "Bearer secret") return new Response("no", { status: 401 });
    return await reply(await request.json() as Request);
  });
}

if (Deno.args.includes("http")) overHttp();
else await overStdio();
