import assert from "node:assert/strict";
import { stoppedClock } from "../../../tests/clock.ts";
import { until } from "../../../tests/until.ts";
import { type AuditFile, AuditFileGone } from "./file.ts";
import { AuditUnavailable, LOCK_MILLISECONDS, openFileSink, QUEUE_EVENTS } from "./file_sink.ts";
import { DETAILS_CHARACTERS, newChain, type TimedEvent } from "./line.ts";
import { readLine } from "./read_line.ts";
import { openStreamSink, STREAM_QUEUE_CHARACTERS } from "./stream_sink.ts";
import type { AuditEvent } from "./types.ts";
import { verifyAuditFile } from "./verify.ts";

const OPENING: AuditEvent = {
  kind: "process",
  outcome: "begun",
  reason: "process_started",
  subject: null,
  origin: null,
};

function event(reason: string, kind: AuditEvent["kind"] = "mutation"): AuditEvent {
  return { kind, outcome: "done", reason, subject: "stdio", origin: null };
}

/** What a file does when it is written to. */
interface Disk {
  /** Null writes; a text fails with it; `held` is another process's lock. */
  state: string | null;
  sync: string | null;
  readonly batches: string[][];
  opened: number;
}

function disk(): Disk {
  return { state: null, sync: null, batches: [], opened: 0 };
}

function fileOn(under: Disk): AuditFile {
  under.opened++;
  return {
    append: (events: readonly TimedEvent[]) => {
      if (under.state === "held") return false;
      if (under.state !== null) throw new Error(under.state);
      under.batches.push(events.map(({ event }) => event.reason));
      return true;
    },
    sync: () => under.sync === null ? Promise.resolve(newChain()) : Promise.reject(new Error(under.sync)),
    chain: newChain,
    successor: (open) => open(newChain()),
    release: () => {},
    close: () => {},
  };
}

function sinkOn(under: Disk, faults: (string | null)[] = []): ReturnType<typeof openFileSink> {
  return openFileSink({
    path: "/audit.jsonl",
    opening: OPENING,
    onFault: (fault) => faults.push(fault),
    open: () => fileOn(under),
  });
}

function turn(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  setImmediate(resolve);
  return promise;
}

Deno.test("openFileSink() writes the events of one turn together", async () => {
  const under = disk();
  const sink = sinkOn(under);
  await Promise.all(["a", "b", "c"].map((reason) => sink.record(event(reason))));
  assert.deepEqual(under.batches, [["a", "b", "c"]]);
  await sink.close();
});

Deno.test("openFileSink() writes the events of one turn together, however many promises precede each", async () => {
  const under = disk();
  const sink = sinkOn(under);
  const call = async (index: number): Promise<void> => {
    for (let step = 0; step < 7 * index; step++) await null;
    await sink.record(event(`begun ${index}`));
    for (let step = 0; step < 5 * index; step++) await null;
    await sink.record(event(`done ${index}`));
  };
  await Promise.all([0, 1, 2].map(call));
  assert.deepEqual(under.batches, [["begun 0", "begun 1", "begun 2"], ["done 0", "done 1", "done 2"]]);
  await sink.close();
});

Deno.test("openFileSink() writes the event of a lone caller in its turn, without a flush of the disk", async () => {
  let synchronized = 0;
  const under = disk();
  const sync = (): Promise<ReturnType<typeof newChain>> => {
    synchronized++;
    return Promise.resolve(newChain());
  };
  const file = { ...fileOn(under), sync };
  const sink = openFileSink({ path: "/audit.jsonl", opening: OPENING, open: () => file });
  let later = false;
  setImmediate(() => later = true);
  for (const reason of ["begun", "done"]) await sink.record(event(reason));
  assert.deepEqual([under.batches, synchronized, later], [[["begun"], ["done"]], 0, false]);
  await sink.close();
  assert.equal(synchronized, 1);
});

Deno.test("openFileSink() writes events that no caller awaits with the next awaited one", async () => {
  const under = disk();
  const sink = sinkOn(under);
  const read = sink.record(event("read", "request"));
  await sink.record(event("change"));
  assert.deepEqual(under.batches, [["read", "change"]]);
  await read;
  await sink.record(event("read", "request"));
  assert.deepEqual(under.batches, [["read", "change"], ["read"]]);
  await sink.close();
});

