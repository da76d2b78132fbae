/** The problems of a capability contract. */

import { below, type JsonPath, pathOf } from "../../canonical/path.ts";
import type { FaultSink, ShapeFault } from "../../canonical/shape.ts";
import { describe, quoteAll } from "../../law/suggest.ts";

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
  | "provider_mismatch"
  /** The runtime profile contradicts its contract or itself. */
  | "profile_mismatch"
  /** The configuration does not allow the host, or a credential, of the runtime profile. */
  | "host_not_allowed"
  | "credential_locator_refused";

/** A problem and its path; `$` is the contract. */
export interface ContractProblem {
  readonly code: ContractProblemCode;
  readonly path: string;
  readonly message: string;
}

/** Problems that a collector keeps of one contract. */
const PROBLEMS_MAXIMUM = 100;

/** Collects problems, at most {@link PROBLEMS_MAXIMUM}; a fault of a shape is recorded as its problem. */
export interface ProblemCollector extends FaultSink {
  readonly problems: readonly ContractProblem[];
  /** Records a problem. */
  readonly report: (code: ContractProblemCode, path: JsonPath, message: string) => void;
}

/** Creates an empty collector. */
export function createProblemCollector(): ProblemCollector {
  const problems: ContractProblem[] = [];
  const report: ProblemCollector["report"] = (code, path, message) => {
    if (problems.length < PROBLEMS_MAXIMUM) problems.push({ code, path: pathOf(path), message });
  };
  return { problems, report, add: (fault, path) => reportFault(report, fault, path) };
}

function reportFault(report: ProblemCollector["report"], fault: ShapeFault, path: JsonPath): void {
  switch (fault.kind) {
    case "object":
      return report("type_invalid", path, `Expected an object, got ${describe(fault.value)}`);
    case "type":
      return report("type_invalid", path, `Expected ${fault.expected}, got ${describe(fault.value)}`);
    case "form":
      return report("value_invalid", path, `Expected ${fault.expected}, got ${describe(fault.value)}`);
    case "missing":
      return report("member_missing", below(path, fault.name), "Expected a value");
    case "unknown":
      return report("member_unknown", below(path, fault.name), `Expected only ${quoteAll(fault.known)}`);
    case "items": {
      const { count, minimum, maximum } = fault;
      if (count > maximum) return report("too_many", path, `Expected at most ${maximum} items, got ${count}`);
      return report("value_invalid", path, `Expected at least ${minimum} items, got ${count}`);
    }
    case "bytes":
      return report("value_invalid", path, `Expected ${fault.minimum} to ${fault.maximum} bytes, got ${fault.bytes}`);
    case "integer":
      return report("value_invalid", path, `Expected an integer, got ${describe(fault.value)}`);
    case "duplicate":
      return report("duplicate", path, `${quoteAll([fault.value])} is repeated`);
    case "choice": {
      const known = quoteAll(fault.known.map(String));
      return report("value_invalid", path, `Expected one of ${known}, got ${describe(fault.value)}`);
    }
  }
}

/** The setting of a provider that names a file. */
export type ContractSetting = "capabilities_path" | "runtime_profile_path";

/** A contract or a runtime profile cannot be used; the error holds every problem of its file. */
export class ContractError extends Error {
  override readonly name = "ContractError";
  /** The file. */
  readonly contractPath: string;
  readonly problems: readonly ContractProblem[];
  /** The setting that names the file. */
  readonly setting: ContractSetting;

  /** Builds the error for a file and its problems. */
  constructor(
    contractPath: string,
    problems: readonly ContractProblem[],
    setting: ContractSetting = "capabilities_path",
  ) {
    const lines = problems.map(({ path, message }) => `${path}: ${message}`);
    const what = setting === "capabilities_path" ? "contract" : "runtime profile";
    super(`Cannot use ${what} "${contractPath}": ${lines.join("; ")}`);
    this.contractPath = contractPath;
    this.problems = problems;
    this.setting = setting;
  }
}
