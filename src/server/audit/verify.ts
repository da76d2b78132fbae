/** Verifies audit files: each line byte for byte, its hash, and its link to the line before it. */

import { createHash } from "node:crypto";
import { isJsonObject, member } from "../../canonical/json.ts";
import { anchorOf, type ChainState, LINE_BYTES } from "./line.ts";
import { type LineFault, type ReadLine, readLine } from "./read_line.ts";

/** Why a line breaks the chain. */
export type AuditFault =
  | LineFault
  /** The file begins neither with the first line of a chain, nor with a line that continues one. */
  | "first_line_missing"
  /** The line is of another chain. */
  | "other_chain"
  /** The line's number is not the next one: lines were removed, added or moved. */
  | "sequence_gap"
  /** The line does not contain the hash of the line before it. */
  | "previous_mismatch"
  /** The file does not end with a line end. */
  | "torn_end"
  /** The head file names a later line: lines at the end are missing. */
  | "end_missing"
  /** The head file is of another chain, or has another hash for an existing line. */
  | "head_mismatch"
  | "line_too_long"
  | "empty_file";

/** The first line that breaks the chain. */
export interface AuditBreak {
  /** Counted from 1. */
  readonly line: number;
  readonly fault: AuditFault;
  readonly message: string;
}

/** A line that a crash cut short, and that gate closed at its next start. */
export interface ClosedTear {
  readonly line: number;
  readonly bytes: number;
}

/** The result of verifying a file. */
export interface AuditReport {
  readonly sound: boolean;
  /** Whole lines that follow each other. */
  readonly lines: number;
  readonly chain_id: string | null;
  readonly first_sequence: number | null;
  readonly last_sequence: number | null;
  /** The hash of the last line, or null. */
  readonly head: string | null;
  /** The line before the first one, if the chain began in an earlier file. */
  readonly continues: { readonly sequence: number; readonly head: string } | null;
  readonly torn: readonly ClosedTear[];
  /** Whether a head file proves that no line is missing at the end. */
  readonly end_proven: boolean;
  readonly broken: AuditBreak | null;
}

const MESSAGES: Readonly<Record<AuditFault, string>> = {
  not_json: "The line is not a JSON text that gate writes",
  not_canonical: "The line is not in canonical form",
  not_a_line: "The line does not have the members of an audit line",
  hash_mismatch: "The line was changed: its hash does not match its content",
  first_line_missing: "The file does not begin with the first line of a chain or file: earlier lines are missing",
  other_chain: "The line is of another chain",
  sequence_gap: "The number of the line is not the next one: lines are missing, added or moved",
  previous_mismatch: "The line does not follow the line before it",
  end_missing: "The head file names a later line: lines at the end are missing",
  head_mismatch: "The head file is of another chain, or names another line",
  torn_end: "The file ends within a line",
  line_too_long: `The line has more than ${LINE_BYTES} bytes`,
  empty_file: "The file has no line",
};

interface Walk {
  chain: ChainState | null;
  lines: number;
  first: number | null;
  continues: AuditReport["continues"];
  torn: ClosedTear[];
  /** An unreadable line that the next line may explain. */
  open: { readonly line: number; readonly bytes: number; readonly sha256: string; readonly fault: AuditFault } | null;
  /** The chain before the first line of the file; null if the chain begins there, or before any line. */
  before: ChainState | null;
  /** The line that the chain must reach. */
  readonly goal: ChainState | null;
  /** Lines of head files: existing lines must agree with them. */
  readonly heads: readonly ChainState[];
  reached: boolean;
  readonly onLine: (chain: ChainState) => void;
}

/** The options of verifying a file. */
export interface VerifyOptions {
  /** The chain after the file before this one, when several are verified in order. */
  readonly after?: ChainState | null;
  /** The line of the head file, or null. */
  readonly head?: ChainState | null;
  /** The lines of the head files of later files, which may name a line of this one. */
  readonly laterHeads?: readonly ChainState[];
  /** Receives the chain after each line that follows the one before it; of the first line also the chain before it. */
  readonly onLine?: (chain: ChainState) => void;
}

/**
 * Verifies one file.
 *
 * @param chunks Its bytes, in any pieces
 */
export async function verifyAuditFile(
  chunks: AsyncIterable<Uint8Array>,
  { after = null, head = null, laterHeads = [], onLine = () => undefined }: VerifyOptions = {},
): Promise<AuditReport> {
  const walk: Walk = {
    chain: after,
    lines: 0,
    first: null,
    continues: null,
    torn: [],
    open: null,
    before: null,
    goal: head,
    heads: head === null ? laterHeads : [head, ...laterHeads],
    reached: false,
    onLine,
  };
  let number = 0;
  for await (const piece of linesOf(chunks)) {
    number++;
    const fault = piece.fault ?? addLine(walk, piece.bytes, number);
    if (fault !== null) return report(walk, walk.open ?? { line: number, fault });
  }
  if (walk.open !== null) return report(walk, walk.open);
  const fault = walk.lines === 0 ? "empty_file" : endFault(walk);
  return report(walk, fault === null ? null : { line: number + 1, fault });
}

