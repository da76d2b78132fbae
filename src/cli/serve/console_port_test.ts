import assert from "node:assert/strict";
import { consolePort } from "./console.ts";

Deno.test("consolePort() takes the usual port again once it is free", () => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const usual = (listener.addr as Deno.NetAddr).port;
  assert.equal(consolePort(undefined, usual), 0);
  assert.equal(consolePort(`${usual}`, usual), usual);
  listener.close();
  assert.equal(consolePort(undefined, usual), usual);
});

/** The value of `--port`, and the port or the end of the message. */
const ROWS: readonly (readonly [given: string, outcome: number | string])[] = [
  ["0", 0],
  ["65535", 65_535],
  ["65536", "must be an integer from 0 to 65535"],
  ["-1", "must be an integer from 0 to 65535"],
  ["http", "must be an integer from 0 to 65535"],
];

for (const [given, outcome] of ROWS) {
  Deno.test(`consolePort() ${given}: ${outcome}`, () => {
    if (typeof outcome === "number") return assert.equal(consolePort(given), outcome);
    assert.throws(() => consolePort(given), ({ message }: Error) => message.endsWith(outcome));
  });
}
