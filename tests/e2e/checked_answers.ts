/**
 * Checks what servers answer to `tools/call` against what the called tool publishes, wherever tests read messages.
 *
 * @module
 */

import type { JsonObject } from "@/canonical/json.ts";

/** The calls on one connection. */
export interface CheckedAnswers {
  /** Notes the calls in a text that is sent: one JSON-RPC message a line. */
  readonly sent: (text: string) => void;
  /** Fails where a message answers a noted call with something that its tool does not publish. */
  readonly received: (message: unknown) => Promise<void>;
}

interface Call {
  readonly id?: unknown;
  readonly params?: { readonly name?: unknown };
}

interface Answer {
  readonly id?: unknown;
  readonly result?: { readonly structuredContent?: JsonObject };
}

/** Starts to note calls. */
export function checkAnswers(): CheckedAnswers {
  const tools = new Map<unknown, string>();
  return {
    sent: (text) => {
      for (const line of text.split("\n")) {
        if (!line.includes('"tools/call"')) continue;
        const { id, params } = readMessage(line) as Call;
        tools.set(id, String(params?.name));
      }
    },
    received: async (message) => {
      const { id, result } = (message ?? {}) as Answer;
      const tool = tools.get(id);
      const answer = result?.structuredContent;
      if (tool === undefined || answer === undefined) return;
      // Loaded where a tool is called, since many tests call none.
      const { assertPublished } = await import("../answers.ts");
      await assertPublished(tool, answer);
    },
  };
}

/** A message; what is not one has no members. */
function readMessage(text: string): unknown {
  try {
    return JSON.parse(text) ?? {};
  } catch {
    return {};
  }
}

/** Checks the answer to one request, both as texts. */
export async function checkAnswer(request: string, answer: string): Promise<void> {
  const checked = checkAnswers();
  checked.sent(request);
  await checked.received(readMessage(answer));
}
