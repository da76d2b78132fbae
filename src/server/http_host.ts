/** Hosts an HTTP transport: opens the stores, then the port, and closes both in reverse order. */

import { urlHost } from "../config/host_name.ts";
import { CONSOLE_PATH } from "./http/console_pages.ts";
import type { Hosting } from "./hosting.ts";
import { aborted } from "./process/log.ts";
import { createMetrics, type Metrics } from "./process/metrics.ts";
import { openTls, type TlsServing } from "./tls/serving.ts";
import { watchHangup } from "./process/signals.ts";
import { redirectWarnings } from "./process/warnings.ts";
import { createServerIds } from "./process/trace.ts";
import { connectionRefusals, createAdmissions, createRefusals, type RefusedConnection } from "./audit/refusals.ts";
import { type HttpServing, serveHttp } from "./serve_http.ts";

/** The interval of measurements, in milliseconds. */
const INTERVAL = 20;

/** The options of the measurement. */
interface LoopDelayOptions {
  readonly metrics: Pick<Metrics, "loopDelayed">;
  /** A clock in milliseconds that never goes back. */
  readonly now?: () => number;
}

/** Makes the function of one measurement. A delay also counts for each measurement that it prevented. */
export function createLoopDelay({ metrics, now = (): number => performance.now() }: LoopDelayOptions): () => void {
  let due = now() + INTERVAL;
  return () => {
    const late = Math.max(0, now() - due);
    for (let left = late; left >= 0; left -= INTERVAL) metrics.loopDelayed(left);
    due += late + INTERVAL;
  };
}

/** Measures until it is closed. The timer does not keep the process alive. */
function watchLoop(metrics: LoopDelayOptions["metrics"]): { readonly close: () => void } {
  const timer = setInterval(createLoopDelay({ metrics }), INTERVAL);
  Deno.unrefTimer(timer);
  return { close: () => clearInterval(timer) };
}

/** How long a stopping process waits for requests in work, in milliseconds. */
const PATIENCE_MILLISECONDS = 10_000;

/**
 * Serves until a stop signal arrives.
 *
 * @throws {Error} Where the stores, the certificates or the address cannot be used
 */
export async function hostHttp(hosting: Hosting, transport: "http" | "sse"): Promise<void> {
  const { options, log, load, signals, broken } = hosting;
  if (options.http === undefined) throw new Error(`Cannot serve: transport "${transport}" was not set up`);
  const restoreWarnings = redirectWarnings(log);
  const runtime = await load();
  const metrics = createMetrics();
  const audit = await hosting.audit.open();
  const nextServerId = createServerIds(crypto.getRandomValues(new Uint8Array(8)));
  const refusals = createRefusals({ metrics, audit });
  const admissions = createAdmissions({ audit });
  const tls = await openServerTls(hosting, connectionRefusals("tls", { transport, refusals, nextServerId }));
  const hangup = tls === null ? null : watchHangup(tls.reload);
  metrics.source(runtime.measures ?? (() => []));
  metrics.gauge("process_resident_memory_bytes", "Resident memory.", () => Deno.memoryUsage().rss);
  if (tls !== null) {
    const expires = (): number => tls.expires() / 1000;
    metrics.gauge(
      "gate_tls_certificate_expires_seconds",
      "When the server's certificate runs out, Unix time.",
      expires,
    );
  }
  const parts = { hosting, transport, runtime, metrics, audit, refusals, admissions, tls, nextServerId };
  const serving = await serveHttp({ ...parts, http: options.http });
  const loop = watchLoop(metrics);
  const url = urlOf(serving, tls !== null);
  const page = options.http.console === undefined ? {} : { console: `${url}${CONSOLE_PATH}` };
  log("info", "Listening", { transport, url, ...page });
  options.http.listening?.(url);
  await aborted(AbortSignal.any([signals.stop, broken]));
  log("info", "Stopping: requests in work are answered first", { transport });
  await serving.close(PATIENCE_MILLISECONDS);
  hangup?.close();
  tls?.close();
  refusals.flush();
  admissions.flush();
  log("info", "Stopped serving", { transport });
  loop.close();
  restoreWarnings();
}

async function openServerTls({ options, log }: Hosting, refused: RefusedConnection): Promise<TlsServing | null> {
  const config = options.server.tls;
  return config === null ? null : await openTls({ config, log, refused });
}

function urlOf({ address }: HttpServing, isSecure: boolean): string {
  return `${isSecure ? "https" : "http"}://${urlHost(address.hostname)}:${address.port}`;
}
