/**
 * The run with parameters, honest and forged: what is changed in the genesis, in the params of one item, or in the law.
 *
 * @module
 */

import { KEY_1 } from "../kernel/fixture.ts";
import type { Editable } from "../kernel/law_specs.ts";
import { forge, type Parts } from "../forged_packs/forge.ts";
import { WHOLE } from "./cases.ts";
import { PARAMETERS_AT as AT } from "./parameters_run.ts";
import type { Base, CodeName, Made } from "./rows.ts";

/** A run with parameters, and the claims that it violates. */
export interface ParameterRow {
  readonly name: string;
  readonly code?: CodeName;
  readonly violates: Readonly<Record<string, string>>;
  readonly make: (base: Base) => Made;
}

const CONSTRUCTION = "scenario_law_construction";
const WITNESS = "acquisition_admission_witness_reconstruction";
const RULE = "evidence_use_policy_satisfaction";
const DECISION = "pure_semantic_replay";

const row = (
  name: string,
  violates: Readonly<Record<string, string>>,
  change: (parts: Parts) => void,
  code?: CodeName,
): ParameterRow => ({
  name,
  ...code === undefined ? {} : { code },
  violates,
  make: ({ run }) => ({
    pack: forge(run, change),
    request: { ...WHOLE, trusted_keys: [KEY_1.public_key] },
  }),
});

/** Changes the genesis of the record and of its receipt alike. */
function genesis(parts: Parts, change: (genesis: Editable) => Editable): void {
  const changed = change(structuredClone(parts.records[AT.create].body.genesis));
  parts.records[AT.create].body.genesis = changed;
  parts.receipts[AT.create].result.genesis = structuredClone(changed);
}

const values = (change: (parameters: Editable) => unknown) => (parts: Parts): void =>
  genesis(parts, (given) => {
    change(given.parameters);
    return given;
  });

const valueOf = (parameters: Editable, id: string): Editable =>
  parameters.find(({ parameter_id }: Editable) => parameter_id === id).value;

const witness = (at: number, binding: string) => (parts: Parts): Editable =>
  parts.records[at].body.evidence.find(({ binding_id }: Editable) => binding_id === binding).acquisition;

const FAULTY = { [CONSTRUCTION]: "parameters_mismatch: revision 1" };
const PARAMETERS: CodeName = [CONSTRUCTION, "parameters_mismatch"];
const PARAMS: CodeName = [WITNESS, "params_mismatch"];

/** A genesis that does not give what the law declares. */
const GENESIS_ROWS: readonly ParameterRow[] = [
  row("an empty genesis", FAULTY, (parts) => genesis(parts, () => ({ kind: "empty" })), PARAMETERS),
  row("a parameter left out", FAULTY, values((given) => given.pop())),
  row(
    "a parameter that the law does not declare",
    FAULTY,
    values((given) => given.push({ ...given[0], parameter_id: "zone" })),
  ),
  row("a parameter twice", FAULTY, values((given) => given.splice(0, 0, given[0]))),
  row("parameters in another order", FAULTY, values((given) => given.reverse())),
  row("a value of another type", FAULTY, values((given) => valueOf(given, "limit").value_type = "Decimal")),
  row("a value that is none of its type", FAULTY, values((given) => valueOf(given, "limit").value = 1.5)),
  row("a value outside the domain", FAULTY, values((given) => valueOf(given, "limit").value = 11)),
  row("a value that changes the path of a URL", FAULTY, values((given) => valueOf(given, "commit").value = "..")),
  row("an empty value in a URL", FAULTY, values((given) => valueOf(given, "commit").value = "")),
  row("parameters of the older procedure", FAULTY, (parts) => {
    for (const record of parts.records) record.procedure = "gate-kernel-1";
  }),
];

/** Values that are possible, and not those of the run. */
const VALUE_ROWS: readonly ParameterRow[] = [
  row("another commit in the genesis", {
    [WITNESS]: "params_mismatch: revision 3, item 3",
    [RULE]: "qualification_mismatch: revision 3, item 4",
    [DECISION]: "decision_mismatch: revision 3",
    source_authenticity: "signature_invalid: revision 3, item 4",
  }, values((given) => valueOf(given, "commit").value = "0af4")),
  row("a limit that would have refused the release", {
    [DECISION]: "decision_mismatch: revision 4",
  }, values((given) => valueOf(given, "limit").value = 1)),
  row(
    "another value in the params of one item",
    { [WITNESS]: "params_mismatch: revision 4, item 4" },
    (parts) => {
      const { params } = witness(AT.passed, "image-scan")(parts);
      params.url = params.url.replace("v1.2.3", "v1.2.4");
    },
    PARAMS,
  ),
  row("an item without its params", { [WITNESS]: "params_mismatch: revision 4, item 3" }, (parts) => {
    delete witness(AT.passed, "findings-env")(parts).params;
  }),
  row("an item with the params of the law", { [WITNESS]: "params_mismatch: revision 4, item 3" }, (parts) => {
    witness(AT.passed, "findings-env")(parts).params = { of: { $parameter: "commit" } };
  }),
  row("an item with params that hold no value of the run", {
    [WITNESS]: "params_mismatch: revision 4, item 5",
  }, (parts) => {
    witness(AT.passed, "speed-env")(parts).params = { of: "speed" };
  }),
  row("a genesis in the receipt that is not that of the record", {
    creation_receipt_integrity: "result_mismatch: revision 1",
  }, (parts) => {
    valueOf(parts.receipts[AT.create].result.genesis.parameters, "limit").value = 4;
  }),
  row("a state without the parameters", { current_state_equivalence: "state_mismatch" }, (parts) => {
    parts.manifest = (manifest) => manifest.state_identity = "0".repeat(64);
  }),
  row(
    "a record with the reason of a precheck",
    { accepted_history_continuity: "record_invalid: revision 3" },
    (parts) => {
      parts.records[AT.failed].body.trace[0].reason = "parameter_missing";
      parts.records[AT.failed].body.trace[0].value = "unknown";
    },
  ),
];

/** All rows on the base pack `parameters`. */
export const PARAMETER_ROWS: readonly ParameterRow[] = [
  row("the run as it was", {}, () => {}),
  ...GENESIS_ROWS,
  ...VALUE_ROWS,
];

/** Rows on the base pack `release`, whose law has no parameters. */
export const WITHOUT_PARAMETERS: readonly ParameterRow[] = [
  row(
    "parameters of a law without",
    FAULTY,
    (parts) =>
      genesis(
        parts,
        () => ({ kind: "parameters", parameters: [{ parameter_id: "a", value: { value: 1, value_type: "Integer" } }] }),
      ),
  ),
  row(
    "an empty list of parameters of a law without",
    FAULTY,
    (parts) => genesis(parts, () => ({ kind: "parameters", parameters: [] })),
  ),
];
