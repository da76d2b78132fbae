/** `gate evidence sign`: signs one evidence statement, so that an item counts only for the signed value and run. */

import { isIdentity, isOperationIdentity } from "../../canonical/identity.ts";
import { parseJson } from "../../canonical/scan.ts";
import { signApproval } from "../../evidence/trust/approval.ts";
import { checkTypedValue } from "../../law/value/typed_value.ts";
import { type TypedValue, VALUE_TYPES, type ValueType } from "../../law/value/types.ts";
import type { Head } from "../../run/types.ts";
import { CliError } from "../terminal/cli_error.ts";
import { readKey } from "./read_key.ts";
import { type JsonFlag, prettyJson, writeAnswer } from "../terminal/output.ts";

/** The flags of `gate evidence sign`, not yet parsed. */
export interface SignOptions extends JsonFlag {
  readonly key?: string;
  readonly passphraseFile?: string;
  readonly keyId?: string;
  readonly namespace?: string;
  readonly law?: string;
  readonly run?: string;
  readonly stage?: string;
  readonly condition?: string;
  readonly value?: string;
  readonly type?: string;
  readonly head?: string;
  readonly anyHead?: boolean;
  readonly observedAt?: string;
  readonly digestOnly?: boolean;
}

/** Runs `gate evidence sign`: prints the item of `caller_evidence`. */
export async function runEvidenceSign(options: SignOptions): Promise<number> {
  const file = required(options.key, "--key");
  const key = await readKey(file, options.passphraseFile);
  const keyId = options.keyId ?? `${file}.pub`;
  const { item, statement, statement_identity } = signApproval(key, keyId, {
    namespace_id: wholeNumber(required(options.namespace, "--namespace"), "--namespace", 1),
    scenario_law_identity: matching(options.law, "--law", isIdentity, "64 lower-case hex digits"),
    run_id: matching(options.run, "--run", isOperationIdentity, "32 lower-case hex digits"),
    stage_id: required(options.stage, "--stage"),
    condition_id: required(options.condition, "--condition"),
    value: typedValue(options),
    observed_at: options.observedAt === undefined ? Date.now() : wholeNumber(options.observedAt, "--observed-at", 0),
    head: headOf(options),
    retention: options.digestOnly === true ? "RetainDigestOnly" : "RetainCanonicalValue",
  });
  const result = { item, statement, statement_identity, key_id: keyId, public_key: key.public_key };
  const note = `Signed: ${statement}\nKey id: ${keyId}; trust or providers[].trust must use this name\n`;
  return writeAnswer("evidence sign", options, result, prettyJson(item), { note });
}

function required(value: string | undefined, flag: string): string {
  if (value !== undefined) return value;
  throw new CliError("usage", `Flag ${flag} is missing`, "see gate help evidence sign");
}

function matching(
  value: string | undefined,
  flag: string,
  test: (text: unknown) => text is string,
  expected: string,
): string {
  const text = required(value, flag);
  if (test(text)) return text;
  throw new CliError("usage", `Cannot read ${flag} "${text}": expected ${expected}`);
}

function wholeNumber(text: string, flag: string, minimum: number): number {
  const number = /^\d+$/.test(text) ? Number(text) : NaN;
  if (Number.isSafeInteger(number) && number >= minimum) return number;
  throw new CliError("usage", `Cannot read ${flag} "${text}": expected a whole number, at least ${minimum}`);
}

/** Parses `RECORD_ID:REVISION`, the members of `accepted_head`. */
function headOf({ head, anyHead }: SignOptions): Head | null {
  if (anyHead === true && head !== undefined) {
    throw new CliError("usage", "Flags --head and --any-head exclude each other");
  }
  if (anyHead === true) return null;
  const [record_id, revision, ...rest] = required(head, "--head").split(":");
  if (rest.length === 0 && isIdentity(record_id) && revision !== undefined) {
    return { record_id, revision: wholeNumber(revision, "--head", 1) };
  }
  throw new CliError("usage", `Cannot read --head "${head}": expected RECORD_ID:REVISION of the run's accepted_head`);
}

/** Parses the value. The type of a boolean, a string or an integer follows from the value. */
function typedValue({ value, type }: SignOptions): TypedValue {
  const parsed = parseJson(required(value, "--value"));
  if (!parsed.ok) {
    const hint = `quote a string twice: --value '"approved"'`;
    throw new CliError("usage", `Cannot read --value as JSON: ${parsed.fault.message}`, hint);
  }
  const value_type = type === undefined ? impliedType(parsed.value) : namedType(type);
  const fault = checkTypedValue(parsed.value, value_type);
  if (fault !== null) throw new CliError("usage", `Cannot read --value as ${value_type}: ${fault}`);
  return { value: parsed.value, value_type };
}

function impliedType(value: unknown): ValueType {
  if (typeof value === "boolean") return "Boolean";
  if (typeof value === "string") return "String";
  if (Number.isSafeInteger(value)) return "Integer";
  throw new CliError("usage", "Flag --type is missing: the value has more than one possible type");
}

function namedType(name: string): ValueType {
  const found = VALUE_TYPES.find((known) => known === name);
  if (found !== undefined) return found;
  throw new CliError("usage", `Cannot read --type "${name}": expected one of ${VALUE_TYPES.join(", ")}`);
}
