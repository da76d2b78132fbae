/** The table of `docs/reference/permissions.md`: the grants of each start that gate ships, all of which are needed. */

import assert from "node:assert/strict";
import { join } from "node:path";
import { gate, inFolder } from "../gate_command.ts";
import { containerFlags, ROOT, unitFlags } from "./presets_blocks.ts";
import { PRESETS } from "./presets_serve.ts";

const HOST = new URL("grants_host.ts", import.meta.url).pathname;
const COMMANDS = `file://${ROOT}src/cli/main.ts`;
const CLASSES = ["read", "write", "env", "net", "run", "sys"] as const;

type Plan = Readonly<Record<string, readonly string[]>>;

/** What is started, its configuration in `config/`, and further flags. */
const STARTS: readonly (readonly [what: string, config: string | null, flags: readonly string[]])[] = [
  ["bundle, `server.json`, image, `--data-dir`", null, []],
  ["`gate init`, block for clients", "desktop_stdio.toml", []],
  ["several clients of one machine", "local_http.toml", []],
  ["job of a pipeline", "ci_release_gate.toml", []],
  ["unit, Debian package", "mtls_host.toml", await unitFlags()],
  ["container behind a proxy", "container_behind_proxy.toml", await containerFlags()],
];

async function flagsIn(folder: string, config: string | null): Promise<readonly string[]> {
  if (config === null) return ["--data-dir", join(folder, "data")];
  await Deno.mkdir(folder);
  await Deno.copyFile(`${PRESETS}${config}`, join(folder, "gate.toml"));
  return ["--config", join(folder, "gate.toml")];
}

function rowOf(what: string, config: string | null, plan: Plan, folder: string): string {
  const named = (item: string): string =>
    `\`${item.replace(join(folder, "data"), "DIR").replace(folder, "DIR").replace(ROOT, "LIB/")}\``;
  const cells = CLASSES.map((name) => plan[name]?.map(named).sort().join(" "));
  return ["", what, config === null ? "none" : `\`${config}\``, ...cells, ""].join("|");
}

Deno.test("each start has the grants of the page, and without any one of them it ends and names it", () =>
  inFolder(async (above) => {
    const page = await Deno.readTextFile(`${ROOT}docs/reference/permissions.md`);
    const rows = page.split("\n").map((line) => line.replaceAll(/ *\| */g, "|"));
    const starts: { readonly plan: Plan; readonly args: readonly string[] }[] = [];
    for (const [index, [what, config, more]] of STARTS.entries()) {
      const folder = join(above, String(index));
      const flags = [...await flagsIn(folder, config), ...more];
      const { stdout, stderr } = await gate(above, "permissions", "--json", ...flags);
      const plan: Plan = JSON.parse(stdout === "" ? stderr : stdout).result.permissions;
      const row = rowOf(what, config, plan, folder);
      assert.ok(rows.includes(row), row);
      assert.deepEqual([plan["deny_net"], plan["notes"]], [[], []]);
      starts.push({ plan, args: ["serve", ...flags] });
    }
    const args = ["run", "--no-prompt", "--quiet", "--no-check", "--config", `${ROOT}deno.json`, "-A", HOST, COMMANDS];
    const options = {
      args,
      cwd: above,
      env: { GATE_CONFIG: "", NO_COLOR: "1" },
      stdin: "piped",
      stdout: "piped",
    } as const;
    const child = new Deno.Command(Deno.execPath(), options).spawn();
    const writer = child.stdin.getWriter();
    await writer.write(new TextEncoder().encode(JSON.stringify(starts)));
    await writer.close();
    const lines = new TextDecoder().decode((await child.output()).stdout).trim().split("\n");
    assert.equal(
      lines.length,
      starts.flatMap(({ plan }) => CLASSES.flatMap((name) => plan[name])).length - starts.length,
    );
    for (const { grant, ended } of lines.map((line) => JSON.parse(line))) {
      assert.equal(ended.code, 2, grant + ended.said);
      // The configuration, or its folder, whose name is a number.
      const message = /--allow-read=.*(gate\.toml|\/\d)$/.test(grant)
        ? "cannot be read: gate has no permission to read it"
        : `Cannot serve: this process was started without ${grant} `;
      assert.ok(ended.said.includes(message), grant + ended.said);
    }
  }));
