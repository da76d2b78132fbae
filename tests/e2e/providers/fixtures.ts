/**
 * Fixtures of the tests of built-in providers: providers from configuration entries, and servers that misbehave.
 *
 * @module
 */

import { BUILTIN_CONFIG_SCHEMAS } from "../../../src/config/sections/builtin.ts";
import { readSilently } from "../../../src/canonical/shape.ts";
import type { BuiltinProviderEntry, BuiltinProviderName } from "../../../src/config/types.ts";
import type { JsonObject, JsonValue } from "../../../src/canonical/json.ts";
import type { BuiltinProviderOptions } from "../../../src/evidence/builtin/engine.ts";
import { createBuiltinProvider } from "../../../src/evidence/builtin/provider.ts";
import type { EvidenceContext, EvidenceQuery, Provider, ProviderAnswer } from "../../../src/evidence/types.ts";

/** A trigger time, 2024-06-01T12:00:00Z. */
export const NOON = { kind: "unix_millis", value: 1_717_243_200_000 } as const;

/** Configuration and options of a provider under test. */
export interface ProviderPlan {
  readonly name: BuiltinProviderName;
  readonly config?: Readonly<Record<string, unknown>>;
  readonly options?: BuiltinProviderOptions;
  /** Milliseconds of one check. */
  readonly limitMillis?: number;
}

/** An entry as the configuration completes it. */
export function entryOf({ name, config = {}, limitMillis = 10_000 }: ProviderPlan): BuiltinProviderEntry {
  return {
    name,
    type: "builtin",
    url: null,
    command: [],
    allow_insecure_http: false,
    allow_raw: true,
    auth: null,
    capabilities_path: null,
    runtime_profile_path: null,
    typed_protocol: null,
    config: readSilently<unknown>(BUILTIN_CONFIG_SCHEMAS[name], config as JsonObject),
    trust: null,
    timeouts: { connect_timeout_ms: 2000, request_timeout_ms: limitMillis },
  } as BuiltinProviderEntry;
}

/** Queries one check of a provider. */
export function askProvider(
  provider: Provider,
  check_id: string,
  params?: JsonValue,
  trigger_time: EvidenceContext["trigger_time"] = NOON,
  signal: AbortSignal = new AbortController().signal,
): Promise<ProviderAnswer> {
  const query: EvidenceQuery = {
    provider_id: provider.provider_id,
    check_id,
    ...params === undefined ? {} : { params },
  };
  return provider.query(query, { namespace_id: 2, trigger_time }, signal);
}

/** Creates a provider and closes it after use. */
export async function withProvider<Result>(
  plan: ProviderPlan,
  use: (provider: Provider) => Promise<Result>,
): Promise<Result> {
  const provider = createBuiltinProvider(entryOf(plan), plan.options);
  try {
    return await use(provider);
  } finally {
    await provider.close();
  }
}

/** The value of an answer, or the code of its error or failure: `value: 1`, `nothing`, `observed: x`, `failed: y`. */
export function outcomeOf(answer: ProviderAnswer): string {
  if (!answer.ok) return `failed: ${answer.code}`;
  const { error, value } = answer.result;
  if (error !== null) return `observed: ${error.code}`;
  if (value === null) return "nothing";
  return `value: ${value.kind === "json" ? JSON.stringify(value.value) : value.base64}`;
}

/** Creates a folder and removes it after use. */
export async function withFolder<Result>(use: (folder: string) => Promise<Result>): Promise<Result> {
  const folder = await Deno.realPath(await Deno.makeTempDir({ prefix: "gate-providers-" }));
  try {
    return await use(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** The behaviour of a server for each connection. */
export type Behaviour = (connection: Deno.Conn, count: number) => Promise<void>;

/** A server that a test talks to. */
export interface RawServer {
  readonly port: number;
  /** Connections that were accepted. */
  readonly accepted: () => number;
}

/** Starts a TCP server on the loopback interface and closes it after use. */
export async function withServer<Result>(
  behaviour: Behaviour,
  use: (server: RawServer) => Promise<Result>,
  hostname = "127.0.0.1",
): Promise<Result> {
  const listener = Deno.listen({ hostname, port: 0 });
  const open = new Set<Deno.Conn>();
  let accepted = 0;
  const serving = (async (): Promise<void> => {
    for await (const connection of listener) {
      open.add(connection);
      accepted += 1;
      void behaviour(connection, accepted).catch(() => {});
    }
  })();
  try {
    return await use({ port: (listener.addr as Deno.NetAddr).port, accepted: () => accepted });
  } finally {
    listener.close();
    for (const connection of open) {
      try {
        connection.close();
      } catch {
        // The behaviour has closed it already.
      }
    }
    await serving.catch(() => {});
  }
}

const encoder = new TextEncoder();

/** Writes a text, or bytes. */
export async function write(connection: Deno.Conn, data: string | Uint8Array): Promise<void> {
  let rest = typeof data === "string" ? encoder.encode(data) : data;
  while (rest.length > 0) rest = rest.subarray(await connection.write(rest));
}

/** Reads and returns the head of a request. */
export async function readHead(connection: Deno.Conn): Promise<string> {
  const buffer = new Uint8Array(16_384);
  let text = "";
  while (!text.includes("\r\n\r\n")) {
    const count = await connection.read(buffer);
    if (count === null) break;
    text += new TextDecoder().decode(buffer.subarray(0, count));
  }
  return text;
}

/** A behaviour that answers with these bytes and closes. */
export function answering(...parts: readonly (string | Uint8Array)[]): Behaviour {
  return async (connection) => {
    await readHead(connection);
    for (const part of parts) await write(connection, part);
    connection.close();
  };
}

/** A complete response with body and `content-length`. */
export function ok(body: string, headers = "content-type: application/json\r\n"): string {
  return `HTTP/1.1 200 OK\r\n${headers}content-length: ${encoder.encode(body).length}\r\n\r\n${body}`;
}

/** Waits. */
export function pause(millis: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, millis));
}
