/** Splits the output of a provider into lines. */

import { createLineReader, type LineReader } from "../../canonical/lines.ts";
import { ExternalFailure } from "./failure.ts";
import { REPLY_BYTES_MAXIMUM } from "./messages.ts";

/**
 * Creates a reader of lines, which passes on empty lines too. Its `push` throws an {@link ExternalFailure} with code
 * `response_too_large` or `provider_protocol_error`, and the errors of `line`.
 *
 * @param line Receives each complete line
 * @param maximumBytes Bytes of a line without its terminator
 */
export function createReplyLines(line: (text: string) => void, maximumBytes: number = REPLY_BYTES_MAXIMUM): LineReader {
  const tooLarge = (): never => {
    throw new ExternalFailure("response_too_large", `The reply of the provider exceeds ${maximumBytes} bytes`);
  };
  return createLineReader(maximumBytes, {
    line,
    excess: tooLarge,
    fault: () => {
      throw new ExternalFailure("provider_protocol_error", "The reply of the provider is not UTF-8");
    },
  });
}
