/** Law files with one fault each: every one is an error where the fault is, or exactly the law that is written. */

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { constructLaw, lawIdentity } from "../../src/law/law.ts";
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
const IDENTITY = "a5359286e5b26d5dfdc886fe8dfcad4d9047c9005d299eca00ee9e4ab38e116c";

const LINES = LAW.split("\n");
const sha256 = (data: string | Uint8Array): string => createHash("sha256").update(data).digest("hex");

/** The identity of the law of a spec. */
function identityOf(spec: Parameters<typeof constructLaw>[0]): string {
  const built = constructLaw(spec, { limits: LAW_LIMITS, ...permissiveEnvironment(spec) });
  assert.ok(built.ok, built.ok ? "" : JSON.stringify(built.refusals));
  return lawIdentity(sha256, built.law);
}

/** The place of the first error of a text, as `LINE:COLUMN`, or the identity of its law. */
function answerTo(text: string): string {
  const read = readLawText(text);
  if (!read.ok) {
    assert.ok(read.faults.length > 0);
    for (const { message } of read.faults) assert.ok(message.length > 0 && !/\n\s+at /.test(message), message);
    const { line, column } = read.faults[0]?.position ?? {};
    return `${line}:${column}`;
  }
  const { spec, locate } = read.file;
  const built = constructLaw(spec, { limits: LAW_LIMITS, ...permissiveEnvironment(spec) });
  if (built.ok) return lawIdentity(sha256, built.law);
  const { line, column } = locate(stepsOfPath(built.refusals[0]?.path ?? "$"), "value");
  return `${line}:${column}`;
}

/** The law with another text in a line, counted from 1. */
function withLine(line: number, text: string): string {
  return LINES.map((one, index) => index === line - 1 ? text : one).join("\n");
}

/** The column of the first character of a line that is not blank. */
function indentOf(line: number): number {
  return (LINES[line - 1] ?? "").search(/\S/) + 1;
}

type Changes = readonly (readonly [from: string, to: string])[];

/** Checks a line in which `¦` marks the place of the error. Without a mark, the spec is that of the law, changed so. */
function check(line: number, marked: string, changes: Changes = []): void {
  const before = marked.split("¦")[0]?.split("\n") ?? [];
  const text = marked.replace("¦", "");
  const place = `${line + before.length - 1}:${(before.at(-1)?.length ?? 0) + 1}`;
  const expected = text !== marked ? place : identityOf(changedSpec(changes));
  assert.equal(answerTo(withLine(line, text)), expected, text);
}

/** The long form of the law with other texts in its JSON, and without a condition. */
function changedSpec(changes: Changes, dropped = ""): Parameters<typeof constructLaw>[0] {
  const read = readLawText(LAW);
  assert.ok(read.ok);
  let text = JSON.stringify(read.file.spec);
  for (const [from, to] of changes) {
    assert.ok(text.includes(from), from);
    text = text.replaceAll(from, to);
  }
  const isKept = (one: unknown): boolean =>
    JSON.stringify(one) !== JSON.stringify({ Condition: dropped }) &&
    (one as { readonly condition_id?: string }).condition_id !== dropped;
  return JSON.parse(text, (_, value) => Array.isArray(value) ? value.filter(isKept) : value);
}

let seeded = 0;

Deno.test("readLawText() reads the law without a fault", () => assert.equal(answerTo(LAW), IDENTITY));

const NAMES = ["tests_failed", "staged_at", "coverage", "branch", "approved", "migration", "close"];

// The error is at the first letter of the name.
Deno.test("readLawText() places each misspelt name where it is used", () => {
  for (const [index, text] of LINES.entries()) {
    if (index < 13) continue;
    for (const match of text.matchAll(new RegExp(`\\b(${NAMES.join("|")})\\b(?!:)`, "g"))) {
      const [before, after] = [text.slice(0, match.index), text.slice(match.index + match[0].length)];
      check(index + 1, `${before}¦${match[0].slice(0, -1)}q${after}`);
      seeded++;
    }
  }
});

