/**
 * A release as users get it: built twice, judged by the programs of each format, checked for planted changes, and installed in every way
 * that this machine has. Each installed gate takes the release gate through its stages, driven by the official client.
 */

import assert from "node:assert/strict";
import { join } from "node:path";
import { Ajv } from "../packages/ajv.ts";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { sha256 } from "@/evidence/host_primitives.ts";
import { packSigner } from "@/runpack/host/signing.ts";
import { VERSION } from "@/config/product_version.ts";
import { spec } from "@/tools/tests/tools_fixture.ts";
import { ENDPOINT, serveVersion } from "../../docs/examples/release_gate/checks.ts";
import type { Json } from "../../docs/examples/release_gate/gate_session.ts";
import { gate, inFolder } from "../e2e/gate_command.ts";
import { type Platform, PLATFORMS, runtimeFlags } from "../release/program.ts";
import { availableOf, writeRelease } from "../release/main.ts";

const ROOT = new URL("../../", import.meta.url).pathname;
const EXAMPLE = join(ROOT, "docs/examples/release_gate");
const KEY = new Uint8Array(32).fill(7);
const COMMIT = "a".repeat(40);
const HERE = PLATFORMS.filter(({ target }) => target === Deno.build.target);
const CPU = HERE[0]?.cpu ?? "x64";

/** Runs a program to its end; fails with its output where it fails. */
async function run(command: string, args: readonly string[], options: Deno.CommandOptions = {}): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(command, { args: [...args], ...options }).output();
  const [out, errors] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
  assert.ok(success, `${command} ${args.join(" ")}\n${out}${errors}`);
  return out ?? "";
}

/** A release of this machine's platform, with the public key of its signer beside it. */
async function withRelease(test: (release: string, publicKey: string, folder: string) => Promise<void>): Promise<void> {
  await inFolder(async (folder) => {
    const release = join(folder, `gate-${VERSION}`);
    await writeRelease({ output: release, platforms: HERE, key: KEY });
    const signer = packSigner(sha256, KEY);
    assert.ok(signer !== null);
    await Deno.writeFile(join(folder, "gate-release.pub"), signer.publicKey);
    await test(release, join(folder, "gate-release.pub"), folder);
  });
}

/** An installed gate: the command that starts it, and a folder that both it and the test can use. */
interface Installed {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** The folder as the test names it. */
  readonly outside: string;
  /** The same folder as the installed gate names it. */
  readonly inside: string;
  /** Arguments up to those of the runtime, where no launcher plans the permissions of a server. */
  readonly runtime?: readonly string[];
  readonly uninstall?: () => Promise<unknown>;
}

async function runInstalled({ command, args, env, outside }: Installed, words: readonly string[]): Promise<string> {
  return await run(command, [...args, ...words], { clearEnv: true, env: { ...env }, cwd: outside });
}

/**
 * Starts a server with a data folder and no configuration, and starts it again after its end and after its kill: what was accepted is
 * there each time.
 */
async function assertKeeps({ command, args, env, outside }: Installed, serve: readonly string[]): Promise<void> {
  type Call = (name: string, input: Json) => Promise<Json>;
  const session = async (kills: boolean, body: (call: Call) => Promise<Json>): Promise<Json> => {
    const transport = new StdioClientTransport({ command, args: [...args, ...serve], env: { ...env }, cwd: outside });
    const client = new Client({ name: "release-test", version: "1.0.0" });
    await client.connect(transport);
    try {
      return await body(async (name, input) => {
        const { structuredContent, isError } = await client.callTool({ name, arguments: { ...input } });
        assert.ok(isError !== true, JSON.stringify(structuredContent));
        return structuredContent as Json;
      });
    } finally {
      if (kills) Deno.kill(transport.pid ?? assert.fail(), "SIGKILL");
      await client.close();
    }
  };
  const identity = (): string => crypto.randomUUID().replaceAll("-", "");
  const accepted = ({ outcome }: Json): Json => {
    assert.equal(outcome.outcome, "accepted", JSON.stringify(outcome));
    return outcome;
  };
  const key = await session(false, async (call) => {
    const { scenario_law_identity } = await call("scenario_define", { spec: spec() });
    const start = { namespace_id: 2, scenario_id: "release", scenario_law_identity, creation_request_id: identity() };
    const unset = { correlation: { kind: "unset" }, genesis: { kind: "empty" } };
    const { result } = accepted(await call("scenario_start", { ...start, ...unset }));
    return { ...result["run_key"], scenario_id: "release" };
  });
  const kept = await session(true, async (call) => {
    const { accepted_head } = await call("scenario_status", key);
    const operation = { ...key, operation_id: identity(), expected_head: accepted_head, stage_id: "build" };
    accepted(await call("scenario_open_stage", operation));
    return await call("scenario_status", key);
  });
  assert.deepEqual(await session(false, (call) => call("scenario_status", key)), kept);
}

