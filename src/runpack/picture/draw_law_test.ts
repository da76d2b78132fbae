import assert from "node:assert/strict";
import fc from "../../../tests/packages/fast_check.ts";
import type { Requirement } from "../../law/types.ts";
import type { DrawnLaw } from "./boxes.ts";
import { type Drawing, drawLaw } from "./draw_law.ts";
import { type ConditionMark, MARKS, type StageMark } from "./marks.ts";
import { DARK, LIGHT, type Palette, PICTURE_STYLE } from "./picture_style.ts";
import type { RunPicture } from "./run_picture.ts";
import { textWidth } from "./text_width.ts";

type Point = readonly [x: number, y: number];
type Rectangle = readonly [left: number, top: number, right: number, bottom: number];
type Row = readonly [id: string, before: Requirement | null, conditions?: Requirement];

const leaf = (id: string): Requirement => ({ Condition: id });
const all = (...ids: readonly string[]): Requirement => ({ And: ids.map(leaf) });
const any = (...ids: readonly string[]): Requirement => ({ Or: ids.map(leaf) });

function lawOf(rows: readonly Row[], completion: Requirement): DrawnLaw {
  return {
    scenario_id: "drawn",
    conditions: [],
    acquisition_bindings: [],
    stages: rows.map(([stage_id, requirement, conditions = leaf("tested")]) => ({
      stage_id,
      prerequisite: requirement === null ? { kind: "root" } : { kind: "requires", requirement },
      completion_requirement: conditions,
    })),
    completion_requirement: completion,
  };
}

const STAGE_MARKS: readonly StageMark[] = ["complete", "held", "waiting", "open", "ready", "blocked"];
const CONDITION_MARKS: readonly ConditionMark[] = [
  "met",
  "not_met",
  "unknown",
  "waiting",
  "unavailable",
  "refused",
  "not_judged",
];

/** A run in which every mark occurs where there are enough stages and conditions. */
function anyRun({ stages }: DrawnLaw, isComplete: boolean): RunPicture {
  let count = 0;
  const conditionsOf = (requirement: Requirement): string[] =>
    [...JSON.stringify(requirement).matchAll(/"Condition":("(?:[^"\\]|\\.)*")/g)].map(([, id]) => JSON.parse(id ?? ""));
  return {
    isComplete,
    stages: new Map(stages.map(({ stage_id, completion_requirement }, index) => [stage_id, {
      mark: STAGE_MARKS[index % STAGE_MARKS.length] ?? "open",
      detail: index % 2 === 0 ? "" : `attempt ${index} was false`,
      conditions: new Map(
        conditionsOf(completion_requirement).map((condition_id) => [condition_id, {
          condition_id,
          needed: true,
          mark: CONDITION_MARKS[count++ % CONDITION_MARKS.length] ?? "met",
          detail: "",
        }]),
      ),
    }])),
  };
}

function numbersOf(text: string, names: readonly string[]): number[] {
  return names.map((name) => Number(new RegExp(` ${name}="([^"]*)"`).exec(text)?.[1]));
}

function boxesOf(markup: string): Rectangle[] {
  return [...markup.matchAll(/<rect class="box"[^>]*>/g)].map(([rect]) => {
    const [x = NaN, y = NaN, width = NaN, height = NaN] = numbersOf(rect, ["x", "y", "width", "height"]);
    return [x, y, x + width, y + height];
  });
}

const CURVE_STEPS = 24;

/** The lines of a drawing as points, curves by the points on them. */
function linesOf(markup: string): Point[][] {
  return [...markup.matchAll(/<path class="edge" d="(M[^"]*)"/g)].flatMap(([, path = ""]) => {
    if (path.includes("H")) return [];
    const points: Point[] = [];
    for (const [, command = "", given = ""] of path.matchAll(/([MCV])([^MCV]*)/g)) {
      const numbers = given.trim().split(" ").map(Number);
      const [a = NaN, b = NaN, c = NaN, d = NaN, e = NaN, f = NaN] = numbers;
      const [x, y] = points.at(-1) ?? [NaN, NaN];
      if (command === "M") points.push([a, b]);
      else if (command === "V") points.push([x, a]);
      else {
        for (let step = 1; step <= CURVE_STEPS; step++) {
          const t = step / CURVE_STEPS;
          const [p, q, r, s] = [(1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t ** 2 * (1 - t), t ** 3];
          points.push([p * x + q * a + r * c + s * e, p * y + q * b + r * d + s * f]);
        }
      }
    }
    return [points];
  });
}

