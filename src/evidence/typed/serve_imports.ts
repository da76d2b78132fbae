/**
 * Serves imports in their worker, which has no permission.
 *
 * @module
 */

import { createDeadlineMeter, WorkExpired } from "../sandbox/deadline_meter.ts";
import { serveQuestions } from "../sandbox/worker_bootstrap.ts";
import { type ImportQuestion, writeResult } from "./import_protocol.ts";
import { type ImportOptions, type ImportResult, refuseImport } from "./import_result.ts";

/** Work between two readings of the clock. */
const STEPS_PER_CLOCK_READING = 1024;

/** Answers each question with the result of `run`, and refuses an import that takes longer than its time. */
export function serveImports<Source>(
  run: (source: Source, options: Required<Pick<ImportOptions, "spend">> & ImportOptions) => ImportResult,
): void {
  serveQuestions<null, ImportQuestion<Source>, string>(() => ({ source, options, milliseconds }) => {
    const spend = createDeadlineMeter(milliseconds, STEPS_PER_CLOCK_READING);
    try {
      return writeResult(run(source, { ...options, spend }));
    } catch (error) {
      if (error instanceof WorkExpired) return writeResult(refuseImport("import_timeout", `${milliseconds} ms`));
      throw error;
    }
  });
}
