/**
 * Runs the `gate` command line as users do: as a process, in a folder of its own.
 *
 * With `GATE_BINARY=/path/to/gate` in the environment a compiled gate is tested in place of the source.
 *
 * @module
 */

import { createServer, type Socket } from "node:net";
import { createInterface } from "node:readline";
import { once } from "node:events";
import type { Call, Ended } from "./gate_host.ts";

export type { Ended } from "./gate_host.ts";

const MAIN = new URL("../../main.ts", import.meta.url).pathname;
const HOST = new URL("gate_host.ts", import.meta.url).pathname;
const SETTINGS = new URL("../../deno.json", import.meta.url).pathname;

/** As the block for clients and the deployment guide have it: a server from a checkout reads modules when they are first needed. */
export const LOAD_WHEN_NEEDED = "--unstable-lazy-dynamic-imports";

/** Configuration of both stores in one file beside it, schemas open to local callers. */
export const STORES = `
[run_state_store]
type = "sqlite"
path = "gate.db"

[schema_registry]
type = "sqlite"
path = "gate.db"

[schema_registry.acl]
allow_local_only = true
`;

/** Arguments of `deno` for a `gate` command. */
export function gateArgs(...args: readonly string[]): string[] {
  return ["run", "--no-prompt", "--quiet", LOAD_WHEN_NEEDED, "--config", SETTINGS, "-P=serve", MAIN, ...args];
}

/** A program and its arguments. */
export interface CommandLine {
  readonly command: string;
  readonly args: readonly string[];
}

/**
 * The process for some arguments of `deno`: where they are those of {@link gateArgs} and `GATE_BINARY` names a compiled
 * gate, that program with what follows.
 */
export function processOf(args: readonly string[]): CommandLine {
  const binary = Deno.env.get("GATE_BINARY") ?? "";
  const main = args.indexOf(MAIN);
  if (binary === "" || main < 0 || !args.includes("-P=serve")) return { command: Deno.execPath(), args };
  return { command: binary, args: args.slice(main + 1) };
}

/** A command's environment: no colours, and no configuration of this machine. */
const ENVIRONMENT = { NO_COLOR: "1", GATE_CONFIG: "" };

/** Runs `gate` in a folder until it ends; its standard input is empty. */
export async function gate(cwd: string, ...args: readonly string[]): Promise<Ended> {
  // A server ends with its process, and what follows "--" is another command, which writes where this process writes.
  const isOwn = Deno.env.has("GATE_BINARY") || args[0] === "serve" || args.includes("--");
  if (isOwn) return await gateProcess(cwd, ...args);
  return await callHost("-P=serve", { cwd, args });
}

/**
 * Runs `gate` in this folder, under one permission and no other. From the source also with `GATE_BINARY`, because an executable
 * has the permissions that it was compiled with.
 */
export async function gateUnder(permission: string, ...args: readonly string[]): Promise<Ended> {
  return await callHost(permission, { cwd: Deno.cwd(), args });
}

/** Runs `gate` as {@link gate} does, in a process of its own. */
export async function gateProcess(cwd: string, ...args: readonly string[]): Promise<Ended> {
  const { command, args: words } = processOf(gateArgs(...args));
  const process = new Deno.Command(command, { args: [...words], cwd, env: ENVIRONMENT, stdin: "null" });
  const { code, stdout, stderr } = await process.output();
  const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
  return { code, stdout: text(stdout), stderr: text(stderr) };
}

/** Runs a call, and gives its end. */
type Host = (call: Call) => Promise<Ended>;

/** Hosts without a call, by their permission. They end with the thread of this test file, which closes their connections. */
const idle = new Map<string, Host[]>();

async function callHost(permission: string, call: Call): Promise<Ended> {
  const free = idle.get(permission) ?? [];
  idle.set(permission, free);
  const host = free.pop() ?? await startHost(permission);
  const end = await host(call);
  free.push(host);
  return end;
}

async function startHost(permission: string): Promise<Host> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { readonly port: number };
  // The host is loaded before main.ts, and ends the process in its place: commands see the main module of gate.
  const [run = "", ...words] = gateArgs(String(port));
  const granted = permission === "-P=serve" ? [permission] : [permission, `--allow-net=127.0.0.1:${port}`];
  new Deno.Command(Deno.execPath(), {
    args: [run, `--preload=${HOST}`, ...words.flatMap((word) => word === "-P=serve" ? granted : [word])],
    env: ENVIRONMENT,
    stdin: "null",
  }).spawn().unref();
  const [socket] = await once(server, "connection") as [Socket];
  server.close();
  const lines = createInterface({ input: socket })[Symbol.asyncIterator]();
  return async (call) => {
    socket.write(`${JSON.stringify(call)}\n`);
    const { value, done } = await lines.next();
    if (done === true) throw new Error(`The command line ended its process: ${call.args.join(" ")}`);
    return JSON.parse(value) as Ended;
  };
}

/** What the log of a server says, as on a terminal: `gate warn: ...`. A line that is no entry of it fails the test. */
export function logText(errors: string): string {
  return errors.split("\n").filter((line) => line !== "").map((line) => {
    const { level, message } = JSON.parse(line) as { level?: string; message?: string };
    return level === undefined ? "" : `gate ${level}: ${message}\n`;
  }).join("");
}

/** Runs a body with a fresh folder, which is removed afterwards. */
export async function inFolder(body: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.realPath(await Deno.makeTempDir());
  try {
    await body(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}
