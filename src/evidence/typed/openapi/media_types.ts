/** Finds the JSON media type among the contents of a request or a response. */

import { isJsonObject, type JsonObject, member } from "../../../canonical/json.ts";
import { below, type JsonPath } from "../../../canonical/path.ts";
import { type Found, memberOf } from "./document.ts";

/** A media type whose content is JSON. */
export interface JsonMediaType {
  /** For the header `Accept`: without parameters. */
  readonly type: string;
  /** Undefined where the document gives none. */
  readonly schema: Found | undefined;
}

/** Characters of a media type. */
const TYPE_CHARACTERS = 128;

/** The JSON media type to ask for: `application/json`, else the first `+json` type, else a range that covers JSON. */
export function jsonMediaType(content: JsonObject, path: JsonPath): JsonMediaType | null {
  const found = Object.keys(content).sort().flatMap((name) => {
    const rank = rankOf(essenceOf(name));
    return rank === null ? [] : [{ name, rank }];
  }).sort((a, b) => a.rank - b.rank)[0];
  if (found === undefined) return null;
  const essence = essenceOf(found.name);
  const media = member(content, found.name);
  return {
    type: found.rank === RANGE ? "application/json" : essence,
    schema: isJsonObject(media) ? memberOf(media, below(path, found.name), "schema") : undefined,
  };
}

/** The rank of a range, which comes after every named type. */
const RANGE = 2;

function rankOf(essence: string): number | null {
  if (essence === "application/json") return 0;
  if (/^application\/[a-z0-9!#$&^_.+-]+\+json$/.test(essence) && essence.length <= TYPE_CHARACTERS) return 1;
  return essence === "*/*" || essence === "application/*" ? RANGE : null;
}

function essenceOf(name: string): string {
  return (name.split(";")[0] ?? "").trim().toLowerCase();
}
