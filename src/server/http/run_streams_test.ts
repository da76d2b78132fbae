import assert from "node:assert/strict";
import type { Call } from "../../tools/framework/types.ts";
import { createMetrics } from "../process/metrics.ts";
import type { HttpReply, StreamSink } from "./reply.ts";
import { createRunStreams, type RunStreams, STREAMS } from "./run_streams.ts";

const uriOf = (run: number, namespace = 2): string => `gate://runs/${namespace}/${run.toString(16).padStart(32, "0")}`;
const urisOf = (count: number, from = 0): string[] => Array.from({ length: count }, (_, index) => uriOf(from + index));
const callOf = (subject: string, { signal } = new AbortController()): Call =>
  ({ principal: { subject }, signal }) as Call;

/** Its revision cannot be read. */
const UNREADABLE = "f".repeat(32);

/** Streams over runs that all exist at revision 1; namespace 3 may not be read. */
function makeStreams(perCaller: number = STREAMS.all): RunStreams {
  return createRunStreams({
    dispatcher: {
      call: (_name, { namespace_id }) =>
        Promise.resolve({
          ok: true,
          answer: namespace_id === 3
            ? { ok: false, error: { code: "role_refused", kind: "unauthorized", message: "no", retryable: false } }
            : { ok: true, result: {} },
        }),
    },
    readRevision: (_, runId) => runId === UNREADABLE ? Promise.reject(new Error("no")) : Promise.resolve(1),
    metrics: createMetrics(),
    perCaller,
  });
}

interface Opened {
  readonly status: number;
  readonly texts: string[];
  readonly leave: () => void;
  readonly hasEnded: () => boolean;
  readonly wasDropped: () => boolean;
}

/** Opens a stream, and reads it unless it is behind. */
async function open(streams: RunStreams, uris: readonly string[], subject = "a"): Promise<Opened | null> {
  return read(await streams.open(uris, 7, callOf(subject)));
}

/** Reads the stream of a reply. */
function read(reply: HttpReply | null): Opened | null {
  if (reply === null) return null;
  const texts: string[] = [];
  const gone = new AbortController();
  let ended = false;
  let dropped = false;
  const sink: StreamSink = {
    write: (text) => texts.push(text) > 0,
    waiting: () => 0,
    end: () => void (ended = true),
    drop: () => void (dropped = true),
    gone: gone.signal,
  };
  reply.stream?.(sink);
  return { status: reply.status, texts, leave: () => gone.abort(), hasEnded: () => ended, wasDropped: () => dropped };
}

Deno.test("a stream names the runs that it watches: at most 64, of namespaces that the caller may read", async () => {
  const rows: readonly (readonly [readonly string[], number | null])[] = [
    [urisOf(63), 63],
    [urisOf(64), 64],
    [urisOf(65), 64],
    [[uriOf(1), uriOf(1)], 1],
    [[uriOf(1), uriOf(1, 3)], 1],
    [[uriOf(1, 3)], null],
    [["gate://docs/guide", "gate://runs/2/1", "gate://runs/0/" + "0".repeat(32)], null],
  ];
  for (const [uris, watched] of rows) {
    const streams = makeStreams();
    const stream = await open(streams, uris);
    const named = stream === null ? null : (stream.texts[0]?.match(/gate:/g) ?? []).length;
    assert.equal(named, watched, `${uris.length} ${uris[0]}`);
    streams.close();
    assert.equal(stream?.hasEnded() ?? true, true);
  }
});

Deno.test("a caller has so many streams, all together so many, and a stream that is left makes room", async () => {
  const streams = makeStreams(2);
  const [first, second, third] = [
    await open(streams, [uriOf(1)]),
    await open(streams, [uriOf(1)]),
    await open(streams, [uriOf(1)]),
  ];
  assert.deepEqual([first?.status, second?.status, third?.status], [200, 200, 429]);
  first?.leave();
  assert.equal((await open(streams, [uriOf(1)]))?.status, 200);
  const statuses: (number | undefined)[] = [];
  for (let count = 2; count <= STREAMS.all; count++) {
    statuses.push((await open(streams, [uriOf(1)], `b${count}`))?.status);
  }
  assert.deepEqual([statuses.slice(0, -1).every((status) => status === 200), statuses.at(-1)], [true, 503]);
  streams.close();
});

Deno.test("so many runs are watched at one time: 1,024", async () => {
  const streams = makeStreams();
  for (let part = 0; part < 16; part++) assert.equal((await open(streams, urisOf(64, 64 * part)))?.status, 200);
  const rows = [[urisOf(1, 5000), 503], [urisOf(64), 503]] as const;
  for (const [uris, status] of rows) assert.equal((await open(streams, uris))?.status, status);
  streams.close();
  const again = makeStreams();
  for (let part = 0; part < 15; part++) assert.equal((await open(again, urisOf(64, 64 * part)))?.status, 200);
  assert.equal((await open(again, urisOf(63, 5000)))?.status, 200);
  assert.equal((await open(again, urisOf(2, 6000)))?.status, 503);
  assert.equal((await open(again, urisOf(1, 6000)))?.status, 200);
  again.close();
});

Deno.test("streams that are requested at the same time do not pass the limits together", async () => {
  const rows = [
    [2, (_: number) => [uriOf(1)], 4, [200, 200, 429, 429]],
    [STREAMS.all, (index: number) => urisOf(64, 64 * index), 17, [...Array(16).fill(200), 503]],
  ] as const;
  for (const [perCaller, uris, requested, statuses] of rows) {
    const streams = makeStreams(perCaller);
    const replies = await Promise.all(
      Array.from({ length: requested }, (_, index) => streams.open(uris(index), 7, callOf("a"))),
    );
    assert.deepEqual(replies.map((reply) => reply?.status), statuses);
    const opened = replies.filter((reply) => reply?.status === 200).map((reply) => read(reply));
    assert.ok(opened.every((stream) => stream?.texts.length === 1 && !stream.wasDropped()));
    streams.close();
  }
});

Deno.test("a caller that has all its streams is told so, and when to ask again", async () => {
  const streams = makeStreams(1);
  await open(streams, [uriOf(1)]);
  const reply = await streams.open([uriOf(1)], 7, callOf("a"));
  assert.match(String(reply?.body), /-32071,"message":"Too many streams of this caller","data":{"kind":"rate_limited"/);
  assert.equal(reply?.fields["retry-after"], "1");
  streams.close();
});

Deno.test("a stream that does not start gives its place back", async () => {
  const gone = new AbortController();
  const left = new AbortController();
  left.abort();
  const rows: readonly (readonly [string, string, Call])[] = [
    ["the caller may read no run", uriOf(1, 3), callOf("a")],
    ["the revision cannot be read", `gate://runs/2/${UNREADABLE}`, callOf("a")],
    ["the caller leaves before the reply is sent", uriOf(1), callOf("a", gone)],
    ["the caller left before the request was read", uriOf(1), callOf("a", left)],
  ];
  for (const [name, uri, call] of rows) {
    const streams = makeStreams(1);
    await streams.open([uri], 7, call).catch(() => {});
    if (call.signal === gone.signal) {
      assert.equal((await streams.open([uriOf(1)], 7, callOf("a")))?.status, 429, "it is kept until then");
      gone.abort();
    }
    assert.equal((await open(streams, [uriOf(1)]))?.status, 200, name);
    streams.close();
  }
});
