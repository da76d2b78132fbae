/**
 * The commands that read runs: names, help and flags.
 *
 * @module
 */

import type { Command } from "commander";
import type { RunStatus } from "../../run/types.ts";
import { command, CONFIG_FILE, type Finish, type Flags, withJson, withValues } from "../terminal/command_parts.ts";

/** Adds the flags that name a running server. */
function withServerAddress(added: Command): Command {
  return added
    .option(
      "--server <URL>",
      "address of a running HTTP server in place of the local store, such as http://127.0.0.1:8080",
    )
    .option("--token-file <FILE>", "file with a bearer token, for --server")
    .option("--client-cert <FILE>", "client certificate in PEM, for --server")
    .option("--client-key <FILE>", "private key of the client certificate in PEM")
    .option("--timeout <MS>", "time limit of an answer of the server in milliseconds (default: 60000)");
}

function withRunFlags(added: Command): Command {
  return withServerAddress(withJson(added).option("--config <PATH>", CONFIG_FILE))
    .option("--namespace <N>", "namespace of the run (default: all)");
}

/** Adds `gate runs`, `gate status` and `gate history`. */
export function addRuns(program: Command, finish: Finish): void {
  const list = withRunFlags(command(program, "runs", "List runs, newest first", [
    "gate runs",
    "gate runs --status active --scenario release",
    "gate runs --server http://127.0.0.1:8080 --namespace 2 --json",
  ]));
  withValues(list, { "--status": ["active", "complete"] satisfies RunStatus[] })
    .option("--scenario <ID>", "only runs of this scenario")
    .option("--law <IDENTITY>", "only runs of this law")
    .option("--status <STATUS>", "only runs of this status: active or complete")
    .option("--correlation <ID>", "only runs with this correlation id")
    .option("--limit <N>", "how many runs (default: 20)")
    .action(async (flags: Flags) => finish(await (await import("./runs.ts")).runRuns(flags)));
  withRunFlags(command(program, "status", "Show where a run stands, and what is missing", [
    "gate status 0123456789abcdef0123456789abcdef",
    "gate status 0123abcd",
    "gate status --server http://127.0.0.1:8080 0123abcd",
  ]))
    .argument("<run>", "run_id of the run, or its first digits")
    .action(async (run: string, flags: Flags) => finish(await (await import("./status.ts")).runStatus(run, flags)));
  withRunFlags(command(program, "history", "List the records of a run", [
    "gate history 0123456789abcdef0123456789abcdef",
    "gate history 0123abcd --json",
  ]))
    .argument("<run>", "run_id of the run, or its first digits")
    .action(async (run: string, flags: Flags) => finish(await (await import("./history.ts")).runHistory(run, flags)));
}