/** The fault of a chain that does not reach its head file, or null. */
function endFault({ goal, reached, chain, first, before }: Walk): AuditFault | null {
  if (goal === null || reached) return null;
  if (goal.chain_id !== chain?.chain_id) return "head_mismatch";
  if (goal.sequence > chain.sequence) return "end_missing";
  // A new file can still have the head file of an earlier one, whose last line may be known.
  const isEarlier = goal.sequence < (first ?? 0) && (goal.sequence !== before?.sequence || goal.head === before.head);
  return isEarlier ? null : "head_mismatch";
}

function report(walk: Walk, broken: { readonly line: number; readonly fault: AuditFault } | null): AuditReport {
  const { chain, lines, first, continues, torn, reached } = walk;
  return {
    sound: broken === null,
    lines,
    chain_id: lines === 0 ? null : chain?.chain_id ?? null,
    first_sequence: first,
    last_sequence: lines === 0 ? null : chain?.sequence ?? null,
    head: lines === 0 ? null : chain?.head ?? null,
    continues,
    torn,
    end_proven: reached && broken === null,
    broken: broken === null ? null : { line: broken.line, fault: broken.fault, message: MESSAGES[broken.fault] },
  };
}

/** Adds one line to the walk; returns the fault that breaks the chain, or null. */
function addLine(walk: Walk, bytes: Uint8Array, number: number): AuditFault | null {
  const reading = readLine(bytes);
  if (!reading.ok) {
    if (walk.open !== null) return walk.open.fault;
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    walk.open = { line: number, bytes: bytes.length, sha256, fault: reading.fault };
    return null;
  }
  const { line } = reading;
  const fault = followsOn(walk, line);
  if (fault !== null) return fault;
  if (walk.heads.some((head) => contradicts(line.chain, head))) return "head_mismatch";
  if (walk.open !== null) {
    if (!closesTear(line, walk.open)) return walk.open.fault;
    walk.torn.push({ line: walk.open.line, bytes: walk.open.bytes });
    walk.open = null;
  }
  if (walk.first === null) {
    const { chain_id, sequence } = line.chain;
    walk.first = sequence;
    walk.before = sequence === 1 ? null : { chain_id, sequence: sequence - 1, head: line.previous };
    if (walk.before !== null) walk.onLine(walk.before);
  }
  walk.chain = line.chain;
  walk.onLine(line.chain);
  walk.reached ||= line.chain.head === walk.goal?.head;
  walk.lines++;
  return null;
}

/** Whether a head file has another hash for a line. */
function contradicts(line: ChainState, head: ChainState): boolean {
  return line.chain_id === head.chain_id && line.sequence === head.sequence && line.head !== head.head;
}

function followsOn(walk: Walk, line: ReadLine): AuditFault | null {
  const { chain } = line;
  const before = walk.chain;
  if (walk.lines === 0) {
    if (before === null) return beginsFile(walk, line);
    // A later file continues the chain, or begins its own.
    if (before.chain_id !== chain.chain_id && chain.sequence === 1) return beginsFile(walk, line);
  }
  if (before === null || before.chain_id !== chain.chain_id) return "other_chain";
  if (chain.sequence !== before.sequence + 1) return "sequence_gap";
  return line.previous === before.head ? null : "previous_mismatch";
}

/** Checks the very first line: of a chain, or of a file that continues one. */
function beginsFile(walk: Walk, line: ReadLine): AuditFault | null {
  const { chain_id, sequence } = line.chain;
  if (sequence === 1) return line.previous === anchorOf(chain_id) ? null : "previous_mismatch";
  if (line.kind !== "process" || line.reason !== "chain_continued") return "first_line_missing";
  walk.continues = { sequence: sequence - 1, head: line.previous };
  return null;
}

/** Whether a line records the bytes before it as a torn line. */
function closesTear(line: ReadLine, open: NonNullable<Walk["open"]>): boolean {
  if (line.kind !== "process" || line.reason !== "torn_line_closed" || !isJsonObject(line.details)) return false;
  return member(line.details, "bytes") === open.bytes && member(line.details, "sha256") === open.sha256;
}

interface Piece {
  readonly bytes: Uint8Array;
  readonly fault: "torn_end" | "line_too_long" | null;
}

/** Splits bytes into lines of at most {@link LINE_BYTES}. */
async function* linesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Piece> {
  let rest: Uint8Array = new Uint8Array(0);
  for await (const chunk of chunks) {
    let from = 0;
    for (let end = chunk.indexOf(0x0a); end >= 0; end = chunk.indexOf(0x0a, from)) {
      const bytes = join(rest, chunk.subarray(from, end));
      yield { bytes, fault: bytes.length > LINE_BYTES ? "line_too_long" : null };
      rest = new Uint8Array(0);
      from = end + 1;
    }
    rest = join(rest, chunk.subarray(from));
    if (rest.length > LINE_BYTES) return yield { bytes: rest, fault: "line_too_long" };
  }
  if (rest.length > 0) yield { bytes: rest, fault: "torn_end" };
}

function join(a: Uint8Array, b: Uint8Array): Uint8Array {
  if (a.length === 0) return b.slice();
  const joined = new Uint8Array(a.length + b.length);
  joined.set(a);
  joined.set(b, a.length);
  return joined;
}