// A declared name that is misspelt is missing at its first use. A member is at fault itself.
Deno.test("readLawText() places each misspelt declaration and member", () => {
  for (const [index, text] of LINES.entries()) {
    const [, blanks = "", name] = /^( *)(\w+):/.exec(text) ?? [];
    if (name === undefined) continue;
    seeded++;
    const wrong = withLine(index + 1, text.replace(`${name}:`, `${name.slice(0, -1)}q:`));
    const uses = LINES.flatMap((line, at) => {
      const [before] = line.split(new RegExp(`(?<=[ "{(])${name}\\b(?!:)`), 1);
      return before === undefined || before === line || /^ *branch: .*type/.test(line)
        ? []
        : [`${at + 1}:${before.length + 1}`];
    });
    const isMember = blanks.length !== 2;
    assert.equal(answerTo(wrong), isMember ? `${index + 1}:${blanks.length + 1}` : uses[0], name);
  }
});

// The wrong line, with a mark where the fault is.
const WRONG: readonly (readonly [line: number, marked: string])[] = [
  [2, "namespace: ¦two"],
  [4, "  commit: ¦txt(40..40)"],
  [4, "  commit: ¦text(40)"],
  [6, "  dbas: ¦alice"],
  [6, "  dbas: [alice,\n¦bob, carol]"],
  [6, "  dbas: [\n¦alice, bob, carol\n]"],
  [11, "  branch: { type: text(1..64),\n¦from: env BRANCH, within: 10m }"],
  [8, "  tests_failed: ¦cuont from rest https://ci.example/x $.failed"],
  [8, "  tests_failed: count from ¦rst https://ci.example/x $.failed"],
  [8, "  tests_failed: count from rest https://ci.example/{¦comit} $.failed"],
  [10, "  coverage: ¦integer(0..x)"],
  [11, "  branch: { type: text(1..64), ¦form: env BRANCH }"],
  [11, "  branch: { type: text(1..64), from: env BRANCH, within: ¦10 }"],
  [11, "  branch: { type: text(1..64), from: { rest.json_path: { jsonpath: $, url: 'https://a.example/{¦comit}' } } }"],
  [12, "  approved: 2 of ¦dba within 1h"],
  [12, "  approved: 2 of dbas within ¦1 hour"],
  [15, '    - tests_failed == ¦"0"'],
  [15, "    - tests_failed == ¦0.5"],
  [15, "    - tests_failed ¦= 0"],
  [16, '    - staged_at <= now - duration(¦"30 minutes")'],
  [17, "    - coverage >= ¦180 && branch == 'main'"],
  [17, "    - coverage >= 80 ¦and branch == 'main'"],
  [18, "    - approved == ¦1"],
  [20, '    after: "¦!migration"'],
  [21, "    when: ¦coverage > branch"],
  [22, "¦complet: close"],
];

for (const [line, marked] of WRONG) {
  Deno.test(`readLawText() places ${marked.trim()}`, () => {
    check(line, marked);
    seeded++;
  });
}

// The type of evidence that its comparisons do not fit: the error is at the value compared.
Deno.test("readLawText() places a comparison that a changed type does not fit", () => {
  const rows: readonly (readonly [number, string, string])[] = [
    [8, "  tests_failed: text from rest https://ci.example/commits/{commit}/tests $.failed", "15:23"],
    [9, "  staged_at: count from rest https://staging.example/deployments/{commit} $.since", "16:20"],
    [10, "  coverage: text", "17:19"],
    [10, "  coverage: boolean", "17:19"],
    [11, "  branch: { type: count, from: env BRANCH, within: 10m }", "17:36"],
    [12, "  approved: count signed by dbas", "18:7"],
  ];
  for (const [line, text, place] of rows) {
    assert.equal(answerTo(withLine(line, text)), place, text);
    seeded++;
  }
});

const TESTS = '{"$template":"https://ci.example/commits/{commit}/tests"}';
const STAGED = '{"$template":"https://staging.example/deployments/{commit}"}';

