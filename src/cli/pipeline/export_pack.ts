/** Exports the run of `gate run` as a runpack in a single file. */

import { join } from "node:path";
import { isJsonObject, member } from "../../canonical/json.ts";
import { replaceArchive } from "../../runpack/host/archive_file.ts";
import type { RunKey } from "../../run/types.ts";
import { fileReason } from "../../store/file_reason.ts";
import { removedUnlessDone } from "../../store/unfinished.ts";
import { withPackErrors } from "../runpack/session.ts";
import { mustCall, refusedCall, type ToolSession } from "../session/tool_session.ts";
import { CliError } from "../terminal/cli_error.ts";
import { publishedContents } from "../runpack/export.ts";

/**
 * Publishes a run in the data folder, and copies the runpack to a file, which it replaces. The file is complete at
 * every moment. A link to a file stays, and so does what is no file, such as a device.
 *
 * @returns The runpack identity
 */
export async function exportPack(session: ToolSession, runKey: RunKey, dataDir: string, file: string): Promise<string> {
  const found = await Deno.stat(file).catch(() => null);
  if (found?.isFile === false) throw new CliError("usage", `Cannot write --export "${file}": it is not a file`);
  const answer = await mustCall(session, "runpack_export", { ...runKey });
  const publication = member(answer, "publication") ?? null;
  const identity = isJsonObject(publication) ? member(publication, "runpack_identity") : undefined;
  if (!isJsonObject(publication) || member(publication, "outcome") !== "published" || typeof identity !== "string") {
    throw refusedCall("runpack_export", answer);
  }
  await withPackErrors(async () => {
    const contents = await publishedContents(dataDir, identity);
    await replaceArchive(found === null ? file : await Deno.realPath(file), contents).catch((error) => {
      const reason = fileReason(error);
      throw reason === null ? error : new CliError("usage", `Cannot write --export "${file}": ${reason}`);
    });
  });
  return identity;
}

/** Runs a body with a folder for runpacks that is removed afterwards. */
export async function withTemporaryData<Result>(body: (dataDir: string) => Promise<Result>): Promise<Result> {
  const folder = await Deno.makeTempDir({ prefix: "gate_run_" });
  return await removedUnlessDone([folder], async () => {
    const result = await body(join(folder, "data"));
    await Deno.remove(folder, { recursive: true });
    return result;
  });
}
