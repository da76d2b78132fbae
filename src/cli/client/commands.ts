/**
 * The commands of `gate client`: names, help and flags.
 *
 * @module
 */

import type { Command } from "commander";
import { TOOL_PAGES } from "../../docs/tool_pages.ts";
import { collect, command, type Finish, type Flags, group, withJson, withValues } from "../terminal/command_parts.ts";

/** Adds `gate client` with its commands. */
export function addClient(program: Command, finish: Finish): void {
  const client = group(program, "client", "Call the tools of a running server", [
    "gate client list",
    "gate client call scenarios_list --arg namespace_id=2",
  ]);
  addCall(client, finish);
  addList(client, finish);
}

/** The flags that say which server; without any, `gate serve` is started on the configuration. */
function withServerFlags(added: Command): Command {
  return added
    .option("--url <URL>", "server over HTTP, such as http://127.0.0.1:8080; without a path, /mcp")
    .option("--stdio [COMMAND...]", "server to start and to talk to over standard input and output; its flags after --")
    .option("--config <PATH>", "without --url and --stdio: the configuration that gate serve is started on")
    .option("--token-file <FILE>", "file with a bearer token, for --url")
    .option("--client-cert <FILE>", "client certificate in PEM, and those between it and its authority, for --url")
    .option("--client-key <FILE>", "its private key in PEM")
    .option("--timeout <MS>", "milliseconds that an answer may take (default: 60000)");
}

function addCall(client: Command, finish: Finish): void {
  const added = withServerFlags(withJson(command(client, "call", "Call a tool; the exit code says what it answered", [
    "gate client call scenarios_list --arg namespace_id=2",
    "gate client call scenario_define --input call.json --config gate.toml",
    "gate client call scenario_status --input - < run.json",
    "gate client call providers_list --url http://127.0.0.1:8080",
    "gate client call providers_list --stdio -- gate serve --config gate.toml",
  ])));
  withValues(added, { tool: TOOL_PAGES.map((page) => page.replace(/^tools\/(.*)\.md$/, "$1")) })
    .argument("<tool>", "name of the tool")
    .argument("[command...]", "with --stdio: the rest of the command")
    .option("--input <FILE>", "arguments as one JSON object; - for standard input")
    .option(
      "--arg <NAME=VALUE>",
      "one argument, over those of --input (repeatable); a value that is no JSON is a text, and so is '\"1\"'",
      collect,
    )
    .action(async (tool: string, rest: readonly string[], flags: Flags) =>
      finish(await (await import("./call.ts")).runClientCall(tool, rest, flags as never))
    );
}

function addList(client: Command, finish: Finish): void {
  withServerFlags(withJson(command(client, "list", "List the tools of a server; with --json their whole schemas", [
    "gate client list",
    "gate client list --json --url http://127.0.0.1:8080",
    "gate client list --stdio -- gate serve --config gate.toml",
  ])))
    .argument("[command...]", "with --stdio: the rest of the command")
    .action(async (rest: readonly string[], flags: Flags) =>
      finish(await (await import("./call.ts")).runClientList(rest, flags as never))
    );
}
