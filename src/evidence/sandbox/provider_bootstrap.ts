/**
 * The inside of a provider's worker: every worker module imports this one first.
 *
 * Standard output carries the protocol of the server, and a worker shares it. So before any other module of the worker is
 * evaluated, everything that writes there is replaced.
 *
 * @module
 */

import type { ProviderOrder, ProviderReport } from "./provider_protocol.ts";

/** The part of the worker's global scope that is used here. */
interface WorkerScope {
  onmessage: ((event: MessageEvent<ProviderOrder>) => void) | null;
  readonly postMessage: (message: ProviderReport, transfer?: Transferable[]) => void;
}

/** Works on one question; the signal says that nobody waits for the answer any more. */
export type AnswerQuestion<Question, Answer> = (question: Question, signal: AbortSignal) => Answer | Promise<Answer>;

const scope = globalThis as unknown as WorkerScope;

silence();

/**
 * Takes away the usual ways to the process's standard output and standard error, and to its end. Packages that look at
 * the environment when they are loaded find it empty, where the runtime would throw.
 */
function silence(): void {
  const nothing = (): void => {};
  const write = (bytes: Uint8Array): number => bytes.length;
  const stream = {
    write: (bytes: Uint8Array) => Promise.resolve(write(bytes)),
    writeSync: write,
    isTerminal: () => false,
  };
  const refuse = (): never => {
    throw new Error("A provider may not end the process");
  };
  replace(globalThis, { console: new Proxy({}, { get: () => nothing }) });
  replace(Deno, { stdout: stream, stderr: stream, exit: refuse, kill: refuse });
  const { process } = globalThis as unknown as { readonly process: object };
  const nodeStream = { write: () => true, end: nothing, on: nothing, once: nothing };
  replace(process, { stdout: nodeStream, stderr: nodeStream, env: Object.freeze({}) });
  replace(process, { exit: refuse, abort: refuse, kill: refuse, reallyExit: refuse });
  replace(globalThis, { process: undefined });
}

function replace(target: object, members: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(members)) {
    Object.defineProperty(target, name, { value, configurable: false, writable: false });
  }
}

/**
 * Serves questions until the worker is terminated.
 *
 * @param prepare Makes what answers from the setup that the host sends first
 * @param transfer The buffers of an answer that are handed over, not copied
 */
export function serveQuestions<Setup, Question, Answer>(
  prepare: (setup: Setup) => AnswerQuestion<Question, Answer>,
  transfer: (answer: Answer) => Transferable[] = () => [],
): void {
  const open = new Map<number, AbortController>();
  let answerQuestion: AnswerQuestion<Question, Answer> | null = null;

  async function work(id: number, question: Question): Promise<void> {
    const controller = new AbortController();
    open.set(id, controller);
    try {
      if (answerQuestion === null) throw new Error("Worker was asked before it was set up");
      const working = answerQuestion(question, controller.signal);
      // What is there at once is sent at once.
      const answer = working instanceof Promise ? await working : working;
      const buffers = transfer(answer);
      // The runtime has a shorter way for a message alone.
      if (buffers.length === 0) scope.postMessage({ kind: "answer", id, answer });
      else scope.postMessage({ kind: "answer", id, answer }, buffers);
    } catch (error) {
      const message = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
      scope.postMessage({ kind: "failed", id, message });
    } finally {
      open.delete(id);
    }
  }

  scope.onmessage = ({ data: order }) => {
    if (order.kind === "ask") void work(order.id, order.question as Question);
    else if (order.kind === "cancel") open.get(order.id)?.abort();
    else {
      answerQuestion = prepare(order.setup as Setup);
      scope.postMessage({ kind: "ready" });
    }
  };
}
