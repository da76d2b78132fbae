/**
 * `gate audit verify`: verifies audit files line by line, and reports the first line that breaks the chain.
 *
 * @module
 */

import { resolve } from "node:path";
import { countOf } from "../config/problems.ts";
import { HeadError, headPath, readHead } from "../server/audit/head.ts";
import type { ChainState } from "../server/audit/line.ts";
import { type AuditReport, verifyAuditFile, type VerifyOptions } from "../server/audit/verify.ts";
import { fileReason } from "../store/file_reason.ts";
import { CliError } from "./terminal/cli_error.ts";
import { EXIT } from "./terminal/exit_codes.ts";
import { writeOut, writeResult } from "./terminal/output.ts";

/** The flags of `gate audit verify`. */
export interface AuditVerifyOptions {
  readonly json?: boolean;
}

interface FileReport extends AuditReport {
  readonly file: string;
}

/**
 * Runs `gate audit verify FILE...`. Returns 0 if every line follows the one before it, else 6. Several files belong to one
 * chain and are given oldest first.
 */
export async function runAuditVerify(files: readonly string[], options: AuditVerifyOptions): Promise<number> {
  const paths = files.map((given) => resolve(given));
  // Heads are read before the files: a log that is still written may be ahead of its head, never behind it.
  const heads = paths.map(headOf);
  const reports: FileReport[] = [];
  for (const [index, file] of paths.entries()) {
    const [head = null, ...later] = heads.slice(index);
    const laterHeads = later.filter((named) => named !== null);
    const report: AuditReport = await verify(file, { after: stateAfter(reports.at(-1)), head, laterHeads });
    proveEnd(reports, report);
    reports.push({ file, ...report });
    if (!report.sound) break;
  }
  const sound = reports.every((report) => report.sound) && reports.length === files.length;
  if (options.json === true) writeResult("audit verify", { files: reports }, sound);
  else reports.forEach(showReport);
  return sound ? EXIT.ok : EXIT.verificationFailed;
}

/** The first line of a file of the same chain names the last line of the file before it. */
function proveEnd(reports: FileReport[], next: AuditReport): void {
  const last = reports.pop();
  if (last === undefined) return;
  reports.push({ ...last, end_proven: last.end_proven || (next.lines > 0 && next.chain_id === last.chain_id) });
}

async function verify(path: string, options: VerifyOptions): Promise<AuditReport> {
  try {
    if (!(await Deno.stat(path)).isFile) throw cannotRead(path, "it is not a file");
    using file = await Deno.open(path);
    return await verifyAuditFile(file.readable, options);
  } catch (error) {
    throw unreadable(error, path);
  }
}

/** Reads the head file of an audit log; an unreadable head is an integrity failure. */
function headOf(path: string): ChainState | null {
  try {
    return readHead(path);
  } catch (error) {
    // An error that also affects the log itself is reported for the head only if the log exists.
    if (!(error instanceof HeadError)) throw unreadable(error, isThere(path) ? headPath(path) : path);
    throw new CliError("integrity_failure", error.message, null, EXIT.verificationFailed);
  }
}

function isThere(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
}

/** Converts an error of the file system to one of the command line; returns any other unchanged. */
function unreadable(error: unknown, path: string): unknown {
  const why = fileReason(error);
  return why === null ? error : cannotRead(path, why);
}

function cannotRead(path: string, reason: string): CliError {
  return new CliError("usage", `Cannot read "${path}": ${reason}`);
}

function stateAfter(report: AuditReport | undefined): ChainState | null {
  const { chain_id = null, head = null, last_sequence = null } = report ?? {};
  return chain_id === null || head === null || last_sequence === null
    ? null
    : { chain_id, head, sequence: last_sequence };
}

function showReport(report: FileReport): void {
  const { file, broken, lines, first_sequence, last_sequence } = report;
  const numbers = first_sequence === null ? "" : `, ${first_sequence} to ${last_sequence} of chain ${report.chain_id}`;
  writeOut(`${file}: ${broken === null ? "sound" : "broken"} (${countOf(lines, "line")}${numbers})\n`);
  if (broken !== null) writeOut(`  line ${broken.line}: ${broken.message} (${broken.fault})\n`);
  for (const { line, bytes } of report.torn) {
    writeOut(`  line ${line}: torn by a crash after ${countOf(bytes, "byte")}; the log continues on the next line\n`);
  }
  if (report.continues !== null) {
    const { sequence, head } = report.continues;
    writeOut(`  continues after line ${sequence} (${head}) of an earlier file\n`);
  }
  if (broken === null) {
    writeOut(
      report.end_proven
        ? "  no line is missing at the end\n"
        : "  lines may be missing at the end: no head file proves it\n",
    );
    writeOut(`  head ${report.head}\n`);
  }
}
