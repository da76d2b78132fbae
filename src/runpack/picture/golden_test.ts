/** The drawings of the guide, byte for byte. "-- --rewrite" writes them; look at each one before it is committed. */
import assert from "node:assert/strict";
import type { Requirement } from "../../law/types.ts";
import type { DrawnLaw } from "./boxes.ts";
import { drawLaw } from "./draw_law.ts";
import type { ConditionMark, StageMark } from "./marks.ts";
import type { RunPicture } from "./run_picture.ts";

const leaf = (id: string): Requirement => ({ Condition: id });
const all = (...ids: readonly string[]): Requirement => ids.length === 1 ? leaf(ids[0] ?? "") : { And: ids.map(leaf) };
const any = (...ids: readonly string[]): Requirement => ({ Or: ids.map(leaf) });

interface DrawnStage {
  readonly id: string;
  readonly after?: Requirement;
  readonly mark: StageMark;
  readonly detail?: string;
  readonly conditions: Readonly<Record<string, ConditionMark>>;
  readonly needs?: Requirement;
}

const STATES: readonly DrawnStage[] = [
  { id: "build", mark: "complete", conditions: { "signed_commit == commit": "met", "tests_failed == 0": "met" } },
  {
    id: "review",
    after: leaf("build"),
    mark: "waiting",
    conditions: { owner_approved: "waiting", docs_updated: "met" },
  },
  {
    id: "security",
    after: leaf("build"),
    mark: "held",
    detail: "attempt 2 was false",
    conditions: { "critical_findings == 0": "not_met", security_approved: "refused" },
  },
  {
    id: "measure",
    after: leaf("build"),
    mark: "open",
    detail: "attempt 1 was unknown",
    conditions: {
      "latency_ms <= 250": "unavailable",
      "error_rate < 0.01": "unknown",
      "soak_hours >= 24": "not_judged",
    },
  },
  { id: "notes", mark: "ready", conditions: { notes_written: "not_judged" } },
  {
    id: "ship",
    after: { And: [leaf("review"), leaf("security"), leaf("measure")] },
    mark: "blocked",
    conditions: { window_open: "not_judged" },
  },
];

const LINES: readonly DrawnStage[] = [
  { id: "intake", mark: "complete", conditions: { form_complete: "met" } },
  { id: "basis", mark: "complete", conditions: { legal_basis: "met" } },
  { id: "screening", after: all("intake", "basis"), mark: "complete", conditions: { no_conflict: "met" } },
  { id: "extract", after: leaf("screening"), mark: "complete", conditions: { redacted: "met", checked: "met" } },
  {
    id: "interview",
    after: any("screening", "basis"),
    mark: "open",
    conditions: { by_phone: "not_judged", in_person: "not_judged" },
    needs: any("by_phone", "in_person"),
  },
  {
    id: "report",
    after: all("extract", "interview", "intake"),
    mark: "blocked",
    conditions: { written: "not_judged" },
  },
  { id: "archive", after: all("report", "intake"), mark: "blocked", conditions: { stored: "not_judged" } },
];

function picture(
  scenario_id: string,
  stages: readonly DrawnStage[],
  completion_requirement: Requirement,
): readonly [DrawnLaw, RunPicture] {
  const law: DrawnLaw = {
    scenario_id,
    conditions: [],
    acquisition_bindings: [],
    completion_requirement,
    stages: stages.map(({ id, after, conditions, needs }) => ({
      stage_id: id,
      prerequisite: after === undefined ? { kind: "root" } : { kind: "requires", requirement: after },
      completion_requirement: needs ?? all(...Object.keys(conditions)),
    })),
  };
  const states = stages.map(({ id, mark, detail = "", conditions }) => {
    const pictured = Object.entries(conditions).map(([condition_id, mark]) =>
      [condition_id, { condition_id, needed: true, mark, detail: "" }] as const
    );
    return [id, { mark, detail, conditions: new Map(pictured) }] as const;
  });
  return [law, { isComplete: false, stages: new Map(states) }];
}

const PICTURES = new URL("../../../docs/guide/pictures/", import.meta.url);

/** Bytes of a picture that was taken of a page. */
const PHOTOGRAPH_BYTES = 60_000;

/** What the console shows in a picture, and the theme on a phone, a laptop and a wide screen. */
const SHOWN: readonly (readonly [state: string, ...themes: readonly string[]])[] = [
  ["runs", "light", "dark", "light"],
  ["run", "dark", "light", "dark"],
  ["sign", "light", "dark", "light"],
  ["run_refused", "dark", "light", "dark"],
  ["waiting", "light", "dark", "light"],
  ["key", "dark", "light", "dark"],
  ["verify", "light", "dark", "light"],
];
const SIZES = ["phone", "laptop", "wide"];

async function photographsIn(folder: URL): Promise<readonly string[]> {
  const names = (await Array.fromAsync(Deno.readDir(folder))).map(({ name }) => name).filter((name) =>
    name.endsWith(".png")
  );
  for (const name of names) assert.ok((await Deno.stat(new URL(name, folder))).size <= PHOTOGRAPH_BYTES, name);
  return names.sort();
}

Deno.test("pictures that were taken of pages are small, and the console has each of its own in every size", async () => {
  assert.ok((await photographsIn(PICTURES)).length > 0);
  const expected = SHOWN.flatMap(([state, ...themes]) => SIZES.map((size, at) => `${state}_${size}_${themes[at]}.png`));
  assert.deepEqual(await photographsIn(new URL("console/", PICTURES)), expected.sort());
});

Deno.test('the drawings of the guide are what drawLaw() draws; "-- --rewrite" writes them', async () => {
  const rows = [
    ["states.svg", ...picture("release", STATES, all("ship", "notes"))],
    ["lines.svg", ...picture("disclosure", LINES, any("archive", "report"))],
  ] as const;
  for (const [name, law, run] of rows) {
    const drawn = `${drawLaw(law, run, { as: "file" }).markup}\n`;
    const file = new URL(name, PICTURES);
    if (Deno.args.includes("--rewrite")) await Deno.writeTextFile(file, drawn);
    assert.equal(await Deno.readTextFile(file), drawn, name);
  }
});
