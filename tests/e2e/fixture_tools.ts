/**
 * A few plain tools, so that protocol and transport can be tested without a store.
 *
 * @module
 */

import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, member } from "@/canonical/json.ts";
import type { Call, Tool, ToolAnswer } from "@/tools/framework/types.ts";

type Handler = (input: JsonObject, call: Call) => Promise<ToolAnswer>;

const HANDLERS: Readonly<Record<string, Handler>> = {
  /** Gives back what it was given. */
  echo: (input) => Promise.resolve({ ok: true, result: { input } }),
  /** The same, with the text of its result made beforehand. */
  echo_text: (input) => Promise.resolve({ ok: true, result: { input }, text: JSON.stringify({ input }) }),
  /** Names the members of its input at every depth. */
  names: (input) => Promise.resolve({ ok: true, result: { names: namesOf(input) } }),
  /** Answers after a while, or when its caller is gone; tells standard error that it begins, and which. */
  wait: async (input, call) => {
    const milliseconds = Number(member(input, "milliseconds") ?? 0);
    console.info(`wait ${milliseconds} begun`);
    const aborted = await pause(milliseconds, call.signal);
    console.info(aborted ? "wait aborted" : "wait done");
    return { ok: true, result: { aborted } };
  },
  /** Answers with so many characters. */
  large: (input) => Promise.resolve({ ok: true, result: { text: "x".repeat(Number(member(input, "characters"))) } }),
  /** Tells what the process keeps in memory, once the collector has run where it can be asked to. */
  memory: () => {
    (globalThis as { gc?: () => void }).gc?.();
    const { rss, heapUsed } = Deno.memoryUsage();
    return Promise.resolve({ ok: true, result: { resident: rss, heap: heapUsed } });
  },
  /** Fails as a tool may. */
  refuse: () => Promise.resolve({ ok: false, error: REFUSAL }),
  /** Fails as no tool should. */
  throws: () => Promise.reject(new Error("secret path /etc/shadow")),
  /** Prints, as a library might. */
  prints: () => {
    console.log("printed to the console");
    return Promise.resolve({ ok: true, result: {} });
  },
};

const REFUSAL = {
  code: "schema_not_found",
  kind: "not_found",
  message: 'Cannot get schema "a": no such version',
  retryable: false,
  details: { schema_id: "a" },
} as const;

/** The table of the fixture server. */
export function fixtureTools(): Map<string, Tool> {
  return new Map(
    Object.entries(HANDLERS).map(([name, handle]) => [name, {
      name,
      title: `Fixture ${name}`,
      description: `The fixture tool ${name}.`,
      hints: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
      group: "Read",
      audit: "request",
      inputSchema: { type: "object" },
      outputSchema: { type: "object", oneOf: [{ not: { required: ["error"] } }, { required: ["error"] }] },
      handle,
    }]),
  );
}

async function pause(milliseconds: number, signal: AbortSignal): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => resolve(false), milliseconds);
  signal.addEventListener("abort", () => resolve(true));
  // It may have been called off before the tools were there.
  if (signal.aborted) resolve(true);
  const aborted = await promise;
  clearTimeout(timer);
  return aborted;
}

function namesOf(value: JsonValue): string[] {
  if (isJsonArray(value)) return value.flatMap(namesOf);
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([name, inner]) => [name, ...namesOf(inner)]);
}
