/**
 * The stdio transport: newline-delimited JSON-RPC on standard input and output, one connection for the process.
 *
 * @module
 */

import { principalOf } from "../../access/principal.ts";
import type { ServerConfig } from "../../config/types.ts";
import type { Dispatcher } from "../protocol/dispatcher.ts";
import { createIdFinder, type IdFinder } from "../protocol/request_id_recovery.ts";
import type { TurnedAway } from "../audit/refusals.ts";
import type { Limits } from "../process/limits.ts";
import { delay, type Log } from "../process/log.ts";
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

/** What serving stdio needs. */
export interface StdioOptions {
  readonly streams: StdioStreams;
  readonly server: ServerConfig;
  readonly dispatcher: Dispatcher;
  readonly limits: Limits;
  readonly log: Log;
  readonly fastLane: boolean;
  /** Aborted when the process should stop: no more is read, what is in work is finished. */
  readonly stop: AbortSignal;
  /** Aborted where there is nothing to serve with; its reason is what clients are told, or thrown. */
  readonly broken: AbortSignal;
  /** Takes the messages that are turned away before anybody is asked. */
  readonly refused?: (refusal: TurnedAway) => void;
  /** Called once, after the first answer is on its way. */
  readonly answered: () => void;
  /** How long the end waits; {@link PATIENCE} unless told. */
  readonly patience?: Readonly<Record<keyof typeof PATIENCE, number>>;
}

/** Why reading ended. */
type ReadEnd = "end_of_input" | "stopped";

/** Why serving ended. */
export type StdioEnd = ReadEnd | "reader_gone";

/** What whoever started the process is called. */
export const STDIO_SUBJECT = "stdio";

/** Answers that may wait for a slow reader before no more requests are read. */
const OUTBOX_CHARACTERS = 1 << 20;

/** A line without a message. */
const BLANK = /^[ \t\r]*$/;

/** Requests that are begun in one turn of the event loop, of those that came together. */
const LINES_A_TURN = 32;

/** Bytes of the id of a message that is too long to be taken. */
const LONG_ID_BYTES = 1024;

/** Bytes of one read. */
const READ_BYTES = 1 << 16;

/**
 * How long a process waits, in milliseconds: for what is in work when it was told to stop, and when its input has ended,
 * where tools have their own, shorter deadlines; and for a request to answer, when there is nothing to serve with.
 */
export const PATIENCE = { stopped: 10_000, end_of_input: 60_000, broken: 10_000 } as const;

/** Serves one client until its input ends, it no longer reads, or the process should stop. */
export async function serveStdio(options: StdioOptions): Promise<StdioEnd> {
  const gone = new AbortController();
  const outbox = createOutbox({
    write: options.streams.write,
    closed: () => gone.abort(),
  });
  let answered = false;
  const session = openSession({
    dispatcher: options.dispatcher,
    limits: options.limits,
    principal: principalOf(options.server.auth?.principals ?? [], STDIO_SUBJECT, "local"),
    origin: { transport: "stdio", peer_address: null },
    log: options.log,
    fastLane: options.fastLane,
    ...options.refused === undefined ? {} : { refused: options.refused },
    send: (line) => {
      outbox.send(line);
      if (answered) return;
      answered = true;
      options.answered();
    },
  });
  const told = tellOfFailure(options, session);
  const end = await readAll(options, session, outbox, AbortSignal.any([options.stop, gone.signal, told.signal]));
  told.cancel();
  await finishWork(options, session, outbox, end, gone.signal);
  await session.close();
  return gone.signal.aborted ? "reader_gone" : end;
}

/**
 * Where there is nothing to serve with, answers why to the requests in work, or else to the first that comes: an end
 * without a word looks like a defect of the client.
 *
 * @returns Aborted once that was said, or nobody has asked for long enough
 */
function tellOfFailure(
  { broken, patience = PATIENCE }: StdioOptions,
  session: Session,
): { readonly signal: AbortSignal; readonly cancel: () => void } {
  const told = new AbortController();
  let cancel = (): void => undefined;
  const tell = (): void => {
    const late = delay(patience.broken);
    cancel = late.cancel;
    late.passed.then(() => told.abort());
    session.fail(startFailure(broken.reason).edgeError, () => told.abort());
  };
  if (broken.aborted) tell();
  else broken.addEventListener("abort", tell);
  return { signal: told.signal, cancel: () => cancel() };
}

/** Reads and hands on every line until the input ends or reading should stop. */
function readAll(options: StdioOptions, session: Session, outbox: Outbox, stop: AbortSignal): Promise<ReadEnd> {
  const { promise, resolve, reject } = Promise.withResolvers<ReadEnd>();
  // Neither a read nor a wait for the reader can be called off: reading stops by leaving them behind.
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
  let taken = 0;
  let long: IdFinder | null = null;
  const lines = createLineReader(options.server.max_body_bytes, {
    line: (text) => {
      if (BLANK.test(text)) return;
      session.receive(text);
      // What a turn of the event loop can finish makes room for the next request, and shows how much there is to write.
      if (++taken % LINES_A_TURN === 0 || options.limits.isFull()) return nextTurn().then(waitForReader);
      return waitForReader();
    },
    excess: (bytes) => (long ??= createIdFinder(LONG_ID_BYTES)).push(bytes),
    fault: (fault) => {
      session.refuse(fault === "too_long" ? tooLarge(options.server) : NOT_UTF8, long?.id() ?? null);
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

/** Waits for what is in work and for its answers to be read, but not for ever. */
async function finishWork(
  options: StdioOptions,
  session: Session,
  outbox: Outbox,
  end: ReadEnd,
  gone: AbortSignal,
): Promise<void> {
  if (gone.aborted) return session.abort();
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

function aborted(signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  if (signal.aborted) resolve();
  else signal.addEventListener("abort", () => resolve());
  return promise;
}

function nextTurn(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  setImmediate(resolve);
  return promise;
}

const NOT_UTF8 = { kind: "parse_error", message: "Cannot read message: must be UTF-8" } as const;

function tooLarge(server: ServerConfig): { readonly kind: "request_too_large"; readonly message: string } {
  const message = `Request too large: must be at most ${server.max_body_bytes} bytes (server.max_body_bytes)`;
  return { kind: "request_too_large", message };
}
