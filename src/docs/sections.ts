/** Splits a document into sections at its headings of the second and third level. */

import { utf8Length } from "../canonical/utf8.ts";
import type { Doc, Section } from "./types.ts";

/** Bytes of one section. A longer text continues in another section of the same heading, so that an answer stays small. */
export const SECTION_BYTES_MAXIMUM = 16 * 1024;

/** UTF-16 code units of a title or heading. Every section repeats its heading and title, so both are cut at this length. */
export const HEADING_CHARACTERS_MAXIMUM = 256;

/** Headings of one document that begin a section; the text under further headings belongs to the last of these sections. */
export const HEADINGS_MAXIMUM = 1024;

/** The fence of a code block: up to three spaces, then three or more backticks or tildes. */
const FENCE = /^ {0,3}(`{3,}|~{3,})(.*)$/;

/** Decides for consecutive lines whether each belongs to a fenced code block, its fences included. */
function fenceTracker(): (line: string) => boolean {
  let open: string | null = null;
  return (line) => {
    const fence = FENCE.exec(line);
    const marks = fence?.[1] ?? "";
    const rest = fence?.[2] ?? "";
    if (open === null) {
      // A backtick in the rest of the line makes it inline code (CommonMark 0.31, 4.5).
      if (marks === "" || (marks.startsWith("`") && rest.includes("`"))) return false;
      open = marks;
      return true;
    }
    const closes = marks.length >= open.length && marks[0] === open[0] && rest.trim() === "";
    if (closes) open = null;
    return true;
  };
}

/** A heading and the lines under it. */
interface Piece {
  readonly heading: string;
  readonly parent: string;
  readonly lines: string[];
}

/**
 * The title of a document: the text of its first line, if that is a heading of the first level; else null.
 */
export function titleOf(text: string): string | null {
  const title = bounded(/^# +([^\r\n]*)/.exec(text)?.[1] ?? "");
  return title === "" ? null : title;
}

/** The text of a heading, without a closing sequence of `#` (CommonMark 0.31, 4.2). */
function headingOf(line: string): string {
  const text = line.trimEnd();
  let end = text.length;
  while (text.charAt(end - 1) === "#") end--;
  return bounded(/\s/.test(text.charAt(end - 1)) ? text.slice(0, end) : text);
}

function bounded(text: string): string {
  return text.trim().slice(0, HEADING_CHARACTERS_MAXIMUM).toWellFormed().trimEnd();
}

/** The sections of a document, in order. A line of a fenced code block is never a heading. */
export function splitSections(doc: Doc): readonly Section[] {
  let piece: Piece = { heading: doc.doc_title, parent: "", lines: [] };
  const pieces = [piece];
  let chapter = "";
  const isCode = fenceTracker();
  for (const [index, line] of doc.text.split(/\r?\n/).entries()) {
    const heading = isCode(line) ? null : /^(##|###) +(.*)$/.exec(line);
    if (heading === null || pieces.length > HEADINGS_MAXIMUM) {
      if (index > 0 || titleOf(line) === null) piece.lines.push(line);
      continue;
    }
    const text = headingOf(heading[2] ?? "");
    const isChapter = heading[1] === "##";
    if (isChapter) chapter = text;
    piece = { heading: text, parent: isChapter ? "" : chapter, lines: [] };
    pieces.push(piece);
  }
  return pieces.flatMap(({ heading, parent, lines }) =>
    cutLines(lines).map((content) => ({ doc, heading, parent, content }))
  );
}

/** Joins lines to texts of at most {@link SECTION_BYTES_MAXIMUM} bytes; only a longer line is cut. */
function cutLines(lines: readonly string[]): readonly string[] {
  const texts: string[] = [];
  let held: string[] = [];
  let bytes = 0;
  const flush = (): void => {
    const text = held.join("\n").trim();
    if (text !== "") texts.push(text);
    held = [];
    bytes = 0;
  };
  for (const whole of lines) {
    for (const line of cutLine(whole)) {
      const size = utf8Length(line) + 1;
      if (bytes + size > SECTION_BYTES_MAXIMUM) flush();
      held.push(line);
      bytes += size;
    }
  }
  flush();
  return texts;
}

/** Cuts a line between code points into parts that each fit into a section. */
function cutLine(line: string): readonly string[] {
  // One UTF-16 code unit takes at most three bytes.
  const most = Math.floor(SECTION_BYTES_MAXIMUM / 3) - 1;
  if (line.length <= most) return [line];
  const parts: string[] = [];
  for (let from = 0; from < line.length;) {
    let to = Math.min(from + most, line.length);
    const unit = line.charCodeAt(to - 1);
    if (to < line.length && unit >= 0xd800 && unit <= 0xdbff) to -= 1;
    parts.push(line.slice(from, to));
    from = to;
  }
  return parts;
}