/** Whether a segment passes through the inside of a rectangle, by clipping it at each side. */
function crosses([x1, y1]: Point, [x2, y2]: Point, [left, top, right, bottom]: Rectangle): boolean {
  let [from, to] = [0, 1];
  for (const [start, delta, low, high] of [[x1, x2 - x1, left, right], [y1, y2 - y1, top, bottom]] as const) {
    if (delta === 0) {
      if (start <= low || start >= high) return false;
      continue;
    }
    const [enter = 0, leave = 0] = [(low - start) / delta, (high - start) / delta].sort((a, b) => a - b);
    [from, to] = [Math.max(from, enter), Math.min(to, leave)];
  }
  return from + 1e-9 < to;
}

/** Fails where a line crosses a box, boxes overlap, a text leaves its box, or anything lies outside of the picture. */
function assertReadable({ markup }: Drawing): void {
  const boxes = boxesOf(markup);
  const [, left = NaN, top = NaN, width = NaN, height = NaN] =
    /viewBox="(\S+) (\S+) (\S+) (\S+)"/.exec(markup)?.map(Number) ??
      [];
  const isInside = (x: number, y: number): boolean => x >= left && x <= left + width && y >= top && y <= top + height;
  for (const points of linesOf(markup)) {
    points.forEach((to, index) => {
      assert.ok(isInside(...to), `the point ${to} is in the picture`);
      const from = points[index - 1];
      if (from === undefined) return;
      const [high, low] = from[1] < to[1] ? [from[1], to[1]] : [to[1], from[1]];
      const crossed = boxes.find((box) => box[1] < low && high < box[3] && crosses(from, to, box));
      assert.equal(crossed, undefined, `the line from ${from} to ${to}`);
    });
  }
  boxes.forEach((one, index) => {
    assert.ok(isInside(one[0], one[1]) && isInside(one[2], one[3]), `the box at ${one} is in the picture`);
    const over = boxes.slice(index + 1).find((two) =>
      one[0] < two[2] && two[0] < one[2] && one[1] < two[3] && two[1] < one[3]
    );
    assert.equal(over, undefined, `a box over ${one}`);
  });
  assertTextFits(markup, boxes);
  for (const { from, to, y } of textsOf(markup)) {
    assert.ok(isInside(from, y) && isInside(to, y), `the text at ${from} ${y}`);
  }
}

interface Text {
  readonly from: number;
  readonly to: number;
  readonly y: number;
}

