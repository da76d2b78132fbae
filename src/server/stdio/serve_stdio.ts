/** The stdio transport: newline-delimited JSON-RPC on standard input and output, one connection per process. */

import { principalOf } from "../../access/principal.ts";
import type { ServerConfig } from "../../config/types.ts";
import type { Dispatcher } from "../protocol/dispatcher.ts";
import { NOT_UTF8, tooLarge } from "../protocol/parse_message.ts";
import { createRequestIdScanner, type RequestIdScanner } from "../protocol/request_id_recovery.ts";
import type { RequestDecision } from "../audit/event_coalescer.ts";
import type { Limits } from "../process/limits.ts";
import { aborted, delay, type Log } from "../process/log.ts";
import { openSession, type Session } from "../protocol/session.ts";
import { startFailure } from "../process/start_failure.ts";
import { createLineReader } from "../../canonical/lines.ts";
import { createOutbox, type Outbox } from "./outbox.ts";

/** The two ends of a connection. */
export interface StdioStreams {
  /** Fills the buffer; returns how many bytes, or null at the end. */
  readonly read: (buffer: Uint8Array) => Promise<number | null>;
  /** Writes some of the bytes; returns how many. */
  readonly write: (bytes: Uint8Array) => Promise<number>;
}

/** The options of the stdio transport. */
export interface StdioOptions {
  readonly streams: StdioStreams;
  readonly server: ServerConfig;
  readonly dispatcher: Dispatcher;
  readonly limits: Limits;
  readonly log: Log;
  /** Aborted when the process should stop: reading ends, requests in work are finished. */
  readonly stop: AbortSignal;
  /** Aborted when the stores or the audit log cannot be opened; its reason is the error of every answer. */
  readonly broken: AbortSignal;
  /** Receives the messages that were rejected before a tool was called. */
  readonly refused?: (decision: RequestDecision) => void;
  /** Called once, when the first answer was sent. */
  readonly answered: () => void;
  /** How long the end waits; default {@link PATIENCE}. */
  readonly patience?: Readonly<Record<keyof typeof PATIENCE, number>>;
}

/** Why reading ended. */
type ReadEnd = "end_of_input" | "stopped";

/** Why serving ended. */
export type StdioEnd = ReadEnd | "reader_gone";

/** The subject of the client that started the process. */
export const STDIO_SUBJECT = "stdio";

/** Characters of unread answers from which on no more requests are read. */
const OUTBOX_CHARACTERS = 1 << 20;

/** A line without a message. */
const BLANK = /^[ \t\r]*$/;

/** Requests of one read that are started in one turn of the event loop. */
const LINES_A_TURN = 32;

/** The longest id that is recovered from an oversized message, in bytes. */
const LONG_ID_BYTES = 1024;

/** Bytes of one read. */
const READ_BYTES = 1 << 16;

/**
 * How long a process waits for requests in work, in milliseconds: after a stop signal (`stopped`) or the end of input
 * (`end_of_input`; tools have shorter deadlines of their own). After a failed start it waits for a request to answer
 * (`broken`).
 */
export const PATIENCE = { stopped: 10_000, end_of_input: 60_000, broken: 10_000 } as const;

/** Serves one client until its input ends, it no longer reads, or the process should stop. */
export async function serveStdio(options: StdioOptions): Promise<StdioEnd> {
  const gone = new AbortController();
  const outbox = createOutbox({ write: options.streams.write, closed: () => gone.abort() });
  let answered = false;
  const session = openSession({
    dispatcher: options.dispatcher,
    limits: options.limits,
    principal: principalOf(options.server.auth?.principals ?? [], STDIO_SUBJECT, "local"),
    origin: { transport: "stdio", peer_address: null },
    log: options.log,
    ...options.refused === undefined ? {} : { refused: options.refused },
    send: (line) => {
      outbox.send(line);
      if (answered) return;
      answered = true;
      options.answered();
    },
  });
  const failure = answerFailure(options, session);
  const end = await readAll(options, session, outbox, AbortSignal.any([options.stop, gone.signal, failure.signal]));
  failure.cancel();
  await finishWork(options, session, outbox, end, gone.signal);
  return gone.signal.aborted ? "reader_gone" : end;
}

