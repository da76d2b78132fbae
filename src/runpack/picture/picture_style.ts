/**
 * The colours of drawings in light and dark, and the style sheet that chooses between them.
 *
 * The reader's preference chooses. `data-theme="light"` or `"dark"` on the drawing, or on an element around it,
 * overrides the preference.
 */

import type { Tone } from "./marks.ts";

/** The colours of one theme. */
export interface Palette {
  /** Behind the drawing, and inside boxes. */
  readonly ground: string;
  readonly card: string;
  readonly ink: string;
  /** Text of less weight, and arrows. */
  readonly quiet: string;
  /** Borders that separate parts of a page. */
  readonly line: string;
  /** Of each tone: its text and shapes, and the ground of a head. */
  readonly tones: Readonly<Record<Tone, readonly [front: string, ground: string]>>;
}

/** Colours of the light theme, which drawings have as attributes too. */
export const LIGHT: Palette = {
  ground: "#fbfbfa",
  card: "#ffffff",
  ink: "#1b1f24",
  quiet: "#57616b",
  line: "#d9dee3",
  tones: {
    good: ["#14693a", "#e2f3e8"],
    bad: ["#a3201d", "#fbe6e4"],
    doubt: ["#6a3fa0", "#f0e8fa"],
    absent: ["#7a5200", "#fbf0d6"],
    awaited: ["#2a55b8", "#e6edfb"],
    refusal: ["#96195a", "#fae3ef"],
    active: ["#0b5f6b", "#def1f3"],
    plain: ["#57616b", "#f0f2f4"],
  },
};

/** Colours of the dark theme. */
export const DARK: Palette = {
  ground: "#14171a",
  card: "#1b1f24",
  ink: "#e6e9ec",
  quiet: "#9aa5b0",
  line: "#343b43",
  tones: {
    good: ["#7fd6a0", "#17331f"],
    bad: ["#ff9d96", "#421a19"],
    doubt: ["#cbb0ff", "#2f2546"],
    absent: ["#f0c365", "#3a2d10"],
    awaited: ["#9dbcff", "#1d2b4a"],
    refusal: ["#ff9ccb", "#44192f"],
    active: ["#80d3de", "#12343a"],
    plain: ["#9aa5b0", "#262c33"],
  },
};

function variablesOf({ ground, card, ink, quiet, line, tones }: Palette): string {
  const toned = Object.entries(tones).flatMap(([tone, [front, behind]]) => [
    `--gate-${tone}:${front}`,
    `--gate-${tone}-ground:${behind}`,
  ]);
  return [
    `--gate-ground:${ground}`,
    `--gate-card:${card}`,
    `--gate-ink:${ink}`,
    `--gate-quiet:${quiet}`,
    `--gate-line:${line}`,
    ...toned,
  ]
    .join(";");
}

const TONE_RULES = Object.keys(LIGHT.tones).map((tone) =>
  `.gate-graph .${tone}{--gate-front:var(--gate-${tone});--gate-behind:var(--gate-${tone}-ground)}`
).join("\n");

/** The style sheet of drawings. A page that shows one has it in its own sheet; a drawing as a file holds it. */
export const PICTURE_STYLE = `.gate-graph{${variablesOf(LIGHT)}}
@media (prefers-color-scheme: dark){.gate-graph{${variablesOf(DARK)}}}
[data-theme="light"] .gate-graph,.gate-graph[data-theme="light"]{${variablesOf(LIGHT)}}
[data-theme="dark"] .gate-graph,.gate-graph[data-theme="dark"]{${variablesOf(DARK)}}
@media print{.gate-graph.gate-graph.gate-graph{${variablesOf(LIGHT)}}}
${TONE_RULES}
.gate-graph .ground{fill:var(--gate-ground)}
.gate-graph .edge{stroke:var(--gate-quiet)}
.gate-graph .tip{fill:var(--gate-quiet)}
.gate-graph text{fill:var(--gate-ink)}
.gate-graph .quiet{fill:var(--gate-quiet)}
.gate-graph .word{fill:var(--gate-front)}
.gate-graph .box{fill:var(--gate-card);stroke:var(--gate-front)}
.gate-graph .head{fill:var(--gate-behind)}
.gate-graph .fill{fill:var(--gate-front)}
.gate-graph .line{stroke:var(--gate-front)}
.gate-graph .cut{stroke:var(--gate-card)}
`;
