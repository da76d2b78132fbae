/** A server whose process may open few files: it takes fewer connections, and never one too many. */

import assert from "node:assert/strict";
import { callText, listening, send } from "../http_fixture.ts";
import { startServer } from "../client.ts";
import { gateArgs, inFolder, logText, processOf } from "../gate_command.ts";

const CONFIG = '[server]\ntransport = "http"\nbind = "127.0.0.1:0"\n';

/** Starts `gate serve` in a shell that lets it open so many files. */
function serveWithin(folder: string, files: number): ReturnType<typeof startServer> {
  const { command, args } = processOf(gateArgs("serve", "--config", `${folder}/gate.toml`));
  return startServer({
    program: "sh",
    args: ["-c", `ulimit -n ${files} && exec "$@"`, "sh", command, ...args],
    cwd: folder,
    env: { GATE_CONFIG: "" },
  });
}

Deno.test({
  name: "gate serve answers on while 1000 connections are half open and the process may open 512 files",
  ignore: Deno.build.os === "windows",
  fn: () =>
    inFolder(async (folder) => {
      await Deno.writeTextFile(`${folder}/gate.toml`, CONFIG);
      await using server = await listening(serveWithin(folder, 512));
      assert.match(
        logText(server.process.errors()),
        /gate warn: the process can open \d+ more files: room for 2\d\d connections/,
      );
      const { hostname, port } = new URL(server.url);
      const open: Deno.Conn[] = [];
      for (let at = 0; at < 1000; at++) {
        const connection = await Deno.connect({ hostname, port: Number(port) });
        // The other end may have gone by now.
        await connection.write(new TextEncoder().encode("POST /mcp HTTP/1.1\r\nHost: 127")).catch(() => 0);
        open.push(connection);
      }
      const { status } = await send(server.url, callText(1, "schemas_list", { namespace_id: 2 }));
      for (const connection of open) connection.close();
      assert.equal(status, 200);
    }),
});

Deno.test({
  name: "gate serve ends with 8 where the process may open too few files",
  ignore: Deno.build.os === "windows",
  fn: () =>
    inFolder(async (folder) => {
      await Deno.writeTextFile(`${folder}/gate.toml`, CONFIG);
      await using server = serveWithin(folder, 200);
      assert.equal(await server.ended(), 8);
      assert.match(logText(server.errors()), /^gate error: Cannot serve: the process can open \d+ more files, too few/);
    }),
});