/**
 * When the stores or the audit log cannot be opened, answers the requests in work, or the next one, with that failure.
 * A silent end would look like a defect of the client.
 *
 * @returns A signal that is aborted after such an answer, or after `PATIENCE.broken` without a request
 */
function answerFailure(
  { broken, patience = PATIENCE }: StdioOptions,
  session: Session,
): { readonly signal: AbortSignal; readonly cancel: () => void } {
  const answered = new AbortController();
  let cancel = (): void => undefined;
  const fail = (): void => {
    const late = delay(patience.broken);
    cancel = late.cancel;
    late.passed.then(() => answered.abort());
    session.fail(startFailure(broken.reason).edgeError, () => answered.abort());
  };
  if (broken.aborted) fail();
  else broken.addEventListener("abort", fail);
  return { signal: answered.signal, cancel: () => cancel() };
}

/** Reads lines into the session until the input ends or reading should stop. */
function readAll(options: StdioOptions, session: Session, outbox: Outbox, stop: AbortSignal): Promise<ReadEnd> {
  const { promise, resolve, reject } = Promise.withResolvers<ReadEnd>();
  // A pending read or wait cannot be cancelled, so stopping abandons it.
  let parked = false;
  stop.addEventListener("abort", () => parked && resolve("stopped"));
  const park = async <T>(wait: Promise<T>): Promise<T> => {
    parked = true;
    const value = await wait;
    parked = false;
    return value;
  };
  const waitForReader = (): void | Promise<void> => {
    if (outbox.waiting() > OUTBOX_CHARACTERS) return park(outbox.below(OUTBOX_CHARACTERS / 2));
  };
  let received = 0;
  let long: RequestIdScanner | null = null;
  const lines = createLineReader(options.server.max_body_bytes, {
    line: (text, utf8) => {
      if (BLANK.test(text)) return;
      session.receive(text, utf8);
      // A turn of the event loop finishes fast requests, which frees places and fills the outbox.
      if (++received % LINES_A_TURN === 0 || options.limits.isFull()) return nextTurn().then(waitForReader);
      return waitForReader();
    },
    excess: (bytes) => (long ??= createRequestIdScanner(LONG_ID_BYTES)).push(bytes),
    fault: (fault) => {
      const error = fault === "too_long" ? tooLarge(options.server.max_body_bytes) : NOT_UTF8;
      session.reject(error, long?.id() ?? null);
      long = null;
    },
  });
  const loop = async (): Promise<ReadEnd> => {
    const buffer = new Uint8Array(READ_BYTES);
    while (!stop.aborted) {
      await waitForReader();
      if (stop.aborted) break;
      const count = await park(options.streams.read(buffer));
      if (stop.aborted) break;
      if (count === null) {
        await lines.end();
        return "end_of_input";
      }
      await lines.push(buffer.subarray(0, count));
    }
    return "stopped";
  };
  loop().then(resolve, reject);
  return promise;
}

/** Waits for the requests in work and until their answers are read, up to the patience. */
async function finishWork(
  options: StdioOptions,
  session: Session,
  outbox: Outbox,
  end: ReadEnd,
  gone: AbortSignal,
): Promise<void> {
  if (gone.aborted) return session.abort();
  session.endQuestions();
  const deadline = delay((options.patience ?? PATIENCE)[end]);
  let finished = false;
  const work = session.idle().then(() => outbox.below(0)).then(() => {
    finished = true;
  });
  await Promise.race([work, deadline.passed, aborted(gone)]);
  deadline.cancel();
  if (finished) return;
  if (!gone.aborted) options.log("warn", "Stopped before every request was answered");
  session.abort();
}

function nextTurn(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  setImmediate(resolve);
  return promise;
}
