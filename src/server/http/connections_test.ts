import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { stoppedClock } from "../../../tests/clock.ts";
import { delay } from "../process/log.ts";
import { type Connections, createConnections, type Exchange, PIPELINED } from "./connections.ts";

interface Fake extends EventEmitter {
  remoteAddress: string | undefined;
  destroyed: boolean;
  bytesRead: number;
  readonly destroy: () => void;
}

/** A connection that emits its end later, like a real one. Without an address it was reset before it was accepted. */
function socketOf(remoteAddress: string | undefined): Socket {
  const fake: Fake = Object.assign(new EventEmitter(), {
    remoteAddress,
    destroyed: false,
    bytesRead: 0,
    destroy: (): void => {
      if (fake.destroyed) return;
      fake.destroyed = true;
      queueMicrotask(() => fake.emit("close"));
    },
  });
  return fake as unknown as Socket;
}

interface World extends AsyncDisposable {
  readonly connections: Connections;
  readonly reported: string[];
  readonly open: (address?: string) => Socket;
  /** Begins a request of a connection. */
  readonly begin: (socket: Socket, response?: ServerResponse) => Exchange | null;
}

function openWorld(most: number, readTime = 60_000, idleTime = 60_000): World {
  const reported: string[] = [];
  const connections = createConnections({
    connections: most,
    readTime,
    idleTime,
    interval: 5,
    refused: (reason, address) => void reported.push(`${reason} ${address}`),
  });
  const open = (address?: string): Socket => {
    const socket = socketOf(address);
    connections.open(socket);
    return socket;
  };
  const begin = (socket: Socket, response = responseOf()): Exchange | null =>
    connections.begin({ socket } as IncomingMessage, response);
  return { connections, reported, open, begin, [Symbol.asyncDispose]: () => Promise.resolve(connections.close()) };
}

for (const opened of [2, 3, 4]) {
  Deno.test(`open() keeps 3 connections: ${opened}`, async () => {
    await using world = openWorld(3);
    const sockets = Array.from({ length: opened }, () => world.open("192.0.2.1"));
    assert.deepEqual(sockets.map(({ destroyed }) => destroyed), [opened > 3, false, false, false].slice(0, opened));
    assert.equal(world.connections.count(), Math.min(opened, 3));
    assert.deepEqual(world.reported, opened > 3 ? ["too_many_connections 192.0.2.1"] : []);
  });
}

Deno.test("open() neither accepts nor reports a connection that was reset before", async () => {
  await using world = openWorld(1);
  const good = world.open("192.0.2.1");
  const gone = world.open();
  const parser = { onIncoming: (): number => assert.fail("nothing is read") };
  Object.assign(gone, { parser });
  world.connections.watch(gone);
  assert.equal(parser.onIncoming(), 2);
  assert.deepEqual([gone.destroyed, world.connections.has(gone), world.begin(gone)], [true, false, null]);
  assert.deepEqual([good.destroyed, world.connections.count(), world.reported], [false, 1, []]);
});

Deno.test("connections are reported by the address at their opening", async () => {
  await using world = openWorld(1, 5);
  const forgotten = (address: string): Socket => Object.assign(world.open(address), { remoteAddress: undefined });
  forgotten("192.0.2.1");
  const second = forgotten("192.0.2.2");
  const parser = { onIncoming: (): number => world.begin(second) === null ? 1 : 0 };
  Object.assign(second, { parser });
  world.connections.watch(second);
  for (let read = 0; read <= PIPELINED; read++) parser.onIncoming();
  const third = forgotten("192.0.2.3");
  world.connections.answered(world.begin(third) ?? assert.fail("it was not begun"));
  while (!third.destroyed) await delay(5).passed;
  assert.deepEqual(world.reported, [
    "too_many_connections 192.0.2.1",
    "too_many_pipelined 192.0.2.2",
    "answer_not_read 192.0.2.3",
  ]);
});

Deno.test("open() replaces the oldest idle connection of the peer with the most of them", async () => {
  await using world = openWorld(5);
  const good = world.open("192.0.2.1");
  const first = world.open("192.0.2.9");
  const second = world.open("192.0.2.9");
  const working = world.open("192.0.2.9");
  assert.notEqual(world.begin(working), null);
  world.open("192.0.2.2");
  world.open("192.0.2.3");
  assert.deepEqual([good, first, second, working].map(({ destroyed }) => destroyed), [false, true, false, false]);
  world.begin(second);
  world.connections.end(world.begin(good) ?? assert.fail("it was not begun"));
  world.open("192.0.2.3");
  world.open("192.0.2.3");
  assert.deepEqual([good, second, working].map(({ destroyed }) => destroyed), [false, false, false]);
  assert.deepEqual(
    world.reported.slice(1),
    ["too_many_connections 192.0.2.2", "too_many_connections 192.0.2.3"],
  );
});

Deno.test("open() ends the newcomer where every connection has a request in work", async () => {
  await using world = openWorld(2);
  const sockets = [world.open("192.0.2.1"), world.open("192.0.2.1")];
  for (const socket of sockets) world.begin(socket);
  assert.equal(world.open("192.0.2.2").destroyed, true);
  assert.deepEqual(sockets.map(({ destroyed }) => destroyed), [false, false]);
  assert.deepEqual(world.reported, ["too_many_connections 192.0.2.2"]);
});