/** Takes a run of the release gate to its end, and verifies its runpack with the same gate. */
async function driveReleaseGate(installed: Installed): Promise<void> {
  const { outside, inside, command, args, runtime, env } = installed;
  const configured = ["serve", "--config", `${inside}/gate.toml`];
  const endpoint = serveVersion();
  try {
    await Deno.mkdir(join(outside, "evidence"), { recursive: true });
    await Deno.copyFile(join(EXAMPLE, "gate.toml"), join(outside, "gate.toml"));
    const law = await Deno.readTextFile(join(EXAMPLE, "scenario.yaml"));
    await Deno.writeTextFile(join(outside, "scenario.yaml"), law.replaceAll(ENDPOINT, endpoint.url));
    const passed = { exit_code: 0 };
    const results = { commit: COMMIT, format: passed, lint: passed, types: passed, tests: { passed: 9, failed: 0 } };
    await Deno.writeTextFile(join(outside, "evidence/results.json"), JSON.stringify(results));
    const spec = JSON.parse(await runInstalled(installed, ["scenario", "build", `${inside}/scenario.yaml`])) as Json;
    const planned = await runInstalled(installed, ["permissions", ...configured, "--json"]);
    const words = (JSON.parse(planned) as Json)["result"]["run"].slice(1) as string[];
    const transport = new StdioClientTransport({
      command,
      // A launcher plans the permissions itself.
      args: runtime === undefined ? [...args, ...configured] : [...runtime, ...words],
      env: { ...env, RELEASE_BRANCH: "main" },
      cwd: outside,
      stderr: "inherit",
    });
    const client = new Client({ name: "release-test", version: "1.0.0" });
    await client.connect(transport);
    try {
      const { run_id } = await complete(client, spec);
      const words = ["runpack", "export", "--namespace", "2", "--run", run_id, "--config", `${inside}/gate.toml`];
      await runInstalled(installed, [...words, "--out", `${inside}/release.runpack`]);
    } finally {
      await client.close();
    }
    for (const one of [installed, verifierOf(installed)]) {
      const said = one === null ? "" : await runInstalled(one, ["runpack", "verify", `${inside}/release.runpack`]);
      assert.match(said, one === null ? /^$/ : /^Complete[,;]? /, said);
    }
  } finally {
    await endpoint.close();
  }
}

async function complete(client: Client, spec: Json): Promise<{ readonly run_id: string }> {
  const call = async (name: string, input: Json): Promise<Json> => {
    const { structuredContent, isError } = await client.callTool({ name, arguments: { ...input } });
    assert.ok(isError !== true, JSON.stringify(structuredContent));
    return structuredContent as Json;
  };
  const decide = async (name: string, input: Json): Promise<Json> => {
    const { outcome } = await call(name, input);
    assert.equal(outcome.outcome, "accepted", JSON.stringify(outcome));
    return outcome.result;
  };
  const identity = (): string => crypto.randomUUID().replaceAll("-", "");
  const { scenario_law_identity } = await call("scenario_define", { spec });
  const text = (parameter_id: string, value: string): Json => ({
    parameter_id,
    value: { value, value_type: "String" },
  });
  const { run_key } = await decide("scenario_start", {
    namespace_id: 2,
    scenario_id: "release-gate",
    scenario_law_identity,
    creation_request_id: identity(),
    correlation: { kind: "unset" },
    genesis: { kind: "parameters", parameters: [text("version", VERSION), text("commit", COMMIT)] },
  });
  const key = { ...run_key, scenario_id: "release-gate" };
  const step = async (tool: string, stage_id: string): Promise<Json> => {
    const { accepted_head: expected_head } = await call("scenario_status", key);
    return await decide(tool, { ...key, stage_id, operation_id: identity(), expected_head });
  };
  for (const stage of ["static-checks", "tests", "release"]) {
    await step("scenario_open_stage", stage);
    const { attempt } = await step("scenario_evaluate_stage", stage);
    assert.equal(attempt.outcome, "true", JSON.stringify(attempt));
  }
  assert.equal((await call("scenario_status", key))["status"], "complete");
  return run_key;
}

/** The launcher `gate-verify` beside `gate`; null where gate is started without a launcher. */
function verifierOf(installed: Installed): Installed | null {
  const { command, args } = installed;
  const verifier = (word: string): string => word.replace(/\/bin\/gate$/, "/bin/gate-verify");
  const changed = { ...installed, command: verifier(command), args: args.map(verifier) };
  return changed.command === command && changed.args.join() === args.join() ? null : changed;
}

/** What `gate-verify` may not do, each as a command of gate that needs it. */
async function assertConfined({ command, env, outside }: Installed): Promise<void> {
  let connections = 0;
  const listener = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, () => {
    connections++;
    return new Response();
  });
  const url = `http://127.0.0.1:${listener.addr.port}/mcp`;
  await Deno.writeTextFile(join(outside, "other.toml"), "");
  const rows = [
    ["write", ["init"], {}],
    ["write a page", ["runpack", "show", "release.runpack", "--html", "page.html"], {}],
    ["reach a network", ["client", "call", "providers_list", "--url", url], {}],
    ["start a program", ["client", "call", "providers_list", "--stdio", "touch", "--", join(outside, "started")], {}],
    ["read a variable", ["config", "check"], { GATE_CONFIG: join(outside, "other.toml") }],
  ] as const;
  await Deno.remove(join(outside, "gate.toml"));
  const before = [...Deno.readDirSync(outside)].map(({ name }) => name).sort();
  for (const [what, words, more] of rows) {
    const options: Deno.CommandOptions = { args: [...words], clearEnv: true, env: { ...env, ...more }, cwd: outside };
    const { code, stdout, stderr } = await new Deno.Command(command, options).output();
    const said = new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
    assert.notEqual(code, 0, `${what}: ${said}`);
    assert.match(
      said,
      /Requires (?:write|net|run|env) access|permission denied$|gate has no permission to use it$/m,
      `${what}: ${said}`,
    );
  }
  assert.deepEqual([...Deno.readDirSync(outside)].map(({ name }) => name).sort(), before);
  await listener.shutdown();
  assert.equal(connections, 0);
}

