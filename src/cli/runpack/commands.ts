/** The commands of `gate runpack`: names, help and flags. */

import { withServerAddress } from "../run/commands.ts";
import { collect, command, type GateCommand, group } from "../terminal/command_parts.ts";
import { addVerification } from "./verification_commands.ts";

/** Adds `gate runpack` with all of its commands. */
export function addRunpack(program: GateCommand): void {
  const runpack = group(program, "runpack", "Export, sign, verify, admit and show runpacks", [
    "gate runpack export --namespace 2 --run RUN --archive release.runpack",
    "gate runpack verify release.runpack",
    "gate runpack admit a.runpack --law law.yaml --producer-key gate.pub",
    "gate runpack show release.runpack",
  ]);
  addExport(runpack);
  addPull(runpack);
  addSign(runpack);
  addVerification(program, runpack);
}

function addExport(runpack: GateCommand): void {
  withServerAddress(
    command(runpack, "export", "Publish a run, up to its accepted head, as a runpack", [
      "gate runpack export --namespace 2 --run 0f1e2d3c4b5a69788796a5b4c3d2e1f0",
      "gate runpack export --namespace 2 --run RUN --archive release.runpack",
      "gate runpack export --namespace 2 --run RUN --out release --redact customer",
      "gate runpack export --namespace 2 --run RUN --archive release.runpack \\\n  --server https://gate.example.com",
    ]),
  )
    .requiredOption("--namespace <N>", "namespace of the run")
    .requiredOption("--run <RUN_ID>", "the run")
    .withConfig()
    .option("--out <DIR>", "also write the runpack to this folder, which must not exist or be empty")
    .option("--archive <FILE>", "also write the runpack to this file, which must not exist")
    .option("--redact <CONDITION>", "omit the values of this condition (repeatable)", collect)
    .option("--signing-key <FILE>", "Ed25519 private key that signs the runpack")
    .stoppable()
    .runs(async () => (await import("./export.ts")).runRunpackExport);
}

function addPull(runpack: GateCommand): void {
  command(runpack, "pull", "Fetch runpacks from the object store into the local repository", [
    "gate runpack pull 3f0c...9a",
  ])
    .argument("<runpack_identity...>", "the runpacks to fetch")
    .withConfig()
    .runs(async () => (await import("./pull.ts")).runRunpackPull);
}

function addSign(runpack: GateCommand): void {
  command(runpack, "sign", "Sign a runpack with a DSSE envelope over an in-toto statement", [
    "gate runpack sign release.runpack --key release.key",
    "gate runpack sign 3f0c...9a --key release.key",
  ])
    .argument("<runpack>", "a folder, a file, or a runpack identity in the local repository")
    .requiredOption("--key <FILE>", "Ed25519 private key: PKCS #8 PEM, 32 raw bytes, or their base64")
    .option("--out <FILE>", "write the signed runpack to this file, which must not exist, and leave RUNPACK as it is")
    .withConfig()
    .stoppable()
    .runs(async () => (await import("./sign.ts")).runRunpackSign);
}
