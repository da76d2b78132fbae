/**
 * Reads scenario files in YAML, TOML or JSON as strictly as the server reads JSON, with the position of every value.
 */

import { basename, extname, isAbsolute } from "node:path";
import { isJsonObject, type JsonValue, member } from "../../canonical/json.ts";
import { formatPath } from "../../canonical/path.ts";
import { CliError } from "../terminal/cli_error.ts";
import { readAtMost, withoutByteOrderMark } from "../../config/files.ts";
import { reasonOf } from "../../store/file_reason.ts";
import type { LawNames } from "../../law/words.ts";
import type { CompileResult } from "../../scenario/law_file.ts";
import { expandShortForm } from "../../scenario/short_form.ts";
import {
  isLawFile,
  type Locator,
  type Position,
  type ReadSource,
  type SourceFault,
  type Steps,
} from "../../scenario/source_position.ts";

/** A parsed document with its file. */
export interface Source {
  readonly file: string;
  readonly value: JsonValue;
  readonly locate: Locator["locate"];
  /** Converts steps in the value to steps in the file, which differ in a law file. */
  readonly inFile: (steps: Steps) => Steps;
  /** Of a law file: its names, what the compiler warns of, and the line of a position with a mark below it. */
  readonly names?: LawNames;
  readonly warnings?: readonly SourceFault[];
  readonly excerpt?: (position: Position) => string;
  /** Where a spec in short form first has it. */
  readonly short?: Steps;
}

/** A document as the reader of its format returned it. */
type ReadDocument = Extract<ReadSource, { ok: true }>;

/** A document, or the fault of its file. */
export type SourceResult =
  | { readonly ok: true; readonly source: Source }
  | {
    readonly ok: false;
    readonly file: string;
    readonly fault: SourceFault;
    /** Further faults of a law file. */
    readonly more?: readonly SourceFault[];
  };

/** Maximum bytes of a scenario or cases file. */
export const SOURCE_BYTES_MAXIMUM = 4 * 1024 * 1024;

/** The file name extensions of the formats. */
export const SOURCE_EXTENSIONS = [".yaml", ".yml", ".toml", ".json"] as const;

/**
 * Reads a file in the format of its extension.
 *
 * @throws {CliError} If it cannot be read, is too large, or has another extension
 */
export async function readSource(file: string): Promise<SourceResult> {
  const read = await readDocument(file);
  return read.ok ? { ok: true, source: sourceOf(file, read) } : { ok: false, file, fault: read.fault };
}

async function readDocument(file: string): Promise<ReadSource> {
  const extension = extname(file).toLowerCase();
  return await readFormat(extension, await readBytes(file), file);
}

function sourceOf(file: string, read: ReadDocument): Source {
  let located: Locator | null = null;
  // Positions are computed on first use, because most files have no faults.
  const locate: Locator["locate"] = (steps, part) => (located ??= read.locator()).locate(steps, part);
  return { file, value: read.value, locate, inFile: (steps) => steps };
}

/**
 * Reads a law file, a spec in long form, or the arguments of `scenario_define`, whose only member is `spec`. The source
 * has the long form.
 *
 * @param namespaceId The namespace of a law file that names none
 * @throws {CliError} As {@link readSource}
 */
export async function readSpec(file: string, namespaceId?: number): Promise<SourceResult> {
  const read = await readOldSpec(file, namespaceId);
  if (!read.ok || read.source.short === undefined) return read;
  const message = `The short form is not read any more; convert the file: gate scenario write ${file}`;
  const position = read.source.locate(read.source.short, "name");
  return { ok: false, file, fault: { code: "short_form", path: "$", message, position } };
}

/** Reads a spec as {@link readSpec}, also in the short form that law files replaced. */
export async function readOldSpec(file: string, namespaceId?: number): Promise<SourceResult> {
  const read = await readDocument(file);
  if (!read.ok) return { ok: false, file, fault: read.fault };
  const source = sourceOf(file, read);
  const { value, locate } = source;
  if (isLawFile(value)) return await compiled(file, read, namespaceId);
  const spec = isJsonObject(value) && !Object.hasOwn(value, "stages") ? member(value, "spec") : undefined;
  if (!isJsonObject(value) || spec === undefined) return inLongForm(source);
  const other = Object.keys(value).find((name) => name !== "spec");
  if (other === undefined) {
    return inLongForm({ ...source, value: spec, locate: (steps, part) => locate(["spec", ...steps], part) });
  }
  const message = `Member ${JSON.stringify(other)} is unknown; expected only "spec"`;
  const position = locate([other], "name");
  return { ok: false, file, fault: { code: "member_unknown", message, path: formatPath([other]), position } };
}

/** A law file, compiled. */
async function compiled(file: string, read: ReadDocument, namespaceId: number | undefined): Promise<SourceResult> {
  const { compileLaw } = await import("../../scenario/law_file.ts");
  return resultOf(file, compileLaw(read, namespaceId));
}

/**
 * The law of one expression, from `--when`.
 *
 * @param namespaceId Its namespace
 */
export async function inlineSpec(expression: string, namespaceId?: number): Promise<SourceResult> {
  const { inlineLaw } = await import("../../scenario/law_file.ts");
  return resultOf("--when", inlineLaw(expression, namespaceId));
}

function resultOf(file: string, result: CompileResult): SourceResult {
  if (result.ok) return { ok: true, source: { ...result.file, file, value: result.file.spec } };
  const [fault, ...more] = result.faults as readonly [SourceFault, ...SourceFault[]];
  return { ok: false, file, fault, more };
}

/** A source with the long form of its spec. */
function inLongForm(source: Source): SourceResult {
  const { value, short } = expandShortForm(source.value);
  return { ok: true, source: { ...source, value, ...short === null ? {} : { short } } };
}

async function readBytes(file: string): Promise<Uint8Array> {
  const bytes = await readAtMost(file, SOURCE_BYTES_MAXIMUM).catch((error: unknown) => {
    // A relative name says nothing without the folder that it is relative to.
    const isRelative = error instanceof Deno.errors.NotFound && !isAbsolute(file);
    const folder = isRelative ? ` in "${Deno.cwd()}"` : "";
    throw new CliError("usage", `Cannot read "${file}": ${reasonOf(error)}${folder}`);
  });
  if (bytes.length <= SOURCE_BYTES_MAXIMUM) return withoutByteOrderMark(bytes);
  throw new CliError("usage", `Cannot read "${file}": it has more than ${SOURCE_BYTES_MAXIMUM} bytes`);
}

async function readFormat(extension: string, bytes: Uint8Array, file: string): Promise<ReadSource> {
  switch (extension) {
    case ".json":
      return (await import("../../scenario/source_json.ts")).readJsonSource(bytes);
    case ".yaml":
    case ".yml":
      return (await import("../../scenario/source_yaml.ts")).readYamlSource(bytes);
    case ".toml":
      return (await import("../../scenario/source_toml.ts")).readTomlSource(bytes);
    default: {
      const hint = `expected a name that ends in one of ${SOURCE_EXTENSIONS.join(", ")}`;
      throw new CliError("usage", `Unknown format of "${basename(file)}"`, hint);
    }
  }
}
