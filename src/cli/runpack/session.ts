/** Shared by the commands of `gate runpack`: signing keys, progress, and the errors of repositories and packs. */

import { sha256 } from "../../evidence/host_primitives.ts";
import { ArchiveError } from "../../runpack/format/archive.ts";
import { RepositoryError } from "../../runpack/host/repository.ts";
import { KeyError, type PackSigner, readPackSigner } from "../../runpack/host/signing.ts";
import { PackError } from "../../runpack/walk.ts";
import { CliError, type CliErrorCode } from "../terminal/cli_error.ts";
import { EXIT, type ExitCode } from "../terminal/exit_codes.ts";
import { writeError } from "../terminal/output.ts";

/** Reads the signing key of a flag; null without the flag. */
export async function signerOf(path: string | undefined): Promise<PackSigner | null> {
  if (path === undefined) return null;
  try {
    return await readPackSigner(sha256, path);
  } catch (error) {
    if (error instanceof KeyError) throw new CliError("usage", error.message);
    throw error;
  }
}

/** Why a server is given no key, and what to do. */
export const SERVER_SIGNS = "Flag --server names a running server, which signs with its own key: omit --signing-key";
export const SIGN_FILE = "gate runpack sign signs the file";

/** Runs work on packs, and converts errors of repositories, archives and packs to {@link CliError}. */
export async function withPackErrors<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof RepositoryError) {
      throw error.code === "integrity_failure"
        ? packError("integrity_failure", error.message, EXIT.verificationFailed)
        : packError("repository_unavailable", error.message, EXIT.unreachable);
    }
    if (error instanceof PackError || error instanceof ArchiveError) {
      throw packError("runpack_invalid", error.message, EXIT.verificationFailed);
    }
    throw error;
  }
}

function packError(code: CliErrorCode, message: string, exitCode: ExitCode): CliError {
  return new CliError(code, message, null, exitCode);
}

/** A progress display on standard error. */
export interface Progress {
  /** Shows a phase and its number of finished objects. */
  readonly show: (phase: string, objects: number) => void;
  /** Clears the line. */
  readonly end: () => void;
}

/** Objects between two updates of the display. */
const UPDATE_OBJECTS = 64;

/** A progress line; silent with `--json`, and if standard error is not a terminal. */
export function progressLine(isJson: boolean): Progress {
  if (isJson || !Deno.stderr.isTerminal()) return { show: () => {}, end: () => {} };
  return {
    show: (phase, objects) => {
      if (objects % UPDATE_OBJECTS === 1) writeError(`\r\x1b[K${phase}: ${objects} objects`);
    },
    end: () => writeError("\r\x1b[K"),
  };
}
