/**
 * External providers for tests: real processes and servers with a configurable behaviour.
 *
 * @module
 */

import { fileURLToPath } from "node:url";
import type { McpProviderConfig } from "@/config/types.ts";
import { sealContract } from "@/evidence/contract/seal.ts";
import { createMcpProvider, type McpProvider } from "@/evidence/external/mcp_provider.ts";
import type { CheckContract, EvidenceContext, LoadedContract, ProviderAnswer } from "@/evidence/types.ts";

const HOSTILE = fileURLToPath(new URL("./acquisition_hostile_provider.ts", import.meta.url));
const FOLDER = fileURLToPath(new URL("./", import.meta.url));

/** The command of the provider that misbehaves on request. */
export const HOSTILE_COMMAND = [Deno.execPath(), "run", "--no-prompt", "-A", "--no-config", "--no-lock", HOSTILE];

/** The context of the tests' queries. */
export const CONTEXT: EvidenceContext = { namespace_id: 2, trigger_time: { kind: "unix_millis", value: 1000 } };

/** A check with any result. */
export function anyCheck(check_id: string, parts: Partial<CheckContract> = {}): CheckContract {
  return {
    check_id,
    description: "Answers anything.",
    determinism: "external",
    params_required: false,
    params_schema: {},
    result_schema: {},
    allowed_comparators: ["equals", "not_equals", "in_set", "exists", "not_exists"],
    anchor_types: [],
    content_types: [],
    examples: [],
    ...parts,
  };
}

/** A contract of an external provider. */
export function contractOf(name: string, checks: readonly CheckContract[] = [anyCheck("any")]): LoadedContract {
  return sealContract({
    provider_id: name,
    name,
    description: "A provider of tests.",
    transport: "mcp",
    config_schema: {},
    checks,
    notes: [],
  }, "file");
}

/** A configuration entry with the members that a test sets. */
export function mcpEntry(name: string, parts: Partial<McpProviderConfig>): McpProviderConfig {
  return {
    type: "mcp",
    name,
    url: null,
    command: [],
    allow_insecure_http: true,
    allow_raw: false,
    auth: null,
    capabilities_path: null,
    runtime_profile_path: null,
    typed_protocol: null,
    config: null,
    trust: null,
    // Room for a busy machine; a test of the timeout names its own.
    timeouts: { connect_timeout_ms: 60_000, request_timeout_ms: 60_000 },
    ...parts,
  };
}

/** The hostile provider over standard input and output. */
export function hostileChild(parts: Partial<McpProviderConfig> = {}): McpProvider {
  const entry = mcpEntry("hostile", { command: HOSTILE_COMMAND, ...parts });
  return createMcpProvider(entry, contractOf("hostile"), FOLDER);
}

/** The hostile provider over HTTP, with the function that ends it. */
export async function hostileEndpoint(
  parts: Partial<McpProviderConfig> = {},
  mode: readonly string[] = [],
): Promise<{ readonly provider: McpProvider; readonly close: () => Promise<void> }> {
  const [program = "", ...fixed] = HOSTILE_COMMAND;
  const args = [...fixed, "http", ...mode];
  const process = new Deno.Command(program, { args, stdout: "piped", stderr: "null", stdin: "null" }).spawn();
  const reader = process.stdout.getReader();
  const { value } = await reader.read();
  const port = new TextDecoder().decode(value).trim();
  const entry = mcpEntry("hostile", { url: `http://127.0.0.1:${port}/mcp`, ...parts });
  const provider = createMcpProvider(entry, contractOf("hostile"), FOLDER);
  const close = async (): Promise<void> => {
    await provider.close();
    process.kill("SIGKILL");
    await reader.cancel();
    await process.status;
  };
  return { provider, close };
}

/** Queries a provider. */
export function ask(
  provider: McpProvider,
  params: Readonly<Record<string, string>>,
  signal: AbortSignal = new AbortController().signal,
): Promise<ProviderAnswer> {
  return provider.query({ provider_id: provider.provider_id, check_id: "any", params }, CONTEXT, signal);
}

/** The outcome of an answer: `ok` or its code. */
export function codeOf(answer: ProviderAnswer): string {
  return answer.ok ? "ok" : answer.code;
}
