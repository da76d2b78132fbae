import assert from "node:assert/strict";
import { LOCAL } from "../../tools/tests/tools_fixture.ts";
import { type AuditEvent, NO_AUDIT } from "./types.ts";
import { createMetrics, type Metrics } from "../process/metrics.ts";
import { DISTINCT_SOURCES } from "./event_coalescer.ts";
import { connectionRefusals, createAdmissions, createRefusals, type Refusals } from "./refusals.ts";

interface World {
  readonly events: AuditEvent[];
  readonly metrics: Metrics;
  readonly refusals: Refusals;
  /** Lets the time pass for which refusals are counted. */
  readonly pass: () => void;
}

function openWorld(): World {
  const events: AuditEvent[] = [];
  const metrics = createMetrics();
  const waiting: (() => void)[] = [];
  const refusals = createRefusals({
    metrics,
    audit: { ...NO_AUDIT, record: (event) => Promise.resolve(void events.push(event)) },
    after: (_milliseconds, run) => void waiting.push(run),
  });
  return { events, metrics, refusals, pass: () => waiting.splice(0).forEach((run) => run()) };
}

/** Records a rejection. */
function refuse(
  { refusals }: World,
  peer_address: string,
  reason = "token_unknown",
  subject: string | null = null,
): void {
  const origin = { transport: "http" as const, correlation_id: null, server_correlation_id: "id", traceparent: null };
  refusals.record({ kind: "authentication", reason, subject, origin: { ...origin, peer_address } });
}

/** The source, reason and count of each line; 1 is a line about a single rejection. */
function linesOf({ events }: World): unknown[] {
  return events.map(({ origin, subject, reason, details }) => [
    subject ?? origin?.peer_address,
    reason,
    details === undefined ? 1 : details["count"],
  ]);
}

Deno.test("record() writes the first of a kind and source whole, and later ones in one line with their number", () => {
  const world = openWorld();
  for (let index = 0; index < 1000; index++) refuse(world, "192.0.2.1");
  refuse(world, "192.0.2.1", "token_missing");
  refuse(world, "192.0.2.2");
  refuse(world, "192.0.2.2", "rate_limited", "token:a");
  refuse(world, "192.0.2.3", "rate_limited", "token:a");
  const first = [
    ["192.0.2.1", "token_unknown", 1],
    ["192.0.2.1", "token_missing", 1],
    ["192.0.2.2", "token_unknown", 1],
    ["token:a", "rate_limited", 1],
  ];
  assert.deepEqual(linesOf(world), first);
  world.pass();
  const rest = [["192.0.2.1", "token_unknown", 999], ["token:a", "rate_limited", 1]];
  assert.deepEqual(linesOf(world), [...first, ...rest]);
  assert.equal(world.events.at(-1)?.origin?.peer_address, "192.0.2.3", "the line is that of the last one");
  assert.ok(world.metrics.render(LOCAL).includes('gate_refusals_total{reason="token_unknown"} 1001\n'));
  refuse(world, "192.0.2.1");
  assert.deepEqual(linesOf(world).at(-1), ["192.0.2.1", "token_unknown", 1], "it begins anew");
  world.pass();
  assert.equal(world.events.length, first.length + rest.length + 1, "no count was left");
});

Deno.test("record() counts an IPv6 network of one client as one source", () => {
  const world = openWorld();
  for (let index = 1; index <= 9; index++) refuse(world, `2001:db8:0:1::${index}`);
  world.pass();
  assert.deepEqual(linesOf(world), [["2001:db8:0:1::1", "token_unknown", 1], ["2001:db8:0:1::9", "token_unknown", 8]]);
});

for (const sources of [DISTINCT_SOURCES - 1, DISTINCT_SOURCES, DISTINCT_SOURCES + 1]) {
  Deno.test(`record() separates ${DISTINCT_SOURCES} sources and no more: ${sources}`, () => {
    const world = openWorld();
    for (let index = 0; index < sources; index++) refuse(world, `10.0.${index >> 8}.${index & 255}`);
    refuse(world, "10.9.9.9", "rate_limited", "token:a");
    const apart = Math.min(sources, DISTINCT_SOURCES);
    assert.equal(world.events.length, apart + 1, "known callers have room of their own");
    world.pass();
    const rest = linesOf(world).slice(apart + 1);
    assert.deepEqual(rest, sources > DISTINCT_SOURCES ? [[null, "token_unknown", 1]] : []);
  });
}

Deno.test("record() counts strangers by their names, apart from known callers", () => {
  const world = openWorld();
  const origin = { transport: "http" as const, correlation_id: null, server_correlation_id: "id", traceparent: null };
  const knock = (subject: string): void =>
    world.refusals.record({
      kind: "authentication",
      reason: "subject_not_listed",
      subject,
      isStranger: true,
      origin: { ...origin, peer_address: "10.0.0.5" },
    });
  for (let index = 0; index < DISTINCT_SOURCES + 9; index++) knock(`CN=${index}`);
  knock("CN=0");
  refuse(world, "10.0.0.5", "rate_limited", "CN=listed");
  assert.equal(world.events.length, DISTINCT_SOURCES + 1);
  assert.deepEqual(linesOf(world).at(-1), ["CN=listed", "rate_limited", 1]);
  world.pass();
  const rest = [["CN=0", "subject_not_listed", 1], [null, "subject_not_listed", 9]];
  assert.deepEqual(linesOf(world).slice(DISTINCT_SOURCES + 1), rest);
  assert.ok(world.events.every((event) => !("isStranger" in event)));
});

