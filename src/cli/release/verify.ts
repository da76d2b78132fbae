/** `gate release verify`: compares the files of a release folder with the list that its provenance signs. */

import { createHash } from "node:crypto";
import { join } from "node:path";

import { compareCodePoints } from "../../canonical/order.ts";
import { decodeUtf8Strict } from "../../canonical/scan.ts";
import { readAtMost } from "../../config/files.ts";
import { countOf } from "../../config/problems.ts";
import { HOST_PRIMITIVES } from "../../evidence/host_primitives.ts";
import { decodeEnvelope, PAYLOAD_TYPE, preAuthenticationEncoding } from "../../runpack/format/dsse.ts";
import { SIGNATURE_BYTES } from "../../runpack/format/types.ts";
import { reasonOf } from "../../store/file_reason.ts";
import { readTrustedKeys, rejectPrivateKeys } from "../runpack/trust.ts";
import { CliError } from "../terminal/cli_error.ts";
import { EXIT, type ExitCode } from "../terminal/exit_codes.ts";
import { type JsonFlag, writeOut, writeResult } from "../terminal/output.ts";
import { refuseRuntimeTelemetry } from "../terminal/runtime_telemetry.ts";
import { shown } from "../terminal/text.ts";
import {
  decodeProvenance,
  decodeSums,
  type Digests,
  PROVENANCE_FILE,
  RELEASE_FILES,
  SUMS_FILE,
} from "../../runpack/format/release_provenance.ts";

/** The flags of `gate release verify`. */
export interface ReleaseVerifyFlags extends JsonFlag {
  readonly trustedKey?: readonly string[];
  readonly originUnchecked?: boolean;
}

/** One difference between the folder and its lists. */
interface Difference {
  /** The file's name. */
  readonly file: string;
  readonly difference: "changed" | "missing" | "not_listed" | "not_a_file" | "invalid";
  readonly reason: string;
}

interface ReleaseReport {
  readonly files: number;
  /** The commit that the release was built from, as its provenance names it. */
  readonly commit: string | null;
  readonly origin: "signed" | "not_signed" | "unchecked";
  readonly differences: readonly Difference[];
}

const SUMS_BYTES = RELEASE_FILES * 256;

/** Runs `gate release verify DIR`. Returns 0 where every file is the listed one and a trusted key signed the list, else 6. */
export async function runReleaseVerify(folder: string, flags: ReleaseVerifyFlags): Promise<ExitCode> {
  refuseRuntimeTelemetry();
  const paths = flags.trustedKey ?? [];
  if ((paths.length === 0) !== (flags.originUnchecked === true)) {
    const message = "Cannot verify: name the key of the release with --trusted-key, or pass --origin-unchecked";
    throw new CliError("usage", message);
  }
  const keys = await readTrustedKeys(paths);
  const names = namesIn(folder);
  const envelope = await read(folder, PROVENANCE_FILE, SIGNATURE_BYTES);
  rejectPrivateKeys(keys, envelope === null ? [] : [envelope]);
  const report = await compare(folder, names, envelope, keys.map(({ key }) => key));
  const isSound = report.differences.length === 0 && report.origin !== "not_signed";
  if (flags.json === true) writeResult("release verify", { ...report }, isSound);
  else show(folder, report);
  return isSound ? EXIT.ok : EXIT.verificationFailed;
}

function namesIn(folder: string): ReadonlyMap<string, Deno.DirEntry> {
  try {
    return new Map([...Deno.readDirSync(folder)].map((entry) => [entry.name, entry]));
  } catch (error) {
    throw new CliError("usage", `Cannot read release "${folder}": ${reasonOf(error)}`);
  }
}