function textsOf(markup: string): Text[] {
  return [...markup.matchAll(/<text([^>]*)>([^<]*)<\/text>/g)].map(([, attributes = "", escaped = ""]) => {
    const text = escaped.replace(/&(?:amp|lt|gt|quot|#39);/g, "&");
    const [x = NaN, y = NaN, size = NaN] = numbersOf(attributes, ["x", "y", "font-size"]);
    const width = textWidth(text, Number.isNaN(size) ? 12 : size);
    return attributes.includes('"end"') ? { from: x - width, to: x, y } : { from: x, to: x + width, y };
  });
}

/** Every group of a box holds its own texts, and texts on one line do not touch. */
function assertTextFits(markup: string, boxes: readonly Rectangle[]): void {
  const groups = markup.split(/(?=<g class="(?:stage|end) )/).slice(1).map((group) =>
    group.split('<g class="legend"')[0] ?? ""
  );
  assert.equal(groups.length, boxes.length);
  groups.forEach((group, index) => {
    const [left, top, right, bottom] = boxes[index] ?? [NaN, NaN, NaN, NaN];
    const texts = textsOf(group);
    texts.forEach(({ from, to, y }, at) => {
      assert.ok(
        from >= left && to <= right && y > top + 12 && y < bottom,
        `the text from ${from} to ${to} in ${left} to ${right}`,
      );
      const beside = texts.slice(at + 1).find((other) => other.y === y && other.from < to && from < other.to);
      assert.equal(beside, undefined, "no text touches another");
    });
  });
}

const NAMES = fc.oneof(
  { weight: 6, arbitrary: fc.string({ minLength: 1, maxLength: 40 }) },
  { weight: 1, arbitrary: fc.string({ unit: "grapheme", minLength: 1, maxLength: 80 }) },
);

/** Laws with 1 to `most` stages; each names up to four stages before it, and up to 15 conditions. */
function laws(most: number): fc.Arbitrary<DrawnLaw> {
  const picks = (maxLength: number): fc.Arbitrary<number[]> => fc.array(fc.nat(), { maxLength });
  const stage = fc.tuple(NAMES, picks(4), fc.array(NAMES, { minLength: 1, maxLength: 15 }), fc.boolean());
  return fc.tuple(fc.array(stage, { minLength: 1, maxLength: most, size: "max" }), picks(5), fc.boolean()).map(
    ([drawn, ends, isAny]) => {
      const ids = drawn.map(([name], index) => `${name} ${index}`);
      const chosen = (given: readonly number[], below: number): string[] => [
        ...new Set(given.map((one) => ids[one % below] ?? "")),
      ];
      const rows = drawn.map(([, before, conditions, isEither], index): Row => {
        const named = index === 0 ? [] : chosen(before, index);
        const needs = [...new Set(conditions)];
        const join = isEither ? any : all;
        return [ids[index] ?? "", named.length === 0 ? null : join(...named), join(...needs)];
      });
      const last = chosen(ends, ids.length);
      return lawOf(rows, (isAny ? any : all)(...last.length === 0 ? [ids.at(-1) ?? ""] : last));
    },
  );
}

Deno.test("drawLaw() draws any law without a line across a box, boxes over each other, or text beside its box", () => {
  fc.assert(
    fc.property(laws(200), fc.boolean(), fc.boolean(), (law, hasRun, isComplete) => {
      assertReadable(drawLaw(law, hasRun ? anyRun(law, isComplete) : null));
    }),
    { numRuns: 12, seed: 17 },
  );
});

Deno.test("the checks of a drawing find each fault", () => {
  const drawing = drawLaw(lawOf([["a", null], ["b", leaf("a")]], leaf("b")), null);
  const [first = [0, 0, 0, 0], second = [0, 0, 0, 0]] = boxesOf(drawing.markup);
  const move = (box: Rectangle, by: readonly [number, number]): string =>
    drawing.markup.replace(`x="${box[0]}" y="${box[1]}"`, `x="${box[0] + by[0]}" y="${box[1] + by[1]}"`);
  const rows: readonly (readonly [string, string])[] = [
    [move(second, [0, -20]), "the line from"],
    [move(second, [0, first[1] - second[1]]), "the line from|a box over"],
    [move(first, [-600, 0]), "is in the picture"],
    [drawing.markup.replace(">a</text>", `>${"a".repeat(40)}</text>`), "the text from"],
  ];
  assertReadable(drawing);
  for (const [markup, fault] of rows) {
    assert.throws(() => assertReadable({ ...drawing, markup }), new RegExp(fault), fault);
  }
});

Deno.test("drawLaw() routes lines past a row through lanes, and shares a lane among lines of one box", () => {
  const rows: readonly Row[] = [
    ["intake", null],
    ["basis", null],
    ["look", null],
    ["screening", all("intake", "basis")],
    ["extract", leaf("screening")],
    ["interview", any("screening", "look")],
    ["report", all("extract", "interview", "intake")],
    ["second", all("interview", "basis")],
    ["archive", all("report", "intake", "look")],
    ["publish", any("archive", "second", "basis")],
  ];
  const drawing = drawLaw(lawOf(rows, all("publish", "second", "intake")), null);
  assertReadable(drawing);
  const lanes = linesOf(drawing.markup).flatMap((points) =>
    points.flatMap(([x, y], index): [number, number, number][] => {
      const [before, above] = points[index - 1] ?? [NaN, NaN];
      return before === x && y - above > 60 ? [[x, above, y]] : [];
    })
  );
  assert.equal(lanes.length, 6);
  for (const [x, top, bottom] of lanes) {
    const beside = lanes.filter(([other, from, to]) => other === x && from < bottom && to > top);
    assert.equal(beside.length, 1, "lanes in the same rows do not share a track");
  }
});

Deno.test("drawLaw() shows each state by a word, a shape and a class, and explains those that occur", () => {
  const conditions = CONDITION_MARKS.map((mark) => `c-${mark}`);
  const law = lawOf(STAGE_MARKS.map((mark): Row => [`s-${mark}`, null, all(...conditions)]), leaf("s-complete"));
  const { markup } = drawLaw(law, anyRun(law, true));
  for (const [kind, marks] of [["stage", STAGE_MARKS], ["condition", CONDITION_MARKS]] as const) {
    for (const mark of marks) {
      const { word, meaning, tone, shape } = MARKS[mark];
      const group = new RegExp(`<g class="${kind} ${tone} is-${mark}"[^]*?</text></g>`).exec(markup)?.[0] ?? "";
      assert.ok(group.includes(word), `${kind} ${mark}: word`);
      for (const [part, path] of shape) {
        assert.ok(group.includes(`<path class="${part}" d="${path}"`), `${kind} ${mark}: shape`);
      }
      assert.ok(markup.includes(`>${word}: ${meaning}</text>`), `${mark}: legend`);
    }
  }
  const plain = drawLaw(law, null).markup;
  assert.doesNotMatch(plain, /class="legend"/);
  const only = drawLaw(law, { isComplete: false, stages: new Map() }).markup;
  assert.deepEqual([...only.matchAll(/>([a-z ]+): [^<]*<\/text>/g)].map(([, word]) => word), ["not reached"]);
});

Deno.test("every mark differs from all others by its word and by its shape or what it marks", () => {
  const words = Object.values(MARKS).map(({ word }) => word);
  assert.equal(new Set(words).size, words.length);
  for (const marks of [STAGE_MARKS, CONDITION_MARKS]) {
    const shapes = marks.map((mark) => JSON.stringify(MARKS[mark].shape));
    assert.equal(new Set(shapes).size, shapes.length);
    assert.equal(new Set(marks.map((mark) => MARKS[mark].character)).size, marks.length);
  }
  const failing = ["not_met", "refused", "held"] as const;
  for (const mark of failing) {
    for (const member of ["word", "tone", "character", "shape"] as const) {
      assert.notDeepEqual(MARKS[mark][member], MARKS.unavailable[member], `${mark} ${member}`);
    }
  }
});

function luminance(colour: string): number {
  const channels = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16) / 255);
  const [red = 0, green = 0, blue = 0] = channels.map((one) =>
    one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4
  );
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(one: string, other: string): number {
  const [high = 0, low = 0] = [luminance(one), luminance(other)].sort((a, b) => b - a);
  return (high + 0.05) / (low + 0.05);
}

Deno.test("every text and shape of a drawing has a contrast of at least 4.5 in both themes", () => {
  assert.equal(contrast("#000000", "#ffffff"), 21);
  for (const palette of [LIGHT, DARK] satisfies Palette[]) {
    const { ground, card, ink, quiet, tones } = palette;
    const pairs = Object.values(tones).flatMap((
      [front, behind],
    ) => [[front, behind], [front, card], [front, ground], [ink, behind]]);
    for (const [front = "", behind = ""] of [...pairs, [ink, card], [quiet, card], [quiet, ground]]) {
      assert.ok(contrast(front, behind) >= 4.5, `${front} on ${behind}: ${contrast(front, behind)}`);
      assert.ok(PICTURE_STYLE.includes(front) && PICTURE_STYLE.includes(behind));
    }
  }
});

Deno.test("drawLaw() leaves out lines beyond the maximum, and counts them", () => {
  const rows: readonly Row[] = [["a", null], ["b", leaf("a")], ["c", leaf("b")], ["d", all("c")]];
  const law = lawOf(rows, all("d", "a"));
  for (const [maximumLines, hidden] of [[6, 0], [5, 0], [4, 1], [1, 4], [0, 5]] as const) {
    const drawing = drawLaw(law, null, { maximumLines });
    assert.equal(drawing.hidden, hidden, `${maximumLines}`);
    assertReadable(drawing);
  }
});

Deno.test("drawLaw() cuts long names, keeps them in titles, and counts conditions that it does not draw", () => {
  const name = "n".repeat(200);
  const many = Array.from({ length: 13 }, (_, index) => `c${index}`);
  const law = lawOf([[name, null, all(...many)]], leaf(name));
  const drawing = drawLaw(law, anyRun(law, false));
  assertReadable(drawing);
  assert.match(drawing.markup, />n{30,40}…<\/text>/);
  assert.ok(drawing.markup.includes(`<title>${name}: complete. immediately; needs c0 &amp;&amp; `));
  assert.ok(drawing.markup.includes(">c10</text>") && !drawing.markup.includes(">c11</text>"));
  assert.ok(drawing.markup.includes(">and 2 more: 1 unavailable, 1 refused</text>"), drawing.markup);
  const whole = drawLaw(lawOf([["a", null, all(...many.slice(1))]], leaf("a")), null).markup;
  assert.ok(whole.includes(">c12</text>") && !whole.includes(" more"));
});

Deno.test("drawLaw() escapes names, and writes out characters that cannot be seen", () => {
  const hostile = `</text><script>"&'\u202e`;
  const { markup } = drawLaw(lawOf([[hostile, null, leaf(hostile)]], leaf(hostile)), null, { as: "file" });
  assert.match(markup, />&lt;\/text&gt;&lt;script&gt;&quot;&amp;&#39;\\u\{202e\}<\/text>/);
  assert.doesNotMatch(markup, /<script|\u202e|\son\w+=|\sstyle=|href|url\(/);
});

Deno.test("drawLaw() gives the same bytes for the same law, and stands alone as a file only", () => {
  const law = lawOf([["a", null], ["b", leaf("a")]], leaf("b"));
  const file = drawLaw(law, anyRun(law, false), { as: "file", theme: "dark" }).markup;
  assert.equal(file, drawLaw(law, anyRun(law, false), { as: "file", theme: "dark" }).markup);
  assert.ok(
    file.includes(`<style>${PICTURE_STYLE}</style>`) && file.includes(' data-theme="dark"') && file.includes(" xmlns="),
  );
  const shown = drawLaw(law, null).markup;
  assert.doesNotMatch(shown, /<style|data-theme|xmlns/);
  assert.match(
    shown,
    /^<svg class="gate-graph" role="img" [^>]*><title>Stages of drawn<\/title><desc>2 stages\.<\/desc>/,
  );
});

/** A chain whose every stage also names the first one, after as many roots. */
function dense(count: number): DrawnLaw {
  const indexes = Array.from({ length: count - 1 }, (_, index) => index + 1);
  const roots = indexes.map((index): Row => [`r${index}`, null]);
  const chain = indexes.map((index): Row => [`s${index}`, all(`s${index - 1}`, `r${index}`, "s0"), all("a", "b", "c")]);
  return lawOf([["s0", null], ...roots, ...chain], leaf(`s${count - 1}`));
}

Deno.test("a drawing grows with the stages and lines of a law", () => {
  const [small, large] = [dense(100), dense(200)].map((law) => drawLaw(law, anyRun(law, false)));
  assert.ok(small !== undefined && large !== undefined);
  assert.ok(large.markup.length < 2.3 * small.markup.length);
  assert.ok(large.width < 2 * small.width && large.height < 2.3 * small.height);
});
