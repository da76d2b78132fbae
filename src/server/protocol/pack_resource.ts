/** Runpacks as MCP resources: `gate://runpacks/{runpack_identity}`, and the parts of their single file. */

import { encodeBase64 } from "../../canonical/base64.ts";
import type { JsonObject } from "../../canonical/json.ts";
import type { ListedTemplate, ResourceBlob, ResourceText } from "./resources.ts";

/** At most the parts of 8 TiB. */
const PACK_URI = /^gate:\/\/runpacks\/([0-9a-f]{64})(?:\/(0|[1-9]\d{0,7}))?$/;

const ARCHIVE_TYPE = "application/x-tar";

/** The templates of runpacks and of their parts. */
export const PACK_TEMPLATES: readonly ListedTemplate[] = [
  {
    uriTemplate: "gate://runpacks/{runpack_identity}",
    name: "runpack",
    title: "A runpack",
    description: "The size of the single file of an exported runpack, and the number of its parts",
    mimeType: "application/json",
  },
  {
    uriTemplate: "gate://runpacks/{runpack_identity}/{part}",
    name: "runpack_part",
    title: "A part of a runpack",
    description: "At most 512 KiB of the single file of a runpack; the first part is 0",
    mimeType: ARCHIVE_TYPE,
  },
];

/** Reads a pack, or a part of it; null where the caller may see none. */
export type ReadPackFile = (identity: string, part: number | null) => Promise<JsonObject | Uint8Array | null>;

/** A pack or a part as a resource; null where the URI names none that the caller may see. */
export async function readPackResource(uri: string, read: ReadPackFile): Promise<ResourceText | ResourceBlob | null> {
  const [, identity, part] = PACK_URI.exec(uri) ?? [];
  if (identity === undefined) return null;
  const found = await read(identity, part === undefined ? null : Number(part));
  if (found === null) return null;
  return found instanceof Uint8Array
    ? { uri, mimeType: ARCHIVE_TYPE, blob: encodeBase64(found) }
    : { uri, mimeType: "application/json", text: JSON.stringify(found) };
}
