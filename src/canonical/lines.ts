/**
 * Lines out of a stream of bytes, none longer than a limit.
 *
 * @module
 */

import { decodeUtf8Strict } from "./utf8.ts";

/** Why a line is not handed on as text. */
export type LineFault = "too_long" | "not_utf8";

/** Takes lines as they are complete. What it throws, `push` throws. */
export interface LineSink {
  /** Takes each line, empty ones included. */
  readonly line: (text: string) => void | Promise<void>;
  /** Takes the bytes of a line that is too long, as they come; they may be reused afterwards. Its fault follows. */
  readonly excess?: (bytes: Uint8Array) => void;
  /** Takes the bytes of a line that is not UTF-8 too; none of one that is too long. They may be reused afterwards. */
  readonly fault: (fault: LineFault, line: Uint8Array) => void | Promise<void>;
}

/** Cuts bytes into lines. */
export interface LineReader {
  /** Takes the next bytes of the stream; waits where the sink does. They may be reused afterwards. */
  readonly push: (bytes: Uint8Array) => void | Promise<void>;
  /** Takes the end of the stream: what is left is a line too. */
  readonly end: () => void | Promise<void>;
}

const LF = 0x0a;
const CR = 0x0d;

/** A buffer up to this size is kept for the next long line. */
const SPARE_BYTES = 1 << 16;

/**
 * Makes a line reader. Lines end with LF or CRLF and must be UTF-8. Of a line that is longer than the limit no more than
 * the limit is kept: its bytes go to `excess` as they come, and its fault is reported at its end.
 *
 * @param maximumBytes Bytes of a line, its end not counted; at least 1
 * @param sink Takes the lines, one after the other: each is awaited before the next
 */
export function createLineReader(maximumBytes: number, sink: LineSink): LineReader {
  let kept: Uint8Array = new Uint8Array(0);
  let length = 0;
  let tooLong = false;

  /** Keeps the start of a line for the bytes to come; a CR at the limit may yet be the line's end. */
  const keep = (bytes: Uint8Array): void => {
    const needed = length + bytes.length;
    const last = bytes.at(-1) ?? kept[length - 1];
    if (tooLong || needed > maximumBytes + 1 || (needed > maximumBytes && last !== CR)) {
      sink.excess?.(kept.subarray(0, length));
      sink.excess?.(bytes);
      tooLong = true;
      kept = new Uint8Array(0);
      length = 0;
      return;
    }
    if (needed > kept.length) {
      const grown = new Uint8Array(Math.min(maximumBytes + 1, Math.max(needed, 2 * kept.length)));
      grown.set(kept.subarray(0, length));
      kept = grown;
    }
    kept.set(bytes, length);
    length = needed;
  };

  const complete = (last: Uint8Array): void | Promise<void> => {
    let line = last;
    if (length > 0 || tooLong) {
      keep(last);
      line = kept.subarray(0, length);
    }
    const wasTooLong = tooLong;
    tooLong = false;
    length = 0;
    if (kept.length > SPARE_BYTES) kept = new Uint8Array(0);
    if (line.length > 0 && line[line.length - 1] === CR) line = line.subarray(0, -1);
    if (!wasTooLong && line.length > maximumBytes) sink.excess?.(line);
    if (wasTooLong || line.length > maximumBytes) return sink.fault("too_long", new Uint8Array(0));
    const text = decodeUtf8Strict(line);
    return text === null ? sink.fault("not_utf8", line) : sink.line(text);
  };

  const push = (bytes: Uint8Array): void | Promise<void> => {
    let start = 0;
    for (let end = bytes.indexOf(LF); end >= 0; end = bytes.indexOf(LF, start)) {
      const taken = complete(bytes.subarray(start, end));
      start = end + 1;
      if (taken !== undefined) return taken.then(() => push(bytes.subarray(start)));
    }
    if (start < bytes.length) keep(bytes.subarray(start));
  };

  return {
    push,
    end: () => length > 0 || tooLong ? complete(new Uint8Array(0)) : undefined,
  };
}
