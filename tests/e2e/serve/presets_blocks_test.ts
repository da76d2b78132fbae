/** The blocks of `docs/guide/deployment.md` match the presets that they name. */

import assert from "node:assert/strict";
import { loadConfig } from "@/config/load.ts";
import type { GateConfig } from "@/config/types.ts";
import { KEEP_ALIVE_MILLISECONDS } from "@/server/http/reply.ts";
import { gate, gateArgs, inFolder, processOf } from "../gate_command.ts";
import { containerFlags, deploymentBlock, replaceAll, ROOT, unitFlags } from "./presets_blocks.ts";
import { PRESETS } from "./presets_serve.ts";

const preset = (name: string): Promise<GateConfig> => loadConfig({ config: `${PRESETS}${name}`, environment: "" });

Deno.test("the unit of systemd creates the folders of its preset", async () => {
  const unit = await deploymentBlock("ini", "[Unit]");
  const config = await preset("mtls_host.toml");
  assert.match(await deploymentBlock("sh", "useradd"), / config\/mtls_host\.toml \/etc\/gate\/gate\.toml$/m);
  assert.match(unit, /^StateDirectory=gate$/m);
  assert.match(unit, /^LogsDirectory=gate$/m);
  assert.equal(config.run_state_store.path, "/var/lib/gate/gate.db");
  assert.equal(config.schema_registry.path, "/var/lib/gate/gate.db");
  assert.equal(config.server.audit.path, "/var/log/gate/audit.jsonl");
});

Deno.test("the unit of systemd for a checkout serves it with the same flags, and the permissions of its preset", async () => {
  const command = (await deploymentBlock("ini", "ExecStart=/usr/bin/deno")).replaceAll(/\s*\\\n\s*/g, " ").trim();
  const [deno = "", flags = ""] = command.split(" /opt/gate/main.ts ");
  const more = await unitFlags();
  assert.equal(flags, `serve --config /etc/gate/gate.toml ${more.join(" ")}`);
  let grants: readonly string[] = [];
  await inFolder(async (folder) => {
    await Deno.copyFile(`${PRESETS}mtls_host.toml`, `${folder}/gate.toml`);
    const { stdout } = await gate(folder, "permissions", "--flags", "--config", "gate.toml", ...more);
    grants = stdout.replaceAll(`${folder}/`, "/etc/gate/").replaceAll(ROOT, "/opt/gate/").trim().split("\n");
  });
  const moved = grants.map((flag) => {
    const [name, items = ""] = flag.split("=");
    return `${name}=${items.split(",").sort().join()}`;
  });
  assert.equal(
    deno,
    `ExecStart=/usr/bin/deno run ${moved.join(" ")} ` +
      "--no-prompt --quiet --cached-only --unstable-lazy-dynamic-imports --config /opt/gate/deno.json",
  );
});

Deno.test("the rotated audit log and the TLS settings of the page are those of the preset", async () => {
  const { server } = await preset("mtls_host.toml");
  assert.ok((await deploymentBlock("text", "postrotate")).includes(`\n${server.audit.path} {\n`));
  const text = await Deno.readTextFile(`${PRESETS}mtls_host.toml`);
  assert.ok(text.includes(await deploymentBlock("toml", "[server.tls]")));
});

Deno.test("the container contains its preset and existing files, and listens on the port of the proxy", async () => {
  const file = await deploymentBlock("dockerfile", "FROM");
  const copies = [...file.matchAll(/^COPY --chmod=(\d+) (\S+) (\S+)$/gm)].map(([, ...words]) => words);
  assert.equal(copies.length, file.match(/^(COPY|ADD)\b/gm)?.length);
  assert.deepEqual(copies, [
    ["0755", "gate", "/usr/local/bin/gate"],
    ["0644", "config/container_behind_proxy.toml", "/etc/gate/gate.toml"],
  ]);
  await Deno.stat(`${ROOT}config/container_behind_proxy.toml`);
  assert.match(file, /^ENTRYPOINT \["\/usr\/local\/bin\/gate"\]$/m);
  assert.match(file, /^USER 10001:10001$/m);
  const config = await preset("container_behind_proxy.toml");
  assert.deepEqual((await containerFlags()).slice(1, 3), ["--trusted-proxy", "10.0.0.2"]);
  const port = /^EXPOSE (\d+)$/m.exec(file)?.[1] ?? "";
  assert.equal(config.server.bind, `0.0.0.0:${port}`);
  assert.match(await deploymentBlock("nginx", "server {"), new RegExp(`proxy_pass +http://10\\.0\\.0\\.3:${port};`));
  const volume = /^VOLUME (\S+)$/m.exec(file)?.[1] ?? "";
  for (const { path } of [config.run_state_store, config.schema_registry]) assert.ok(path?.startsWith(`${volume}/`));
});

