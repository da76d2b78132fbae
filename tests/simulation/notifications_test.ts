/** The sender of events against receivers that are down, flaky, hostile and slow, over hours of simulated time and real stores. */

import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { setImmediate as turn } from "node:timers/promises";
import type { OutboxEntry } from "../../src/store/outbox.ts";
import type { RunStore } from "../../src/store/types.ts";
import type { EventType, WebhookEvent } from "../../src/tools/notifications/events.ts";
import {
  KEPT_MILLIS,
  type Notifier,
  OPEN_MAXIMUM,
  PAUSE_MAXIMUM_MILLIS,
  type Sent,
  startNotifier,
} from "../../src/tools/notifications/notifier.ts";
import { appendTo, headAfter, runKey } from "./store/fixture.ts";
import { type Implementation, withStores } from "./store/open.ts";

const MEMORY: Implementation = { name: "memory", changes: { type: "memory" } };
/** Without a flush for each commit, since nothing here ends a machine. */
const SQLITE: Implementation = { name: "sqlite", changes: { type: "sqlite", sync_mode: "normal" } };
const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const BEGIN = Date.UTC(2026, 0, 1);

/** A clock whose time passes only where nothing is left to do. */
class Clock {
  /** Milliseconds since the start, of the monotonic clock. */
  elapsed = 0;
  /** The start by the clock of the machine. */
  #begin = BEGIN;
  readonly #timers = new Set<{ readonly at: number; readonly fire: () => void }>();

  /** Unix milliseconds by the clock of the machine. */
  get now(): number {
    return this.#begin + this.elapsed;
  }

  /** Sets the clock of the machine. */
  set(millis: number): void {
    this.#begin += millis;
  }

  delay = (millis: number, signal?: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      if (signal?.aborted === true) return resolve();
      const timer = { at: this.elapsed + millis, fire: resolve };
      this.#timers.add(timer);
      signal?.addEventListener("abort", () => {
        this.#timers.delete(timer);
        resolve();
      }, { once: true });
    });

  async pass(millis: number): Promise<void> {
    const end = this.elapsed + millis;
    for (;;) {
      for (let quiet = 0; quiet < 12; quiet++) await turn();
      const next = [...this.#timers].sort((a, b) => a.at - b.at)[0];
      if (next === undefined || next.at > end) break;
      this.#timers.delete(next);
      this.elapsed = Math.max(this.elapsed, next.at);
      next.fire();
    }
    this.elapsed = end;
  }

  /** Lets time pass at once, as while a machine sleeps. */
  async skip(millis: number): Promise<void> {
    this.elapsed += millis;
    await this.pass(0);
  }
}

/** A receiver: what it answers, and what it got. */
interface Receiver {
  answer: (event: WebhookEvent) => Sent | Promise<Sent>;
  readonly got: string[];
  attempts: number;
}

const DELIVERED: Sent = { kind: "delivered" };
const DOWN: Sent = { kind: "failed", reason: "connection_failed", retryAfterMillis: null };
const TYPE: EventType = "stage.opened";

interface World {
  readonly clock: Clock;
  readonly runs: RunStore;
  readonly receiver: Receiver;
  readonly logged: string[];
  /** Accepts records of a run, the first ones of which create it. */
  readonly accept: (run: string, count: number) => Promise<void>;
  readonly start: (holder: string) => Notifier;
  /** Changes the file of the store behind its back. */
  readonly damage: (sql: string) => void;
}

