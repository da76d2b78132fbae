/** Checks that a law is written as a law file that compiles to the same law. */

import assert from "node:assert/strict";
import { canonicalize } from "../../canonical/canonicalize.ts";
import type { JsonValue } from "../../canonical/json.ts";
import { constructLaw } from "../../law/law.ts";
import { LAW_LIMITS } from "../../law/limits.ts";
import { lawAsJson } from "../../law/normal_form.ts";
import type { ScenarioLaw } from "../../law/types.ts";
import { permissiveEnvironment } from "../../runpack/verify/claims/scenario_law_construction.ts";
import { formatLaw, readLawText, writeLaw } from "../law_file.ts";

/** The law of a spec; null if it is none. */
export function lawOfSpec(spec: JsonValue): ScenarioLaw | null {
  const built = constructLaw(spec, { limits: LAW_LIMITS, ...permissiveEnvironment(spec) });
  return built.ok ? built.law : null;
}

/** The canonical text of the law of a law file. */
function canonicalOf(text: string): string {
  const read = readLawText(text);
  assert.ok(read.ok, read.ok ? "" : `${JSON.stringify(read.faults, null, 1)}\n${text}`);
  const { spec } = read.file;
  const built = constructLaw(spec, { limits: LAW_LIMITS, ...permissiveEnvironment(spec) });
  assert.ok(built.ok, built.ok ? "" : `${JSON.stringify(built.refusals, null, 1)}\n${text}`);
  return canonicalize(lawAsJson(built.law));
}

/** Checks that a law that is written compiles to the same bytes, and has the one layout already. */
export function checkRoundTrip(law: ScenarioLaw): void {
  const text = writeLaw(law);
  assert.equal(canonicalOf(text), canonicalize(lawAsJson(law)), text);
  assert.equal(formatLaw(text), text, "format keeps what write prints");
}
