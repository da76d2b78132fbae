/**
 * What the commands of `gate runpack` share: keys, progress, and how the failures of repositories end a command.
 *
 * @module
 */

import { sha256 } from "../../evidence/host_primitives.ts";
import { ArchiveError } from "../../runpack/format/archive.ts";
import { RepositoryError } from "../../runpack/host/repository.ts";
import { KeyError, type PackSigner, readPackSigner } from "../../runpack/host/signing.ts";
import { PackError } from "../../runpack/walk.ts";
import { CliError, type CliErrorCode } from "../terminal/cli_error.ts";
import { EXIT, type ExitCode } from "../terminal/exit_codes.ts";
import { writeError } from "../terminal/output.ts";

/** Reads a signing key; null where none is named. */
export async function signerOf(path: string | undefined): Promise<PackSigner | null> {
  if (path === undefined) return null;
  try {
    return await readPackSigner(sha256, path);
  } catch (error) {
    if (error instanceof KeyError) throw new CliError("usage", error.message);
    throw error;
  }
}

/** Runs work on packs; what repositories, archives and packs refuse becomes an error of the command. */
export async function onPacks<Result>(work: () => Promise<Result>): Promise<Result> {
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

/** Counts on standard error while somebody watches. */
export interface Progress {
  /** Shows a phase and how many objects it has done. */
  readonly show: (phase: string, objects: number) => void;
  /** Wipes the line. */
  readonly end: () => void;
}

/** Objects between two showings. */
const SHOWN_EVERY = 64;

/** A progress line; silent where standard error is no terminal, and with `--json`. */
export function progressLine(isJson: boolean): Progress {
  if (isJson || !Deno.stderr.isTerminal()) return { show: () => {}, end: () => {} };
  return {
    show: (phase, objects) => {
      if (objects % SHOWN_EVERY === 1) writeError(`\r\x1b[K${phase}: ${objects} objects`);
    },
    end: () => writeError("\r\x1b[K"),
  };
}