/** A home without anything in it, and a path that has the named programs alone. */
async function emptyHome(folder: string, programs: readonly string[]): Promise<Record<string, string>> {
  const [home, path] = [join(folder, "home"), join(folder, "path")];
  for (const one of [home, path]) await Deno.mkdir(one);
  for (const name of programs) {
    await Deno.symlink((await run("sh", ["-c", `command -v ${name}`])).trim(), join(path, name));
  }
  return { HOME: home, PATH: path };
}

/** What the launcher runs: no Deno and no Node. */
const OF_THE_LAUNCHER = ["dirname", "readlink"];

/** What switches the exporter of the runtime on. Verification would refuse to run then, so a launcher switches it off. */
const TELEMETRY = {
  OTEL_DENO: "true",
  OTEL_DENO_TRACING: "true",
  OTEL_DENO_METRICS: "true",
  OTEL_DENO_CONSOLE: "capture",
};

async function here(folder: string, command: string, more: readonly string[] = []): Promise<Installed> {
  const work = join(folder, "work");
  await Deno.mkdir(work);
  return {
    command,
    args: [],
    env: { ...await emptyHome(folder, [...OF_THE_LAUNCHER, ...more]), ...TELEMETRY },
    outside: work,
    inside: work,
  };
}

/** Starts a command as the manifest of a bundle says. */
async function asManifestSays(folder: string): Promise<Installed> {
  const manifest = JSON.parse(await Deno.readTextFile(join(folder, "bundle/manifest.json")));
  const { command, args, env } = manifest.server.mcp_config as {
    command: string;
    args: string[];
    env: Record<string, string>;
  };
  const data = join(folder, "data");
  await Deno.mkdir(data);
  const replaced = (text: string): string =>
    text.replaceAll("${__dirname}", join(folder, "bundle")).replaceAll("${user_config.data_folder}", data);
  const installed = await here(folder, join(folder, "bundle/bin/gate"));
  assert.ok(args.some((word) => replaced(word) === data));
  await assertKeeps({ ...installed, command: replaced(command), env }, args.map(replaced));
  assert.ok(Deno.statSync(join(data, "gate.db")).isFile);
  return installed;
}

async function inChroot(folder: string): Promise<Installed> {
  const root = join(folder, "bundle/rootfs");
  for (const name of ["work", "proc"]) await Deno.mkdir(join(root, name));
  // Every runtime of containers mounts it.
  await run("mount", ["--bind", "/proc", join(root, "proc")]);
  const uninstall = (): Promise<unknown> => run("umount", [join(root, "proc")]);
  try {
    return { ...await imageAt(folder, root), uninstall };
  } catch (error) {
    await uninstall();
    throw error;
  }
}

/** The gate of an image whose layers are unpacked, started as its configuration says. */
async function imageAt(folder: string, root: string): Promise<Installed> {
  const { config } = JSON.parse(await run("skopeo", ["inspect", "--config", `oci:${folder}/layout:${VERSION}`]));
  assert.match(config.Labels["org.opencontainers.image.description"], /Holds the runtime Deno [\d.]+ /);
  const [command, ...args] = config.Entrypoint as string[];
  const env = Object.fromEntries((config.Env as string[]).map((one) => one.split("=", 2)));
  const [user = 0, group = 0] = String(config.User).split(":").map(Number);
  assert.ok(user > 0 && group > 0, config.User);
  await Deno.chown(join(root, "work"), user, group);
  assert.deepEqual(config.Volumes, { "/data": {} });
  const { uid, gid, mode } = await Deno.stat(join(root, "data"));
  assert.deepEqual([uid, gid, (mode ?? 0) & 0o777], [user, group, 0o700]);
  const runtime = [`--userspec=${user}:${group}`, root, command ?? ""];
  const image = { command: "chroot", env, outside: join(root, "work"), inside: "/work", runtime };
  await assertKeeps({ ...image, args: [...runtime, ...args] }, config.Cmd as string[]);
  assert.ok(Deno.statSync(join(root, "data/gate.db")).isFile);
  // Commands need other permissions than the server that the image starts.
  const commands = [...runtimeFlags("/usr/lib/gate/"), "-P=serve", "/usr/lib/gate/main.js"];
  return { ...image, args: [...runtime, ...commands] };
}

const DEBIAN_PACKAGE = `gate_${VERSION}_${CPU === "x64" ? "amd64" : "arm64"}.deb`;

/** The root of this machine with a layer over it, in which dpkg installs as on a machine of its own. */
async function installDebian(release: string, folder: string): Promise<Installed> {
  const root = join(folder, "root");
  const changes = join(folder, "changes");
  const mounted: string[] = [];
  const mount = async (at: string, ...args: readonly string[]): Promise<void> => {
    await run("mount", [...args, at]);
    mounted.unshift(at);
  };
  const unmount = async (): Promise<void> => {
    for (const at of mounted) await run("umount", [at]);
  };
  for (const path of [root, changes]) await Deno.mkdir(path);
  try {
    await mount(changes, "-t", "tmpfs", "tmpfs");
    for (const name of ["upper", "work"]) await Deno.mkdir(join(changes, name));
    await mount(root, "-t", "overlay", "overlay", "-o", `lowerdir=/,upperdir=${changes}/upper,workdir=${changes}/work`);
    for (const name of ["proc", "dev"]) await mount(join(root, name), "--bind", `/${name}`);
    for (const name of ["gate-work", "gate-home"]) await Deno.mkdir(join(root, name));
    await removeRuntimes(root);
    const files = await installInside(root, release);
    const uninstall = async (): Promise<void> => {
      try {
        await inside(root, "dpkg", "--purge", "gate");
        for (const path of files) await assert.rejects(Deno.lstat(join(root, path)), Deno.errors.NotFound, path);
      } finally {
        await unmount();
      }
    };
    const installed = {
      command: "chroot",
      args: [root, "/usr/bin/gate"],
      env: { HOME: "/gate-home", PATH: DEBIAN_PATH },
      outside: join(root, "gate-work"),
      inside: "/gate-work",
      uninstall,
    };
    await assertKeeps(installed, ["serve", "--data-dir", "/gate-home/kept"]);
    return installed;
  } catch (error) {
    await unmount();
    throw error;
  }
}

