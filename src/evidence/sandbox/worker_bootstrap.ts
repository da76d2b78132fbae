/**
 * The worker side: every worker module imports this module first.
 *
 * A worker shares standard output with the server, whose protocol runs over it. So this module replaces every function
 * that writes there before any other module of the worker is evaluated.
 */

import type { WorkerOrder, WorkerReport } from "./worker_protocol.ts";

/** The part of the worker's global scope that is used here. */
interface WorkerScope {
  onmessage: ((event: MessageEvent<WorkerOrder>) => void) | null;
  readonly postMessage: (message: WorkerReport, transfer?: Transferable[]) => void;
}

/** Answers one question; the signal aborts when the question is cancelled. */
export type AnswerQuestion<Question, Answer> = (question: Question, signal: AbortSignal) => Answer | Promise<Answer>;

const scope = globalThis as unknown as WorkerScope;

silence();

/**
 * Replaces the usual ways to write to standard output and standard error, and to end the process. Packages that read
 * the environment while they load find it empty; the runtime would throw.
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
  const env = Object.freeze({});
  const nodeStream = { write: () => true, end: nothing, on: nothing, once: nothing };
  replace(process, { stdout: nodeStream, stderr: nodeStream, env });
  replace(process, { exit: refuse, abort: refuse, kill: refuse, reallyExit: refuse });
  replace(globalThis, { process: Object.freeze({ env }) });
}

function replace(target: object, members: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(members)) {
    Object.defineProperty(target, name, { value, configurable: false, writable: false });
  }
}

/**
 * Serves questions until the worker is terminated.
 *
 * @param prepare Creates the answering function from the setup that the host sends first
 * @param transfer The buffers of an answer to transfer instead of copying
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
      if (answerQuestion === null) throw new Error("Cannot answer: the worker has no setup");
      const working = answerQuestion(question, controller.signal);
      // A synchronous answer is posted without a turn of the event loop.
      const answer = working instanceof Promise ? await working : working;
      const buffers = transfer(answer);
      // The runtime posts faster without a transfer list.
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
