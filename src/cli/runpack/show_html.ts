import { HOST_PRIMITIVES } from "../../evidence/host_primitives.ts";
import type { PackView, PartView } from "../../runpack/material_view.ts";
import type { Examination } from "../../runpack/verify/verify.ts";
import { PAGE_RECORDS, renderDocument } from "../../runpack/view/page.ts";
import { writeNewFile } from "../terminal/new_file.ts";

/**
 * Writes the page.
 *
 * @param path The file, which must not exist
 * @param all Whether to show every record
 * @throws {CliError} `file_exists`; `usage` if the folder does not exist or cannot be written
 */
export async function writePage(
  path: string,
  view: PackView | PartView,
  examination: Examination,
  all: boolean,
): Promise<void> {
  const records = all ? Number.MAX_SAFE_INTEGER : PAGE_RECORDS;
  const page = renderDocument(HOST_PRIMITIVES.sha256, { examination, view, records });
  await writeNewFile(path, page);
}
