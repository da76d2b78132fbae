import assert from "node:assert/strict";
import type { NamedParts } from "../../law/words.ts";
import type { UnmetCause } from "./causes.ts";
import { attemptSentences, foundText, signersText } from "./sentence.ts";
import type { Refusal } from "./waiting.ts";

const CONDITIONS = [
  ["tests_failed", "Integer", "Equals", { value: 0, value_type: "Integer" }],
  ["staged_at", "Timestamp", "LessThanOrEqual", { relative_to: "evaluation_time", offset_milliseconds: -1_800_000 }],
  ["approved", "Boolean", "Equals", { value: true, value_type: "Boolean" }],
] as const;

const LAW = {
  conditions: CONDITIONS.map(([condition_id, domain, predicate, expected]) => ({
    condition_id,
    observation_domain: { domain },
    predicate: { predicate, expected },
    evidence_use_policy: { retention: condition_id === "approved" ? "retain_digest_only" : "retain_canonical_value" },
  })),
  stages: [],
  acquisition_bindings: [{ binding_id: "rest.staged_at", condition_id: "staged_at", provider_id: "rest" }, {
    binding_id: "json.tests_failed",
    condition_id: "tests_failed",
    provider_id: "json",
  }],
} as unknown as NamedParts;

const HIDDEN = "found a value that is hidden from callers of the server (evidence.allow_raw_values)";
const SENTENCES: readonly (readonly [UnmetCause, string])[] = [
  [{ condition_id: "tests_failed", value: "false", found: ["2"] }, "tests_failed == 0: found 2 ✗"],
  [{ condition_id: "tests_failed", value: "true" }, "tests_failed == 0: value hidden ✓"],
  [{ condition_id: "tests_failed", value: "true", hidden_by: ["R"] }, "tests_failed == 0: value hidden (R) ✓"],
  [{ condition_id: "approved", value: "true" }, "approved ✓"],
  [
    { condition_id: "tests_failed", value: "false", hidden_by: ["providers[].allow_raw of db"] },
    "tests_failed == 0: found a value that is hidden from callers of the server (providers[].allow_raw of db) ✗",
  ],
  [{ condition_id: "tests_failed", value: "false" }, `tests_failed == 0: ${HIDDEN} ✗`],
  [
    { condition_id: "tests_failed", value: "unknown", reason: "disagreement", found: ["0", "2"] },
    "tests_failed == 0: found 0, 2, which differ ?",
  ],
  [
    { condition_id: "tests_failed", value: "unknown", reason: "unqualified", cause: ["not_fresh"], found: ["0"] },
    "tests_failed == 0: found 0, which does not count (not fresh) ?",
  ],
  [
    { condition_id: "staged_at", value: "unknown", reason: "no_evidence" },
    'staged_at <= now - duration("30m"): nothing known yet (rest was not asked) ?',
  ],
  [
    { condition_id: "staged_at", value: "unknown", reason: "error", cause: ["http_timeout", "http_timeout"] },
    'staged_at <= now - duration("30m"): no answer (http timeout) ?',
  ],
  [
    { condition_id: "tests_failed", value: "unknown", reason: "error", cause: ["file_not_found"] },
    "tests_failed == 0: no answer (file not found) ?",
  ],
  [
    { condition_id: "tests_failed", value: "unknown", reason: "error", cause: ["file_not_found"], files: ["two.json"] },
    'tests_failed == 0: no answer (file not found: "two.json") ?',
  ],
  [
    { condition_id: "staged_at", value: "unknown", reason: "no_evidence", asked: ["rest"] },
    'staged_at <= now - duration("30m"): nothing known yet ?',
  ],
  [
    { condition_id: "staged_at", value: "unknown", reason: "no_evidence", asked: ["rest"], found: ["nothing"] },
    'staged_at <= now - duration("30m"): found nothing ?',
  ],
  [
    { condition_id: "staged_at", value: "unknown", reason: "no_evidence", counts: { holds: 1, fails: 0, needed: 2 } },
    'staged_at <= now - duration("30m"): 1 of 2 ?',
  ],
  [{ condition_id: "approved", value: "false" }, "approved: found a value of which only the hash is kept ✗"],
  [
    {
      condition_id: "tests_failed",
      value: "false",
      found: ["2"],
      refused: [{ key_id: "bob", observed_at: 0, withdrawn: true }],
    },
    "tests_failed == 0: found 2; bob withdrew at 1970-01-01T00:00:00.000Z ✗",
  ],
  [
    { condition_id: "approved", value: "unknown", reason: "no_evidence", counts: { holds: 1, fails: 0, needed: 2 } },
    "approved: 1 of 2 ?",
  ],
  ...([
    [["alice"], ["bob", "carol"], 0, "1 of 2: alice signed; bob or carol may"],
    [["alice"], ["bob"], 1, "1 of 2, 1 refused: alice signed; bob may"],
    [
      ["alice"],
      ["a1", "a2", "a3", "a4", "a5", "a6", "a7", "a8"],
      0,
      "1 of 2: alice signed; a1, a2, a3, a4, a5, a6, a7 or a8 may",
    ],
    [
      ["alice"],
      ["a1", "a2", "a3", "a4", "a5", "a6", "a7", "a8", "a9", "b1"],
      0,
      "1 of 2: alice signed; a1, a2, a3, a4, a5, a6, a7, a8 or 2 more may",
    ],
  ] as const).map(([signed, may, fails, text]) =>
    [
      { condition_id: "approved", value: "unknown", counts: { holds: 1, fails, needed: 2 }, signed, may },
      `approved: ${text} ?`,
    ] as const
  ),
  ...[8, 9].map((count) =>
    [
      {
        condition_id: "approved",
        value: "false",
        counts: { holds: 0, fails: count + 1, needed: 2 },
        refused: Array.from({ length: count }, (_, at) => ({ key_id: `a${at}`, observed_at: 0 })),
      },
      `approved: 0 of 2, ${count + 1} refused: ` +
      Array.from({ length: 8 }, (_, at) => `a${at} refused at 1970-01-01T00:00:00.000Z`).join("; ") +
      `${count > 8 ? "; 1 more refused or withdrew" : ""} ✗`,
    ] as const
  ),
  [
    { condition_id: "approved", value: "true", counts: { holds: 2, fails: 0, needed: 2 }, signed: ["alice", "bob"] },
    "approved: 2 of 2: alice and bob signed ✓",
  ],
  [
    { condition_id: "approved", value: "false", counts: { holds: 1, fails: 2, needed: 2 } },
    "approved: 1 of 2, 2 refused ✗",
  ],
  [
    {
      condition_id: "approved",
      value: "unknown",
      counts: { holds: 1, fails: 1, needed: 2 },
      refused: [{ key_id: "bob", observed_at: 0, comment: "Later" }],
    },
    'approved: 1 of 2: bob refused at 1970-01-01T00:00:00.000Z: "Later" ?',
  ],
  [
    { condition_id: "approved", value: "false", refused: [{ key_id: "bob", observed_at: 0, withdrawn: true }] },
    "approved: bob withdrew at 1970-01-01T00:00:00.000Z ✗",
  ],
];

