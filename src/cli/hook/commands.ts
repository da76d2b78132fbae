/** The commands of `gate hook`: names, help and flags. */

import { withServerAddress } from "../run/commands.ts";
import { command, type GateCommand, group } from "../terminal/command_parts.ts";

/** Adds `gate hook` with its commands. */
export function addHook(program: GateCommand): void {
  const hook = group(program, "hook", "Answer a host of agents: may the agent stop, or use a tool?", [
    "gate hook stop < event.json",
    "gate hook tool --hooks /etc/gate/gate.hooks.yaml",
  ]);
  withFlags(command(hook, "stop", "Let an agent stop once the law that gate.hooks.yaml names is satisfied", [
    "gate hook stop",
    "gate hook stop --hooks /etc/gate/gate.hooks.yaml \\\n  --server https://gate.example.com --token-file agent.token",
  ])).runs(async () => (await import("./hook.ts")).runHookStop);
  withFlags(
    command(hook, "tool", "Let an agent use a tool once the laws that gate.hooks.yaml names for it are satisfied", [
      "gate hook tool",
      "gate hook tool --input event.json",
    ]),
  ).runs(async () => (await import("./hook.ts")).runHookTool);
  command(hook, "check", "Warn of what this user, and so its agent, can write of what decides", [
    "gate hook check",
    "gate hook check --hooks /etc/gate/gate.hooks.yaml",
  ])
    .withConfig()
    .option("--hooks <FILE>", HOOKS_FILE)
    .runs(async () => (await import("./check.ts")).runHookCheck);
}

const HOOKS_FILE = "the file of hooks (default: gate.hooks.yaml in the folder, or above it)";

function withFlags(added: GateCommand): GateCommand {
  return withServerAddress(added.withConfig())
    .option("--hooks <FILE>", HOOKS_FILE)
    .option("--input <FILE>", "what the host says, in place of standard input")
    .option("--evidence-keys <DIR>", "as for gate serve; without --server");
}
