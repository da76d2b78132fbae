/**
 * Streams that announce changes of runs: `subscriptions/listen` of MCP 2026-07-28 over HTTP, for resources
 * `gate://runs/{namespace_id}/{run_id}`. One timer reads the heads of all watched runs, so records of other processes
 * are announced too.
 */

import type { Call } from "../../tools/framework/types.ts";
import type { EdgeError, RequestId } from "../process/edge_error.ts";
import type { Metrics } from "../process/metrics.ts";
import type { Dispatcher } from "../protocol/dispatcher.ts";
import { listenAcknowledgement, listenResult, resourceUpdated, resultResponse } from "../protocol/result_json.ts";
import { type NamedRun, readsRuns, runOfUri } from "../protocol/run_resource.ts";
import { errorReply, eventOf, eventStream, httpError, type HttpReply, KEEP_ALIVE, type StreamSink } from "./reply.ts";

/** The revision of the head of a run; null where the run does not exist. */
export type ReadRevision = (namespaceId: number, runId: string) => Promise<number | null>;

/** The options of the streams. */
export interface RunStreamOptions {
  readonly dispatcher: Pick<Dispatcher, "call">;
  readonly readRevision: ReadRevision;
  readonly metrics: Metrics;
  /** Streams of one caller at one time. */
  readonly perCaller: number;
}

/** Open streams. */
export interface RunStreams {
  /** Opens a stream for the runs among resources of namespaces that the caller may read; null where there are none. */
  readonly open: (uris: readonly string[], id: RequestId, call: Call) => Promise<HttpReply | null>;
  /** Ends every stream. */
  readonly close: () => void;
}

/** The interval at which heads are read, in milliseconds. */
const WATCH_MILLISECONDS = 1_000;
/** Turns between two keep-alive comments. */
const KEEP_ALIVE_TURNS = 15;
/** Streams at one time: of all callers and, with several callers, of one. */
export const STREAMS = { all: 256, caller: 32 } as const;
/** Runs of one stream. */
const RUNS_PER_STREAM = 64;
/** Runs that are watched at one time. */
const RUNS = 1024;
/** Unread bytes from which on a stream is dropped. */
const BEHIND_BYTES = 64 * 1024;

interface Stream {
  readonly id: RequestId;
  readonly subject: string;
  readonly uris: readonly string[];
  readonly sink: StreamSink;
}

/** The place of a stream that is requested and has not started: requests that are read together see each other. */
interface Claim {
  readonly subject: string;
  /** Runs that the stream will watch. */
  runs: number;
}

/** A run with the revision that was announced last. */
interface Watched extends NamedRun {
  revision: number | null;
  /** Streams that watch it. */
  count: number;
}

/** Makes the streams. */
export function createRunStreams(options: RunStreamOptions): RunStreams {
  const watch = createWatch(options.readRevision);
  const { streams } = watch;
  const claims = new Set<Claim>();
  options.metrics.gauge("gate_run_streams", "Open streams that announce changes of runs.", () => streams.size);
  const refusalOf = (subject: string): EdgeError | null => {
    const all = [...streams, ...claims];
    if (all.length >= STREAMS.all) return full("too many streams");
    const own = all.filter((one) => one.subject === subject).length;
    return own < options.perCaller ? null : { kind: "rate_limited", message: "Too many streams of this caller" };
  };
  const mayWatch = (count: number): boolean => {
    const claimed = [...claims].reduce((sum, { runs }) => sum + runs, 0);
    return watch.runs() + claimed + count <= RUNS;
  };
  const openClaimed = async (uris: readonly string[], id: RequestId, call: Call, claim: Claim): Promise<HttpReply> => {
    if (!mayWatch(uris.length)) return errorReply(httpError(full("too many runs are watched")), id);
    claim.runs = uris.length;
    const revisions = new Map<string, number | null>();
    for (const uri of uris) {
      const { namespaceId, runId } = runOf(uri);
      revisions.set(uri, await options.readRevision(namespaceId, runId));
    }
    return eventStream((sink) => {
      claims.delete(claim);
      watch.start({ id, subject: call.principal.subject, uris, sink }, revisions);
    });
  };
  return {
    open: async (uris, id, call) => {
      const { principal: { subject }, signal } = call;
      const refusal = refusalOf(subject);
      if (refusal !== null) return errorReply(httpError(refusal), id);
      const claim: Claim = { subject, runs: 0 };
      // A reply whose reader is gone is never started.
      signal.addEventListener("abort", () => claims.delete(claim), { once: true });
      if (!signal.aborted) claims.add(claim);
      let reply: HttpReply | null = null;
      try {
        const readable = await readableRuns(options, uris, call);
        reply = readable.length === 0 ? null : await openClaimed(readable, id, call, claim);
        return reply;
      } finally {
        if (reply?.stream === undefined) claims.delete(claim);
      }
    },
    close: () => {
      for (const stream of [...streams]) {
        stream.sink.write(eventOf(resultResponse(stream.id, listenResult(stream.id))));
        watch.end(stream);
        stream.sink.end();
      }
    },
  };
}

