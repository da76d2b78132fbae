/** A session with the tools: of a running server, or of this process on the stores of a configuration. */

import { principalOf } from "../../access/principal.ts";
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, member } from "../../canonical/json.ts";
import type { GateConfig } from "../../config/types.ts";
import { NO_GRANTS } from "../../evidence/typed/grants.ts";
import type { Call } from "../../tools/framework/types.ts";
import { openRuntime } from "../../tools/runtime.ts";
import { exitCodeOfAnswer } from "../client/exit_code.ts";
import { CliError } from "../terminal/cli_error.ts";
import { dataDirOf } from "../terminal/data_dir.ts";
import { EXIT } from "../terminal/exit_codes.ts";
import { shown } from "../terminal/text.ts";
import { withStoreErrors } from "../store/files.ts";

/** The flags that name a running server. */
export interface ServerAddressFlags {
  readonly server?: string;
  readonly tokenFile?: string;
  readonly clientCert?: string;
  readonly clientKey?: string;
  readonly timeout?: string;
}

/** Reads a resource of a server. */
export type ReadResource = (uri: string) => Promise<{ readonly text?: string; readonly blob?: string }>;

/** Calls tools. */
export interface ToolSession {
  /** The structured answer of a tool; a domain error has the member `error`. */
  readonly call: (tool: string, input: JsonObject) => Promise<JsonObject>;
  /** The namespaces that the caller may read; null where the server does not say. */
  readonly namespaces: () => Promise<readonly number[] | null>;
  /** Absent for the tools of this process. */
  readonly resource?: ReadResource;
}

/** The subject of calls on the stores of a configuration: that of `gate serve` on standard input. */
const LOCAL_SUBJECT = "stdio";

/** The flags that need `--server`. */
const SERVER_FLAGS = [
  ["tokenFile", "--token-file"],
  ["clientCert", "--client-cert"],
  ["clientKey", "--client-key"],
  ["timeout", "--timeout"],
] as const;

/**
 * Checks the flags that name a server.
 *
 * @returns Whether they name one
 * @throws {CliError} `usage`
 */
export function namesServer(
  flags: ServerAddressFlags & { readonly config?: string; readonly evidenceKeys?: string },
): boolean {
  if (flags.server === undefined) {
    const given = SERVER_FLAGS.find(([name]) => flags[name] !== undefined);
    if (given !== undefined) throw new CliError("usage", `Flag ${given[1]} needs --server`);
    return false;
  }
  const local = flags.config !== undefined ? "--config" : flags.evidenceKeys !== undefined ? "--evidence-keys" : null;
  if (local !== null) throw new CliError("usage", `Flag --server names a running server: omit ${local}`);
  if (/^https?:$/.test(URL.parse(flags.server)?.protocol ?? "")) return true;
  throw new CliError("usage", `Cannot use --server "${flags.server}": expected http:// or https://`);
}

/** Runs a body with the tools of the server of `--server`. */
export async function withServerSession<Result>(
  flags: ServerAddressFlags,
  body: (session: ToolSession) => Promise<Result>,
): Promise<Result> {
  const [{ withServer }, { callTool }] = await Promise.all([
    import("../client/connect.ts"),
    import("../client/tools.ts"),
  ]);
  const { server = "", ...rest } = flags;
  const given = Object.fromEntries(
    SERVER_FLAGS.flatMap(([name]) => rest[name] === undefined ? [] : [[name, rest[name]]]),
  );
  return await withServer({ ...given, url: server }, [], (connected) =>
    body({
      call: (tool, input) => callTool(connected, tool, input),
      resource: async (uri) => {
        if (connected.client.getServerCapabilities()?.resources === undefined) {
          throw new CliError("refused", `Cannot read ${uri}: the server has no resources (docs.enable_resources)`);
        }
        // The cache of the client would keep every part.
        const options = { timeout: connected.timeout, cacheMode: "bypass" } as const;
        const { contents: [first] } = await connected.client.readResource({ uri }, options);
        return first ?? {};
      },
      namespaces: async () => {
        const ref = { type: "ref/prompt", name: "drive_run" } as const;
        const argument = { name: "namespace_id", value: "" };
        // Without prompts a server completes nothing, and the caller names the namespace.
        const answer = await connected.client.complete({ ref, argument }, { timeout: connected.timeout }).catch(() =>
          null
        );
        if (answer === null || answer.completion.hasMore === true) return null;
        return answer.completion.values.map(Number);
      },
    }));
}

