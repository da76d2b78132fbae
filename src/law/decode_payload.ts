/** Reads payloads of entry packets, submissions and a declared genesis. */

import { decodeBase64 } from "../canonical/base64.ts";
import type { JsonValue } from "../canonical/json.ts";
import { utf8Length } from "../canonical/utf8.ts";
import { isJsonContentType, isMediaType } from "./content_type.ts";
import { closedSchema, contentHash, named, oneOf, readMember, readObject, shape } from "../canonical/shape.ts";
import {
  objectOf,
  type Read,
  readCanonical,
  readCanonicalValue,
  readIdentifier,
  readUri,
  variantOf,
} from "./readers.ts";
import { describe } from "./suggest.ts";
import { SPEC_LIMITS } from "./limits.ts";
import { below, type JsonPath } from "../canonical/path.ts";
import type { Collector } from "./refusals.ts";
import type { Payload } from "./types.ts";

/** Reads a payload up to a limit: canonical bytes of `json`, decoded bytes of `bytes`; `external` has no limit. */
export function readPayload(maximumBytes: number): Read<Payload> {
  const json = shape<Payload, Collector>(
    (refusals, value, path) => readJsonPayload(refusals, value, path, maximumBytes),
    closedSchema(["kind", "value"], [["kind", oneOf("json")], ["value", readCanonicalValue]]),
  );
  const bytes = shape<Payload, Collector>(
    (refusals, value, path) => readBytesPayload(refusals, value, path, maximumBytes),
    closedSchema(["kind", "base64"], [["kind", oneOf("bytes")], ["base64", { schema: () => BASE64 }]]),
  );
  return named("payload", variantOf<Payload>("kind", { json, bytes, external: readExternalPayload }));
}

const BASE64 = { type: "string", pattern: "^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$" };

/** Reads a media type. */
export const readContentType: Read<string> = shape<string, Collector>((refusals, value, path) => {
  if (typeof value === "string" && isMediaType(value)) return value;
  const code = typeof value === "string" ? "content_type_invalid" : "type_invalid";
  return refusals.refuse(code, path, `Expected a media type such as "application/json", got ${describe(value)}`);
}, () => ({ type: "string", minLength: 3, maxLength: SPEC_LIMITS.contentTypeLength }));

/** Why a payload does not match its content type, or null: `json` needs a JSON type, `bytes` another one. */
export function contentTypeMismatch(kind: Payload["kind"], contentType: string): string | null {
  const json = isJsonContentType(contentType);
  if (kind === "json" && !json) {
    return `Expected a JSON content type for a payload of kind "json", got ${JSON.stringify(contentType)}`;
  }
  if (kind === "bytes" && json) {
    return `Expected a content type other than JSON for a payload of kind "bytes", got ${JSON.stringify(contentType)}`;
  }
  return null;
}

function readJsonPayload(
  refusals: Collector,
  value: JsonValue,
  path: JsonPath,
  maximumBytes: number,
): Payload | undefined {
  const object = readObject(refusals, value, path, ["kind", "value"]);
  if (object === undefined) return undefined;
  const text = readMember(refusals, object, path, "value", readCanonical);
  const held = object["value"];
  if (text === undefined || held === undefined) return undefined;
  if (!fits(refusals, below(path, "value"), utf8Length(text), maximumBytes)) return undefined;
  return { kind: "json", value: held };
}

function readBytesPayload(
  refusals: Collector,
  value: JsonValue,
  path: JsonPath,
  maximumBytes: number,
): Payload | undefined {
  const object = readObject(refusals, value, path, ["kind", "base64"]);
  if (object === undefined) return undefined;
  return readMember(refusals, object, path, "base64", (_, base64, at): Payload | undefined => {
    if (typeof base64 !== "string") {
      return refusals.refuse("type_invalid", at, `Expected base64 text, got ${describe(base64)}`);
    }
    // Four characters encode three bytes, so the size is known to within two bytes before decoding.
    const least = Math.max(0, Math.floor(base64.length / 4) * 3 - 2);
    if (least > maximumBytes) {
      fits(refusals, at, least, maximumBytes);
      return undefined;
    }
    const bytes = decodeBase64(base64);
    if (bytes === null) {
      const message = "Expected base64 in its canonical form: standard alphabet, padded, no white space (RFC 4648, 4)";
      return refusals.refuse("value_invalid", at, message);
    }
    return fits(refusals, at, bytes.length, maximumBytes) ? { kind: "bytes", base64 } : undefined;
  });
}

function fits(refusals: Collector, path: JsonPath, bytes: number, maximumBytes: number): boolean {
  if (bytes <= maximumBytes) return true;
  refusals.refuse("payload_too_large", path, `Expected a payload of at most ${maximumBytes} bytes, got ${bytes}`);
  return false;
}

const readExternalPayload: Read<Payload> = objectOf({
  kind: oneOf("external"),
  content_ref: objectOf({ uri: readUri, content_hash: contentHash }, { encryption: readIdentifier }),
});
