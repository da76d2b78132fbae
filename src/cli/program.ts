/** Defines every command: names, help and flags. The implementation of a command is loaded when it runs. */

import { CommanderError } from "commander";
import { nearest } from "../canonical/nearest.ts";
import type { LogLevel } from "../server/process/log.ts";
import { CliError } from "./terminal/cli_error.ts";
import { addClient } from "./client/commands.ts";
import {
  collect,
  command,
  CONFIG_FILE,
  describeCommand,
  type Flags,
  GateCommand,
  group,
} from "./terminal/command_parts.ts";
import { IMPORT_KINDS, SHELLS } from "./terminal/choices.ts";
import { EXIT } from "./terminal/exit_codes.ts";
import { ownWords, writeOut, writeResult } from "./terminal/output.ts";
import { addEvidence } from "./evidence/commands.ts";
import { addHook } from "./hook/commands.ts";
import { addRun, addRuns } from "./run/commands.ts";
import { addRunpack } from "./runpack/commands.ts";
import { addLsp, addNew, addScenario } from "./scenario/commands.ts";
import type { StoreSection } from "./store/files.ts";
import { SERVE_FLAGS } from "./serve/serve_flags.ts";

/** How help describes the name of a store. */
const STORE_NAME = "SQLite file, PostgreSQL address or env:NAME of one, or configuration (.toml)";

/** Runs any command line except `serve`, and `serve --help`. */
export async function runProgram(argv: readonly string[]): Promise<number> {
  let exitCode: number = EXIT.ok;
  const program = buildProgram((code) => exitCode = code);
  if (argv.length === 0) {
    program.outputHelp();
    return EXIT.ok;
  }
  const own = ownWords(argv);
  if (own.includes("--help") || own.includes("-h")) {
    const path = commandPath(program, own);
    const next = own[path.length] ?? "";
    const isGroup = findCommand(program, path).commands.length > 0;
    if (isGroup && !next.startsWith("-")) findCommand(program, [...path, next]);
    if (own.includes("--json")) {
      writeHelp(program, path);
      return EXIT.ok;
    }
  }
  try {
    await program.parseAsync([...argv], { from: "user" });
    return exitCode;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return EXIT.ok;
    throw usageError(error, program, argv);
  }
}

/** Builds the program with all of its commands. */
export function buildProgram(finish: (code: number) => void): GateCommand {
  const program = new GateCommand("gate", finish)
    .summary("Answer from evidence whether work may move on")
    .description("Answers from evidence whether work may move on, and records each answer so that it can be checked.")
    .usage("COMMAND [options]")
    .option("-V, --version", "print the version; with --json build details")
    .helpOption("-h, --help", "show this help; with --json as one JSON object")
    .helpCommand(false)
    .exitOverride()
    .configureHelp({ subcommandTerm: (one) => one.name() })
    // Errors are thrown, and written by reportFailure(). Help has no colours, so commander need not read the
    // environment.
    .configureOutput({
      writeOut,
      writeErr: () => {},
      outputError: () => {},
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    })
    .withExamples(["gate init", "gate doctor", "gate scenario check release.yaml", "gate client list"])
    .addHelpText("after", "\nRun gate help COMMAND for one command, gate help exit-codes for the exit codes.");
  program.commandsGroup("Serve:");
  addServe(program);
  addSetup(program);
  program.commandsGroup("Write a law:");
  addNew(program);
  addScenario(program);
  addLsp(program);
  addProvider(program);
  program.commandsGroup("Drive a run:");
  addClient(program);
  addRun(program);
  addHook(program);
  addRuns(program);
  addExplain(program);
  addEvidence(program);
  program.commandsGroup("Verify records:");
  addRunpack(program);
  addStore(program);
  addLogs(program);
  program.commandsGroup("Help:");
  addCompletions(program);
  addHelp(program);
  return program;
}

function addServe(program: GateCommand): void {
  const summary = "Serve MCP clients";
  const serve = program.command("serve").summary(summary).description(summary)
    .withExamples(["gate serve", "gate serve --config /etc/gate/gate.toml --log-level warn"])
    .withValues({ "--log-level": ["error", "warn", "info", "debug"] satisfies LogLevel[] });
  for (const flag of SERVE_FLAGS) {
    serve.option(`--${flag.name}${flag.value === null ? "" : ` <${flag.value}>`}`, flag.description);
  }
  // This definition serves help alone: main() runs the command itself.
}

