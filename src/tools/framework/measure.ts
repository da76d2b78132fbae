/** Readings that `/metrics` and a telemetry collector show. */

import type { Measure } from "./types.ts";

type Labels = Measure["labels"];

/** A sum since the start. */
export function counter(name: string, help: string, labels: Labels, value: number): Measure {
  return { name, type: "counter", help, labels, value };
}

/** A value of this moment. */
export function gauge(name: string, help: string, labels: Labels, value: number): Measure {
  return { name, type: "gauge", help, labels, value };
}
