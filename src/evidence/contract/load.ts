/**
 * Loads a capability contract from its file.
 *
 * @module
 */

import type { JsonValue } from "../../canonical/json.ts";
import { decodeUtf8Strict, parseJson } from "../../canonical/scan.ts";
import { readBounded } from "../../config/files.ts";
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
 * @param schemas Compiles its schemas
 * @throws {ContractError} Where the file cannot be read or is invalid; it holds every problem
 */
export async function loadContract(
  path: string,
  owner: ContractOwner,
  schemas: SchemaSandbox,
): Promise<LoadedContract> {
  const value = parse(path, await readFile(path));
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

async function readFile(path: string): Promise<Uint8Array> {
  const read = await readBounded(path, CONTRACT_BYTES_MAXIMUM).catch((error: unknown) => {
    const reason = error instanceof Deno.errors.NotFound ? "does not exist" : String(error);
    throw problem(path, "contract_unreadable", "$", `The file cannot be read: ${reason}`);
  });
  if ("bytes" in read) return read.bytes;
  if (read.fault === "not_a_file") throw problem(path, "contract_unreadable", "$", "Expected a file");
  if (read.fault === "changed") throw problem(path, "contract_unreadable", "$", "The file changed while it was read");
  throw problem(path, "contract_too_large", "$", `Expected at most ${CONTRACT_BYTES_MAXIMUM} bytes`);
}

function problem(path: string, code: ContractProblemCode, at: string, message: string): ContractError {
  return new ContractError(path, [{ code, path: at, message }]);
}
