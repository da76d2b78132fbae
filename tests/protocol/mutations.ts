/**
 * Messages of MCP clients, and mutations of them: members that are missing, of another type, of another name, or unknown.
 *
 * @module
 */

import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from "@/canonical/json.ts";
import { envelope, initializeParams } from "../e2e/client.ts";

const META = envelope() as JsonObject;
const P = "io.modelcontextprotocol/";

/** The methods and parameters of the messages before they are mutated. */
const REQUESTS: readonly (readonly [method: string, params: JsonObject])[] = [
  ["initialize", {
    ...initializeParams() as JsonObject,
    capabilities: {
      roots: { listChanged: true },
      sampling: { tools: {}, context: {} },
      elicitation: { form: { applyDefaults: true }, url: {} },
      experimental: { a: {} },
      extensions: { "com.example/a": {} },
      tasks: { list: {}, cancel: {}, requests: { sampling: { createMessage: {} }, elicitation: { create: {} } } },
    },
    clientInfo: {
      name: "a",
      version: "1",
      title: "A",
      description: "b",
      websiteUrl: "https://example.com",
      icons: [{ src: "https://example.com/a.png", mimeType: "image/png", sizes: ["48x48"], theme: "dark" }],
    },
  }],
  ["initialize", initializeParams("2024-11-05") as JsonObject],
  ["ping", {}],
  ["server/discover", {}],
  ["tools/list", {}],
  ["tools/list", { cursor: "a" }],
  ["tools/call", { name: "echo", arguments: { a: [1, { b: null }] } }],
  ["tools/call", { name: "refuse", arguments: {}, task: { ttl: 1 }, requestState: "a" }],
  ["tools/call", { name: "nothing" }],
  ["tools/call", { name: "echo", inputResponses: { a: { action: "accept" } } }],
  ["resources/list", {}],
  ["resources/templates/list", { cursor: "a" }],
  ["resources/templates/list", {}],
  ["resources/read", { uri: "gate://docs/concepts" }],
  ["resources/read", { uri: "gate://docs/nothing", requestState: "a" }],
  ["resources/subscribe", { uri: "gate://docs/concepts" }],
  ["prompts/list", {}],
  ["prompts/get", { name: "drive_run", arguments: { namespace_id: "2", scenario_id: "a" } }],
  ["prompts/get", { name: "drive_run" }],
  ["completion/complete", {
    ref: { type: "ref/prompt", name: "author_scenario" },
    argument: { name: "kind", value: "r" },
    context: { arguments: { question: "a" } },
  }],
  ["completion/complete", {
    ref: { type: "ref/resource", uri: "gate://docs/tools/{page}" },
    argument: { name: "page", value: "s" },
  }],
  ["logging/setLevel", { level: "debug" }],
  ["tasks/get", { taskId: "a" }],
  ["sampling/createMessage", { messages: [], maxTokens: 1 }],
  ["subscriptions/listen", {
    notifications: { toolsListChanged: true, resourceSubscriptions: ["gate://docs/concepts"] },
  }],
  ["no/such", {}],
  ["__proto__", {}],
];

const NOTIFICATIONS: readonly (readonly [method: string, params: JsonObject])[] = [
  ["notifications/initialized", {}],
  ["notifications/progress", { progressToken: 1, progress: 1 }],
  ["notifications/roots/list_changed", {}],
  ["notifications/cancelled", { requestId: "nothing", reason: "a" }],
  ["no/such", {}],
];

/** Values that take the place of others. */
const VALUES: readonly JsonValue[] = [
  ...[null, true, false, 0, 1, -1, 1.5, "", "a", "2026-07-28", "2025-11-25", "2099-01-01", "1999-01-01"],
  ...[[], {}, [1], ["a"], { a: 1 }, { a: {} }, { name: "a", version: "1" }, { level: "debug" }, "debug", "echo"],
];

/** Names of members that are added. */
const NAMES: readonly string[] = [
  ...["cursor", "arguments", "name", "uri", "task", "requestState", "inputResponses", "level", "extra", "_meta"],
  ...["icons", "title", "tasks", "roots", "sampling", "progressToken", "constructor"],
  ...["protocolVersion", "clientInfo", "clientCapabilities", "logLevel", "related-task"].map((name) => P + name),
];