function inWorld(
  implementation: Implementation,
  body: (world: World) => Promise<void>,
): Promise<void> {
  return withStores(implementation, {}, async ({ runs }, folder) => {
    const clock = new Clock();
    const receiver: Receiver = { answer: () => DELIVERED, got: [], attempts: 0 };
    const logged: string[] = [];
    const instants = new Map<string, number>();
    const started: Notifier[] = [];
    await runs.outbox.register("target");
    const eventsOf = ({ run_key, revision, record_id }: OutboxEntry): Promise<readonly WebhookEvent[]> =>
      Promise.resolve([{
        id: `${record_id}:${TYPE}`,
        type: TYPE,
        instant: instants.get(record_id) ?? 0,
        body: `${run_key.run_id} ${revision}`,
      }]);
    const start = (holder: string): Notifier => {
      const notifier = startNotifier({
        outbox: runs.outbox,
        target: "target",
        holder,
        eventsOf,
        send: async (event, signal) => {
          receiver.attempts += 1;
          const sent = await receiver.answer(event);
          if (signal.aborted) return DOWN;
          if (sent.kind === "delivered") receiver.got.push(event.body);
          return sent;
        },
        log: (_, message) => void logged.push(message),
        now: () => clock.now,
        elapsed: () => clock.elapsed,
        delay: clock.delay,
        random: () => 0.5,
      });
      started.push(notifier);
      return notifier;
    };
    let operations = 0;
    const accept: World["accept"] = async (run, count) => {
      const known = await runs.getHead(runKey(run));
      let head = known?.head ?? null;
      for (let done = 0; done < count; done++) {
        const append = appendTo(runKey(run), head, `operation ${++operations}`);
        head = headAfter(append);
        instants.set(head.record_id, clock.now);
        assert.deepEqual(await runs.append(append), { outcome: "accepted" });
      }
      for (const notifier of started) notifier.wake();
    };
    const damage = (sql: string): void => {
      using database = new DatabaseSync(`${folder}/gate.db`);
      database.exec(sql);
    };
    try {
      await body({ clock, runs, receiver, logged, accept, start, damage });
    } finally {
      const ends = Promise.all(started.map((notifier) => notifier.close()));
      await clock.pass(MINUTE);
      await ends;
    }
  });
}

function valueOf(notifier: Notifier, name: string): number {
  return notifier.measures().find((measure) => measure.name === `gate_notify_${name}`)?.value ?? NaN;
}

/** The events of each run in the order of their revisions: what a receiver can restore. */
function restored(got: readonly string[]): string {
  const runs = Map.groupBy(new Set(got), (body) => body.split(" ")[0]);
  return [...runs.values()].map((events) =>
    events.map((body) => Number(body.split(" ")[1])).sort((a, b) => a - b).join(",")
  ).join(" | ");
}

