/**
 * Open connections: so many at one time, each with so many requests, and none that does not read its answer. Where there
 * is no room for one more, it is made by whoever has most connections that wait: the oldest of those is ended.
 *
 * @module
 */

import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { addressOf, peerKey, under } from "../audit/peers.ts";

/** The connections of a listener. */
export interface Connections {
  /** Takes a connection in, or ends it where none can make room, and where nobody is at its other end any more. */
  readonly open: (socket: Socket) => void;
  /** Watches what is read of a connection: no more is once it holds too many requests. */
  readonly watch: (socket: Socket) => void;
  /** A request has begun; false: its connection has ended, there is nobody to answer. */
  readonly begin: (socket: Socket) => boolean;
  /** That request is no longer in work. */
  readonly end: (socket: Socket) => void;
  /** Its answer is on its way, whole; it must be read in time. */
  readonly answered: (socket: Socket, response: ServerResponse) => void;
  /**
   * Calls a function once: when an answer is over, read or not. Of answers that wait behind others on a connection that ends
   * the runtime tells nobody.
   */
  readonly whenOver: (socket: Socket, response: ServerResponse, then: () => void) => void;
  /** Whether a connection is open as far as this server is concerned. */
  readonly has: (socket: Socket) => boolean;
  readonly count: () => number;
  /** Ends all that are left. */
  readonly close: () => void;
}

/** What is bounded. */
export interface ConnectionsOptions {
  /** Connections at one time. */
  readonly connections: number;
  /** How long an answer may be on its way, in milliseconds. */
  readonly readTime: number;
  /** How often answers are looked at that are on their way, in milliseconds. */
  readonly interval: number;
  /** Told why a connection was ended, and the address of its other end. */
  readonly refused: (reason: string, peerAddress: string) => void;
}

/** Requests of one connection at one time; clients send the next one when they have read the answer. */
export const PIPELINED = 8;

interface State {
  /** Where it comes from; the runtime may have forgotten it when the connection has been reset. */
  readonly address: string;
  /** Whose it is. */
  readonly peer: string;
  /** In work. */
  requests: number;
  /** Answers that are on their way, and since when the one that is read now can be. */
  answers: number;
  readSince: number;
  /** What is called when the connection ends. */
  readonly ending: Set<() => void>;
}

interface Table {
  readonly options: ConnectionsOptions;
  readonly open: Map<Socket, State>;
  /** Those without a request in work, in the order in which they began to wait. */
  readonly waiting: Map<Socket, State>;
  /** How many of them each peer has. */
  readonly waitingOf: Map<string, number>;
}

/** Makes an empty table. */
export function createConnections(options: ConnectionsOptions): Connections {
  const table: Table = { options, open: new Map(), waiting: new Map(), waitingOf: new Map() };
  const timer = setInterval(() => endUnread(table), options.interval);
  return {
    open: (socket) => open(table, socket),
    watch: (socket) => watch(table, socket),
    begin: (socket) => begin(table, under(socket)),
    end: (socket) => end(table, under(socket)),
    answered: (socket, response) => answered(table, under(socket), response),
    whenOver: (socket, response, then) => whenOver(table.open.get(under(socket)), response, then),
    has: (socket) => table.open.has(under(socket)),
    count: () => table.open.size,
    close: () => {
      clearInterval(timer);
      for (const socket of table.open.keys()) socket.destroy();
    },
  };
}

function open(table: Table, socket: Socket): void {
  const { connections, refused } = table.options;
  const address = addressOf(socket);
  // Who resets a connection before it is taken has no address any more: there is nobody to answer, or to refuse.
  if (address === "") return void socket.destroy();
  if (table.open.size >= connections && !makeRoom(table)) {
    refused("too_many_connections", address);
    return void socket.destroy();
  }
  const state: State = { address, peer: peerKey(address), requests: 0, answers: 0, readSince: 0, ending: new Set() };
  table.open.set(socket, state);
  wait(table, socket, state);
  socket.on("close", () => forget(table, socket, state));
}

/** Ends the connection that has waited longest of those of the peer that has most of them. */
function makeRoom(table: Table): boolean {
  const most = Math.max(0, ...table.waitingOf.values());
  for (const [socket, state] of table.waiting) {
    if (table.waitingOf.get(state.peer) !== most) continue;
    table.options.refused("too_many_connections", state.address);
    forget(table, socket, state);
    socket.destroy();
    return true;
  }
  return false;
}

/** What reads requests off a connection of `node:http`; it has no name of its own there. */
interface Reader {
  /** Takes the head of a request; 2 has nothing more read of the connection. */
  onIncoming: (this: unknown, message: IncomingMessage, keepAlive: boolean) => number;
}

function watch(table: Table, socket: Socket): void {
  const { parser } = socket as Socket & { readonly parser?: Reader | null };
  if (parser === undefined || parser === null) return;
  const { onIncoming } = parser;
  // The runtime reads a packet to its end whatever has become of the connection meanwhile, and thousands of requests have
  // room in one: a few packets would keep everybody waiting for seconds, and take gigabytes.
  parser.onIncoming = function (message, keepAlive): number {
    return isAtEnd(table, under(socket)) ? 2 : onIncoming.call(this, message, keepAlive);
  };
}

/** Whether nothing more is to be taken of a connection; ends one that has too many requests. */
function isAtEnd(table: Table, socket: Socket): boolean {
  const state = table.open.get(socket);
  if (state === undefined) return true;
  if (state.requests < PIPELINED) return false;
  table.options.refused("too_many_pipelined", state.address);
  forget(table, socket, state);
  socket.destroy();
  return true;
}

function begin(table: Table, socket: Socket): boolean {
  const state = table.open.get(socket);
  if (state === undefined) return false;
  if (state.requests++ === 0) stopWaiting(table, socket, state);
  return true;
}

function end(table: Table, socket: Socket): void {
  const state = table.open.get(socket);
  if (state !== undefined && --state.requests === 0) wait(table, socket, state);
}

function wait({ waiting, waitingOf }: Table, socket: Socket, state: State): void {
  waiting.set(socket, state);
  waitingOf.set(state.peer, (waitingOf.get(state.peer) ?? 0) + 1);
}

function stopWaiting({ waiting, waitingOf }: Table, socket: Socket, { peer }: State): void {
  if (!waiting.delete(socket)) return;
  const left = (waitingOf.get(peer) ?? 0) - 1;
  if (left > 0) waitingOf.set(peer, left);
  else waitingOf.delete(peer);
}

function forget(table: Table, socket: Socket, state: State): void {
  table.open.delete(socket);
  stopWaiting(table, socket, state);
  for (const over of state.ending) over();
}

function whenOver(state: State | undefined, response: ServerResponse, then: () => void): void {
  if (state === undefined) return then();
  const over = (): void => {
    if (state.ending.delete(over)) then();
  };
  state.ending.add(over);
  response.on("close", over);
}

function answered(table: Table, socket: Socket, response: ServerResponse): void {
  const state = table.open.get(socket);
  if (state === undefined || response.writableFinished) return;
  if (state.answers++ === 0) state.readSince = performance.now();
  response.on("close", () => {
    state.answers--;
    state.readSince = performance.now();
  });
}

/** Ends the connections whose answers are not read. */
function endUnread(table: Table): void {
  const { readTime, refused } = table.options;
  const before = performance.now() - readTime;
  for (const [socket, state] of table.open) {
    if (state.answers === 0 || state.readSince > before) continue;
    refused("answer_not_read", state.address);
    forget(table, socket, state);
    socket.destroy();
  }
}
