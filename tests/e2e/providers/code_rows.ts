/**
 * A query that produces each code of `docs/reference/providers.md`: one entry for each row of its tables.
 *
 * @module
 */

import type { JsonValue } from "../../../src/canonical/json.ts";
import type { ProviderAnswer } from "../../../src/evidence/types.ts";
import { startPeer } from "../typed/grpc_peers.ts";
import { ownCertificate } from "../own_certificates.ts";
import {
  answering,
  askProvider,
  type Behaviour,
  ok,
  pause,
  type ProviderPlan,
  readHead,
  withFolder,
  withProvider,
  withServer,
  write,
} from "./fixtures.ts";

type Rows = Readonly<Record<string, () => Promise<ProviderAnswer>>>;
type Trigger = Parameters<typeof askProvider>[3];

const SCRIPT = new URL("./env_process.ts", import.meta.url).pathname;
const SETTINGS = new URL("../../../deno.json", import.meta.url).pathname;

function time(check: string, params?: JsonValue, trigger?: Trigger, config = {}): () => Promise<ProviderAnswer> {
  return () => withProvider({ name: "time", config }, (provider) => askProvider(provider, check, params, trigger));
}

function env(params: JsonValue | undefined, plan: Omit<ProviderPlan, "name"> = {}): () => Promise<ProviderAnswer> {
  return () => withProvider({ name: "env", ...plan }, (provider) => askProvider(provider, "get", params));
}

/** Queries a value that is not text; only the environment of a started process can have one. */
async function envNotText(): Promise<ProviderAnswer> {
  const run =
    `PROBE_BYTES=$(printf '\\377') exec "$0" run --quiet --no-check --no-prompt --config "$1" --allow-env --allow-read "$2"`;
  const { stdout } = await new Deno.Command("sh", { args: ["-c", run, Deno.execPath(), SETTINGS, SCRIPT] })
    .output();
  return JSON.parse(new TextDecoder().decode(stdout)) as ProviderAnswer;
}

interface FilePlan {
  readonly config?: Readonly<Record<string, unknown>>;
  readonly limitMillis?: number;
  readonly signal?: AbortSignal;
  readonly prepare?: (folder: string) => Promise<void>;
}

/** Queries a file below a root with some files. */
function json(params: JsonValue | undefined, plan: FilePlan = {}): () => Promise<ProviderAnswer> {
  const { config = {}, limitMillis = 10_000, signal, prepare } = plan;
  return () =>
    withFolder(async (folder) => {
      const root = `${folder}/base`;
      await Deno.mkdir(`${root}/folder`, { recursive: true });
      await Deno.writeTextFile(`${folder}/outside.json`, "1");
      await Deno.writeTextFile(`${root}/a.json`, `{"a":"${"a".repeat(64)}!"}`);
      await Deno.writeTextFile(`${root}/a.yaml`, "a: 1");
      await Deno.writeTextFile(`${root}/bad.json`, '{"a":9007199254740993}');
      await Deno.writeTextFile(`${root}/bad.yaml`, "a: [1");
      await Deno.writeTextFile(`${root}/many.json`, MANY);
      await Deno.writeTextFile(`${root}/slow.json`, SLOW_DOCUMENT);
      await Deno.writeTextFile(`${root}/large.json`, `"${"x".repeat(1_100_000)}"`);
      await prepare?.(root);
      const entry: ProviderPlan = { name: "json", config: { root, root_id: "r", ...config }, limitMillis };
      return await withProvider(entry, (provider) => askProvider(provider, "path", params, undefined, signal));
    });
}

const MANY = `[${new Array(6000).fill("0").join(",")}]`;
/** A query that takes almost the maximum of steps, and its document. */
export const SLOW_QUERY = "$.items[?$.texts[0] < $.texts[1]]";
export const SLOW_DOCUMENT = JSON.stringify({
  texts: ["x".repeat(400_000), `${"x".repeat(400_000)}y`],
  items: new Array(2000).fill(0),
});

/** A worker that does not start in time is `worker_died`. */
function jsonWorkerDied(): Promise<ProviderAnswer> {
  return withFolder(async (folder) => {
    await Deno.writeTextFile(`${folder}/a.json`, "1");
    const entry: ProviderPlan = {
      name: "json",
      config: { root: folder, root_id: "r" },
      options: { workerLimits: { startMillis: 1 } },
    };
    return await withProvider(entry, (provider) => askProvider(provider, "path", { file: "a.json" }));
  });
}

function aborted(): AbortSignal {
  const controller = new AbortController();
  controller.abort();
  return controller.signal;
}

