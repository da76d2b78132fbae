/** Standard input as bytes. */

import { collectBytes } from "../../canonical/collect_bytes.ts";

/** Reads standard input to its end; null where it has more bytes. */
export async function readStandardInput(maximumBytes: number): Promise<Uint8Array | null> {
  const collected = collectBytes(maximumBytes);
  for await (const chunk of Deno.stdin.readable) if (!collected.add(chunk)) return null;
  return collected.bytes();
}