/** The streams with the runs that they watch. */
interface Watch {
  readonly streams: ReadonlySet<Stream>;
  readonly runs: () => number;
  readonly start: (stream: Stream, revisions: ReadonlyMap<string, number | null>) => void;
  readonly end: (stream: Stream) => void;
}

function createWatch(readRevision: ReadRevision): Watch {
  const streams = new Set<Stream>();
  const watched = new Map<string, Watched>();
  let timer: ReturnType<typeof setInterval> | null = null;
  let turns = 0;
  let isReading = false;
  const end = (stream: Stream): void => {
    if (!streams.delete(stream)) return;
    for (const uri of stream.uris) {
      const one = watched.get(uri);
      if (one !== undefined && --one.count === 0) watched.delete(uri);
    }
    if (streams.size > 0 || timer === null) return;
    clearInterval(timer);
    timer = null;
  };
  const send = (stream: Stream, text: string): void => {
    stream.sink.write(text);
    if (stream.sink.waiting() <= BEHIND_BYTES) return;
    end(stream);
    stream.sink.drop();
  };
  const announce = async (): Promise<void> => {
    for (const [uri, one] of watched) {
      const revision = await readRevision(one.namespaceId, one.runId);
      if (revision === one.revision) continue;
      one.revision = revision;
      for (const stream of streams) {
        if (stream.uris.includes(uri)) send(stream, eventOf(resourceUpdated(stream.id, uri)));
      }
    }
  };
  const tick = (): void => {
    if (++turns % KEEP_ALIVE_TURNS === 0) { for (const stream of streams) send(stream, KEEP_ALIVE); }
    if (isReading) return;
    isReading = true;
    // A store that does not answer now is read again at the next turn.
    announce().catch(() => {}).finally(() => isReading = false);
  };
  const start: Watch["start"] = (stream, revisions) => {
    streams.add(stream);
    for (const [uri, revision] of revisions) {
      const one = watched.get(uri) ?? { ...runOf(uri), revision, count: 0 };
      one.count++;
      watched.set(uri, one);
    }
    stream.sink.gone.addEventListener("abort", () => end(stream));
    send(stream, eventOf(listenAcknowledgement(stream.id, stream.uris)));
    timer ??= setInterval(tick, WATCH_MILLISECONDS);
  };
  return { streams, runs: () => watched.size, start, end };
}

function full(why: string): EdgeError {
  return { kind: "inflight_limit", message: `Server overloaded: ${why}` };
}

/** The runs among resources, of namespaces that the caller may read. */
async function readableRuns(
  { dispatcher }: RunStreamOptions,
  uris: readonly string[],
  call: Call,
): Promise<readonly string[]> {
  const runs = [...new Set(uris)].filter((uri) => runOfUri(uri) !== null).slice(0, RUNS_PER_STREAM);
  const namespaces = new Map<number, boolean>();
  for (const uri of runs) {
    const namespace_id = runOf(uri).namespaceId;
    if (namespaces.has(namespace_id)) continue;
    namespaces.set(namespace_id, await readsRuns((name, input) => dispatcher.call(name, input, call), namespace_id));
  }
  return runs.filter((uri) => namespaces.get(runOf(uri).namespaceId) === true);
}

function runOf(uri: string): NamedRun {
  return runOfUri(uri) ?? { namespaceId: 0, runId: "" };
}
