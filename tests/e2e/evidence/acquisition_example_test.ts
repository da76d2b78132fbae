import assert from "node:assert/strict";
import { SAMPLE } from "./acquisition_serve.ts";
import { gate, inFolder } from "../gate_command.ts";

Deno.test("the sample provider passes gate provider check", () =>
  inFolder(async (folder) => {
    const config = ["--config", `${SAMPLE}gate.toml`];
    const listed = await gate(folder, "provider", "list", ...config);
    assert.match(listed.stdout, /tickets +mcp +open_count +external\ntickets +mcp +status +external\n/);
    const contract = JSON.parse(await Deno.readTextFile(`${SAMPLE}contract.json`));
    for (const { check_id, examples } of contract.checks) {
      for (const { params, result } of examples) {
        const args = [
          "provider",
          "check",
          "tickets",
          check_id,
          "--params",
          JSON.stringify(params),
          "--json",
          ...config,
        ];
        const { code, stdout, stderr } = await gate(folder, ...args);
        assert.equal(code, 0, stderr);
        assert.deepEqual(JSON.parse(stdout).result.result.value, { kind: "json", value: result });
      }
    }
    const none = await gate(
      folder,
      "provider",
      "check",
      "tickets",
      "status",
      "--param",
      "ticket=NO-1",
      "--json",
      ...config,
    );
    assert.equal(JSON.parse(none.stdout).result.result.value, null);
  }));
