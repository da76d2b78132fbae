/** The commands that read runpacks: `gate runpack verify`, `show`, `diff`, and `gate replay`. */

import { PROFILES } from "../../runpack/verify/types.ts";
import { collect, command, type GateCommand } from "../terminal/command_parts.ts";

const RUNPACK = "a folder, a file, or a runpack identity in the local repository";
const CONFIG = "configuration file, for a runpack identity (default: GATE_CONFIG, then ./gate.toml)";
const DATA_DIR = "folder for runpacks, for a runpack identity";

function withRepository(added: GateCommand): GateCommand {
  return added.option("--config <PATH>", CONFIG).option("--data-dir <DIR>", DATA_DIR);
}

const RECORDED = "accept the recorded verdicts of JSON Schemas instead of validating again";

function withVerdicts(added: GateCommand): GateCommand {
  return added.option("--recorded-verdicts", RECORDED);
}

/** Adds the commands. */
export function addVerification(program: GateCommand, runpack: GateCommand): void {
  addVerify(runpack);
  addAdmit(runpack);
  addAttest(runpack);
  addShow(runpack);
  addDiff(runpack);
  addReplay(program);
}

function addVerify(runpack: GateCommand): void {
  withVerdicts(withRepository(command(runpack, "verify", "Verify each claim of a runpack from its contents alone", [
    "gate runpack verify release.runpack",
    "gate runpack verify release --trusted-key ci.pub --budget records=100000",
  ])))
    .withValues({ "--profile": PROFILES })
    .argument("<runpack>", RUNPACK)
    .option("--profile <NAME>", "integrity_only_v1 or full_replay_v1 (default: full_replay_v1)")
    .option("--trusted-key <FILE>", "trusted Ed25519 public key (repeatable)", collect)
    .option("--require-signature", "fail unless a trusted key has signed the runpack itself")
    .option("--budget <NAME=NUMBER>", "a limit on the work of verification (repeatable)", collect)
    .runs(async () => (await import("./verify.ts")).runRunpackVerify);
}

/** Adds the flags that say what is expected of a runpack. */
function withExpectation(added: GateCommand): GateCommand {
  return withRepository(added)
    .argument("<runpack>", RUNPACK)
    .requiredOption("--law <FILE|IDENTITY>", "the law: a scenario file, or a law identity")
    .option("--parameter <NAME=VALUE>", "the value that a parameter of the run must have (repeatable)", collect)
    .option("--any-parameter <NAME>", "a parameter that may have any value (repeatable)", collect)
    .option("--stage <ID>", "the stage that must be complete (default: the whole run)")
    .option("--producer-key <FILE>", "Ed25519 public key of a producer who may sign the runpack (repeatable)", collect)
    .option("--key <NAME=FILE>", "whose Ed25519 public key it is: NAME as the law has it (repeatable)", collect)
    .option("--provider <NAME=IDENTITY>", "the version that a typed provider must have (repeatable)", collect)
    .option("--not-before <INSTANT>", "the earliest RFC 3339 instant of completion")
    .option("--origin-unchecked", "admit a runpack of any producer")
    .option("--signers-unchecked", "admit signatures by keys that neither the law nor --key names")
    .option("--accept-procedure <NAME>", "admit records of a superseded procedure (repeatable)", collect)
    .option("--allow-asserted", "admit a run in which asserted evidence counted");
}

function addAdmit(runpack: GateCommand): void {
  withExpectation(command(runpack, "admit", "Decide whether a runpack shows a complete run under a law", [
    "gate runpack admit a.runpack --law law.yaml --producer-key gate.pub",
    "gate runpack admit a.runpack --law law.yaml --parameter commit=3f0c9a",
    "gate runpack admit a.runpack --law law.yaml --stage build --key ci=ci.pub",
  ]))
    .runs(async () => (await import("./admit.ts")).runRunpackAdmit);
}

function addAttest(runpack: GateCommand): void {
  withExpectation(command(runpack, "attest", "Sign the decision on a runpack as a SLSA Verification Summary", [
    "gate runpack attest a.runpack --law law.yaml --producer-key gate.pub \\\n" +
    "  --subject app=sha256:DIGEST --signing-key verifier.key",
  ]))
    .requiredOption("--subject <NAME=sha256:DIGEST>", "an artifact that the run decided on (repeatable)", collect)
    .requiredOption("--signing-key <FILE>", "Ed25519 private key of the verifier")
    .option("--verifier-id <URI>", "the URI of the verifier (default: urn:gate:verifier)")
    .option("--resource-uri <URI>", "the URI of the artifact (default: that of the first subject)")
    .option("--out <FILE>", "write the envelope to this file, which must not exist")
    .runs(async () => (await import("./attest.ts")).runRunpackAttest);
}

function addShow(runpack: GateCommand): void {
  withVerdicts(
    withRepository(command(runpack, "show", "Show stages, timeline and decisions of a runpack, and verify it", [
      "gate runpack show release.runpack",
      "gate runpack show release --all",
      "gate runpack show release --html release.html",
    ])),
  )
    .argument("<runpack>", RUNPACK)
    .option("--all", "show every record (default: the last 200)")
    .option("--html <FILE>", "also write a self-contained HTML page to this file, which must not exist")
    .runs(async () => (await import("./show.ts")).runRunpackShow);
}

function addDiff(runpack: GateCommand): void {
  withRepository(command(runpack, "diff", "Compare the records of two runpacks", [
    "gate runpack diff monday.runpack tuesday.runpack",
  ]))
    .argument("<a>", RUNPACK)
    .argument("<b>", "the runpack to compare with")
    .runs(async () => (await import("./diff.ts")).runRunpackDiff);
}

function addReplay(program: GateCommand): void {
  withVerdicts(
    withRepository(command(program, "replay", "List the decisions that a changed law would make differently", [
      "gate replay release.runpack --law next.yaml",
    ])),
  )
    .argument("<runpack>", RUNPACK)
    .requiredOption("--law <FILE>", "the changed scenario: a YAML, TOML or JSON file")
    .runs(async () => (await import("./replay.ts")).runReplay);
}
