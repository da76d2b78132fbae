/// <reference lib="dom" />
/**
 * The kernel of the playground with everything that finds an answer. The page starts it twice: in itself, for the
 * console of the browser, and in a worker, which answers questions.
 *
 * @module
 */

import { type Answer, type Question, startAnswers } from "./answer.ts";
import { KERNEL } from "./kernel.ts";

/** What the page finds after the start of this program. */
export interface Program {
  /** Starts the program; its text is that of the whole program. */
  readonly gateProgram: () => void;
  /** Answers in the page, where no worker can be started. */
  readonly gateAnswer: (question: Question) => Promise<Answer>;
}

const gateAnswer = startAnswers();
Object.assign(globalThis, { gate: Object.freeze(KERNEL), gateAnswer });
if (!("document" in globalThis)) {
  addEventListener("message", async ({ data }: MessageEvent<Question>) => postMessage(await gateAnswer(data)));
}
