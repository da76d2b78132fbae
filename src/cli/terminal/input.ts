/** Inputs of commands: a file, or standard input by the name `-`. */

import { collectBytes } from "../../canonical/collect_bytes.ts";
import { isJsonObject, type JsonObject } from "../../canonical/json.ts";
import { decodeUtf8Strict, parseJson } from "../../canonical/scan.ts";
import { withoutByteOrderMark } from "../../config/files.ts";
import { reasonOf } from "../../store/file_reason.ts";
import { CliError } from "./cli_error.ts";

/** Most bytes of an object: the arguments of a call, or what a host of agents says. */
const OBJECT_BYTES = 16 * 1024 * 1024;

/** Reads an input; null where it has more bytes. */
export async function readInput(file: string, maximumBytes: number): Promise<Uint8Array | null> {
  const collected = collectBytes(maximumBytes);
  for await (const chunk of file === "-" ? Deno.stdin.readable : (await Deno.open(file)).readable) {
    if (!collected.add(chunk)) return null;
  }
  return collected.bytes();
}

/**
 * Reads an input that is one JSON object.
 *
 * @throws {CliError} `usage`
 */
export async function readInputObject(file: string): Promise<JsonObject> {
  const refuse = (reason: string): CliError => new CliError("usage", `Cannot read "${file}": ${reason}`);
  const bytes = await readInput(file, OBJECT_BYTES).catch((error) => {
    throw refuse(reasonOf(error));
  });
  const text = bytes === null ? null : decodeUtf8Strict(withoutByteOrderMark(bytes));
  if (text === null) throw refuse(`expected UTF-8 of at most ${OBJECT_BYTES} bytes`);
  const parsed = parseJson(text);
  if (!parsed.ok) throw refuse(`${parsed.fault.path}: ${parsed.fault.message}`);
  if (isJsonObject(parsed.value)) return parsed.value;
  throw refuse("expected one JSON object");
}
