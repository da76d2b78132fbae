/**
 * HTTPS answers a whole conversation as stdio does (see `../protocol/transports_test.ts` for the other transports), and bounds
 * connections as HTTP does.
 */

import assert from "node:assert/strict";
import { connect } from "node:tls";
import { PIPELINED } from "@/server/http/connections.ts";
import { inFolder } from "../gate_command.ts";
import { createAuthority, SERVER_EXTENSIONS } from "./authority.ts";
import { curl, inWorld, startTls } from "./world.ts";
import { converse } from "../protocol/transports_suite.ts";
import { openHttp, openStdio } from "../protocol/transports_wire.ts";

for (const era of ["legacy", "modern"] as const) {
  Deno.test(`stdio and https answer a whole conversation alike, ${era} era`, () =>
    inFolder(async (folder) => {
      const authority = await createAuthority(folder, "ca", "/CN=The authority");
      await authority.issue("server", { subject: "/CN=localhost", extensions: SERVER_EXTENSIONS });
      const tls = `tls = { cert_path = "server.pem", key_path = "server.key" }`;
      await using https = await openHttp(tls, { ca: authority.cert })(folder);
      const over = await converse(https, era);
      await inFolder(async (other) => {
        await using stdio = await openStdio(other);
        const answers = await converse(stdio, era);
        for (const [index, answer] of answers.entries()) assert.deepEqual(over[index], answer, `answer ${index}`);
        assert.equal(over.length, answers.length);
      });
    }));
}

Deno.test("over TLS too a packet full of requests is ended, and an idle connection is replaced", async () => {
  await inWorld(async (world) => {
    const bounds = { connections: 4 };
    await using server = await startTls(world, { http: { bounds } });
    const open = (text: string): Promise<string> => {
      const { promise: ended, resolve } = Promise.withResolvers<string>();
      let heard = "";
      const { cert, key } = world.alice;
      const to = { port: server.port, host: "127.0.0.1", servername: "localhost", ca: world.authority.cert, cert, key };
      const socket = connect(to, () => void socket.write(text));
      socket.on("data", (bytes: Uint8Array) => void (heard += new TextDecoder().decode(bytes)));
      socket.on("error", () => undefined);
      socket.on("close", () => resolve(heard));
      return ended;
    };
    const request = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";
    for (let round = 0; round < 3; round++) {
      const heard = await open(request.repeat(1500));
      assert.ok((heard.match(/HTTP\/1\.1 200/g)?.length ?? 0) <= PIPELINED, heard);
    }
    // Each that comes makes the oldest go that waits for more of its head.
    const waiting = Array.from({ length: 12 }, () => open("GET /healthz HTTP/1.1\r\n"));
    assert.equal(await curl(world, server.url, world.alice), 200);
    assert.equal(await waiting[0], "");
    assert.equal(await curl(world, server.url, world.alice), 200);
  });
});
