/**
 * What the host and the worker that verifies and exports runpacks say to each other. A job is one verification or one export;
 * what a job needs of the host it asks for, and waits for the answer.
 *
 * @module
 */

import type { ExportSource } from "../../runpack/export.ts";
import type { ExportErrorCode } from "../../runpack/format/objects.ts";
import type { VerificationRequest } from "../../runpack/verify/types.ts";

/** Work for the worker. */
export type PackWork =
  | { readonly kind: "verify"; readonly root: string; readonly request: VerificationRequest }
  | { readonly kind: "export"; readonly source: Omit<ExportSource, "records" | "artifact"> };

/** What the worker is told. */
export type PackOrder =
  | { readonly order: "begin"; readonly job: number; readonly work: PackWork }
  /** The answer to a question of the job; without `ok` the host has none, and the job ends. */
  | { readonly order: "answer"; readonly job: number; readonly ok: boolean; readonly value: unknown }
  /** Nobody waits for the job any more. */
  | { readonly order: "cancel"; readonly job: number };

/** What a job asks of the host, with its arguments. */
export type PackQuestion =
  | { readonly name: "records"; readonly after: number; readonly limit: number }
  | { readonly name: "artifact"; readonly identity: string }
  /** Takes an object of the pack; answered once it is taken. */
  | { readonly name: "object"; readonly identity: string; readonly bytes: Uint8Array }
  | { readonly name: "schema"; readonly identity: string; readonly schema: string; readonly value: string };

/** What the worker says. */
export type PackReport =
  | { readonly report: "asks"; readonly job: number; readonly question: PackQuestion }
  | { readonly report: "done"; readonly job: number; readonly value: unknown }
  | {
    readonly report: "failed";
    readonly job: number;
    /** Of an export that cannot be; null for anything else. */
    readonly code: ExportErrorCode | null;
    readonly message: string;
  };
