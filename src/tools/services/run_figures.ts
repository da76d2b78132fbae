/**
 * The figures of the runs in a store, for metrics. They are read at most once in {@link FRESH_MILLIS}, after the scrape that finds them
 * old, so that no scrape waits for the store.
 *
 * @module
 */

import type { RunFigures as Figures, RunStore } from "../../store/types.ts";
import { gauge } from "../framework/measure.ts";
import type { Measure } from "../framework/types.ts";

/** Milliseconds for which figures are shown. */
const FRESH_MILLIS = 15_000;

/**
 * The metrics of runs by status, and of the stage that waits for the longest time. Without figures there are none, and so after a read
 * that failed, or lasted until the next one was due: the figures before it are too old to be shown.
 */
export function runFigures(
  runs: Pick<RunStore, "figures">,
  now: () => number = Date.now,
): () => readonly Measure[] {
  let figures: Figures | null = null;
  let readAt = -Infinity;
  let isReading = false;
  return () => {
    const isDue = now() - readAt >= FRESH_MILLIS;
    if (isDue && isReading) figures = null;
    if (isDue && !isReading) {
      readAt = now();
      isReading = true;
      runs.figures().catch(() => null).then((read) => {
        figures = read;
        isReading = false;
      });
    }
    return figures === null ? [] : measuresOf(figures, now());
  };
}

function measuresOf({ active, complete, oldestOpened }: Figures, now: number): readonly Measure[] {
  const help = "Runs in the store by status.";
  const age = oldestOpened === null ? 0 : Math.max(0, now - oldestOpened) / 1000;
  return [
    gauge("gate_runs", help, { status: "active" }, active),
    gauge("gate_runs", help, { status: "complete" }, complete),
    gauge(
      "gate_oldest_waiting_stage_seconds",
      "Age of the stage that is open for the longest time; 0 where no stage is open.",
      {},
      age,
    ),
  ];
}
