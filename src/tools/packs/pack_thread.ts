/**
 * The host of the worker that verifies and exports runpacks. The worker starts with the first job, runs a few jobs at a
 * time, and ends after a time without jobs.
 */

import { readJson } from "../../canonical/scan.ts";
import { createLimiter, type Limiter } from "../../canonical/limiter.ts";
import type { ExportedPack, exportRun, ExportSource } from "../../runpack/export.ts";
import { ExportError, type PackObject } from "../../runpack/format/objects.ts";
import type { VerificationReport } from "../../runpack/verify/types.ts";
import type { PackOrder, PackQuestion, PackReport, PackWork } from "./pack_protocol.ts";
import type { VerifyPack } from "./verify_pack.ts";

/** Verifies and exports runpacks on a worker thread. */
export interface PackThread {
  readonly verify: VerifyPack;
  readonly exportRun: typeof exportRun;
  /** Ends the worker; running jobs fail. */
  readonly close: () => void;
}

/** Jobs that run at one time. A request has at most one job, so `max_inflight` bounds the waiting jobs. */
const JOBS_AT_ONCE = 2;

/** How long the worker stays without a job, in milliseconds. */
const IDLE_MILLISECONDS = 30_000;

type Answer = (question: PackQuestion) => Promise<unknown>;

interface Job {
  readonly answer: Answer;
  readonly settle: (report: Exclude<PackReport, { readonly report: "asks" }>) => void;
  readonly fail: (error: unknown) => void;
}

/** What a thread knows, with the values that it starts with. */
class State {
  /** The folder that the worker may read. */
  readonly folder: string;
  worker: Worker | null = null;
  readonly jobs: Map<number, Job> = new Map();
  readonly whenFree: Limiter = createLimiter(JOBS_AT_ONCE);
  last = 0;
  idle: ReturnType<typeof setTimeout> | undefined;
  /** Why no more jobs are accepted; null while they are. */
  closed: Error | null = null;

  constructor(folder: string) {
    this.folder = folder;
  }
}

/**
 * Creates the thread; the worker starts with the first job.
 *
 * @param folder The folder of the local repository
 */
export function createPackThread(folder: string): PackThread {
  const state = new State(folder);
  return {
    verify: async (root, request, validateSchema, signal) => {
      const answer: Answer = async (question) => {
        if (question.name !== "schema") throw new TypeError(`Cannot answer "${question.name}" of a verification`);
        return await validateSchema(question.identity, readJson(question.schema), readJson(question.value));
      };
      return await state.whenFree(
        () => perform(state, { kind: "verify", root, request }, answer, signal),
      ) as VerificationReport;
    },
    exportRun: (_, source) => exportOnThread(state, source),
    close: () => {
      state.closed = new Error("Cannot work on runpacks: gate is shutting down");
      end(state, state.closed);
    },
  };
}

async function* exportOnThread(state: State, source: ExportSource): AsyncGenerator<PackObject, ExportedPack> {
  const { records, artifact, ...rest } = source;
  const gone = new AbortController();
  let offered: { readonly object: PackObject; readonly taken: () => void } | null = null;
  let arrived = Promise.withResolvers<void>();
  const answer: Answer = async (question) => {
    if (question.name === "records") return await records(question.after, question.limit);
    if (question.name === "artifact") return await artifact(question.identity);
    if (question.name === "schema") throw new TypeError('Cannot answer "schema" of an export');
    const { identity, bytes } = question;
    await new Promise<void>((taken) => {
      offered = { object: { identity, bytes }, taken };
      arrived.resolve();
    });
    return null;
  };
  const work: PackWork = { kind: "export", source: rest };
  const done = state.whenFree(() => perform(state, work, answer, gone.signal)) as Promise<ExportedPack>;
  done.then(() => arrived.resolve(), () => arrived.resolve());
  try {
    for (;;) {
      await arrived.promise;
      const { object, taken }: { object: PackObject | null; taken: () => void } = offered ??
        { object: null, taken: () => {} };
      if (object === null) return await done;
      offered = null;
      arrived = Promise.withResolvers<void>();
      done.then(() => arrived.resolve(), () => arrived.resolve());
      yield object;
      taken();
    }
  } finally {
    gone.abort();
  }
}

/** Sends the worker a job and answers its questions; starts the worker if it does not run. */
function perform(state: State, work: PackWork, answer: Answer, signal: AbortSignal): Promise<unknown> {
  if (state.closed !== null) return Promise.reject(state.closed);
  if (signal.aborted) return Promise.reject(signal.reason);
  clearTimeout(state.idle);
  const worker = state.worker ??= start(state);
  const id = ++state.last;
  const { promise, resolve, reject } = Promise.withResolvers<unknown>();
  const cancel = (): void => {
    send(worker, { order: "cancel", job: id });
    reject(signal.reason);
  };
  const over = (): void => {
    signal.removeEventListener("abort", cancel);
    if (!state.jobs.delete(id) || state.jobs.size > 0 || state.closed !== null) return;
    state.idle = setTimeout(() => stop(state), IDLE_MILLISECONDS);
    Deno.unrefTimer(state.idle);
  };
  signal.addEventListener("abort", cancel);
  state.jobs.set(id, {
    answer,
    fail: reject,
    settle: (report) => {
      if (report.report === "done") resolve(report.value);
      else reject(report.code === null ? new Error(report.message) : new ExportError(report.code, report.message));
    },
  });
  send(worker, { order: "begin", job: id, work });
  return promise.finally(over);
}

function send(worker: Worker, order: PackOrder): void {
  worker.postMessage(order);
}

function start(state: State): Worker {
  const read = [...new Set([state.folder, realPath(state.folder)])];
  const worker = new Worker(new URL("./pack_worker.ts", import.meta.url), {
    type: "module",
    name: "gate-packs",
    deno: {
      permissions: { env: false, net: false, read, write: false, run: false, ffi: false, sys: false, import: false },
    },
  });
  worker.onmessage = ({ data }: MessageEvent<PackReport>) => {
    const job = state.jobs.get(data.job);
    if (job === undefined) return;
    if (data.report === "asks") answerQuestion(worker, data.job, job, data.question);
    else job.settle(data);
  };
  worker.onerror = (event) => {
    // Without this call the error would end the whole process.
    event.preventDefault();
    if (state.worker === worker) end(state, new Error(`Cannot work on runpacks: the worker died: ${event.message}`));
  };
  return worker;
}

function answerQuestion(worker: Worker, id: number, job: Job, question: PackQuestion): void {
  job.answer(question).then(
    (value) => send(worker, { order: "answer", job: id, ok: true, value }),
    (error) => {
      // The caller gets this failure itself, not the one that the worker makes of it.
      job.fail(error);
      send(worker, { order: "answer", job: id, ok: false, value: null });
    },
  );
}

/** The folder that a path leads to; one that is not there yet leads nowhere else. */
function realPath(folder: string): string {
  try {
    return Deno.realPathSync(folder);
  } catch {
    return folder;
  }
}

function end(state: State, error: Error): void {
  for (const { fail } of state.jobs.values()) fail(error);
  stop(state);
}

function stop(state: State): void {
  clearTimeout(state.idle);
  state.worker?.terminate();
  state.worker = null;
}