/** The rows of `time`, `env` and `json`. */
export const OTHER_CODES: Rows = {
  "observed time check_unknown": time("later"),
  "observed time params_missing": time("after"),
  "observed time params_invalid": time("after", { timestamp: "2024-06-01" }),
  "observed time trigger_time_invalid": time("now", {}, { kind: "logical", value: -1 }),
  "observed time logical_time_not_allowed": time("now", {}, { kind: "logical", value: 1 }, { allow_logical: false }),
  "observed env params_missing": env(undefined),
  "observed env params_invalid": env({ key: "A=B" }),
  "observed env key_blocked": env({ key: "PROBE" }, { config: { allowlist: [] } }),
  "observed env key_too_long": env({ key: "PROBE" }, { config: { max_key_bytes: 4 } }),
  "observed env value_too_large": env({ key: "PROBE" }, {
    config: { overrides: { PROBE: "12345" }, max_value_bytes: 4 },
  }),
  "observed env value_not_text": envNotText,
  "observed json params_missing": json(null),
  "observed json params_invalid": json({ file: 1 }),
  "observed json path_missing": json({ file: "" }),
  "observed json absolute_path_forbidden": json({ file: "/etc/passwd" }),
  "observed json path_invalid": json({ file: "a\0.json" }),
  "observed json path_outside_root": json({ file: "../outside.json" }),
  "observed json file_not_found": json({ file: "none.json" }),
  "observed json file_read_failed": json({ file: "folder" }),
  "observed json size_limit_exceeded": json({ file: "a.json" }, { config: { max_bytes: 8 } }),
  "observed json yaml_disabled": json({ file: "a.yaml" }, { config: { allow_yaml: false } }),
  "observed json invalid_json": json({ file: "bad.json" }),
  "observed json invalid_yaml": json({ file: "bad.yaml" }),
  "observed json invalid_jsonpath": json({ file: "a.json", jsonpath: "$[" }),
  "observed json jsonpath_not_found": json({ file: "a.json", jsonpath: "$.none" }),
  "observed json jsonpath_limit_exceeded": json({ file: "many.json", jsonpath: "$[?count($.*) > 0]" }),
  "observed json result_too_large": json({ file: "large.json" }, { config: { max_bytes: 2_000_000 } }),
  "operational json timeout": json({ file: "slow.json", jsonpath: SLOW_QUERY }, { limitMillis: 100 }),
  "operational json cancelled": json({ file: "a.json" }, { signal: aborted() }),
  "operational json worker_died": jsonWorkerDied,
  "operational env provider_unreachable": envUnreachable,
};

/** A process without permission for a variable cannot grant it to a worker. */
async function envUnreachable(): Promise<ProviderAnswer> {
  const args = [
    "run",
    "--quiet",
    "--no-check",
    "--no-prompt",
    "--config",
    SETTINGS,
    "--allow-env=OTHER",
    SCRIPT,
  ];
  const { stdout } = await new Deno.Command(Deno.execPath(), { args }).output();
  return JSON.parse(new TextDecoder().decode(stdout)) as ProviderAnswer;
}

interface HttpPlan {
  readonly check?: string;
  readonly params?: Readonly<Record<string, JsonValue>>;
  readonly config?: Readonly<Record<string, unknown>>;
  readonly options?: ProviderPlan["options"];
  /** Replaces the URL of the server. */
  readonly url?: string;
  readonly scheme?: string;
  readonly signal?: AbortSignal;
}

/** Queries a server with a behaviour. */
function http(name: "http" | "rest", behaviour: Behaviour, plan: HttpPlan = {}): () => Promise<ProviderAnswer> {
  const { check = name === "http" ? "body_hash" : "json_path", config = {}, scheme = "http", signal } = plan;
  const query = name === "rest" && check === "json_path" ? { jsonpath: "$" } : {};
  return () =>
    withServer(behaviour, (server) => {
      const url = plan.url ?? `${scheme}://127.0.0.1:${server.port}/`;
      const entry: ProviderPlan = {
        name,
        config: { allow_http: true, allow_private_networks: true, timeout_ms: 20_000, ...config },
        ...plan.options === undefined ? {} : { options: plan.options },
      };
      return withProvider(
        entry,
        (provider) => askProvider(provider, check, { url, ...query, ...plan.params }, undefined, signal),
      );
    });
}

const silent: Behaviour = async (connection) => {
  await readHead(connection);
};
const garbage: Behaviour = async (connection) => {
  await write(connection, "this is no TLS\r\n\r\n");
  connection.close();
};
const GZIP = "content-type: application/json\r\ncontent-encoding: gzip\r\n";
const LYING = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 10\r\n\r\n1";
const UPGRADE = "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n";
const SMALL = { config: { max_response_bytes: 4 } };

function noParams(name: "http" | "rest", check: string): () => Promise<ProviderAnswer> {
  return () => withProvider({ name }, (provider) => askProvider(provider, check));
}

