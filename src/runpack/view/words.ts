/** Parts of a pack in words. */

import { countOf } from "../../canonical/count.ts";
import { canonicalize } from "../../canonical/canonicalize.ts";
import { valueText } from "../../law/words.ts";
import type { RecordedEvidence } from "../../run/types.ts";
import type { Identity } from "../../canonical/identity.ts";
import type { PackView, PartView } from "../material_view.ts";
import { CLAIMS } from "../verify/claims.ts";
import type { Examination } from "../verify/verify.ts";

/** The first characters of a text, with an ellipsis where characters were cut off. */
export function cut(value: string, characters: number): string {
  const points = [...value.slice(0, 2 * characters + 2)];
  return points.length <= characters ? value : `${points.slice(0, characters).join("")}…`;
}

/** The part of a pack that cannot be shown, and the reason. */
export function gapText({ reason, named, part }: PartView): string {
  const code = reason === "budget_exhausted" ? reason : reason.code;
  const why = reason === "budget_exhausted" || reason.place === null ? code : `${code}: ${reason.place}`;
  if (named === null) return `There is no manifest to go by (${why}), so nothing of this runpack can be shown.`;
  if (part === null) return `Its law cannot be read (${why}), so neither its stages nor its decisions can be shown.`;
  const { revision } = named.manifest.head;
  return `Only ${part.records.length} of ${countOf(revision, "record")} can be shown: it is not whole (${why}).`;
}

/** Why the value of an item is not shown. */
function absenceText(
  { manifest, absence = "not in the pack" }: PackView,
  { retention, condition_id }: RecordedEvidence,
): string {
  if (retention === "RetainDigestOnly") return "kept as a digest alone";
  return manifest.withheld_conditions.includes(condition_id) ? "withheld" : absence;
}

/** What an item says: its value, or why it is not shown. */
export function foundIn(view: PackView, item: RecordedEvidence): string {
  if (item.error !== undefined) return `error ${item.error.code}: ${cut(item.error.message, FOUND_CHARACTERS)}`;
  if (item.found_nothing === true) return "nothing";
  const value = view.valueOf(item);
  if (value === null) return `a value that is ${absenceText(view, item)}`;
  return cut(value.value_type === "Json" ? canonicalize(value.value) : valueText(value), FOUND_CHARACTERS);
}

const FOUND_CHARACTERS = 200;

/** What no verification of a runpack can show. */
export function undecidableText(): string {
  const open = CLAIMS.filter(({ method }) => method === null).map(({ name, meaning }) => `${meaning} (${name})`);
  return `No verification of a runpack can show: ${open.join("; ")}; nor whether evidence was true.`;
}

/** What was expected of a runpack, apart from an admission. */
export function expectationText(identity: Identity | null): string {
  return identity === null
    ? "No expectation was given: a runpack of any law, run and producer verifies. An admission expects them."
    : `Expected was the runpack ${identity}, and any law and producer.`;
}

/** Why another verifier may have another report of the same verdict; null where nothing shows it. */
export function differenceText({ report: { assumptions }, validated }: Examination): string | null {
  if (assumptions.includes("json_schema_verdict_as_recorded")) {
    return "it assumes recorded JSON Schema verdicts; a verifier that runs the schemas has another report identity";
  }
  return validated ? "JSON Schemas were run; a verifier that assumes their verdicts has another report identity" : null;
}