for (const implementation of [MEMORY, SQLITE]) {
  const test = (what: string, body: (world: World) => Promise<void>): void =>
    Deno.test(`Notifier (${implementation.name}) ${what}`, () => inWorld(implementation, body));

  test("a receiver that is down for an hour gets everything, in the order of acceptance, and is tried 30 times at most", async (world) => {
    const { clock, receiver, accept, start } = world;
    receiver.answer = () => DOWN;
    const notifier = start("a");
    for (let minute = 0; minute < 60; minute++) {
      await accept(`run ${minute % 3}`, 2);
      await clock.pass(MINUTE);
    }
    assert.ok(receiver.attempts <= 30, String(receiver.attempts));
    assert.equal(valueOf(notifier, "failed_total"), receiver.attempts);
    assert.ok(valueOf(notifier, "oldest_seconds") >= 3_600);
    receiver.answer = () => DELIVERED;
    await clock.pass(PAUSE_MAXIMUM_MILLIS + MINUTE);
    assert.equal(new Set(receiver.got).size, 120);
    assert.equal(restored(receiver.got), Array.from({ length: 3 }, () => range(1, 40)).join(" | "));
    assert.deepEqual([valueOf(notifier, "dropped_total"), valueOf(notifier, "oldest_seconds")], [0, 0]);
  });

  test("a receiver that is down for two seconds gets everything within four more, though eight requests failed at once", async (world) => {
    const { clock, receiver, accept, start } = world;
    receiver.answer = () => DOWN;
    await accept("one", 50);
    start("a");
    await clock.pass(2 * SECOND);
    assert.ok(receiver.attempts >= 10, String(receiver.attempts));
    receiver.answer = () => DELIVERED;
    await clock.pass(4 * SECOND);
    assert.equal(restored(receiver.got), range(1, 50));
  });

  test("a process that ends while the receiver is down leaves everything to the next one", async ({ clock, receiver, accept, start }) => {
    receiver.answer = () => DOWN;
    const first = start("a");
    await accept("one", 100);
    await clock.pass(MINUTE);
    const ended = first.close();
    await clock.pass(SECOND);
    await ended;
    receiver.answer = () => DELIVERED;
    start("b");
    await clock.pass(MINUTE);
    assert.equal(restored(receiver.got), range(1, 100));
  });

  test("an event that is refused again and again holds up no other one, and is tried until it is dropped after 7 days", async (world) => {
    const { clock, receiver, accept, start, logged } = world;
    receiver.answer = ({ body }) => body.endsWith(" 2") ? { kind: "refused", reason: "status 400" } : DELIVERED;
    const notifier = start("a");
    await accept("one", 50);
    await clock.pass(MINUTE);
    assert.equal(receiver.got.length, 49);
    await clock.skip(KEPT_MILLIS - 2 * MINUTE);
    assert.equal(valueOf(notifier, "dropped_total"), 0);
    await clock.pass(2 * MINUTE);
    assert.equal(valueOf(notifier, "dropped_total"), 1);
    assert.ok(logged.some((message) => message.includes("dropped")));
    await accept("one", 1);
    await clock.pass(MINUTE);
    // The lease ended while the clock jumped, so events above the refused one were sent again.
    assert.equal(new Set(receiver.got).size, 50);
  });
}

Deno.test(`Notifier: of a receiver that refuses everything, ${OPEN_MAXIMUM} events wait in memory and the others in the store`, () =>
  inWorld(MEMORY, async (world) => {
    const { clock, receiver, accept, start } = world;
    receiver.answer = () => ({ kind: "refused", reason: "status 401" });
    start("a");
    await accept("one", OPEN_MAXIMUM + 200);
    await clock.pass(HOUR);
    receiver.answer = () => DELIVERED;
    await clock.pass(HOUR);
    assert.equal(restored(receiver.got), range(1, OPEN_MAXIMUM + 200));
  }));

/** What the receiver asks for in milliseconds, and the least and the most milliseconds until the second attempt. */
const PAUSES: readonly (readonly [asked: number | null, least: number, most: number])[] = [
  [null, 300, 500],
  [10 * SECOND, 10 * SECOND, 11 * SECOND],
  [24 * HOUR, PAUSE_MAXIMUM_MILLIS, PAUSE_MAXIMUM_MILLIS + SECOND],
];

for (const [asked, least, most] of PAUSES) {
  Deno.test(`Notifier pauses where the receiver asks for ${asked} ms: ${least} to ${most} ms`, () =>
    inWorld(MEMORY, async ({ clock, receiver, accept, start }) => {
      const times: number[] = [];
      receiver.answer = () => {
        times.push(clock.now);
        return times.length === 1 ? { kind: "failed", reason: "status 503", retryAfterMillis: asked } : DELIVERED;
      };
      start("a");
      await accept("one", 1);
      await clock.pass(most + SECOND);
      const [first = 0, second = 0] = times;
      assert.ok(second - first >= least && second - first <= most, String(second - first));
    }));
}

Deno.test("Notifier sends nothing after a 410, and everything after the next start", () =>
  inWorld(MEMORY, async ({ clock, receiver, accept, start, logged }) => {
    receiver.answer = () => ({ kind: "gone" });
    const first = start("a");
    await accept("one", 1);
    await clock.pass(MINUTE);
    await accept("one", 20);
    await clock.pass(HOUR);
    assert.equal(receiver.attempts, 1);
    assert.ok(logged.some((message) => message.includes("410")));
    const ended = first.close();
    await clock.pass(SECOND);
    await ended;
    receiver.answer = () => DELIVERED;
    start("b");
    await clock.pass(MINUTE);
    assert.equal(restored(receiver.got), range(1, 21));
  }));

