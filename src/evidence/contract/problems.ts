/**
 * What can be wrong with a capability contract.
 *
 * @module
 */

/** Why a contract is refused; closed list. */
export type ContractProblemCode =
  /** The file does not exist, or cannot be read. */
  | "contract_unreadable"
  | "contract_too_large"
  /** The file is no UTF-8, or no JSON that every reader reads alike. */
  | "contract_not_json"
  | "member_missing"
  | "member_unknown"
  | "type_invalid"
  | "value_invalid"
  | "too_many"
  | "duplicate"
  /** A schema does not compile, or holds what cannot be enforced. */
  | "schema_invalid"
  /** The contract is that of another provider, or of another kind of provider. */
  | "provider_mismatch";

/** One thing that is wrong, and where: `$` is the contract. */
export interface ContractProblem {
  readonly code: ContractProblemCode;
  readonly path: string;
  readonly message: string;
}

/** A contract that cannot be used; it holds every problem. */
export class ContractError extends Error {
  override readonly name = "ContractError";
  /** The file. */
  readonly contractPath: string;
  readonly problems: readonly ContractProblem[];

  /** The error for a file and all that is wrong with it. */
  constructor(contractPath: string, problems: readonly ContractProblem[]) {
    const lines = problems.map(({ path, message }) => `${path}: ${message}`);
    super(`Cannot use contract "${contractPath}": ${lines.join("; ")}`);
    this.contractPath = contractPath;
    this.problems = problems;
  }
}
