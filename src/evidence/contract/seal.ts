/**
 * Adds canonical text, identity and hash to a contract.
 *
 * @module
 */

import { canonicalize } from "../../canonical/canonicalize.ts";
import { contentHash, identifyCanonical } from "../../canonical/identity.ts";
import type { JsonValue } from "../../canonical/json.ts";
import { HOST_PRIMITIVES } from "../host_primitives.ts";
import type { LoadedContract, ProviderContract } from "../types.ts";

/** The contract with its identity (kind `contract`), the plain hash of its canonical text, and that text. */
export function sealContract(contract: ProviderContract, source: LoadedContract["source"]): LoadedContract {
  const { sha256 } = HOST_PRIMITIVES;
  const text = canonicalize(contract as unknown as JsonValue);
  return {
    contract,
    contract_identity: identifyCanonical(sha256, "contract", text),
    contract_hash: contentHash(sha256, text),
    source,
    text,
  };
}
