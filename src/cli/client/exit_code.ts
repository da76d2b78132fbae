/** Maps the answer of a tool to an exit code for scripts. */

import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, member } from "../../canonical/json.ts";
import { EXIT, type ExitCode } from "../terminal/exit_codes.ts";

/** Truth values of attempts and prechecks. */
const TRUTHS: Readonly<Record<string, ExitCode>> = {
  true: EXIT.ok,
  false: EXIT.evaluatedFalse,
  unknown: EXIT.unknown,
};

/** Outcomes other than `accepted`. An outcome that is not listed is an error in the call. */
const REFUSALS: Readonly<Record<string, ExitCode>> = {
  published: EXIT.ok,
  stale: EXIT.stale,
  policy_denied: EXIT.denied,
  unauthorized: EXIT.denied,
  acquisition_failed: EXIT.unreachable,
  authority_unavailable: EXIT.unreachable,
  indeterminate: EXIT.unreachable,
  repository_unavailable: EXIT.unreachable,
  integrity_failure: EXIT.verificationFailed,
};

/** Kinds of a tool's error. */
const ERROR_KINDS: Readonly<Record<string, ExitCode>> = {
  unauthorized: EXIT.denied,
  unavailable: EXIT.unreachable,
  internal: EXIT.unexpected,
};

/** Kinds of a JSON-RPC error. */
const EDGE_KINDS: Readonly<Record<string, ExitCode>> = {
  unauthenticated: EXIT.denied,
  unauthorized: EXIT.denied,
  rate_limited: EXIT.unreachable,
  inflight_limit: EXIT.unreachable,
  unavailable: EXIT.unreachable,
  internal: EXIT.unexpected,
};

function lookUp(codes: Readonly<Record<string, ExitCode>>, name: JsonValue | undefined): ExitCode | undefined {
  return typeof name === "string" && Object.hasOwn(codes, name) ? codes[name] : undefined;
}

/** The exit code for the structured result of a tool. */
export function exitCodeOfAnswer(answer: JsonObject): ExitCode {
  const error = member(answer, "error");
  if (isJsonObject(error)) {
    if (member(error, "code") === "store_corrupt") return EXIT.verificationFailed;
    return lookUp(ERROR_KINDS, member(error, "kind")) ?? EXIT.usage;
  }
  const results = member(answer, "results");
  if (isJsonArray(results)) return exitCodeOfList(results.filter(isJsonObject));
  // A tool without a structured result.
  if (member(answer, "isError") === true) return EXIT.usage;
  const envelope = member(answer, "outcome") ?? member(answer, "publication");
  if (!isJsonObject(envelope)) return lookUp(TRUTHS, envelope) ?? exitCodeOfReport(answer);
  const outcome = member(envelope, "outcome");
  if (outcome === "accepted") return exitCodeOfResult(member(envelope, "result"));
  return lookUp(REFUSALS, outcome) ?? EXIT.usage;
}

/** The exit code of the operations of a list: that of the first refusal, else the highest of what is accepted. */
function exitCodeOfList(results: readonly JsonObject[]): ExitCode {
  const made = results.filter((one) => member(one, "not_attempted") === undefined);
  const isAccepted = ({ outcome = null }: JsonObject): boolean =>
    isJsonObject(outcome) && outcome["outcome"] === "accepted";
  const refused = made.find((one) => !isAccepted(one));
  if (refused === undefined && made.length < results.length) return EXIT.unreachable;
  if (refused === undefined) return Math.max(...made.map(exitCodeOfAnswer)) as ExitCode;
  const { error = null } = refused;
  return isJsonObject(error) && typeof error["code"] === "number"
    ? exitCodeOfEdge(error["data"])
    : exitCodeOfAnswer(refused);
}

/** The exit code of an accepted result: the truth value of its attempts, else whether a step holds. */
function exitCodeOfResult(result: JsonValue | undefined): ExitCode {
  if (!isJsonObject(result)) return EXIT.ok;
  const attempt = member(result, "attempt");
  const feedback = member(result, "feedback");
  const listed = isJsonObject(feedback) ? listOf(member(feedback, "attempts")) : [];
  const attempts = isJsonObject(attempt) ? [attempt] : listed;
  const codes = attempts.flatMap((one) => isJsonObject(one) ? lookUp(TRUTHS, member(one, "outcome")) ?? [] : []);
  if (codes.length > 0) return Math.max(...codes) as ExitCode;
  const decision = member(result, "decision");
  const decisions = decision === undefined ? listOf(member(result, "decisions")) : [decision];
  const isHeld = decisions.some((one) => isJsonObject(one) && member(one, "kind") === "hold");
  return isHeld ? EXIT.unknown : EXIT.ok;
}

function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return isJsonArray(value) ? value : [];
}

/** The exit code of a verification report: failed if a claim is violated. */
function exitCodeOfReport(answer: JsonObject): ExitCode {
  const report = member(answer, "report") ?? answer;
  const claims = isJsonObject(report) ? member(report, "claims") : undefined;
  const all = isJsonArray(claims) ? claims : isJsonObject(claims) ? Object.values(claims) : [];
  const isViolated = all.some((claim) => {
    const status = isJsonObject(claim) ? member(claim, "status") : undefined;
    return status === "violated" || (isJsonObject(status) && member(status, "status") === "violated");
  });
  return isViolated ? EXIT.verificationFailed : EXIT.ok;
}

/** The exit code for a JSON-RPC error of the server, by its kind, which is more specific than its code. */
export function exitCodeOfEdge(data: unknown): ExitCode {
  const kind = isJsonObject(data as JsonValue) ? member(data as JsonObject, "kind") : undefined;
  return lookUp(EDGE_KINDS, kind) ?? EXIT.usage;
}
