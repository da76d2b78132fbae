/** Law files with one fault each: every one is an error where the fault is, or exactly the law that is written. */

import assert from "node:assert/strict";
import { constructLaw } from "../../src/law/law.ts";
import { LAW_LIMITS } from "../../src/law/limits.ts";
import { permissiveEnvironment } from "../../src/runpack/verify/claims/scenario_law_construction.ts";
import { readLawText } from "../../src/scenario/law_file.ts";
import { stepsOfPath } from "../../src/scenario/source_position.ts";

const LAW = `law: database-migration
namespace: 2
parameters:
  commit: text(40..40)
people:
  dbas: [alice, bob, carol]
evidence:
  tests_failed: count from rest https://ci.example/commits/{commit}/tests $.failed
  staged_at: rest https://staging.example/deployments/{commit} $.since
  coverage: percent
  branch: { type: text(1..64), from: env BRANCH, within: 10m }
  approved: 2 of dbas within 1h
stages:
  migration:
    - tests_failed == 0
    - staged_at <= now - duration("30m")
    - coverage >= 80 && branch in ["main", "release"]
    - approved
  close:
    after: migration
    when: "coverage > 90.5 || at_least(1, approved, branch.contains('hot'))"
complete: close
`;

/** The places of the errors of a text as line and column; none if it is a law. */
function errorsOf(text: string): readonly (readonly [line: number, column: number])[] {
  const read = readLawText(text);
  if (!read.ok) {
    assert.ok(read.faults.length > 0);
    return read.faults.map(({ position, message }) => {
      assert.ok(message.length > 0 && !/\n\s+at /.test(message), message);
      return [position.line, position.column];
    });
  }
  const { spec, locate } = read.file;
  const built = constructLaw(spec, { limits: LAW_LIMITS, ...permissiveEnvironment(spec) });
  if (built.ok) return [];
  return built.refusals.map(({ path }) => {
    const { line, column } = locate(stepsOfPath(path), "value");
    return [line, column];
  });
}

const LINES = LAW.split("\n");

/** The text with a change in a line, counted from 1. */
function withLine(line: number, text: string): string {
  return LINES.map((one, index) => index === line - 1 ? text : one).join("\n");
}

Deno.test("readLawText() accepts the law without a fault", () => assert.deepEqual(errorsOf(LAW), []));

// Every use of a declared name, misspelt: the error is at the first letter of that name.
Deno.test("readLawText() places each misspelt name", () => {
  let seeded = 0;
  for (const [index, text] of LINES.entries()) {
    if (index < 13) continue;
    for (const match of text.matchAll(/\b(tests_failed|staged_at|coverage|branch|approved|migration|close)\b(?!:)/g)) {
      const wrong = `${text.slice(0, match.index)}${match[0].slice(0, -1)}q${
        text.slice(match.index + match[0].length)
      }`;
      const [first] = errorsOf(withLine(index + 1, wrong));
      assert.deepEqual(first, [index + 1, match.index + 1], wrong);
      seeded++;
    }
  }
  assert.ok(seeded >= 10, String(seeded));
});

// The fault, where it is, and what is put there.
const WRONG: readonly (readonly [number, string, readonly [number, number]])[] = [
  [2, "namespace: two", [2, 12]],
  [4, "  commit: txt(40..40)", [4, 11]],
  [4, "  commit: text(40)", [4, 11]],
  [6, "  dbas: alice", [6, 9]],
  [8, "  tests_failed: cuont from rest https://ci.example/x $.failed", [8, 17]],
  [8, "  tests_failed: count from rst https://ci.example/x $.failed", [8, 28]],
  [8, "  tests_failed: count from rest https://ci.example/{comit} $.failed", [8, 17]],
  [10, "  coverage: integer(0..x)", [10, 13]],
  [11, "  branch: { type: text(1..64), form: env BRANCH }", [11, 32]],
  [11, "  branch: { type: text(1..64), from: env BRANCH, within: 10 }", [11, 58]],
  [12, "  approved: 2 of dba within 1h", [12, 18]],
  [12, "  approved: 2 of dbas within 1 hour", [12, 13]],
  [15, '    - tests_failed == "0"', [15, 23]],
  [15, "    - tests_failed == 0.5", [15, 23]],
  [15, "    - tests_failed = 0", [15, 20]],
  [16, '    - staged_at <= now - duration("30 minutes")', [16, 26]],
  [17, "    - coverage >= 180 && branch == 'main'", [17, 19]],
  [17, "    - coverage >= 80 and branch == 'main'", [17, 22]],
  [18, "    - approved == 1", [18, 19]],
  [20, '    after: "!migration"', [20, 13]],
  [21, "    when: coverage > branch", [21, 11]],
  [22, "complet: close", [22, 1]],
];

for (const [line, text, expected] of WRONG) {
  Deno.test(`readLawText() places ${text.trim()}: ${expected.join(":")}`, () => {
    assert.deepEqual(errorsOf(withLine(line, text))[0], expected);
  });
}

// A quote, a bracket or an indentation less: the text may also be another law, or YAML notices a line below.
Deno.test("readLawText() reports a lost quote, bracket or blank where it is, or one line below", () => {
  let seeded = 0;
  for (const [index, text] of LINES.entries()) {
    const cuts = [...text.matchAll(/["'()[\]{}]/g)].map(({ index: at }) => text.slice(0, at) + text.slice(at + 1));
    const moved = /^ /.test(text) ? [text.slice(1), ` ${text}`] : [];
    const marks = text === "" ? [] : [`${text}"`, `${text}'`, text.replace(":", "")];
    for (const wrong of [...cuts, ...marks, ...moved]) {
      const [first] = errorsOf(withLine(index + 1, wrong));
      seeded++;
      // A line that moved away from the others of its block shows at the next one of these.
      if (moved.includes(wrong)) assert.ok(first === undefined || first[0] >= index, `${wrong}: line ${first?.[0]}`);
      else if (first !== undefined) assert.ok(Math.abs(first[0] - index - 1) <= 2, `${wrong}: line ${first[0]}`);
    }
  }
  assert.ok(seeded >= 120, String(seeded));
});

// Each expression, cut at each byte.
Deno.test("readLawText() reports an expression cut at each byte in its line, or reads exactly what is left", () => {
  let seeded = 0;
  for (const line of [15, 16, 17, 18, 21]) {
    const text = LINES[line - 1] ?? "";
    const start = text.search(/- |when: /) + (line === 21 ? 6 : 2);
    for (let end = start; end < text.length; end++) {
      const [first] = errorsOf(withLine(line, text.slice(0, end)));
      seeded++;
      if (first === undefined) continue;
      const isBelow = line === 21 && first[0] > line;
      // Evidence that nothing compares any more is reported where it is declared.
      assert.ok(first[0] === line || isBelow || first[0] <= 12, `${text.slice(0, end)}: line ${first[0]}`);
    }
  }
  assert.ok(seeded >= 170, String(seeded));
});
