/** The claims of a cases file: `proves: [EXPR, {needs: EXPR, stage: ID}]`, each decided for the law. */

import { isJsonArray, isJsonObject, type JsonValue, member } from "../../canonical/json.ts";
import { didYouMean } from "../../law/suggest.ts";
import type { ScenarioLaw } from "../../law/types.ts";
import { askLaw } from "../../scenario/ask_law.ts";
import { shown } from "../terminal/text.ts";

/** Most claims of a file. */
const CLAIMS_MAXIMUM = 256;

/** A claim with its answer. */
export interface ClaimResult {
  readonly needs: string;
  readonly stage?: string;
  readonly verdict: string;
  readonly words: string;
}

type Steps = readonly (string | number)[];

/** Reports a fault at a path. */
type Report = (steps: Steps, message: string) => void;

const MEMBERS = ["needs", "stage"];

/** Decides the claims of a cases file. A claim that cannot be read is reported. */
export function proveClaims(report: Report, law: ScenarioLaw, value: JsonValue): readonly ClaimResult[] {
  const claims = isJsonObject(value) ? member(value, "proves") ?? [] : [];
  if (!isJsonArray(claims) || claims.length > CLAIMS_MAXIMUM) {
    report(["proves"], `Expected a list of at most ${CLAIMS_MAXIMUM} claims`);
    return [];
  }
  return claims.flatMap((claim, index) => {
    const steps = ["proves", index];
    const { needs, stage } = isJsonObject(claim) ? claim : { needs: claim };
    const unknown = isJsonObject(claim) ? Object.keys(claim).find((name) => !MEMBERS.includes(name)) : undefined;
    if (unknown !== undefined) {
      report([...steps, unknown], `Unknown member "${unknown}"${didYouMean(unknown, MEMBERS)}`);
    }
    if (typeof needs !== "string" || (stage !== undefined && typeof stage !== "string")) {
      report(steps, "Expected an expression, or an object with needs and stage");
      return [];
    }
    const answer = askLaw(law, { ask: "prove", needs, stage }, { shown });
    if (!answer.ok) {
      for (const { message, start } of answer.faults) report(steps, `${message}, at character ${start + 1}`);
      return [];
    }
    const { verdict, words } = answer;
    return { needs, ...stage === undefined ? {} : { stage }, verdict, words };
  });
}

/** Whether every claim of a cases file can be read for a law, and is proved. */
export function areProved(law: ScenarioLaw, value: JsonValue): boolean {
  let isRead = true;
  const claims = proveClaims(() => isRead = false, law, value);
  return isRead && claims.every(({ verdict }) => verdict === "proved");
}

/** The claims in words, a line each; those that are not proved with the way round. */
export function describeClaims(claims: readonly ClaimResult[]): string {
  return claims.map(({ words }) => words).join("");
}
