import assert from "node:assert/strict";
import { checkCalendar, createCalendarEngine } from "./calendar_provider.ts";

const NIGHT = "Tue-Thu 22:00-02:00";
const BERLIN = "Europe/Berlin";

/** Schedule, zone, instant, and whether the window is open or the code of the error. */
const ROWS: readonly (readonly [schedule: string, zone: string, at: string, found: string])[] = [
  [NIGHT, BERLIN, "2026-11-24T20:59:59.999Z", "false"],
  [NIGHT, BERLIN, "2026-11-24T21:00:00Z", "true"],
  [NIGHT, BERLIN, "2026-11-25T00:59:59.999Z", "true"],
  [NIGHT, BERLIN, "2026-11-25T01:00:00Z", "false"],
  // The night from Monday belongs to Monday, the one from Thursday to Thursday.
  [NIGHT, BERLIN, "2026-11-24T00:30:00Z", "false"],
  [NIGHT, BERLIN, "2026-11-27T00:30:00Z", "true"],
  [NIGHT, "UTC", "2026-11-24T21:00:00Z", "false"],
  ["Sun 01:00-03:00", "UTC", "2026-11-29T01:00:00Z", "true"],
  ["Sat 22:00-02:00", "UTC", "2026-11-29T01:00:00Z", "true"],
  ["Sun 22:00-02:00", "UTC", "2026-11-30T01:59:00Z", "true"],
  ["Sat-Mon 00:00-24:00", "UTC", "2026-11-30T23:59:59Z", "true"],
  ["Sat-Mon 00:00-24:00", "UTC", "2026-12-01T00:00:00Z", "false"],
  ["Mon,Wed-Fri 09:00-17:00", "Asia/Kolkata", "2026-11-30T03:30:00Z", "true"],
  ["Mon,Wed-Fri 09:00-17:00", "Asia/Kolkata", "2026-12-01T03:30:00Z", "false"],
  // On 2026-03-29 02:00 to 03:00 does not exist in Berlin; on 2026-10-25 it is there twice.
  ["Sun 02:00-03:00", BERLIN, "2026-03-29T00:59:59Z", "false"],
  ["Sun 02:00-03:00", BERLIN, "2026-03-29T01:00:00Z", "false"],
  ["Sun 02:30-03:30", BERLIN, "2026-03-29T01:29:59Z", "true"],
  ["Sun 02:00-03:00", BERLIN, "2026-10-25T00:30:00Z", "true"],
  ["Sun 02:00-03:00", BERLIN, "2026-10-25T01:30:00Z", "true"],
  ["Sun 02:00-03:00", BERLIN, "2026-10-25T02:00:00Z", "false"],
  ...[
    "",
    "Tue",
    "22:00-02:00",
    "tue 22:00-02:00",
    "Tue  22:00-02:00",
    "Tue 9:00-10:00",
    "Tue 24:00-02:00",
    "Tue 22:00-24:01",
    "Tue 22:00-22:00",
    "Tue 22:60-23:00",
    "Tue- 22:00-23:00",
    "Tue-Wed-Thu 22:00-23:00",
    ",Tue 22:00-23:00",
    `${"Mon,".repeat(14)}Mon 22:00-23:00`,
  ].map((schedule) => [schedule, "UTC", "2026-11-24T21:00:00Z", "params_invalid"] as const),
  ...["", "Europe/Berlinn", "+01:00", `E${"x".repeat(64)}`].map(
    (zone) => [NIGHT, zone, "2026-11-24T21:00:00Z", "params_invalid"] as const,
  ),
];

for (const [schedule, time_zone, at, found] of ROWS) {
  Deno.test(`calendar open: ${schedule} ${time_zone} at ${at}: ${found}`, () => {
    const query = { provider_id: "calendar", check_id: "open", params: { schedule, time_zone } };
    const finding = checkCalendar(query, { kind: "unix_millis", value: Date.parse(at) });
    assert.equal("error" in finding ? finding.error.code : finding.found, found);
  });
}

Deno.test("calendar open accepts a schedule of 64 characters", () => {
  const days = `${"Mon,".repeat(13)}Mon`;
  const query = (schedule: string) => ({
    provider_id: "calendar",
    check_id: "open",
    params: { schedule, time_zone: "UTC" },
  });
  const schedule = `${days.slice(0, 51)} 22:00-23:00`;
  assert.equal(schedule.length, 63);
  assert.ok("found" in checkCalendar(query(schedule), { kind: "unix_millis", value: 0 }));
});

Deno.test("calendar open refuses a logical time, and its anchor names the data of time zones", async () => {
  const query = { provider_id: "calendar", check_id: "open", params: { schedule: NIGHT, time_zone: BERLIN } };
  const logical = checkCalendar(query, { kind: "logical", value: 1 });
  assert.equal("error" in logical && logical.error.code, "logical_time_not_allowed");
  const trigger_time = { kind: "unix_millis", value: 0 } as const;
  const answer = await createCalendarEngine().answer(
    query,
    { namespace_id: 2, trigger_time },
    new AbortController().signal,
  );
  const anchor = answer.ok ? JSON.parse(answer.result.evidence_anchor?.anchor_value ?? "{}") : {};
  assert.deepEqual([anchor.kind, anchor.value, anchor.time_zone], ["unix_millis", 0, BERLIN]);
  assert.match(anchor.time_zone_data, /^20\d\d[a-z]$/);
});
