/** HTTPS answers a whole conversation as stdio does; see `transports_test.ts` for the other transports. */

import assert from "node:assert/strict";
import { inFolder } from "./gate_command.ts";
import { createAuthority, SERVER_EXTENSIONS } from "./tls_authority.ts";
import { converse } from "./transports_suite.ts";
import { openHttp, openStdio } from "./transports_wire.ts";

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
