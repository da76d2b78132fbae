/**
 * A process that runs one command line after another, each as `main.ts` would: to start takes longer than most commands.
 *
 * Its argument is the port of the test that started it. Each line from the test is a call, each line back is how it ended.
 *
 * @module
 */

import { Buffer } from "node:buffer";
import { connect } from "node:net";
import { createInterface } from "node:readline";

/** One call: where it runs, and its words. */
export interface Call {
  readonly cwd: string;
  readonly args: readonly string[];
}

/** How a command ended. */
export interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

type Main = (argv: readonly string[]) => Promise<number>;

async function serveCalls(port: number): Promise<void> {
  const { main } = await import(new URL("src/cli/main.ts", Deno.mainModule).href) as { readonly main: Main };
  const socket = connect(port, "127.0.0.1");
  for await (const line of createInterface({ input: socket })) {
    socket.write(`${JSON.stringify(await run(main, JSON.parse(line) as Call))}\n`);
  }
}

async function run(main: Main, { cwd, args }: Call): Promise<Ended> {
  Deno.chdir(cwd);
  const stdout = capture(Deno.stdout);
  const stderr = capture(Deno.stderr);
  const code = await main(args);
  return { code, stdout: stdout(), stderr: stderr() };
}

/** Keeps what is written to a stream from now on. */
function capture(stream: { writeSync: (bytes: Uint8Array) => number }): () => string {
  const parts: Uint8Array[] = [];
  stream.writeSync = (bytes) => {
    parts.push(bytes.slice());
    return bytes.length;
  };
  return () => Buffer.concat(parts).toString();
}

await serveCalls(Number(Deno.args[0]));
Deno.exit(0);
