/**
 * The head file beside an audit file, `<path>.head`: the last line of the chain that was synchronized to disk. It shows
 * whether whole lines at the end of the file are missing.
 */

import { isJsonObject, type JsonValue, member } from "../../canonical/json.ts";
import { parseJson } from "../../canonical/scan.ts";
import type { ChainState } from "./line.ts";

/** The most bytes of a head file. */
const HEAD_BYTES = 1024;

/** The content of a head file is invalid. */
export class HeadError extends Error {
  override readonly name = "HeadError";
}

/** The path of the head file of an audit file. */
export function headPath(path: string): string {
  return `${path}.head`;
}

/** The path of a head file that is being written. Its writer holds the lock of the audit file, so there is only one. */
export function headDraftPath(path: string): string {
  return `${headPath(path)}.new`;
}

/** Writes the head file atomically. */
export function writeHead(path: string, chain: ChainState): void {
  const { chain_id, head, sequence } = chain;
  const temporary = headDraftPath(path);
  Deno.writeTextFileSync(temporary, `${JSON.stringify({ chain_id, hash: head, sequence })}\n`, { mode: 0o600 });
  Deno.renameSync(temporary, headPath(path));
}

/**
 * Reads a head file; null for a missing file.
 *
 * @throws {HeadError} When its content is invalid
 */
export function readHead(path: string): ChainState | null {
  const text = readBounded(headPath(path));
  if (text === null) return null;
  const parsed = parseJson(text);
  const chain = parsed.ok ? chainOf(parsed.value) : null;
  if (chain === null) throw new HeadError(`Cannot read "${headPath(path)}": it is not the head of an audit log`);
  return chain;
}

function readBounded(path: string): string | null {
  try {
    const { isFile, size } = Deno.statSync(path);
    if (isFile && size <= HEAD_BYTES) return Deno.readTextFileSync(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
  return "";
}

function chainOf(value: JsonValue): ChainState | null {
  if (!isJsonObject(value)) return null;
  const chainId = member(value, "chain_id");
  const head = member(value, "hash");
  const sequence = member(value, "sequence");
  if (typeof chainId !== "string" || !/^[0-9a-f]{32}$/.test(chainId)) return null;
  if (typeof head !== "string" || !/^[0-9a-f]{64}$/.test(head)) return null;
  if (typeof sequence !== "number" || !Number.isSafeInteger(sequence) || sequence < 1) return null;
  return { chain_id: chainId, sequence, head };
}
