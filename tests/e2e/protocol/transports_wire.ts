/**
 * A conversation with a server over any transport: requests and their answers.
 *
 * @module
 */

import { checkAnswer } from "../checked_answers.ts";
import { type ServerProcess, startServer, type Wire } from "../client.ts";
import { type HttpServer, listening, modernHeaders, send, type Sending } from "../http_fixture.ts";
import { gateArgs, STORES } from "../gate_command.ts";

/** A connection, or its equivalent for a transport without connections. */
export interface Conversation extends AsyncDisposable {
  /** Sends a request and gives its whole answer. */
  readonly ask: (method: string, params?: Wire) => Promise<Wire>;
  /** Sends a text as it is and gives what is answered to the id. */
  readonly askText: (text: string, id: number | null) => Promise<Wire>;
}

/** Starts the service over a transport in a folder, with further tables of configuration, and connects to it. */
export type Open = (folder: string, settings?: string) => Promise<Conversation>;

function envelopeOf(params: Wire | undefined): boolean {
  const meta = params?.["_meta"];
  return typeof meta === "object" && meta !== null && "io.modelcontextprotocol/protocolVersion" in meta;
}

function requestText(id: number, method: string, params: Wire | undefined): string {
  return JSON.stringify({ jsonrpc: "2.0", id, method, ...(params === undefined ? {} : { params }) });
}

/** Starts the service with some lines for `[server]`. */
async function start(folder: string, server: string, settings = ""): Promise<ServerProcess> {
  await Deno.writeTextFile(`${folder}/gate.toml`, `[server]\n${server}\n${STORES}\n${settings}`);
  return startServer({ args: gateArgs("serve", "--config", `${folder}/gate.toml`), cwd: folder });
}

/** Over standard input and output. */
export const openStdio: Open = async (folder, settings) => {
  const server = await start(folder, 'transport = "stdio"', settings);
  let id = 0;
  return {
    ask: (method, params) => {
      id++;
      return server.write(`${requestText(id, method, params)}\n`).then(() => server.answer(id));
    },
    askText: (text, answered) => server.write(`${text}\n`).then(() => server.answer(answered)),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
};

/** Over Streamable HTTP, with or without TLS. */
export function openHttp(extra = "", tls: Pick<Sending, "ca"> = {}): Open {
  return async (folder, settings) => {
    const server = await listening(await start(folder, `transport = "http"\nbind = "127.0.0.1:0"\n${extra}`, settings));
    const post = async (text: string, headers: Record<string, string>): Promise<Wire> =>
      JSON.parse((await send(server.url, text, { ...tls, headers })).text) as Wire;
    let id = 0;
    return {
      ask: (method, params) => {
        const name = method === "tools/call" ? String(params?.["name"]) : undefined;
        return post(requestText(++id, method, params), envelopeOf(params) ? modernHeaders(method, name) : {});
      },
      askText: (text) => post(text, {}),
      [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
    };
  };
}

/** Over the HTTP+SSE transport. */
export const openSse: Open = async (folder, settings) => {
  const server = await listening(await start(folder, 'transport = "sse"\nbind = "127.0.0.1:0"', settings));
  return await connectSse(server);
};

/** A conversation on a stream of an SSE server; the server ends with it. Each message is sent with the header fields. */
export async function connectSse(
  server: HttpServer,
  headers: Readonly<Record<string, string>> = {},
): Promise<Conversation> {
  const stream = new AbortController();
  const response = await fetch(`${server.url}/sse`, {
    signal: stream.signal,
    headers: { accept: "text/event-stream", ...headers },
  });
  const answers = new Map<unknown, PromiseWithResolvers<Wire>>();
  const slot = (id: unknown): PromiseWithResolvers<Wire> => {
    const known = answers.get(id) ?? Promise.withResolvers<Wire>();
    answers.set(id, known);
    return known;
  };
  const path = Promise.withResolvers<string>();
  const reading = readEvents(response, (event, data) => {
    if (event === "endpoint") return path.resolve(data);
    const message = JSON.parse(data) as Wire;
    slot(message["id"]).resolve(message);
  });
  const post = async (text: string, id: number | null): Promise<Wire> => {
    const answer = slot(id);
    const posted = await send(server.url, text, { path: await path.promise, headers });
    // A text that is no message is refused by the answer of the POST, not on the stream.
    if (posted.status === 400) return JSON.parse(posted.text) as Wire;
    if (posted.status !== 202) throw new Error(`Cannot send message: ${posted.status}`);
    const message = await answer.promise;
    await checkAnswer(text, JSON.stringify(message));
    answers.delete(id);
    return message;
  };
  let id = 0;
  return {
    ask: (method, params) => {
      id++;
      return post(requestText(id, method, params), id);
    },
    askText: post,
    [Symbol.asyncDispose]: async () => {
      stream.abort();
      await reading;
      await server[Symbol.asyncDispose]();
    },
  };
}

/** Reads the events of a stream until it ends. */
async function readEvents(response: Response, take: (event: string, data: string) => void): Promise<void> {
  let rest = "";
  try {
    for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      const events = (rest + chunk).split("\n\n");
      rest = events.pop() ?? "";
      for (const event of events) {
        const name = /^event: (.*)$/m.exec(event)?.[1];
        const data = /^data: (.*)$/m.exec(event)?.[1];
        if (name !== undefined && data !== undefined) take(name, data);
      }
    }
  } catch {
    // The stream was aborted by the test.
  }
}
