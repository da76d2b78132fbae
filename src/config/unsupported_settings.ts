/**
 * Settings whose feature is not there yet.
 *
 * Such a setting is refused where it is present and differs from its default (decisions 1): nothing that was asked for is
 * silently left undone. When a feature lands, its rows go.
 *
 * @module
 */

import { AUTH_DEFAULTS, DEFAULT_SETTINGS } from "./defaults.ts";
import type { JsonValue } from "../canonical/json.ts";
import type { Report, SettingPath } from "./problems.ts";
import { applyRules, is, not, type Rule } from "./rules.ts";
import { at, isTable } from "./toml_tree.ts";

/** One setting, or a table of them, that does nothing yet. */
export interface UnavailableFeature {
  /** The member, such as `server.tls`; a table stands for all that is in it. */
  readonly path: string;
  /** The feature that is missing. */
  readonly why: string;
}

const TYPED = "providers of type typed";

/** The settings that do nothing yet. */
export const UNAVAILABLE: readonly UnavailableFeature[] = [
  { path: "dev.allow_dev_env_credentials", why: TYPED },
];

/** The defaults, with `server.auth` spelled out. */
const DEFAULTS = { ...DEFAULT_SETTINGS, server: { ...DEFAULT_SETTINGS.server, auth: AUTH_DEFAULTS } };

/** The same in rules, for the published JSON Schema: each setting is absent or has its default. */
export const UNAVAILABLE_RULES: readonly Rule[] = [
  ...UNAVAILABLE.map(({ path, why }): Rule => {
    const standing = at(DEFAULTS, path.split(".")) as JsonValue;
    const message = `is not available yet: ${why}`;
    return { then: is(path.split("."), [standing], standing), at: path.split("."), message };
  }),
  {
    each: ["providers"],
    rules: [{ then: not(is(["type"], ["typed"])), at: ["type"], message: `is not available yet: ${TYPED}` }],
  },
];

/** Reports each setting of a raw tree that differs from its default while its feature is not there. */
export function featureRules(
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
  const standard = at(DEFAULTS, path);
  if (isTable(value) && isTable(standard)) {
    return Object.entries(value).flatMap(([name, item]) => changedSettings(item, [...path, name]));
  }
  return JSON.stringify(value) === JSON.stringify(standard) ? [] : [path];
}