/** A source of numbers below a bound, the same for a seed. */
export type Random = (bound: number) => number;

/** A generator of numbers (mulberry32). */
export function randomOf(seed: number): Random {
  let state = seed >>> 0;
  return (bound) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % bound;
  };
}

/** One of several. */
export function pick<T>(random: Random, values: readonly T[]): T {
  const value = values[random(values.length)];
  if (value === undefined) throw new RangeError("Cannot pick: there are no values");
  return value;
}

/** A message of a client, mutated in none, one or two places; now and then a response, which answers nothing. */
export function drawMessage(random: Random, id: number): JsonObject {
  if (random(100) === 0) return { jsonrpc: "2.0", id, result: {} };
  const isNotification = random(12) === 0;
  const [method, params] = pick(random, isNotification ? NOTIFICATIONS : REQUESTS);
  const meta = random(2) === 0 ? { _meta: META } : {};
  const base = { jsonrpc: "2.0", method, params: { ...params, ...meta } };
  let message: JsonObject = isNotification ? base : { ...base, id: random(8) === 0 ? `id ${id}` : id };
  for (let times = random(3); times > 0; times--) message = mutate(random, message);
  return message;
}

/** The header fields of a message: those that belong to it, some of them left out or changed. */
export function drawFields(random: Random, message: JsonObject): Record<string, string> {
  const params = isJsonObject(message["params"]) ? message["params"] : {};
  const meta = isJsonObject(params["_meta"]) ? params["_meta"] : {};
  const version = message["method"] === undefined ? undefined : meta[`${P}protocolVersion`];
  const name = params["name"] ?? params["uri"];
  const fields: Record<string, string> = {
    ...typeof version === "string" && version !== "" ? { "mcp-protocol-version": version } : {},
    ...typeof version === "string" ? { "mcp-method": String(message["method"]) } : {},
    ...typeof version === "string" && typeof name === "string" ? { "mcp-name": name } : {},
  };
  if (random(3) > 0) return fields;
  const field = pick(random, ["mcp-protocol-version", "mcp-method", "mcp-name"]);
  if (random(3) === 0) delete fields[field];
  else {fields[field] = pick(random, [
      "1999-01-01",
      "2026-07-28",
      "2025-11-25",
      "2099-01-01",
      "a",
      "echo",
      "tools/call",
      "=?base64?ZWNobw==?=",
      "=?base64?!?=",
    ]);}
  return fields;
}

/** Changes one place below `params`, now and then one of the message itself. */
function mutate(random: Random, message: JsonObject): JsonObject {
  if (random(12) === 0) return changeMember(random, message) as JsonObject;
  const params = message["params"];
  return params === undefined ? message : { ...message, params: mutateInside(random, params) };
}

function mutateInside(random: Random, value: JsonValue): JsonValue {
  const isDeep = random(3) > 0;
  if (isJsonArray(value) && value.length > 0 && isDeep) {
    const at = random(value.length);
    return value.map((item, index) => index === at ? mutateInside(random, item) : item);
  }
  if (!isJsonObject(value)) return pick(random, VALUES);
  const names = Object.keys(value);
  if (names.length === 0 || !isDeep) return changeMember(random, value);
  const name = pick(random, names);
  return { ...value, [name]: mutateInside(random, value[name] ?? null) };
}

/** Drops, replaces, renames or adds a member. */
function changeMember(random: Random, value: JsonObject): JsonValue {
  const names = Object.keys(value);
  const name = names.length === 0 ? pick(random, NAMES) : pick(random, names);
  const { [name]: old, ...rest } = value;
  switch (random(4)) {
    case 0:
      return rest;
    case 1:
      return { ...value, [name]: pick(random, VALUES) };
    case 2:
      return { ...rest, [pick(random, NAMES)]: old ?? null };
    default:
      return { ...value, [pick(random, NAMES)]: pick(random, VALUES) };
  }
}
