import assert from "node:assert/strict";
import process from "node:process";
import { callUnary, type UnaryCall } from "../../src/evidence/typed/grpc/unary_call.ts";
import {
  data,
  frame,
  headers,
  join,
  message,
  OK_HEADERS,
  type Peer,
  type Play,
  type ServerTls,
  SETTINGS,
  startPeer,
} from "../e2e/typed/grpc_peers.ts";
import { HONEST, HOSTILE, RESPONSE_BYTES } from "../e2e/typed/grpc_rows.ts";
import { ownCertificate } from "../e2e/own_certificates.ts";

/** Calls of each server. */
const ROUNDS = 1000;
/** Milliseconds of a call of a server that never ends by itself. */
const SHORT_MILLIS = 20;

function callOf({ port }: Peer, timeoutMillis: number): UnaryCall {
  return {
    address: "127.0.0.1",
    port,
    host: "checks.example",
    authority: "checks.example",
    tls: null,
    path: "/probe.v1.Checks/Check",
    metadata: [],
    message: new Uint8Array([10, 1, 97]),
    connectMillis: timeoutMillis,
    timeoutMillis,
    maximumBytes: RESPONSE_BYTES,
  };
}

async function assertNoneOpen(peer: Peer): Promise<void> {
  for (let tries = 0; tries < 500 && peer.open() > 0; tries++) await new Promise((resolve) => setTimeout(resolve, 10));
  assert.equal(peer.open(), 0);
}

/** Processor time of the process, in milliseconds, while it has nothing to do for a second. */
async function idleMillis(): Promise<number> {
  const before = process.cpuUsage();
  await new Promise((resolve) => setTimeout(resolve, 1000));
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

// The sanitizers of the test runner fail a test that leaves a handle or a timer.
for (const { what, script, timeoutMillis } of HOSTILE) {
  Deno.test(`${ROUNDS} calls of a gRPC server that ${what}: no handle stays, and no thread spins`, async () => {
    const peer = await startPeer(script);
    const millis = timeoutMillis === undefined ? 10_000 : SHORT_MILLIS;
    const never = new AbortController().signal;
    for (let round = 0; round < ROUNDS; round++) await callUnary(callOf(peer, millis), never);
    await assertNoneOpen(peer);
    assert.ok(await idleMillis() < 500);
    await peer.close();
  });
}

const authority = await ownCertificate({ name: "authority", isAuthority: true });
const stranger = await ownCertificate({ name: "stranger", isAuthority: true });
const server = await ownCertificate({ name: "checks", hosts: ["checks.example"] }, authority);
const own = await ownCertificate({ name: "gate" }, authority);
const client = { certificate: own.cert, key: own.key };

/** What the server wants, what the client has, outcome of every call. */
const SECURE:
  readonly (readonly [what: string, secure: Partial<ServerTls>, call: Partial<UnaryCall>, outcome: string])[] = [
    ["that is trusted", {}, {}, "OK"],
    [
      "of another authority",
      {},
      { tls: { authorities: [stranger.cert], client: null } },
      "server_certificate_untrusted",
    ],
    ["of another name", {}, { host: "other.example" }, "server_certificate_name_mismatch"],
    ["that wants a client certificate", { clientAuthority: authority.cert }, {}, "client_certificate_missing"],
    [
      "that gets the client certificate it wants",
      { clientAuthority: authority.cert },
      { tls: { authorities: [authority.cert], client } },
      "OK",
    ],
  ];

for (const [what, secure, changes, outcome] of SECURE) {
  Deno.test(`${ROUNDS} calls over TLS of a gRPC server ${what}: no handle stays, and no thread spins`, async () => {
    const peer = await startPeer(HONEST, { cert: server.cert, key: server.key, ...secure });
    const call = { ...callOf(peer, 10_000), tls: { authorities: [authority.cert], client: null }, ...changes };
    const never = new AbortController().signal;
    for (let round = 0; round < ROUNDS; round++) {
      const answer = await callUnary(call, never);
      assert.equal(answer.ok ? "OK" : answer.code, outcome);
    }
    await assertNoneOpen(peer);
    assert.ok(await idleMillis() < 500);
    await peer.close();
  });
}

/** Integers below a bound, the same for the same seed. */
function seededRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return (state >> 8) % below;
  };
}

/** Random frames, some of them cut, changed or out of order. */
function randomPlay(random: (below: number) => number): Play {
  const bytes = (length: number): Uint8Array => new Uint8Array(length).map(() => random(256));
  const makers: readonly (() => Uint8Array)[] = [
    () => SETTINGS,
    () => headers(OK_HEADERS, random(2) === 0),
    () => headers([["grpc-status", "0"]], true),
    () => data(message(bytes(random(50))), random(2) === 0),
    () => data(new Uint8Array(16_000)),
    () => frame(7, 0, 0, join([new Uint8Array([0, 0, 0, random(3)]), new Uint8Array([0, 0, 0, random(14)])])),
    () => frame(3, 0, random(4), new Uint8Array([0, 0, 0, random(14)])),
    () => frame(6, random(2), 0, bytes(8)),
    () => frame(8, 0, random(2), new Uint8Array([random(128), ...bytes(3)])),
    () => frame(4, 0, 0, new Uint8Array([0, random(8), ...bytes(4)])),
    () => frame(random(12), random(256), random(4), bytes(random(40))),
  ];
  return async (socket) => {
    const parts = Array.from({ length: 1 + random(8) }, () => makers[random(makers.length)]?.() ?? SETTINGS);
    const all = join(random(4) === 0 ? parts : [SETTINGS, ...parts]);
    if (random(3) === 0) all[random(all.length)] = random(256);
    const cut = random(all.length);
    socket.write(all.subarray(0, cut));
    if (random(2) === 0) await new Promise((resolve) => setTimeout(resolve, random(3)));
    if (random(3) > 0) socket.write(all.subarray(cut));
    if (random(3) > 0) setTimeout(() => random(2) === 0 ? socket.destroy() : socket.end(), random(5));
  };
}

for (let seed = 1; seed <= 5; seed++) {
  Deno.test(`2000 calls of gRPC servers that send random frames, seed ${seed}: each ends, and no handle stays`, async () => {
    const random = seededRandom(seed);
    const peers = await Promise.all(
      (["connection", "request"] as const).map((at) => startPeer({ at, play: randomPlay(random) })),
    );
    for (let round = 0; round < 2000; round++) {
      const peer = peers[random(2)];
      assert.ok(peer !== undefined);
      const controller = new AbortController();
      const timer = random(5) === 0 ? setTimeout(() => controller.abort(), random(4)) : undefined;
      await callUnary(callOf(peer, SHORT_MILLIS), controller.signal);
      clearTimeout(timer);
    }
    for (const peer of peers) {
      await assertNoneOpen(peer);
      await peer.close();
    }
    assert.ok(await idleMillis() < 500);
  });
}
