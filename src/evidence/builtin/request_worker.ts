/**
 * The worker that sends the requests of `http` and `rest`. Its only permission is to connect to one address and port.
 */

import { serveQuestions } from "../sandbox/worker_bootstrap.ts";
import { type PinnedAnswer, type PinnedQuestion, requestPinned } from "../egress/pinned_request.ts";

serveQuestions<null, PinnedQuestion, PinnedAnswer>(
  () => requestPinned,
  (answer) => answer.ok ? [answer.response.body.buffer] : [],
);
