/**
 * A worker that tries to exceed its permissions. The host starts it with the permissions of a provider's configuration, so that
 * only the runtime can deny an attempt.
 *
 * @module
 */

import { serveQuestions } from "../../../src/evidence/sandbox/worker_bootstrap.ts";
import fs from "node:fs";
import http from "node:http";
import net from "node:net";
import childProcess from "node:child_process";
import os from "node:os";
import process from "node:process";

/** What to try. */
export type Attempt =
  | { readonly try: "echo"; readonly value: unknown }
  | { readonly try: "wait"; readonly millis: number }
  | { readonly try: "spin" | "die" | "throw" | "exit" | "print" }
  | { readonly try: "read" | "real_path" | "node_read" | "list" | "import" | "write" | "sqlite"; readonly path: string }
  | { readonly try: "env" | "node_env"; readonly name: string }
  | { readonly try: "env_all" | "run" | "node_run" | "ffi" | "sys" | "listen" }
  | { readonly try: "fetch"; readonly url: string }
  | { readonly try: "connect" | "node_connect"; readonly host: string; readonly port: number }
  | { readonly try: "escalate" };

/** The outcome; `refused` only where the runtime denied the permission. */
export type Outcome =
  | { readonly outcome: "allowed"; readonly value: unknown }
  | { readonly outcome: "refused" }
  | { readonly outcome: "failed"; readonly message: string };

serveQuestions<{ readonly tag?: string } | null, Attempt, Outcome>((setup) => async (attempt) => {
  try {
    return { outcome: "allowed", value: await run(attempt, setup?.tag) };
  } catch (error) {
    if (isRefusal(error)) return { outcome: "refused" };
    return { outcome: "failed", message: error instanceof Error ? `${error.name}: ${error.message}` : String(error) };
  }
});

function isRefusal(error: unknown): boolean {
  if (error instanceof Deno.errors.NotCapable) return true;
  // The module loader and node's sockets wrap the runtime's error.
  return error instanceof Error &&
    /NotCapable|Requires (read|net|env|run|import|write|sys|ffi) access/.test(`${error} ${error.cause}`);
}

function run(attempt: Attempt, tag: string | undefined): unknown {
  switch (attempt.try) {
    case "echo":
      return tag ?? attempt.value;
    case "wait":
      return new Promise((resolve) => setTimeout(resolve, attempt.millis));
    case "spin":
      return spin();
    case "die":
      return queueMicrotask(() => {
        throw new Error("dies");
      });
    case "throw":
      throw new Error("throws");
    case "exit":
      return close();
    case "print":
      return print();
    default:
      return stepOutside(attempt);
  }
}

/** Milliseconds that a worker spins: longer than any limit of the tests, and finite, because a spinning thread cannot be ended. */
const SPIN_MILLIS = 3000;

function spin(): void {
  const end = performance.now() + SPIN_MILLIS;
  while (performance.now() < end);
}

/** Every usual way to standard output and standard error. */
function print(): void {
  const bytes = new TextEncoder().encode("LEAK");
  console.log("LEAK");
  console.error("LEAK");
  Deno.stdout.writeSync(bytes);
  Deno.stderr.writeSync(bytes);
  void Deno.stdout.write(bytes);
  process.stdout.write("LEAK");
  process.stderr.write("LEAK");
}

async function stepOutside(attempt: Attempt): Promise<unknown> {
  switch (attempt.try) {
    case "read":
      return await Deno.readTextFile(attempt.path);
    case "real_path":
      return Deno.readTextFileSync(Deno.realPathSync(attempt.path));
    case "node_read":
      return fs.readFileSync(attempt.path, "utf8");
    case "list":
      return [...Deno.readDirSync(attempt.path)].map((entry) => entry.name);
    case "import":
      return Object.keys(await import(attempt.path));
    case "write":
      return Deno.writeTextFileSync(attempt.path, "x");
    case "sqlite":
      return new (await import("node:sqlite")).DatabaseSync(attempt.path).close();
    case "env":
      return Deno.env.get(attempt.name) ?? null;
    case "node_env":
      return process.env[attempt.name] ?? null;
    case "env_all":
      return Deno.env.toObject();
    default:
      return await reachOut(attempt);
  }
}

async function reachOut(attempt: Attempt): Promise<unknown> {
  switch (attempt.try) {
    case "run":
      return (await new Deno.Command("true").output()).code;
    case "node_run":
      return childProcess.execFileSync("true");
    case "ffi":
      return Deno.dlopen("libc.so.6", {});
    case "sys":
      return os.hostname();
    case "listen":
      return Deno.listen({ hostname: "127.0.0.1", port: 0 }).addr;
    case "fetch":
      return (await fetch(attempt.url)).status;
    case "connect":
      return (await Deno.connect({ hostname: attempt.host, port: attempt.port })).close();
    case "node_connect":
      return await nodeStatus(attempt.host, attempt.port);
    case "escalate":
      return new Worker(import.meta.url, { type: "module", deno: { permissions: { run: true, read: true } } });
    default:
      throw new Error(`Unknown attempt "${attempt.try}"`);
  }
}

/** A request by node's modules; a missing permission would otherwise be thrown where nothing catches it. */
function nodeStatus(host: string, port: number): Promise<number> {
  const granted = Deno.permissions.querySync({ name: "net", host: `${host}:${port}` }).state === "granted";
  if (!granted) net.connect(port, host).destroy();
  return new Promise((resolve, reject) => {
    http.get({ host, port, agent: false }, (message) => {
      message.resume();
      resolve(message.statusCode ?? 0);
    }).on("error", reject);
  });
}
