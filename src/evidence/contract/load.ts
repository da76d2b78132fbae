import type { JsonValue } from "../../canonical/json.ts";
import { decodeUtf8Strict, parseJson } from "../../canonical/scan.ts";
import { readBounded } from "../../config/files.ts";
import type { SchemaSandbox } from "../sandbox/schema_sandbox.ts";
import type { LoadedContract } from "../types.ts";
import { checkContract, CONTRACT_BYTES_MAXIMUM, type ContractOwner } from "./check.ts";
import { ContractError, type ContractProblemCode, type ContractSetting } from "./problems.ts";
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
  const value = await readContractJson(path, CONTRACT_BYTES_MAXIMUM, "capabilities_path");
  const checked = await checkContract(value, owner, schemas);
  if (!checked.ok) throw new ContractError(path, checked.problems);
  return sealContract(checked.contract, "file");
}

/**
 * Reads a file of a provider as strict JSON.
 *
 * @param path Absolute path of the file
 * @param maximum Bytes of the file
 * @param setting The setting that names the file
 * @throws {ContractError} Where the file cannot be read, is too large, or is not JSON
 */
export async function readContractJson(path: string, maximum: number, setting: ContractSetting): Promise<JsonValue> {
  const fail = (code: ContractProblemCode, message: string, at = "$"): never => {
    throw new ContractError(path, [{ code, path: at, message }], setting);
  };
  const read = await readBounded(path, maximum).catch((error: unknown) => {
    const reason = error instanceof Deno.errors.NotFound ? "does not exist" : String(error);
    return fail("contract_unreadable", `The file cannot be read: ${reason}`);
  });
  if (!("bytes" in read)) {
    if (read.fault === "not_a_file") return fail("contract_unreadable", "Expected a file");
    if (read.fault === "changed") return fail("contract_unreadable", "The file changed while it was read");
    return fail("contract_too_large", `Expected at most ${maximum} bytes`);
  }
  const text = decodeUtf8Strict(read.bytes) ?? fail("contract_not_json", "Expected UTF-8");
  const parsed = parseJson(text);
  return parsed.ok ? parsed.value : fail("contract_not_json", parsed.fault.message, parsed.fault.path);
}