/** Every bracket and quote of the law that is left out, in the order of the file: where the error is, or what is read. */
const LOST: readonly (readonly [line: number, marked: string, ...(readonly [string, string])[]])[] = [
  [4, "  commit: ¦text40..40)"],
  [4, "  commit: ¦text(40..40"],
  [6, "  dbas: ¦alice, bob, carol]"],
  [6, "  dbas: ¦[alice, bob, carol"],
  [8, LINES[7]?.replace("{", "") ?? "", [TESTS, '"https://ci.example/commits/commit}/tests"']],
  [8, LINES[7]?.replace("}", "") ?? "", [TESTS, '"https://ci.example/commits/{commit/tests"']],
  [9, LINES[8]?.replace("{", "") ?? "", [STAGED, '"https://staging.example/deployments/commit}"']],
  [9, LINES[8]?.replace("}", "") ?? "", [STAGED, '"https://staging.example/deployments/{commit"']],
  [11, "  branch:  ¦type: text(1..64), from: env BRANCH, within: 10m }"],
  [11, "  branch: { type: ¦text1..64), from: env BRANCH, within: 10m }"],
  [11, "  branch: { type: ¦text(1..64, from: env BRANCH, within: 10m }"],
  [11, "  branch: ¦{ type: text(1..64), from: env BRANCH, within: 10m "],
  [16, '    - staged_at <= now - duration¦"30m")'],
  [16, '    - staged_at <= now - duration(30¦m")'],
  [16, '    - staged_at <= now - duration(¦"30m)'],
  [16, '    - staged_at <= now - duration("30m"¦'],
  [17, '    - coverage >= 80 && branch in "main"¦, "release"]'],
  [17, '    - coverage >= 80 && branch in [main¦", "release"]'],
  [17, '    - coverage >= 80 && branch in ["main, "¦release"]'],
  [17, '    - coverage >= 80 && branch in ["main", release¦"]'],
  [17, '    - coverage >= 80 && branch in ["main", ¦"release]'],
  [17, '    - coverage >= 80 && branch in ["main", "release"¦'],
  [21, "    when: coverage > 90.5 || at_least(1, approved, branch.contains('hot'))¦\""],
  [21, "    when: \"coverage > 90.5 || at_least1¦, approved, branch.contains('hot'))\""],
  [21, "    when: \"coverage > 90.5 || at_least(1, approved, branch.contains¦'hot'))\""],
  [21, '    when: "coverage > 90.5 || at_least(1, approved, branch.contains(hot¦\'))"'],
  [21, '    when: "coverage > 90.5 || at_least(1, approved, branch.contains(¦\'hot))"'],
  [21, "    when: \"coverage > 90.5 || at_least(1, approved, branch.contains('hot')¦\""],
  [21, "    when: \"coverage > 90.5 || at_least(1, approved, branch.contains('hot')¦\""],
  [21, "    when: ¦\"coverage > 90.5 || at_least(1, approved, branch.contains('hot'))"],
];

