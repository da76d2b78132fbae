/** `gate provider check`: runs one check of a configured provider now, and shows its result. */

import { DEFAULT_NAMESPACE } from "../../access/namespace.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../canonical/json.ts";
import { parseJson } from "../../canonical/scan.ts";
import { examineResult } from "../../evidence/acquisition/examine.ts";
import { judgeParams } from "../../evidence/acquisition/params.ts";
import { measureValue } from "../../evidence/acquisition/present.ts";
import { findResultError, laneAtGivenTime } from "../../evidence/acquisition/single_query.ts";
import { minimumLane, type OperatorProfile } from "../../run/profile.ts";
import type { ObservedError } from "../../run/types.ts";
import { operatorProfile } from "../../tools/services/operator_profile.ts";
import { readFileAtMost } from "../../config/files.ts";
import type { CheckContract, EvidenceResult, OperationalCode, Provider } from "../../evidence/types.ts";
import { CliError } from "../terminal/cli_error.ts";
import { EXIT } from "../terminal/exit_codes.ts";
import { parseNamespace } from "../terminal/namespace_flag.ts";
import { namedValues } from "../terminal/named_values.ts";
import { prettyJson, writeError, writeOut, writeResult } from "../terminal/output.ts";
import { type ProviderFlags, type ProviderSession, withProviders } from "./session.ts";

/** The flags of `gate provider check`. */
export interface ProviderCheckOptions extends ProviderFlags {
  /** Each `name=value`. */
  readonly param?: readonly string[];
  /** All parameters as JSON. */
  readonly params?: string;
  readonly triggerTime?: string;
}

/** The outcome of a check. */
type Outcome =
  | {
    readonly result: EvidenceResult;
    readonly grant: JsonObject;
    readonly milliseconds: number;
    /** Why an evaluation would not count the result; absent if it would. */
    readonly not_counted?: ObservedError;
  }
  | {
    readonly failure: { readonly code: OperationalCode; readonly message: string; readonly retryable: boolean };
    readonly milliseconds: number;
  };

/**
 * Runs `gate provider check PROVIDER CHECK`. The exit code is 0 for a result that counts, and 8 without a result. It is
 * 4 for an observed error, and for a result that does not count under the trust settings.
 */
export async function runProviderCheck(
  providerId: string,
  checkId: string,
  options: ProviderCheckOptions,
): Promise<number> {
  return await withProviders(options, async (session) => {
    const { provider, check } = find(session, providerId, checkId);
    const params = paramsOf(options);
    const misfit = await judgeParams(session.schemas, provider.loaded, check, params);
    if (misfit !== null) throw new CliError("usage", misfit, `expected ${JSON.stringify(check.params_schema)}`);
    const profile = await operatorProfile(session.config, readFileAtMost, session.config.dev.permissive);
    const queried = await run(provider, checkId, params, triggerTime(options), namespaceOf(options));
    const found = await examined(session, provider, check, queried);
    const answered = withTrust(found, provider, profile);
    const outcome = atGivenTime(answered, provider, options);
    write(outcome, provider, options.json === true);
    if ("failure" in outcome) return EXIT.unreachable;
    return isCounted(outcome) ? EXIT.ok : EXIT.unknown;
  });
}

/** The outcome with the error of a result that violates the contract, in place of the result. */
async function examined(
  { schemas }: ProviderSession,
  provider: Provider,
  check: CheckContract,
  outcome: Outcome,
): Promise<Outcome> {
  if ("failure" in outcome || outcome.result.error !== null) return outcome;
  const error = await examineResult(schemas, provider.loaded, check, outcome.result);
  if (error === null) return outcome;
  return { ...outcome, result: { ...outcome.result, value: null, evidence_hash: null, content_type: null, error } };
}

function find(
  { providers }: ProviderSession,
  providerId: string,
  checkId: string,
): { readonly provider: Provider; readonly check: CheckContract } {
  const provider = providers.get(providerId);
  if (provider === undefined) {
    const known = [...providers.keys()].join(", ");
    throw new CliError(
      "usage",
      `Provider "${providerId}" is not configured`,
      known === "" ? null : `configured are ${known}`,
    );
  }
  const { checks } = provider.loaded.contract;
  const check = checks.find(({ check_id }) => check_id === checkId);
  if (check !== undefined) return { provider, check };
  const known = checks.map(({ check_id }) => check_id).join(", ");
  throw new CliError("usage", `Provider "${providerId}" has no check "${checkId}"`, `it has ${known}`);
}

