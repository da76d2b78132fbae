import assert from "node:assert/strict";
import { createServer } from "node:net";

import { parsePostgresAddress } from "../../config/postgres_address.ts";
import { openConnection } from "./connection.ts";

// What the resolver answers; where the connection is opened; the code of the error.
const rows: readonly (readonly [found: readonly string[] | Error, error: string])[] = [
  [["127.0.0.1"], "CONNECTION_CLOSED"],
  [["::ffff:127.0.0.1", "127.0.0.1"], "CONNECTION_CLOSED"],
  [Object.assign(new Error("no such name"), { code: "ENOTFOUND" }), "ENOTFOUND"],
];

for (const [found, code] of rows) {
  Deno.test(`openConnection() connects where its resolver says: ${found} is ${code}`, async () => {
    // A server that ends each connection at once.
    const listener = createServer((socket) => void socket.destroy()).listen(0, "127.0.0.1");
    await new Promise((resolve) => listener.once("listening", resolve));
    const { port } = listener.address() as { port: number };
    const asked: string[] = [];
    try {
      const address = parsePostgresAddress(`postgres://gate:secret@db.invalid:${port}/gate`) ?? assert.fail();
      const [server = assert.fail()] = address.servers;
      const options = { address, authorities: null, connections: 1 };
      const opening = openConnection(options, server, (host) => {
        asked.push(host);
        return found instanceof Error ? Promise.reject(found) : Promise.resolve(found);
      });
      await assert.rejects(opening, { code });
      assert.deepEqual(asked, ["db.invalid"]);
    } finally {
      await new Promise((resolve) => listener.close(resolve));
    }
  });
}
