/**
 * What every command is made of, and what can be told of a command once it is made.
 *
 * @module
 */

import type { Command } from "commander";

/** What commander hands to an action after the arguments: the flags that were given. */
export type Flags = Readonly<Record<string, string | boolean>>;

/** Takes the exit code of the command that ran. */
export type Finish = (code: number) => void;

/** What the flag `--config` takes, where it stands for the configuration alone. */
export const CONFIG_FILE = "configuration file (default: GATE_CONFIG, then ./gate.toml)";

const EXAMPLES = new WeakMap<Command, readonly string[]>();
const VALUES = new WeakMap<Command, Readonly<Record<string, readonly string[]>>>();

/** A command with its examples. */
export function command(parent: Command, usage: string, summary: string, examples: readonly string[]): Command {
  return withExamples(parent.command(usage).summary(summary).description(summary), examples);
}

/** A command that does nothing itself, but has others below it. */
export function group(parent: Command, name: string, summary: string, examples: readonly string[]): Command {
  return command(parent, name, summary, examples).helpCommand(false).usage("COMMAND [options]");
}

/** The command with examples below its help. */
export function withExamples(added: Command, examples: readonly string[]): Command {
  EXAMPLES.set(added, examples);
  const lines = examples.map((example) => `  ${example.replaceAll("\n", "\n  ")}`);
  return added.addHelpText("after", ["", "Examples:", ...lines].join("\n"));
}

/** The command with `--json`. */
export function withJson(added: Command): Command {
  return added.option("--json", "write one JSON object, and errors as JSON");
}

/** The command with what some of its flags, by `--name`, and its arguments, by name, may be. */
export function withValues(added: Command, values: Readonly<Record<string, readonly string[]>>): Command {
  VALUES.set(added, values);
  return added;
}

/** Takes a flag that may be given more than once. */
export function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}

/** One argument of a command. */
export interface DescribedArgument {
  readonly name: string;
  readonly required: boolean;
  readonly repeatable: boolean;
  readonly description: string;
  /** All that it may be; null where that is no list. */
  readonly values: readonly string[] | null;
}

/** One flag of a command. */
export interface DescribedFlag {
  /** `--name`. */
  readonly name: string;
  /** What it takes, as help shows it; null for a switch. */
  readonly value: string | null;
  readonly description: string;
  /** All that the value may be; null where that is no list. */
  readonly values: readonly string[] | null;
}

/** A command, as `gate help --json` tells it and as shells complete it. */
export interface DescribedCommand {
  /** Its words, as they are typed after `gate`; none for the program itself. */
  readonly words: readonly string[];
  readonly summary: string;
  readonly usage: string;
  readonly arguments: readonly DescribedArgument[];
  readonly flags: readonly DescribedFlag[];
  /** Commands below it. */
  readonly commands: readonly { readonly name: string; readonly summary: string }[];
  readonly examples: readonly string[];
}

/** Describes a command that is called by some words. */
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

/** Every command of a tree, outer ones first. */
export function describeTree(command: Command, words: readonly string[] = []): DescribedCommand[] {
  const below = command.commands.flatMap((one) => describeTree(one, [...words, one.name()]));
  return [describeCommand(command, words), ...below];
}
