/** `gate provider import`: makes a contract and a runtime profile out of the description of a service. */

import { basename, join, posix, resolve } from "node:path";
import { utf8Length } from "../../canonical/utf8.ts";
import { readBounded } from "../../config/files.ts";
import type { ImportSource } from "../../evidence/typed/import_sandbox.ts";
import {
  createCheckIds,
  IMPORT_LIMITS,
  type ImportCandidate,
  type ImportedProvider,
  type ImportRefusal,
  type ImportResult,
  type ImportSelection,
} from "../../evidence/typed/import_result.ts";
import { reasonOf } from "../../store/file_reason.ts";
import { removedUnlessDone } from "../../store/unfinished.ts";
import { IMPORT_KINDS } from "../terminal/choices.ts";
import { CliError } from "../terminal/cli_error.ts";
import { EXIT } from "../terminal/exit_codes.ts";
import { existsAlready, writeNewFile } from "../terminal/new_file.ts";
import { type JsonFlag, prettyJson, writeError, writeOut, writeResult } from "../terminal/output.ts";
import { columns, shown } from "../terminal/text.ts";

/** The flags of `gate provider import`. */
export interface ProviderImportOptions extends JsonFlag {
  readonly providerId?: string;
  /** Each `[CHECK_ID=]OPERATION[#POINTER]`. */
  readonly select?: readonly string[];
  readonly serverUrl?: string;
  readonly out?: string;
  readonly dryRun?: boolean;
  readonly force?: boolean;
}

/** The files of one import. */
interface WrittenFiles {
  readonly contract_path: string;
  readonly profile_path: string;
}

/** Runs `gate provider import KIND FILE...`. The exit code is 2 where the description gives no contract. */
export async function runProviderImport(
  given: string,
  paths: readonly string[],
  options: ProviderImportOptions,
): Promise<number> {
  const kind = IMPORT_KINDS.find((known) => known === given);
  if (kind === undefined) {
    throw new CliError("usage", `Unknown kind "${given}"`, `expected one of ${IMPORT_KINDS.join(", ")}`);
  }
  const [file = "", ...others] = paths;
  const providerId = providerIdOf(file, options);
  if (others.length > 0 && !(kind === "grpc" && paths.every(isProto))) {
    throw new CliError("usage", `Cannot import ${paths.length} files`, "only .proto files may be several");
  }
  const source: ImportSource = kind === "openapi"
    ? { kind, bytes: await readDescription(file) }
    : isProto(file)
    ? { kind, proto: await readTexts(paths) }
    : { kind, descriptor_set: await readDescription(file) };
  const { importInSandbox } = await import("../../evidence/typed/import_sandbox.ts");
  const result = await importInSandbox(source, {
    provider_id: providerId,
    ...options.select === undefined ? {} : { selection: options.select.map(selectionOf) },
    ...options.serverUrl === undefined ? {} : { server_url: options.serverUrl },
  });
  if (options.json !== true) writeTable(result);
  if (!result.ok) return writeImportRefusal(result, paths, options);
  const files = options.dryRun === true ? null : await writeFiles(result, options);
  if (options.json === true) {
    writeResult("provider import", { ...result, ...files ?? { contract_path: null, profile_path: null } });
  } else if (files === null) writeError(`${countOfChecks(result)}; no file was written\n`);
  else writeNext(result, files);
  return EXIT.ok;
}

/** The id of the flag, else the name of the file without its extension. */
function providerIdOf(
  file: string,
  { providerId = basename(file).replace(/\.[^.]*$/, "") }: ProviderImportOptions,
): string {
  if (createCheckIds().takeExactly(providerId)) return providerId;
  const expected = `expected 1 to ${IMPORT_LIMITS.checkIdBytes} bytes without control characters`;
  throw new CliError(
    "usage",
    `Cannot name the provider "${shown(providerId.slice(0, 64))}": ${expected}`,
    "name it with --provider-id",
  );
}

function isProto(path: string): boolean {
  return path.endsWith(".proto");
}

/** Reads `.proto` files. The path of each, as it was given, is the path by which the others import it. */
async function readTexts(
  paths: readonly string[],
): Promise<readonly { readonly path: string; readonly text: Uint8Array<ArrayBuffer> }[]> {
  const texts: { readonly path: string; readonly text: Uint8Array<ArrayBuffer> }[] = [];
  let left = IMPORT_LIMITS.documentBytes;
  for (const path of paths) {
    const text = await readDescription(path, left);
    left -= text.length;
    texts.push({ path: posix.normalize(path.replaceAll("\\", "/")), text });
  }
  return texts;
}

async function readDescription(file: string, left = IMPORT_LIMITS.documentBytes): Promise<Uint8Array<ArrayBuffer>> {
  const read = await readBounded(resolve(file), left).catch((error: unknown) => {
    throw new CliError("usage", `Cannot read "${file}": ${reasonOf(error)}`);
  });
  // A buffer of its own: it is moved to the worker.
  if ("bytes" in read) return new Uint8Array(read.bytes);
  if (read.fault !== "too_large") {
    const reason = read.fault === "changed" ? "it changed meanwhile" : "it is not a file";
    throw new CliError("usage", `Cannot read "${file}": ${reason}`);
  }
  const others = IMPORT_LIMITS.documentBytes - left;
  const detail = `${read.size} bytes${
    others === 0 ? "" : ` after ${others}`
  }; the most are ${IMPORT_LIMITS.documentBytes}`;
  throw new CliError("limit_exceeded", `Cannot import "${file}": it is too large (${detail})`);
}

