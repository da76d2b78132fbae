/**
 * Verifying audit files: each line byte for byte, its hash, and that it follows the line before it.
 *
 * @module
 */

import { createHash } from "node:crypto";
import { isJsonObject, member } from "../../canonical/json.ts";
import { anchorOf, type ChainState, LINE_BYTES } from "./line.ts";
import { type LineFault, type ReadLine, readLine } from "./read_line.ts";

/** Why a line breaks the chain. */
export type AuditFault =
  | LineFault
  /** The file does not begin with the first line of a chain, nor with one that says that the chain goes on here. */
  | "first_line_missing"
  /** The line is of another chain. */
  | "other_chain"
  /** Its number is not the next one: lines were removed, added or moved. */
  | "sequence_gap"
  /** It does not name the hash of the line before. */
  | "previous_mismatch"
  /** The file does not end with a line end. */
  | "torn_end"
  /** The head file says that the chain had come further: lines at the end are missing. */
  | "end_missing"
  /** The head file is of another chain, or names another line in the place of one that there is. */
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

/** A line that a crash cut short, and that gate closed when it started again. */
export interface ClosedTear {
  readonly line: number;
  readonly bytes: number;
}

/** What verifying a file found. */
export interface AuditReport {
  readonly sound: boolean;
  /** Whole lines that follow each other. */
  readonly lines: number;
  readonly chain_id: string | null;
  readonly first_sequence: number | null;
  readonly last_sequence: number | null;
  /** The hash of the last line; null where there is none. */
  readonly head: string | null;
  /** What the first line names as the one before it, where the chain began in an earlier file. */
  readonly continues: { readonly sequence: number; readonly head: string } | null;
  readonly torn: readonly ClosedTear[];
  /** Whether a head file shows that no line is missing at the end. */
  readonly end_proven: boolean;
  readonly broken: AuditBreak | null;
}

const MESSAGES: Readonly<Record<AuditFault, string>> = {
  not_json: "The line is no JSON text that gate writes",
  not_canonical: "The line is not in canonical form",
  not_a_line: "The line has not the members of an audit line",
  hash_mismatch: "The line was changed: its hash is of another one",
  first_line_missing: "The file does not begin where a chain or a file begins: lines before it are missing",
  other_chain: "The line is of another chain",
  sequence_gap: "The number of the line is not the next one: lines are missing, added or moved",
  previous_mismatch: "The line does not follow the line before it",
  end_missing: "The chain had come further, as its head file says: lines at the end are missing",
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
  /** An unreadable line that the next line may account for. */
  open: { readonly line: number; readonly bytes: number; readonly sha256: string; readonly fault: AuditFault } | null;
  /** Where the chain stood before the first line of the file; null where it begins there, or is not known to. */
  before: ChainState | null;
  /** How far the chain must come. */
  readonly goal: ChainState | null;
  /** What lines must not differ from. */
  readonly heads: readonly ChainState[];
  reached: boolean;
}

/** What verifying a file goes by, beside the file. */
export interface VerifyOptions {
  /** Where the chain stands after the file before this one, where several are verified in order. */
  readonly after?: ChainState | null;
  /** What the head file says; null where there is none. */
  readonly head?: ChainState | null;
  /** What the head files of later files say: they may name a line of this one. */
  readonly laterHeads?: readonly ChainState[];
}

/**
 * Verifies one file.
 *
 * @param chunks Its bytes, in any pieces
 */
export async function verifyAuditFile(
  chunks: AsyncIterable<Uint8Array>,
  { after = null, head = null, laterHeads = [] }: VerifyOptions = {},
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
  };
  let number = 0;
  for await (const piece of linesOf(chunks)) {
    number++;
    const fault = piece.fault ?? takeLine(walk, piece.bytes, number);
    if (fault !== null) return report(walk, walk.open ?? { line: number, fault });
  }
  if (walk.open !== null) return report(walk, walk.open);
  const fault = walk.lines === 0 ? "empty_file" : endFault(walk);
  return report(walk, fault === null ? null : { line: number + 1, fault });
}

/** Whether the chain came as far as its head file says. */
function endFault({ goal, reached, chain, first, before }: Walk): AuditFault | null {
  if (goal === null || reached) return null;
  if (goal.chain_id !== chain?.chain_id) return "head_mismatch";
  if (goal.sequence > chain.sequence) return "end_missing";
  // The head of a file that was begun just now is still that of a file before it, whose last line may be known.
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

/** Takes one line into the walk; what breaks the chain, or null. */
function takeLine(walk: Walk, bytes: Uint8Array, number: number): AuditFault | null {
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
  if (walk.heads.some((head) => isAnother(line.chain, head))) return "head_mismatch";
  if (walk.open !== null) {
    if (!closesTear(line, walk.open)) return walk.open.fault;
    walk.torn.push({ line: walk.open.line, bytes: walk.open.bytes });
    walk.open = null;
  }
  if (walk.first === null) {
    const { chain_id, sequence } = line.chain;
    walk.first = sequence;
    walk.before = sequence === 1 ? null : { chain_id, sequence: sequence - 1, head: line.previous };
  }
  walk.chain = line.chain;
  walk.reached ||= line.chain.head === walk.goal?.head;
  walk.lines++;
  return null;
}

/** Whether a line stands where a head file names another. */
function isAnother(line: ChainState, head: ChainState): boolean {
  return line.chain_id === head.chain_id && line.sequence === head.sequence && line.head !== head.head;
}

function followsOn(walk: Walk, line: ReadLine): AuditFault | null {
  const { chain } = line;
  const before = walk.chain;
  if (walk.lines === 0) {
    if (before === null) return beginsFile(walk, line);
    // A file after another: it goes on with its chain, or begins one of its own.
    if (before.chain_id !== chain.chain_id && chain.sequence === 1) return beginsFile(walk, line);
  }
  if (before === null || before.chain_id !== chain.chain_id) return "other_chain";
  if (chain.sequence !== before.sequence + 1) return "sequence_gap";
  return line.previous === before.head ? null : "previous_mismatch";
}

/** The first line of all: of a chain, or of a file in which a chain goes on. */
function beginsFile(walk: Walk, line: ReadLine): AuditFault | null {
  const { chain_id, sequence } = line.chain;
  if (sequence === 1) return line.previous === anchorOf(chain_id) ? null : "previous_mismatch";
  if (line.kind !== "process" || line.reason !== "chain_continued") return "first_line_missing";
  walk.continues = { sequence: sequence - 1, head: line.previous };
  return null;
}

/** Whether a line says of the bytes before it that a crash left them, and which they are. */
function closesTear(line: ReadLine, open: NonNullable<Walk["open"]>): boolean {
  if (line.kind !== "process" || line.reason !== "torn_line_closed" || !isJsonObject(line.details)) return false;
  return member(line.details, "bytes") === open.bytes && member(line.details, "sha256") === open.sha256;
}

interface Piece {
  readonly bytes: Uint8Array;
  readonly fault: "torn_end" | "line_too_long" | null;
}

/** Cuts bytes into lines, none longer than {@link LINE_BYTES}. */
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