/** The files that the tools of this process use beside the stores. */
interface LocalFiles {
  readonly dataDir?: string;
  readonly signingKey?: string | null;
  /** The folder of the keys of people. */
  readonly evidenceKeys?: string | null;
}

/**
 * Runs a body with the tools of this process. Roles and lists of tools of the configuration bind callers of a server.
 * They do not bind a person who may read and write the files of the stores.
 *
 * @throws {CliError} `store_unavailable`, `store_corrupt`
 */
export async function withLocalSession<Result>(
  config: GateConfig,
  body: (session: ToolSession) => Promise<Result>,
  { dataDir = dataDirOf(config, undefined), signingKey = null, evidenceKeys = null }: LocalFiles = {},
): Promise<Result> {
  const server = { ...config.server, auth: null, tools: { ...config.server.tools, allowlist: [], denylist: [] } };
  // Who may read the files of the store sees the values that are in them.
  const evidence = { allow_raw_values: true, require_provider_opt_in: false };
  const options = { dataDir, signingKey, typed: NO_GRANTS, evidenceKeys };
  const runtime = await withStoreErrors(() => openRuntime({ ...config, server, evidence }, options));
  const principal = principalOf([], LOCAL_SUBJECT, "local");
  const call: Call = { principal, signal: new AbortController().signal, correlationId: null };
  try {
    return await body({
      call: async (name, input) => {
        const tool = runtime.tools.get(name);
        if (tool === undefined) throw new CliError("unexpected", `Cannot find tool "${name}"`, null, EXIT.unexpected);
        const answer = await tool.handle(input, call);
        return answer.ok ? answer.result : { error: answer.error as unknown as JsonValue };
      },
      namespaces: async () => (await runtime.namespaces("", call)).ids,
    });
  } finally {
    await runtime.close();
  }
}

/**
 * The answer of a tool that must succeed.
 *
 * @throws {CliError} `refused` with the exit code of `gate client call`
 */
export async function mustCall(
  session: Pick<ToolSession, "call">,
  tool: string,
  input: JsonObject,
): Promise<JsonObject> {
  const answer = await session.call(tool, input);
  if (member(answer, "error") === undefined) return answer;
  throw refusedCall(tool, answer);
}

/** Lists of a refusal whose items have a path and a message. */
const REASON_LISTS = ["faults", "rejections", "refusals", "issues"] as const;

/** The error of a command for an answer of a tool that refuses, with every reason of the refusal. */
export function refusedCall(tool: string, answer: JsonObject): CliError {
  const error = objectAt(answer, "error");
  const outcome = objectAt(answer, "outcome");
  const message = member(error, "message");
  const name = member(outcome, "outcome");
  const why = typeof message === "string"
    ? message
    : `${tool} answers ${typeof name === "string" ? name : "no result"}`;
  const details = member(error, "details") === undefined ? objectAt(outcome, "result") : objectAt(error, "details");
  const listed = REASON_LISTS.flatMap((list) => {
    const items = member(details, list) ?? null;
    return isJsonArray(items) ? items.filter(isJsonObject) : [];
  });
  // A rejected statement has one fault, beside the reason.
  const own = member(details, "code") === undefined || member(details, "path") === undefined ? [] : [details];
  const reasons = [...listed, ...own].map((item) =>
    shown(`${member(item, "path") ?? "$"}: ${member(item, "message") ?? member(item, "code") ?? ""}`)
  );
  const isRepeated = reasons.length === 1 && why.endsWith(reasons[0] ?? "");
  // An answer without a result is no success either.
  const exitCode = exitCodeOfAnswer(answer) || EXIT.unexpected;
  return new CliError("refused", shown(why), null, exitCode, isRepeated ? [] : reasons);
}

function objectAt(object: JsonObject, name: string): JsonObject {
  const value = member(object, name) ?? null;
  return isJsonObject(value) ? value : {};
}
