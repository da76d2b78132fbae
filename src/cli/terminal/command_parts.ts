/** Builds commands with examples and allowed values, and describes built commands for help and completions. */

import { Command, type Option } from "commander";
import { exitAtSignals } from "../../server/process/signals.ts";
import { SERVE_FLAGS } from "../serve/serve_flags.ts";
import { emptyValue, secondValue } from "./cli_error.ts";

/** The parsed flags that commander passes to an action after the arguments. */
export type Flags = Readonly<Record<string, string | boolean>>;

/** Receives the exit code of the command. */
type Finish = (code: number) => void;

/** Runs a command with its arguments, and then its flags; returns the exit code. */
type Run = (...given: never[]) => number | Promise<number>;

const STREAMS = [Deno.stdin, Deno.stdout, Deno.stderr];

/** The help text of `--config`. */
export const CONFIG_FILE = "configuration file (default: GATE_CONFIG, then ./gate.toml)";

/** A command with examples, allowed values, and an action that returns the exit code. */
export class GateCommand extends Command {
  declare readonly commands: readonly GateCommand[];
  /** The examples below its help. */
  examples: readonly string[] = [];
  /** The allowed values of flags (by `--name`) and arguments (by name). */
  values: Readonly<Record<string, readonly string[]>> = {};
  readonly #finish: Finish;
  #isStoppable = false;

  /** Creates a command; `finish` receives the exit code of its action. */
  constructor(name: string | undefined, finish: Finish) {
    super(name);
    this.#finish = finish;
  }

  /** Creates a subcommand. */
  override createCommand(name?: string): GateCommand {
    return new GateCommand(name, this.#finish);
  }

  /** Creates a flag. Its value is given once, unless the flag collects values. */
  override createOption(flags: string, description?: string): Option {
    const option = super.createOption(flags, description);
    if (!option.required) return option;
    return option.argParser((value: string) => {
      if (this.getOptionValueSource(option.attributeName()) === "cli") throw secondValue(`--${option.name()}`);
      return value;
    });
  }

  /** Adds examples below the help. */
  withExamples(examples: readonly string[]): this {
    this.examples = examples;
    const lines = examples.map((example) => `  ${example.replaceAll("\n", "\n  ")}`);
    return this.addHelpText("after", ["", "Examples:", ...lines].join("\n"));
  }

  /** Sets the allowed values of flags (by `--name`) and arguments (by name). */
  withValues(values: GateCommand["values"]): this {
    this.values = values;
    return this;
  }

  /** Adds flags that mean the same as for `gate serve`, without their dashes. */
  asForServe(...names: readonly string[]): this {
    for (const { name, value, repeatable } of SERVE_FLAGS.filter((flag) => names.includes(flag.name))) {
      const flag = value === null ? `--${name}` : `--${name} <${value}>`;
      if (repeatable === true) this.option(flag, "as for gate serve (repeatable)", collect);
      else this.option(flag, "as for gate serve");
    }
    return this;
  }

  /** Adds the flags that say which configuration and which data folder a command uses. */
  withConfig(): this {
    return this.option("--config <PATH>", CONFIG_FILE).asForServe("data-dir");
  }

  /**
   * Lets a stop signal end the command as an exit does. Not for commands that compute for long without a pause: they
   * would not notice.
   */
  stoppable(): this {
    this.#isStoppable = true;
    return this;
  }

  /** Loads and runs the implementation when the command is called. */
  runs(load: () => Run | Promise<Run>): this {
    return this.action(async (...given) => {
      this.#refuseEmptyValues();
      // The last argument is the command itself.
      const [run, passed] = [await load(), given.slice(0, -1)];
      // The program nohup leaves no stream at a terminal, and has SIGHUP ignored. Listening to it would undo that.
      if (this.#isStoppable) exitAtSignals(Deno.exit, STREAMS.some((stream) => stream.isTerminal()));
      this.#finish(await run(...passed as never[]));
    });
  }

  /** Refuses empty values, such as those of an unset variable in a script. The words of another command may be empty. */
  #refuseEmptyValues(): void {
    for (const option of this.options.filter(({ variadic }) => !variadic)) {
      if ([this.getOptionValue(option.attributeName())].flat().includes("")) throw emptyValue(`--${option.name()}`);
    }
    for (const [index, argument] of this.registeredArguments.entries()) {
      if (this.processedArgs[index] === "") throw emptyValue(`argument "${argument.name()}"`);
    }
  }
}

/** Adds a command with `--json` and examples. */
export function command(parent: GateCommand, name: string, summary: string, examples: readonly string[]): GateCommand {
  return parent.command(name).summary(summary).description(summary).withExamples(examples)
    .option("--json", "write one JSON object, and errors as JSON");
}

/** Adds a command that only groups subcommands. */
export function group(parent: GateCommand, name: string, summary: string, examples: readonly string[]): GateCommand {
  return parent.command(name).summary(summary).description(summary).withExamples(examples)
    .helpCommand(false).usage("COMMAND [options]");
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
export function describeCommand(command: GateCommand, words: readonly string[]): DescribedCommand {
  const { values, examples } = command;
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
    examples,
  };
}

/** Describes a command and all of its subcommands, outer ones first. */
export function describeTree(command: GateCommand, words: readonly string[] = []): DescribedCommand[] {
  const below = command.commands.flatMap((one) => describeTree(one, [...words, one.name()]));
  return [describeCommand(command, words), ...below];
}
