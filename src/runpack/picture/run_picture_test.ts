import assert from "node:assert/strict";
import type { Channel, Condition, Requirement, Stage } from "../../law/types.ts";
import type { RunRecord } from "../../run/types.ts";
import {
  type PicturedAttempt,
  type PicturedLaw,
  pictureOfRecords,
  pictureOfStatus,
  type RunPicture,
} from "./run_picture.ts";
import { drawLaw } from "./draw_law.ts";
import { listStages } from "./stage_list.ts";

const leaf = (id: string): Requirement => ({ Condition: id });

function conditionOf(condition_id: string, ...allowed_channels: readonly Channel[]): Condition {
  const predicate = { predicate: "Equals", expected: { value: true, value_type: "Boolean" } };
  return { condition_id, predicate, evidence_use_policy: { allowed_channels } } as unknown as Condition;
}

function stageOf(stage_id: string, before: Requirement | null, completion_requirement: Requirement): Stage {
  const prerequisite = before === null ? { kind: "root" } as const : { kind: "requires", requirement: before } as const;
  return { stage_id, prerequisite, completion_requirement, entry_packets: [] };
}

const LAW: PicturedLaw = {
  acquisition_bindings: [],
  conditions: [
    conditionOf("tested", "caller_submission"),
    conditionOf("scanned", "provider_acquisition"),
    conditionOf("approved", "accepted_submission"),
    conditionOf("signed", "accepted_submission", "caller_submission"),
  ],
  stages: [
    stageOf("build", null, { And: [leaf("tested"), leaf("scanned")] }),
    stageOf("review", leaf("build"), { And: [leaf("approved"), leaf("signed"), leaf("scanned")] }),
    stageOf("ship", { Or: [leaf("review"), leaf("hotfix")] }, leaf("tested")),
    stageOf("hotfix", null, { Or: [leaf("approved"), leaf("tested")] }),
  ],
  completion_requirement: leaf("ship"),
};

type Judged = readonly [id: string, value: "true" | "false" | "unknown", reason?: string];

const traceOf = (lines: readonly Judged[]): NonNullable<PicturedAttempt["trace"]> =>
  lines.map(([condition_id, value, reason]) => ({
    condition_id,
    value,
    ...reason === undefined ? {} : { reason },
  })) as NonNullable<
    PicturedAttempt["trace"]
  >;

/** One line for each stage: its mark with its detail, then the marks of its conditions. */
function textOf({ stages }: RunPicture): string[] {
  return [...stages].map(([id, { mark, detail, conditions }]) =>
    `${id} ${mark}${detail === "" ? "" : ` (${detail})`}: ${[...conditions.values()].map((one) => one.mark).join(" ")}`
  );
}

const REVIEW: readonly (readonly [lines: readonly Judged[], outcome: "false" | "unknown", marks: string])[] = [
  [
    [["approved", "true"], ["signed", "true"], ["scanned", "false"]],
    "false",
    "held (attempt 2 was false): met met not_met",
  ],
  [
    [["approved", "false"], ["signed", "false"], ["scanned", "true"]],
    "false",
    "held (attempt 2 was false): refused not_met met",
  ],
  [
    [["approved", "unknown", "no_evidence"], ["signed", "true"], ["scanned", "true"]],
    "unknown",
    "waiting (attempt 2 was unknown): waiting met met",
  ],
  [
    [["approved", "true"], ["signed", "true"], ["scanned", "unknown", "error"]],
    "unknown",
    "open (attempt 2 was unknown): met met unavailable",
  ],
  [
    [["approved", "true"], ["signed", "true"], ["scanned", "unknown", "no_evidence"]],
    "unknown",
    "open (attempt 2 was unknown): met met unknown",
  ],
  [
    [["approved", "unknown", "error"], ["signed", "true"], ["scanned", "unknown", "disagreement"]],
    "unknown",
    "open (attempt 2 was unknown): unavailable met unknown",
  ],
];

function record(record_kind: string, body: object): RunRecord {
  return { record_kind, body } as unknown as RunRecord;
}

