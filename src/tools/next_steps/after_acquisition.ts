/** The next steps after a failed acquisition: most failures pass by themselves, the others need a repair first. */

import { isJsonArray, isJsonObject, type JsonObject, member } from "../../canonical/json.ts";
import type { SchemaFailureCode } from "../../evidence/sandbox/schema_sandbox.ts";
import type { OperationalCode } from "../../evidence/types.ts";
import { type Retry, textOf } from "./shared_steps.ts";
import type { NextStep } from "../framework/types.ts";

/** Every code of an acquisition that failed. */
export type AcquisitionCode =
  | OperationalCode
  | "provider_not_configured"
  | "provider_version_deprecated"
  | SchemaFailureCode;

/** What helps: the same call, perhaps after a repair; a new run; or another law. */
type Help = "call" | "start" | "define";

/** The remedy of each failure that does not pass by itself, with its reason. */
const REMEDIES: Readonly<Record<AcquisitionCode, readonly [help: Help, why: string]>> = {
  timeout: ["call", "no answer came in time: have the provider checked, then call again"],
  dns_failed: ["call", "its host has no address: have the name corrected, then call again"],
  tls_failed: ["call", "no secure connection comes about: have its certificate and its TLS checked, then call again"],
  server_certificate_untrusted: [
    "call",
    "no trusted authority issued its certificate: have that corrected, then call again",
  ],
  server_certificate_name_mismatch: [
    "call",
    "its certificate is for another name: have that corrected, then call again",
  ],
  client_certificate_missing: ["call", "it wants a client certificate: have one configured, then call again"],
  client_certificate_untrusted: ["call", "it does not trust gate's certificate: have that corrected, then call again"],
  destination_refused: ["call", "the operator allows no such destination: have it allowed, then call again"],
  destination_blocked: ["call", "its address is not public: have private networks allowed, then call again"],
  connection_failed: ["call", "its host accepts no connection: have it checked, then call again"],
  response_truncated: ["call", "the reply ended early: have the provider checked, then call again"],
  response_too_large: ["define", "the answer is larger than a value may be: define a law whose check asks for less"],
  worker_died: ["call", "its process ended: have the provider checked, then call again"],
  provider_unreachable: ["call", "it refuses gate, or gate may not reach it: have that corrected, then call again"],
  provider_protocol_error: ["call", "its reply is invalid: have the provider repaired, then call again"],
  provider_not_configured: ["call", "it is no longer configured: have it configured, then call again"],
  provider_version_deprecated: [
    "start",
    "its version is deprecated for ever: start a new run, bound to the active one",
  ],
  contract_changed: ["start", "its contract is not the one that the run began with: start a new run"],
  credential_unavailable: ["call", "gate cannot read its credential: have it put in place, then call again"],
  credential_locator_refused: ["call", "the operator does not grant its credential: have it granted, then call again"],
  host_not_allowed: ["call", "the operator does not grant its host: have it granted, then call again"],
  cancelled: ["call", "the call ended before the answer came: call again and wait for it"],
  schema_deadline_exceeded: [
    "call",
    "a JSON Schema took too long on the value: call again, with another value if it takes too long again",
  ],
  schema_refused: ["define", "a JSON Schema cannot be used: define a law with another one"],
  schema_validator_failed: ["define", "a JSON Schema gives no verdict on the value: define a law with another one"],
  schema_worker_failed: ["call", "the worker of JSON Schemas failed: call again"],
  schema_overloaded: ["call", "the worker of JSON Schemas has too much to do: call again"],
  schema_closed: ["call", "the server is shutting down: call again once it is back"],
};

/** Every code that has a remedy. */
export const ACQUISITION_CODES: readonly string[] = Object.keys(REMEDIES);

/**
 * This failure passes where the machine was busy, and lasts where the value takes too long: it has a remedy all the
 * same.
 */
const MAY_LAST = "schema_deadline_exceeded";

const PASSES = "Nothing was recorded: call again, unchanged, once the failure is over";

/** Most failures with a step of their own. */
const FAILURES_MAXIMUM = 4;

/** The failed part, as the beginning of a sentence. */
function subjectOf(failure: JsonObject): string {
  const binding = textOf(failure, "binding_id");
  if (binding !== "") return `Binding ${JSON.stringify(binding)}`;
  const condition = textOf(failure, "condition_id");
  return condition === "" ? "The provider" : `Condition ${JSON.stringify(condition)}`;
}

/** The step for one failure that does not pass by itself. */
function remedyOf(failure: JsonObject, retry: Retry, start: JsonObject): NextStep {
  const code = textOf(failure, "code");
  const [help, reason] = REMEDIES[code as AcquisitionCode] ?? ["call", "have the provider checked, then call again"];
  const why = `${subjectOf(failure)} failed with ${code}: ${reason}`;
  switch (help) {
    case "call":
      return retry({}, why);
    case "start":
      return { tool: "scenario_start", arguments_hint: start, why };
    case "define":
      return { tool: "scenario_define", arguments_hint: {}, why };
  }
}

/**
 * The steps after a failed acquisition. A failure that passes by itself has no step beside one that does not.
 *
 * @param retry The call once more
 * @param start The known arguments of `scenario_start`
 * @param takesBindings Whether the call may name the bindings to run
 */
export function nextAfterAcquisition(
  failures: readonly JsonObject[],
  retry: Retry,
  start: JsonObject,
  takesBindings: boolean,
): NextStep[] {
  const lasting = failures.filter((failure) =>
    member(failure, "retryable") !== true || textOf(failure, "code") === MAY_LAST
  );
  if (lasting.length === 0) return [retry({}, PASSES)];
  const steps = lasting.slice(0, FAILURES_MAXIMUM).map((failure) => remedyOf(failure, retry, start));
  if (!takesBindings) return steps;
  const why =
    "Or name in local_acquisition only the bindings that can be run, if any: the other conditions stay unknown " +
    "unless caller_evidence settles them";
  return [...steps, retry({ local_acquisition: [] }, why)];
}

/** The failures of an outcome `acquisition_failed`. */
export function failuresOf(result: JsonObject): readonly JsonObject[] {
  const failures = member(result, "failures");
  return isJsonArray(failures) ? failures.filter(isJsonObject) : [];
}