/** The commands of Node and Deno, which a clean machine does not have. */
const RUNTIMES = ["corepack", "deno", "node", "nodejs", "npm", "npx"];

async function removeRuntimes(root: string): Promise<void> {
  for (const folder of ["usr/local/sbin", "usr/local/bin", "usr/sbin", "usr/bin"]) {
    for (const name of RUNTIMES) {
      await Deno.remove(join(root, folder, name)).catch((error) => {
        if (!(error instanceof Deno.errors.NotFound)) throw error;
      });
    }
  }
  assert.equal(await inside(root, "sh", "-c", `for one in ${RUNTIMES.join(" ")}; do command -v $one || :; done`), "");
}

/** The programs of Debian's packages, without those that the path of this process names: npx puts a runtime on it. */
const DEBIAN_PATH = "/usr/sbin:/usr/bin:/sbin:/bin";

async function inside(root: string, ...words: readonly string[]): Promise<string> {
  const env = { DEBIAN_FRONTEND: "noninteractive", LC_ALL: "C", PATH: DEBIAN_PATH };
  return await run("chroot", [root, ...words], { clearEnv: true, env });
}

/** Installs the Debian package and checks what dpkg made of it; returns the paths that are gate's own. */
async function installInside(root: string, release: string): Promise<readonly string[]> {
  await Deno.copyFile(join(release, DEBIAN_PACKAGE), join(root, DEBIAN_PACKAGE));
  await inside(root, "dpkg", "--install", `/${DEBIAN_PACKAGE}`);
  const status = await inside(root, "dpkg-query", "--status", "gate");
  assert.match(status, /^Status: install ok installed$/m);
  assert.match(status, /^ Holds the runtime Deno [\d.]+ and the program under a launcher,$/m);
  assert.equal(await inside(root, "dpkg", "--verify", "gate"), "");
  assert.match(await inside(root, "getent", "passwd", "gate"), /^gate:.*:\/var\/lib\/gate:\/usr\/sbin\/nologin$/m);
  const unit = "/usr/lib/systemd/system/gate.service";
  await inside(root, "systemd-analyze", "security", "--offline=yes", "--threshold=20", unit);
  const listed = await inside(root, "dpkg-query", "--listfiles", "gate");
  const own = listed.split("\n").filter((path) => path.includes("gate"));
  assert.ok(own.includes("/usr/bin/gate-verify") && own.includes(unit));
  return own;
}

/** A signal to the launcher alone ends the server below it in order. */
async function assertHandsSignalsOn(installed: Installed): Promise<void> {
  await usingServer(installed, async (child) => {
    child.kill("SIGTERM");
    const { code, signal } = await child.status;
    assert.deepEqual({ code, signal }, { code: 0, signal: null });
  });
}

/** Signal 9 to the launcher alone ends the server below it, although no process can hand it on. */
async function assertEndsWithLauncher(installed: Installed): Promise<void> {
  await usingServer(installed, async (child) => {
    child.kill("SIGKILL");
    await child.status;
  });
}

/** No server takes this long to end, in milliseconds. */
const ENDED_MILLIS = 60_000;

/** Starts a server over stdio, ends it by `end`, and reads its output to the end. It has answered, so it listens to signals. */
async function usingServer(
  { command, env, outside }: Installed,
  end: (child: Deno.ChildProcess) => Promise<void>,
): Promise<void> {
  const options: Deno.CommandOptions = { clearEnv: true, env, cwd: outside, stdin: "piped", stdout: "piped" };
  const child = new Deno.Command(command, { ...options, args: ["serve"], stderr: "inherit" }).spawn();
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode('{"jsonrpc":"2.0","id":1,"method":"ping"}\n'));
  const reader = child.stdout.getReader();
  assert.notEqual((await reader.read()).value, undefined);
  const drained = async (): Promise<"ended"> => {
    // The answer may come in parts, and its last part with the end.
    while (!(await reader.read()).done);
    return "ended";
  };
  const timeout = Promise.withResolvers<"still running">();
  const timer = setTimeout(() => timeout.resolve("still running"), ENDED_MILLIS);
  try {
    await end(child);
    assert.equal(await Promise.race([drained(), timeout.promise]), "ended");
  } finally {
    clearTimeout(timer);
    // The end of its input ends a server that a failure has left.
    await writer.close().catch(() => {});
  }
}

/** A Node that can replace its process (`process.execve`, since 22.15). */
const REPLACING_NODE = "24.9.0";

async function installNpm(release: string, folder: string): Promise<Installed> {
  const tarballs = [`gate-npm-${VERSION}.tgz`, `gate-npm-linux-${CPU}-${VERSION}.tgz`].map((name) =>
    `${release}/${name}`
  );
  await Deno.writeTextFile(join(folder, "package.json"), "{}");
  const flags = ["--offline", "--no-audit", "--no-fund", "--cache", join(folder, "cache")];
  await run("npm", ["install", ...flags, ...tarballs], { cwd: folder });
  return await here(folder, `${folder}/node_modules/.bin/gate`, ["node"]);
}

