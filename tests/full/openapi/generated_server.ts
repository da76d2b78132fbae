/**
 * An HTTP server that answers the operations of a profile with values built out of their result schemas.
 *
 * @module
 */

import type { JsonObject, JsonValue } from "../../../src/canonical/json.ts";
import { compileSchema } from "../../../src/evidence/json_schema/compile.ts";
import type { HttpOperation, OpenApiHttpProfile } from "../../../src/evidence/typed/runtime_profile.ts";
import type { CheckContract } from "../../../src/evidence/types.ts";
import { STRATEGIES, valueFor } from "./generated_values.ts";

/** A check with the params to ask for and the value to expect. */
export interface PreparedCheck {
  readonly check_id: string;
  readonly params: JsonObject;
  readonly value: JsonValue;
}

/** A value that a schema accepts; undefined where none of the strategies finds one. */
function validValue(schema: JsonValue): JsonValue | undefined {
  const compiled = compileSchema(schema);
  if ("refusal" in compiled) throw new Error(compiled.refusal);
  return STRATEGIES.map((strategy) => valueFor(schema, strategy)).find((value) => compiled.validator(value) === null);
}

/** Params and value of a check; null where none is found. */
export function prepareCheck(check: CheckContract): PreparedCheck | null {
  const params = validValue(check.params_schema);
  const value = validValue(check.result_schema);
  return params === undefined || value === undefined
    ? null
    : { check_id: check.check_id, params: params as JsonObject, value };
}

interface Route {
  readonly check_id: string;
  readonly operation: HttpOperation;
  readonly pattern: RegExp;
  /** Characters of the path outside of placeholders: the most literal route wins. */
  readonly literal: number;
}

/** Serves a profile on the loopback interface; `use` gets the profile with the server's address. */
export async function serveProfile<Result>(
  profile: OpenApiHttpProfile,
  prepared: ReadonlyMap<string, PreparedCheck>,
  use: (profile: OpenApiHttpProfile) => Promise<Result>,
): Promise<Result> {
  const routes = Object.entries(profile.operations).map(([check_id, operation]) => routeOf(check_id, operation));
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    (request) => answer(routes, prepared, request),
  );
  try {
    return await use({ ...profile, base_url: `http://127.0.0.1:${server.addr.port}/base` });
  } finally {
    await server.shutdown();
  }
}

function routeOf(check_id: string, operation: HttpOperation): Route {
  const parts = operation.path_template.split(/\{[^{}]+\}/);
  const escaped = parts.map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return { check_id, operation, pattern: new RegExp(`^/base${escaped.join(".+")}$`), literal: parts.join("").length };
}

function answer(routes: readonly Route[], prepared: ReadonlyMap<string, PreparedCheck>, request: Request): Response {
  const { pathname, searchParams } = new URL(request.url);
  const path = decodeURI(pathname);
  const found = routes.filter(({ pattern, operation }) => operation.method === request.method && pattern.test(path))
    .toSorted((a, b) => b.literal - a.literal)[0];
  const check = found === undefined ? undefined : prepared.get(found.check_id);
  if (found === undefined || check === undefined) return new Response("no such operation", { status: 404 });
  const { operation } = found;
  const missing = operation.parameters.filter(({ name, in: place, param }) => {
    const given = check.params[param];
    if (typeof given === "object" || given === undefined) return false;
    if (place === "query") return searchParams.get(name) !== String(given);
    return place === "header" && request.headers.get(name) !== String(given);
  });
  if (missing.length > 0) return new Response(`without ${missing.map(({ name }) => name).join()}`, { status: 400 });
  if (request.headers.get("accept") !== operation.accept) return new Response("not acceptable", { status: 406 });
  return new Response(JSON.stringify(check.value), {
    status: operation.expected_status[0] ?? 200,
    headers: { "content-type": operation.accept },
  });
}
