import assert from "node:assert/strict";
import type { Principal } from "../../access/types.ts";
import type { AuthConfig } from "../../config/types.ts";
import type { AuthenticatedRequest } from "./authenticated_request.ts";
import {
  BEGINNING_BYTES,
  type BodyAdmission,
  bodyBounds,
  createBodyAdmission,
  type Received,
} from "./body_admission.ts";
import type { BodyReading } from "./request.ts";

/** A body on its way. */
interface Body {
  readonly received: Promise<Received>;
  /** Brings it to so many bytes; false where there is no room. */
  readonly grow: (size: number) => boolean;
  readonly end: () => void;
}

const MAXIMUM = 1 << 20;
const BOUNDS = { bodies: 9, callerBytes: MAXIMUM, allBytes: MAXIMUM };

function send(bodyAdmission: BodyAdmission, subject: string): Body {
  const { promise, resolve } = Promise.withResolvers<BodyReading>();
  let grow: Body["grow"] = () => false;
  const readBody = (maximumBytes: number, hasRoom: (bytes: number) => boolean): Promise<BodyReading> => {
    assert.equal(maximumBytes, MAXIMUM);
    grow = (size): boolean => {
      const room = hasRoom(size);
      if (!room) resolve({ ok: false, fault: "no_room" });
      return room;
    };
    return promise;
  };
  const incoming = { request: { readBody }, principal: { subject } as Principal } as unknown as AuthenticatedRequest;
  const received = bodyAdmission.read(incoming);
  return {
    received,
    grow: (size) => grow(size),
    end: () => resolve({ ok: true, text: "{}", utf8: new TextEncoder().encode("{}") }),
  };
}

async function statusOf({ received }: Body): Promise<number> {
  const result = await received;
  return result.ok ? 200 : result.reply.status;
}

Deno.test("read() accepts a bounded number of bodies of one caller at one time", async () => {
  const bodyAdmission = createBodyAdmission(MAXIMUM, { bodies: 3, callerBytes: MAXIMUM, allBytes: MAXIMUM });
  const bodies = [1, 2, 3].map(() => send(bodyAdmission, "a"));
  assert.equal(bodyAdmission.bodies(), 3);
  assert.equal(await statusOf(send(bodyAdmission, "a")), 503);
  const other = send(bodyAdmission, "b");
  other.end();
  assert.equal(await statusOf(other), 200);
  bodies[0]?.end();
  await bodies[0]?.received;
  const next = send(bodyAdmission, "a");
  assert.equal(bodyAdmission.bodies(), 3);
  for (const body of [...bodies, next]) body.end();
  assert.equal(await statusOf(next), 200);
  await Promise.all(bodies.map(({ received }) => received));
  assert.equal(bodyAdmission.bodies(), 0);
});

/** Beyond the beginning of a body. */
const beyond = (bytes: number): number => BEGINNING_BYTES + bytes;

for (const [more, room] of [[99, true], [100, true], [101, false]] as const) {
  Deno.test(`read() keeps 100 bytes of one caller beyond the beginnings: ${more}`, async () => {
    const bodyAdmission = createBodyAdmission(MAXIMUM, { bodies: 9, callerBytes: 100, allBytes: 1000 });
    const first = send(bodyAdmission, "a");
    const second = send(bodyAdmission, "a");
    assert.equal(first.grow(BEGINNING_BYTES), true);
    assert.equal(first.grow(beyond(40)), true);
    assert.equal(second.grow(beyond(more - 40)), room);
    assert.equal(send(bodyAdmission, "b").grow(beyond(100)), true, "others have room");
    second.end();
    assert.equal(await statusOf(second), room ? 200 : 503);
    assert.equal(send(bodyAdmission, "a").grow(beyond(60)), true, "what ended has made room");
  });

  Deno.test(`read() keeps 100 bytes of all beyond the beginnings: ${more}`, () => {
    const bodyAdmission = createBodyAdmission(MAXIMUM, { bodies: 9, callerBytes: 60, allBytes: 100 });
    assert.equal(send(bodyAdmission, "a").grow(beyond(60)), true);
    assert.equal(send(bodyAdmission, "b").grow(beyond(more - 60)), room);
    assert.equal(send(bodyAdmission, "c").grow(BEGINNING_BYTES), true, "what is short finds room");
  });
}

Deno.test("read() returns the error of a body", async () => {
  const bodyAdmission = createBodyAdmission(MAXIMUM, BOUNDS);
  for (
    const [fault, status] of [["too_large", 413], ["framing_too_large", 413], ["not_utf8", 400], ["incomplete", 400], [
      "no_room",
      503,
    ]] as const
  ) {
    const readBody = (): Promise<BodyReading> => Promise.resolve({ ok: false, fault });
    const incoming = { request: { readBody }, principal: { subject: "a" } } as unknown as AuthenticatedRequest;
    const received = await bodyAdmission.read(incoming);
    assert.equal(received.ok ? 200 : received.reply.status, status, fault);
  }
  assert.equal(bodyAdmission.bodies(), 0);
});

const AUTH = { mtls_subjects: [], allowed_tools: [], principals: [] };
const LOCAL = null;
const ONE = { ...AUTH, mode: "bearer_token", bearer_tokens: ["a"] } as const;
const TWO = { ...AUTH, mode: "bearer_token", bearer_tokens: ["a", "b"] } as const;

/** What one caller may have on its way; mebibytes. */
const SHARES: readonly (
  readonly [
    who: string,
    auth: AuthConfig | null,
    inflight: number,
    body: number,
    bodies: number,
    share: number,
    all: number,
  ]
)[] = [
  ["callers of this machine", LOCAL, 256, 1, Infinity, 64, 64],
  ["callers of this machine", LOCAL, 1, 1, Infinity, 64, 64],
  ["holders of one token", ONE, 256, 1, Infinity, 64, 64],
  ["one of two", TWO, 1, 1, 128, 16, 64],
  ["one of two", TWO, 128, 1, 128, 16, 64],
  ["one of two", TWO, 129, 1, 129, 16, 64],
  ["one of two", TWO, 256, 20, 256, 20, 80],
];

for (const [who, auth, max_inflight, body, bodies, share, all] of SHARES) {
  Deno.test(`bodyBounds() for ${who}, max_inflight ${max_inflight}, ${body} MiB: ${bodies}, ${share}, ${all}`, () => {
    const server = { auth, max_body_bytes: body << 20, limits: { max_inflight, rate_limit: null } };
    const bounds = bodyBounds({ transport: "http", ...server });
    assert.deepEqual(bounds, { bodies, callerBytes: share << 20, allBytes: all << 20 });
  });
}
