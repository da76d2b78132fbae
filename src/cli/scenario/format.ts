import { extname } from "node:path";
import { decodeUtf8Strict } from "../../canonical/scan.ts";
import { readInput } from "../terminal/input.ts";
import { formatLaw } from "../../scenario/law_file.ts";
import { isLawFile } from "../../scenario/source_position.ts";
import { readYamlSource } from "../../scenario/source_yaml.ts";
import { reasonOf } from "../../store/file_reason.ts";
import { CliError } from "../terminal/cli_error.ts";
import { EXIT } from "../terminal/exit_codes.ts";
import { writeNewFile } from "../terminal/new_file.ts";
import { type JsonFlag, writeAnswer } from "../terminal/output.ts";
import { SOURCE_BYTES_MAXIMUM } from "./source.ts";

/** The flags of `gate scenario format`. */
export interface ScenarioFormatFlags extends JsonFlag {
  readonly check?: boolean;
}

/** Runs `gate scenario format`. Returns 3 with `--check` if a file has another layout, 2 if one is no law file in YAML. */
export async function runScenarioFormat(files: readonly string[], flags: ScenarioFormatFlags): Promise<number> {
  const read = [];
  for (const file of files) read.push(await readFormatted(file));
  const changed = read.filter(({ text, formatted }) => text !== formatted);
  const names = changed.map(({ file }) => file);
  const printed = read.filter(({ file }) => file === "-").map(({ formatted }) => formatted).join("");
  if (flags.check !== true) {
    for (const { file, formatted } of changed) {
      if (file !== "-") await writeNewFile(file, formatted, { createNew: false });
    }
  }
  const text = flags.check === true ? names.map((file) => `${file}: has another layout\n`).join("") : printed;
  const exitCode = flags.check === true && names.length > 0 ? EXIT.evaluatedFalse : EXIT.ok;
  return writeAnswer("scenario format", flags, { files: [...files], changed: names }, text, { exitCode });
}

async function readFormatted(
  file: string,
): Promise<{ readonly file: string; readonly text: string; readonly formatted: string }> {
  const refuse = (reason: string): CliError => new CliError("usage", `Cannot format "${file}": ${reason}`);
  if (file !== "-" && ![".yaml", ".yml"].includes(extname(file).toLowerCase())) throw refuse("expected a file in YAML");
  const bytes = await readInput(file, SOURCE_BYTES_MAXIMUM).catch((error: unknown) => {
    throw refuse(reasonOf(error));
  });
  const text = bytes === null ? null : decodeUtf8Strict(bytes);
  if (bytes === null || text === null) throw refuse(`expected UTF-8 of at most ${SOURCE_BYTES_MAXIMUM} bytes`);
  const read = readYamlSource(bytes);
  if (!read.ok) {
    const { position: { line, column }, message } = read.fault;
    throw refuse(`${line}:${column}: ${message}`);
  }
  if (!isLawFile(read.value)) throw refuse('expected a law file, with the member "law"');
  return { file, text, formatted: formatLaw(text) };
}
