/**
 * The requests that a server sends to the client of a connection (the eras before 2026-07-28). Loaded with the first
 * one.
 */

import { isJsonObject, type JsonObject, member } from "../../canonical/json.ts";
import { delay } from "../process/log.ts";

/** The questions of one connection. */
export interface Questions {
  /** Sends a request; null where the client answers with an error, or not in time, or too many questions are open. */
  readonly ask: (method: string, params: JsonObject, signal: AbortSignal) => Promise<JsonObject | null>;
  /** Takes a response of the client; returns whether it answers an open question. Any other is ignored. */
  readonly answered: (response: JsonObject) => boolean;
  /** Whether a response of the client is awaited. */
  readonly isOpen: () => boolean;
  /** Ends every open question without a result. */
  readonly end: () => void;
}

/** Open questions at one time. */
export const QUESTIONS_MAXIMUM = 16;

/** How long a question waits for a person, in milliseconds. */
const QUESTION_MILLISECONDS = 600_000;

/** What may differ between questions. */
export interface QuestionOptions {
  /** How long a question waits, in milliseconds. */
  readonly patience?: number;
  /** Makes the ids of requests; default: they are numbered. */
  readonly newId?: () => string;
}

/**
 * Opens the questions of a connection.
 *
 * @param send Sends one message, a line without its end
 */
export function openQuestions(send: (line: string) => void, options: QuestionOptions = {}): Questions {
  const open = new Map<string, (result: JsonObject | null) => void>();
  let last = 0;
  const { patience = QUESTION_MILLISECONDS, newId = (): string => `gate-${++last}` } = options;
  return {
    ask: async (method, params, signal) => {
      if (open.size >= QUESTIONS_MAXIMUM || signal.aborted) return null;
      const id = newId();
      const { promise, resolve } = Promise.withResolvers<JsonObject | null>();
      const late = delay(patience);
      const cancel = (): void => {
        send(notification("notifications/cancelled", { requestId: id }));
        resolve(null);
      };
      late.passed.then(cancel);
      signal.addEventListener("abort", cancel, { once: true });
      open.set(id, resolve);
      send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
      const result = await promise;
      open.delete(id);
      late.cancel();
      signal.removeEventListener("abort", cancel);
      return result;
    },
    answered: (response) => {
      const result = member(response, "result");
      const id = String(member(response, "id"));
      const resolve = open.get(id);
      open.delete(id);
      // A response with both members is an error and a result at once: nothing is taken from it.
      const isResult = isJsonObject(result) && member(response, "error") === undefined;
      resolve?.(isResult ? result : null);
      return resolve !== undefined;
    },
    isOpen: () => open.size > 0,
    end: () => {
      for (const resolve of open.values()) resolve(null);
    },
  };
}

function notification(method: string, params: JsonObject): string {
  return JSON.stringify({ jsonrpc: "2.0", method, params });
}
