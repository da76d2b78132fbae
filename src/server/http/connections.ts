/**
 * Limits open connections, requests per connection, the time without a request, and the time for reading an answer.
 * When all places are taken, a new connection replaces the oldest idle one of the peer with the most idle connections.
 */

import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { addressOf, peerKey, under } from "../audit/peers.ts";

/** The connections of a listener. */
export interface Connections {
  /** Accepts a connection, or ends it when no idle one can be replaced or the peer is already gone. */
  readonly open: (socket: Socket) => void;
  /** Stops reading a connection once it holds too many requests. */
  readonly watch: (socket: Socket) => void;
  /** Counts a request as in work; null when its connection has ended. */
  readonly begin: (message: IncomingMessage, response: ServerResponse) => Exchange | null;
  /** Counts a request as no longer in work. */
  readonly end: (exchange: Exchange) => void;
  /** Starts the time for reading an answer that was written whole. */
  readonly answered: (exchange: Exchange) => void;
  /**
   * Calls a function once, when an answer was read or its connection ended. The runtime sends no event for answers that
   * are queued behind others on a connection that ends.
   */
  readonly whenOver: (exchange: Exchange, then: () => void) => void;
  /** Whether a request of a connection was received whole, and its answer was not read yet. */
  readonly owesAnswer: (socket: Socket) => boolean;
  /** Whether a connection is accepted and open. */
  readonly has: (socket: Socket) => boolean;
  readonly count: () => number;
  /** Ends all connections. */
  readonly close: () => void;
}

/** The bounds on connections. */
export interface ConnectionsOptions {
  /** Connections at one time. */
  readonly connections: number;
  /** How long a client may take to read an answer, in milliseconds. */
  readonly readTime: number;
  /** How long a connection may wait for its next request, in milliseconds. */
  readonly idleTime: number;
  /** How often both are checked, in milliseconds. */
  readonly interval: number;
  /** Records a connection that was ended: the reason and the address of the peer. */
  readonly refused: (reason: string, peerAddress: string) => void;
}

/** Requests of one connection at one time. Clients usually read an answer before the next request. */
export const PIPELINED = 8;

/** A request and its answer. */
export interface Exchange {
  readonly message: IncomingMessage;
  readonly socket: Socket;
  readonly state: State;
  /** Whether the answer is written and counts as unread. */
  isUnread: boolean;
  /** Whether the answer was read, or the connection ended. */
  isOver: boolean;
  /** Called once it is over. */
  readonly ending: (() => void)[];
}

interface State {
  /** The peer's address. The runtime may forget it after a reset. */
  readonly address: string;
  /** The key of the peer. */
  readonly peer: string;
  /** Requests in work. */
  requests: number;
  /** Unread answers. */
  answers: number;
  /** Since when the first unread answer can be read; without one, when the last was read. */
  readSince: number;
  /** Since when no request is in work. */
  idleSince: number;
  /** Bytes that the connection had read then. */
  idleBytes: number;
  readonly exchanges: Set<Exchange>;
}

interface Table {
  readonly options: ConnectionsOptions;
  readonly open: Map<Socket, State>;
  /** Idle connections, oldest first. */
  readonly waiting: Map<Socket, State>;
  /** Idle connections of each peer. */
  readonly waitingOf: Map<string, number>;
}

