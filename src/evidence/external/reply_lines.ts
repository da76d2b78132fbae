/**
 * Lines of what a provider writes.
 *
 * @module
 */

import { createLineReader, type LineReader } from "../../canonical/lines.ts";
import { ExternalFailure } from "./failure.ts";
import { REPLY_BYTES_MAXIMUM } from "./wire.ts";

/**
 * Makes a reader of lines, empty ones included. Its `push` throws an {@link ExternalFailure} with code
 * `response_too_large` or `provider_protocol_error`, and what `line` throws.
 *
 * @param line Takes each line as it is complete
 * @param maximumBytes Bytes of a line, its end not counted
 */
export function createReplyLines(line: (text: string) => void, maximumBytes: number = REPLY_BYTES_MAXIMUM): LineReader {
  const tooLarge = (): never => {
    throw new ExternalFailure("response_too_large", `The reply of the provider exceeds ${maximumBytes} bytes`);
  };
  return createLineReader(maximumBytes, {
    line,
    excess: tooLarge,
    fault: () => {
      throw new ExternalFailure("provider_protocol_error", "The reply of the provider is no UTF-8");
    },
  });
}
