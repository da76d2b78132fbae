/** The host side of the provider `time`. */

import type { BuiltinProviderEntry } from "../../config/types.ts";
import { createWorkerPool } from "../sandbox/worker_pool.ts";
import type { Engine, ProviderDependencies } from "./engine.ts";
import { describeGrant, NO_PERMISSIONS } from "./permissions.ts";
import { answered, failed, type Finding, workerFailure } from "./result.ts";
import { checkTime, type TimeQuestion, timeSource } from "./time.ts";

/** The provider `time`: one worker without permissions. */
export function createTimeEngine(entry: BuiltinProviderEntry<"time">, dependencies: ProviderDependencies): Engine {
  const pool = createWorkerPool({
    name: "gate-time",
    module: new URL("./time_worker.ts", import.meta.url),
    setup: entry.config,
    limits: dependencies.workerLimits,
  });
  const limitMillis = entry.timeouts.request_timeout_ms;
  return {
    async answer(query, { trigger_time }, signal): ReturnType<Engine["answer"]> {
      const question: TimeQuestion = { query, trigger_time };
      // The cases of a law need no worker for a clock that they give.
      if (dependencies.given !== null) {
        return answered(checkTime(entry.config, question), timeSource(trigger_time), describeGrant({}));
      }
      const reply = await pool.ask<Finding>(NO_PERMISSIONS, question, { limitMillis, signal });
      if (!reply.ok) return failed(workerFailure(reply));
      return answered(reply.answer, timeSource(trigger_time), describeGrant({}));
    },
    close: pool.close,
  };
}
