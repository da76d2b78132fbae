/**
 * Reads a capability contract from its file.
 *
 * @module
 */

import type { JsonValue } from "../../canonical/json.ts";
import { decodeUtf8Strict, parseJson } from "../../canonical/scan.ts";
import type { SchemaSandbox } from "../sandbox/schema_sandbox.ts";
import type { LoadedContract } from "../types.ts";
import { checkContract, CONTRACT_BYTES_MAXIMUM, type ContractOwner } from "./check.ts";
import { ContractError, type ContractProblemCode } from "./problems.ts";
import { sealContract } from "./seal.ts";

/**
 * Loads the contract of an external provider.
 *
 * @param path Absolute path of the file
 * @param owner The provider that names it
 * @param schemas Where its schemas are compiled
 * @throws {ContractError} Where the file cannot be read or anything in it is wrong; it holds every problem
 */
export async function loadContract(
  path: string,
  owner: ContractOwner,
  schemas: SchemaSandbox,
): Promise<LoadedContract> {
  const value = parse(path, await readBounded(path));
  const checked = await checkContract(value, owner, schemas);
  if (!checked.ok) throw new ContractError(path, checked.problems);
  return sealContract(checked.contract, "file");
}

function parse(path: string, bytes: Uint8Array): JsonValue {
  const text = decodeUtf8Strict(bytes);
  if (text === null) throw problem(path, "contract_not_json", "$", "Expected UTF-8");
  const parsed = parseJson(text);
  if (parsed.ok) return parsed.value;
  throw problem(path, "contract_not_json", parsed.fault.path, parsed.fault.message);
}

/** The bytes of the file; never reads more than the limit and one byte. */
async function readBounded(path: string): Promise<Uint8Array> {
  try {
    // Asked before opening: opening a named pipe would wait for a writer.
    const { isFile } = await Deno.stat(path);
    if (!isFile) throw problem(path, "contract_unreadable", "$", "Expected a file");
    using file = await Deno.open(path, { read: true });
    const buffer = new Uint8Array(CONTRACT_BYTES_MAXIMUM + 1);
    let length = 0;
    while (length < buffer.length) {
      const count = await file.read(buffer.subarray(length));
      if (count === null) return buffer.subarray(0, length);
      length += count;
    }
  } catch (error) {
    if (error instanceof ContractError) throw error;
    const reason = error instanceof Deno.errors.NotFound ? "does not exist" : String(error);
    throw problem(path, "contract_unreadable", "$", `The file cannot be read: ${reason}`);
  }
  throw problem(path, "contract_too_large", "$", `Expected at most ${CONTRACT_BYTES_MAXIMUM} bytes`);
}

function problem(path: string, code: ContractProblemCode, at: string, message: string): ContractError {
  return new ContractError(path, [{ code, path: at, message }]);
}
