/**
 * A line to a port of this machine on which every byte takes a time, as on a network, in a process of its own. `delayed_line.ts PORT
 * MILLISECONDS` prints its port, and ends with its standard input.
 *
 * @module
 */

import { connect, createServer } from "node:net";
import type { AddressInfo } from "node:net";

const [target = "", wait = ""] = Deno.args;

const line = createServer({ noDelay: true }, (near) => {
  const far = connect({ port: Number(target), host: "127.0.0.1", noDelay: true });
  for (const [from, to] of [[near, far], [far, near]] as const) {
    from.on("data", (bytes) => setTimeout(() => to.write(bytes), Number(wait)));
    from.on("close", () => setTimeout(() => to.destroy(), Number(wait)));
    from.on("error", () => to.destroy());
  }
});
line.listen(0, "127.0.0.1", () => console.log((line.address() as AddressInfo).port));

// It ends with the benchmark that started it.
for await (const _ of Deno.stdin.readable);
Deno.exit(0);
