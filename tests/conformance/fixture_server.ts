/**
 * The server that the conformance suite is run against: `fixture_server.ts PORT`. Listener, checks of names, reading of
 * bodies, limits and streams are those of the product; the tools, prompts and resources are those that the suite asks for.
 *
 * @module
 */

import { DEFAULT_SETTINGS } from "@/config/defaults.ts";
import { NO_AUDIT } from "@/server/audit/types.ts";
import { createLocalOnly } from "@/server/auth/local_only.ts";
import { createDispatcher } from "@/server/protocol/dispatcher.ts";
import { createHealth } from "@/server/process/health.ts";
import { createApp, type Route } from "@/server/http/app.ts";
import { bodyBounds, createBodyAdmission } from "@/server/http/body_admission.ts";
import { CONNECTION_BOUNDS, listen } from "@/server/http/listener.ts";
import { answerMcp } from "@/server/http/mcp_endpoint.ts";
import { createHostAndOriginChecks } from "@/server/http/host_and_origin.ts";
import { createAdmissions, createRefusals } from "@/server/audit/refusals.ts";
import { createLimits } from "@/server/process/limits.ts";
import { openLog } from "@/server/process/log.ts";
import { createMetrics } from "@/server/process/metrics.ts";
import { createServerIds } from "@/server/process/trace.ts";
import { createFixtureEndpoint } from "./fixture_endpoint.ts";
import { makeFixtureServer } from "./fixture_mcp.ts";

const { log } = openLog({ level: "warn", format: "text", write: (bytes) => Deno.stderr.write(bytes) });
const settings = DEFAULT_SETTINGS.server;
const fixture = createFixtureEndpoint(makeFixtureServer);
const limits = createLimits(settings.limits);
const metrics = createMetrics();
const endpoint = {
  dispatcher: createDispatcher({ loadTools: () => Promise.resolve(new Map()), tools: settings.tools, auth: null, log }),
  limits,
  bodyAdmission: createBodyAdmission(settings.max_body_bytes, bodyBounds(settings)),
  log,
  answer: fixture.answer,
};
const route: Route = { POST: (incoming) => answerMcp(endpoint, incoming), GET: fixture.bare, DELETE: fixture.bare };
const listener = await listen({
  hostname: "127.0.0.1",
  port: Number(Deno.args[0] ?? "0"),
  bounds: CONNECTION_BOUNDS,
  tls: null,
  log,
  refused: () => undefined,
  hold: () => () => undefined,
  handle: createApp({
    transport: "http",
    routes: new Map([["/mcp", route]]),
    names: createHostAndOriginChecks({
      bindAddress: "127.0.0.1",
      port: () => listener.address.port,
      allowedHosts: [],
      allowedOrigins: [],
    }),
    authenticate: createLocalOnly([]),
    limits,
    health: createHealth({ stores: () => Promise.resolve([]), folders: [], auditFault: () => null }),
    metrics,
    refusals: createRefusals({ metrics, audit: NO_AUDIT }),
    admissions: createAdmissions({ audit: NO_AUDIT }),
    nextServerId: createServerIds(crypto.getRandomValues(new Uint8Array(8))),
    log,
  }),
});
console.log(`http://127.0.0.1:${listener.address.port}/mcp`);
