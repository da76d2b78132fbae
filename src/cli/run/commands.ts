/** The commands that read runs: names, help and flags. */

import type { RunStatus } from "../../run/types.ts";
import { collect, command, type GateCommand } from "../terminal/command_parts.ts";

/** Adds the flags that name a running server. */
export function withServerAddress(added: GateCommand): GateCommand {
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

/** Adds the flags of all commands on runs. */
export function withRunFlags(added: GateCommand): GateCommand {
  return withServerAddress(added.withConfig())
    .option("--namespace <N>", "namespace of the run (default: all)");
}

/** Adds `gate run`. */
export function addRun(program: GateCommand): void {
  withServerAddress(
    command(program, "run", "Take every step of a run that the evidence allows, for pipelines", [
      "gate run release.yaml --evidence results.json",
      'gate run release.yaml --run-key "$COMMIT" --evidence results.json \\\n' +
      "  --export release.runpack --summary summary.md",
      "gate run --when 'tests_failed==0&&coverage>=80' \\\n" +
      "  --set tests_failed=0 --set coverage=91.5",
      "gate run release.yaml --run-key v1.2.0 --parameter version=1.2.0 --wait 30m",
    ]),
  )
    .argument("[file]", "the law: a law file in YAML, TOML or JSON")
    .option("--when <EXPRESSION>", "the law in place of a file: one expression over values of --set")
    .option("--set <NAME=VALUE>", "a value of evidence or of a parameter (repeatable); @FILE reads a file", collect)
    .option("--namespace <N>", "namespace of a law that names none (default: 2)")
    .option("--parameter <NAME=VALUE>", "the value of a parameter of the law (repeatable)", collect)
    .option("--evidence <FILE>", "array of evidence items in JSON or YAML, read again at each look")
    .option("--run-key <TEXT>", "names the run: the same key, law and parameters go on with the same run")
    .option("--wait <DURATION>", "look again until the run is complete, after 2 s, doubling to 60 s: 30s, 15m, 2h")
    .option("--export <PACK>", "write the run as a runpack in one file, which is replaced")
    .option("--signing-key <FILE>", "Ed25519 private key that signs the runpack of --export")
    .option("--summary <FILE>", "write a summary in Markdown")
    .option("--dry-run", "take the steps in memory, and record nothing")
    .option("--evidence-keys <DIR>", "as for gate serve; without --server")
    .withConfig()
    .stoppable()
    .runs(async () => (await import("../pipeline/run.ts")).runRun);
}

/** Adds `gate runs`, `gate status` and `gate history`. */
export function addRuns(program: GateCommand): void {
  withRunFlags(command(program, "runs", "List runs, newest first", [
    "gate runs",
    "gate runs --status active --scenario release",
    "gate runs --server http://127.0.0.1:8080 --namespace 2 --json",
  ]))
    .withValues({ "--status": ["active", "complete"] satisfies RunStatus[] })
    .option("--scenario <ID>", "only runs of this scenario")
    .option("--law <IDENTITY>", "only runs of this law")
    .option("--status <STATUS>", "only runs of this status: active or complete")
    .option("--correlation <ID>", "only runs with this correlation id")
    .option("--limit <N>", "how many runs (default: 20)")
    .runs(async () => (await import("./runs.ts")).runRuns);
  withRunFlags(command(program, "status", "Show where a run stands, and what is missing", [
    "gate status 0123456789abcdef0123456789abcdef",
    "gate status 0123abcd",
    "gate status --server http://127.0.0.1:8080 0123abcd",
    "gate status 0123abcd --svg run.svg",
  ]))
    .argument("<run>", "run_id of the run, or its first digits")
    .option("--evidence-keys <DIR>", "as for gate serve; without --server")
    .option("--svg <FILE>", "also draw the stages and conditions to this file, which must not exist")
    .runs(async () => (await import("./status.ts")).runStatus);
  withRunFlags(command(program, "history", "List the records of a run", [
    "gate history 0123456789abcdef0123456789abcdef",
    "gate history 0123abcd --json",
  ]))
    .argument("<run>", "run_id of the run, or its first digits")
    .runs(async () => (await import("./history.ts")).runHistory);
}