function addSetup(program: GateCommand): void {
  command(program, "console", "Serve the console for people on this machine, and open the browser", [
    "gate console",
    "gate console --no-open --port 8040",
  ])
    .option("--config <PATH>", CONFIG_FILE)
    .asForServe("data-dir", "evidence-keys")
    .option("--port <PORT>", "port on 127.0.0.1, 0 for a free one (default: 4283 where it is free)")
    .option("--no-open", "print the address, and do not open the browser")
    .runs(async () => (await import("./serve/console.ts")).runConsole);
  command(program, "init", "Write a starter configuration", ["gate init", "gate init --stdout > gate.toml"])
    .argument("[file]", "where to write it", "gate.toml")
    .option("--force", "replace a file that exists")
    .option("--stdout", "write to standard output")
    .runs(async () => (await import("./serve/init.ts")).runInit);
  const config = group(program, "config", "Check and describe configurations", [
    "gate config check",
    "gate config schema > gate.schema.json",
  ]);
  command(config, "check", "List every problem of a configuration", [
    "gate config check",
    "gate config check --json /etc/gate/gate.toml",
  ])
    .argument("[file]", CONFIG_FILE)
    .option("--config <PATH>", "the same file, named as for other commands")
    .asForServe("evidence-keys", "notify", "notify-secret")
    .runs(async () => (await import("./config/check.ts")).runConfigCheck);
  command(config, "schema", "Print the JSON Schema of the configuration file", [
    "gate config schema > gate.schema.json",
  ]).runs(async () => (await import("./config/schema.ts")).runConfigSchema);
  command(program, "doctor", "Check the configuration and the machine, and print the client block", [
    "gate doctor",
    "gate doctor --config /etc/gate/gate.toml --json",
  ])
    .option("--config <PATH>", CONFIG_FILE)
    .asForServe("evidence-keys", "notify", "notify-secret")
    .runs(async () => (await import("./doctor/doctor.ts")).runDoctor);
  command(program, "permissions", "Print the permission flags that a configuration needs", [
    "gate permissions --config gate.toml",
    "gate permissions --config gate.toml --signing-key signing.pem",
  ])
    .withValues({ command: ["serve"] })
    .argument("[command]", "the command that needs them: serve", "serve")
    .option("--config <PATH>", CONFIG_FILE)
    .asForServe(...SERVE_FLAGS.map(({ name }) => name).filter((name) => name !== "config" && name !== "json"))
    .option("--flags", "print the flags of the runtime alone, one a line")
    .runs(async () => (await import("./permissions/permissions.ts")).runPermissions);
}

function addStore(program: GateCommand): void {
  const store = group(program, "store", "Check, back up, copy, archive and migrate the stores", [
    "gate store check",
    "gate store backup /backup/gate.db",
  ]);
  command(store, "check", "Verify everything in the stores: hashes, chains and states", [
    "gate store check",
    "gate store check --json /backup/gate.db",
    "gate store check env:RESTORED_DATABASE",
  ])
    .argument("[store]", `${STORE_NAME} (default: the stores of the configuration)`)
    .withConfig()
    .runs(async () => (await import("./store/check.ts")).runStoreCheck);
  command(store, "backup", "Copy a store to a file while it is in use", ["gate store backup /backup/gate.db"])
    .withValues({ "--store": ["run_state_store", "schema_registry"] satisfies StoreSection[] })
    .argument("<file>", "where to write the copy; must not exist")
    .withConfig()
    .option("--store <NAME>", "run_state_store or schema_registry", "run_state_store")
    .stoppable()
    .runs(async () => (await import("./store/backup.ts")).runStoreBackup);
  command(store, "copy", "Copy everything in one store to another one, and compare it there", [
    "gate store copy gate.db env:GATE_DATABASE",
    "gate store copy old.toml new.toml --json",
  ])
    .argument("<from>", STORE_NAME)
    .argument("<to>", "the same; a file may be new, a database needs gate store migrate first")
    .runs(async () => (await import("./store/copy.ts")).runStoreCopy);
  command(store, "archive", "Move old complete runs into runpacks, and leave their receipts", [
    "gate store archive --before 2026-01-01T00:00:00Z --dry-run",
    "gate store archive --before 2026-01-01T00:00:00Z",
    "gate store archive --before 2026-01-01T00:00:00Z --owner env:GATE_OWNER",
  ])
    .requiredOption("--before <INSTANT>", "archive runs whose last record is older")
    .option("--dry-run", "list these runs, and change nothing")
    .withConfig()
    .option("--owner <URL>", "postgres: address of the role that owns the tables, or env:NAME (default: url)")
    .option("--signing-key <FILE>", "Ed25519 private key in PEM that signs the runpacks")
    .runs(async () => (await import("./store/archive.ts")).runStoreArchive);
  command(store, "migrate", "Bring a store to the format of this version", [
    "gate store migrate",
    "gate store migrate --owner env:OWNER_URL --server-role gate_server",
  ])
    .withConfig()
    .option("--owner <URL>", "postgres: address of the role that owns the tables, or env:NAME (default: url)")
    .option("--server-role <NAME>", "postgres: role of the servers, which is granted what it needs")
    .runs(async () => (await import("./store/migrate.ts")).runStoreMigrate);
}

