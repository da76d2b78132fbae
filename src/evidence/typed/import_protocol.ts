/**
 * The messages between an import and its worker. The result travels as JSON text, so that every member name arrives as it was.
 *
 * @module
 */

import type { ImportOptions } from "./import_result.ts";

/** What to import and within which time. */
export interface ImportQuestion<Source> {
  readonly source: Source;
  readonly options: Omit<ImportOptions, "spend">;
  /** Milliseconds after which the worker gives up by itself: ending a thread does not stop every computation. */
  readonly milliseconds: number;
}

/** Work between two readings of the clock. */
const STEPS_PER_CLOCK_READING = 1024;

/** The import has taken longer than its time. */
export class ImportExpired extends Error {
  override readonly name = "ImportExpired";
}

/**
 * Counts work, and throws once the time is over.
 *
 * @throws {ImportExpired} Where the time is over
 */
export function importMeter(milliseconds: number): (steps: number) => void {
  const end = performance.now() + milliseconds;
  let left = STEPS_PER_CLOCK_READING;
  return (steps) => {
    left -= steps;
    if (left > 0) return;
    left = STEPS_PER_CLOCK_READING;
    if (performance.now() > end) throw new ImportExpired("Cannot import: the time is over");
  };
}