/** Queries a server over TLS that is `checks.example`. */
function httpTls(
  { trusted = true, host = "checks.example", wantsClient = false },
): () => Promise<ProviderAnswer> {
  return async () => {
    const authority = await ownCertificate({ name: "authority", isAuthority: true });
    const server = await ownCertificate({ name: "checks", hosts: ["checks.example"] }, authority);
    const secure = {
      cert: server.cert,
      key: server.key,
      protocols: ["http/1.1"],
      ...wantsClient ? { clientAuthority: authority.cert } : {},
    };
    const peer = await startPeer({ at: "connection", play: () => {} }, secure);
    const resolver = (): Promise<string[]> => Promise.resolve(["127.0.0.1"]);
    const options = { resolver, ...trusted ? { authorities: [authority.cert] } : {} };
    const config = { allow_private_networks: true, timeout_ms: 10_000 };
    try {
      return await withProvider(
        { name: "http", config, options },
        (provider) => askProvider(provider, "status", { url: `https://${host}:${peer.port}/` }),
      );
    } finally {
      await peer.close();
    }
  };
}

/** The rows of `http`. */
export const HTTP_CODES: Rows = {
  "observed http params_missing": noParams("http", "status"),
  "observed http params_invalid": http("http", silent, { url: "/relative" }),
  "observed http content_encoding_unsupported": http("http", answering(ok("x", GZIP))),
  "operational http destination_refused": http("http", silent, { config: { allow_http: false } }),
  "operational http destination_blocked": http("http", silent, { config: { allow_private_networks: false } }),
  "operational http dns_failed": http("http", silent, {
    url: "http://nowhere.example/",
    options: { resolver: () => Promise.reject(new Error("no such host")) },
  }),
  "operational http connection_failed": http("http", (connection) => Promise.resolve(connection.close())),
  "operational http tls_failed": http("http", garbage, { scheme: "https" }),
  "operational http server_certificate_untrusted": httpTls({ trusted: false }),
  "operational http server_certificate_name_mismatch": httpTls({ host: "other.example" }),
  "operational http client_certificate_missing": httpTls({ wantsClient: true }),
  "operational http timeout": http("http", silent, { config: { timeout_ms: 200 } }),
  "operational http cancelled": http("http", silent, { signal: AbortSignal.timeout(100) }),
  "operational http response_too_large": http("http", answering(ok("12345")), SMALL),
  "operational http response_truncated": http("http", answering(LYING)),
  "operational http provider_protocol_error": http("http", answering(UPGRADE)),
};

const REDIRECT = "HTTP/1.1 302 Found\r\ncontent-type: application/json\r\nlocation: /\r\ncontent-length: 2\r\n\r\n{}";
/** The rows of `rest`. */
export const REST_CODES: Rows = {
  "observed rest params_missing": noParams("rest", "header"),
  "observed rest params_invalid": http("rest", silent, { check: "header", params: { header_name: "no name" } }),
  "observed rest header_reserved": http("rest", silent, { params: { headers: { Authorization: "Bearer x" } } }),
  "observed rest status_not_successful": http("rest", answering(REDIRECT)),
  "observed rest status_unexpected": http("rest", answering(REDIRECT), {
    check: "header",
    params: { header_name: "x-a" },
  }),
  "observed rest content_type_invalid": http("rest", answering(ok("{}", "content-type: text/html\r\n"))),
  "observed rest content_encoding_unsupported": http("rest", answering(ok("{}", GZIP))),
  "observed rest invalid_json": http("rest", answering(ok('{"a":1,"a":2}'))),
  "observed rest invalid_jsonpath": http("rest", answering(ok("{}")), { params: { jsonpath: "$[" } }),
  "observed rest jsonpath_not_found": http("rest", answering(ok("{}")), { params: { jsonpath: "$.a" } }),
  "observed rest jsonpath_limit_exceeded": http("rest", answering(ok(MANY)), {
    params: { jsonpath: "$[?count($.*) > 0]" },
  }),
  "observed rest result_too_large": http("rest", answering(ok(`"${"x".repeat(1_100_000)}"`)), {
    config: { max_response_bytes: 2_000_000 },
  }),
  "operational rest destination_refused": http("rest", silent, { config: { allowed_hosts: ["api.example"] } }),
  "operational rest destination_blocked": http("rest", silent, {
    url: "http://metadata.example/",
    options: { resolver: () => Promise.resolve(["169.254.169.254"]) },
    config: { allow_private_networks: false },
  }),
  "operational rest timeout": http("rest", answering(ok(SLOW_DOCUMENT)), {
    params: { jsonpath: SLOW_QUERY },
    config: { timeout_ms: 200 },
  }),
  "operational rest response_too_large": http("rest", answering(ok("[1,2,3]")), SMALL),
  "operational rest response_truncated": http("rest", async (connection) => {
    await answering(LYING)(connection, 1);
    await pause(0);
  }),
};
