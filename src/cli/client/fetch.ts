/** The `fetch` of `gate client --url`, which bounds the size of an answer. */

/** Maximum bytes of one answer; a list of all tools and an opening with every payload fit. */
export const ANSWER_BYTES_MAXIMUM = 33_554_432;

/** A `fetch` with an optional client certificate that fails beyond {@link ANSWER_BYTES_MAXIMUM} bytes of an answer. */
export function boundedFetch(client: Deno.HttpClient | null): typeof fetch {
  return async (url, init) => {
    const response = await fetch(url, client === null ? init : { ...init, client });
    if (response.body === null) return response;
    const { status, statusText, headers } = response;
    return new Response(response.body.pipeThrough(bounded(ANSWER_BYTES_MAXIMUM)), { status, statusText, headers });
  };
}

/**
 * A stream that passes up to a number of bytes, and then fails.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { bounded } from "@/cli/client/fetch.ts";
 *
 * const read = (bytes: number) => new Response(new Response("x".repeat(bytes)).body?.pipeThrough(bounded(3))).text();
 * assert.equal(await read(2), "xx");
 * assert.equal(await read(3), "xxx");
 * await assert.rejects(read(4), /more than 3 bytes/);
 * ```
 */
export function bounded(maximumBytes: number): TransformStream<Uint8Array, Uint8Array<ArrayBuffer>> {
  let count = 0;
  return new TransformStream({
    transform: (chunk, controller) => {
      count += chunk.length;
      if (count > maximumBytes) throw new Error(`its answer has more than ${maximumBytes} bytes`);
      controller.enqueue(new Uint8Array(chunk));
    },
  });
}
