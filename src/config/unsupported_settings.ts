/**
 * Settings whose feature does not exist yet.
 *
 * Such a setting is rejected where it differs from its default, so that gate never ignores a setting silently. Once a feature
 * exists, its rows are removed.
 *
 * @module
 */

import { AUTH_DEFAULTS, DEFAULT_SETTINGS } from "./defaults.ts";
import type { JsonValue } from "../canonical/json.ts";
import type { Report, SettingPath } from "./problems.ts";
import { applyRules, is, not, type Rule } from "./rules.ts";
import { at, isTable } from "./toml_tree.ts";

/** One setting, or a table of settings, without effect yet. */
export interface UnavailableFeature {
  /** The member, such as `server.tls`; a table stands for all of its members. */
  readonly path: string;
  /** The feature that is missing. */
  readonly why: string;
}

const TYPED = "providers of type typed";

/** The settings without effect yet. */
export const UNAVAILABLE: readonly UnavailableFeature[] = [
  { path: "dev.allow_dev_env_credentials", why: TYPED },
];

/** The defaults, with the members of `server.auth`. */
const DEFAULTS = { ...DEFAULT_SETTINGS, server: { ...DEFAULT_SETTINGS.server, auth: AUTH_DEFAULTS } };

/** The same as rules for the published JSON Schema: each setting is absent or has its default. */
export const UNAVAILABLE_RULES: readonly Rule[] = [
  ...UNAVAILABLE.map(({ path, why }): Rule => {
    const defaultValue = at(DEFAULTS, path.split(".")) as JsonValue;
    const message = `is not available yet: ${why}`;
    return { then: is(path.split("."), [defaultValue], defaultValue), at: path.split("."), message };
  }),
  {
    each: ["providers"],
    rules: [{ then: not(is(["type"], ["typed"])), at: ["type"], message: `is not available yet: ${TYPED}` }],
  },
];

/** Reports each unsupported setting of a raw tree that differs from its default. */
export function checkAvailability(
  tree: unknown,
  report: Report,
  unavailable: readonly UnavailableFeature[] = UNAVAILABLE,
): void {
  for (const feature of unavailable) {
    const path = feature.path.split(".");
    for (const setting of changedSettings(at(tree, path), path)) {
      report(setting, `is not available yet: ${feature.why}`);
    }
  }
  applyRules(UNAVAILABLE_RULES.filter((rule) => "each" in rule), tree, [], report);
}

/** The settings at or below a path that differ from their defaults. */
function changedSettings(value: unknown, path: SettingPath): readonly SettingPath[] {
  if (value === undefined) return [];
  const defaultValue = at(DEFAULTS, path);
  if (isTable(value) && isTable(defaultValue)) {
    return Object.entries(value).flatMap(([name, item]) => changedSettings(item, [...path, name]));
  }
  return JSON.stringify(value) === JSON.stringify(defaultValue) ? [] : [path];
}
