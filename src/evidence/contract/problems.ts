/**
 * The problems of a capability contract.
 *
 * @module
 */

/** Why a contract is rejected; closed list. */
export type ContractProblemCode =
  /** The file does not exist, or cannot be read. */
  | "contract_unreadable"
  | "contract_too_large"
  /** The file is not UTF-8 or not strict JSON. */
  | "contract_not_json"
  | "member_missing"
  | "member_unknown"
  | "type_invalid"
  | "value_invalid"
  | "too_many"
  | "duplicate"
  /** A schema does not compile, or cannot be enforced. */
  | "schema_invalid"
  /** The contract belongs to another provider or another kind of provider. */
  | "provider_mismatch";

/** A problem and its path; `$` is the contract. */
export interface ContractProblem {
  readonly code: ContractProblemCode;
  readonly path: string;
  readonly message: string;
}

/** The contract cannot be used; the error holds every problem. */
export class ContractError extends Error {
  override readonly name = "ContractError";
  /** The file. */
  readonly contractPath: string;
  readonly problems: readonly ContractProblem[];

  /** Builds the error for a file and its problems. */
  constructor(contractPath: string, problems: readonly ContractProblem[]) {
    const lines = problems.map(({ path, message }) => `${path}: ${message}`);
    super(`Cannot use contract "${contractPath}": ${lines.join("; ")}`);
    this.contractPath = contractPath;
    this.problems = problems;
  }
}
