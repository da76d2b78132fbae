/** The checks of the provider `time`. They depend on the trigger time only and read no clock. */

import { canonicalize } from "../../canonical/canonicalize.ts";
import { member } from "../../canonical/json.ts";
import type { BuiltinProviderConfig } from "../../config/types.ts";
import type { Timestamp as TriggerTime } from "../../law/types.ts";
import { compareTimestamps, parseTimestamp, timestampOfMillis } from "../../law/value/timestamp.ts";
import type { EvidenceQuery } from "../types.ts";
import { type Finding, invalidParams, observed, paramsOf, type Source } from "./result.ts";

/** A question to the worker. */
export interface TimeQuestion {
  readonly query: EvidenceQuery;
  readonly trigger_time: TriggerTime;
}

const CONTENT_TYPE = "application/json";

/** Answers a time check. */
export function checkTime(
  config: BuiltinProviderConfig<"time">,
  { query, trigger_time: trigger }: TimeQuestion,
): Finding {
  const isNow = query.check_id === "now";
  const given = paramsOf(query, isNow ? [] : ["timestamp"], !isNow);
  if ("error" in given) return given;
  const refusal = refuseTrigger(config, trigger);
  if (refusal !== null) return refusal;
  if (isNow) return { found: canonicalize(trigger.value), content_type: CONTENT_TYPE };
  const threshold = member(given.params, "timestamp");
  const order = trigger.kind === "logical"
    ? logicalOrder(trigger.value, threshold)
    : instantOrder(trigger.value, threshold);
  if (typeof order !== "number") return order;
  return { found: String(query.check_id === "after" ? order > 0 : order < 0), content_type: CONTENT_TYPE };
}

/** The source of every time check: the trigger time itself. */
export function timeSource({ kind, value }: TriggerTime): Source {
  return { anchor_type: `trigger_time_${kind}`, anchor: { kind, value }, uri: null };
}

function refuseTrigger(config: BuiltinProviderConfig<"time">, { kind, value }: TriggerTime): Finding | null {
  if (!Number.isSafeInteger(value) || (kind === "logical" && value < 0)) {
    return observed("trigger_time_invalid", "Expected the trigger time to be an integer");
  }
  if (kind !== "logical" || config.allow_logical) return null;
  return observed("logical_time_not_allowed", "Logical trigger times are not allowed (allow_logical)");
}

/** Compares a logical trigger time with a threshold. */
function logicalOrder(trigger: number, threshold: unknown): number | Finding {
  if (typeof threshold === "number" && Number.isSafeInteger(threshold) && threshold >= 0) return trigger - threshold;
  return invalidParams("timestamp", 'an integer "timestamp" of at least 0 for a logical trigger time');
}

/** Compares a trigger time in Unix milliseconds with a threshold, fractions of a millisecond included. */
function instantOrder(trigger: number, threshold: unknown): number | Finding {
  if (typeof threshold === "number" && Number.isSafeInteger(threshold)) return trigger - threshold;
  const timestamp = typeof threshold === "string" ? parseTimestamp(threshold) : null;
  if (timestamp?.kind === "date_time") return compareTimestamps(timestampOfMillis(trigger), timestamp) ?? 0;
  return invalidParams("timestamp", '"timestamp" as integer Unix milliseconds or an RFC 3339 date-time with offset');
}
