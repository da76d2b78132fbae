import assert from "node:assert/strict";
import { sha256 } from "../../../src/evidence/host_primitives.ts";
import { decodeBase64 } from "../../../src/canonical/base64.ts";
import { createWorkerHost } from "../../../src/evidence/sandbox/worker_host.ts";
import type { CallQuestion, CallReply } from "../../../src/evidence/typed/call.ts";
import type { GrpcProfile } from "../../../src/evidence/typed/runtime_profile.ts";
import type { ProviderAnswer } from "../../../src/evidence/types.ts";
import { data, headers, message, OK_HEADERS, type Peer, type Script, startPeer } from "./grpc_peers.ts";
import { answering, HONEST, HOSTILE, importChecks, RESPONSE_BYTES, THREE } from "./grpc_rows.ts";
import { askProvider, outcomeOf, withFolder } from "../providers/fixtures.ts";
import { type TypedPlan, withTyped } from "./fixture.ts";

const IMPORTED = await importChecks();

/** Asks a server that plays a script. */
async function ask(
  script: Script,
  changes: Partial<GrpcProfile> = {},
  plan: Partial<TypedPlan> = {},
  times = 1,
): Promise<{ readonly answers: readonly ProviderAnswer[]; readonly received: Uint8Array; readonly open: number }> {
  const peer = await startPeer(script);
  try {
    const profile = profileFor(peer, changes);
    const answers = await withTyped({ profile, contract: IMPORTED.contract, ...plan }, async (provider) => {
      const given: ProviderAnswer[] = [];
      for (let round = 0; round < times; round++) given.push(await askProvider(provider, "errors", { name: "a" }));
      return given;
    });
    return { answers, received: peer.received(), open: await openAfterwards(peer) };
  } finally {
    await peer.close();
  }
}

function profileFor({ port }: Peer, changes: Partial<GrpcProfile>): GrpcProfile {
  const limits = { timeout_ms: 10_000, max_response_bytes: RESPONSE_BYTES };
  return { ...IMPORTED.profile, endpoint: `127.0.0.1:${port}`, plaintext: true, limits, ...changes };
}

/** The connections that stay open; the server sees an end a moment after the client. */
async function openAfterwards(peer: Peer): Promise<number> {
  for (let tries = 0; tries < 200 && peer.open() > 0; tries++) await new Promise((resolve) => setTimeout(resolve, 10));
  return peer.open();
}

for (const { what, script, outcome, timeoutMillis = 10_000 } of HOSTILE) {
  Deno.test(`a gRPC server that ${what}: ${outcome}`, async () => {
    const limits = { timeout_ms: timeoutMillis, max_response_bytes: RESPONSE_BYTES };
    const { answers, open } = await ask(script, { limits });
    assert.deepEqual(answers.map(outcomeOf), [outcome]);
    assert.equal(open, 0);
  });
}

Deno.test("a gRPC server that is not there: connection_failed", async () => {
  const peer = await startPeer(HONEST);
  await peer.close();
  await withTyped({ profile: profileFor(peer, {}), contract: IMPORTED.contract }, async (provider) => {
    assert.equal(outcomeOf(await askProvider(provider, "errors", {})), "failed: connection_failed");
  });
});

Deno.test("a gRPC check anchors its request, its response and its descriptors", async () => {
  const { answers: [answer], received } = await ask(HONEST);
  assert.ok(answer?.ok);
  const { anchor_type, anchor_value } = answer.result.evidence_anchor ?? {};
  assert.equal(anchor_type, "grpc_request");
  const { provider_version_identity, ...anchor } = JSON.parse(anchor_value ?? "");
  assert.match(provider_version_identity, /^[0-9a-f]{64}$/);
  assert.deepEqual(anchor, {
    service: "probe.v1.Checks",
    method: "Check",
    request_hash: sha256(new Uint8Array([10, 1, 97])),
    status: "OK",
    response_hash: sha256(THREE),
    descriptor_hash: sha256(decodeBase64(IMPORTED.profile.descriptor_set_base64) ?? new Uint8Array(0)),
  });
  assert.equal(answer.result.content_type, "application/json");
  // The frame of the request: no flag, its length, the message.
  const text = new TextDecoder("latin1").decode(received);
  assert.ok(text.includes("\u0000\u0000\u0000\u0000\u0003\n\u0001a"));
});

