/**
 * The messages between the host and the worker that verifies and exports runpacks. A job is one verification or one
 * export. A job requests data of the host by a question, and waits for the answer.
 */

import type { ExportSource } from "../../runpack/export.ts";
import type { ExportErrorCode } from "../../runpack/format/objects.ts";
import type { VerificationRequest } from "../../runpack/verify/types.ts";

/** Work for the worker. */
export type PackWork =
  | { readonly kind: "verify"; readonly root: string; readonly request: VerificationRequest }
  | { readonly kind: "export"; readonly source: Omit<ExportSource, "records" | "artifact"> };

/** A message to the worker. */
export type PackOrder =
  | { readonly order: "begin"; readonly job: number; readonly work: PackWork }
  /** The answer to a question of the job; with `ok` false the host failed, and the job ends. */
  | { readonly order: "answer"; readonly job: number; readonly ok: boolean; readonly value: unknown }
  /** The result of the job is no longer needed. */
  | { readonly order: "cancel"; readonly job: number };

/** A request of a job to the host, with its arguments. */
export type PackQuestion =
  | { readonly name: "records"; readonly after: number; readonly limit: number }
  | { readonly name: "artifact"; readonly identity: string }
  /** Delivers an object of the pack; answered once the host has consumed it. */
  | { readonly name: "object"; readonly identity: string; readonly bytes: Uint8Array }
  | { readonly name: "schema"; readonly identity: string; readonly schema: string; readonly value: string };

/** A message of the worker. */
export type PackReport =
  | { readonly report: "asks"; readonly job: number; readonly question: PackQuestion }
  | { readonly report: "done"; readonly job: number; readonly value: unknown }
  | {
    readonly report: "failed";
    readonly job: number;
    /** The code of a failed export; null for any other failure. */
    readonly code: ExportErrorCode | null;
    readonly message: string;
  };
