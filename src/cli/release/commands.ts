/**
 * The commands on release folders: names, help and flags.
 *
 * @module
 */

import { collect, command, type GateCommand, group } from "../terminal/command_parts.ts";

/** Adds `gate release`. */
export function addRelease(program: GateCommand): void {
  const release = group(program, "release", "Check a downloaded release of gate", [
    "gate release verify gate-0.1.0 --trusted-key gate-release.pub",
  ]);
  command(release, "verify", "Compare every file of a release folder with its signed list", [
    "gate release verify gate-0.1.0 --trusted-key gate-release.pub",
    "gate release verify gate-0.1.0 --origin-unchecked",
  ])
    .argument("<dir>", "the folder, with SHA256SUMS and provenance.dsse.json")
    .option("--trusted-key <FILE>", "a public key that may have signed the release (repeatable)", collect)
    .option("--origin-unchecked", "compare the files without a key: who made them stays open")
    .runs(async () => (await import("./verify.ts")).runReleaseVerify);
}