/** Merges `--params` and each `--param`; the latter override the former. */
function paramsOf({ param = [], params }: ProviderCheckOptions): JsonValue | undefined {
  const named = namedValues("--param", param);
  if (params === undefined) return param.length === 0 ? undefined : named;
  const parsed = parseJson(params);
  if (!parsed.ok) throw new CliError("usage", `Cannot read --params as JSON: ${parsed.fault.message}`);
  if (param.length === 0) return parsed.value;
  if (isJsonObject(parsed.value)) return { ...parsed.value, ...named };
  throw new CliError("usage", "Cannot combine --param with --params: --params is not a JSON object");
}

function triggerTime({ triggerTime: text }: ProviderCheckOptions): number {
  if (text === undefined) return Date.now();
  const millis = /^\d+$/.test(text) ? Number(text) : NaN;
  if (Number.isSafeInteger(millis)) return millis;
  throw new CliError("usage", `Cannot read --trigger-time "${text}": expected Unix milliseconds`);
}

/** The namespace of the query; without the flag the default one. */
function namespaceOf({ namespace }: ProviderCheckOptions): number {
  return namespace === undefined ? DEFAULT_NAMESPACE : parseNamespace(namespace);
}

/** Sets the lane of a result at the time of `--trigger-time`, if given. */
function atGivenTime(outcome: Outcome, provider: Provider, { triggerTime: text }: ProviderCheckOptions): Outcome {
  if (text === undefined || "failure" in outcome) return outcome;
  return { ...outcome, result: { ...outcome.result, lane: laneAtGivenTime(provider, outcome.result) } };
}

function isCounted(outcome: Extract<Outcome, { readonly result: EvidenceResult }>): boolean {
  return outcome.result.error === null && outcome.not_counted === undefined;
}

/** Adds the reason why an evaluation would not count the result. */
function withTrust(outcome: Outcome, provider: Provider, profile: OperatorProfile): Outcome {
  if ("failure" in outcome || outcome.result.error !== null) return outcome;
  const not_counted = findObstacle(provider, profile, outcome.result);
  return not_counted === null ? outcome : { ...outcome, not_counted };
}

function findObstacle(provider: Provider, profile: OperatorProfile, result: EvidenceResult): ObservedError | null {
  const { provider_id } = provider;
  if (result.lane === "asserted" && minimumLane(profile, provider_id) === "verified") {
    const message = `Provider "${provider_id}" declares the lane asserted, and trust.min_lane is verified`;
    return { code: "lane", message };
  }
  const source = result.value === null ? null : measureValue(result.value);
  const error = findResultError(provider, profile, result, source);
  // The signature of a statement includes the run, so it can only be verified within a run.
  const isStatement = error?.code === "signature_invalid" && result.signature !== null &&
    result.observed_at !== undefined;
  return isStatement ? null : error;
}

async function run(
  provider: Provider,
  check_id: string,
  params: JsonValue | undefined,
  now: number,
  namespace_id: number,
): Promise<Outcome> {
  const query = { provider_id: provider.provider_id, check_id, ...params === undefined ? {} : { params } };
  const context = { namespace_id, trigger_time: { kind: "unix_millis", value: now } } as const;
  const started = performance.now();
  const answer = await provider.query(query, context, new AbortController().signal);
  const milliseconds = Math.round((performance.now() - started) * 10) / 10;
  if (answer.ok) return { result: answer.result, grant: answer.grant, milliseconds };
  const { code, message, retryable } = answer;
  return { failure: { code, message, retryable }, milliseconds };
}

function write(outcome: Outcome, provider: Provider, asJson: boolean): void {
  if (asJson) return writeResult("provider check", outcome, !("failure" in outcome) && isCounted(outcome));
  if ("failure" in outcome) {
    const { code, message } = outcome.failure;
    writeError(`gate: ${code}: ${message} (after ${outcome.milliseconds} ms)\n`);
    const log = "stderrTail" in provider && typeof provider.stderrTail === "function"
      ? String(provider.stderrTail())
      : "";
    if (log !== "") writeError(`The end of the provider's standard error:\n${log.trimEnd()}\n`);
    return;
  }
  writeOut(prettyJson(outcome.result));
  const { grant, milliseconds, not_counted } = outcome;
  writeError(`grant ${JSON.stringify(grant)}, ${milliseconds} ms\n`);
  if (not_counted === undefined) return;
  writeError(`gate: this result does not count as evidence: ${not_counted.code}: ${not_counted.message}\n`);
}