const PASSED = traceOf([["tested", "true"], ["scanned", "true"]]);

Deno.test("a picture has the same marks from records as from an answer of scenario_status", () => {
  const build = { stage_id: "build", attempt_number: 1, outcome: "true", trace: PASSED } as const;
  for (const [lines, outcome, marks] of REVIEW) {
    const review = { stage_id: "review", attempt_number: 2, outcome, trace: traceOf(lines) };
    const wanted = [
      "build complete: met met",
      `review ${marks}`,
      "ship blocked: not_judged",
      "hotfix ready: not_judged not_judged",
    ];
    const records = pictureOfRecords(LAW, [
      record("run_created", {}),
      record("stage_opened", { stage_id: "build" }),
      record("stage_evaluated", { ...build, evidence: [], completed: true }),
      record("stage_opened", { stage_id: "review" }),
      record("stage_evaluated", { ...review, evidence: [], completed: false }),
    ], () => "x");
    assert.deepEqual(textOf(records), wanted);
    const status = pictureOfStatus(LAW, {
      status: "active",
      stages: [
        { stage_id: "build", classification: "complete" },
        { stage_id: "hotfix", classification: "ready_unopened" },
        { stage_id: "review", classification: "open_incomplete" },
        { stage_id: "ship", classification: "blocked" },
      ],
      recent_attempts: [build, review],
    });
    assert.deepEqual(textOf(status), wanted);
    assert.equal(status.isComplete, false);
  }
});

Deno.test("a picture from an answer without a trace uses the causes, and takes no condition as met that is not named", () => {
  const stages = [{ stage_id: "review", classification: "open_incomplete" }] as const;
  const attempt = { stage_id: "review", attempt_number: 3, outcome: "unknown" } as const;
  const causes = [{ condition_id: "scanned", value: "unknown", reason: "error", cause: ["http_timeout"] }] as const;
  const review = (recent_attempts: readonly PicturedAttempt[], waiting: readonly string[] = []): string =>
    textOf(pictureOfStatus(LAW, {
      status: "active",
      stages,
      recent_attempts,
      waiting: waiting.map((condition_id) => ({ stage_id: "review", condition_id })),
    }))[1] ?? "";
  const rows: readonly (readonly [readonly PicturedAttempt[], readonly string[], string])[] = [
    [[], [], "review waiting: waiting waiting not_judged"],
    [[], ["scanned"], "review waiting: waiting waiting waiting"],
    [[attempt], [], "review waiting (attempt 3 was unknown): waiting waiting not_judged"],
    [[{ ...attempt, causes }], [], "review waiting (attempt 3 was unknown): waiting waiting unavailable"],
    [
      [{ ...attempt, outcome: "false", causes: [] }],
      [],
      "review held (attempt 3 was false): waiting waiting not_judged",
    ],
  ];
  for (const [attempts, waiting, wanted] of rows) assert.equal(review(attempts, waiting), wanted);
  const complete = pictureOfStatus(LAW, {
    status: "complete",
    stages: ["build", "hotfix"].map((stage_id) => ({ stage_id, classification: "complete" as const })),
    recent_attempts: [],
  });
  assert.equal(complete.isComplete, true);
  assert.deepEqual(textOf(complete).filter((line) => line.includes("complete")), [
    "build complete: met met",
    "hotfix complete: not_judged not_judged",
  ]);
});

Deno.test("details from records name the code of each item that did not count, once", () => {
  const items = [
    { qualified: false, error: { code: "file_not_found" } },
    { qualified: false, error: { code: "file_not_found" } },
    { qualified: false, reason: "lane" },
    { qualified: true },
    { condition_id: "tested", qualified: false, reason: "channel" },
    { condition_id: "tested", qualified: true },
  ].map((item) => ({ condition_id: "scanned", ...item }));
  const body = {
    stage_id: "build",
    attempt_number: 1,
    outcome: "unknown",
    completed: false,
    trace: traceOf([["tested", "true"], ["scanned", "unknown", "error"]]),
    evidence: items,
  };
  const { stages } = pictureOfRecords(LAW, [
    record("stage_opened", { stage_id: "build" }),
    record("stage_evaluated", body),
  ], () => "x");
  assert.deepEqual(stages.get("build")?.conditions.get("tested"), {
    condition_id: "tested",
    needed: true,
    mark: "met",
    detail: "found x",
  });
  assert.deepEqual(stages.get("build")?.conditions.get("scanned"), {
    condition_id: "scanned",
    needed: true,
    mark: "unavailable",
    detail: "no answer (file not found, lane)",
  });
});