/** The process that was started is the runtime of gate, so its end by SIGKILL, which cannot be handed on, ends the server. */
async function assertIsReplaced(installed: Installed): Promise<void> {
  await usingServer(installed, async (child) => {
    // The runtime itself reads below /proc only with every permission.
    assert.match(await run("readlink", [`/proc/${child.pid}/exe`]), /\/lib\/gate\/deno\n$/);
    child.kill("SIGKILL");
    await child.status;
  });
}

/** Ways to install a release: what is done to the folder, and the gate that is then there. */
const WAYS: readonly {
  readonly what: string;
  readonly install: (release: string, folder: string) => Promise<Installed>;
}[] = [
  {
    what: "the archive, unpacked, with an empty home",
    install: async (release, folder) => {
      await run("tar", ["-xzf", `${release}/gate-${VERSION}-linux-${CPU}.tar.gz`, "-C", folder]);
      // The check of `gate-verify` tries to start it.
      return await here(folder, `${folder}/gate-${VERSION}-linux-${CPU}/bin/gate`, ["touch"]);
    },
  },
  {
    what: "the Debian package, installed by dpkg over this machine's root without Node and Deno",
    install: installDebian,
  },
  {
    what: "the npm launcher with the package of its platform, on a path with Node alone",
    install: async (release, folder) => {
      const installed = await installNpm(release, folder);
      await assertHandsSignalsOn(installed);
      await assertEndsWithLauncher(installed);
      const entry = JSON.parse(await Deno.readTextFile(`${release}/server.json`)) as Json;
      const words = (entry["packages"][0]["packageArguments"] as Json[]).flatMap(({ name, value }) =>
        [name, value.replace("{data_folder}", `${folder}/kept`)].filter((word) => word !== undefined)
      );
      await assertKeeps(installed, words);
      return installed;
    },
  },
  {
    what: "the npm launcher on a Node whose process it can replace",
    install: async (release, folder) => {
      const installed = await installNpm(release, folder);
      await run("npm", ["install", "--no-audit", "--no-fund", `node-linux-${CPU}@${REPLACING_NODE}`], { cwd: folder });
      const node = `${installed.env["PATH"]}/node`;
      await Deno.remove(node);
      await Deno.symlink(`${folder}/node_modules/node-linux-${CPU}/bin/node`, node);
      await assertIsReplaced(installed);
      return installed;
    },
  },
  {
    what: "the bundle for desktop clients, started as its manifest says",
    install: async (release, folder) => {
      await run("unzip", ["-q", `${release}/gate-${VERSION}-linux-${CPU}.mcpb`, "-d", `${folder}/bundle`]);
      return await asManifestSays(folder);
    },
  },
  {
    what: "the container image, its layers as a root",
    install: async (release, folder) => {
      await Deno.mkdir(join(folder, "layout"));
      await run("tar", ["-xf", `${release}/gate-${VERSION}-linux-${CPU}.oci.tar`, "-C", `${folder}/layout`]);
      await run("umoci", ["unpack", "--image", `${folder}/layout:${VERSION}`, `${folder}/bundle`]);
      return await inChroot(folder);
    },
  },
];

Deno.test("a release: its formats, its installations, and its verification", (t) =>
  withRelease(async (release, publicKey, folder) => {
    await t.step("a second build has the same bytes", async () => {
      const second = join(folder, "second");
      await writeRelease({ output: second, platforms: HERE, key: KEY });
      await run("diff", ["-r", release, second]);
      await Deno.remove(second, { recursive: true });
    });
    await t.step(
      "sha256sum reads the list",
      () => run("sha256sum", ["--strict", "-c", "SHA256SUMS"], { cwd: release }).then(() => {}),
    );
    for (const { what, install } of WAYS) {
      await t.step(`${what}: drives the release gate to a verified runpack`, async () => {
        await inFolder(async (own) => {
          const installed = await install(release, own);
          try {
            await driveReleaseGate(installed);
            if (what.startsWith("the archive")) await assertConfined(verifierOf(installed) ?? installed);
          } finally {
            await installed.uninstall?.();
          }
        });
      });
    }
    for (const { what, judge } of JUDGES) await t.step(what, () => judge(release));
    await t.step("gate release verify: the folder as it was built", async () => {
      const { code, stdout } = await gate(folder, "release", "verify", release, "--trusted-key", publicKey);
      assert.equal(code, 0, stdout);
      assert.match(stdout, /files are the listed ones; signed by a trusted key, built from commit [0-9a-f]{40}\n$/);
    });
    for (const name of [...Deno.readDirSync(release)].map((entry) => entry.name)) {
      await t.step(`gate release verify: one changed byte of ${name}`, () => changed(release, name, publicKey));
    }
  }));

Deno.test("a release of what is available fails where the registry does not answer, in place of leaving platforms out", async () => {
  const registry = Deno.env.get("NPM_CONFIG_REGISTRY");
  const platform = { ...UNKNOWN, runtime: "@deno/another-unknown-platform" };
  // A port of this machine that nothing listens on.
  Deno.env.set("NPM_CONFIG_REGISTRY", "http://127.0.0.1:9");
  try {
    await assert.rejects(availableOf([platform], "2.9.6"), /a runtime for unknown: Failed loading /);
  } finally {
    if (registry === undefined) Deno.env.delete("NPM_CONFIG_REGISTRY");
    else Deno.env.set("NPM_CONFIG_REGISTRY", registry);
  }
});