Deno.test("nginx of the page accepts requests up to gate's limit, and its timeout is longer than the silence of a stream", async () => {
  const block = await deploymentBlock("nginx", "server {");
  const { server } = await preset("container_behind_proxy.toml");
  assert.match(block, /client_max_body_size +1m;/);
  assert.equal(server.max_body_bytes, 1 << 20);
  const silent = /keep-alive every (\d+) seconds/.exec(block)?.[1];
  assert.ok(Number(/proxy_read_timeout +(\d+)s;/.exec(block)?.[1]) > 2 * Number(silent));
  assert.equal(KEEP_ALIVE_MILLISECONDS, Number(silent) * 1000);
});

Deno.test("restoring a backup removes the whole old store, and gives the file to the service's user", async () => {
  const config = await preset("mtls_host.toml");
  const path = config.run_state_store.path ?? assert.fail();
  const unit = await deploymentBlock("ini", "[Unit]");
  const [, user, group] = /^User=(\S+)\nGroup=(\S+)$/m.exec(unit) ?? assert.fail();
  const steps = (await deploymentBlock("sh", "systemctl stop gate")).split("\n");
  const at = (text: string): number => steps.findIndex((step) => step.startsWith(text));
  assert.ok(0 <= at("systemctl stop") && at("systemctl stop") < at(`mv ${path}* `));
  const install = steps[at(`install -o ${user} -g ${group} -m 0600 /var/backups/gate/`)] ?? assert.fail();
  assert.ok(install.endsWith(` ${path}`));
  assert.ok(at("mv ") < at("install ") && at("install ") < at("systemctl start"));
});

Deno.test("the backup script runs unchanged, and its copy is sound", () =>
  inFolder(async (folder) => {
    const { command, args } = processOf(gateArgs());
    const line = [command, ...args].map((word) => `'${word}'`).join(" ");
    await Deno.writeTextFile(`${folder}/gate`, `#!/bin/sh\nexec ${line} "$@"\n`, { mode: 0o755 });
    await Deno.writeTextFile(`${folder}/gate.toml`, 'run_state_store = { type = "sqlite", path = "gate.db" }\n');
    // The store is created when it is first opened.
    const registered = await gate(folder, "client", "list", "--config", `${folder}/gate.toml`);
    assert.equal(registered.code, 0, registered.stderr);
    const script = replaceAll(await deploymentBlock("sh", "/etc/cron.daily/gate"), [
      ["/usr/local/bin/gate", `${folder}/gate`],
      ["/etc/gate/gate.toml", `${folder}/gate.toml`],
      ["/var/backups/gate", `${folder}/backups`],
    ]);
    // Like cron: by its first line, not as the argument of a shell.
    await Deno.writeTextFile(`${folder}/daily`, script, { mode: 0o755 });
    const { success, stderr } = await new Deno.Command(`${folder}/daily`, { env: { GATE_CONFIG: "" } }).output();
    assert.ok(success, new TextDecoder().decode(stderr));
    const [backup, ...others] = await Array.fromAsync(Deno.readDir(`${folder}/backups`));
    assert.match(backup?.name ?? "", /^gate-\d{8}T\d{6}\.db$/);
    assert.deepEqual(others, []);
    assert.equal((await Deno.stat(`${folder}/backups/${backup?.name}`)).mode! & 0o777, 0o600);
    assert.equal((await gate(folder, "store", "check", `${folder}/backups/${backup?.name}`)).code, 0);
  }));
