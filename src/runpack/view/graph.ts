/**
 * The stage graph as SVG.
 *
 * @module
 */

import type { PackView } from "../material_view.ts";
import { layOut, type PlacedStage } from "./layers.ts";
import { all, type Content, element, type Markup } from "./markup.ts";
import { type StageStanding, type StageState, standingsOf } from "./stage_states.ts";
import { cut, requirementText } from "./words.ts";

const [WIDTH, HEIGHT] = [200, 58];
const [COLUMN, ROW] = [268, 82];
const MARGIN = 12;
const DIP = 72;
/** Arrows that are drawn; a graph of more is told in words alone. */
const EDGES = 4000;
/** Characters of a stage id that fit on its box. */
const LABEL = 24;

const WORDS: Readonly<Record<StageState, string>> = {
  complete: "complete",
  open: "open",
  ready: "ready to be opened",
  blocked: "waiting",
};

/** The legend's order. */
const STATES: readonly StageState[] = ["complete", "open", "ready", "blocked"];

/** The stage graph with its legend. */
export function renderGraph(view: PackView): Markup {
  const standings = standingsOf(view);
  const places = layOut(view.law.law.stages);
  const byId = new Map(places.map((place) => [place.stage_id, place]));
  const edges = places.flatMap((place) =>
    place.after.flatMap((before): [PlacedStage, PlacedStage][] => {
      const from = byId.get(before);
      return from === undefined ? [] : [[from, place]];
    })
  );
  const drawn = edges.slice(0, EDGES).map(([from, to]) => renderEdge(from, to));
  const boxes = places.map((place) => renderStage(view, place, standings.get(place.stage_id)));
  const [width, height] = sizeOf(places);
  const hidden = edges.length - drawn.length;
  return all(
    element("p", { class: "legend" }, STATES.map((state) => legendEntry(state, standings))),
    element(
      "div",
      { class: "graph" },
      element(
        "svg",
        { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": "Stage graph" },
        arrowHead(),
        drawn,
        boxes,
      ),
    ),
    hidden === 0 ? "" : element("p", { class: "note" }, `${hidden} more arrows are not drawn.`),
    element(
      "p",
      {},
      "The run is complete when ",
      element("code", {}, requirementText(view.law.law.completion_requirement)),
    ),
  );
}

function legendEntry(state: StageState, standings: ReadonlyMap<string, StageStanding>): Content {
  const count = [...standings.values()].filter((standing) => standing.state === state).length;
  return element("span", { class: `key ${state}` }, `${count} ${WORDS[state]}`);
}

function sizeOf(places: readonly PlacedStage[]): [number, number] {
  const columns = Math.max(0, ...places.map(({ layer }) => layer));
  const rows = Math.max(0, ...places.map(({ row }) => row));
  return [columns * COLUMN + WIDTH + 2 * MARGIN, rows * ROW + HEIGHT + 3 * MARGIN];
}

function arrowHead(): Markup {
  const path = element("path", { d: "M0 0 L8 4 L0 8 z", class: "arrow-head" });
  const attributes = { id: "arrow", viewBox: "0 0 8 8", refX: 8, refY: 4, markerWidth: 7, markerHeight: 7 };
  return element("defs", {}, element("marker", { ...attributes, orient: "auto" }, path));
}

function renderEdge(from: PlacedStage, to: PlacedStage): Markup {
  const [x1, y1] = [MARGIN + from.layer * COLUMN + WIDTH, MARGIN + from.row * ROW + HEIGHT / 2];
  const [x2, y2] = [MARGIN + to.layer * COLUMN, MARGIN + to.row * ROW + HEIGHT / 2];
  const bend = Math.max(24, (x2 - x1) / 2);
  // An arrow past other columns dips, so that it does not hide behind the boxes of its row.
  const dip = to.layer - from.layer > 1 ? DIP : 0;
  const d = `M${x1} ${y1} C${x1 + bend} ${y1 + dip} ${x2 - bend} ${y2 + dip} ${x2} ${y2}`;
  return element("path", { d, class: "edge", "marker-end": "url(#arrow)" });
}

function renderStage(view: PackView, place: PlacedStage, standing: StageStanding | undefined): Markup {
  const [x, y] = [MARGIN + place.layer * COLUMN, MARGIN + place.row * ROW];
  const state = standing?.state ?? "blocked";
  const stage = view.law.law.stages.find(({ stage_id }) => stage_id === place.stage_id);
  const needs = stage === undefined ? "" : requirementText(stage.completion_requirement);
  const attempts = standing === undefined || standing.attempts === 0
    ? ""
    : `, ${standing.attempts} ${standing.attempts === 1 ? "attempt" : "attempts"}`;
  return element(
    "g",
    { class: `stage ${state}` },
    element("title", {}, `${place.stage_id}: ${WORDS[state]}. Needs ${needs}`),
    element("rect", { x, y, width: WIDTH, height: HEIGHT, rx: 8 }),
    element("text", { x: x + 14, y: y + 25, class: "stage-name" }, cut(place.stage_id, LABEL)),
    element("text", { x: x + 14, y: y + 44, class: "stage-state" }, `${WORDS[state]}${attempts}`),
  );
}
