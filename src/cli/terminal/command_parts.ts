/**
 * Builds commands with examples and allowed values, and describes built commands for help and completions.
 *
 * @module
 */

import type { Command } from "commander";

/** The parsed flags that commander passes to an action after the arguments. */
export type Flags = Readonly<Record<string, string | boolean>>;

/** Receives the exit code of the command. */
export type Finish = (code: number) => void;

/** The help text of `--config`. */
export const CONFIG_FILE = "configuration file (default: GATE_CONFIG, then ./gate.toml)";

const EXAMPLES = new WeakMap<Command, readonly string[]>();
const VALUES = new WeakMap<Command, Readonly<Record<string, readonly string[]>>>();

/** Adds a command with examples. */
export function command(parent: Command, usage: string, summary: string, examples: readonly string[]): Command {
  return withExamples(parent.command(usage).summary(summary).description(summary), examples);
}

/** Adds a command that only groups subcommands. */
export function group(parent: Command, name: string, summary: string, examples: readonly string[]): Command {
  return command(parent, name, summary, examples).helpCommand(false).usage("COMMAND [options]");
}

/** Adds examples below the help of a command. */
export function withExamples(added: Command, examples: readonly string[]): Command {
  EXAMPLES.set(added, examples);
  const lines = examples.map((example) => `  ${example.replaceAll("\n", "\n  ")}`);
  return added.addHelpText("after", ["", "Examples:", ...lines].join("\n"));
}

/** Adds `--json` to a command. */
export function withJson(added: Command): Command {
  return added.option("--json", "write one JSON object, and errors as JSON");
}

/** Sets the allowed values of flags (by `--name`) and arguments (by name). */
export function withValues(added: Command, values: Readonly<Record<string, readonly string[]>>): Command {
  VALUES.set(added, values);
  return added;
}

/** Collects the values of a repeatable flag. */
export function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}

/** One argument of a command. */
export interface DescribedArgument {
  readonly name: string;
  readonly required: boolean;
  readonly repeatable: boolean;
  readonly description: string;
  /** The allowed values; null for free text. */
  readonly values: readonly string[] | null;
}

/** One flag of a command. */
export interface DescribedFlag {
  /** `--name`. */
  readonly name: string;
  /** The name of its value in help; null for a switch. */
  readonly value: string | null;
  readonly description: string;
  /** The allowed values; null for free text. */
  readonly values: readonly string[] | null;
}

/** The description of a command for `gate help --json` and shell completions. */
export interface DescribedCommand {
  /** The words that are typed after `gate`; empty for the program itself. */
  readonly words: readonly string[];
  readonly summary: string;
  readonly usage: string;
  readonly arguments: readonly DescribedArgument[];
  readonly flags: readonly DescribedFlag[];
  /** Its subcommands. */
  readonly commands: readonly { readonly name: string; readonly summary: string }[];
  readonly examples: readonly string[];
}

/** Describes the command with these words. */
export function describeCommand(command: Command, words: readonly string[]): DescribedCommand {
  const values = VALUES.get(command) ?? {};
  return {
    words,
    summary: command.summary(),
    usage: ["gate", ...words, command.usage()].join(" "),
    arguments: command.registeredArguments.map((argument) => ({
      name: argument.name(),
      required: argument.required,
      repeatable: argument.variadic,
      description: argument.description,
      values: values[argument.name()] ?? null,
    })),
    flags: command.createHelp().visibleOptions(command).map(({ long, flags, description }) => ({
      name: long ?? flags,
      value: /[<[](.*)[>\]]/.exec(flags)?.[1] ?? null,
      description,
      values: values[long ?? flags] ?? null,
    })),
    commands: command.commands.map((one) => ({ name: one.name(), summary: one.summary() })),
    examples: EXAMPLES.get(command) ?? [],
  };
}

/** Describes a command and all of its subcommands, outer ones first. */
export function describeTree(command: Command, words: readonly string[] = []): DescribedCommand[] {
  const below = command.commands.flatMap((one) => describeTree(one, [...words, one.name()]));
  return [describeCommand(command, words), ...below];
}
