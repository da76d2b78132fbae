import assert from "node:assert/strict";

import { gateArgs, inFolder, processOf } from "../gate_command.ts";

/** An OpenAPI document whose profile has more than 2 KiB, since it repeats the address, and whose contract has less. */
const SERVICE = {
  openapi: "3.0.3",
  info: { title: "service", version: "1" },
  servers: [{ url: `https://example.com/${"a".repeat(2000)}` }],
  paths: {
    "/status": {
      get: {
        operationId: "getStatus",
        responses: {
          200: { description: "ok", content: { "application/json": { schema: { type: "boolean" } } } },
        },
      },
    },
  },
};

const OLD = { "old.toml": "old", "service.json": JSON.stringify(SERVICE) };

// How many KiB a file may have, as on a full disk, and the command. Each ends with 2, and the folder stays as it was.
const COMMANDS: readonly (readonly [kibibytes: number, command: readonly string[]])[] = [
  [0, ["init", "new.toml"]],
  [0, ["init", "--force", "old.toml"]],
  [0, ["key", "create", "key.pem"]],
  [0, ["provider", "import", "openapi", "service.json"]],
  [2, ["provider", "import", "openapi", "service.json"]],
];

for (const [kibibytes, command] of COMMANDS) {
  Deno.test(`gate ${command.join(" ")} at files of at most ${kibibytes} KiB: 2, and the folder stays as it was`, () =>
    inFolder(async (folder) => {
      for (const [name, text] of Object.entries(OLD)) await Deno.writeTextFile(`${folder}/${name}`, text);
      const process = processOf(gateArgs(...command));
      const { code, stderr } = await new Deno.Command("bash", {
        // A larger write fails, and does not end the process.
        args: ["-c", `trap '' XFSZ; ulimit -f ${kibibytes}; exec "$@"`, "bash", process.command, ...process.args],
        cwd: folder,
        env: { NO_COLOR: "1", GATE_CONFIG: "" },
        stdin: "null",
      }).output();
      const said = new TextDecoder().decode(stderr);
      assert.equal(code, 2, said);
      assert.match(said, /^gate: Cannot write ".*": File too large$/m);
      const left = await Array.fromAsync(Deno.readDir(folder), async ({ name }) => [
        name,
        await Deno.readTextFile(`${folder}/${name}`),
      ]);
      assert.deepEqual(Object.fromEntries(left), OLD);
    }));
}
