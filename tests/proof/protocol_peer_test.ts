/** gate's protocol answers as the SDK's server does: messages of other seeds each time. */

import { compareOnConnections, compareOverHttp } from "../protocol/comparison.ts";

const MESSAGES = 100_000;

const first = crypto.getRandomValues(new Uint32Array(1))[0] ?? 0;

for (const seed of [first, first + 1, first + 2]) {
  Deno.test(`${MESSAGES} messages over HTTP, seed ${seed}`, () => compareOverHttp(seed, MESSAGES));

  Deno.test(`${MESSAGES} messages on connections, seed ${seed}`, () => compareOnConnections(seed, MESSAGES));
}
