/** The host side of the provider `env`. */

import type { BuiltinProviderEntry } from "../../config/types.ts";
import { createWorkerPool } from "../sandbox/worker_pool.ts";
import type { Engine, ProviderDependencies } from "./engine.ts";
import { envFinding, type EnvPolicy, type EnvQuestion, grantedNames, overrideOf, refuseKey } from "./env.ts";
import { describeGrant } from "./permissions.ts";
import { answered, failed, type Finding, paramsOf, readText, type Source, workerFailure } from "./result.ts";

/** Workers that are kept where each variable has its own. */
const WORKERS_MAXIMUM = 8;

/**
 * The provider `env`. With an allowlist, one worker is granted exactly its names. Without one, each variable has a
 * worker that is granted that variable only, because the runtime has no grant of all names except some. A name with an
 * override is answered here and never granted.
 */
export function createEnvEngine(entry: BuiltinProviderEntry<"env">, dependencies: ProviderDependencies): Engine {
  const { config } = entry;
  const policy: EnvPolicy = { config, reserved: dependencies.reservedEnvironment };
  const names = grantedNames(policy);
  const pool = createWorkerPool({
    name: "gate-env",
    module: new URL("./env_worker.ts", import.meta.url),
    workersMaximum: names === null ? WORKERS_MAXIMUM : 1,
    limits: dependencies.workerLimits,
  });
  const limitMillis = entry.timeouts.request_timeout_ms;
  const refused = (finding: Finding, source: Source | null): ReturnType<typeof answered> =>
    answered(finding, source, describeGrant({}));
  return {
    async answer(query, _context, signal): ReturnType<Engine["answer"]> {
      const given = paramsOf(query, ["key"], true);
      if ("error" in given) return refused(given, null);
      const key = readText(given.params, "key");
      if (typeof key !== "string") return refused(key, null);
      const refusal = refuseKey(policy, key);
      const source = refusal === null || refusal.error.code === "key_blocked"
        ? { anchor_type: "env", anchor: { key }, uri: null }
        : null;
      if (refusal !== null) return refused(refusal, source);
      const override = overrideOf(config, key);
      if (override !== null) return refused(envFinding(override, config.max_value_bytes), source);
      const granted = names ?? [key];
      const question: EnvQuestion = { key, max_value_bytes: config.max_value_bytes };
      const reply = await pool.ask<Finding>({ env: granted }, question, { limitMillis, signal });
      if (!reply.ok) return failed(workerFailure(reply));
      return answered(reply.answer, source, describeGrant({ env: granted }));
    },
    close: pool.close,
  };
}