Deno.test("openFileSink() writes what piles up within one turn", async () => {
  const under = disk();
  const sink = sinkOn(under);
  const all = Array.from({ length: 2 * QUEUE_EVENTS }, () => sink.record(event("read", "request")));
  await Promise.all(all);
  assert.equal(under.batches.flat().length, 2 * QUEUE_EVENTS);
  assert.equal(sink.fault(), null);
  await sink.close();
});

Deno.test("openFileSink() refuses while its file cannot be written, counts what is lost, and recovers", async () => {
  const under = disk();
  const faults: (string | null)[] = [];
  const sink = sinkOn(under, faults);
  under.state = "No space left on device";
  for (const reason of ["a", "b"]) await assert.rejects(sink.record(event(reason)), AuditUnavailable);
  assert.equal(sink.fault(), "No space left on device");
  under.state = null;
  await sink.record(event("c"));
  assert.equal(sink.fault(), null);
  assert.deepEqual(under.batches, [["events_lost", "c"]]);
  assert.deepEqual(faults, ["No space left on device", null]);
  await sink.close();
});

Deno.test("openFileSink() waits for a file that another process holds, but not for ever", async () => {
  const under = disk();
  const sink = sinkOn(under);
  {
    using _ = stoppedClock();
    under.state = "held";
    const waited = sink.record(event("a"));
    setTimeout(() => under.state = null, 20);
    await waited;
    assert.deepEqual(under.batches, [["a"]]);
  }
  under.state = "held";
  const started = performance.now();
  await assert.rejects(sink.record(event("b")), /holds the file/);
  assert.ok(performance.now() - started >= LOCK_MILLISECONDS - 1);
  under.state = null;
  await sink.close();
});

Deno.test("openFileSink() lets no more wait than its queue holds", async () => {
  const under = disk();
  const sink = sinkOn(under);
  under.state = "held";
  const waiting = Array.from({ length: QUEUE_EVENTS }, () => sink.record(event("a")));
  await assert.rejects(sink.record(event("b")), /too many/);
  under.state = null;
  await Promise.all(waiting);
  assert.deepEqual(under.batches.map((batch) => batch.length), [QUEUE_EVENTS + 1]);
  assert.equal(under.batches[0]?.[0], "events_lost");
  await sink.close();
});

Deno.test("openFileSink() rejects events while the file cannot be synchronized", async () => {
  const under = disk();
  const sink = sinkOn(under);
  under.sync = "Input/output error";
  await until("the file was synchronized", () => sink.fault() === "Input/output error");
  await assert.rejects(sink.record(event("a")), AuditUnavailable);
  under.sync = null;
  await sink.close().catch(() => undefined);
});

Deno.test("openFileSink() opens the file again, and reports a failure to open", async () => {
  const under = disk();
  let broken = false;
  const sink = openFileSink({
    path: "/audit.jsonl",
    opening: OPENING,
    open: () => {
      if (broken) throw new Error("Permission denied");
      return fileOn(under);
    },
  });
  await sink.reopen();
  assert.equal(under.opened, 2);
  broken = true;
  await assert.rejects(sink.reopen(), /Permission denied/);
  assert.equal(sink.fault(), "Permission denied");
  await sink.record(event("a"));
  assert.equal(sink.fault(), null, "the file that was open is still written");
  await sink.close();
});

Deno.test("openFileSink() follows its path to another file, and stays with a moved one where that cannot be opened", async () => {
  const under = disk();
  let state: "here" | "moved" | "deleted" = "here";
  let opened = 0;
  const sink = openFileSink({
    path: "/audit.jsonl",
    opening: OPENING,
    open: () => {
      if (opened++ === 1) throw new Error("Permission denied");
      if (opened > 1) state = "here";
      const file = fileOn(under);
      return {
        ...file,
        append: (events, anyway) => {
          if (state === "deleted" || (state === "moved" && anyway !== true)) throw new AuditFileGone("gone");
          return file.append(events);
        },
      };
    },
  });
  state = "moved";
  await sink.record(event("a"));
  assert.deepEqual([opened, state, sink.fault()], [2, "moved", null]);
  await sink.record(event("b"));
  assert.deepEqual([opened, state], [3, "here"]);
  opened = 1;
  state = "deleted";
  await assert.rejects(sink.record(event("c")), /Permission denied/);
  await sink.record(event("d"));
  assert.deepEqual(under.batches, [["a"], ["b"], ["events_lost", "d"]]);
  await sink.close();
});

