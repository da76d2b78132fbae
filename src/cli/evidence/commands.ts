/** The commands for people who sign evidence: names, help and flags. */

import { Option } from "commander";
import { VALUE_TYPES } from "../../law/value/types.ts";
import { withRunFlags } from "../run/commands.ts";
import { CliError } from "../terminal/cli_error.ts";
import { command, CONFIG_FILE, type Flags, type GateCommand, group } from "../terminal/command_parts.ts";

const PASSPHRASE = "file with the passphrase of the key";

/** Flags of the older `gate approve`, which is `gate evidence sign` now. */
const OLDER_FLAGS = ["--run <RUN_ID>", "--stage <ID>", "--head <HEAD>", "--any-head", "--type <TYPE>", "--digest-only"];

/** Adds `gate approve`, `gate waiting`, `gate evidence sign` and `gate key`. */
export function addEvidence(program: GateCommand): void {
  const approve = withRunFlags(
    command(program, "approve", "Show what a stage asks you, sign the answer and submit it", [
      "gate approve 0123abcd --key keys/alice.key --namespace 2 \\\n" +
      "  --server https://gate.example:8443",
      "gate approve 0123abcd release --key keys/alice.key --reject --comment Later",
      "gate approve 0123abcd --key keys/alice.key --law release.yaml --yes",
    ]),
  )
    .argument("[run]", "run_id of the run, or its first digits")
    .argument("[stage]", "the stage (default: the only one that asks this key)")
    .option("--key <FILE>", "your private key")
    .option("--passphrase-file <FILE>", PASSPHRASE)
    .option(
      "--key-id <ID>",
      "name of your public key at the server (default: as the server says, else the file's name)",
    )
    .option("--evidence-keys <DIR>", "as for gate serve; without --server")
    .option("--condition <ID>", "the condition, where the stage asks several")
    .option("--value <JSON>", "the value (default for a boolean: the one that the law expects)")
    .option("--reject", "sign the other boolean: a refusal on record")
    .option("--withdraw", "withdraw your last statement")
    .option("--comment <TEXT>", "kept with the statement for ever")
    .option("--law <FILE>", "check law and records here, against a server that you do not trust")
    .option("--yes", "sign without asking");
  for (const flags of OLDER_FLAGS) approve.addOption(new Option(flags).hideHelp());
  approve.runs(() => async (run: string | undefined, stage: string | undefined, flags: Flags) => {
    if (run === undefined || flags["run"] !== undefined) {
      const hint = flags["run"] === undefined
        ? "see gate help approve"
        : "gate approve with --run is now gate evidence sign";
      throw new CliError("usage", "Argument RUN is missing", hint);
    }
    return await (await import("./approve.ts")).runApprove(run, stage, flags);
  });
  withRunFlags(command(program, "waiting", "List the signatures that open stages wait for", [
    "gate waiting",
    "gate waiting --server https://gate.example:8443 --namespace 2",
  ]))
    .option("--key <FILE>", "only what waits for this private key")
    .option("--passphrase-file <FILE>", PASSPHRASE)
    .option("--evidence-keys <DIR>", "as for gate serve; without --server")
    .runs(async () => (await import("./waiting.ts")).runWaiting);
  addSign(program);
  addKey(program);
}

function addSign(program: GateCommand): void {
  const evidence = group(program, "evidence", "Sign evidence for a call", [
    "gate evidence sign --key me.key --namespace 2 --law LAW --run RUN \\\n" +
    "  --stage release --condition approved --value true --head RECORD_ID:REVISION",
  ]);
  command(evidence, "sign", "Sign an item of caller_evidence for one condition at one head", [
    "gate evidence sign --key me.key --namespace 2 --law LAW --run RUN \\\n" +
    "  --stage release --condition approved --value true --head RECORD_ID:REVISION",
  ])
    .option("--key <FILE>", "Ed25519 private key: 32 raw bytes, their base64, or PKCS #8 PEM")
    .option("--passphrase-file <FILE>", PASSPHRASE)
    .option("--key-id <ID>", "name of the public key in the gate's configuration (default: the file with .pub)")
    .option("--namespace <N>", "namespace of the run")
    .option("--law <IDENTITY>", "scenario_law_identity of the run")
    .option("--run <RUN_ID>", "the run")
    .option("--stage <ID>", "the stage")
    .option("--condition <ID>", "the condition")
    .option("--value <JSON>", "the signed value")
    .option("--type <TYPE>", "domain of the value (default for true or false, strings and integers: from the value)")
    .option("--head <RECORD_ID:REVISION>", "accepted_head of the run; the item is valid at this head only")
    .option("--any-head", "make the item valid at any head of the run")
    .option("--observed-at <MS>", "time of the observation in Unix milliseconds (default: now)")
    .option("--digest-only", "for a condition that retains only digests")
    .runs(async () => (await import("./sign.ts")).runEvidenceSign)
    .withValues({ "--type": VALUE_TYPES });
}

function addKey(program: GateCommand): void {
  const key = group(program, "key", "Create and trust keys of people", [
    "gate key create keys/alice.key",
    "gate key trust keys/alice.key.pub --name alice",
  ]);
  command(key, "create", "Create a key pair: a private key that only its owner can read, and a public key", [
    "gate key create keys/alice.key",
    "gate key create keys/alice.key --passphrase-file passphrase.txt",
  ])
    .argument("<file>", "where to write the private key; the public key goes to FILE.pub")
    .option("--passphrase-file <FILE>", "encrypt the private key with the passphrase in this file")
    .runs(async () => (await import("./key_create.ts")).runKeyCreate);
  command(key, "trust", "Put a public key into the folder of the keys of people", [
    "gate key trust keys/alice.key.pub --name alice --evidence-keys /etc/gate/keys",
  ])
    .argument("<file>", "the public key")
    .requiredOption("--name <NAME>", "the key id that laws use")
    .option("--evidence-keys <DIR>", "the folder (default: trust.evidence_keys, else evidence-keys beside gate.toml)")
    .option("--config <PATH>", CONFIG_FILE)
    .runs(async () => (await import("./key_trust.ts")).runKeyTrust);
}
