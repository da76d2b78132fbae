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
}

function withFlags(added: GateCommand): GateCommand {
  return withServerAddress(added.withConfig())
    .option(
      "--hooks <FILE>",
      "the file of hooks (default: gate.hooks.yaml in the folder that the host names, or above it)",
    )
    .option("--input <FILE>", "what the host says, in place of standard input")
    .option("--evidence-keys <DIR>", "as for gate serve; without --server");
}
