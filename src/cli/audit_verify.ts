import { resolve } from "node:path";
import { countOf } from "../config/problems.ts";
import { HeadError, headPath, readHead } from "../server/audit/head.ts";
import type { ChainState } from "../server/audit/line.ts";
import { type AuditReport, verifyAuditFile, type VerifyOptions } from "../server/audit/verify.ts";
import { fileReason } from "../store/file_reason.ts";
import { CliError } from "./terminal/cli_error.ts";
import { EXIT } from "./terminal/exit_codes.ts";
import { type ConfigFlags, writeOut, writeResult } from "./terminal/output.ts";
import { refuseRuntimeTelemetry } from "./terminal/runtime_telemetry.ts";

interface FileReport extends AuditReport {
  readonly file: string;
}

/**
 * Runs `gate audit verify FILE...`. Returns 0 if every line follows the one before it, else 6. Several files belong to
 * one chain and are given oldest first. With a configuration the files may be those of several servers, and all heads
 * in its database have to be lines of them.
 */
export async function runAuditVerify(files: readonly string[], options: ConfigFlags): Promise<number> {
  refuseRuntimeTelemetry();
  const paths = files.map((given) => resolve(given));
  // Heads are read before the files: a log that is still written may be ahead of its heads, never behind them.
  const comparison = options.config === undefined ? null : await import("./audit_recorded_heads.ts");
  const recorded = await comparison?.readRecordedHeads(options.config ?? "") ?? null;
  const heads = new Map(paths.map((path) => [path, headOf(path)]));
  const reports: FileReport[] = [];
  for (const chain of recorded === null ? [paths] : await chainsOf(paths)) {
    reports.push(...await verifyChain(chain, heads, recorded?.see));
  }
  const chains = recorded?.compare(reports) ?? null;
  const sound = reports.every((report) => report.sound) && reports.length === files.length &&
    (chains ?? []).every(({ fault }) => fault === null);
  if (options.json === true) {
    writeResult("audit verify", { files: reports, ...chains === null ? {} : { chains } }, sound);
  } else {
    reports.forEach(showReport);
    chains?.forEach((chain) => comparison?.showChain(chain));
  }
  return sound ? EXIT.ok : EXIT.verificationFailed;
}

/** Verifies files of one chain, oldest first, up to the first that is broken. */
async function verifyChain(
  paths: readonly string[],
  heads: ReadonlyMap<string, ChainState | null>,
  onLine: VerifyOptions["onLine"],
): Promise<FileReport[]> {
  const reports: FileReport[] = [];
  for (const [index, file] of paths.entries()) {
    const laterHeads = paths.slice(index + 1).map((later) => heads.get(later) ?? null).filter((head) => head !== null);
    const options = { after: stateAfter(reports.at(-1)), head: heads.get(file) ?? null, laterHeads };
    const report = await verify(file, { ...options, ...onLine === undefined ? {} : { onLine } });
    proveEnd(reports, report);
    reports.push({ file, ...report });
    if (!report.sound) break;
  }
  return reports;
}

/** Groups files by the chain of their first line, in the given order. A file without a readable line is a group of its own. */
async function chainsOf(paths: readonly string[]): Promise<Iterable<readonly string[]>> {
  const chains = new Map<string, string[]>();
  for (const path of paths) {
    const chain = await withFile(path, firstChain) ?? path;
    chains.set(chain, [...chains.get(chain) ?? [], path]);
  }
  return chains.values();
}

/** The first line of a file of the same chain names the last line of the file before it. */
function proveEnd(reports: FileReport[], next: AuditReport): void {
  const last = reports.pop();
  if (last === undefined) return;
  reports.push({ ...last, end_proven: last.end_proven || (next.lines > 0 && next.chain_id === last.chain_id) });
}

/** The chain of a file: its id begins every line. Null for a file that is no audit log. */
async function firstChain(file: Deno.FsFile): Promise<string | null> {
  const bytes = new Uint8Array(64);
  const count = await file.read(bytes) ?? 0;
  return /^\{"chain_id":"([0-9a-f]{32})"/.exec(new TextDecoder().decode(bytes.subarray(0, count)))?.[1] ?? null;
}

function verify(path: string, options: VerifyOptions): Promise<AuditReport> {
  return withFile(path, (file) => verifyAuditFile(file.readable, options));
}

async function withFile<Result>(path: string, work: (file: Deno.FsFile) => Promise<Result>): Promise<Result> {
  try {
    if (!(await Deno.stat(path)).isFile) throw cannotRead(path, "it is not a file");
    using file = await Deno.open(path);
    return await work(file);
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
