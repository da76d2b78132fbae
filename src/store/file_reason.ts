/** Reasons of file system errors, as messages for users. */

const WORDS: Readonly<Record<string, string>> = {
  ENOENT: "it does not exist",
  ENOTDIR: "a part of its path is not a folder",
  ELOOP: "its links form a loop",
  EISDIR: "it is a folder",
  EACCES: "permission denied",
  EPERM: "permission denied",
};

/**
 * The reason of a file system error, without the runtime's advice about its own command line; null for any other error.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { fileReason } from "@/store/file_reason.ts";
 *
 * const long = Object.assign(new Error("File name too long (os error 36): stat 'a'"), { code: "ENAMETOOLONG" });
 * assert.equal(fileReason(long), "File name too long");
 * assert.equal(fileReason(new Error("Cannot read it")), null);
 * ```
 */
export function fileReason(error: unknown): string | null {
  if (error instanceof Deno.errors.NotCapable) return "gate has no permission to use it";
  if (!(error instanceof Error)) return null;
  const code = "code" in error ? String(error.code) : "";
  const [, reason] = /^(.*?) \(os error \d+\)/s.exec(error.message) ?? [];
  // The runtime gives no code to some errors of the system, such as an exceeded quota.
  if (reason === undefined && !/^E[A-Z0-9]+$/.test(code)) return null;
  return WORDS[code] ?? reason ?? error.message;
}

/** The reason of any error: {@link fileReason}, else its message. */
export function reasonOf(error: unknown): string {
  return fileReason(error) ?? (error instanceof Error ? error.message : String(error));
}
