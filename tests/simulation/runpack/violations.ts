/**
 * The reasons that a violated claim may have, as tests/vectors/runpack/violations.json lists them.
 *
 * @module
 */

import type { VerificationReport } from "../../../src/runpack/verify/types.ts";
import violations from "../../vectors/runpack/violations.json" with { type: "json" };

const OBJECT = [
  "law",
  "artifacts",
  "artifacts/N",
  "nodes/L/N",
  ...["records", "receipts", "values", "large_values/M"].map((part) => `segments/N/${part}`),
];

function patternOf(place: string): string {
  if (place === "OBJECT") return `(?:${OBJECT.map(patternOf).join("|")})`;
  if (place === "NAME") return "[^]+";
  if (place === "KIND IDENTITY") return "(?:contract|operator-profile|schema) [0-9a-f]{64}";
  return place.replaceAll(/\b[LMN]\b/g, "\\d+");
}

/** Of each claim, what its reasons have to match. */
const REASONS: ReadonlyMap<string, RegExp> = new Map(
  violations.claims.map(({ claim, codes }) => {
    const reasons = codes.flatMap(({ code, places }) =>
      places.length === 0 ? [code] : places.map((place: string) => `${code}: ${patternOf(place)}`)
    );
    return [claim, new RegExp(`^(?:${reasons.join("|")})$`)];
  }),
);

/** The reasons of a report that the list does not have. */
export function unlistedReasons({ claims }: VerificationReport): string[] {
  return claims.flatMap(({ claim, status }) =>
    status.status === "violated" && REASONS.get(claim)?.test(status.reason) !== true
      ? [`${claim} ${status.reason}`]
      : []
  );
}
