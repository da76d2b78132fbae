import assert from "node:assert/strict";
import { type AuditEvent, NO_AUDIT } from "../audit/types.ts";
import { createMetrics } from "../metrics.ts";
import { AUDITED_A_SECOND, connectionRefusals } from "./refusals.ts";

Deno.test("connectionRefusals() counts every refusal, audits some a second, and says how many it left out", () => {
  const events: AuditEvent[] = [];
  const metrics = createMetrics();
  let time = 0;
  const refused = connectionRefusals("tls", {
    transport: "http",
    metrics,
    nextServerId: () => "gate-id",
    audit: { ...NO_AUDIT, record: (event) => Promise.resolve(void events.push(event)) },
    now: () => time,
  });
  for (let index = 0; index < AUDITED_A_SECOND + 7; index++) refused("no_certificate", "192.0.2.1");
  assert.equal(events.length, AUDITED_A_SECOND);
  time = 1000;
  refused("no_certificate", "192.0.2.1");
  refused("no_certificate", "192.0.2.1");
  const [, , ...last] = events.slice(AUDITED_A_SECOND - 2);
  assert.deepEqual(last.map(({ kind, reason, details }) => [kind, reason, details]), [
    ["tls", "no_certificate", { refused_unaudited: 7 }],
    ["tls", "no_certificate", undefined],
  ]);
  const count = AUDITED_A_SECOND + 9;
  assert.ok(metrics.render().includes(`gate_refusals_total{reason="no_certificate"} ${count}\n`));
});
