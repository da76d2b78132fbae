/**
 * A stream of HTTP+SSE as older clients open it.
 *
 * @module
 */

/** An open stream. */
export interface OpenStream {
  /** Where its messages are posted to. */
  readonly path: string;
  /** The next event. */
  readonly next: () => Promise<string>;
  readonly close: () => void;
}

/** Opens a stream at a server. */
export async function openStreamAt(url: string): Promise<OpenStream> {
  const stop = new AbortController();
  const response = await fetch(`${url}/sse`, { headers: { accept: "text/event-stream" }, signal: stop.signal });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  const next = async (): Promise<string> => (await reader?.read())?.value ?? "";
  const path = /^event: endpoint\ndata: (\S+)\n\n/.exec(await next())?.[1] ?? "";
  return { path, next, close: () => stop.abort() };
}