/** Status and message as sent, message in the error. */
const MESSAGES: readonly (readonly [sent: string, shown: string])[] = [
  ["no%20such", "no such"],
  ["%E2%82%AC", "€"],
  ["100%", "100%"],
  ["%FF", "%FF"],
  ["a%0D%0Ab", "a  b"],
  ["a".repeat(512), "a".repeat(512)],
  ["a".repeat(513), `${"a".repeat(512)}...`],
];

for (const [sent, shown] of MESSAGES) {
  Deno.test(`grpc-message ${sent.slice(0, 16)} of ${sent.length} characters is read as ${shown.slice(0, 16)}`, async () => {
    const script = answering(headers([...OK_HEADERS, ["grpc-status", "7"], ["grpc-message", sent]], true));
    const { answers: [answer] } = await ask(script);
    assert.ok(answer?.ok);
    assert.deepEqual(answer.result.error?.details, { status: "PERMISSION_DENIED", message: shown });
    assert.equal(JSON.parse(answer.result.evidence_anchor?.anchor_value ?? "").status, "PERMISSION_DENIED");
  });
}

const CANARY = "canary-4f7b2d";

/** What a server does with the credential that it received, outcome. */
const REPEATING: readonly (readonly [what: string, script: Script, outcome: string])[] = [
  ["keeps it", HONEST, "value: 3"],
  [
    "repeats it in grpc-message",
    answering(headers([...OK_HEADERS, ["grpc-status", "16"], ["grpc-message", `bad ${CANARY}`]], true)),
    "observed: grpc_status",
  ],
  [
    "repeats it percent-encoded in grpc-message",
    answering(headers([...OK_HEADERS, ["grpc-status", "16"], ["grpc-message", CANARY.replaceAll("-", "%2D")]], true)),
    "observed: grpc_status",
  ],
  [
    "repeats it where grpc-message is cut",
    answering(headers([...OK_HEADERS, ["grpc-status", "16"], ["grpc-message", "x".repeat(502) + CANARY]], true)),
    "observed: grpc_status",
  ],
  [
    "repeats it in its content type",
    answering(headers([[":status", "200"], ["content-type", `text/${CANARY}`]], true)),
    "observed: content_type_invalid",
  ],
  [
    "repeats it in its message",
    answering(
      headers(OK_HEADERS),
      data(message(new Uint8Array([18, CANARY.length, ...new TextEncoder().encode(CANARY)]))),
      headers([["grpc-status", "0"]], true),
    ),
    "observed: credential_repeated",
  ],
  ["closes", { at: "request", play: (socket) => void socket.destroy() }, "failed: connection_failed"],
  [
    "speaks HTTP/1",
    { at: "connection", play: (socket) => void socket.end(`HTTP/1.1 401 ${CANARY}\r\n\r\n`) },
    "failed: provider_protocol_error",
  ],
];

for (const [what, script, outcome] of REPEATING) {
  for (const kind of ["bearer", "basic", "metadata"] as const) {
    Deno.test(`a server that receives a ${kind} credential and ${what}: ${outcome}, without the credential`, async () => {
      await withFolder(async (folder) => {
        const secret = kind === "basic" ? `user:${CANARY}` : CANARY;
        await Deno.writeTextFile(`${folder}/token`, secret, { mode: 0o600 });
        const locator = "file://token";
        const credentials: GrpcProfile["credentials"] = kind === "metadata"
          ? [{ kind, name: "x-token", locator }]
          : [{ kind, locator }];
        const { answers: [answer] } = await ask(script, { credentials }, { grants: { credentialsDir: folder } });
        assert.ok(answer !== undefined);
        assert.equal(outcomeOf(answer), outcome);
        // No part of it either.
        assert.ok(!JSON.stringify(answer).includes(CANARY.slice(0, 10)), JSON.stringify(answer));
        assert.ok(!JSON.stringify(answer).includes(btoa(secret)), JSON.stringify(answer));
      });
    });
  }
}

Deno.test("a credential reaches the server as metadata of the call", async () => {
  await withFolder(async (folder) => {
    await Deno.writeTextFile(`${folder}/token`, CANARY, { mode: 0o600 });
    const credentials = [{ kind: "metadata", name: "x-token", locator: "file://token" }] as const;
    const { answers } = await ask(HONEST, { credentials }, { grants: { credentialsDir: folder } });
    assert.deepEqual(answers.map(outcomeOf), ["value: 3"]);
  });
});

