/** The provider `env`: which variables may be read, and the finding of reading one. */

import { canonicalize } from "../../canonical/canonicalize.ts";
import { utf8Length } from "../../canonical/utf8.ts";
import type { BuiltinProviderConfig } from "../../config/types.ts";
import type { ObservedError } from "../../run/types.ts";
import { type Finding, invalidParams, observed } from "./result.ts";

/** A question to the worker: one name that may be read. */
export interface EnvQuestion {
  readonly key: string;
  readonly max_value_bytes: number;
}

/** Prefixes of names that are never read: gate's own settings and the credentials of the object store. */
const RESERVED_PREFIXES = ["GATE_", "AWS_"];

/** Which names a provider may read. */
export interface EnvPolicy {
  readonly config: BuiltinProviderConfig<"env">;
  /** Names that gate's own configuration refers to. */
  readonly reserved: ReadonlySet<string>;
}

/** The names to grant to one worker; null where each name has its own worker. A name with an override needs no grant. */
export function grantedNames(policy: EnvPolicy): readonly string[] | null {
  const { allowlist } = policy.config;
  if (allowlist === null) return null;
  const read = (name: string): boolean => mayRead(policy, name) && overrideOf(policy.config, name) === null;
  return [...new Set(allowlist)].filter(read).sort();
}

/** The value of the configuration that replaces that of the environment; null without one. */
export function overrideOf({ overrides }: BuiltinProviderConfig<"env">, name: string): string | null {
  return overrides !== null && Object.hasOwn(overrides, name) ? overrides[name] ?? null : null;
}

/** Whether the lists allow a name and it is not reserved. */
function mayRead({ config, reserved }: EnvPolicy, name: string): boolean {
  // The runtime reads a star in a grant as a wildcard, so such a name cannot be granted alone.
  if (!isPossibleName(name) || name.includes("*")) return false;
  const compared = Deno.build.os === "windows" ? name.toUpperCase() : name;
  if (RESERVED_PREFIXES.some((prefix) => compared.startsWith(prefix)) || reserved.has(name)) return false;
  if (config.denylist.includes(name)) return false;
  return config.allowlist === null || config.allowlist.includes(name);
}

function isPossibleName(name: string): boolean {
  return name !== "" && !/[=\0]/.test(name);
}

/** The error for a name that may not be read; null where it may. */
export function refuseKey(policy: EnvPolicy, key: string): { readonly error: ObservedError } | null {
  const bytes = utf8Length(key);
  const { max_key_bytes } = policy.config;
  if (bytes > max_key_bytes) {
    const message = `Expected a name of at most ${max_key_bytes} bytes, got ${bytes}`;
    return observed("key_too_long", message, { actual_bytes: bytes, max_bytes: max_key_bytes });
  }
  if (!isPossibleName(key)) return invalidParams("key", 'a variable\'s name as "key"');
  return mayRead(policy, key) ? null : observed("key_blocked", `Variable "${key}" may not be read`, { key });
}

/** The finding for a value, or for an unset variable. */
export function envFinding(value: string | undefined, maximumBytes: number): Finding {
  if (value === undefined) return { found: null };
  const bytes = utf8Length(value);
  if (bytes > maximumBytes) {
    const message = `Expected a value of at most ${maximumBytes} bytes, got ${bytes}`;
    return observed("value_too_large", message, { actual_bytes: bytes, max_bytes: maximumBytes });
  }
  return { found: canonicalize(value), content_type: "text/plain" };
}

/** Reads a variable; the runtime denies every name that was not granted. */
export function readVariable({ key, max_value_bytes }: EnvQuestion): Finding {
  try {
    return envFinding(Deno.env.get(key), max_value_bytes);
  } catch (error) {
    // A value that is not text still exists: not_exists must not hold.
    if (error instanceof Deno.errors.InvalidData) {
      return observed("value_not_text", `The value of variable "${key}" is not Unicode text`, { key });
    }
    throw error;
  }
}
