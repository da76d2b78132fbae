/** `gate doctor` lists the typed providers of 32 namespaces, and says when there are more. */

import assert from "node:assert/strict";
import type { JsonObject } from "../../../src/canonical/json.ts";
import { asJson } from "../../../src/run/primitives.ts";
import { httpProfile, typedContract } from "../../simulation/typed_documents.ts";
import { startServer } from "../client.ts";
import { gate, gateArgs, inFolder, STORES } from "../gate_command.ts";
import { callText, listening, send } from "../http_fixture.ts";

const SETTINGS = `${STORES}\n[server]\ntransport = "http"\nbind = "127.0.0.1:0"\n`;
const FIRST = 2;
const VERSION = { provider_id: "builds", version: "1" };

Deno.test("gate doctor lists n - 1 and n namespaces with typed providers, and notes that there are more than n", () =>
  inFolder(async (folder) => {
    await Deno.writeTextFile(`${folder}/gate.toml`, SETTINGS);
    const flags = ["--config", `${folder}/gate.toml`, "--typed-host", "builds.example"];
    const report = async (): Promise<readonly [listed: number, isNoted: boolean]> => {
      const { stdout, stderr } = await gate(folder, "doctor", "--config", "gate.toml");
      const text = stdout + stderr;
      return [text.match(/is active in namespace/g)?.length ?? 0, text.includes("More than 32 namespaces")];
    };
    let next = FIRST;
    const activateUpTo = async (last: number): Promise<void> => {
      await using server = await listening(startServer({ args: gateArgs("serve", ...flags), cwd: folder }));
      for (; next <= last; next++) {
        const key = { namespace_id: next, ...VERSION };
        const version = { contract: asJson(typedContract()), profile: asJson(httpProfile()) };
        const calls: readonly (readonly [tool: string, input: JsonObject])[] = [
          ["typed_providers_register", { ...key, ...version }],
          ["typed_providers_activate", { ...key, expected_active: null }],
        ];
        for (const [tool, input] of calls) {
          const { text } = await send(server.url, callText(1, tool, input));
          assert.ok(!text.includes('"isError":true'), text);
        }
      }
    };
    for (const [count, listed, isNoted] of [[31, 31, false], [32, 32, false], [33, 32, true]] as const) {
      await activateUpTo(FIRST + count - 1);
      assert.deepEqual(await report(), [listed, isNoted]);
    }
  }));
