/** The commands of `gate client`: names, help and flags. */

import { TOOLS_WITH_PAGES } from "../../docs/tool_pages.ts";
import { collect, command, type GateCommand, group } from "../terminal/command_parts.ts";

/** Adds `gate client` with its commands. */
export function addClient(program: GateCommand): void {
  const client = group(program, "client", "Call the tools of a server that runs or that is started", [
    "gate client list",
    "gate client call scenarios_list --arg namespace_id=2",
  ]);
  addCall(client);
  addApply(client);
  addList(client);
}

/** Adds the flags that select the server; the default is to start `gate serve` with the configuration. */
function withServerFlags(added: GateCommand): GateCommand {
  return added
    .option("--url <URL>", "address of a running HTTP server, such as http://127.0.0.1:8080; default path /mcp")
    .option("--stdio [COMMAND...]", "command of a server to start over standard input and output; its flags after --")
    .option("--config <PATH>", "without --url and --stdio: configuration for the gate serve to start")
    .option("--token-file <FILE>", "file with a bearer token, for --url")
    .option("--client-cert <FILE>", "client certificate in PEM with its intermediate certificates, for --url")
    .option("--client-key <FILE>", "private key of the client certificate in PEM")
    .option("--timeout <MS>", "time limit of an answer in milliseconds (default: 60000)");
}

function addCall(client: GateCommand): void {
  withServerFlags(command(client, "call", "Call a tool; the exit code reflects its answer", [
    "gate client call scenarios_list --arg namespace_id=2",
    "gate client call scenario_define --input call.json --config gate.toml",
    "gate client call scenario_status --input - < run.json",
    "gate client call scenario_next --input step.json --set tests_failed=0",
    "gate client call providers_list --url http://127.0.0.1:8080",
    "gate client call providers_list --stdio -- gate serve --config gate.toml",
  ]))
    .withValues({ tool: TOOLS_WITH_PAGES })
    .argument("<tool>", "name of the tool")
    .argument("[command...]", "with --stdio: the rest of the command")
    .option("--input <FILE>", "arguments as one JSON object; - for standard input")
    .option(
      "--arg <NAME=VALUE>",
      "one argument, overrides --input (repeatable); a value that is not JSON is a string, as is '\"1\"'",
      collect,
    )
    .option(
      "--set <NAME=VALUE>",
      "evidence or a parameter of the law of the call; @FILE reads it (repeatable)",
      collect,
    )
    .runs(async () => (await import("./call.ts")).runClientCall);
}

function addApply(client: GateCommand): void {
  withServerFlags(command(client, "apply", "Make many calls in one; the exit code reflects the first refusal", [
    "gate client apply operations.json",
    "gate client apply - --url http://127.0.0.1:8080 < operations.json",
  ]))
    .argument("<file>", "a JSON object with operations: [{tool, arguments}]; - for standard input")
    .argument("[command...]", "with --stdio: the rest of the command")
    .runs(async () => (await import("./call.ts")).runClientApply);
}

function addList(client: GateCommand): void {
  withServerFlags(command(client, "list", "List the tools of a server; with --json including schemas", [
    "gate client list",
    "gate client list --json --url http://127.0.0.1:8080",
    "gate client list --stdio -- gate serve --config gate.toml",
  ]))
    .argument("[command...]", "with --stdio: the rest of the command")
    .runs(async () => (await import("./call.ts")).runClientList);
}
