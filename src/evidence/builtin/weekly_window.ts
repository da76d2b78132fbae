/** Weekly windows in local time, as the provider `calendar` and law files read them. */

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

/** Whether a local time lies in a window. */
export function isOpen({ days, start, end }: Window, { day, minute }: LocalTime): boolean {
  if (start < end) return days.has(day) && minute >= start && minute < end;
  return (days.has(day) && minute >= start) || (days.has((day + 6) % 7) && minute < end);
}

const DAYS = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
const SCHEDULE_CHARACTERS_MAXIMUM = 64;
const ZONE_CHARACTERS_MAXIMUM = 64;
const SCHEDULE = /^(\S+) ([01]\d|2[0-3]):([0-5]\d)-([01]\d|2[0-4]):([0-5]\d)$/;

/** Reads days, as `Mon`, `Mon-Fri` or `Mon,Wed-Fri`, and hours; null for any other text. */
export function readSchedule(text: string): Window | null {
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
export function localClock(zone: string): ((millis: number) => LocalTime) | null {
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