/** Changes of the grants or the profile, outcome. */
const REFUSED:
  readonly (readonly [what: string, changes: Partial<GrpcProfile>, plan: Partial<TypedPlan>, outcome: string])[] = [
    ["a host that is not granted", {}, { grants: { hosts: [] } }, "failed: host_not_allowed"],
    [
      "a private address that is not allowed",
      {},
      { grants: { allowPrivateNetworks: false } },
      "failed: destination_blocked",
    ],
    ["cleartext that is not allowed", {}, { grants: { cleartext: "nowhere" } }, "failed: host_not_allowed"],
    ["descriptors that are no descriptors", { descriptor_set_base64: "AAAA" }, {}, "failed: provider_protocol_error"],
    ["descriptors without the method", { descriptor_set_base64: "" }, {}, "failed: provider_protocol_error"],
  ];

for (const [what, changes, plan, outcome] of REFUSED) {
  Deno.test(`a gRPC check with ${what}: ${outcome}, and no connection`, async () => {
    const { answers, received } = await ask(HONEST, changes, plan);
    assert.deepEqual(answers.map(outcomeOf), [outcome]);
    assert.equal(received.length, 0);
  });
}

Deno.test("a worker without the permission for the address connects to nothing: destination_blocked", async () => {
  const peer = await startPeer(HONEST);
  const host = createWorkerHost({
    name: "gate-typed",
    module: new URL("../../../src/evidence/typed/grpc/call_worker.ts", import.meta.url),
    permissions: {},
    setup: profileFor(peer, {}),
    concurrency: 1,
  });
  const question: CallQuestion = {
    check_id: "errors",
    params: {},
    address: "127.0.0.1",
    connectMillis: 10_000,
    millis: 10_000,
    credentials: [],
    authorities: null,
    client: null,
  };
  try {
    const options = { limitMillis: 20_000, signal: new AbortController().signal };
    const answer = await host.ask<CallReply>(question, options);
    assert.equal(answer.ok && !answer.answer.ok ? answer.answer.code : JSON.stringify(answer), "destination_blocked");
    assert.equal(peer.received().length, 0);
  } finally {
    host.close();
    await peer.close();
  }
});

Deno.test("params that are no request: params_invalid, and no connection", async () => {
  const peer = await startPeer(HONEST);
  await withTyped({ profile: profileFor(peer, {}), contract: IMPORTED.contract }, async (provider) => {
    for (const params of [{ name: 1 }, { other: "a" }, []]) {
      assert.equal(outcomeOf(await askProvider(provider, "errors", params)), "observed: params_invalid");
    }
  });
  assert.equal(peer.received().length, 0);
  await peer.close();
});

Deno.test("a response has at most the bytes of the profile", async () => {
  const response = (length: number): Script => {
    const text = new Uint8Array(length - 4).fill(97);
    const payload = new Uint8Array([
      18,
      ((length - 4) & 127) | 128,
      (((length - 4) >> 7) & 127) | 128,
      (length - 4) >> 14,
      ...text,
    ]);
    const parts: Uint8Array[] = [];
    const framed = message(payload);
    for (let at = 0; at < framed.length; at += 16_384) parts.push(data(framed.subarray(at, at + 16_384)));
    return answering(headers(OK_HEADERS), ...parts, headers([["grpc-status", "0"]], true));
  };
  const limits = { timeout_ms: 10_000, max_response_bytes: 20_000 };
  const outcomes: string[] = [];
  for (const length of [19_999, 20_000, 20_001]) {
    const { answers: [answer] } = await ask(response(length), { limits });
    outcomes.push(answer === undefined ? "none" : outcomeOf(answer));
  }
  assert.deepEqual(outcomes, ["value: 0", "value: 0", "failed: response_too_large"]);
});

Deno.test("many calls at a time each have their own answer, and leave no connection", async () => {
  const peer = await startPeer(HONEST);
  await withTyped({ profile: profileFor(peer, {}), contract: IMPORTED.contract }, async (provider) => {
    const answers = await Promise.all(Array.from({ length: 50 }, () => askProvider(provider, "errors", { name: "a" })));
    assert.deepEqual(answers.map(outcomeOf), Array(50).fill("value: 3"));
    assert.equal(await openAfterwards(peer), 0);
  });
  await peer.close();
});

/** Servers that each end a call in another way, and need no deadline. */
const QUICK = HOSTILE.filter(({ timeoutMillis, what }) => timeoutMillis === undefined && !what.includes("for ever"));

Deno.test(`${QUICK.length} servers, three rounds each in one worker: no connection stays`, async () => {
  for (const { what, script, outcome } of QUICK) {
    const { answers, open } = await ask(script, {}, {}, 3);
    assert.deepEqual(answers.map(outcomeOf), [outcome, outcome, outcome], what);
    assert.equal(open, 0, what);
  }
});
