/**
 * The commands that read runpacks: `gate runpack verify`, `show`, `diff`, and `gate replay`.
 *
 * @module
 */

import type { Command } from "commander";
import { PROFILES } from "../../runpack/verify/types.ts";
import { collect, command, type Finish, type Flags, withJson, withValues } from "../terminal/command_parts.ts";

const RUNPACK = "a folder, a file, or a runpack identity in the local repository";
const CONFIG = "configuration file, for a runpack identity (default: GATE_CONFIG, then ./gate.toml)";
const DATA_DIR = "folder for runpacks, for a runpack identity";

function withRepository(added: Command): Command {
  return added.option("--config <PATH>", CONFIG).option("--data-dir <DIR>", DATA_DIR);
}

const RECORDED = "accept the recorded verdicts of JSON Schemas instead of validating again";

function withVerdicts(added: Command): Command {
  return added.option("--recorded-verdicts", RECORDED);
}

/** Adds the commands. */
export function addVerification(program: Command, runpack: Command, finish: Finish): void {
  addVerify(runpack, finish);
  addShow(runpack, finish);
  addDiff(runpack, finish);
  addReplay(program, finish);
}

function addVerify(runpack: Command, finish: Finish): void {
  const added = withRepository(
    withJson(command(runpack, "verify", "Verify each claim of a runpack from its contents alone", [
      "gate runpack verify release.runpack --profile full_replay_v1",
      "gate runpack verify release --trusted-key ci.pub --budget records=100000",
    ])),
  );
  withValues(withVerdicts(added), { "--profile": PROFILES })
    .argument("<runpack>", RUNPACK)
    .option("--profile <NAME>", "integrity_only_v1 or full_replay_v1 (default: integrity_only_v1)")
    .option("--trusted-key <FILE>", "trusted Ed25519 public key (repeatable)", collect)
    .option("--require-signature", "fail unless a trusted key has signed the runpack itself")
    .option("--budget <NAME=NUMBER>", "a limit on the work of verification (repeatable)", collect)
    .action(async (named: string, flags: Flags) =>
      finish(await (await import("./verify.ts")).runRunpackVerify(named, flags))
    );
}

function addShow(runpack: Command, finish: Finish): void {
  withVerdicts(withRepository(withJson(
    command(runpack, "show", "Show stages, timeline and decisions of a runpack, and verify it", [
      "gate runpack show release.runpack",
      "gate runpack show release --all",
      "gate runpack show release --html release.html",
    ]),
  )))
    .argument("<runpack>", RUNPACK)
    .option("--all", "show every record (default: the last 200)")
    .option("--html <FILE>", "also write a self-contained HTML page to this file, which must not exist")
    .action(async (named: string, flags: Flags) =>
      finish(await (await import("./show.ts")).runRunpackShow(named, flags))
    );
}

function addDiff(runpack: Command, finish: Finish): void {
  withRepository(withJson(command(runpack, "diff", "Compare the records of two runpacks", [
    "gate runpack diff monday.runpack tuesday.runpack",
  ])))
    .argument("<a>", RUNPACK)
    .argument("<b>", "the runpack to compare with")
    .action(async (a: string, b: string, flags: Flags) =>
      finish(await (await import("./diff.ts")).runRunpackDiff(a, b, flags))
    );
}

function addReplay(program: Command, finish: Finish): void {
  withVerdicts(withRepository(withJson(
    command(program, "replay", "List the decisions that a changed law would make differently", [
      "gate replay release.runpack --law next.yaml",
    ]),
  )))
    .argument("<runpack>", RUNPACK)
    .requiredOption("--law <FILE>", "the changed scenario: a YAML, TOML or JSON file")
    .action(async (named: string, flags: Flags) => finish(await (await import("./replay.ts")).runReplay(named, flags)));
}