for (const [cause, sentence] of SENTENCES) {
  Deno.test(`attemptSentences() ${sentence}`, () => assert.deepEqual(attemptSentences(LAW, [cause]), [sentence]));
}

Deno.test("attemptSentences() has each condition once, with what the causes say of it", () => {
  const trace = [
    { condition_id: "tests_failed", value: "false" },
    { condition_id: "tests_failed", value: "false" },
    { condition_id: "approved", value: "true" },
  ] as const;
  const causes: readonly UnmetCause[] = [{ condition_id: "tests_failed", value: "unknown", found: ["2"] }];
  assert.deepEqual(attemptSentences(LAW, trace, causes), ["tests_failed == 0: found 2 ✗", "approved ✓"]);
});

// A trace whose hidden values an answer does not name, with what the law needs of each condition.
const HELD: readonly (readonly [tests_failed: "true" | "false", approved: "true" | "false", string])[] = [
  ["false", "false", "!(tests_failed == 0): value hidden ✓; !approved ✓"],
  ["true", "true", `!(tests_failed == 0): ${HIDDEN} ✗; !approved: found a value of which only the hash is kept ✗`],
];

for (const [tests_failed, approved, sentences] of HELD) {
  Deno.test(`attemptSentences() of a trace alone: ${sentences}`, () => {
    const trace = Object.entries({ tests_failed, approved }).map(([condition_id, value]) => ({ condition_id, value }));
    const requirement = { And: trace.map(({ condition_id }) => ({ Not: { Condition: condition_id } })) };
    assert.equal(attemptSentences(LAW, trace, [], requirement).join("; "), sentences);
  });
}

const NOON = Date.UTC(2026, 2, 1, 12);
const REFUSED: Refusal = { key_id: "bob", observed_at: NOON, comment: 'Not on a "Friday"' };
const WITHDRAWN: Refusal = { key_id: "carol", observed_at: NOON, withdrawn: true };

const SIGNERS: readonly (readonly [string[], Refusal[], string[], string])[] = [
  [["alice"], [], ["bob", "carol"], "alice signed; bob or carol may"],
  [[], [REFUSED], [], 'bob refused at 2026-03-01T12:00:00.000Z: "Not on a \\"Friday\\""'],
  [["alice"], [WITHDRAWN], ["bob"], "alice signed; carol withdrew at 2026-03-01T12:00:00.000Z; bob may"],
  [[], [], [], ""],
];

for (const [signed, refused, may, text] of SIGNERS) {
  Deno.test(`signersText() "${text}"`, () => assert.equal(signersText({ signed, refused, may }), text));
}

Deno.test("foundText() of what holds is its value, but for a name that stands alone", () => {
  assert.equal(foundText({ value: "true" }), "");
  assert.equal(foundText({ value: "true", found: ["true"] }), "");
  assert.equal(foundText({ value: "true", found: ["91.5"] }), "found 91.5");
});
