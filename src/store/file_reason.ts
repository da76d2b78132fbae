/**
 * Why the system does not give a file, in words for those who named it.
 *
 * @module
 */

const WORDS: Readonly<Record<string, string>> = {
  ENOENT: "it does not exist",
  ENOTDIR: "what stands above it is not a folder",
  ELOOP: "its links lead in a circle",
  EACCES: "permission denied",
  EPERM: "permission denied",
};

/**
 * What an error of the file system says, without the advice that the runtime has for its own command line; null for any other error.
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
  if (error instanceof Deno.errors.NotCapable) return "gate may not use it";
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (!(error instanceof Error) || !/^E[A-Z0-9]+$/.test(code)) return null;
  return WORDS[code] ?? error.message.replace(/ \(os error \d+\).*$/s, "");
}