function addProvider(program: GateCommand): void {
  const provider = group(program, "provider", "List evidence providers and run their checks", [
    "gate provider list",
    "gate provider check time after --param timestamp=2026-01-01T00:00:00Z",
  ]);
  command(provider, "list", "List the providers of a configuration with their checks", [
    "gate provider list",
    "gate provider list --namespace 2",
  ])
    .option("--config <PATH>", CONFIG_FILE)
    .option("--namespace <ID>", "namespace whose active typed providers are included")
    .runs(async () => (await import("./provider/list.ts")).runProviderList);
  command(provider, "check", "Run one check now and show its result", [
    "gate provider check time after --param timestamp=2026-01-01T00:00:00Z",
    "gate provider check json path --param file=a.json --param 'jsonpath=$.failed'",
  ])
    .argument("<provider>", "name of the provider")
    .argument("<check>", "name of the check")
    .option("--config <PATH>", CONFIG_FILE)
    .option("--namespace <ID>", "namespace whose active typed providers are included")
    .asForServe("typed-host", "typed-private", "credentials-dir")
    .option("--param <NAME=VALUE>", "one parameter (repeatable); a value that is not JSON is a string", collect)
    .option("--params <JSON>", "parameters as one JSON object; --param overrides it")
    .option("--trigger-time <MS>", "the time for checks of time, in Unix milliseconds (default: now)")
    .runs(async () => (await import("./provider/check.ts")).runProviderCheck);
  addProviderImport(provider);
}

function addProviderImport(provider: GateCommand): void {
  command(provider, "import", "Make a typed provider from the description of a service", [
    "gate provider import openapi pets.yaml --dry-run",
    "gate provider import openapi pets.yaml --select 'ready=getStatus#/ready'",
    "gate provider import grpc checks.proto --server-url grpc.example.com:443",
  ])
    .withValues({ kind: IMPORT_KINDS })
    .argument("<kind>", "openapi: OpenAPI 3.0 or 3.1 in JSON or YAML; grpc: .proto files or a descriptor set")
    .argument(
      "<file...>",
      "the description: at most 64 MiB, in YAML 8 MiB, as .proto files 2 MiB; only .proto files may be several",
    )
    .option("--provider-id <ID>", "id of the provider (default: the name of the file)")
    .option(
      "--select <OPERATION>",
      "an operation to make a check of (repeatable; default: every usable one), as [CHECK_ID=]OPERATION[#POINTER]",
      collect,
    )
    .option("--server-url <URL>", "address of the service, in place of the description's; of gRPC always, as HOST:PORT")
    .option("--out <DIR>", "folder for contract and profile (default: the current folder)")
    .option("--dry-run", "show the candidates and write no file")
    .option("--force", "replace files that exist")
    .stoppable()
    .runs(async () => (await import("./provider/import.ts")).runProviderImport);
}

function addLogs(program: GateCommand): void {
  const audit = group(program, "audit", "Check audit logs", ["gate audit verify /var/log/gate/audit.jsonl"]);
  command(audit, "verify", "Verify the hash chain of an audit log", [
    "gate audit verify /var/log/gate/audit.jsonl",
    "gate audit verify audit.jsonl.2 audit.jsonl.1 audit.jsonl",
    "gate audit verify --config gate.toml server1/audit.jsonl server2/audit.jsonl",
  ])
    .argument("<file...>", "audit files of one chain, oldest first; with --config of several servers")
    .option("--config <PATH>", "compare with the heads in the database of this configuration")
    .runs(async () => (await import("./audit_verify.ts")).runAuditVerify);
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
    .runs(async () => (await import("./release/verify.ts")).runReleaseVerify);
}

function addExplain(program: GateCommand): void {
  command(program, "explain", "Show what a run is missing and which evidence would count", [
    "gate explain 0123456789abcdef0123456789abcdef",
    "gate explain --json --namespace 2 0123456789abcdef0123456789abcdef",
  ])
    .argument("<run>", "run_id of the run, or its first digits")
    .option("--namespace <N>", "namespace of the run (default: search all)")
    .withConfig()
    .runs(async () => (await import("./run/explain.ts")).runExplain);
}

function addCompletions(program: GateCommand): void {
  command(program, "completions", "Print the completions of a shell: bash, zsh or fish", [
    "source <(gate completions bash)",
    "gate completions zsh > ~/.zfunc/_gate",
    "gate completions fish > ~/.config/fish/completions/gate.fish",
  ])
    .withValues({ shell: SHELLS })
    .argument("<shell>", "bash, zsh or fish")
    .runs(async () => (await import("./terminal/completions.ts")).runCompletions.bind(null, program));
}