Deno.test("a release of another platform has the runtime of that platform under its launchers", () =>
  inFolder(async (folder) => {
    const windows = PLATFORMS.filter(({ target }) => target === "x86_64-pc-windows-msvc");
    const output = join(folder, "release");
    // The registry may offer the newest version for some platforms later than for others.
    const runtime = "2.9.5";
    const { platforms, leftOut } = await availableOf([...windows, UNKNOWN], runtime);
    assert.deepEqual(platforms, windows);
    assert.deepEqual(leftOut.map(({ what }) => what), ["unknown"]);
    const reported: string[] = [];
    await writeRelease({ output, platforms, leftOut, key: KEY, runtime, report: (line) => void reported.push(line) });
    await assertSaysWhatIsLeftOut(output, reported);
    await run("sha256sum", ["--strict", "-c", "SHA256SUMS"], { cwd: output });
    const names = [...Deno.readDirSync(output)].map(({ name }) => name).filter((name) => name.startsWith("gate"));
    assert.deepEqual(names.sort(), [
      `gate-${VERSION}-win32-x64.mcpb`,
      `gate-${VERSION}-win32-x64.tar.gz`,
      `gate-npm-${VERSION}.tgz`,
      `gate-npm-win32-x64-${VERSION}.tgz`,
      "gate.rb",
    ]);
    await run("tar", ["-xzf", `${output}/gate-npm-win32-x64-${VERSION}.tgz`, "-C", folder]);
    const about = JSON.parse(await Deno.readTextFile(join(folder, "package/package.json"))) as Json;
    assert.deepEqual([about["os"], about["cpu"], about["libc"]], [["win32"], ["x64"], undefined]);
    assert.match(String(about["description"]), CARRIED);
    const program = await Deno.readFile(join(folder, "package/lib/gate/deno.exe"));
    assert.equal(new TextDecoder().decode(program.subarray(0, 2)), "MZ");
    for (const [name, profile] of [["gate", "serve"], ["gate-verify", "verify"]]) {
      const launcher = await Deno.readTextFile(join(folder, `package/bin/${name}.cmd`));
      assert.match(launcher, /^@echo off\r\n(?:[^\n]*\r\n)+$/);
      assert.ok(launcher.includes(`\r\nset grants=-P=${profile}\r\n`));
      assert.match(launcher, /\r\n"%folder%deno\.exe" run [^\r]* %grants% "%folder%main\.js" %\*\r\n$/);
      assert.equal(launcher.includes('-P=plan "%folder%main.js" permissions --flags %*`'), profile === "serve");
    }
    await run("unzip", ["-q", `${output}/gate-${VERSION}-win32-x64.mcpb`, "manifest.json", "-d", folder]);
    const manifest = JSON.parse(await Deno.readTextFile(join(folder, "manifest.json"))) as Json;
    const { server, compatibility } = manifest;
    assert.match(manifest["long_description"], CARRIED);
    assert.deepEqual([server["entry_point"], compatibility["platforms"]], ["lib/gate/deno.exe", ["win32"]]);
    const { command, args } = server["mcp_config"];
    assert.equal(command, "${__dirname}/lib/gate/deno.exe");
    assert.deepEqual(args.slice(-4), [
      "${__dirname}/lib/gate/main.js",
      ...["serve", "--data-dir", "${user_config.data_folder}"],
    ]);
    await assertHandsArgumentsOn(output, folder);
  }));

/** Makes a process of Node believe that it runs on Windows. */
const AS_WINDOWS = `for (const [name, value] of [["platform", "win32"], ["arch", "x64"]]) {
  Object.defineProperty(process, name, { value });
}
`;

/** The npm launcher hands on arguments that a shell would interpret. The runtime of this machine stands for that of Windows. */
async function assertHandsArgumentsOn(release: string, folder: string): Promise<void> {
  const packages = join(folder, "node_modules/@gate-authors");
  await Deno.mkdir(packages, { recursive: true });
  await Deno.rename(join(folder, "package"), join(packages, "gate-win32-x64"));
  await run("tar", ["-xzf", `${release}/gate-npm-${VERSION}.tgz`, "-C", folder]);
  await Deno.rename(join(folder, "package"), join(packages, "gate"));
  const runtime = join(packages, "gate-win32-x64/lib/gate/deno.exe");
  await Deno.remove(runtime);
  await Deno.symlink(Deno.execPath(), runtime);
  await Deno.writeTextFile(join(folder, "as_windows.cjs"), AS_WINDOWS);
  const named = "a b & c %PATH%.yaml";
  const launcher = ["--require", "./as_windows.cjs", join(packages, "gate/gate.js")];
  const args = [...launcher, "scenario", "check", named];
  const { code, stdout, stderr } = await new Deno.Command("node", { args, cwd: folder }).output();
  const said = new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
  assert.ok(code === 2 && said.includes(`"${named}"`), said);
  const data = join(folder, "kept & more");
  const serve = new Deno.Command("node", {
    args: [...launcher, "serve", "--data-dir", data],
    cwd: folder,
    stdin: "null",
  });
  const log = new TextDecoder().decode((await serve.output()).stderr);
  assert.ok(Deno.statSync(join(data, "gate.db")).isFile, log);
  assert.doesNotMatch(log, /permissions are wider/);
}

/** A platform whose runtime no registry has. */
const UNKNOWN: Platform = { target: "unknown", os: "linux", cpu: "arm64", runtime: "@deno/no-such-platform" };

/** What the manifest of each package says about its program. */
const CARRIED = /Holds the runtime Deno 2\.9\.5 and the program under a launcher, and no compiled executable\.$/;

