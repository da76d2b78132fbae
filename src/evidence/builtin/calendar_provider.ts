/** The provider `calendar`: weekly windows in local time. It depends on the trigger time only and reads no clock. */

import process from "node:process";
import type { Timestamp as TriggerTime } from "../../law/types.ts";
import type { EvidenceQuery } from "../types.ts";
import type { Engine } from "./engine.ts";
import { describeGrant } from "./permissions.ts";
import { answered, type Finding, invalidParams, observed, paramsOf, readText, type Source } from "./result.ts";

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

/** A weekly window: the days on which it begins, and minutes of the day. */
interface Window {
  readonly days: ReadonlySet<number>;
  readonly start: number;
  /** At most the start where the window ends on the next day. */
  readonly end: number;
}

interface LocalTime {
  readonly day: number;
  readonly minute: number;
}

function isOpen({ days, start, end }: Window, { day, minute }: LocalTime): boolean {
  if (start < end) return days.has(day) && minute >= start && minute < end;
  return (days.has(day) && minute >= start) || (days.has((day + 6) % 7) && minute < end);
}

const DAYS = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
const SCHEDULE_CHARACTERS_MAXIMUM = 64;
const ZONE_CHARACTERS_MAXIMUM = 64;
const SCHEDULE = /^(\S+) ([01]\d|2[0-3]):([0-5]\d)-([01]\d|2[0-4]):([0-5]\d)$/;

/** Reads days, as `Mon`, `Mon-Fri` or `Mon,Wed-Fri`, and hours; null for any other text. */
function readSchedule(text: string): Window | null {
  if (text.length > SCHEDULE_CHARACTERS_MAXIMUM) return null;
  const [, listed = "", ...hours] = SCHEDULE.exec(text) ?? [];
  const [startHour = NaN, startMinute = NaN, endHour = NaN, endMinute = NaN] = hours.map(Number);
  const start = startHour * 60 + startMinute;
  const end = endHour * 60 + endMinute;
  const days = new Set<number>();
  for (const part of listed.split(",")) {
    const [first = -1, last = first, ...more] = part.split("-").map((name) => DAYS.indexOf(name));
    if (first < 0 || last < 0 || more.length > 0) return null;
    for (let day = first;; day = (day + 1) % 7) {
      days.add(day);
      if (day === last) break;
    }
  }
  return end > 24 * 60 || start === end ? null : { days, start, end };
}

/** The local time of instants in a zone; null for a zone that the data lack. */
function localClock(zone: string): ((millis: number) => LocalTime) | null {
  if (zone.length > ZONE_CHARACTERS_MAXIMUM || !/^[A-Za-z]/.test(zone)) return null;
  let format: Intl.DateTimeFormat;
  try {
    format = new Intl.DateTimeFormat("en-GB", {
      timeZone: zone,
      weekday: "short",
      hour: "2-digit",
      minute: "2-digit",
      hourCycle: "h23",
    });
  } catch {
    return null;
  }
  return (millis) => {
    const parts = new Map(format.formatToParts(millis).map(({ type, value }) => [type, value]));
    return {
      day: DAYS.indexOf(parts.get("weekday") ?? ""),
      minute: Number(parts.get("hour")) * 60 + Number(parts.get("minute")),
    };
  };
}