/**
 * Reads `[CHECK_ID=]OPERATION[#POINTER]`. A path may contain `=`, so a check id does not begin like `GET /`; an
 * operation id may contain `#`, so a pointer begins with `#/`.
 */
function selectionOf(text: string): ImportSelection {
  const hash = text.indexOf("#/");
  const named = hash < 0 ? text : text.slice(0, hash);
  const equals = /^[A-Z]+ \//.test(named) ? -1 : named.indexOf("=");
  const operation = named.slice(equals + 1);
  if (operation === "") {
    throw new CliError("usage", `Cannot read --select "${text}": expected [CHECK_ID=]OPERATION[#POINTER]`);
  }
  return {
    operation,
    ...equals < 0 ? {} : { check_id: named.slice(0, equals) },
    ...hash < 0 ? {} : { result_pointer: text.slice(hash + 1) },
  };
}

function writeTable({ candidates, warnings }: ImportResult): void {
  if (candidates.length > 0) writeOut(columns([["OPERATION", "METHOD", "CHECK", "REASONS"], ...candidates.map(rowOf)]));
  for (const { code, pointer, message } of warnings) {
    writeError(`gate: warning ${code} ${shown(pointer)}: ${shown(message)}\n`);
  }
}

function rowOf({ operation, method, usable, check_id, reasons }: ImportCandidate): readonly string[] {
  const why = reasons.map(({ code, pointer }) => `${code} ${pointer}`).join(", ");
  return [shown(operation), method, usable ? shown(check_id ?? "(usable)") : "-", shown(why)];
}

function writeImportRefusal(result: ImportRefusal, paths: readonly string[], options: ProviderImportOptions): number {
  if (options.json === true) {
    writeResult("provider import", result, false);
    return result.code === "import_failed" ? EXIT.unexpected : EXIT.usage;
  }
  const at = result.pointer === "" ? "" : `${result.pointer}: `;
  const hint = result.code === "selection_required" ? "repeat --select OPERATION for the checks to make" : null;
  const files = paths.map((path) => `"${path}"`).join(", ");
  throw new CliError("refused", `Cannot import ${files}: ${shown(at)}${shown(result.message)}`, hint);
}

async function writeFiles(
  { contract, profile }: ImportedProvider,
  options: ProviderImportOptions,
): Promise<WrittenFiles> {
  const folder = resolve(options.out ?? ".");
  const name = contract.provider_id.replaceAll(/[^\w.-]/g, "_");
  const contract_path = join(folder, `${name}.contract.json`);
  const profile_path = join(folder, `${name}.profile.json`);
  const force = options.force === true;
  // Both are checked before the first one is written.
  if (!force) { for (const path of [contract_path, profile_path]) await refuseExisting(path); }
  await writeJson(contract_path, contract, force);
  // A contract alone would look like a whole import, and refuse the next one.
  await removedUnlessDone(force ? [] : [contract_path], () => writeJson(profile_path, profile, force));
  return { contract_path, profile_path };
}

const FORCE = "--force replaces it";

async function refuseExisting(path: string): Promise<void> {
  const found = await Deno.lstat(path).catch(() => null);
  if (found !== null) throw existsAlready(path, FORCE);
}

async function writeJson(path: string, value: unknown, force: boolean): Promise<void> {
  const indented = prettyJson(value);
  // Limits count the bytes of the file.
  const text = utf8Length(indented) <= IMPORT_LIMITS.contractBytes ? indented : JSON.stringify(value);
  await writeNewFile(path, text, { createNew: !force, hint: FORCE });
}

function countOfChecks({ contract: { checks } }: ImportedProvider): string {
  return checks.length === 1 ? "1 check" : `${checks.length} checks`;
}

function writeNext(result: ImportedProvider, files: WrittenFiles): void {
  const { contract_path, profile_path } = files;
  writeError(`${countOfChecks(result)} in ${contract_path}\nHow to ask for them in ${profile_path}\n`);
  writeError(`Add to the configuration:\n\n${entryOf(result, files)}`);
}

/** The entry of the configuration; a JSON string is a TOML string. */
function entryOf({ contract, profile }: ImportedProvider, { contract_path, profile_path }: WrittenFiles): string {
  const isCleartext = profile.typed_protocol === "grpc" ? profile.plaintext : profile.base_url.startsWith("http:");
  return [
    "[[providers]]",
    `name = ${JSON.stringify(contract.provider_id)}`,
    'type = "typed"',
    `typed_protocol = "${profile.typed_protocol}"`,
    `capabilities_path = ${JSON.stringify(contract_path)}`,
    `runtime_profile_path = ${JSON.stringify(profile_path)}`,
    ...isCleartext ? ["allow_insecure_http = true"] : [],
    "",
  ].join("\n");
}