/** The output of the task and the provenance name each part that was left out; the bill of materials has the carried runtime. */
async function assertSaysWhatIsLeftOut(release: string, reported: readonly string[]): Promise<void> {
  const { payload } = JSON.parse(await Deno.readTextFile(join(release, "provenance.dsse.json"))) as Json;
  const { predicate } = JSON.parse(atob(String(payload))) as Json;
  const { internalParameters, resolvedDependencies } = predicate["buildDefinition"];
  const named: readonly { what: string; why: string }[] = internalParameters["left_out"];
  assert.deepEqual(named.map(({ what }) => what), ["unknown", "executables"]);
  assert.match(named[0]?.why ?? "", /no-such-platform/);
  const lines = named.map(({ what, why }) => `Left out ${what}: ${why}`);
  assert.deepEqual(reported.filter((line) => line.startsWith("Left out")), lines);
  assert.equal(resolvedDependencies[1]["uri"], "pkg:npm/%40deno/win32-x64@2.9.5");
  const { components } = JSON.parse(await Deno.readTextFile(join(release, "sbom.cdx.json"))) as Json;
  assert.equal(components[0]["purl"], "pkg:npm/deno@2.9.5");
}

/** Flips one bit in the middle of a file. */
async function flip(path: string): Promise<void> {
  using file = await Deno.open(path, { read: true, write: true });
  const middle = Math.floor((await file.stat()).size / 2);
  const byte = new Uint8Array(1);
  await file.seek(middle, Deno.SeekMode.Start);
  await file.read(byte);
  await file.seek(middle, Deno.SeekMode.Start);
  await file.write(byte.map((value) => value ^ 1));
}

/** Flips a bit of a file, verifies, and flips it back. */
async function changed(release: string, name: string, publicKey: string): Promise<void> {
  const path = join(release, name);
  await flip(path);
  const { code, stdout } = await gate(release, "release", "verify", release, "--trusted-key", publicKey, "--json");
  await flip(path);
  assert.equal(code, 6, stdout);
  const { result } = JSON.parse(stdout) as { result: { differences: { file: string }[]; origin: string } };
  const named = result.differences.map(({ file }) => file);
  assert.ok(named.includes(name) || (name === "provenance.dsse.json" && result.origin === "not_signed"), stdout);
}

const VALIDATOR_PACKAGES = [
  "@cyclonedx/cyclonedx-library@10.3.0",
  "ajv@8.20.0",
  "ajv-formats@3.0.1",
  "ajv-formats-draft2019@1.6.1",
];

const VALIDATOR = `const { readFileSync } = require("node:fs");
const { Validation } = require("@cyclonedx/cyclonedx-library");
(async () => {
  for (const path of process.argv.slice(2)) {
    const fault = await new Validation.JsonStrictValidator("1.6").validate(readFileSync(path, "utf8"));
    console.log(fault === null ? "valid" : "invalid");
  }
})();
`;

/** Runs a program that has to fail; what it said. */
async function refused(command: string, args: readonly string[]): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(command, { args: [...args] }).output();
  const said = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes)).join("");
  assert.ok(!success, `${command} ${args.join(" ")}\n${said}`);
  return said;
}

/** A package without a changelog, a copyright and a description. */
async function writePoorPackage(folder: string): Promise<string> {
  const [root, path] = [join(folder, "poor"), join(folder, "poor.deb")];
  await Deno.mkdir(join(root, "DEBIAN"), { recursive: true });
  const control = "Package: poor\nVersion: 1\nArchitecture: all\nMaintainer: a <a@example.org>\nDescription: poor\n";
  await Deno.writeTextFile(join(root, "DEBIAN/control"), control);
  await run("dpkg-deb", ["--root-owner-group", "--build", root, path]);
  return path;
}

/** The data folder, which the user of a registry gives. */
const NAMED_ARGUMENT = {
  type: "object",
  required: ["type", "name", "description", "format", "isRequired", "value", "variables"],
  additionalProperties: false,
  properties: {
    type: { const: "named" },
    name: { const: "--data-dir" },
    description: { type: "string", minLength: 1 },
    format: { const: "filepath" },
    isRequired: { const: true },
    value: { const: "{data_folder}" },
    variables: {
      type: "object",
      required: ["data_folder"],
      additionalProperties: {
        type: "object",
        required: ["description", "format", "isRequired"],
        additionalProperties: false,
        properties: { description: { type: "string" }, format: { const: "filepath" }, isRequired: { const: true } },
      },
    },
  },
};

/** What an entry for registries takes, as the description of its format says; closed, because we write it. */
const ENTRY_SCHEMA = {
  type: "object",
  required: ["$schema", "name", "description", "version", "packages"],
  additionalProperties: false,
  properties: {
    $schema: { const: "https://static.modelcontextprotocol.io/schemas/2025-09-29/server.schema.json" },
    name: { type: "string", minLength: 3, maxLength: 200, pattern: "^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$" },
    description: { type: "string", minLength: 1, maxLength: 100 },
    version: { const: VERSION },
    packages: {
      type: "array",
      minItems: 2,
      items: {
        type: "object",
        required: ["registryType", "identifier", "version", "transport"],
        additionalProperties: false,
        properties: {
          registryType: { enum: ["npm", "mcpb"] },
          identifier: { type: "string", minLength: 1 },
          version: { const: VERSION },
          runtimeHint: { const: "npx" },
          fileSha256: { type: "string", pattern: "^[a-f0-9]{64}$" },
          transport: { const: { type: "stdio" } },
          packageArguments: {
            items: [{ const: { type: "positional", value: "serve" } }, NAMED_ARGUMENT],
            additionalItems: false,
            minItems: 2,
          },
        },
        if: { properties: { registryType: { const: "mcpb" } } },
        then: { required: ["fileSha256"], properties: { identifier: { pattern: "^https://.*\\.mcpb$" } } },
      },
    },
  },
};

