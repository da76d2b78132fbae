/**
 * Lines out of the bytes that a provider writes.
 *
 * @module
 */

import { decodeUtf8Strict } from "../../canonical/utf8.ts";
import { ExternalFailure } from "./failure.ts";

const LF = 0x0a;
/** A buffer up to this size is kept for the next line. */
const SPARE_BYTES = 64 * 1024;

/** Cuts bytes into lines. */
export interface LineCutter {
  /**
   * Takes the next bytes.
   *
   * @throws {ExternalFailure} `response_too_large` or `provider_protocol_error`, and what the taker of lines throws
   */
  readonly push: (bytes: Uint8Array) => void;
}

/**
 * Makes a line cutter. Lines end with LF or CRLF; no more than the limit is ever kept of one.
 *
 * @param maximumBytes Bytes of a line, its end not counted
 * @param line Takes each line as it is complete
 */
export function createLineCutter(maximumBytes: number, line: (text: string) => void): LineCutter {
  let kept: Uint8Array = new Uint8Array(0);
  let length = 0;
  const keep = (bytes: Uint8Array): void => {
    const needed = length + bytes.length;
    if (needed > maximumBytes) {
      throw new ExternalFailure("response_too_large", `The reply of the provider exceeds ${maximumBytes} bytes`);
    }
    if (needed > kept.length) {
      const grown = new Uint8Array(Math.min(maximumBytes, Math.max(needed, 2 * kept.length)));
      grown.set(kept.subarray(0, length));
      kept = grown;
    }
    kept.set(bytes, length);
    length = needed;
  };
  const complete = (last: Uint8Array): void => {
    keep(last);
    const text = decodeUtf8Strict(kept.subarray(0, length));
    length = 0;
    if (kept.length > SPARE_BYTES) kept = new Uint8Array(0);
    if (text === null) throw new ExternalFailure("provider_protocol_error", "The reply of the provider is no UTF-8");
    line(text.endsWith("\r") ? text.slice(0, -1) : text);
  };
  return {
    push: (bytes) => {
      let start = 0;
      for (let end = bytes.indexOf(LF); end >= 0; end = bytes.indexOf(LF, start)) {
        complete(bytes.subarray(start, end));
        start = end + 1;
      }
      if (start < bytes.length) keep(bytes.subarray(start));
    },
  };
}