Deno.test("openFileSink() writes a last line, and no event after it", async () => {
  const under = disk();
  const sink = sinkOn(under);
  await sink.close();
  assert.deepEqual(under.batches, [["process_stopped"]]);
  await assert.rejects(sink.record(event("late")), /closed/);
});

/** A stream whose reader may be away. */
function stream(): { readonly write: (bytes: Uint8Array) => Promise<void>; text: string; read: () => void } {
  const waiting: (() => void)[] = [];
  const made = {
    text: "",
    away: true,
    write: (bytes: Uint8Array): Promise<void> => {
      const { promise, resolve } = Promise.withResolvers<void>();
      const take = (): void => {
        made.text += new TextDecoder().decode(bytes);
        resolve();
      };
      if (made.away) waiting.push(take);
      else take();
      return promise;
    },
    read: (): void => {
      made.away = false;
      for (const take of waiting.splice(0)) take();
    },
  };
  return made;
}

async function* once(text: string): AsyncGenerator<Uint8Array> {
  yield await Promise.resolve(new TextEncoder().encode(text));
}

Deno.test("openStreamSink() never blocks, drops and counts excess events, and keeps its chain intact", async () => {
  const under = stream();
  const sink = openStreamSink({ write: under.write, opening: OPENING });
  await turn();
  const sent = 2 * STREAM_QUEUE_CHARACTERS / 1024;
  for (let at = 0; at < sent; at++) await sink.record(event("a"));
  assert.equal(sink.fault(), null);
  under.read();
  await sink.close();
  const report = await verifyAuditFile(once(under.text));
  assert.equal(report.broken, null);
  const lines = under.text.trimEnd().split("\n").map((line) =>
    JSON.parse(line) as { reason: string; details?: unknown }
  );
  const kept = lines.filter(({ reason }) => reason === "a").length;
  const lost = lines.filter(({ reason }) => reason === "events_lost");
  assert.ok(kept > 0 && kept < sent);
  assert.deepEqual(lost.map(({ details }) => details), [{ count: sent - kept }]);
  assert.equal(lines.at(-1)?.reason, "process_stopped");
});

Deno.test("openStreamSink() writes the lines of several turns together", async () => {
  const writes: number[] = [];
  const write = (bytes: Uint8Array): Promise<void> => {
    writes.push(new TextDecoder().decode(bytes).split("\n").length - 1);
    return Promise.resolve();
  };
  const sink = openStreamSink({ write, opening: OPENING, delay: 3_600_000 });
  for (const reason of ["a", "b", "c"]) {
    await sink.record(event(reason));
    await turn();
  }
  assert.deepEqual(writes, []);
  await sink.close();
  assert.deepEqual(writes, [5]);
});

Deno.test("openStreamSink() survives a reader that is gone", async () => {
  const sink = openStreamSink({ write: () => Promise.reject(new Error("EPIPE")), opening: OPENING });
  await sink.record(event("a"));
  await sink.close();
});

for (const [length, isKept] of [[DETAILS_CHARACTERS, true], [DETAILS_CHARACTERS + 1, false]] as const) {
  Deno.test(`details of ${length} characters are ${isKept ? "kept" : "left out"}`, async () => {
    const under = stream();
    under.read();
    const sink = openStreamSink({ write: under.write, opening: OPENING });
    await sink.record({ ...event("a"), details: { text: "x".repeat(length - '{"text":""}'.length) } });
    await sink.close();
    const line = under.text.split("\n").find((each) => each.includes('"reason":"a"')) ?? "";
    const reading = readLine(new TextEncoder().encode(line));
    assert.ok(reading.ok);
    const { details } = reading.line;
    const shown = JSON.stringify(details);
    assert.equal(shown.length === length, isKept);
    if (!isKept) assert.deepEqual(details, { omitted_characters: length });
  });
}

Deno.test("what has no canonical form is replaced, and a tool's name is cut", async () => {
  const under = stream();
  under.read();
  const sink = openStreamSink({ write: under.write, opening: OPENING });
  await sink.record({ ...event("a"), tool: `${"t".repeat(127)}\ud83d\ude00`, subject: 'CN="x"\n\u2028' });
  await sink.close();
  const report = await verifyAuditFile(once(under.text));
  assert.equal(report.broken, null);
  const line = JSON.parse(under.text.split("\n")[1] ?? "") as { tool: string; subject: string };
  assert.equal(line.tool, `${"t".repeat(127)}\ufffd`);
  assert.equal(line.subject, 'CN="x"\n\u2028');
});