for (const requests of [PIPELINED - 1, PIPELINED, PIPELINED + 1]) {
  Deno.test(`watch() lets ${PIPELINED} requests of one connection be read at one time: ${requests}`, async () => {
    await using world = openWorld(2);
    const socket = world.open("192.0.2.1");
    const exchanges: (Exchange | null)[] = [];
    const parser = { onIncoming: (): number => exchanges.push(world.begin(socket)) > 0 ? 0 : 1 };
    Object.assign(socket, { parser });
    world.connections.watch(socket);
    const read = Array.from({ length: requests }, () => parser.onIncoming());
    const isMuch = requests > PIPELINED;
    assert.deepEqual(read, Array.from({ length: requests }, (_, index) => index < PIPELINED ? 0 : 2));
    assert.deepEqual([socket.destroyed, world.connections.has(socket)], [isMuch, !isMuch]);
    assert.deepEqual(world.reported, isMuch ? ["too_many_pipelined 192.0.2.1"] : []);
    for (const exchange of exchanges) world.connections.end(exchange ?? assert.fail("it was not begun"));
    assert.equal(parser.onIncoming(), isMuch ? 2 : 0, "of a connection that has ended nothing is read");
  });
}

Deno.test("begin() rejects a request of a connection that has ended", async () => {
  await using world = openWorld(1);
  const socket = world.open("192.0.2.1");
  world.open("192.0.2.1");
  assert.deepEqual([socket.destroyed, world.begin(socket)], [true, null]);
});

function responseOf(): ServerResponse {
  return new EventEmitter() as unknown as ServerResponse;
}

Deno.test("answered() ends the connection of an answer that is not read, and no other", async () => {
  await using world = openWorld(4, 50);
  const answer = (address: string): readonly [Socket, ServerResponse] => {
    const [socket, response] = [world.open(address), responseOf()];
    world.connections.answered(world.begin(socket, response) ?? assert.fail("it was not begun"));
    return [socket, response];
  };
  const [slow] = answer("192.0.2.1");
  const [quick, read] = answer("192.0.2.2");
  read.emit("close");
  while (!slow.destroyed) await delay(5).passed;
  await delay(100).passed;
  assert.equal(quick.destroyed, false);
  assert.deepEqual(world.reported, ["answer_not_read 192.0.2.1"]);
});

for (const end of ["its answer is read", "its connection ends"]) {
  Deno.test(`whenOver() calls a function once when ${end}, and at once after that`, async () => {
    await using world = openWorld(1);
    const [socket, response] = [world.open("192.0.2.1"), responseOf()];
    const exchange = world.begin(socket, response) ?? assert.fail("it was not begun");
    let calls = 0;
    world.connections.whenOver(exchange, () => calls++);
    assert.equal(calls, 0);
    if (end === "its connection ends") socket.emit("close");
    response.emit("close");
    assert.equal(calls, 1);
    world.connections.whenOver(exchange, () => calls++);
    assert.equal(calls, 2);
  });
}

for (const [complete, isRead, owes] of [[true, false, true], [false, false, false], [true, true, false]] as const) {
  Deno.test(`owesAnswer() of a request, whole ${complete}, answer read ${isRead}: ${owes}`, async () => {
    await using world = openWorld(1);
    const [socket, response] = [world.open("192.0.2.1"), responseOf()];
    world.connections.begin({ socket, complete } as IncomingMessage, response);
    if (isRead) response.emit("close");
    assert.equal(world.connections.owesAnswer(socket), owes);
  });
}

Deno.test("connections that wait too long for a request are ended, without a report", async () => {
  await using world = openWorld(4, 60_000, 50);
  const [never, once, working] = ["192.0.2.1", "192.0.2.2", "192.0.2.3"].map(world.open) as [Socket, Socket, Socket];
  world.connections.end(world.begin(once) ?? assert.fail("it was not begun"));
  world.begin(working);
  while (!never.destroyed || !once.destroyed) await delay(5).passed;
  await delay(100).passed;
  assert.deepEqual([working.destroyed, world.connections.count(), world.reported], [false, 1, []]);
});

Deno.test("a connection that sends something waits anew, once for each time", async () => {
  using clock = stoppedClock();
  await using world = openWorld(2, 60_000, 200);
  const [silent, sends] = [world.open("192.0.2.1"), world.open("192.0.2.2")];
  Object.assign(sends, { bytesRead: 1 });
  clock.pass(200);
  while (!silent.destroyed) await delay(5).passed;
  clock.pass(199);
  await delay(20).passed;
  assert.equal(sends.destroyed, false);
  clock.pass(1);
  while (!sends.destroyed) await delay(5).passed;
});

Deno.test("a connection whose answer is not read yet waits from the time at which it is read", async () => {
  using clock = stoppedClock();
  await using world = openWorld(2, 60_000, 100);
  const [silent, reads] = [world.open("192.0.2.1"), world.open("192.0.2.2")];
  const response = responseOf();
  const exchange = world.begin(reads, response) ?? assert.fail("it was not begun");
  world.connections.answered(exchange);
  world.connections.end(exchange);
  clock.pass(150);
  while (!silent.destroyed) await delay(5).passed;
  response.emit("close");
  clock.pass(99);
  await delay(20).passed;
  assert.equal(reads.destroyed, false);
  clock.pass(1);
  while (!reads.destroyed) await delay(5).passed;
  assert.deepEqual(world.reported, []);
});
