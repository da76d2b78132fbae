/** The table of `docs/reference/permissions.md`: the grants of each start that gate ships, all of which are needed. */

import assert from "node:assert/strict";
import { join } from "node:path";
import { ownPath, type PermissionPlan, planPermissions } from "@/cli/permissions/plan.ts";
import { parseServeArguments } from "@/cli/serve/serve_flags.ts";
import { loadConfig } from "@/config/load.ts";
import { inFolder } from "../gate_command.ts";
import { containerFlags, ROOT, unitFlags } from "./presets_blocks.ts";
import { PRESETS } from "./presets_serve.ts";

const HOST = new URL("grants_host.ts", import.meta.url).pathname;
const CLASSES = ["read", "write", "env", "net", "run", "sys"] as const;

/** What is started, its configuration in `config/`, and further flags. */
const STARTS: readonly (readonly [what: string, config: string | null, flags: readonly string[]])[] = [
  ["bundle, `server.json`, image, `--data-dir`", null, []],
  ["`gate init`, block for clients", "desktop_stdio.toml", []],
  ["several clients of one machine", "local_http.toml", []],
  ["job of a pipeline", "ci_release_gate.toml", []],
  ["unit, Debian package", "mtls_host.toml", await unitFlags()],
  ["container behind a proxy", "container_behind_proxy.toml", await containerFlags()],
];

async function planOf(config: string | null, flags: readonly string[], folder: string): Promise<PermissionPlan> {
  if (config === null) {
    const given = { dataDir: join(folder, "data"), workingDirectory: folder, environment: "" };
    return await planPermissions(await loadConfig(given), parseServeArguments(["--data-dir", given.dataDir]));
  }
  const path = join(folder, "gate.toml");
  await Deno.copyFile(`${PRESETS}${config}`, path);
  return await planPermissions(await loadConfig({ config: path }), parseServeArguments(["--config", path, ...flags]));
}

function rowOf(what: string, config: string | null, plan: PermissionPlan, folder: string): string {
  const named = (item: string): string =>
    `\`${item.replace(join(folder, "data"), "DIR").replace(folder, "DIR").replace(ownPath(""), "LIB/")}\``;
  const cells = CLASSES.map((name) => [...plan[name]].map(named).sort().join(" "));
  return ["", what, config === null ? "none" : `\`${config}\``, ...cells, ""].join("|");
}

Deno.test("each start has the grants of the page, and lacks the very one that is taken away", async () => {
  const page = await Deno.readTextFile(`${ROOT}docs/reference/permissions.md`);
  const rows = page.split("\n").map((line) => line.replaceAll(/ *\| */g, "|"));
  const plans: PermissionPlan[] = [];
  for (const [what, config, flags] of STARTS) {
    await inFolder(async (folder) => {
      const plan = await planOf(config, flags, folder);
      assert.ok(rows.includes(rowOf(what, config, plan, folder)), rowOf(what, config, plan, folder));
      assert.deepEqual([plan.deny_net, plan.notes], [[], []]);
      plans.push(plan);
    });
  }
  const args = ["run", "--no-prompt", "--quiet", "--no-check", "--config", `${ROOT}deno.json`, "-A", HOST];
  const child = new Deno.Command(Deno.execPath(), { args, stdin: "piped", stdout: "piped" }).spawn();
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode(JSON.stringify(plans)));
  await writer.close();
  const { stdout } = await child.output();
  const lines = new TextDecoder().decode(stdout).trim().split("\n").map((line) => JSON.parse(line));
  assert.equal(lines.length, plans.length + plans.flatMap((plan) => CLASSES.flatMap((name) => [...plan[name]])).length);
  for (const [flag, missing] of lines) assert.deepEqual(missing, flag === "" ? [] : [flag]);
});
