/**
 * The weaknesses of superseded procedures, and the laws that they touch (docs/format/runpack.md "Superseded
 * procedures"). The maker of a pack chooses the procedure of its records, so a reader must not accept any.
 */

import type { ScenarioLaw } from "../../law/types.ts";
import type { ProcedureName } from "../../run/types.ts";

interface Weakness {
  /** What is weak, for messages. */
  readonly what: string;
  /** Whether a law uses what is weak. */
  readonly touches: (law: ScenarioLaw) => boolean;
}

const asks = ({ acquisition_bindings }: ScenarioLaw, provider: string): boolean =>
  acquisition_bindings.some(({ provider_id }) => provider_id === provider);

const WEAKNESSES: Readonly<Record<ProcedureName, readonly Weakness[]>> = {
  "gate-kernel-1": [
    {
      what: "two ids of one key count as two signers under a quorum",
      touches: ({ conditions }) =>
        conditions.some(({ evidence_use_policy: { combination } }) =>
          combination.combination === "Quorum" && combination.minimum > 1
        ),
    },
    {
      what: "a clock that ran ahead once keeps evidence fresh",
      touches: (law) =>
        asks(law, "time") ||
        law.conditions.some(({ evidence_use_policy: { freshness } }) => freshness.freshness === "MaximumAge"),
    },
    { what: "a redirect shows the absence of a header", touches: (law) => asks(law, "rest") },
    { what: "overrides hide the rest of the environment", touches: (law) => asks(law, "env") },
  ],
  "gate-kernel-2": [],
};

/** What of a procedure is weak and used by a law. */
export function weaknessesOf(procedure: ProcedureName, law: ScenarioLaw): readonly string[] {
  return WEAKNESSES[procedure].filter(({ touches }) => touches(law)).map(({ what }) => what);
}
