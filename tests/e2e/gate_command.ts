/**
 * Runs the `gate` command line as users do: as a process, in a folder of its own.
 *
 * With `GATE_BINARY=/path/to/gate` in the environment a compiled gate is tested in place of the source.
 *
 * @module
 */

const MAIN = new URL("../../main.ts", import.meta.url).pathname;
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

/** How a command ended. */
export interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

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

/** Runs `gate` in a folder until it ends; its standard input is empty. */
export async function gate(cwd: string, ...args: readonly string[]): Promise<Ended> {
  const process = processOf(gateArgs(...args));
  const command = new Deno.Command(process.command, {
    args: [...process.args],
    cwd,
    env: { NO_COLOR: "1", GATE_CONFIG: "" },
    stdin: "null",
  });
  const { code, stdout, stderr } = await command.output();
  const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
  return { code, stdout: text(stdout), stderr: text(stderr) };
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