/** Makes an empty table. */
export function createConnections(options: ConnectionsOptions): Connections {
  const table: Table = { options, open: new Map(), waiting: new Map(), waitingOf: new Map() };
  const timer = setInterval(() => {
    endUnread(table);
    endIdle(table);
  }, options.interval);
  return {
    open: (socket) => open(table, socket),
    watch: (socket) => watch(table, socket),
    begin: (message, response) => begin(table, message, response),
    end: (exchange) => end(table, exchange),
    answered,
    whenOver: ({ isOver, ending }, then) => isOver ? then() : void ending.push(then),
    owesAnswer: (socket) =>
      table.open.get(under(socket))?.exchanges.values().some(({ message }) => message.complete) === true,
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
  // A connection that was reset before it was accepted has no address: no one can be answered or counted.
  if (address === "") return void socket.destroy();
  if (table.open.size >= connections && !makeRoom(table)) {
    refused("too_many_connections", address);
    return void socket.destroy();
  }
  const state: State = {
    address,
    peer: peerKey(address),
    requests: 0,
    answers: 0,
    readSince: 0,
    idleSince: 0,
    idleBytes: 0,
    exchanges: new Set(),
  };
  table.open.set(socket, state);
  wait(table, socket, state);
  socket.on("close", () => forget(table, socket, state));
}

/** Ends the oldest idle connection of the peer with the most idle connections. */
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

/** The parser of a connection of `node:http`, which exports no type for it. */
interface Reader {
  /** Called with the head of a request. The result 2 stops reading of the connection. */
  onIncoming: (this: unknown, message: IncomingMessage, keepAlive: boolean) => number;
}

function watch(table: Table, socket: Socket): void {
  const { parser } = socket as Socket & { readonly parser?: Reader | null };
  if (parser === undefined || parser === null) return;
  const { onIncoming } = parser;
  // The runtime parses a packet to its end, even of an ended connection, and one packet holds thousands of requests. A
  // few packets would delay all callers for seconds and use gigabytes.
  parser.onIncoming = function (message, keepAlive): number {
    return isAtEnd(table, under(socket)) ? 2 : onIncoming.call(this, message, keepAlive);
  };
}

/** Whether reading of a connection must stop. Ends a connection with too many requests. */
function isAtEnd(table: Table, socket: Socket): boolean {
  const state = table.open.get(socket);
  if (state === undefined) return true;
  if (state.requests < PIPELINED) return false;
  table.options.refused("too_many_pipelined", state.address);
  forget(table, socket, state);
  socket.destroy();
  return true;
}

function begin(table: Table, message: IncomingMessage, response: ServerResponse): Exchange | null {
  const socket = under(message.socket);
  const state = table.open.get(socket);
  if (state === undefined) return null;
  if (state.requests++ === 0) stopWaiting(table, socket, state);
  const exchange: Exchange = { message, socket, state, isOver: false, isUnread: false, ending: [] };
  state.exchanges.add(exchange);
  response.on("close", () => over(exchange));
  return exchange;
}

function end(table: Table, { socket, state }: Exchange): void {
  if (table.open.has(socket) && --state.requests === 0) wait(table, socket, state);
}

function wait({ waiting, waitingOf }: Table, socket: Socket, state: State): void {
  state.idleSince = performance.now();
  state.idleBytes = socket.bytesRead;
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
  state.exchanges.forEach(over);
}

function over(exchange: Exchange): void {
  const { state } = exchange;
  if (exchange.isOver) return;
  exchange.isOver = true;
  state.exchanges.delete(exchange);
  if (exchange.isUnread) {
    state.answers--;
    state.readSince = performance.now();
  }
  for (const then of exchange.ending) then();
}

function answered(exchange: Exchange): void {
  const { state } = exchange;
  if (exchange.isOver) return;
  exchange.isUnread = true;
  if (state.answers++ === 0) state.readSince = performance.now();
}

/** Ends connections whose answers are not read in time. */
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

/**
 * Ends connections that wait too long for their next request. The runtime could do that too, with timers for each
 * request that cost a third of an answer. A connection that sent something meanwhile waits anew: the runtime ends slow
 * heads. So does one that read an answer meanwhile or has one to read, which {@link endUnread} limits.
 */
function endIdle(table: Table): void {
  const before = performance.now() - table.options.idleTime;
  for (const [socket, state] of table.waiting) {
    if (state.idleSince > before) return;
    stopWaiting(table, socket, state);
    const reads = state.answers > 0 || state.readSince > before;
    if (reads || socket.bytesRead !== state.idleBytes) wait(table, socket, state);
    else {
      forget(table, socket, state);
      socket.destroy();
    }
  }
}