// What is found for each condition, then how the list shows "!scanned && !tested && approved".
const NEGATED: readonly (readonly [scanned: boolean, tested: boolean, lines: string])[] = [
  [true, true, "!scanned not met, found true; !tested not met, found true"],
  [true, false, "!scanned not met, found true; !tested met, found false"],
  [false, true, "!scanned met, found false; !tested not met, found true"],
  [false, false, "!scanned met, found false; !tested met, found false"],
];

for (const [scanned, tested, lines] of NEGATED) {
  Deno.test(`a picture of what must not hold, found ${scanned} and ${tested}: ${lines}`, () => {
    const needs = { And: [{ Not: leaf("scanned") }, { Not: leaf("tested") }, leaf("approved")] };
    const law = { ...LAW, stages: [stageOf("s", null, needs)], completion_requirement: leaf("s") };
    const judged = [["scanned", scanned], ["tested", tested]] as const;
    const outcome = scanned || tested ? "false" as const : "unknown" as const;
    const trace = traceOf([
      ...judged.map(([id, value]): Judged => [id, `${value}`]),
      ["approved", "unknown", "no_evidence"],
    ]);
    const attempt = { stage_id: "s", attempt_number: 1, outcome, trace };
    const evidence = judged.map(([condition_id, value]) => ({
      condition_id,
      qualified: true,
      value_identity: `${value}`,
    }));
    const fromRecords = pictureOfRecords(law, [
      record("stage_opened", { stage_id: "s" }),
      record("stage_evaluated", { ...attempt, evidence, completed: false }),
    ], ({ value_identity }) => `${value_identity}`);
    const fromStatus = pictureOfStatus(law, {
      status: "active",
      stages: [{ stage_id: "s", classification: "open_incomplete" }],
      recent_attempts: [{
        ...attempt,
        causes: judged.map(([condition_id, value]) => ({ condition_id, value: `${value}`, found: [`${value}`] })),
      }],
    });
    for (const picture of [fromRecords, fromStatus]) {
      const { markup } = listStages({ ...law, scenario_id: "s" }, picture);
      const items = [...markup.matchAll(/<li><code>(.*?)<\/li>/g)].map(([, item = ""]) =>
        item.replaceAll(/<[^>]*>/g, "")
      );
      assert.equal(items.slice(0, 2).join("; "), lines);
      assert.match(drawLaw({ ...law, scenario_id: "s" }, picture).markup, /<title>!scanned: .*<title>!tested: /s);
    }
  });
}

Deno.test("details name reasons, codes and counts, and the list of stages shows them", () => {
  const picture = pictureOfStatus(LAW, {
    status: "active",
    stages: [{ stage_id: "review", classification: "open_incomplete" }],
    recent_attempts: [{
      stage_id: "review",
      attempt_number: 1,
      outcome: "unknown",
      causes: [
        { condition_id: "scanned", value: "unknown", reason: "error", cause: ["http_timeout"] },
        {
          condition_id: "approved",
          value: "unknown",
          reason: "no_evidence",
          counts: { holds: 1, fails: 0, needed: 2 },
        },
      ],
    }],
  });
  const text = listStages({ ...LAW, scenario_id: "s" }, picture).markup.replaceAll(/<[^>]*>/g, "");
  assert.ok(text.includes("scanned unavailable, no answer (http timeout)"), text);
  assert.ok(text.includes("approved waiting, 1 of 2"), text);
  assert.ok(text.includes("review waiting, attempt 1 was unknown, after build"), text);
});