/** Faults of an entry, each by the words that replace others. */
const PLANTED_IN_ENTRY = [
  ["a name without a namespace", /"name": "[^"/]*\//, '"name": "'],
  ["a description that is too long", /"description": "/, `"description": "${"x".repeat(100)}`],
  ["another registry", /"mcpb"/, '"brew"'],
  ["a digest that is none", /"fileSha256": "\w/, '"fileSha256": "X'],
  ["no digest", /"fileSha256": "\w*",/, ""],
  ["no data folder", /"name": "--data-dir",/, ""],
  ["no transport", /,\s*"transport": \{[^}]*\}/, ""],
  ["a member more", /\{/, '{ "status": "active",'],
] as const;

/** What Homebrew gives a formula, as far as this one asks: it prints every URL with its digest. */
const HOMEBREW = `class Formula
  def self.desc(_); end
  def self.version(_); end
  def self.license(_); end
  def self.test; end
  def self.on_macos; yield; end
  def self.on_linux; yield; end
  def self.on_arm; yield; end
  def self.on_intel; yield; end
  def self.url(text); @url = text; end
  def self.sha256(text); puts "#{text}  #{@url.split("/").last}"; end
end
`;

/** The programs that read a format, what they say of ours, and of a planted fault. */
const JUDGES: readonly { readonly what: string; readonly judge: (release: string) => Promise<void> }[] = [
  {
    what: "lintian finds no error and no warning in the Debian package",
    judge: (release) =>
      inFolder(async (own) => {
        const flags = ["--allow-root", "--fail-on", "error,warning"];
        assert.match(await refused("lintian", [...flags, await writePoorPackage(own)]), /^E: poor: no-copyright-file/m);
        assert.equal(await run("lintian", [...flags, `${release}/${DEBIAN_PACKAGE}`]), "");
      }),
  },
  {
    what: "skopeo copies the image, and compares its digests",
    judge: (release) =>
      inFolder(async (own) => {
        const name = `gate-${VERSION}-linux-${CPU}.oci.tar`;
        const said = await run("skopeo", ["inspect", `oci-archive:${release}/${name}`]);
        assert.equal((JSON.parse(said) as { Os: string }).Os, "linux");
        const copy = (from: string, to: string): string[] => ["copy", `oci-archive:${from}`, `dir:${join(own, to)}`];
        await run("skopeo", copy(join(release, name), "whole"));
        await Deno.copyFile(join(release, name), join(own, name));
        await flip(join(own, name));
        assert.match(await refused("skopeo", copy(join(own, name), "changed")), /digest/i);
      }),
  },
  {
    what: "the tool of the bundle format accepts the manifest",
    judge: (release) =>
      inFolder(async (own) => {
        const bundle = `${release}/gate-${VERSION}-linux-${CPU}.mcpb`;
        await run("unzip", ["-q", bundle, "manifest.json", "bin/gate", "-d", own]);
        const validate = ["-y", "@anthropic-ai/mcpb@2.1.2", "validate", `${own}/manifest.json`];
        assert.match(await run("npx", validate), /passes/);
        const manifest = JSON.parse(await Deno.readTextFile(`${own}/manifest.json`)) as Json;
        assert.equal(manifest["manifest_version"], "0.4");
        await Deno.writeTextFile(`${own}/manifest.json`, JSON.stringify({ ...manifest, manifest_version: "0.9" }));
        assert.match(await refused("npx", validate), /manifest version/);
      }),
  },
  {
    what: "the library of the bill of materials accepts it",
    judge: (release) =>
      inFolder(async (own) => {
        const flags = ["--no-audit", "--no-fund", "--omit=optional", "--prefix", own];
        await run("npm", ["install", ...flags, ...VALIDATOR_PACKAGES]);
        await Deno.writeTextFile(`${own}/validate.cjs`, VALIDATOR);
        await Deno.writeTextFile(
          `${own}/planted.json`,
          '{"bomFormat":"CycloneDX","specVersion":"1.6","components":[{}]}',
        );
        const said = await run("node", [`${own}/validate.cjs`, `${release}/sbom.cdx.json`, `${own}/planted.json`]);
        assert.equal(said, "valid\ninvalid\n");
      }),
  },
  {
    what: "the entry for registries has what its schema limits",
    judge: async (release) => {
      const isEntry = new Ajv({ strict: false }).compile(ENTRY_SCHEMA);
      const text = await Deno.readTextFile(`${release}/server.json`);
      assert.ok(isEntry(JSON.parse(text)), JSON.stringify(isEntry.errors));
      for (const [what, from, to] of PLANTED_IN_ENTRY) assert.ok(!isEntry(JSON.parse(text.replace(from, to))), what);
    },
  },
  {
    what: "a program of Ruby reads the formula, which names each archive with its digest",
    judge: (release) =>
      inFolder(async (own) => {
        const text = await Deno.readTextFile(`${release}/gate.rb`);
        await Deno.writeTextFile(`${own}/formula.rb`, `${HOMEBREW}${text}`);
        const sums = (await Deno.readTextFile(`${release}/SHA256SUMS`)).split("\n");
        const expected = sums.filter((line) => line.endsWith(".tar.gz"));
        assert.equal(expected.length, 1);
        assert.equal(await run("mruby", [`${own}/formula.rb`]), `${expected.join("\n")}\n`);
        await Deno.writeTextFile(`${own}/planted.rb`, `${HOMEBREW}${text.replace(/end\n$/, "")}`);
        assert.match(await refused("mruby", ["-c", `${own}/planted.rb`]), /syntax error/);
      }),
  },
];
