/**
 * The check of `gate doctor` on the file of the audit log.
 *
 * @module
 */

import { dirname } from "node:path";
import { otherAt } from "../../server/audit/file.ts";
import { HeadError, readHead } from "../../server/audit/head.ts";
import { AuditTailError, readTail } from "../../server/audit/tail.ts";
import { fail, type Finding, ok } from "./checks.ts";

/** Checks that the audit log can be opened and continued. The server creates the file, but not its folder. */
export async function checkAudit(path: string): Promise<Finding> {
  const check = "audit log";
  const folder = dirname(path);
  const other = otherAt(path);
  if (other !== null) return fail(check, `${path} cannot be written: ${other}`);
  try {
    const existing = statOrNull(path);
    if (existing === null && statOrNull(folder) === null) return fail(check, `${folder} does not exist`);
    if (existing !== null) {
      using file = Deno.openSync(path, { read: true, append: true });
      if (existing.size > 0) readTail(file, existing.size, path);
    }
    readHead(path);
    await Deno.remove(await Deno.makeTempFile({ dir: folder, prefix: ".gate-doctor-" }));
    return ok(check, `${path} can be written`);
  } catch (error) {
    if (error instanceof AuditTailError || error instanceof HeadError) return fail(check, error.message);
    // The runtime's message advises on flags of its own command line.
    if (error instanceof Deno.errors.NotCapable) return fail(check, `${path} cannot be written: permission denied`);
    return fail(check, `${path} cannot be written: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function statOrNull(path: string): Deno.FileInfo | null {
  try {
    return Deno.statSync(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
}
