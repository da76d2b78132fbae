/**
 * The same conversation over stdio, Streamable HTTP and HTTP+SSE has the same answers; HTTPS is held to it in
 * `../tls/transports_test.ts`.
 */

import assert from "node:assert/strict";
import { inFolder } from "../gate_command.ts";
import { converse, type SuiteEra } from "./transports_suite.ts";
import { type Open, openHttp, openSse, openStdio } from "./transports_wire.ts";

const TRANSPORTS: readonly (readonly [name: string, open: Open])[] = [["http", openHttp()], ["sse", openSse]];

async function answersOver(open: Open, era: SuiteEra): Promise<readonly unknown[]> {
  let answers: readonly unknown[] = [];
  await inFolder(async (folder) => {
    await using conversation = await open(folder);
    answers = await converse(conversation, era);
  });
  return answers;
}

for (const era of ["legacy", "modern"] as const) {
  Deno.test(`stdio, http and sse answer a whole conversation alike, ${era} era`, async (t) => {
    const stdio = await answersOver(openStdio, era);
    assert.ok(stdio.length > 40);
    for (const [name, open] of TRANSPORTS) {
      await t.step(name, async () => {
        const answers = await answersOver(open, era);
        for (const [index, answer] of stdio.entries()) assert.deepEqual(answers[index], answer, `answer ${index}`);
        assert.equal(answers.length, stdio.length);
      });
    }
  });
}