Deno.test("Notifier has at most 8 requests in flight at a receiver that is slow, and loses nothing", () =>
  inWorld(MEMORY, async ({ clock, receiver, accept, start }) => {
    let flying = 0;
    let most = 0;
    receiver.answer = async () => {
      most = Math.max(most, ++flying);
      await clock.delay(14 * SECOND);
      flying -= 1;
      return DELIVERED;
    };
    start("a");
    await accept("one", 64);
    await clock.pass(5 * MINUTE);
    assert.equal(most, 8);
    assert.equal(restored(receiver.got), range(1, 64));
  }));

Deno.test("Notifier drops the events of a receipt that was changed, says so, and sends those of the others", () =>
  inWorld(SQLITE, async ({ clock, receiver, accept, start, damage, logged }) => {
    await accept("one", 3);
    damage("UPDATE records SET result = result || ' ' WHERE revision = 2");
    const notifier = start("a");
    await clock.pass(MINUTE);
    assert.equal(restored(receiver.got), "1,3");
    assert.equal(valueOf(notifier, "dropped_total"), 1);
    assert.deepEqual(logged, ["A record cannot be read: its events are dropped"]);
  }));

Deno.test("Notifier takes the lease of a process that ended before the clock of the machine was set back", () =>
  inWorld(SQLITE, async ({ clock, receiver, accept, start, damage }) => {
    await accept("one", 3);
    damage("UPDATE outbox_targets SET holder = 'gone', expires = 1000 * (unixepoch() + 86400)");
    start("a");
    await clock.pass(MINUTE);
    assert.equal(restored(receiver.got), "1,2,3");
  }));

/** Milliseconds by which the clock of the machine is set while the receiver is down, and while it is up. */
const SETTINGS: readonly (readonly [what: string, whileDown: number, whileUp: number])[] = [
  ["back by an hour while the receiver is down", -HOUR, 0],
  ["back by an hour while the receiver is up", 0, -HOUR],
  ["back by a year at both times", -365 * 24 * HOUR, -365 * 24 * HOUR],
  ["forward by an hour at both times", HOUR, HOUR],
];

for (const implementation of [MEMORY, SQLITE]) {
  for (const [what, whileDown, whileUp] of SETTINGS) {
    Deno.test(`Notifier (${implementation.name}) delivers in time after the clock was set ${what}`, () =>
      inWorld(implementation, async ({ clock, receiver, accept, start }) => {
        receiver.answer = () => DOWN;
        start("a");
        await accept("one", 5);
        await clock.pass(10 * SECOND);
        clock.set(whileDown);
        await accept("one", 5);
        receiver.answer = () => DELIVERED;
        await clock.pass(20 * SECOND);
        assert.equal(restored(receiver.got), range(1, 10), "after the receiver came back");
        clock.set(whileUp);
        await accept("one", 5);
        await clock.pass(2 * SECOND);
        assert.equal(restored(receiver.got), range(1, 15), "while the receiver is up");
      }));
  }
}

Deno.test("two Notifiers on one store: one sends, and nothing is sent twice", () =>
  inWorld(SQLITE, async ({ clock, receiver, accept, start }) => {
    start("a");
    start("b");
    for (let round = 0; round < 10; round++) {
      await accept("one", 5);
      await clock.pass(2 * SECOND);
    }
    await clock.pass(MINUTE);
    // The lease ended while the clock jumped, so events above the refused one were sent again.
    assert.equal(new Set(receiver.got).size, 50);
    assert.equal(restored(receiver.got), range(1, 50));
  }));

function range(first: number, last: number): string {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index).join(",");
}
