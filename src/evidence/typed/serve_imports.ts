/** Serves imports in their worker, which has no permission. */

import { createDeadlineMeter, threadMilliseconds, WorkExpired } from "../sandbox/deadline_meter.ts";
import { serveQuestions } from "../sandbox/worker_bootstrap.ts";
import { type ImportQuestion, writeResult } from "./import_protocol.ts";
import { type ImportOptions, type ImportResult, refuseImport } from "./import_result.ts";

/** Work between two readings of the clock. */
const STEPS_PER_CLOCK_READING = 1024;

/** The work of an import is over its limit. */
class TooMuchWork extends Error {}

/** Answers each question with the result of `run`, and refuses an import above its steps or its processor time. */
export function serveImports<Source>(
  run: (source: Source, options: Required<Pick<ImportOptions, "spend">> & ImportOptions) => ImportResult,
): void {
  serveQuestions<null, ImportQuestion<Source>, string>(() => ({ source, options, steps, milliseconds }) => {
    const readClock = createDeadlineMeter(milliseconds, STEPS_PER_CLOCK_READING, threadMilliseconds);
    let left = steps;
    const spend = (count: number): void => {
      // Infinity reads the clock, and is no work.
      if (count !== Infinity && (left -= count) < 0) throw new TooMuchWork("Cannot finish: too much work");
      readClock(count);
    };
    try {
      return writeResult(run(source, { ...options, spend }));
    } catch (error) {
      if (error instanceof TooMuchWork) {
        return writeResult(refuseImport("document_too_complex", `reading it takes more than ${steps} steps`));
      }
      if (error instanceof WorkExpired) {
        return writeResult(refuseImport("import_timeout", `${milliseconds} ms of processor time`));
      }
      throw error;
    }
  });
}
