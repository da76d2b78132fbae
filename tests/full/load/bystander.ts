/**
 * A server that does nothing but one durable commit a request, in a process of its own: beside a server under load it
 * shows what the machine makes of a request that waits for nobody. `bystander.ts FILE` prints its port.
 *
 * @module
 */

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { DatabaseSync } from "node:sqlite";

const database = new DatabaseSync(Deno.args[0] ?? "");
database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE rows (body TEXT)");
const insert = database.prepare("INSERT INTO rows VALUES (?)");
const body = "x".repeat(1000);

const server = createServer((request, response) => {
  request.resume();
  insert.run(body);
  response.writeHead(200, { "content-length": "2" });
  response.end("ok");
});
server.listen(0, "127.0.0.1", () => console.log((server.address() as AddressInfo).port));