/** The bytes of a file; null where it is missing or no plain file. */
async function read(folder: string, name: string, maximumBytes: number): Promise<Uint8Array | null> {
  try {
    if (!Deno.lstatSync(join(folder, name)).isFile) return null;
    return await readAtMost(join(folder, name), maximumBytes);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
}

async function compare(
  folder: string,
  names: ReadonlyMap<string, Deno.DirEntry>,
  envelope: Uint8Array | null,
  keys: readonly Uint8Array[],
): Promise<ReleaseReport> {
  const differences: Difference[] = [];
  const invalid = (file: string, reason: string): void =>
    void differences.push({ file, difference: "invalid", reason });
  const decoded = envelope === null ? null : decodeEnvelope(envelope);
  if (decoded === null) invalid(PROVENANCE_FILE, "it is missing, or not a DSSE envelope with an in-toto payload");
  const provenance = decoded === null ? null : decodeProvenance(decoded.payload);
  if (typeof provenance === "string") invalid(PROVENANCE_FILE, provenance);
  const signed = provenance === null || typeof provenance === "string" ? null : provenance;
  const sums = await readSums(folder);
  if (typeof sums === "string") invalid(SUMS_FILE, sums);
  else if (signed !== null) differences.push(...listDifferences(sums, signed.digests));
  const listed = signed?.digests ?? (typeof sums === "string" ? new Map<string, string>() : sums);
  differences.push(...await fileDifferences(folder, names, listed));
  const isSigned = decoded !== null && keys.some((key) => {
    const text = preAuthenticationEncoding(PAYLOAD_TYPE, decoded.payload);
    return decoded.signatures.some((signature) => HOST_PRIMITIVES.verifyEd25519(key, text, signature));
  });
  const origin = keys.length === 0 ? "unchecked" : isSigned ? "signed" : "not_signed";
  return { files: listed.size, commit: signed?.commit ?? null, origin, differences };
}

async function readSums(folder: string): Promise<Digests | string> {
  const bytes = await read(folder, SUMS_FILE, SUMS_BYTES);
  const text = bytes === null || bytes.length > SUMS_BYTES ? null : decodeUtf8Strict(bytes);
  return text === null ? "it is missing, or not a short text" : decodeSums(text);
}

/** `SHA256SUMS` lists what the provenance lists, apart from itself. */
function listDifferences(sums: Digests, signed: Digests): readonly Difference[] {
  const names = new Set([...sums.keys(), ...signed.keys()]);
  names.delete(SUMS_FILE);
  const differing = [...names].filter((name) => sums.get(name) !== signed.get(name)).sort(compareCodePoints);
  return differing.map((name) => ({
    file: SUMS_FILE,
    difference: "invalid",
    reason: `its digest of ${name} is not that of the signed provenance`,
  }));
}

async function fileDifferences(
  folder: string,
  names: ReadonlyMap<string, Deno.DirEntry>,
  listed: Digests,
): Promise<readonly Difference[]> {
  const differences: Difference[] = [];
  for (const [file, digest] of listed) {
    const entry = names.get(file);
    if (entry === undefined) differences.push({ file, difference: "missing", reason: "it is listed, but missing" });
    else if (!entry.isFile) differences.push({ file, difference: "not_a_file", reason: "it is not a plain file" });
    else if (await digestOf(join(folder, file)) !== digest) {
      differences.push({ file, difference: "changed", reason: "its bytes differ from the listed digest" });
    }
  }
  // The provenance cannot list itself; without it, SHA256SUMS is not listed either.
  const others = [...names.keys()].filter((name) =>
    !listed.has(name) && name !== PROVENANCE_FILE && name !== SUMS_FILE
  );
  const unlisted = others.sort(compareCodePoints)
    .map((file): Difference => ({ file, difference: "not_listed", reason: "it is in the folder, but not listed" }));
  return [...differences, ...unlisted];
}

async function digestOf(path: string): Promise<string> {
  const hash = createHash("sha256");
  using file = await Deno.open(path);
  for await (const chunk of file.readable) hash.update(chunk);
  return hash.digest("hex");
}

function show(folder: string, { files, commit, origin, differences }: ReleaseReport): void {
  for (const { file, reason } of differences) writeOut(`${shown(file)}: ${reason}\n`);
  const origins = {
    signed: "signed by a trusted key",
    not_signed: "NOT signed by a trusted key",
    unchecked: "its origin was not checked",
  };
  const what = differences.length === 0
    ? `${files} files are the listed ones`
    : countOf(differences.length, "difference");
  const built = commit === null ? "" : `, built from commit ${shown(commit)}`;
  writeOut(`${shown(folder)}: ${what}; ${origins[origin]}${built}\n`);
}
