/** Counts the decisions of this process: runs that started or became complete, and attempts by outcome. */

import { readJson } from "../../canonical/scan.ts";
import type { Accepted } from "../../run/command.ts";
import { counter } from "../framework/measure.ts";
import type { Measure } from "../framework/types.ts";

/** Counts of decisions. */
export interface DecisionCounts {
  /** Counts a decision whose records were appended. */
  readonly decided: (scenarioId: string, decision: Accepted) => void;
  /** The counts by outcome. */
  readonly measures: () => readonly Measure[];
  /** The counts by outcome and scenario, for the operator alone: names of scenarios show what exists. */
  readonly detailed: () => readonly Measure[];
}

/** Maximum distinct scenarios; later ones are counted as `other`. */
const COUNTED_SCENARIOS = 200;

type Event = "started" | "completed" | "true" | "false" | "unknown";

/** Makes counts that are zero. */
export function countDecisions(): DecisionCounts {
  const counts = new Map<string, number>();
  const scenarios = new Set<string>();
  const decided = (scenarioId: string, { records }: Accepted): void => {
    const known = scenarios.has(scenarioId) || scenarios.size < COUNTED_SCENARIOS;
    if (known) scenarios.add(scenarioId);
    for (const { record } of records) {
      for (const event of eventsOf(record)) {
        const key = JSON.stringify([known ? scenarioId : "other", event]);
        counts.set(key, (counts.get(key) ?? 0) + 1);
      }
    }
  };
  const detailed = (): readonly Measure[] =>
    [...counts].map(([key, value]) => {
      const [scenario = "", event = ""] = readJson(key) as [string, Event];
      return measureOf(event as Event, { scenario }, value);
    });
  const measures = (): readonly Measure[] => {
    const sums = new Map<Event, number>(EVENTS.map((event) => [event, 0]));
    for (const [key, value] of counts) {
      const [, event] = readJson(key) as [string, Event];
      sums.set(event, (sums.get(event) ?? 0) + value);
    }
    return [...sums].map(([event, value]) => measureOf(event, {}, value));
  };
  return { decided, measures, detailed };
}

const EVENTS: readonly Event[] = ["started", "completed", "true", "false", "unknown"];

function eventsOf(record: Accepted["records"][number]["record"]): readonly Event[] {
  if (record.record_kind === "run_created") return ["started"];
  if (record.record_kind !== "stage_evaluated") return [];
  const { completed, outcome, run_status } = record.body;
  return completed && run_status === "complete" ? [outcome, "completed"] : [outcome];
}

function measureOf(event: Event, labels: Measure["labels"], value: number): Measure {
  if (event === "started") return counter("gate_runs_started_total", "Runs that started.", labels, value);
  if (event === "completed") return counter("gate_runs_completed_total", "Runs that became complete.", labels, value);
  return counter("gate_attempts_total", "Attempts of stages by outcome.", { outcome: event, ...labels }, value);
}
