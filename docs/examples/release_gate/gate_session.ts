/**
 * A gate server in a process of its own, talked to by the official MCP client over stdio.
 *
 * @module
 */

import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { CHECKOUT, LOAD_WHEN_NEEDED } from "./checks.ts";
import { inheritedEnvironment } from "./environment.ts";

/** How long an answer has to get lost, milliseconds. */
const LOSS_MILLIS = 300;

/** A JSON object. */
export interface Json {
  // deno-lint-ignore no-explicit-any
  readonly [name: string]: any;
}

/** A tool answered with an error where the demo needs a result. */
export class ToolFailure extends Error {
  /** Names the tool and what it said. */
  constructor(tool: string, message: string) {
    super(`Cannot call ${tool}: ${message}`);
    this.name = "ToolFailure";
  }
}

/** A connection to a server process. */
export interface GateSession {
  /** Calls a tool and gives its structured result. */
  readonly call: (tool: string, input: Json) => Promise<Json>;
  /** Calls a tool that answers with an outcome, and gives that: `{outcome, result}`. */
  readonly decide: (tool: string, input: Json) => Promise<Json>;
  /** Sends a call, drops whatever comes back, and ends the server. */
  readonly callAndLose: (tool: string, input: Json) => Promise<void>;
  readonly close: () => Promise<void>;
}

/** Starts a server on a configuration file, with some more environment, and connects to it. */
export async function connect(
  configPath: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<GateSession> {
  const transport = new StdioClientTransport({
    command: Deno.execPath(),
    args: [
      "run",
      "--no-prompt",
      "--quiet",
      ...LOAD_WHEN_NEEDED,
      "-P=serve",
      "main.ts",
      "serve",
      "--config",
      configPath,
      "--log-level",
      "error",
    ],
    cwd: CHECKOUT,
    env: { ...inheritedEnvironment(), ...environment },
    stderr: "inherit",
  });
  const client = new Client({ name: "release-gate-demo", version: "1.0.0" });
  await client.connect(transport);
  const call = async (tool: string, input: Json): Promise<Json> => {
    const answer = await client.callTool({ name: tool, arguments: { ...input } });
    const result = answer.structuredContent as Json | undefined;
    if (answer.isError || result === undefined) {
      throw new ToolFailure(tool, result?.["error"]?.["message"] ?? JSON.stringify(answer));
    }
    return result;
  };
  return {
    call,
    decide: async (tool, input) => (await call(tool, input))["outcome"],
    callAndLose: async (tool, input) => {
      transport.onmessage = () => {};
      const lost = client.callTool({ name: tool, arguments: { ...input } }).catch(() => undefined);
      await new Promise((resolve) => setTimeout(resolve, LOSS_MILLIS));
      await client.close();
      await lost;
    },
    close: () => client.close(),
  };
}
