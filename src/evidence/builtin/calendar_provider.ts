/** The provider `calendar`: weekly windows in local time. It depends on the trigger time only and reads no clock. */

import process from "node:process";
import type { Timestamp as TriggerTime } from "../../law/types.ts";
import type { EvidenceQuery } from "../types.ts";
import type { Engine } from "./engine.ts";
import { describeGrant } from "./permissions.ts";
import { answered, type Finding, invalidParams, observed, paramsOf, readText, type Source } from "./result.ts";
import { isOpen, localClock, readSchedule } from "./weekly_window.ts";

/** The provider `calendar`. A schedule is short, so no worker reads it. */
export function createCalendarEngine(): Engine {
  return {
    answer: (query, { trigger_time }) => {
      const source = calendarSource(query, trigger_time);
      return Promise.resolve(answered(checkCalendar(query, trigger_time), source, describeGrant({})));
    },
    close: () => {},
  };
}

/** The source of a check: the reading, and the data by which its local time was found. */
function calendarSource({ params }: EvidenceQuery, { kind, value }: TriggerTime): Source {
  const { time_zone = null } = params as { readonly time_zone?: string } ?? {};
  const anchor = { kind, value, time_zone, time_zone_data: process.versions["tz"] ?? "unknown" };
  return { anchor_type: "time_zone_data", anchor, uri: null };
}

/** Answers whether a trigger time lies in a window. */
export function checkCalendar(query: EvidenceQuery, { kind, value }: TriggerTime): Finding {
  const given = paramsOf(query, ["schedule", "time_zone"], true);
  if ("error" in given) return given;
  const schedule = readText(given.params, "schedule");
  const zone = readText(given.params, "time_zone");
  if (typeof schedule !== "string") return schedule;
  if (typeof zone !== "string") return zone;
  const window = readSchedule(schedule);
  if (window === null) return invalidParams("schedule", '"schedule" as days and hours, such as "Tue-Thu 22:00-02:00"');
  const clock = localClock(zone);
  if (clock === null) return invalidParams("time_zone", '"time_zone" as an IANA name, such as "Europe/Berlin"');
  if (kind === "logical") {
    return observed("logical_time_not_allowed", "Logical trigger times have no day and no hour");
  }
  if (!Number.isSafeInteger(value) || Number.isNaN(new Date(value).valueOf())) {
    return observed("trigger_time_invalid", "Expected the trigger time to be an instant");
  }
  return { found: String(isOpen(window, clock(value))), content_type: "application/json" };
}
