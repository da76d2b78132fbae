/** Reads the responses of an operation: the statuses that give a result, and its schema. */

import { isJsonObject, type JsonObject, type JsonValue, member } from "../../../canonical/json.ts";
import { below, type JsonPath } from "../../../canonical/path.ts";
import { faultAt, type Found, memberOf, readReferable } from "./document.ts";
import { jsonMediaType } from "./media_types.ts";
import type { OperationPlace, RequestContext } from "./parameters.ts";
import { convertSchema } from "./schema.ts";
import { isUntyped, typesOf } from "./schema_facts.ts";

/** The response whose body holds the result. */
export interface ResultPart {
  readonly accept: string;
  readonly expected_status: readonly number[];
  /** The converted schema of the whole response. */
  readonly schema: JsonValue;
  readonly path: JsonPath;
}

/** One declared response. */
interface Declared {
  /** `200`, or `2XX`. */
  readonly status: string;
  readonly value: JsonObject;
  readonly path: JsonPath;
}

/** Statuses whose responses have no body. */
const WITHOUT_BODY = [204, 205];

/**
 * Reads the result of an operation: the JSON response with status 200, else with the lowest other status of 2xx.
 *
 * @throws {CandidateFault} Where no response has a result
 */
export function readResult(context: RequestContext, place: OperationPlace): ResultPart {
  const { path } = place.operation;
  if (place.method === "HEAD") throw faultAt("response_without_body", path);
  const declared = declaredSuccesses(context, place);
  if (declared.length === 0) throw faultAt("response_missing", below(path, "responses"));
  const found = declared.flatMap((one) => {
    const media = mediaOf(one);
    return media === null ? [] : [{ one, media }];
  });
  const chosen = found.find(({ media }) => media.schema !== undefined) ?? found[0];
  if (chosen === undefined) {
    const hasContent = declared.some(({ value }) => Object.hasOwn(value, "content"));
    throw faultAt(hasContent ? "response_not_json" : "response_without_body", declared[0]?.path ?? path);
  }
  const { one, media } = chosen;
  if (media.schema === undefined) throw faultAt("response_untyped", one.path, "no schema");
  const schema = convertSchema(context.converter, media.schema);
  if (isUntyped(context.facts, schema)) throw faultAt("response_untyped", media.schema.path);
  if (typesOf(context.facts, schema)?.size === 0) {
    throw faultAt("schema_invalid", media.schema.path, "it accepts no value");
  }
  const expected_status = statusesOf(one.status, declared);
  return { accept: media.type, expected_status, schema, path: media.schema.path };
}

function mediaOf(
  { status, value, path }: Declared,
): { readonly type: string; readonly schema: Found | undefined } | null {
  if (WITHOUT_BODY.includes(Number(status))) return null;
  const content = memberOf(value, path, "content");
  return content === undefined || !isJsonObject(content.value) ? null : jsonMediaType(content.value, content.path);
}

/** The responses with a status of 2xx, 200 first, then by number, a range last. */
function declaredSuccesses(context: RequestContext, { operation }: OperationPlace): readonly Declared[] {
  const responses = memberOf(operation.value, operation.path, "responses");
  if (responses === undefined || !isJsonObject(responses.value)) return [];
  const names = Object.keys(responses.value).filter((name) => /^2(?:\d\d|XX)$/i.test(name)).sort(compareStatus);
  return names.flatMap((status) => {
    const given = member(responses.value as JsonObject, status);
    const found = given === undefined
      ? null
      : readReferable(context.document, { value: given, path: below(responses.path, status) });
    return found === null ? [] : [{ status, ...found }];
  });
}

function compareStatus(a: string, b: string): number {
  const rank = (status: string): number => status === "200" ? 0 : Number(status) || 1000;
  return rank(a) - rank(b) || (a < b ? -1 : 1);
}

/** The numbers of a status; a range has those that no other response declares. */
function statusesOf(status: string, declared: readonly Declared[]): readonly number[] {
  const number = Number(status);
  if (!Number.isNaN(number)) return [number];
  const others = new Set(declared.map((one) => Number(one.status)));
  const all = Array.from({ length: 100 }, (_, index) => 200 + index);
  return all.filter((one) => !others.has(one) && !WITHOUT_BODY.includes(one));
}
