/** The command line, an editor and the playground warn of the same in a law, at the same places. */

import assert from "node:assert/strict";
import { readLanguage } from "./law_language.ts";
import { withScenario } from "./law.ts";
import { readLaw } from "../../playground/read_law.ts";
import type { LawProblem } from "../../scenario/law_problems.ts";

const ROWS: readonly (readonly [name: string, law: string, warnings: readonly string[]])[] = [
  [
    "a law of a provider and two people",
    "evidence:\n  a: count from env A\n  b: 2 of [x, y]\nstages: { s: a == 0 && b }\n",
    [],
  ],
  ["the caller alone", "evidence: { a: count }\nstages: { s: a == 0 }\n", ["1:1 caller_alone"]],
  [
    "one person alone, beside the caller's word",
    "evidence:\n  a: count\n  b: 1 of [x]\nstages: { s: a == 0 && b }\n",
    ["1:1 one_person_alone", "5:14 caller_word_beside_approval"],
  ],
  [
    "a comparison that renames another and is never true, of a law in another order",
    "evidence:\n  z: count from env Z\n  a: integer(0..5) from env A\nstages:\n  s: z == 0\n  r:\n    - a >= 2\n    - a > 5\n",
    ["9:7 condition_renamed", "9:7 predicate_never_true"],
  ],
  [
    "a window that a parameter sets",
    'parameters: { at: text }\nevidence: { a: "after {at}" }\nstages: { s: a }\n',
    ["3:16 window_by_parameter"],
  ],
  [
    "a quorum that one person meets",
    "evidence:\n  a: { type: boolean, signed_by: [x, y], quorum: 2, policy: { independence: not_required } }\nstages: { s: a }\n",
    ["1:1 one_person_alone", "3:6 one_signer_suffices"],
  ],
];

function linesOf(problems: readonly LawProblem[]): readonly string[] {
  return problems.map(({ code, position }) => `${position.line}:${position.column} ${code}`).sort();
}

for (const [name, text, warnings] of ROWS) {
  Deno.test(`three screens warn of ${name}: ${warnings.join(", ") || "nothing"}`, async () => {
    const law = `law: n\n${text}`;
    const folder = await Deno.makeTempDir();
    try {
      const file = `${folder}/n.yaml`;
      await Deno.writeTextFile(file, law);
      const checked = await withScenario(file, undefined, ({ scenario }) => Promise.resolve(scenario.diagnostics));
      const ofCheck = checked.map(({ line, column, code }) => `${line}:${column} ${code}`).sort();
      // A check that no configuration knows is a warning of the command line alone.
      assert.deepEqual(ofCheck.filter((one) => !one.endsWith("provider_not_found")), warnings);
      assert.deepEqual(linesOf(readLanguage(law).problems), warnings);
      assert.deepEqual(linesOf(readLaw(law).problems), warnings);
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  });
}
