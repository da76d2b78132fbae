/** Exports the run of `gate run` as a runpack in a single file. */

import { join } from "node:path";
import { replaceArchive } from "../../runpack/host/archive_file.ts";
import type { PackContents } from "../../runpack/host/contents.ts";
import type { RunKey } from "../../run/types.ts";
import { fileReason } from "../../store/file_reason.ts";
import { removedUnlessDone } from "../../store/unfinished.ts";
import { withPackErrors } from "../runpack/session.ts";
import type { ToolSession } from "../session/tool_session.ts";
import { CliError } from "../terminal/cli_error.ts";
import { publishRun, withDownload } from "../runpack/download.ts";
import { publishedContents } from "../runpack/export.ts";

/**
 * Publishes a run, and copies the runpack to a file, which it replaces. The file is complete at every moment. A link to
 * a file stays, and so does what is no file, such as a device.
 *
 * @param dataDir The folder of runpacks; null where the session is that of a server
 * @returns The runpack identity
 */
export async function exportPack(
  session: ToolSession,
  runKey: RunKey,
  dataDir: string | null,
  file: string,
): Promise<string> {
  const found = await Deno.stat(file).catch(() => null);
  if (found?.isFile === false) throw new CliError("usage", `Cannot write --export "${file}": it is not a file`);
  const identity = await publishRun(session, runKey);
  await withPackErrors(async () => {
    const path = found === null ? file : await Deno.realPath(file);
    const write = (contents: PackContents): Promise<string> =>
      replaceArchive(path, contents).catch((error) => {
        const reason = fileReason(error);
        throw reason === null ? error : new CliError("usage", `Cannot write --export "${file}": ${reason}`);
      });
    if (dataDir === null) await withDownload(session.resource, identity, path, write);
    else await write(await publishedContents(dataDir, identity));
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