Deno.test("readLawText() places each quote and bracket that is left out", () => {
  const cuts = LINES.flatMap((text, index) =>
    [...text.matchAll(/["'()[\]{}]/g)].map(({ index: at }) => [index + 1, text.slice(0, at) + text.slice(at + 1)])
  );
  assert.deepEqual(LOST.map(([line, marked]) => [line, marked.replace("¦", "")]), cuts);
  for (const [line, marked, ...changes] of LOST) check(line, marked, changes);
  seeded += LOST.length;
});

/** Where a quote is at fault that is added at the end of a line: at the text that it makes another, or at itself. */
const ENDED: ReadonlyMap<number, string> = new Map([
  [2, "namespace: ¦2"],
  [3, "¦parameters:"],
  [4, "  commit: ¦text(40..40)"],
  [5, "¦people:"],
  [7, "¦evidence:"],
  [10, "  coverage: ¦percent"],
  [12, "  approved: 2 of dbas within ¦1h"],
  [13, "¦stages:"],
  [14, "  ¦migration:"],
  [19, "  ¦close:"],
]);

Deno.test("readLawText() places a quote too many at the end of each line", () => {
  for (const [index, text] of LINES.slice(0, -1).entries()) {
    for (const mark of ['"', "'"]) {
      const shown = JSON.stringify(mark).slice(1, -1);
      const laws: Readonly<Record<number, readonly [string, string]>> = {
        1: ['"database-migration"', `"database-migration${shown}"`],
        8: ['"$.failed"', `"$.failed${shown}"`],
        9: ['"$.since"', `"$.since${shown}"`],
      };
      const change = laws[index + 1];
      if (change !== undefined) check(index + 1, text + mark, [change]);
      else check(index + 1, (ENDED.get(index + 1) ?? `${text}¦`) + mark);
      seeded++;
    }
  }
});

// Without its colon a name is no member: the error is at the name. A second colon of the line is read in its place.
Deno.test("readLawText() places each line that lost its colon", () => {
  for (const [index, text] of LINES.entries()) {
    if (!text.includes(":")) continue;
    const rest = text.replace(":", "");
    const second = rest.indexOf(": ") + 2;
    const column = second > 1 ? second : indentOf(index + 1) - 1;
    check(index + 1, `${rest.slice(0, column)}¦${rest.slice(column)}`);
    seeded++;
  }
});

/** The line below that belongs to the same block as a line; null for the last one of a block. */
function nextOfBlock(line: number): number | null {
  for (let next = line + 1; next < LINES.length; next++) {
    if (indentOf(next) < indentOf(line)) return null;
    if (indentOf(next) === indentOf(line)) return next;
  }
  return null;
}

// The first line of a block sets its column, so the line after it differs. A block of one line may stand anywhere.
Deno.test("readLawText() places each line that is indented one less or one more than its block", () => {
  for (const [index, text] of LINES.entries()) {
    if (!text.startsWith(" ")) continue;
    const line = index + 1;
    const isFirst = indentOf(line - 1) < indentOf(line);
    const next = nextOfBlock(line);
    for (const step of [-1, 1]) {
      const moved = step < 0 ? text.slice(1) : ` ${text}`;
      const place = isFirst ? next : line;
      const expected = place === null ? IDENTITY : `${place}:${indentOf(place) + (place === line ? step : 0)}`;
      assert.equal(answerTo(withLine(line, moved)), expected, moved);
      seeded++;
    }
  }
});

const BOOLEAN = '"observation_domain":{"domain":"Boolean"},"predicate":{"predicate":"Equals",' +
  '"expected":{"value":true,"value_type":"Boolean"}}';
const INSTANT = '"observation_domain":{"domain":"Timestamp"},"predicate":{"predicate":"LessThanOrEqual",' +
  '"expected":{"relative_to":"evaluation_time","offset_milliseconds":-1800000}}';

const BRANCHES = 'branch in ["main", "release"]';
const ONE_BRANCH = ['branch.contains(\\"hot\\")', "branch"] as const;

/** The expressions that a cut leaves whole, with what changes in the law: a name compared once is the condition's id. */
const WHOLE: Readonly<Record<string, Parameters<typeof changedSpec>>> = {
  "staged_at": [[[INSTANT, BOOLEAN]]],
  "staged_at <= now": [[["-1800000", "0"]]],
  "coverage >= 8": [[["coverage >= 80", "coverage >= 8"], ['"value":"80"', '"value":"8"'], ONE_BRANCH], BRANCHES],
  "coverage >= 80": [[ONE_BRANCH], BRANCHES],
};

/** Where a reader sees the end of an expression that is cut: at the token that is not whole, or behind the last one. */
function placeOfCut(text: string, start: number, line: number): string | null {
  const left = text.slice(start);
  const at = (column: number): string => `${line}:${start + column + 1}`;
  if (/^["']/.test(left)) return at(0);
  const tokens = [...left.matchAll(/"[^"]*"|[A-Za-z_]\w*|[\d.]+|&&|[<>=]=|\S/g)];
  const last = tokens.at(-1);
  if (last === undefined) return at(0);
  const isOpen =
    tokens.filter(([one]) => /^[[(]$/.test(one)).length > tokens.filter(([one]) => /^[\])]$/.test(one)).length;
  const unclosed = tokens.find(([one]) => one === '"');
  if (unclosed !== undefined) return at(unclosed.index);
  if (/^[=&]$/.test(last[0])) return at(last.index);
  if (/^([<>=]=?|&&|-|\(|\[|,|in)$/.test(last[0])) return at(left.trimEnd().length);
  if (isOpen) return at(left.trimEnd().length);
  if (/^[A-Za-z_]/.test(last[0]) && !["now", "staged_at", "approved"].includes(last[0])) return at(last.index);
  return null;
}

// Each expression, cut at each byte.
Deno.test("readLawText() places an expression that is cut at each byte, or reads exactly what is left", () => {
  for (const line of [15, 16, 17, 18, 21]) {
    const text = LINES[line - 1] ?? "";
    const start = text.search(/- |when: /) + (line === 21 ? 6 : 2);
    for (let end = start; end < text.length; end++) {
      const cut = text.slice(0, end);
      const whole = WHOLE[cut.slice(start).trim()];
      const expected = placeOfCut(cut, start, line) ?? identityOf(changedSpec(...whole ?? [[]]));
      assert.ok(/:/.test(expected) || whole !== undefined, cut);
      assert.equal(answerTo(withLine(line, cut)), expected, cut);
      seeded++;
    }
  }
});

Deno.test("at least 300 faults were seeded", () => assert.ok(seeded >= 300, String(seeded)));