Deno.test("flush() writes the counts at once", () => {
  const world = openWorld();
  for (let index = 0; index < 3; index++) refuse(world, "192.0.2.1");
  world.refusals.flush();
  assert.deepEqual(linesOf(world), [["192.0.2.1", "token_unknown", 1], ["192.0.2.1", "token_unknown", 2]]);
  world.refusals.flush();
  world.pass();
  assert.equal(world.events.length, 2);
});

Deno.test("connectionRefusals() records connections by the address of their peer", () => {
  const world = openWorld();
  const refused = connectionRefusals("tls", {
    transport: "sse",
    refusals: world.refusals,
    nextServerId: () => "gate-1",
  });
  refused("no_certificate", "192.0.2.1");
  refused("tls_alert", "192.0.2.1", { tls_error: "UnknownCA" });
  assert.deepEqual(world.events.map(({ details }) => details), [undefined, { tls_error: "UnknownCA" }]);
  assert.deepEqual(world.events.slice(0, 1), [{
    kind: "tls",
    outcome: "refused",
    reason: "no_certificate",
    subject: null,
    origin: {
      transport: "sse",
      peer_address: "192.0.2.1",
      correlation_id: null,
      server_correlation_id: "gate-1",
      traceparent: null,
    },
  }]);
});

Deno.test("connectionRefusals() records no connection that was reset before its address was known", () => {
  const world = openWorld();
  connectionRefusals("tls", { transport: "http", refusals: world.refusals, nextServerId: () => "gate-1" })("any", "");
  world.refusals.flush();
  assert.deepEqual(world.events, []);
  assert.ok(!world.metrics.render(LOCAL).includes('reason="any"'));
});

Deno.test("createAdmissions() names each caller however many addresses another comes from", () => {
  const events: AuditEvent[] = [];
  const admissions = createAdmissions({
    audit: { ...NO_AUDIT, record: (event) => Promise.resolve(void events.push(event)) },
    after: () => undefined,
  });
  const origin = { transport: "http" as const, correlation_id: null, server_correlation_id: "id", traceparent: null };
  const admit = (subject: string, peer_address: string): void =>
    admissions.record(
      { subject, authMethod: "bearer_token", policyClass: null, roles: [], tenants: [1] },
      { ...origin, peer_address },
    );
  for (let index = 0; index < 300; index++) admit("token:m", `2001:db8::${index.toString(16)}`);
  assert.equal(events.length, 1, "one network of IPv6 is one source");
  for (let index = 0; index < 300; index++) admit("token:m", `10.0.${index >> 8}.${index & 255}`);
  admit("token:a", "192.0.2.1");
  admissions.flush();
  const last = events.filter(({ subject }) => subject === "token:a");
  assert.deepEqual(last.map(({ origin, details }) => [origin?.peer_address, details?.["count"]]), [[null, 1]]);
  const own = events.filter(({ subject }) => subject === "token:m");
  assert.equal(own.reduce((sum, { details }) => sum + Number(details?.["count"] ?? 1), 0), 600);
});

Deno.test("createAdmissions() records each admitted caller and address once a minute, with a count", () => {
  const events: AuditEvent[] = [];
  const waiting: (() => void)[] = [];
  const admissions = createAdmissions({
    audit: { ...NO_AUDIT, record: (event) => Promise.resolve(void events.push(event)) },
    after: (_milliseconds, run) => void waiting.push(run),
  });
  const origin = { transport: "http" as const, correlation_id: null, server_correlation_id: "id", traceparent: null };
  const calls: readonly (readonly [subject: string, peer_address: string])[] = [
    ["token:a", "192.0.2.1"],
    ["token:a", "192.0.2.1"],
    ["token:a", "192.0.2.2"],
    ["token:b", "192.0.2.1"],
    ["token:a", "192.0.2.1"],
  ];
  for (const [subject, peer_address] of calls) {
    const principal = { subject, authMethod: "bearer_token" as const, policyClass: null, roles: [], tenants: [1] };
    admissions.record(principal, { ...origin, peer_address });
  }
  waiting.forEach((run) => run());
  const lines = events.map(({ kind, outcome, reason, subject, origin, details }) => {
    assert.deepEqual([kind, outcome, reason], ["authentication", "allowed", "authenticated"]);
    return [subject, origin?.peer_address, details];
  });
  const details = { auth_method: "bearer_token" };
  assert.deepEqual(lines, [
    ["token:a", "192.0.2.1", details],
    ["token:a", "192.0.2.2", details],
    ["token:b", "192.0.2.1", details],
    ["token:a", "192.0.2.1", { ...details, count: 2 }],
  ]);
});
