/** The metrics of the runtime. */

import { readJson } from "../../canonical/scan.ts";
import type { Provider, ProviderAnswer, Providers } from "../../evidence/types.ts";
import type { RunStore } from "../../store/types.ts";
import { counter, gauge } from "../framework/measure.ts";
import type { Measure } from "../framework/types.ts";

/** Providers with counted queries, and their metrics. */
export interface CountedProviders {
  readonly providers: Providers;
  readonly measures: () => readonly Measure[];
}

interface Count {
  queries: number;
  milliseconds: number;
}

/** Counts and times the queries of providers, by provider and outcome. */
export function countProviders(providers: Providers): CountedProviders {
  const counts = new Map<string, Count>();
  const counted = (provider: Provider): Provider => ({
    ...provider,
    query: async (query, context, signal) => {
      const start = performance.now();
      const answer = await provider.query(query, context, signal);
      count(counts, JSON.stringify([provider.provider_id, outcomeOf(answer)]), performance.now() - start);
      return answer;
    },
  });
  return {
    providers: new Map([...providers].map(([id, provider]) => [id, counted(provider)])),
    measures: () =>
      [...counts].flatMap(([key, { queries, milliseconds }]) => {
        const [provider = "", outcome = ""] = readJson(key) as string[];
        const labels = { provider, outcome };
        return [
          counter("gate_provider_queries_total", "Queries of providers.", labels, queries),
          counter(
            "gate_provider_query_seconds_total",
            "Time that queries of providers took.",
            labels,
            milliseconds / 1000,
          ),
        ];
      }),
  };
}

function outcomeOf(answer: ProviderAnswer): string {
  if (!answer.ok) return answer.code;
  return answer.result.error === null ? "answered" : "observed_error";
}

function count(counts: Map<string, Count>, key: string, milliseconds: number): void {
  const known = counts.get(key) ?? { queries: 0, milliseconds: 0 };
  known.queries++;
  known.milliseconds += milliseconds;
  counts.set(key, known);
}

/** The load of the run store's writer. */
export function storeMeasures(runs: RunStore): readonly Measure[] {
  const load = runs.load();
  const labels = { store: "run_state_store" };
  return [
    gauge("gate_store_queue_depth", "Operations that wait for the writer.", labels, load.queued),
    counter("gate_store_batches_total", "Transactions committed.", labels, load.batches),
    counter(
      "gate_store_batched_operations_total",
      "Operations in committed transactions; by batches it is the mean batch size.",
      labels,
      load.operations,
    ),
  ];
}
