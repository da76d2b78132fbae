/** The unit of `docs/guide/deployment.md`, as systemd reads it. */

import assert from "node:assert/strict";
import { inFolder } from "../e2e/gate_command.ts";
import { deploymentBlock, replaceAll } from "../e2e/serve/presets_blocks.ts";

/** Tenths of the exposure that the page promises to stay below. */
const EXPOSURE_TENTHS = 20;

async function analyze(...args: readonly string[]): Promise<{ readonly code: number; readonly said: string }> {
  const command = new Deno.Command("systemd-analyze", { args: [...args], env: { SYSTEMD_LOG_LEVEL: "warning" } });
  const { code, stdout, stderr } = await command.output();
  return { code, said: [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes)).join("") };
}

/** Runs a body with the unit in a file, with a program that is on this machine. */
function withUnit(
  edits: readonly (readonly [string, string])[],
  body: (path: string) => Promise<void>,
): Promise<void> {
  return inFolder(async (folder) => {
    const unit = replaceAll(await deploymentBlock("ini", "[Unit]"), [
      ["/usr/local/bin/gate", Deno.execPath()],
      ...edits,
    ]);
    await Deno.writeTextFile(`${folder}/gate.service`, unit);
    await body(`${folder}/gate.service`);
  });
}

Deno.test("systemd takes every line of the unit", () =>
  withUnit([], async (path) => {
    const { code, said } = await analyze("verify", path);
    assert.equal(said, "");
    assert.equal(code, 0);
  }));

Deno.test("the unit of a fleet is that of the page, with an environment of its own", async () => {
  const path = new URL("../../config/fleet/gate.service", import.meta.url);
  const unit = await Deno.readTextFile(path);
  const own = /^# GATE_DATABASE .*\nEnvironmentFile=\/etc\/gate\/gate\.env\n/m;
  assert.match(unit, own);
  assert.equal(unit.replace(own, ""), await deploymentBlock("ini", "[Unit]"));
  await withUnit([["ExecStart=", "EnvironmentFile=/etc/gate/gate.env\nExecStart="]], async (written) => {
    const { code, said } = await analyze("verify", written);
    assert.deepEqual([said, code], ["", 0]);
  });
});

Deno.test("systemd says so where a line of the unit is none", () =>
  withUnit([["ProtectClock=", "ProtectClocks="]], async (path) => {
    const { said } = await analyze("verify", path);
    assert.match(said, /ProtectClocks/);
  }));

Deno.test("the unit keeps the exposure below what the page says", async () => {
  assert.match(
    await Deno.readTextFile(new URL("../../docs/guide/deployment.md", import.meta.url)),
    /an exposure below 2\./,
  );
  const security = ["security", "--offline=yes", "--no-pager", `--threshold=${EXPOSURE_TENTHS}`];
  await withUnit([], async (path) => {
    const { code, said } = await analyze(...security, path);
    assert.match(said, /Overall exposure level for gate\.service/);
    assert.equal(code, 0, said);
  });
  await withUnit([["SystemCallFilter=@system-service\n", ""]], async (path) => {
    assert.notEqual((await analyze(...security, path)).code, 0, "a unit that is less confined is found out");
  });
});
