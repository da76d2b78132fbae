/** Splits a stream of bytes into lines of limited length. */

import { decodeUtf8Strict } from "./utf8.ts";

/** Why a line has no text. */
export type LineFault = "too_long" | "not_utf8";

/** Receives complete lines. `push` throws the errors of the sink. */
export interface LineSink {
  /** Receives each line, empty ones included, with its UTF-8 bytes. These may be reused afterwards. */
  readonly line: (text: string, utf8: Uint8Array) => void | Promise<void>;
  /** Receives the bytes of a line that is too long, as they arrive, before its fault. They may be reused afterwards. */
  readonly excess?: (bytes: Uint8Array) => void;
  /** Receives the bytes of a line that is not UTF-8; empty for one that is too long. They may be reused afterwards. */
  readonly fault: (fault: LineFault, line: Uint8Array) => void | Promise<void>;
}

/** Splits bytes into lines. */
export interface LineReader {
  /** Accepts the next bytes of the stream, and waits for the sink. The bytes may be reused afterwards. */
  readonly push: (bytes: Uint8Array) => void | Promise<void>;
  /** Ends the stream. Bytes after the last line end are a line too. */
  readonly end: () => void | Promise<void>;
}

const LF = 0x0a;
const CR = 0x0d;

/** A buffer of at most this size is kept for the next long line. */
const SPARE_BYTES = 1 << 16;

/**
 * Creates a line reader. Lines end with LF or CRLF and must be UTF-8. A line over the limit is not kept: its bytes go
 * to `excess` as they arrive, and its fault is reported at its end.
 *
 * @param maximumBytes Maximum bytes of a line without its end; at least 1
 * @param sink Receives the lines; each is awaited before the next
 */
export function createLineReader(maximumBytes: number, sink: LineSink): LineReader {
  let kept: Uint8Array = new Uint8Array(0);
  let length = 0;
  let tooLong = false;

  /** Keeps the start of a line for the next bytes. A CR at the limit may be part of the line's end. */
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
    return text === null ? sink.fault("not_utf8", line) : sink.line(text, line);
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

  return { push, end: () => length > 0 || tooLong ? complete(new Uint8Array(0)) : undefined };
}