/** The topic of `gate help` that is not a command. */
const EXIT_CODES = "exit-codes";

function addHelp(program: GateCommand): void {
  const topics = [...program.commands.map((one) => one.name()), EXIT_CODES];
  command(program, "help", "Explain a command, or the exit codes", [
    "gate help config check",
    "gate help config check --json",
    "gate help exit-codes",
  ])
    .withValues({ topic: topics })
    .argument("[topic...]", "a command, or exit-codes")
    .runs(() => async (named: readonly string[], flags: Flags) => {
      const topic = findTopic(named, topics);
      const [first, extra] = topic;
      if (first === EXIT_CODES) {
        if (extra !== undefined) throw unknownArgument(extra, first);
        return (await import("./terminal/help_exit_codes.ts")).runHelpExitCodes(flags);
      }
      if (flags["json"] === true) writeHelp(program, topic);
      else findCommand(program, topic).outputHelp();
      return EXIT.ok;
    });
}

/**
 * Finds a topic by its name or by a unique prefix; `exit-codes` also by a misspelt name.
 *
 * @param topics The commands of the first level, and `exit-codes`
 */
function findTopic(named: readonly string[], topics: readonly string[]): readonly string[] {
  const [first = "", ...rest] = named;
  if (named.length === 0 || topics.includes(first)) return named;
  const whole = named.join("-");
  const [exact, other] = topics.filter((topic) => topic.startsWith(whole));
  if (exact !== undefined && other === undefined) return [exact];
  const [begun, another] = topics.filter((topic) => topic.startsWith(first));
  if (begun !== undefined && another === undefined && begun !== EXIT_CODES) return [begun, ...rest];
  return nearest(whole, topics) === EXIT_CODES ? [EXIT_CODES] : named;
}

/** Writes the help of a command as JSON. */
function writeHelp(program: GateCommand, topic: readonly string[]): void {
  writeResult("help", describeCommand(findCommand(program, topic), topic));
}

function findCommand(program: GateCommand, topic: readonly string[]): GateCommand {
  return topic.reduce((parent, name) => {
    const found = parent.commands.find((candidate) => candidate.name() === name);
    if (found !== undefined) return found;
    if (parent.commands.length > 0) throw unknownCommand(name, parent);
    throw unknownArgument(name, parent.name());
  }, program);
}

function unknownArgument(name: string, topic: string): CliError {
  return new CliError("usage", `Unknown argument "${name}" after help ${topic}`);
}

/** Converts commander's error to a usage error of this program. */
function usageError(error: CommanderError, program: GateCommand, argv: readonly string[]): CliError {
  if (error.code === "commander.help") return missingCommand(program, argv);
  if (error.code === "commander.unknownCommand") {
    const [first, second] = argv.filter((argument) => !argument.startsWith("-"));
    const group = program.commands.find((candidate) => candidate.name() === first);
    return group === undefined ? unknownCommand(first ?? "", program) : unknownCommand(second ?? "", group);
  }
  const [message = "", suggestion = ""] = error.message.replace(/^error: /, "").replaceAll("'", '"').split("\n");
  const near = /^\(Did you mean (?:one of )?(.*)\?\)$/.exec(suggestion)?.[1];
  const help = `see gate ${[...commandPath(program, argv), "--help"].join(" ")}`;
  const hint = near === undefined ? help : `did you mean ${near.replace(/, ([^,]*)$/, " or $1")}? ${help}`;
  return new CliError("usage", message.charAt(0).toUpperCase() + message.slice(1), hint);
}

/** The names of the command and subcommands at the start of a command line. */
function commandPath(program: GateCommand, argv: readonly string[]): string[] {
  const names: string[] = [];
  let at = program;
  for (const argument of argv) {
    const next = at.commands.find((candidate) => candidate.name() === argument);
    if (next === undefined) break;
    names.push(argument);
    at = next;
  }
  return names;
}

function unknownCommand(name: string, parent: GateCommand): CliError {
  const names = parent.commands.map((candidate) => candidate.name());
  const meant = nearest(name, parent.name() === "gate" ? [...names, EXIT_CODES] : names);
  const hint = meant === null ? `expected one of ${names.join(", ")}` : `did you mean "${meant}"?`;
  return new CliError("usage", `Unknown command "${name}"`, hint);
}

function missingCommand(program: GateCommand, argv: readonly string[]): CliError {
  const group = program.commands.find((candidate) => candidate.name() === argv[0]) ?? program;
  const names = group.commands.map((candidate) => candidate.name());
  return new CliError("usage", `Command is missing after "${group.name()}"`, `expected one of ${names.join(", ")}`);
}
